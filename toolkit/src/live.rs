//! The state that a call's runner, its function and the function's helpers share. Most calls never need it.

use crate::ask_record::AskLog;
use crate::gate::Gate;
use crate::sink::OutputSink;
use serde_json::{Map, Value};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolkit_core::redact::Redactor;

/// The shared state of a call.
#[derive(Debug)]
pub(crate) struct Live {
    /// Cancelled with the call, and when the call is over.
    pub(crate) token: CancellationToken,
    /// The call whose function made this one.
    parent: Option<Arc<Live>>,
    absence: Mutex<Absence>,
    /// The gate for the calls that this call makes.
    children: OnceLock<Gate>,
    count: AtomicU64,
    told: Mutex<DisplayInfo>,
    /// The approvals that the call asked for, if there is a history.
    pub(crate) asks: AskLog,
    stream: OnceLock<OutputSink>,
    /// Redacts secrets that were added while the call ran from the call's events.
    redactor: OnceLock<Redactor>,
    /// True if the loop guard kept the call from running.
    kept_back: AtomicBool,
}

/// Title and metadata that the function set for user interfaces while it ran.
#[derive(Debug, Clone, Default)]
pub(crate) struct DisplayInfo {
    pub(crate) title: Option<String>,
    pub(crate) metadata: Map<String, Value>,
}

/// The reason why a function does no work of its own for a while. Meanwhile other calls may use its pass or its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The function waits for a person or another process, which may take long: its pass through the session's gate and
    /// its place among the calls of its tool are free for others, and its clock stops.
    Aside,
    /// The function waits for a call that it made: its place among the calls of its tool is free for others, since the
    /// other call may need it.
    Calling,
}

/// The number of waits of the function, and the resources that were given away for them.
#[derive(Debug, Default)]
struct Absence {
    aside: u32,
    calling: u32,
    /// The number of waits that will end once everything is back.
    returning: u32,
    /// The resources that the runner must give away when it next has control.
    wanted: Given,
    /// The resources that the runner has given away.
    given: Given,
    stopped_at: Option<Instant>,
    stopped_for: Duration,
    runner: Option<Waker>,
    returners: Vec<Waker>,
    /// True if the call is over: nothing comes back any more, and nothing needs it.
    over: bool,
    /// True if the runner has to be notified of a change.
    news: bool,
}

/// The resources that a runner can give away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// The pass through the gate.
    pub(crate) pass: bool,
    /// The place among the calls of the tool.
    pub(crate) place: bool,
}

