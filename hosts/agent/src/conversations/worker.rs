//! The task of a conversation: it owns the session, and runs one message after the other.

use super::conversation::{Running, Shared, State};
use super::flights::{Ended, IncomingMessage};
use super::watch::ObservedEvent;
use crate::events::AgentEvent;
use crate::result::{StopReason, ToolAgentResult};
use crate::session::{RunOptions, Session};
use crate::transcript::new_id;
use std::sync::Arc;
use toolkit::CancellationToken;

/// The next run of a conversation.
pub(super) struct NextRun {
    id: String,
    /// `None` for a run that a crash interrupted, and for one that the end of a background job begins.
    task: Option<IncomingMessage>,
    cancel: CancellationToken,
    interrupt: CancellationToken,
}

/// Ends what belongs to a conversation, also when its task panics.
struct AtEnd(Arc<Shared>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        self.0.ending.cancel();
        self.0.lock().flights.end();
        self.0.watch.send(ObservedEvent::Ended);
        self.0.watch.close();
        self.0.ended.cancel();
    }
}

pub(super) async fn work(shared: Arc<Shared>, mut session: Session) {
    let at_end = AtEnd(Arc::clone(&shared));
    // While nothing can be recorded, only a message begins a run: what waits for the model would begin one after the other.
    let mut may_wake = true;
    while let Some(next) = next(&shared, &mut session, may_wake).await {
        may_wake = do_run(&shared, &mut session, next).await;
    }
    session.close();
    drop(at_end);
}

async fn next(shared: &Shared, session: &mut Session, may_wake: bool) -> Option<NextRun> {
    let mut is_told = false;
    loop {
        // Made before the look, so that what comes after it is not missed.
        let changed = shared.changed.notified();
        let resumed = shared.lock().resumes.take();
        if resumed.is_some() {
            return resumed;
        }
        if shared.ending.is_cancelled() {
            return None;
        }
        if let Some(next) = shared.take_task() {
            return Some(next);
        }
        if shared.lock().wakes_next {
            return Some(shared.wake());
        }
        tokio::select! {
            () = changed => {}
            () = shared.ending.cancelled() => return None,
            () = session.woken(), if may_wake && !is_told => {
                if shared.options.wakes {
                    return Some(shared.wake());
                }
                is_told = true;
                shared.lock().has_news = true;
                shared.news.notify_waiters();
            }
        }
    }
}

impl Shared {
    /// Begins a run with the first message that waits. From then on a cancellation of the message is one of the run.
    fn take_task(&self) -> Option<NextRun> {
        let mut state = self.lock();
        if state.resumes.is_some() {
            return state.resumes.take();
        }
        let task = state.flights.take_task()?;
        let (message, run) = (Some(task.id.clone()), task.run.clone().unwrap_or_else(new_id));
        Some(self.begin(&mut state, run, message, Some(task)))
    }

    /// Lets the run go on next that a crash interrupted. `message` is the one that was sent again for it.
    pub(super) fn resume(&self, state: &mut State, run: String, message: Option<String>) {
        state.resumes = Some(self.begin(state, run, message, None));
    }

    /// Begins a run with what waits for the model.
    fn wake(&self) -> NextRun {
        let mut state = self.lock();
        let resumed = state.resumes.take();
        resumed.unwrap_or_else(|| self.begin(&mut state, new_id(), None, None))
    }

    fn begin(
        &self,
        state: &mut State,
        id: String,
        message: Option<String>,
        task: Option<IncomingMessage>,
    ) -> NextRun {
        let (cancel, interrupt) = (self.ending.child_token(), CancellationToken::new());
        if state.is_interrupted {
            interrupt.cancel();
        }
        state.interrupted = None;
        (state.has_news, state.wakes_next) = (false, false);
        state.running = Some(Running {
            run: id.clone(),
            task: message,
            cancel: cancel.clone(),
            interrupt: interrupt.clone(),
        });
        NextRun { id, task, cancel, interrupt }
    }
}

/// Does a run to its end. Returns false if it could not be recorded.
async fn do_run(shared: &Arc<Shared>, session: &mut Session, next: NextRun) -> bool {
    let NextRun { id: run, task, cancel, interrupt } = next;
    let (mode, agent) = {
        let state = shared.lock();
        (state.mode, state.agent.clone())
    };
    let agent = or_cancelled(mode.apply(&agent), &cancel).await.unwrap_or(agent);
    session.set_agent(agent);
    let options = RunOptions::new().cancel(cancel).interrupt(interrupt.clone()).run(run.clone()).observer({
        let (shared, run) = (Arc::clone(shared), run.clone());
        move |event| observe(&shared, &run, event)
    });
    let result = match task {
        Some(IncomingMessage { id, request, .. }) => session.run(request, options.consumes(id)).await,
        None => session.go_on(options).await,
    };
    // The run may have ended just before the interruption.
    let is_interrupted = interrupt.is_cancelled()
        && result.stop_reason == StopReason::Cancelled
        && session.end_of(&run).is_none();
    let mut state = shared.lock();
    state.running = None;
    // The transcript is the truth: a line may be there of which nothing could be told.
    for id in state.flights.of_run() {
        if session.consumer(&id) == Some(&run) {
            state.consumed(&id, &run);
        }
    }
    // A message that came too late for this run is a task of its own.
    session.steering().remove_messages();
    if is_interrupted {
        state.flights.run_interrupted(&run);
        shared.watch.send(ObservedEvent::RunInterrupted { run });
        return true;
    }
    let without_steps = ToolAgentResult { steps: Vec::new(), ..result.clone() };
    let ended = Ended { run: run.clone(), result: Arc::new(result) };
    state.runs.finish(run.clone(), without_steps);
    state.flights.run_ended(&ended);
    let result = Box::new(ToolAgentResult::clone(&ended.result));
    let is_recorded = result.stop_reason != StopReason::TranscriptError;
    shared.watch.send(ObservedEvent::RunEnded { run, result });
    is_recorded
}

/// Takes an event of the run under way.
fn observe(shared: &Shared, run: &str, event: AgentEvent) {
    match &event {
        AgentEvent::Consumed { ids } => {
            let mut state = shared.lock();
            for id in ids {
                state.consumed(id, run);
            }
        }
        AgentEvent::Delivered { id: Some(id), .. } => shared.lock().consumed(id, run),
        _ => {}
    }
    shared.watch.run(run, event);
}

/// Awaits something, unless it is cancelled.
async fn or_cancelled<T>(work: impl Future<Output = T>, cancel: &CancellationToken) -> Option<T> {
    tokio::select! {
        biased;
        done = work => Some(done),
        () = cancel.cancelled() => None,
    }
}
