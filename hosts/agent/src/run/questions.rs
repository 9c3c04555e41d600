//! The questions of calls in the transcript: a call that waits for a person, and did nothing yet, can be begun again after a crash.

use super::{Ending, Run};
use crate::transcript::Record;
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use toolkit::approval::{Answer, AskJournal, Journaling, PendingAsk, Reply};
use toolkit::{ToolCall, Toolbox};
use toolkit_models::ToolOutput;

/// The sender of what calls ask and are answered, to the run that writes it.
pub(super) struct Questions(mpsc::UnboundedSender<Note>);

/// The calls of a group that begin again because of a question, and of which no line says so yet.
pub(super) type BeginningAgain = BTreeSet<usize>;

/// A line for the transcript. The call goes on once it is on the disk.
pub(super) struct Note {
    call: usize,
    kind: NoteKind,
    written: oneshot::Sender<Result<(), String>>,
}

enum NoteKind {
    Begins,
    Asked { digest: String, tool: String },
    Answered { digest: String, is_allowed: bool },
}

/// Returns the sender for the calls of a group, and the receiver.
pub(super) fn questions() -> (Questions, mpsc::UnboundedReceiver<Note>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Questions(sender), receiver)
}

impl Questions {
    /// The record of the questions of one call.
    pub(super) fn of_call(
        &self,
        place: usize,
        toolbox: &Toolbox,
        call: &ToolCall,
        begins_again: bool,
    ) -> Arc<dyn AskJournal> {
        let (toolbox, tool) = (toolbox.clone(), call.name.clone());
        Arc::new(OfCall { call: place, toolbox, tool, begins_again, notes: self.0.clone() })
    }
}

struct OfCall {
    call: usize,
    toolbox: Toolbox,
    tool: String,
    begins_again: bool,
    notes: mpsc::UnboundedSender<Note>,
}

impl OfCall {
    fn write(&self, kind: NoteKind) -> Journaling<'static> {
        let (written, receiver) = oneshot::channel();
        let sent = self.notes.send(Note { call: self.call, kind, written });
        Box::pin(async move {
            // The run has ended, and the call with it.
            let gone = || "the run has ended".to_owned();
            sent.map_err(|_| gone())?;
            receiver.await.map_err(|_| gone())?
        })
    }
}

impl AskJournal for OfCall {
    fn asked<'a>(&'a self, ask: &'a PendingAsk) -> Journaling<'a> {
        let tool = tool_digest(&self.toolbox, &self.tool);
        self.write(NoteKind::Asked { digest: ask.question().digest(), tool })
    }

    fn answered<'a>(&'a self, ask: &'a PendingAsk, reply: &'a Reply) -> Journaling<'a> {
        let is_allowed = matches!(reply.answer, Answer::Allow { .. });
        self.write(NoteKind::Answered { digest: ask.question().digest(), is_allowed })
    }

    fn begins(&self) -> Journaling<'_> {
        // Of the others, a line says so before they begin.
        if self.begins_again { self.write(NoteKind::Begins) } else { Box::pin(async { Ok(()) }) }
    }
}

impl Run<'_> {
    /// Writes what a call asks or was answered, or that its function begins, and lets it go on.
    pub(super) async fn note_question(&mut self, answer: u64, note: Note, again: &mut BeginningAgain) {
        let Note { call, kind, written } = note;
        // A question of something that outlives its call: a line about a call that has its result would make the file unreadable.
        let pending = self.session.journal.conversation.pending().filter(|pending| {
            pending.answer == answer && pending.results.get(call).is_some_and(Option::is_none)
        });
        let Some(pending) = pending else {
            let _ = written.send(Err("the call is over".to_owned()));
            return;
        };
        let record = match kind {
            NoteKind::Begins if again.contains(&call) => Record::Started { answer, calls: vec![call] },
            NoteKind::Begins => {
                let _ = written.send(Ok(()));
                return;
            }
            NoteKind::Asked { digest, tool } => {
                let begins_again = again.contains(&call);
                // The answer that the person may have given to the earlier question is none to this one.
                let before = pending.asked_before(call, begins_again);
                let instead_of = before.filter(|before| *before != digest).map(str::to_owned);
                Record::Asked { answer, call, digest, tool, instead_of, begins_again }
            }
            NoteKind::Answered { digest, .. } if !pending.has_asked(call, &digest) => {
                let _ = written.send(Err("the answer is to another question than the call asked".to_owned()));
                return;
            }
            NoteKind::Answered { is_allowed: true, .. } => Record::Allowed { answer, call },
            NoteKind::Answered { is_allowed: false, .. } => Record::Denied { answer, call },
        };
        let stored = match self.session.journal.record(&record) {
            Ok(()) => {
                again.remove(&call);
                self.session.journal.sync().await
            }
            Err(error) => Err(error),
        };
        // A call that is gone waits for nothing.
        let _ = written.send(stored.map_err(|error| error.to_string()));
    }
}

impl Run<'_> {
    /// Gives those calls a result that waited for a person when the program ended, and whose tool has changed since: the person, and the
    /// model, meant another one.
    pub(super) async fn refuse_changed(
        &mut self,
        toolbox: &Toolbox,
        calls: &[ToolCall],
    ) -> Result<(), Ending> {
        let Some(pending) = self.session.journal.conversation.pending() else { return Ok(()) };
        let answer = pending.answer;
        let is_changed = |(place, call): &(usize, &ToolCall)| {
            pending.may_begin_again(*place)
                && pending.tool_of(*place) != Some(&tool_digest(toolbox, &call.name))
        };
        let changed: Vec<_> = calls.iter().enumerate().filter(is_changed).collect();
        for (place, call) in changed {
            let text = format!(
                "not run: the program ended while the call waited for an answer, and `{}` is not the same tool any more. Make the \
                 call again if it is still needed",
                call.name
            );
            self.forget_asks(answer, &call.id).await;
            self.begin_step(toolbox, call, None);
            self.end_step(&call.id, Err(text.clone()), None);
            self.give(answer, place, ToolOutput::error(call, text), Vec::new(), None)?;
        }
        Ok(())
    }
}

/// The SHA-256 of the source and the definition of a tool; empty if there is none of this name.
fn tool_digest(toolbox: &Toolbox, name: &str) -> String {
    let (Some(tool), Ok(definition)) = (toolbox.tool(name), toolbox.definition(name)) else {
        return String::new();
    };
    let text = serde_json::to_string(&(tool.source().to_string(), definition)).unwrap_or_default();
    HEXLOWER.encode(&Sha256::digest(text))
}