/// The runner's task before it lets the function go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duty {
    /// Nothing to do.
    None,
    /// Get back the resources that were given away, while the function continues its other work.
    Restore,
    /// Get back the resources that were given away before the function continues.
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

    /// Returns the gate for the calls that this call makes.
    pub(crate) fn children(&self) -> &Gate {
        self.children.get_or_init(Gate::default)
    }

    /// Returns the number of the next call that this call makes, from 1.
    pub(crate) fn next_child(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the stream that the function writes its output to, and opens it if needed.
    pub(crate) fn open_stream(&self, open: impl FnOnce() -> OutputSink) -> &OutputSink {
        self.stream.get_or_init(open)
    }

    pub(crate) fn stream(&self) -> Option<&OutputSink> {
        self.stream.get()
    }

    /// Returns the redactor for secrets that were added while the call ran.
    pub(crate) fn redactor(&self) -> Option<&Redactor> {
        self.redactor.get()
    }

    /// Sets the redactor, once.
    pub(crate) fn set_redactor(&self, redactor: Redactor) {
        let _ = self.redactor.set(redactor);
    }

    /// Records that the loop guard kept the call from running.
    pub(crate) fn keep_back(&self) {
        self.kept_back.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_kept_back(&self) -> bool {
        self.kept_back.load(Ordering::Relaxed)
    }

    /// Changes the title or metadata shown by user interfaces.
    pub(crate) fn tell(&self, change: impl FnOnce(&mut DisplayInfo)) {
        change(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn told(&self) -> DisplayInfo {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lock(&self) -> MutexGuard<'_, Absence> {
        self.absence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes the runner if it has to be notified. It is woken after the lock is released, since
    /// an executor may run it at once.
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

    /// Ends the call. A task that still holds its context must not wait for resources that only the runner could get
    /// back.
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

    /// Marks the function as waiting until the guard is dropped or [`Away::come_back`] is done.
    pub(crate) fn leave(self: &Arc<Self>, reason: Reason) -> Away {
        // Waits that ended meanwhile need not wait for a place that another call may need now.
        let returners = self.change(|absence| absence.leave(reason));
        returners.into_iter().for_each(Waker::wake);
        let mut levels = vec![(Arc::clone(self), reason)];
        // The calls above are idle too, as long as this is the only call that each of them made.
        let mut above = self.parent.as_ref();
        while let (Reason::Aside, Some(live)) = (reason, above) {
            live.change(Absence::leave_above);
            levels.push((Arc::clone(live), Reason::Aside));
            above = live.parent.as_ref();
        }
        Away { levels }
    }

    /// Returns the resources to give away now, of those that the runner has.
    pub(crate) fn take_wanted(&self, has: Given) -> Given {
        let mut absence = self.lock();
        let wanted = std::mem::take(&mut absence.wanted);
        let gives = Given { pass: wanted.pass && has.pass, place: wanted.place && has.place };
        absence.given.pass |= gives.pass;
        absence.given.place |= gives.place;
        gives
    }

    /// Returns the runner's task, given the resources it gave away.
    pub(crate) fn duty(&self) -> Duty {
        let absence = self.lock();
        if absence.given == Given::default() {
            return Duty::None;
        }
        let is_away = absence.aside > 0 || absence.calling > 0;
        if absence.returning == 0 {
            return if is_away { Duty::None } else { Duty::RestoreFirst };
        }
        Duty::Restore
    }

    /// Returns the resources that must come back now: the place only if no call is being made any more, since that call
    /// may hold it.
    pub(crate) fn missing(&self) -> Given {
        let absence = self.lock();
        Given { pass: absence.given.pass, place: absence.given.place && absence.calling == 0 }
    }

    /// Records that the runner got the resources back.
    pub(crate) fn restored(&self, back: Given) {
        let returners = self.change(|absence| {
            absence.given.pass &= !back.pass;
            absence.given.place &= !back.place;
            absence.update_clock();
            std::mem::take(&mut absence.returners)
        });
        returners.into_iter().for_each(Waker::wake);
    }

    /// Returns how long the clock has been stopped, and true if it is stopped now; `runner` is woken when it continues.
    pub(crate) fn stopped(&self, runner: &Waker) -> (Duration, bool) {
        let mut absence = self.lock();
        absence.keep_runner(runner);
        (absence.stopped_for, absence.stopped_at.is_some())
    }

    /// Sets the waker for changes in the number of waits.
    pub(crate) fn set_runner(&self, runner: &Waker) {
        self.lock().keep_runner(runner);
    }

    fn poll_return(&self, reason: Reason, task: &mut Context<'_>) -> Poll<()> {
        let mut absence = self.lock();
        let lacks_place = absence.given.place && absence.calling == 0;
        let is_back = match reason {
            Reason::Aside => !absence.given.pass && !lacks_place,
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

    /// Waits until the call has its pass, if the pass was given away while a call that it made waits aside. That call
    /// cannot get the pass back itself, because it may not be polled meanwhile.
    pub(crate) async fn has_pass(self: &Arc<Self>) {
        let Some(_returning) = self.want_pass() else { return };
        poll_fn(|task| self.poll_return(Reason::Aside, task)).await;
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
            Reason::Aside => {
                self.aside += 1;
                // A call made meanwhile still needs the pass.
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

    /// Records that a call made by this call waits aside.
    fn leave_above(&mut self) {
        self.aside += 1;
        // If several calls are running, the others still need the pass.
        self.wanted.pass |= self.calling == 1;
        self.update_clock();
        self.news = true;
    }

    fn end(&mut self, reason: Reason) {
        match reason {
            Reason::Aside => self.aside -= 1,
            Reason::Calling => self.calling -= 1,
        }
        let is_aside = self.aside > 0;
        if reason == Reason::Calling && is_aside && self.calling == 0 {
            // Only the wait aside remains.
            self.wanted = Given { pass: true, place: true };
        }
        // Resources that were not given away yet stay if no wait needs it any more.
        self.wanted.pass &= is_aside;
        self.wanted.place &= is_aside || self.calling > 0;
        self.update_clock();
        self.news = true;
    }

    /// Updates the clock, which is stopped while the function waits aside and until the call has its pass again.
    fn update_clock(&mut self) {
        let stands = self.aside > 0 || self.given.pass;
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

/// A wait of a function; see [`Live::leave`].
#[derive(Debug)]
pub(crate) struct Away {
    /// The call, and the calls above it.
    levels: Vec<(Arc<Live>, Reason)>,
}

impl Away {
    /// Waits until all resources that were given away are back.
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

/// A wait that is about to end.
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
