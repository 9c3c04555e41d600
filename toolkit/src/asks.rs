//! The pending questions of a toolkit: bounded in number, size and age.

mod together;
mod wait;

use data_encoding::BASE32_DNSSEC;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use together::Joinable;
use tokio::sync::oneshot;
use toolkit_core::ask::{AllowScope, Answer, DeniedBy, PendingAsk, Put, Question, Reply};
use toolkit_core::unix_time;

/// The most answered and withdrawn questions that are remembered, so that a late answer gets a precise error.
const MAX_REMEMBERED: usize = 1_000;

/// The pending questions of one toolkit. Cloning is cheap; clones share the same list.
#[derive(Clone, Default)]
pub struct Asks(Arc<Shared>);

#[derive(Default)]
struct Shared {
    limits: AskLimits,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pending: BTreeMap<String, Entry>,
    /// The number of further callers that wait for the answer, besides the first one.
    joined: usize,
    gone: VecDeque<(String, Fate)>,
    bytes: usize,
    last_stamp: u64,
}

struct Entry {
    ask: PendingAsk,
    bytes: usize,
    /// The sender, taken by the first answer.
    answer: Option<oneshot::Sender<Reply>>,
    /// True if the answer is about to be remembered.
    lasts: bool,
    /// The handle with which other callers can wait for the same answer.
    joinable: Option<Joinable>,
}

impl Entry {
    /// Returns true if another caller with the same question may still share the answer.
    fn is_open(&self) -> bool {
        self.answer.is_some() || self.lasts
    }
}

#[derive(Clone, Copy)]
enum Fate {
    Answered,
    Withdrawn,
}

/// The limits of pending questions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AskLimits {
    /// The most questions that may be pending; a new one beyond that is denied. By default 1,000.
    pub count: usize,
    /// The most bytes of the texts of all pending questions; a new one beyond that is denied. By default 64 MiB.
    pub bytes: usize,
    /// The time after which a pending question is denied. By default 24 hours.
    pub age: Duration,
}

impl AskLimits {
    /// Returns the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the most questions that may be pending.
    #[must_use]
    pub fn count(self, count: usize) -> Self {
        Self { count, ..self }
    }

    /// Sets the most bytes of the texts of all pending questions.
    #[must_use]
    pub fn bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// Sets the time after which a pending question is denied.
    #[must_use]
    pub fn age(self, age: Duration) -> Self {
        Self { age, ..self }
    }
}

impl Default for AskLimits {
    fn default() -> Self {
        Self { count: 1_000, bytes: 64 << 20, age: Duration::from_hours(24) }
    }
}

/// The reason why an answer was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// Another answer came first.
    #[error("the question `{id}` was answered already")]
    AlreadyAnswered {
        /// The question.
        id: String,
    },
    /// The call ended, or the question timed out.
    #[error("the question `{id}` is no longer pending: its call ended, or it timed out")]
    Withdrawn {
        /// The question.
        id: String,
    },
    /// There is no such question, or it ended long ago.
    #[error("there is no question `{id}` here; list the pending ones for their ids")]
    Unknown {
        /// The id that was given.
        id: String,
    },
    /// The value does not match the question's schema; the question stays pending.
    #[error("the value does not fit the question: {problem}")]
    Unfit {
        /// The validation error.
        problem: String,
    },
    /// The answer is for another kind of question; the question stays pending.
    #[error("{problem}")]
    WrongKind {
        /// The kind of question, and the expected kind of answer.
        problem: &'static str,
    },
}

impl Asks {
    /// Creates an empty list with these limits.
    pub fn with_limits(limits: AskLimits) -> Self {
        Self(Arc::new(Shared { limits, state: Mutex::default() }))
    }

    /// Returns the limits.
    pub fn limits(&self) -> &AskLimits {
        &self.0.limits
    }

