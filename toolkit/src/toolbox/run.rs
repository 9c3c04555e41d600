//! Running a tool's function: to its end, its cancellation, its time limit or its panic, with one outcome.

use super::finish::{Finishing, finish};
use super::report::Report;
use super::span;
use crate::arguments::{Arguments, Repair};
use crate::context::ToolContext;
use crate::error::{ToolError, ToolErrorKind};
use crate::gate::{Gate, Pass, Passage};
use crate::guard::{guard, panicked};
use crate::live::{Duty, Given, Live};
use crate::output::ToolOutput;
use crate::tool_def::{BoxFuture, Run};
use std::cell::Cell;
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::{Handle, Id};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::WaitForCancellationFuture;
use tracing::Span;

type Outcome = Result<ToolOutput, ToolError>;
type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a call begins with, and in the end its outcome.
pub(super) struct Start {
    pub(super) arguments: Arguments,
    pub(super) repairs: Vec<Repair>,
    /// The host's word on how long it may take.
    pub(super) timeout: Option<Duration>,
    pub(super) within_read_only: bool,
    pub(super) report: Report,
    pub(super) outcome: Option<Outcome>,
}

/// A call under way. Nothing is set up for waiting until it has to wait.
pub(super) struct Running<'a> {
    context: &'a ToolContext,
    start: &'a mut Start,
    stage: Stage<'a>,
    pass: Option<Pass<'a>>,
    place: Option<OwnedSemaphorePermit>,
    /// Where the place is while the function runs on a thread: it counts for as long as it really runs.
    lent: Option<Lent>,
    waits: Option<Box<Waits<'a>>>,
    span: Span,
}

/// A place that a thread keeps, and that its runner can give away while the function waits.
type Lent = Arc<Mutex<Option<OwnedSemaphorePermit>>>;

enum Stage<'a> {
    /// It waits for its turn.
    Entering,
    /// The function runs.
    Function(BoxFuture<'a>),
    /// Its output is cut and kept.
    Finishing(Finishing<'a>),
    Over,
}

/// What a call that has to wait waits for beside its function.
#[derive(Default)]
struct Waits<'a> {
    cancelled: Option<Pin<Box<WaitForCancellationFuture<'a>>>>,
    entering: Option<Boxed<'a, Entry<'a>>>,
    /// What `entering` brings, with what was free at once.
    wanted: Given,
    /// When the function first had to wait.
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

/// What it takes to run.
#[derive(Default)]
struct Entry<'a> {
    pass: Option<Pass<'a>>,
    place: Option<OwnedSemaphorePermit>,
}

impl<'a> Running<'a> {
    pub(super) fn new(context: &'a ToolContext, start: &'a mut Start) -> Self {
        let span = span::of(context);
        Self {
            context,
            start,
            stage: Stage::Entering,
            pass: None,
            place: None,
            lent: None,
            waits: None,
            span,
        }
    }

    /// Goes on with the call; when it is ready, the outcome is where it began.
    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<()> {
        let polled = if self.span.is_none() {
            self.advance(task)
        } else {
            self.span.clone().in_scope(|| self.advance(task))
        };
        if polled.is_pending() {
            self.start.report.wait(self.context);
        }
        polled
    }

