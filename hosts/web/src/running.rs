//! A call on its way: the task that runs it, whoever waits for it.

use crate::access::{Access, Asking};
use crate::answer::Answer;
use crate::body::OfBody;
use crate::clients::Client;
use crate::events::Queue;
use crate::keys::Reserved;
use crate::problems::{NO_ROOM, ask_without_places, of_refusal};
use crate::result::{Delivery, json_of, without_content};
use crate::room::Share;
use crate::web::{Inner, NOBODY};
use serde_json::Value;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio_util::sync::CancellationToken;
use toolkit::approval::{Answer as AskAnswer, Answering, DeniedBy, PendingAsk};
use toolkit::events::Events;
use toolkit::{Approver, CallOptions, ToolCall, ToolError, ToolErrorKind, ToolResult, Toolbox};
use toolkit_serve::Problem;
use toolkit_serve::axum::http::StatusCode;

/// A call that is about to run, with all that its task holds.
pub(crate) struct Planned {
    pub(crate) web: Arc<Inner>,
    pub(crate) toolbox: Toolbox,
    pub(crate) client: Arc<Client>,
    pub(crate) access: Access,
    /// The tool, as the client named it.
    pub(crate) name: String,
    pub(crate) arguments: Value,
    pub(crate) delivery: Delivery,
    pub(crate) cancel: CancellationToken,
    pub(crate) key: Option<Reserved>,
    /// The reader of the events, if there is one.
    pub(crate) queue: Option<Arc<Queue>>,
    /// The room for the first bytes of the answer.
    pub(crate) room: Share,
    /// The memory of the arguments.
    pub(crate) _memory: Option<OfBody>,
    /// The place among the calls of the client, as long as the task runs.
    pub(crate) _place: OwnedSemaphorePermit,
}

impl Planned {
    /// Runs the call on a task of its own. The receiver gets its answer.
    pub(crate) fn start(self) -> oneshot::Receiver<Answer> {
        let (sender, receiver) = oneshot::channel();
        tokio::spawn(async move {
            let ending = Ending(self.queue.clone());
            let answer = self.run().await;
            // Nobody waits if the client is gone.
            let _ = sender.send(answer.clone());
            ending.end(answer);
        });
        receiver
    }

    async fn run(mut self) -> Answer {
        let (id, mut key) = (call_id(), self.key.take());
        if let Some(key) = &mut key {
            key.start();
        }
        let began = Instant::now();
        let _of_client = self.client.runs(&id);
        let running = self.web.metrics.begin();
        let events = self.queue.as_ref().map(|_| self.toolbox.events());
        let arguments = std::mem::take(&mut self.arguments);
        // Before the call: afterwards the tool may not be there any more, although it ran.
        let can_begin = self.can_begin(&arguments);
        let call = ToolCall::new(&*id, &*self.name, arguments);
        let result = self.result(&id, call, events).await;
        let outcome = outcome(&result);
        let has_begun = can_begin || result.error().is_none();
        let (answer, shorter, of_media) = self.answer(result).await;
        // A name that no tool has is no label.
        match self.toolbox.tool(&self.name) {
            Some(tool) if has_begun => self.web.metrics.calls.note(tool.name(), outcome, began.elapsed()),
            _ => self.web.metrics.note_refused(answer.status()),
        }
        match key {
            Some(key) if has_begun => key.finish(&answer),
            Some(key) => key.release(),
            None => {}
        }
        drop(running);
        self.in_room(answer, shorter, of_media)
    }

    /// Returns the answer with the room that it takes until the client has read it, or a shorter one if there is none.
    fn in_room(self, answer: Answer, shorter: Answer, of_media: Option<Share>) -> Answer {
        let has_room = self.room.bytes() + of_media.as_ref().map_or(0, Share::bytes);
        let rest = self.client.sent.take(answer.bytes().saturating_sub(has_room));
        match rest {
            Some(rest) => answer.taking([self.room, rest].into_iter().chain(of_media).collect()),
            None => shorter.taking(vec![self.room]),
        }
    }

    async fn result(&self, id: &str, call: ToolCall, mut events: Option<Events>) -> ToolResult {
        let options = CallOptions::new().reads_beside_changes().of_program().never_begins_again();
        let options = options.cancel(self.cancel.clone());
        let options = match self.access.mode() {
            Asking::Off => options.approver(Nobody),
            Asking::Served => options.approver(Elsewhere),
            Asking::Host => options,
        };
        let mut running = pin!(self.toolbox.call_with(call, options));
        let mut stopped = pin!(self.stopped());
        let mut is_stopped = false;
        let result = loop {
            tokio::select! {
                // First: many events do not keep a call from its end. Those that are left are read after it.
                biased;
                () = &mut stopped, if !is_stopped => {
                    is_stopped = true;
                    self.cancel.cancel();
                }
                result = &mut running => break result,
                event = next(&mut events) => match (event, &self.queue) {
                    (Some(event), Some(queue)) => queue.add(id, &event, |ask| self.without_places(ask)),
                    // There are no more events.
                    _ => events = None,
                },
            }
        };
        if let (Some(events), Some(queue)) = (&mut events, &self.queue) {
            while let Some(event) = events.try_next() {
                queue.add(id, &event, |ask| self.without_places(ask));
            }
        }
        result
    }