    /// Returns the pending questions of one session, or of all, in the order in which they were asked.
    pub fn list(&self, session_id: Option<&str>) -> Vec<PendingAsk> {
        let state = self.lock();
        let waiting = state.pending.values().filter(|entry| entry.answer.is_some()).map(|entry| &entry.ask);
        waiting
            .filter(|ask| session_id.is_none() || ask.origin().session_id.as_deref() == session_id)
            .cloned()
            .collect()
    }

    /// Returns a pending question.
    pub fn get(&self, id: &str) -> Option<PendingAsk> {
        self.lock().pending.get(id).filter(|entry| entry.answer.is_some()).map(|entry| entry.ask.clone())
    }

    /// Answers a question from anywhere. The first valid answer counts. A [`Reply`] names the person who answers.
    ///
    /// # Errors
    ///
    /// When the answer was rejected. After [`AnswerError::Unfit`] and [`AnswerError::WrongKind`] the question is still
    /// pending; otherwise it is not.
    pub fn answer(&self, id: &str, reply: impl Into<Reply>) -> Result<(), AnswerError> {
        let reply = reply.into();
        // Validation may take a while, so it runs without the lock.
        let ask = self.get(id).ok_or_else(|| self.lock().fate(id))?;
        let answer = Self::fitted(&ask, reply.answer.clone())?;
        let mut state = self.lock();
        let Some((entry, sender)) =
            state.pending.get_mut(id).and_then(|entry| entry.answer.take().map(|sender| (entry, sender)))
        else {
            return Err(state.fate(id));
        };
        entry.lasts = matches!(answer, Answer::Allow { scope, .. } if scope > AllowScope::Once);
        // This fails if the waiting call has just ended.
        sender.send(reply.with_answer(answer)).map_err(|_| AnswerError::Withdrawn { id: id.to_owned() })
    }

    /// Returns an answer in the form in which it counts for a question, for a host that answers questions of an
    /// [`AskStore`](crate::approval::AskStore): with the longest scope that the question offers at most, and with a value that fits.
    ///
    /// # Errors
    ///
    /// [`AnswerError::Unfit`] and [`AnswerError::WrongKind`].
    pub fn fitted(ask: &PendingAsk, answer: Answer) -> Result<Answer, AnswerError> {
        Ok(ask.narrow(fitting(ask.question(), answer)?))
    }

    /// Returns a question with a new id, before it is on the list; the error is an answer with the reason why it cannot have one.
    pub(crate) fn pending(&self, put: Put) -> Result<PendingAsk, Answer> {
        let random = random()?;
        let (id, asked_at) = {
            let mut state = self.lock();
            // Under the lock, so that ids and times have one order.
            let asked_at = SystemTime::now();
            (state.next_id(asked_at, random), asked_at)
        };
        let expires_at = asked_at.checked_add(self.0.limits.age).unwrap_or(asked_at);
        Ok(PendingAsk::new(id, (asked_at, expires_at), put))
    }

    /// Adds a question to the list; the error is an answer with the reason why it cannot be added.
    fn register(&self, put: Put) -> Result<Waiting, Answer> {
        let ask = self.pending(put)?;
        self.register_in(&mut self.lock(), ask)
    }

    /// Adds a question, under the lock.
    fn register_in(&self, state: &mut State, ask: PendingAsk) -> Result<Waiting, Answer> {
        let limits = &self.0.limits;
        let bytes = ask.question().size();
        self.check_count(state)?;
        if state.bytes.saturating_add(bytes) > limits.bytes {
            return Err(refused(format!(
                "pending questions are limited to {} bytes in total, and this one has {bytes}",
                limits.bytes
            )));
        }
        let (sender, answer) = oneshot::channel();
        state.bytes += bytes;
        let entry = Entry { ask: ask.clone(), bytes, answer: Some(sender), lasts: false, joinable: None };
        state.pending.insert(ask.id().to_owned(), entry);
        Ok(Waiting { asks: self.clone(), ask, answer })
    }