    fn advance(&mut self, task: &mut Context<'_>) -> Poll<()> {
        let polled = match &mut self.stage {
            Stage::Entering => self.enter(task),
            Stage::Function(_) => self.step(task),
            Stage::Finishing(finishing) => {
                // The host's own wording of hints is in it.
                let finished = guard(self.context.tool_name(), || finishing.as_mut().poll(task));
                let Poll::Ready(outcome) = finished.unwrap_or_else(|panicked| Poll::Ready(Err(panicked)))
                else {
                    return Poll::Pending;
                };
                self.start.outcome = Some(outcome);
                self.end();
                return Poll::Ready(());
            }
            Stage::Over => return Poll::Pending,
        };
        match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => self.conclude(task),
        }
    }

    /// Waits for the call's turn, and starts the function.
    fn enter(&mut self, task: &mut Context<'_>) -> Poll<()> {
        if self.context.is_cancelled() {
            self.start.outcome = Some(Err(aborted()));
            return Poll::Ready(());
        }
        let wanted = Given { pass: true, place: true };
        if self.acquire(wanted, task).is_pending() {
            let stopped = self.poll_cancelled(task);
            return self.stop(stopped);
        }
        Report::start(self.context);
        let context = self.context;
        let function = match context.tool().run() {
            Run::Async(function) => function,
            Run::Blocking(function) => {
                let arguments = mem::take(&mut self.start.arguments);
                self.lent = self.place.take().map(|place| Arc::new(Mutex::new(Some(place))));
                self.stage = Stage::Function(block(context, function, arguments, self.lent.clone()));
                return self.step(task);
            }
        };
        let Start { arguments, outcome, .. } = &mut *self.start;
        let stage = &mut self.stage;
        let begun = guard(context.tool_name(), || match function(context, arguments) {
            Ok(future) => {
                *stage = Stage::Function(future);
                poll_function(stage, outcome, task);
            }
            Err(error) => *outcome = Some(Err(error)),
        });
        self.stepped(begun, task)
    }

    /// Gets what is wanted of pass and place, in this order always: whoever has a place has its pass already, so
    /// that no two calls wait for each other.
    fn acquire(&mut self, wanted: Given, task: &mut Context<'_>) -> Poll<()> {
        if self.waits.as_ref().is_none_or(|waits| waits.entering.is_none()) {
            let (gate, limit) = self.take_what_is_free(wanted);
            if gate.is_none() && limit.is_none() {
                return Poll::Ready(());
            }
            let waits = self.waits.get_or_insert_default();
            waits.wanted = wanted;
            waits.entering = Some(Box::pin(wait_for(gate, limit)));
        }
        let waits = self.waits.get_or_insert_default();
        let Some(entering) = &mut waits.entering else { return Poll::Ready(()) };
        let Poll::Ready(Entry { pass, place }) = entering.as_mut().poll(task) else { return Poll::Pending };
        waits.entering = None;
        self.pass = pass.or(self.pass.take());
        self.place = place.or(self.place.take());
        Poll::Ready(())
    }

    /// Takes what need not be waited for; what is left has to be.
    fn take_what_is_free(&mut self, wanted: Given) -> (Option<(&'a Gate, Passage)>, Option<Arc<Semaphore>>) {
        let mut gate = if wanted.pass { self.gate() } else { None };
        if let Some((free, passage)) = &gate
            && let Some(pass) = free.try_pass(*passage)
        {
            self.pass = Some(pass);
            gate = None;
        }
        let mut limit = if wanted.place { self.context.tool().limit().map(Arc::clone) } else { None };
        if let (None, Some(free)) = (&gate, &limit)
            && let Ok(place) = Arc::clone(free).try_acquire_owned()
        {
            self.place = Some(place);
            limit = None;
        }
        (gate, limit)
    }

    /// The gate that the call goes through, and how.
    fn gate(&self) -> Option<(&'a Gate, Passage)> {
        let context = self.context;
        let is_reading = context.tool().annotations().read_only_hint;
        let passage = if is_reading { Passage::Together } else { Passage::Alone };
        match context.above() {
            // All that a tool can call which only reads, only reads.
            Some(_) if self.start.within_read_only => None,
            Some(above) => Some((above.live.children(), passage)),
            None => Some((&context.scope().session.gate, passage)),
        }
    }

    /// Lets the function go on.
    fn step(&mut self, task: &mut Context<'_>) -> Poll<()> {
        if let Some(live) = self.context.live_if_made() {
            let duty = live.duty();
            if self.restore(live, duty, task).is_pending() && duty == Duty::RestoreFirst {
                let stopped = self.poll_stops(task);
                return self.stop(stopped);
            }
        }
        let (stage, outcome) = (&mut self.stage, &mut self.start.outcome);
        let polled = guard(self.context.tool_name(), || poll_function(stage, outcome, task));
        self.stepped(polled, task)
    }

    /// The function was polled: it has its outcome, panicked, or has to wait.
    fn stepped(&mut self, polled: Result<(), ToolError>, task: &mut Context<'_>) -> Poll<()> {
        // What panics after the outcome was there is a destructor; the outcome stands all the same.
        if self.start.outcome.is_some() {
            return Poll::Ready(());
        }
        if let Err(panicked) = polled {
            self.start.outcome = Some(Err(panicked));
            return Poll::Ready(());
        }
        if let Some(live) = self.context.live_if_made() {
            live.set_runner(task.waker());
            self.give(live);
            let _ = self.restore(live, live.duty(), task);
        }
        let stopped = self.poll_stops(task);
        self.stop(stopped)
    }

    /// The call ends before its function does, if it does.
    fn stop(&mut self, stopped: Poll<ToolError>) -> Poll<()> {
        stopped.map(|error| self.start.outcome = Some(Err(error)))
    }

    /// Gives away what the function does not need while it is away.
    fn give(&mut self, live: &Live) {
        let gives = live.take_wanted(self.has());
        if gives.pass {
            self.pass = None;
        }
        if gives.place {
            self.place = None;
            self.lend(None);
        }
    }

    /// Gets back what was given away, as far as it is its duty now.
    fn restore(&mut self, live: &Live, duty: Duty, task: &mut Context<'_>) -> Poll<()> {
        loop {
            let missing = if duty == Duty::None { Given::default() } else { live.missing() };
            if let Some(waits) = &mut self.waits
                && waits.entering.is_some()
                && waits.wanted != missing
            {
                // Whoever waits in a queue gets what he no longer wants, and keeps it from those who do.
                waits.entering = None;
                self.is_back(live);
                continue;
            }
            if missing == Given::default() {
                return Poll::Ready(());
            }
            if self.acquire(missing, task).is_pending() {
                return Poll::Pending;
            }
            self.is_back(live);
        }
    }

    fn is_back(&mut self, live: &Live) {
        if self.lent.is_some()
            && let Some(place) = self.place.take()
        {
            self.lend(Some(place));
        }
        live.restored(self.has());
    }

    fn has(&self) -> Given {
        let is_lent = || self.lent.as_ref().is_some_and(|lent| locked(lent).is_some());
        Given { pass: self.pass.is_some(), place: self.place.is_some() || is_lent() }
    }

    /// What the function's thread keeps from now on.
    fn lend(&self, place: Option<OwnedSemaphorePermit>) {
        if let Some(lent) = &self.lent {
            let before = std::mem::replace(&mut *locked(lent), place);
            drop(before);
        }
    }

    /// Whether the call has to stop before its function ends.
    fn poll_stops(&mut self, task: &mut Context<'_>) -> Poll<ToolError> {
        match self.poll_cancelled(task) {
            Poll::Pending => self.poll_clock(task),
            stopped @ Poll::Ready(_) => stopped,
        }
    }

    fn poll_cancelled(&mut self, task: &mut Context<'_>) -> Poll<ToolError> {
        let Some(token) = self.context.call_token() else { return Poll::Pending };
        let waits = self.waits.get_or_insert_default();
        let cancelled = waits.cancelled.get_or_insert_with(|| Box::pin(token.cancelled()));
        cancelled.as_mut().poll(task).map(|()| aborted())
    }

    fn poll_clock(&mut self, task: &mut Context<'_>) -> Poll<ToolError> {
        let context = self.context;
        let settings = &context.scope().toolkit.settings;
        let limit = self.start.timeout.or(context.tool().def().timeout).unwrap_or(settings.timeout);
        let waits = self.waits.get_or_insert_default();
        let since = *waits.since.get_or_insert_with(Instant::now);
        let (stopped_for, stands) = match context.live_if_made() {
            Some(live) => live.stopped(task.waker()),
            None => (Duration::ZERO, false),
        };
        let deadline = limit.checked_add(stopped_for).and_then(|limit| since.checked_add(limit));
        let Some(deadline) = deadline.filter(|_| !stands) else {
            waits.timer = None;
            return Poll::Pending;
        };
        if waits.timer.is_none() {
            waits.timer = timer(deadline);
        }
        let Some(timer) = &mut waits.timer else { return Poll::Pending };
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(task).map(|()| timed_out(context, limit))
    }

    /// The function is over: its answer is made ready.
    fn conclude(&mut self, task: &mut Context<'_>) -> Poll<()> {
        self.leave();
        let Some(outcome) = &mut self.start.outcome else { return Poll::Pending };
        match finish(self.context, outcome, &self.start.repairs) {
            None => {
                self.end();
                Poll::Ready(())
            }
            Some(finishing) => {
                self.stage = Stage::Finishing(finishing);
                self.advance(task)
            }
        }
    }

    /// Ends the call with its one outcome.
    fn end(&mut self) {
        self.stage = Stage::Over;
        if let Some(outcome) = &self.start.outcome {
            span::end(&self.span, outcome);
            self.start.report.finish(self.context, outcome);
        }
    }

    /// Lets go of everything. What the function holds may panic when it is dropped; the outcome stands all the same.
    fn leave(&mut self) {
        if let stage @ (Stage::Function(_) | Stage::Finishing(_)) = &mut self.stage {
            let stage = mem::replace(stage, Stage::Over);
            let _ = guard(self.context.tool_name(), || drop(stage));
        }
        self.stage = Stage::Over;
        self.context.end();
        self.waits = None;
        self.place = None;
        self.lent = None;
        self.pass = None;
    }
}

