//! What a call's runner, its function and the function's helpers share. Most calls never need it.

use crate::ask_record::AskLog;
use crate::gate::Gate;
use crate::redact::Redactor;
use crate::sink::OutputSink;
use serde_json::{Map, Value};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The shared part of a call.
#[derive(Debug)]
pub(crate) struct Live {
    /// Cancelled with the call, and when it is over.
    pub(crate) token: CancellationToken,
    /// The call whose function made this one.
    parent: Option<Arc<Live>>,
    absence: Mutex<Absence>,
    /// The gate that the calls go through which this one makes.
    children: OnceLock<Gate>,
    count: AtomicU64,
    told: Mutex<Told>,
    /// What the call wanted leave for, where there is a history.
    pub(crate) asks: AskLog,
    stream: OnceLock<OutputSink>,
    /// What takes out of what is told what only became a secret of the call once it ran.
    redactor: OnceLock<Redactor>,
    /// The loop guard kept it from running.
    kept_back: AtomicBool,
}

/// What the function told user interfaces while it ran.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    pub(crate) title: Option<String>,
    pub(crate) metadata: Map<String, Value>,
}

/// Why a function does nothing of its own for a while. Meanwhile others may have its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It waits for a person, who may take long: its pass through the session's gate and its place among the calls
    /// of its tool are free for others, and its clock stops.
    Asking,
    /// It waits for a call that it made: its place among the calls of its tool is free for others, since the other
    /// call may want it.
    Calling,
}

/// Who is away and what was given away for it.
#[derive(Debug, Default)]
struct Absence {
    asking: u32,
    calling: u32,
    /// How many are ready to go on once everything is back.
    returning: u32,
    /// What the runner is asked to give away when it next has control.
    wanted: Given,
    /// What it has given away.
    given: Given,
    stopped_at: Option<Instant>,
    stopped_for: Duration,
    runner: Option<Waker>,
    returners: Vec<Waker>,
    /// Nothing comes back any more, and nobody needs it.
    over: bool,
    /// Whether the runner has to hear of what changed.
    news: bool,
}

/// What a runner can give away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// The pass through the gate.
    pub(crate) pass: bool,
    /// The place among the calls of the tool.
    pub(crate) place: bool,
}

/// What the runner should do before it lets the function go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duty {
    /// Nothing.
    None,
    /// Get back what was given away, while the function goes on with what else it does.
    Restore,
    /// Get back what was given away first.
    RestoreFirst,
}

impl Live {
    pub(crate) fn new(token: CancellationToken, parent: Option<Arc<Self>>) -> Self {
        Self {
            token,
            parent,
            absence: Mutex::default(),
            children: OnceLock::new(),
            count: AtomicU64::new(0),
            told: Mutex::default(),
            asks: AskLog::default(),
            stream: OnceLock::new(),
            redactor: OnceLock::new(),
            kept_back: AtomicBool::new(false),
        }
    }

    /// The gate for the calls that this one makes.
    pub(crate) fn children(&self) -> &Gate {
        self.children.get_or_init(Gate::default)
    }