    fn without_places(&self, ask: Value) -> Value {
        ask_without_places(ask, &self.web.toolkit.configuration(), &self.access)
    }

    /// Waits for the shutdown, or for the end of the client or of the token of the request.
    async fn stopped(&self) {
        let revoked = async {
            match self.access.revocation() {
                Some(revocation) => revocation.token_revoked().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.web.options.shutdown.cancelled() => {}
            () = self.client.ended.cancelled() => {}
            () = revoked => {}
        }
    }

    /// Returns false for a call that is refused before its tool runs: the tool is not there, or the arguments do not fit.
    fn can_begin(&self, arguments: &Value) -> bool {
        self.toolbox.find(&self.name).is_ok()
            && self.toolbox.check_arguments(&self.name, arguments.clone()).is_ok()
    }

    /// Returns the answer, with one that is sent instead if there is no room for it, and the room that is taken for its data.
    async fn answer(&self, result: ToolResult) -> (Answer, Answer, Option<Share>) {
        if let Some(error) = result.error()
            && self.is_refusal(error)
        {
            let problem = of_refusal(error, &self.web.toolkit.configuration(), &self.access);
            let short = Problem::new(
                problem.status(),
                format!("the call was refused, and the reason is not sent: {NO_ROOM}"),
            );
            let short = short.with("kind", error.kind().to_string());
            return (Answer::from(&problem), Answer::from(&short), None);
        }
        let (shown, room) = json_of(result, &self.toolbox, &self.client, &self.access, self.delivery).await;
        let answer = Answer::new(StatusCode::OK, &shown);
        let short = Answer::new(StatusCode::OK, &without_content(&shown, answer.bytes()));
        (answer, short, room)
    }

    /// Returns true for an error that is a problem, and not a result: of the call itself, and not of one that it made.
    fn is_refusal(&self, error: &ToolError) -> bool {
        match error.kind() {
            ToolErrorKind::Denied => true,
            ToolErrorKind::UnknownTool => self.toolbox.find(&self.name).is_err(),
            ToolErrorKind::InvalidArguments => {
                let tool = self.toolbox.tool(&self.name);
                error.problems().is_none_or(|invalid| tool.is_some_and(|tool| tool.name() == invalid.tool))
            }
            _ => false,
        }
    }
}

/// Tells the reader of events that there are no more, also if the task panics.
struct Ending(Option<Arc<Queue>>);

impl Ending {
    fn end(mut self, answer: Answer) {
        if let Some(queue) = self.0.take() {
            queue.end(Some(answer));
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            queue.end(None);
        }
    }
}

async fn next(events: &mut Option<Events>) -> Option<toolkit::events::CallEvent> {
    match events {
        Some(events) => events.next().await,
        None => std::future::pending().await,
    }
}

/// The id of a call, unique in this process.
fn call_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("web_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The outcome of a call, as a label.
fn outcome(result: &ToolResult) -> &'static str {
    match result.error().map(ToolError::kind) {
        None => "ok",
        Some(ToolErrorKind::UnknownTool) => "unknown_tool",
        Some(ToolErrorKind::InvalidArguments) => "invalid_arguments",
        Some(ToolErrorKind::Denied) => "denied",
        Some(ToolErrorKind::NotFound) => "not_found",
        Some(ToolErrorKind::Aborted) => "aborted",
        Some(ToolErrorKind::TimedOut) => "timed_out",
        Some(ToolErrorKind::Interrupted) => "interrupted",
        Some(ToolErrorKind::Unavailable) => "unavailable",
        Some(ToolErrorKind::Panicked) => "panicked",
        Some(_) => "failed",
    }
}

/// An approver that denies, since nobody can be asked.
struct Nobody;

impl Approver for Nobody {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        let mut why = NOBODY.to_owned();
        if let Some(setting) = ask.question().setting() {
            why.push_str(" with ");
            why.push_str(&setting);
        }
        Box::pin(std::future::ready(Some(AskAnswer::denied_by(DeniedBy::NobodyThere, why).into())))
    }
}

/// An approver whose questions are answered at `/v1/asks`.
struct Elsewhere;

impl Approver for Elsewhere {
    fn ask<'a>(&'a self, _: &'a PendingAsk) -> Answering<'a> {
        Box::pin(std::future::ready(None))
    }
}
