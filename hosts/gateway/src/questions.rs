//! Questions of tools, in the store: they survive the end of the process, and whoever may answer one finds it there.
//!
//! A toolkit gets them as its [`AskStore`], with [`NobodyAtHand`] as its approver: a question is answered from the store alone, by
//! [`Questions::answer`]. While a run waits for an answer, another one has its slot.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;
use toolkit::Approver;
use toolkit::approval::{
    Answer, AnswerError, Answering, AskStore, AskingCall, Asks, Keeping, KeptAnswer, PendingAsk, Reply,
};
use toolkit_agent::Transcripts;

use crate::sessions::Slots;
use crate::store::{self, AskAnswer, AskOutcome, AskRecord, Moment, NewAsk, Store, StoreError};
use crate::{SessionKey, Sessions};

/// The most agents above the one that asks.
const MAX_DEPTH: usize = 32;

/// The questions of a gateway. Cheap to clone.
#[derive(Clone)]
pub struct Questions(Arc<Inner>);

struct Inner {
    store: Store,
    transcripts: Transcripts,
    /// Notified when a question was answered.
    answered: Notify,
    slots: OnceLock<Slots>,
}

/// Why an answer does not count.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// It is for another kind of question, or its value does not fit. The question still waits.
    #[error("{0}")]
    Unfit(AnswerError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The question as it was kept cannot be read.
    #[error("the question `{code}` cannot be read: {reason}")]
    Unreadable {
        /// The code.
        code: String,
        /// Why.
        reason: String,
    },
}

impl Questions {
    /// The questions in a store, of agents with these transcripts.
    pub fn new(store: Store, transcripts: Transcripts) -> Self {
        Self(Arc::new(Inner { store, transcripts, answered: Notify::new(), slots: OnceLock::new() }))
    }

    /// Lets runs that wait for an answer give their slots to others.
    pub fn give_slots_of(&self, sessions: &Sessions) {
        // Those of the first sessions stay.
        let _ = self.0.slots.set(sessions.slots());
    }

    /// Returns the questions that wait for an answer, in the order of asking.
    pub async fn list(&self) -> Result<Vec<AskRecord>, StoreError> {
        self.0.store.asks().await
    }

    /// Returns a question by its code, in any case of letters.
    pub async fn get(&self, code: &str) -> Result<Option<AskRecord>, StoreError> {
        self.0.store.ask(code).await
    }

    /// Answers a question on behalf of a person, whose right to answer it was checked. The first answer counts.
    ///
    /// # Errors
    ///
    /// The answer does not fit the question, or the store failed.
    pub async fn answer(&self, code: &str, answer: Answer, by: &str) -> Result<AskOutcome, QuestionError> {
        let Some(record) = self.0.store.ask(code).await? else { return Ok(AskOutcome::Unknown) };
        let unreadable = |reason: serde_json::Error| QuestionError::Unreadable {
            code: record.code.clone(),
            reason: reason.to_string(),
        };
        let ask: PendingAsk = serde_json::from_value(record.ask.clone()).map_err(unreadable)?;
        let answer = Asks::fitted(&ask, answer).map_err(QuestionError::Unfit)?;
        let answer = serde_json::to_value(&answer).map_err(unreadable)?;
        let outcome = self.0.store.answer_ask(record.code, answer, by.to_owned()).await?;
        if outcome == AskOutcome::Answered {
            self.0.answered.notify_waiters();
        }
        Ok(outcome)
    }

    /// Keeps a question, with its answer if it has one.
    async fn put(
        &self,
        digest: &str,
        ask: &PendingAsk,
        answer: Option<&KeptAnswer>,
    ) -> Result<Option<KeptAnswer>, String> {
        let origin = ask.origin();
        let answer = answer.map(|answer| {
            let KeptAnswer { reply, at, .. } = answer;
            let value = serde_json::to_value(&reply.answer).map_err(|error| error.to_string())?;
            Ok::<_, String>(AskAnswer { answer: value, by: reply.answered_by.clone(), at: moment(*at) })
        });
        let is_answered = answer.is_some();
        let session = self.session_of(origin.turn.as_deref()).await?;
        let new = NewAsk {
            digest: digest.to_owned(),
            session: session.clone(),
            call: store::AskingCall {
                session: origin.session_id.clone().unwrap_or_default(),
                turn: origin.turn.clone(),
                call: origin.call_id.clone(),
            },
            ask: serde_json::to_value(ask).map_err(|error| error.to_string())?,
            asked_at: moment(ask.asked_at()),
            expires_at: moment(ask.expires_at()),
            answer: answer.transpose()?,
        };
        let kept = self.0.store.put_ask(new).await.map_err(|error| error.to_string())?;
        if let (None, false, Some(session), Some(slots)) = (&kept, is_answered, session, self.0.slots.get()) {
            slots.give_up(&session, digest).await.map_err(|error| error.to_string())?;
        }
        kept.map(kept_answer).transpose()
    }

