//! The questions of calls in the transcript: a call that waits for a person, and did nothing yet, can be begun again after a crash.

use super::Run;
use crate::transcript::Record;
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use toolkit::approval::{Answer, AskJournal, Journaling, PendingAsk, Question, Reply};

/// The sender of what calls ask and are answered, to the run that writes it.
pub(super) struct Questions(mpsc::UnboundedSender<Note>);

/// A line for the transcript. The call goes on once it is on the disk.
pub(super) struct Note {
    call: usize,
    kind: NoteKind,
    written: oneshot::Sender<Result<(), String>>,
}

enum NoteKind {
    Asked { digest: String },
    Allowed,
    Denied,
}

/// Returns the sender for the calls of a group, and the receiver.
pub(super) fn questions() -> (Questions, mpsc::UnboundedReceiver<Note>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Questions(sender), receiver)
}

impl Questions {
    /// The record of the questions of one call.
    pub(super) fn of_call(&self, call: usize) -> Arc<dyn AskJournal> {
        Arc::new(OfCall { call, notes: self.0.clone() })
    }
}

struct OfCall {
    call: usize,
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
        self.write(NoteKind::Asked { digest: digest(ask.question()) })
    }

    fn answered<'a>(&'a self, _ask: &'a PendingAsk, reply: &'a Reply) -> Journaling<'a> {
        let is_allowed = matches!(reply.answer, Answer::Allow { .. });
        self.write(if is_allowed { NoteKind::Allowed } else { NoteKind::Denied })
    }
}

impl Run<'_> {
    /// Writes what a call asks or was answered, and lets it go on.
    pub(super) async fn note_question(&mut self, answer: u64, note: Note) {
        let Note { call, kind, written } = note;
        // A question of something that outlives its call: a line about a call that has its result would make the file unreadable.
        let pending = self.session.journal.conversation.pending();
        let is_waited_for = pending.is_some_and(|pending| {
            pending.answer == answer && pending.results.get(call).is_some_and(Option::is_none)
        });
        if !is_waited_for {
            let _ = written.send(Err("the call is over".to_owned()));
            return;
        }
        let record = match kind {
            NoteKind::Asked { digest } => Record::Asked { answer, call, digest },
            NoteKind::Allowed => Record::Allowed { answer, call },
            NoteKind::Denied => Record::Denied { answer, call },
        };
        let stored = match self.session.journal.record(&record) {
            Ok(()) => self.session.journal.sync().await,
            Err(error) => Err(error),
        };
        // A call that is gone waits for nothing.
        let _ = written.send(stored.map_err(|error| error.to_string()));
    }
}

/// The SHA-256 of the parts of a question that an answer relies on.
fn digest(question: &Question) -> String {
    let text = match question {
        Question::Approve(ask) => {
            serde_json::to_string(&(&ask.kind, &ask.patterns, &ask.conditions, &ask.details))
        }
        other => serde_json::to_string(other),
    };
    HEXLOWER.encode(&Sha256::digest(text.unwrap_or_default()))
}
