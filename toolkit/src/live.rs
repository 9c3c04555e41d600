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
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Absence {
    aside: u32,
    calling: u32,
    /// The number of calls made by this call that are idle.
    idle_calls: u32,
    /// True if the call only waits, as do all calls that it made: nothing needs its pass.
    idle: bool,
    /// The number of waits that will end once everything is back.
    returning: u32,
    /// True if a wait was given up: the function goes on once everything is back.
    gave_up: bool,
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

    /// Changes the state, and wakes the runners that have to be notified: this one, and those of the calls above if this call became idle or
    /// active. They are woken after the locks are released, since an executor may run them at once.
    fn change<T>(&self, change: impl FnOnce(&mut Absence) -> T) -> T {
        let mut runners = Vec::new();
        let changed = {
            let mut absence = self.lock();
            let was_idle = absence.idle;
            let changed = change(&mut absence);
            self.tell_above(&mut absence, was_idle, &mut runners);
            changed
        };
        runners.into_iter().for_each(Waker::wake);
        changed
    }

    /// Tells the call above if this call became idle or active. The lock of this call is held meanwhile, so that the changes arrive in their
    /// order; no lock is taken downwards.
    fn tell_above(&self, absence: &mut Absence, was_idle: bool, runners: &mut Vec<Waker>) {
        if std::mem::take(&mut absence.news) {
            runners.extend(absence.runner.clone());
        }
        if let Some(parent) = &self.parent
            && absence.idle != was_idle
        {
            let mut above = parent.lock();
            let was_idle = above.idle;
            above.call_became(absence.idle);
            parent.tell_above(&mut above, was_idle, runners);
        }
    }

    /// Returns the call and the calls above it.
    fn levels(self: &Arc<Self>) -> impl Iterator<Item = &Arc<Self>> {
        std::iter::successors(Some(self), |live| live.parent.as_ref())
    }

    /// Ends the call. A task that still holds its context must not wait for resources that only the runner could get
    /// back.
    pub(crate) fn end(&self) {
        let (_runner, returners) = self.change(|absence| {
            absence.over = true;
            absence.idle = false;
            (absence.runner.take(), std::mem::take(&mut absence.returners))
        });
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
        Away { live: Arc::clone(self), reason, comes_back: false }
    }

    /// Returns the resources to give away now, of those that the runner has.
    pub(crate) fn take_wanted(&self, has: Given) -> Given {
        let mut absence = self.lock();
        let wanted = std::mem::take(&mut absence.wanted);
        // Whoever has a place has its pass: otherwise another call could have the pass and wait for the place.
        let pass = wanted.pass && has.pass;
        let gives = Given { pass, place: (wanted.place || pass) && has.place };
        absence.given.pass |= gives.pass;
        absence.given.place |= gives.place;
        gives
    }

    /// Returns the runner's task, given the resources it gave away.
    pub(crate) fn duty(&self) -> Duty {
        let absence = self.lock();
        if absence.gave_up {
            return Duty::RestoreFirst;
        }
        if absence.given == Given::default() {
            return Duty::None;
        }
        if absence.returning > 0 {
            return Duty::Restore;
        }
        if !absence.is_away() {
            return Duty::RestoreFirst;
        }
        // A call that works needs the pass of every call above it.
        if !absence.idle && absence.given.pass { Duty::Restore } else { Duty::None }
    }

    /// Returns true if a pass of a call above was given away. The task is woken when it may be back.
    fn lacks_above(self: &Arc<Self>, task: &mut Context<'_>) -> bool {
        self.levels().skip(1).any(|live| live.poll_pass(task).is_pending())
    }

    /// Returns true if the function must not go on yet, because a pass of a call above was given away while it waited; otherwise it goes on.
    pub(crate) fn waits_above(self: &Arc<Self>, task: &mut Context<'_>) -> bool {
        if self.lacks_above(task) {
            return true;
        }
        let has_all = self.change(|absence| {
            let has_all = !absence.given.pass && (!absence.given.place || absence.calling > 0);
            absence.gave_up &= !has_all;
            absence.update_clock();
            has_all
        });
        if !has_all {
            // The passes above came back after the runner had looked: it gets its own now.
            task.waker().wake_by_ref();
        }
        !has_all
    }

    /// Returns the resources that must come back now: nothing before the passes of the calls above, and the place only if no call is being
    /// made any more, since that call may hold it.
    pub(crate) fn missing(self: &Arc<Self>, task: &mut Context<'_>) -> Given {
        if self.lacks_above(task) {
            return Given::default();
        }
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

    fn poll_return(&self, task: &mut Context<'_>) -> Poll<()> {
        self.poll_until(task, |absence| {
            let lacks_place = absence.given.place && absence.calling == 0;
            !absence.given.pass && !lacks_place
        })
    }

    fn poll_pass(&self, task: &mut Context<'_>) -> Poll<()> {
        self.poll_until(task, |absence| !absence.given.pass)
    }

    fn poll_until(&self, task: &mut Context<'_>, is_back: impl FnOnce(&Absence) -> bool) -> Poll<()> {
        let mut absence = self.lock();
        if is_back(&absence) || absence.over {
            return Poll::Ready(());
        }
        if !absence.returners.iter().any(|waker| waker.will_wake(task.waker())) {
            absence.returners.push(task.waker().clone());
        }
        Poll::Pending
    }
}

impl Absence {
    fn is_away(&self) -> bool {
        self.aside > 0 || self.calling > 0
    }

    /// Returns true if the call only waits, as far as is known.
    fn only_waits(&self) -> bool {
        !self.over && self.is_away() && self.calling == self.idle_calls
    }

    /// Gives the pass away if nothing needs it any more. A wait that is about to end does.
    fn settle(&mut self) {
        if self.only_waits() && self.returning == 0 {
            self.idle = true;
            self.wanted = Given { pass: true, place: true };
            self.update_clock();
        }
    }

    /// Keeps a pass that was not given away yet, and has it brought back otherwise.
    fn become_active(&mut self) {
        self.idle = false;
        self.wanted.pass = false;
        self.update_clock();
    }

    fn leave(&mut self, reason: Reason) -> Vec<Waker> {
        self.wanted.place = true;
        self.news = true;
        match reason {
            Reason::Aside => {
                self.aside += 1;
                // A call made meanwhile still needs the pass.
                self.settle();
                Vec::new()
            }
            Reason::Calling => {
                self.calling += 1;
                self.become_active();
                std::mem::take(&mut self.returners)
            }
        }
    }

    /// Records that a call made by this call became idle or active. If several calls are running, the others still need the pass.
    fn call_became(&mut self, idle: bool) {
        self.news = true;
        if idle {
            self.idle_calls += 1;
            self.settle();
        } else {
            self.idle_calls -= 1;
            self.become_active();
        }
    }

    fn end(&mut self, reason: Reason, comes_back: bool) {
        match reason {
            Reason::Aside => self.aside -= 1,
            Reason::Calling => self.calling -= 1,
        }
        if !comes_back {
            // The function works, whatever else it waits for.
            self.become_active();
            self.gave_up = !self.over;
        }
        // Resources that were not given away yet stay if no wait needs it any more.
        self.idle &= self.only_waits();
        self.wanted.pass &= self.idle;
        self.wanted.place &= self.is_away();
        self.update_clock();
        self.news = true;
    }

    /// Updates the clock, which is stopped while the call only waits, and until it has its pass, and those of the calls above, again.
    fn update_clock(&mut self) {
        let stands = self.idle || self.given.pass || self.returning > 0 || self.gave_up;
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
    live: Arc<Live>,
    reason: Reason,
    comes_back: bool,
}

impl Away {
    /// Waits until the call and the calls above it have their passes, which they gave away if all else that they did was to wait. The wait
    /// itself needs none: for a call that is about to be made.
    pub(crate) async fn has_passes(&self) {
        poll_fn(|task| ready_of_all(self.live.levels().map(|live| live.poll_pass(task)))).await;
    }

    /// Waits until all resources that were given away are back, those of the calls above included.
    pub(crate) async fn come_back(mut self) {
        self.comes_back = true;
        let Returning { live, .. } = &Returning::of(&self);
        drop(self);
        poll_fn(|task| ready_of_all(live.levels().map(|live| live.poll_return(task)))).await;
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        self.live.change(|absence| absence.end(self.reason, self.comes_back));
    }
}

/// Polls all, so that the task is woken by each.
fn ready_of_all(polls: impl Iterator<Item = Poll<()>>) -> Poll<()> {
    polls.fold(Poll::Ready(()), |all, poll| if poll.is_pending() { poll } else { all })
}

/// A wait that is about to end.
struct Returning {
    live: Arc<Live>,
    reason: Reason,
}

impl Returning {
    fn of(away: &Away) -> Self {
        let (live, reason) = (Arc::clone(&away.live), away.reason);
        live.change(|absence| {
            absence.returning += 1;
            absence.become_active();
        });
        Self { live, reason }
    }
}

impl Drop for Returning {
    fn drop(&mut self) {
        self.live.change(|absence| {
            absence.returning -= 1;
            absence.news = true;
            match self.reason {
                // Perhaps only waits aside remain; what else the function does beside a call is known from the calls that it makes.
                Reason::Calling => absence.settle(),
                // The function works.
                Reason::Aside => {}
            }
            absence.update_clock();
        });
    }
}

#[cfg(test)]
mod tests;
