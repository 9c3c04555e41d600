//! Runs a tool's function until its end, cancellation, time limit or panic, with one outcome.

mod block;
mod services;
mod stop;
mod turn;

use super::Scope;
use super::before::{before, is_free};
use super::finish::{Finishing, finish};
use super::hearing::not_recorded;
use super::repeats;
use super::report::Report;
use super::span;
use crate::gate::Pass;
use crate::lifecycle::InFlight;
use crate::live::{Duty, Given};
use crate::tool::context::ToolContext;
use crate::tool::def::BoxFuture;
use crate::tool::{Runs, Tool};
use block::block;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
pub(super) use stop::CLOSING;
use stop::aborted;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::WaitForCancellationFuture;
use toolkit_core::arguments::{Arguments, Repair};
use toolkit_core::error::ToolError;
use toolkit_core::guard::guard;
use toolkit_core::output::ToolOutput;
use tracing::Span;
use turn::{Entering, Lent};

type Outcome = Result<ToolOutput, ToolError>;

/// The input of a running call, and at the end its outcome.
pub(super) struct Start {
    pub(super) arguments: Arguments,
    pub(super) repairs: Vec<Repair>,
    /// The host's time limit for this call.
    pub(super) timeout: Option<Duration>,
    pub(super) within_read_only: bool,
    pub(super) reads_beside_changes: bool,
    /// A program makes the call, which may repeat it.
    pub(super) of_program: bool,
    pub(super) report: Report,
    pub(super) outcome: Option<Outcome>,
    /// The loop guard's key of the call.
    pub(super) key: Option<u64>,
}

/// A running call. Nothing is set up for waiting until it has to wait.
pub(super) struct Running<'a> {
    context: &'a ToolContext,
    /// The context's toolbox and tool, which the context would have to look up each time.
    scope: &'a Scope,
    tool: &'a Tool,
    start: &'a mut Start,
    stage: Stage<'a>,
    pass: Option<Pass<'a>>,
    place: Option<OwnedSemaphorePermit>,
    /// The place while the function runs on a thread: it is occupied for as long as the thread runs.
    lent: Option<Lent>,
    waits: Option<Box<Waits<'a>>>,
    /// Counts the call once it has had to wait.
    in_flight: Option<InFlight<'a>>,
    span: Span,
}