/// Lets the function go on; whatever it is, it is dropped as soon as it has its outcome.
fn poll_function(stage: &mut Stage<'_>, outcome: &mut Option<Outcome>, task: &mut Context<'_>) {
    if let Stage::Function(future) = stage
        && let Poll::Ready(ready) = future.as_mut().poll(task)
    {
        *outcome = Some(ready);
        drop(mem::replace(stage, Stage::Over));
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !matches!(self.stage, Stage::Over) {
            self.leave();
            self.context.abandon();
            self.start.report.interrupt(self.context);
        }
    }
}

fn locked(lent: &Lent) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
    lent.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn wait_for(gate: Option<(&Gate, Passage)>, limit: Option<Arc<Semaphore>>) -> Entry<'_> {
    let mut entry = Entry::default();
    if let Some((gate, passage)) = gate {
        entry.pass = Some(gate.pass(passage).await);
    }
    if let Some(limit) = limit {
        // Nobody closes it.
        entry.place = limit.acquire_owned().await.ok();
    }
    entry
}

/// A timer, where there is a runtime that has them.
fn timer(deadline: Instant) -> Option<Pin<Box<Sleep>>> {
    thread_local! {
        static WITHOUT: Cell<Option<Id>> = const { Cell::new(None) };
    }
    let runtime = Handle::try_current().ok()?.id();
    if WITHOUT.get() == Some(runtime) {
        return None;
    }
    // Tokio panics in a runtime without timers, and does not say beforehand.
    let timer = guard("a timer", || Box::pin(sleep_until(deadline))).ok();
    if timer.is_none() {
        WITHOUT.set(Some(runtime));
    }
    timer
}

