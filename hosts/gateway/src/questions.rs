//! Questions of tools, in the store: they survive the end of the process, and whoever may answer one finds it there.
//!
//! A toolkit gets them as its [`AskStore`] and as its [`Approver`]: a question is answered from the store alone, by [`Questions::answer`]. One that
//! the toolkit does not keep, since its call cannot begin again after a crash, stands there as long as its call waits. While a run waits for
//! an answer, another one has its slot.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::runtime::Handle;
use tokio::sync::Notify;
use toolkit::Approver;
use toolkit::approval::{
    Answer, AnswerError, Answering, AskStore, AskingCall, Asks, DeniedBy, Keeping, KeptAnswer, Origin,
    PendingAsk, Reply,
};
use toolkit_agent::Transcripts;

use crate::sessions::Slots;
use crate::store::{self, AskAnswer, AskOutcome, AskRecord, Moment, NewAsk, Store, StoreError};
use crate::{SessionKey, Sessions};

/// Begins the digest of a question that is not kept over the end of the process.
const PASSING: &str = "passing/";
/// Begins the name of an agent's session, before the id of its transcript.
const OF_AGENT: &str = "agent ";
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
    /// The ids of the questions that the toolkit keeps, by their digests.
    kept: Mutex<BTreeMap<String, BTreeSet<String>>>,
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
    /// The gateway ends.
    #[error("the gateway is ending; try again later")]
    Ending,
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
        Self(Arc::new(Inner {
            store,
            transcripts,
            answered: Notify::new(),
            slots: OnceLock::new(),
            kept: Mutex::default(),
        }))
    }

    /// Removes the questions of calls that ended with the process before, and cannot begin again. Done at start.
    ///
    /// # Errors
    ///
    /// The store cannot be written.
    pub async fn begin(&self) -> Result<(), StoreError> {
        self.0.store.remove_asks_with(PASSING).await
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
        // Nobody but a person answers.
        let answer = match answer {
            Answer::Deny { message: Some(message), .. } => Answer::deny_saying(message),
            Answer::Deny { .. } => Answer::deny(),
            answer => answer,
        };
        let answer = Asks::fitted(&ask, answer).map_err(QuestionError::Unfit)?;
        let answer = serde_json::to_value(&answer).map_err(unreadable)?;
        let (questions, by) = (self.clone(), by.to_owned());
        // It is carried out although whoever answers may be gone: then the call that waits has to hear of it, too.
        let answering = tokio::spawn(async move {
            let outcome = questions.0.store.answer_ask(record.code, answer, by).await;
            questions.0.answered.notify_waiters();
            outcome
        });
        let outcome = answering.await.map_err(|_| QuestionError::Ending)?;
        Ok(outcome?)
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
        if !digest.starts_with(PASSING) {
            self.kept().entry(digest.to_owned()).or_default().insert(ask.id().to_owned());
        }
        let session = self.session_of(origin).await?;
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
            let of_session = origin.session_id.as_deref().unwrap_or_default();
            slots.give_up(&session, of_session, digest).await.map_err(|error| error.to_string())?;
        }
        kept.map(kept_answer).transpose()
    }

    async fn take_slot_again(&self, digest: &str) -> Result<(), String> {
        match self.0.slots.get() {
            Some(slots) => slots.take_again(digest).await.map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, BTreeSet<String>>> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the session to whose conversation a call belongs, or the one that delegated to it.
    async fn session_of(&self, origin: &Origin) -> Result<Option<SessionKey>, String> {
        let of_turn = origin.turn.as_deref().and_then(|turn| turn.split_once('/'));
        let of_session = || origin.session_id.as_deref()?.strip_prefix(OF_AGENT);
        let Some(transcript) = of_turn.map(|(transcript, _)| transcript).or_else(of_session) else {
            return Ok(None);
        };
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
            // First: if the process ends while it waits for a slot, the answer is still there.
            self.take_slot_again(digest).await?;
            let removed = self.0.store.remove_ask(digest.to_owned()).await;
            self.kept().remove(digest);
            removed.map_err(|error| error.to_string())
        })
    }

    fn remove_call<'a>(&'a self, call: &'a AskingCall, before: Option<SystemTime>) -> Keeping<'a, ()> {
        Box::pin(async move {
            let AskingCall { session_id, turn, call_id, .. } = call;
            let call =
                store::AskingCall { session: session_id.clone(), turn: turn.clone(), call: call_id.clone() };
            let removed = self.0.store.remove_asks_of(call, before.map(moment)).await;
            for digest in removed.map_err(|error| error.to_string())? {
                self.kept().remove(&digest);
                self.take_slot_again(&digest).await?;
            }
            if let (None, Some(slots)) = (before, self.0.slots.get()) {
                slots.call_ended(session_id).await.map_err(|error| error.to_string())?;
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

impl Approver for Questions {
    /// Waits for the answer in the store. It never comes from here for a question that the toolkit keeps: that one hears of it by
    /// [`answered`](AskStore::answered).
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        Box::pin(async move {
            if self.kept().values().any(|ids| ids.contains(ask.id())) {
                return std::future::pending().await;
            }
            let digest = format!("{PASSING}{}", ask.id());
            let _removal = Removal { questions: self.clone(), digest: digest.clone() };
            if let Err(reason) = self.put(&digest, ask, None).await {
                let reason = format!("the question cannot be shown to anybody: {reason}");
                return Some(Answer::denied_by(DeniedBy::Fault, reason).into());
            }
            match self.answered(&digest).await {
                Ok(answer) => {
                    // The function goes on with it.
                    let _ = self.take_slot_again(&digest).await;
                    Some(answer.reply)
                }
                Err(reason) => Some(Answer::denied_by(DeniedBy::Fault, reason).into()),
            }
        })
    }
}

/// Removes a question when its call waits no longer.
struct Removal {
    questions: Questions,
    digest: String,
}

impl Drop for Removal {
    fn drop(&mut self) {
        // At the end of the process, the next start removes it.
        let Ok(runtime) = Handle::try_current() else { return };
        let (questions, digest) = (self.questions.clone(), std::mem::take(&mut self.digest));
        runtime.spawn(async move {
            if let Err(error) = questions.0.store.remove_ask(digest.clone()).await {
                tracing::warn!(%error, "a question that nobody waits for stays in the list until the next start");
            }
            let _ = questions.take_slot_again(&digest).await;
        });
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