enum Stage<'a> {
    /// The call waits for its turn.
    Entering,
    /// The function runs.
    Function(BoxFuture<'a>),
    /// The output is truncated and saved.
    Finishing(Finishing<'a>),
    Over,
}

/// The resources and events that a call waits for beside its function.
#[derive(Default)]
struct Waits<'a> {
    cancelled: Option<Pin<Box<WaitForCancellationFuture<'a>>>>,
    /// The end of the toolkit.
    closing: Option<Pin<Box<WaitForCancellationFuture<'a>>>>,
    entering: Option<Entering<'a>>,
    /// The resources that `entering` will bring, with those that were free at once.
    wanted: Given,
    /// The time at which the function first had to wait.
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<'a> Running<'a> {
    pub(super) fn new(context: &'a ToolContext, start: &'a mut Start) -> Self {
        let span = span::of(context);
        Self {
            context,
            scope: context.scope(),
            tool: context.tool(),
            start,
            stage: Stage::Entering,
            pass: None,
            place: None,
            lent: None,
            waits: None,
            in_flight: None,
            span,
        }
    }

    /// Polls the call; when it is ready, the outcome is in `start`.
    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<()> {
        let polled = if self.span.is_none() {
            self.advance(task)
        } else {
            self.span.clone().in_scope(|| self.advance(task))
        };
        if polled.is_pending() {
            let lifecycle = &self.scope.toolkit.lifecycle;
            self.in_flight.get_or_insert_with(|| lifecycle.enter());
            self.start.report.wait(self.context);
        }
        polled
    }

    fn advance(&mut self, task: &mut Context<'_>) -> Poll<()> {
        let polled = match &mut self.stage {
            Stage::Entering => self.enter(task),
            Stage::Function(_) => self.step(task),
            Stage::Finishing(finishing) => {
                // It may call the host's own function for notes on truncation.
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
        let Self { context, scope, tool, .. } = *self;
        if let Some(bound) = tool.bound_arguments() {
            self.start.arguments.extend(bound);
        }
        if !self.start.of_program {
            self.start.key = repeats::key(context, scope, &self.start.arguments);
        }
        let is_recorded = context.ask_journal.is_some();
        if is_recorded || !is_free(scope, tool) || services::are_wanting(scope, tool, context) {
            return self.enter_behind(task);
        }
        let function = match tool.run() {
            Runs::Waiting(function) => function,
            Runs::Blocking(function) => {
                let arguments = mem::take(&mut self.start.arguments);
                self.lent = self.place.take().map(|place| Arc::new(Mutex::new(Some(place))));
                self.stage = Stage::Function(block(context, function, arguments, self.lent.clone()));
                return self.step(task);
            }
        };
        let Start { arguments, outcome, .. } = &mut *self.start;
        let stage = &mut self.stage;
        let begun = guard(context.tool_name(), || match function.start(context, arguments) {
            Ok(future) => {
                *stage = Stage::Function(future);
                poll_function(stage, outcome, task);
            }
            Err(error) => *outcome = Some(Err(error)),
        });
        self.stepped(begun, task)
    }

    /// Starts with the steps before the function.
    fn enter_behind(&mut self, task: &mut Context<'_>) -> Poll<()> {
        if let Runs::Blocking(_) = self.tool.run() {
            self.lent = self.place.take().map(|place| Arc::new(Mutex::new(Some(place))));
        }
        let arguments = mem::take(&mut self.start.arguments);
        self.stage = Stage::Function(behind(self.context, arguments, self.start.key, self.lent.clone()));
        self.step(task)
    }

    /// Polls the function.
    fn step(&mut self, task: &mut Context<'_>) -> Poll<()> {
        if let Some(live) = self.context.live_if_made() {
            let duty = live.duty();
            let is_back = self.restore(live, duty, task).is_ready();
            if duty == Duty::RestoreFirst && (!is_back || live.waits_above(task)) {
                let stopped = self.poll_stops(task);
                return self.stop(stopped);
            }
        }
        let (stage, outcome) = (&mut self.stage, &mut self.start.outcome);
        let polled = guard(self.context.tool_name(), || poll_function(stage, outcome, task));
        self.stepped(polled, task)
    }

    /// Handles a poll of the function: it has an outcome, panicked, or has to wait.
    fn stepped(&mut self, polled: Result<(), ToolError>, task: &mut Context<'_>) -> Poll<()> {
        // A panic after the outcome comes from a destructor; the outcome stays.
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
            let duty = live.duty();
            if self.restore(live, duty, task).is_ready() && duty == Duty::RestoreFirst {
                live.waits_above(task);
            }
        }
        let stopped = self.poll_stops(task);
        self.stop(stopped)
    }

    /// Ends the call before its function ends, if it has to stop.
    fn stop(&mut self, stopped: Poll<ToolError>) -> Poll<()> {
        stopped.map(|error| self.start.outcome = Some(Err(error)))
    }

    /// Completes the result when the function is over.
    fn conclude(&mut self, task: &mut Context<'_>) -> Poll<()> {
        self.leave();
        let Some(outcome) = &mut self.start.outcome else { return Poll::Pending };
        match finish(self.context, self.scope, self.tool, outcome, &self.start.repairs) {
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

    /// Ends the call with its outcome.
    fn end(&mut self) {
        self.stage = Stage::Over;
        if let (Some(key), Some(outcome)) = (self.start.key, &mut self.start.outcome) {
            repeats::note(self.context, key, outcome);
        }
        if let Some(outcome) = &self.start.outcome {
            span::end(&self.span, outcome);
            self.start.report.finish(self.context, outcome);
        }
    }

    /// Drops everything. Values that the function holds may panic when they are dropped; the outcome stays.
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

/// Runs the function after all steps before it.
fn behind(
    context: &ToolContext,
    arguments: Arguments,
    key: Option<u64>,
    place: Option<Lent>,
) -> BoxFuture<'_> {
    Box::pin(async move {
        let mut arguments = before(context, arguments, key).await?;
        if services::are_wanting(context.scope(), context.tool(), context) {
            services::make(context).await?;
        }
        if let Some(journal) = &context.ask_journal {
            journal.begins().await.map_err(|why| not_recorded("beginning of the call", &why))?;
            context.check_cancelled()?;
        }
        match context.tool().run() {
            Runs::Waiting(function) => function.start(context, &mut arguments)?.await,
            Runs::Blocking(function) => block(context, function, arguments, place).await,
        }
    })
}

/// Polls the function; it is dropped as soon as it has an outcome.
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