    /// Fails if one more question would exceed the limit.
    fn check_count(&self, state: &State) -> Result<(), Answer> {
        let most = self.0.limits.count;
        if state.pending.len().saturating_add(state.joined) >= most {
            return Err(refused(format!("{most} questions are already pending")));
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code under the lock can leave the state inconsistent, even if it panics.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused(what: String) -> Answer {
    Answer::denied_by(DeniedBy::Limit, what)
}

/// Returns random bytes that make an id unguessable.
fn random() -> Result<[u8; 12], Answer> {
    let mut random = [0; 12];
    match getrandom::fill(&mut random) {
        Ok(()) => Ok(random),
        Err(error) => Err(Answer::denied_by(DeniedBy::Fault, format!("cannot get random bytes: {error}"))),
    }
}

impl State {
    /// Returns a new id: 64 bits that grow with time and from one id to the next, then 96 random bits, in an alphabet that
    /// preserves the order.
    fn next_id(&mut self, now: SystemTime, random: [u8; 12]) -> String {
        let stamp = unix_time::milliseconds(now).min(u64::MAX >> 16) << 16;
        self.last_stamp = stamp.max(self.last_stamp + 1);
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&self.last_stamp.to_be_bytes());
        bytes[8..].copy_from_slice(&random);
        format!("ask_{}", BASE32_DNSSEC.encode(&bytes))
    }

    /// Takes a question from the list.
    fn take(&mut self, id: &str) -> Option<Entry> {
        let entry = self.pending.remove(id)?;
        self.bytes -= entry.bytes;
        if self.gone.len() >= MAX_REMEMBERED {
            self.gone.pop_front();
        }
        let fate = if entry.answer.is_some() { Fate::Withdrawn } else { Fate::Answered };
        self.gone.push_back((id.to_owned(), fate));
        Some(entry)
    }

    /// Returns the error for a question that is no longer pending.
    fn fate(&self, id: &str) -> AnswerError {
        let is_answered = self.pending.get(id).map(|_| Fate::Answered);
        let gone = || self.gone.iter().rev().find(|(gone, _)| gone == id).map(|(_, fate)| *fate);
        let id = id.to_owned();
        match is_answered.or_else(gone) {
            Some(Fate::Answered) => AnswerError::AlreadyAnswered { id },
            Some(Fate::Withdrawn) => AnswerError::Withdrawn { id },
            None => AnswerError::Unknown { id },
        }
    }
}

impl fmt::Debug for Asks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} pending asks", self.lock().pending.len())
    }
}

/// A question on the list, held by the waiting call; dropping it removes the question from the list.
struct Waiting {
    asks: Asks,
    ask: PendingAsk,
    answer: oneshot::Receiver<Reply>,
}

impl Waiting {
    /// Replaces the question with one that shows what was wrong with the answer.
    fn ask_again(&mut self, problem: String) {
        if let Some(entry) = self.asks.lock().pending.get_mut(self.ask.id()) {
            entry.ask = entry.ask.with_problem(problem);
            self.ask = entry.ask.clone();
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Dropped without the lock, since it may be the last handle of a future.
        let _entry = self.asks.lock().take(self.ask.id());
    }
}

/// Returns the answer in the form that the tool gets, if it is valid for the question.
fn fitting(question: &Question, answer: Answer) -> Result<Answer, AnswerError> {
    match (question, answer) {
        (Question::Approve(_), Answer::Value { .. }) => Err(AnswerError::WrongKind {
            problem: "the question asks for permission: allow or deny it, do not give a value",
        }),
        (Question::Elicit(_), Answer::Allow { .. }) => Err(AnswerError::WrongKind {
            problem: "the question asks for a value: give or decline one, do not allow it",
        }),
        (Question::Elicit(elicitation), Answer::Value { value, .. }) => match elicitation.check(value) {
            Ok(value) => Ok(Answer::value(value)),
            Err(problem) => Err(AnswerError::Unfit { problem }),
        },
        (_, answer) => Ok(answer),
    }
}

#[cfg(test)]
mod tests;
