//! The wait for the answer to a question: a person's, or one that the host has kept.

use super::kept_ask::KeptAsk;
use crate::approvals::Memory;
use crate::asks::Asks;
use crate::events::{AllowedBy, Event};
use crate::tool::context::ToolContext;
use futures_util::future::{Either, select};
use std::pin::pin;
use toolkit_core::ask::{Answer, PendingAsk, Put, Question, Reply};
use toolkit_core::error::ToolError;

/// An answer, and its source.
struct Heard {
    reply: Reply,
    /// True if the answer comes from the store of the host.
    is_kept: bool,
    /// The question that was shown; `None` if it was decided before.
    shown: Option<PendingAsk>,
}

impl ToolContext {
    /// Asks a person, and waits for the answer. A question before anything of the function is done is recorded, and kept, by the host
    /// before it is shown.
    pub(super) async fn hear(&self, put: Put, memory: &Memory, acts_later: bool) -> Result<Reply, ToolError> {
        let ask = match self.scope().toolkit.settings.asks.pending(put) {
            Ok(ask) => ask,
            Err(refusal) => return Ok(refusal.into()),
        };
        let journal = self.ask_journal.as_ref().filter(|_| acts_later);
        let kept = self.kept_call.as_ref().filter(|_| acts_later).map(|call| call.place(ask.question()));
        if let Some(journal) = journal {
            journal.asked(&ask).await.map_err(|why| not_recorded("question", &why))?;
        }
        let before = match &kept {
            Some(kept) => kept.put(&ask).await.map_err(|why| not_recorded("question", &why))?,
            None => None,
        };
        let heard = match before {
            Some(reply) => Ok(Heard { reply, is_kept: true, shown: None }),
            None => self.show(&ask, memory, kept.as_ref()).await,
        };
        // An answer counts only after its removal, so that it decides no other call.
        let removed = match &kept {
            Some(kept) => kept.remove().await.map_err(|why| not_recorded("answer", &why)),
            None => Ok(true),
        };
        let (Heard { mut reply, is_kept, shown }, was_there) = (heard?, removed?);
        if is_kept {
            if !was_there {
                return Err(ToolError::failed(
                    "the answer has decided another call with the same id and arguments, so nothing was done; make the \
                     call again to ask anew",
                ));
            }
            reply = Asks::accept(&ask, memory, reply).await;
        }
        match shown {
            Some(shown) => self.send(|| Event::answered(shown.id(), &reply)),
            None => self.tell_kept(&ask, &reply),
        }
        if let Some(journal) = journal {
            journal.answered(&ask, &reply).await.map_err(|why| not_recorded("answer", &why))?;
        }
        Ok(reply)
    }

    /// Shows the question, and waits for the first answer.
    async fn show(
        &self,
        ask: &PendingAsk,
        memory: &Memory,
        kept: Option<&KeptAsk>,
    ) -> Result<Heard, ToolError> {
        let asks = &self.scope().toolkit.settings.asks;
        let joined = match asks.ask_together(self.approver(), ask.clone(), memory) {
            Ok(joined) => joined,
            Err(refusal) => return Ok(Heard { reply: refusal.into(), is_kept: false, shown: None }),
        };
        // The question of the first of the calls that ask the same.
        let shown = joined.ask().clone();
        self.send(|| Event::Asked { ask: shown.clone() });
        let answer = async {
            let Some(kept) = kept else { return Ok((joined.await, false)) };
            match select(joined, pin!(kept.answered())).await {
                Either::Left((reply, _)) => Ok((reply, false)),
                Either::Right((reply, _)) => Ok((reply?, true)),
            }
        };
        let answer = self.unless_cancelled(answer).await?;
        let (reply, is_kept) = answer.map_err(|why: String| not_recorded("question", &why))?;
        Ok(Heard { reply, is_kept, shown: Some(shown) })
    }

    /// Sends the event of an approval that was given while no call waited.
    fn tell_kept(&self, ask: &PendingAsk, reply: &Reply) {
        if let (Question::Approve(question), Answer::Allow { .. }) = (ask.question(), &reply.answer) {
            self.send(|| Event::Allowed {
                kind: question.kind.clone(),
                title: question.title.clone(),
                by: AllowedBy::Answer { answered_by: reply.answered_by.clone() },
            });
        }
    }
}

/// Returns the error for a call that does not go on, because a host that keeps a record of it cannot.
fn not_recorded(what: &str, why: &str) -> ToolError {
    ToolError::failed(format!("the {what} could not be recorded, so nothing was done: {why}"))
}