    async fn take_slot_again(&self, digest: &str) -> Result<(), String> {
        match self.0.slots.get() {
            Some(slots) => slots.take_again(digest).await.map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    /// Returns the session to whose conversation a turn belongs, or the one that delegated to it.
    async fn session_of(&self, turn: Option<&str>) -> Result<Option<SessionKey>, String> {
        let Some((transcript, _)) = turn.and_then(|turn| turn.split_once('/')) else { return Ok(None) };
        let mut transcript = transcript.to_owned();
        for _ in 0..MAX_DEPTH {
            let found = self.0.store.session_of_transcript(transcript.clone()).await;
            if let Some(session) = found.map_err(|error| error.to_string())? {
                return Ok(Some(session));
            }
            let transcripts = self.0.transcripts.clone();
            let parent = tokio::task::spawn_blocking(move || transcripts.parent(&transcript)).await;
            match parent {
                Ok(Some(parent)) => transcript = parent,
                _ => break,
            }
        }
        Ok(None)
    }
}

impl AskStore for Questions {
    fn get<'a>(&'a self, digest: &'a str) -> Keeping<'a, Option<PendingAsk>> {
        Box::pin(async move {
            let kept = self.0.store.kept_ask(digest.to_owned()).await.map_err(|error| error.to_string())?;
            kept.map(|ask| serde_json::from_value(ask).map_err(|error| error.to_string())).transpose()
        })
    }

    fn put<'a>(&'a self, digest: &'a str, ask: &'a PendingAsk) -> Keeping<'a, Option<KeptAnswer>> {
        Box::pin(self.put(digest, ask, None))
    }

    fn put_answered<'a>(
        &'a self,
        digest: &'a str,
        ask: &'a PendingAsk,
        answer: &'a KeptAnswer,
    ) -> Keeping<'a, ()> {
        Box::pin(async move { self.put(digest, ask, Some(answer)).await.map(drop) })
    }

    fn answered<'a>(&'a self, digest: &'a str) -> Keeping<'a, KeptAnswer> {
        Box::pin(async move {
            loop {
                // Made before the look, so that an answer that comes after it is not missed.
                let answered = self.0.answered.notified();
                let answer = self.0.store.ask_answer(digest.to_owned()).await;
                if let Some(answer) = answer.map_err(|error| error.to_string())? {
                    return kept_answer(answer);
                }
                answered.await;
            }
        })
    }

    fn remove<'a>(&'a self, digest: &'a str) -> Keeping<'a, bool> {
        Box::pin(async move {
            let removed = self.0.store.remove_ask(digest.to_owned()).await;
            let removed = removed.map_err(|error| error.to_string())?;
            self.take_slot_again(digest).await?;
            Ok(removed)
        })
    }

    fn remove_call<'a>(&'a self, call: &'a AskingCall, before: Option<SystemTime>) -> Keeping<'a, ()> {
        Box::pin(async move {
            let AskingCall { session_id, turn, call_id, .. } = call;
            let call =
                store::AskingCall { session: session_id.clone(), turn: turn.clone(), call: call_id.clone() };
            let removed = self.0.store.remove_asks_of(call, before.map(moment)).await;
            for digest in removed.map_err(|error| error.to_string())? {
                self.take_slot_again(&digest).await?;
            }
            Ok(())
        })
    }
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions").finish_non_exhaustive()
    }
}

/// The approver of a toolkit whose questions are answered from the store: it never answers itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyAtHand;

impl Approver for NobodyAtHand {
    fn ask<'a>(&'a self, _: &'a PendingAsk) -> Answering<'a> {
        Box::pin(std::future::pending())
    }
}

fn moment(time: SystemTime) -> Moment {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn kept_answer(AskAnswer { answer, by, at }: AskAnswer) -> Result<KeptAnswer, String> {
    let answer: Answer = serde_json::from_value::<Answer>(answer).map_err(|error| error.to_string())?;
    let mut reply = Reply::new(answer);
    reply.answered_by = by;
    let at = UNIX_EPOCH + Duration::from_millis(u64::try_from(at.0).unwrap_or_default());
    Ok(KeptAnswer::new(reply, at))
}