    /// The number of the next call that this one makes, from 1.
    pub(crate) fn next_child(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The stream that the function writes its output to, made now if it was not yet.
    pub(crate) fn open_stream(&self, open: impl FnOnce() -> OutputSink) -> &OutputSink {
        self.stream.get_or_init(open)
    }

    pub(crate) fn stream(&self) -> Option<&OutputSink> {
        self.stream.get()
    }

    /// What takes out of what is told what only became a secret of the call once it ran.
    pub(crate) fn redactor(&self) -> Option<&Redactor> {
        self.redactor.get()
    }

    /// Sets it, once.
    pub(crate) fn set_redactor(&self, redactor: Redactor) {
        let _ = self.redactor.set(redactor);
    }

    /// The loop guard kept the call from running.
    pub(crate) fn keep_back(&self) {
        self.kept_back.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_kept_back(&self) -> bool {
        self.kept_back.load(Ordering::Relaxed)
    }

    /// Changes what user interfaces are told.
    pub(crate) fn tell(&self, change: impl FnOnce(&mut Told)) {
        change(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn told(&self) -> Told {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lock(&self) -> MutexGuard<'_, Absence> {
        self.absence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something, and wakes the runner if it has to hear of it: after the lock, since an executor may run it then
    /// and there.
    fn change<T>(&self, change: impl FnOnce(&mut Absence) -> T) -> T {
        let (changed, runner) = {
            let mut absence = self.lock();
            let changed = change(&mut absence);
            let has_news = std::mem::take(&mut absence.news);
            (changed, if has_news { absence.runner.clone() } else { None })
        };
        if let Some(runner) = runner {
            runner.wake();
        }
        changed
    }

    /// The call is over. Who holds its context still must not wait for what only its runner could bring.
    pub(crate) fn end(&self) {
        let (_runner, returners) = {
            let mut absence = self.lock();
            absence.over = true;
            (absence.runner.take(), std::mem::take(&mut absence.returners))
        };
        returners.into_iter().for_each(Waker::wake);
        self.token.cancel();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Marks the function as away until the guard is dropped or [`Away::come_back`] is done.
    pub(crate) fn leave(self: &Arc<Self>, reason: Reason) -> Away {
        // Those that came back meanwhile need not wait for a place that another call may want now.
        let returners = self.change(|absence| absence.leave(reason));
        returners.into_iter().for_each(Waker::wake);
        let mut levels = vec![(Arc::clone(self), reason)];
        // Nobody above does anything either, as long as this is the only call that each of them made.
        let mut above = self.parent.as_ref();
        while let (Reason::Asking, Some(live)) = (reason, above) {
            live.change(Absence::leave_above);
            levels.push((Arc::clone(live), Reason::Asking));
            above = live.parent.as_ref();
        }
        Away { levels }
    }

    /// What to give away now of what the runner has.
    pub(crate) fn take_wanted(&self, has: Given) -> Given {
        let mut absence = self.lock();
        let wanted = std::mem::take(&mut absence.wanted);
        let gives = Given { pass: wanted.pass && has.pass, place: wanted.place && has.place };
        absence.given.pass |= gives.pass;
        absence.given.place |= gives.place;
        gives
    }

    /// What the runner has to do, given what it gave away.
    pub(crate) fn duty(&self) -> Duty {
        let absence = self.lock();
        if absence.given == Given::default() {
            return Duty::None;
        }
        let is_away = absence.asking > 0 || absence.calling > 0;
        if absence.returning == 0 {
            return if is_away { Duty::None } else { Duty::RestoreFirst };
        }
        Duty::Restore
    }

    /// What must come back now: the place only once no call is made any more, since that call may have it.
    pub(crate) fn missing(&self) -> Given {
        let absence = self.lock();
        Given { pass: absence.given.pass, place: absence.given.place && absence.calling == 0 }
    }

    /// The runner has it back.
    pub(crate) fn restored(&self, back: Given) {
        let returners = self.change(|absence| {
            absence.given.pass &= !back.pass;
            absence.given.place &= !back.place;
            absence.update_clock();
            std::mem::take(&mut absence.returners)
        });
        returners.into_iter().for_each(Waker::wake);
    }

    /// How long the clock has stood still, and whether it does now; `runner` is woken when it goes on.
    pub(crate) fn stopped(&self, runner: &Waker) -> (Duration, bool) {
        let mut absence = self.lock();
        absence.keep_runner(runner);
        (absence.stopped_for, absence.stopped_at.is_some())
    }

    /// Whom to wake when somebody leaves or comes back.
    pub(crate) fn set_runner(&self, runner: &Waker) {
        self.lock().keep_runner(runner);
    }

    fn poll_return(&self, reason: Reason, task: &mut Context<'_>) -> Poll<()> {
        let mut absence = self.lock();
        let lacks_place = absence.given.place && absence.calling == 0;
        let is_back = match reason {
            Reason::Asking => !absence.given.pass && !lacks_place,
            Reason::Calling => !lacks_place,
        };
        if is_back || absence.over {
            return Poll::Ready(());
        }
        if !absence.returners.iter().any(|waker| waker.will_wake(task.waker())) {
            absence.returners.push(task.waker().clone());
        }
        Poll::Pending
    }

    /// Waits until the call has its pass, if it was given away while a call that it made asks a person. It is not that
    /// call that brings it back: it may not be polled meanwhile.
    pub(crate) async fn has_pass(self: &Arc<Self>) {
        let Some(_returning) = self.want_pass() else { return };
        poll_fn(|task| self.poll_return(Reason::Asking, task)).await;
    }

    fn want_pass(self: &Arc<Self>) -> Option<Returning> {
        let has_to_wait = self.change(|absence| {
            absence.wanted.pass = false;
            if absence.given.pass {
                absence.returning += 1;
                absence.news = true;
            }
            absence.given.pass
        });
        has_to_wait.then(|| Returning(vec![Arc::clone(self)]))
    }
}

impl Absence {
    fn leave(&mut self, reason: Reason) -> Vec<Waker> {
        self.wanted.place = true;
        self.news = true;
        match reason {
            Reason::Asking => {
                self.asking += 1;
                // A call that it made meanwhile still needs the pass.
                self.wanted.pass |= self.calling == 0;
                self.update_clock();
                Vec::new()
            }
            Reason::Calling => {
                self.calling += 1;
                std::mem::take(&mut self.returners)
            }
        }
    }

    /// A call that this one made asks a person.
    fn leave_above(&mut self) {
        self.asking += 1;
        // With several calls under way, the others still need the pass.
        self.wanted.pass |= self.calling == 1;
        self.update_clock();
        self.news = true;
    }

    fn end(&mut self, reason: Reason) {
        match reason {
            Reason::Asking => self.asking -= 1,
            Reason::Calling => self.calling -= 1,
        }
        let is_asking = self.asking > 0;
        if reason == Reason::Calling && is_asking && self.calling == 0 {
            // Only the question keeps it now.
            self.wanted = Given { pass: true, place: true };
        }
        // What was not given away yet stays where nobody is away for it any more.
        self.wanted.pass &= is_asking;
        self.wanted.place &= is_asking || self.calling > 0;
        self.update_clock();
        self.news = true;
    }

    /// The clock stands still while a person is asked and until the call has its pass again.
    fn update_clock(&mut self) {
        let stands = self.asking > 0 || self.given.pass;
        match (stands, self.stopped_at) {
            (true, None) => self.stopped_at = Some(Instant::now()),
            (false, Some(since)) => {
                self.stopped_for += since.elapsed();
                self.stopped_at = None;
                self.news = true;
            }
            _ => {}
        }
    }

    fn keep_runner(&mut self, runner: &Waker) {
        if !self.runner.as_ref().is_some_and(|known| known.will_wake(runner)) {
            self.runner = Some(runner.clone());
        }
    }
}

/// Somebody is away; see [`Live::leave`].
#[derive(Debug)]
pub(crate) struct Away {
    /// The call, and those above it.
    levels: Vec<(Arc<Live>, Reason)>,
}

impl Away {
    /// Waits until everything that was given away is back.
    pub(crate) async fn come_back(self) {
        let _returning = Returning::of(&self);
        let levels = self.levels.clone();
        drop(self);
        for (live, reason) in levels {
            poll_fn(|task| live.poll_return(reason, task)).await;
        }
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        for (live, reason) in &self.levels {
            live.change(|absence| absence.end(*reason));
        }
    }
}

/// Somebody who was away is ready to go on.
struct Returning(Vec<Arc<Live>>);

impl Returning {
    fn of(away: &Away) -> Self {
        let levels: Vec<Arc<Live>> = away.levels.iter().map(|(live, _)| Arc::clone(live)).collect();
        for live in &levels {
            live.lock().returning += 1;
        }
        Self(levels)
    }
}

impl Drop for Returning {
    fn drop(&mut self) {
        for live in &self.0 {
            live.change(|absence| {
                absence.returning -= 1;
                absence.news = true;
            });
        }
    }
}

#[cfg(test)]
mod tests;