/// Runs a blocking function on the pool for such. Cancelled, it is told and left to end by itself.
fn block(
    context: &ToolContext,
    function: fn(&ToolContext, &mut Arguments) -> Outcome,
    mut arguments: Arguments,
    place: Option<Lent>,
) -> BoxFuture<'static> {
    let context = context.clone();
    Box::pin(async move {
        let Ok(runtime) = Handle::try_current() else {
            return Err(ToolError::unavailable(
                "a tool that is no `async fn` runs on tokio's blocking pool, and there is no tokio runtime here",
            ));
        };
        let name = context.tool_name().to_owned();
        // Whoever drops this future tells the function: it can ask, nothing else can stop it.
        let _told = context.cancellation_token().clone().drop_guard();
        let mut task = runtime.spawn_blocking(move || {
            let _place = place;
            // It may have waited for a thread until nobody wanted it any more.
            context.check_cancelled()?;
            guard(context.tool_name(), || function(&context, &mut arguments))?
        });
        poll_fn(|waker| Pin::new(&mut task).poll(waker)).await.unwrap_or_else(|error| {
            Err(match error.try_into_panic() {
                Ok(panic) => panicked(&name, panic),
                Err(_) => ToolError::new(ToolErrorKind::Interrupted, "the host is shutting down"),
            })
        })
    })
}

fn aborted() -> ToolError {
    ToolError::aborted("the call was cancelled")
}

fn timed_out(context: &ToolContext, limit: Duration) -> ToolError {
    let what = match context.tool().run() {
        Run::Async(_) => "was stopped",
        Run::Blocking(_) => "was told to stop",
    };
    ToolError::new(
        ToolErrorKind::TimedOut,
        format!(
            "`{}` did not finish within {limit:?} and {what}; what it did until then stands. Ask it for less at once",
            context.tool_name()
        ),
    )
}
