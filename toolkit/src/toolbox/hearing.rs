//! The wait for the answer to a question: a person's, or one that the host has kept.

use super::kept_ask::KeptAsk;
use crate::approvals::Memory;
use crate::ask_store::KeptAnswer;
use crate::asks::Asks;
use crate::events::{AllowedBy, Event};
use crate::tool::context::ToolContext;
use futures_util::future::{Either, select};
use std::pin::pin;
use std::time::{Duration, SystemTime};
use toolkit_core::ask::{Answer, PendingAsk, Put, Question, Reply};
use toolkit_core::error::ToolError;

/// An answer, and its source.
struct Heard {
    answer: KeptAnswer,
    /// True if the answer comes from the store of the host.
    is_kept: bool,
    /// The question that was shown; `None` if it was decided before.
    shown: Option<PendingAsk>,
}

impl Heard {
    /// An answer that came just now.
    fn now(reply: impl Into<Reply>, shown: Option<PendingAsk>) -> Self {
        Self { answer: KeptAnswer::new(reply, SystemTime::now()), is_kept: false, shown }
    }
}

impl ToolContext {
    /// Asks a person, and waits for the answer. A question before anything of the function is done is recorded, and kept, by the host
    /// before it is shown.
    pub(super) async fn hear(&self, put: Put, memory: &Memory, acts_later: bool) -> Result<Reply, ToolError> {
        let asks = &self.scope().toolkit.settings.asks;
        let mut ask = match asks.pending(put) {
            Ok(ask) => ask,
            Err(refusal) => return Ok(refusal.into()),
        };
        let journal = self.ask_journal.as_ref().filter(|_| acts_later);
        let kept = match self.kept_call.as_ref().filter(|_| acts_later) {
            Some(call) => {
                let kept = call.place(self, ask.question());
                ask = call.last(ask);
                Some(kept.ok_or_else(|| not_recorded("question", "the call is over"))?)
            }
            None => None,
        };
        // The time that is left for an answer to a question that was asked before.
        let mut left = None;
        if let Some(kept) = &kept
            && let Some(earlier) = kept.earlier().await.map_err(|why| not_recorded("question", &why))?
        {
            ask = ask.asked_since(&earlier);
            left = Some(ask.expires_at().duration_since(SystemTime::now()).unwrap_or_default());
        }
        if let Some(journal) = journal {
            journal.asked(&ask).await.map_err(|why| not_recorded("question", &why))?;
        }
        let before = match &kept {
            Some(kept) => kept.put(&ask).await.map_err(|why| not_recorded("question", &why))?,
            None => None,
        };
        let heard = match before {
            Some(answer) => Heard { answer, is_kept: true, shown: None },
            None if left.is_some_and(|left| left.is_zero()) => Heard::now(asks.too_late(), None),
            None => self.show(&ask, left, memory, kept.as_ref()).await?,
        };
        let Heard { mut answer, is_kept, shown } = heard;
        if let Some(kept) = &kept {
            // An answer counts only after its removal, so that it decides no other call.
            let was_there = kept.remove(&ask).await.map_err(|why| not_recorded("answer", &why))?;
            if is_kept && !was_there {
                return Err(ToolError::failed(
                    "the answer has decided another call with the same id and arguments, so nothing was done; make the \
                     call again to ask anew",
                ));
            }
        }
        // Also of one that came by a shared question, or after the machine slept.
        if answer.at > ask.expires_at() {
            answer.reply = asks.too_late().into();
        }
        if is_kept {
            answer.reply = Asks::accept(&ask, memory, answer.reply).await;
        }
        match shown {
            Some(shown) => self.send(|| Event::answered(shown.id(), &answer.reply)),
            None => self.tell_kept(&ask, &answer.reply),
        }
        if let Some(journal) = journal {
            journal.answered(&ask, &answer.reply).await.map_err(|why| not_recorded("answer", &why))?;
        }
        if let Some(kept) = kept {
            kept.decided(ask, answer.clone());
        }
        Ok(answer.reply)
    }

    /// Shows the question, and waits for the first answer.
    async fn show(
        &self,
        ask: &PendingAsk,
        left: Option<Duration>,
        memory: &Memory,
        kept: Option<&KeptAsk<'_>>,
    ) -> Result<Heard, ToolError> {
        let asks = &self.scope().toolkit.settings.asks;
        let joined = match asks.ask_together(self.approver(), ask.clone(), left, memory) {
            Ok(joined) => joined,
            Err(refusal) => return Ok(Heard::now(refusal, None)),
        };
        // The question of the first of the calls that ask the same.
        let shown = joined.ask().clone();
        if let Some(kept) = kept.filter(|_| shown.id() != ask.id()) {
            let listed = ask.with_id(shown.id());
            kept.put_listed(&listed).await.map_err(|why| not_recorded("question", &why))?;
        }
        self.send(|| Event::Asked { ask: shown.clone() });
        let answer = async {
            let Some(kept) = kept else { return Ok(Either::Left(joined.await)) };
            match select(joined, pin!(kept.answered())).await {
                Either::Left((reply, _)) => Ok(Either::Left(reply)),
                Either::Right((answer, _)) => answer.map(Either::Right),
            }
        };
        let answer = self.unless_cancelled(answer).await?;
        Ok(match answer.map_err(|why: String| not_recorded("question", &why))? {
            Either::Left(reply) => Heard::now(reply, Some(shown)),
            Either::Right(answer) => Heard { answer, is_kept: true, shown: Some(shown) },
        })
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
pub(super) fn not_recorded(what: &str, why: &str) -> ToolError {
    ToolError::failed(format!("the {what} could not be recorded, so nothing was done: {why}"))
}
