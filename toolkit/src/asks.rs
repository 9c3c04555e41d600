//! The questions of a toolkit that wait for an answer: bounded in number, size and age.

mod together;
mod wait;

use crate::ask::{AllowScope, Answer, DeniedBy, PendingAsk, Put, Question};
use data_encoding::BASE32_DNSSEC;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use together::Joinable;
use tokio::sync::oneshot;

/// How many answered and withdrawn questions are remembered, so that a late answer is told what became of its question.
const MAX_REMEMBERED: usize = 1_000;

/// The questions of one toolkit that wait for an answer. Cloning is cheap; clones are the same list.
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
    /// How many wait for the answer to a question beside who asked it first.
    joined: usize,
    gone: VecDeque<(String, Fate)>,
    bytes: usize,
    last_stamp: u64,
}

struct Entry {
    ask: PendingAsk,
    bytes: usize,
    /// Taken by the first answer.
    answer: Option<oneshot::Sender<Answer>>,
    /// Whether the answer is one that is about to be remembered.
    lasts: bool,
    /// By which others can wait for the same answer.
    joinable: Option<Joinable>,
}

impl Entry {
    /// Whether who asks the same now may have the same answer.
    fn is_open(&self) -> bool {
        self.answer.is_some() || self.lasts
    }
}

#[derive(Clone, Copy)]
enum Fate {
    Answered,
    Withdrawn,
}

/// What bounds the questions that wait.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AskLimits {
    /// How many may wait at once; beyond, a new one is denied. By default 1,000.
    pub count: usize,
    /// How many bytes the texts of all that wait may have; beyond, a new one is denied. By default 64 MiB.
    pub bytes: usize,
    /// How long one waits before it is denied. By default 24 hours.
    pub age: Duration,
}

impl AskLimits {
    /// The default ones.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many may wait at once.
    #[must_use]
    pub fn count(self, count: usize) -> Self {
        Self { count, ..self }
    }

    /// How many bytes the texts of all that wait may have.
    #[must_use]
    pub fn bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// How long one waits before it is denied.
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

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// Somebody was quicker.
    #[error("the question `{id}` was answered already")]
    AlreadyAnswered {
        /// The question.
        id: String,
    },
    /// Its call ended, or it waited too long.
    #[error("the question `{id}` is no longer asked: its call ended, or nobody answered in time")]
    Withdrawn {
        /// The question.
        id: String,
    },
    /// There is no such question, or it is long gone.
    #[error("there is no question `{id}` here; list the pending ones for their ids")]
    Unknown {
        /// The id that was given.
        id: String,
    },
    /// The value does not fit the question's schema; the question waits on.
    #[error("the value does not fit what was asked for: {problem}")]
    Unfit {
        /// What is wrong with it.
        problem: String,
    },
    /// It is an answer to another kind of question; the question waits on.
    #[error("{problem}")]
    WrongKind {
        /// What was asked, and what answers it.
        problem: &'static str,
    },
}

impl Asks {
    /// An empty list with limits of its own.
    pub fn with_limits(limits: AskLimits) -> Self {
        Self(Arc::new(Shared { limits, state: Mutex::default() }))
    }

    /// The limits.
    pub fn limits(&self) -> &AskLimits {
        &self.0.limits
    }

    /// What waits for an answer, in the order of asking; of one session, or of all.
    pub fn list(&self, session_id: Option<&str>) -> Vec<PendingAsk> {
        let state = self.lock();
        let waiting = state.pending.values().filter(|entry| entry.answer.is_some()).map(|entry| &entry.ask);
        waiting
            .filter(|ask| session_id.is_none() || ask.origin().session_id.as_deref() == session_id)
            .cloned()
            .collect()
    }

    /// One question that waits for an answer.
    pub fn get(&self, id: &str) -> Option<PendingAsk> {
        self.lock().pending.get(id).filter(|entry| entry.answer.is_some()).map(|entry| entry.ask.clone())
    }

    /// Answers a question from anywhere. The first answer that fits is the one that counts.
    ///
    /// # Errors
    ///
    /// When the answer was not taken. After [`AnswerError::Unfit`] and [`AnswerError::WrongKind`] the question still
    /// waits; otherwise it does not.
    pub fn answer(&self, id: &str, answer: Answer) -> Result<(), AnswerError> {
        // The check may take a while, so nobody waits for it.
        let ask = self.get(id).ok_or_else(|| self.lock().fate(id))?;
        let answer = ask.narrow(fitting(ask.question(), answer)?);
        let mut state = self.lock();
        let Some((entry, sender)) =
            state.pending.get_mut(id).and_then(|entry| entry.answer.take().map(|sender| (entry, sender)))
        else {
            return Err(state.fate(id));
        };
        entry.lasts = matches!(answer, Answer::Allow { scope } if scope > AllowScope::Once);
        // Refused where whoever waits has just given up.
        sender.send(answer).map_err(|_| AnswerError::Withdrawn { id: id.to_owned() })
    }

    /// Puts a question on the list; the answer says why it cannot be.
    fn register(&self, put: Put) -> Result<Waiting, Answer> {
        let random = random()?;
        self.register_in(&mut self.lock(), random, put)
    }

    /// The same, under the lock.
    fn register_in(&self, state: &mut State, random: [u8; 12], put: Put) -> Result<Waiting, Answer> {
        let limits = &self.0.limits;
        let bytes = match &put.question {
            Question::Approve(ask) => ask.size(),
            Question::Elicit(elicitation) => elicitation.size(),
        };
        self.check_count(state)?;
        if state.bytes.saturating_add(bytes) > limits.bytes {
            return Err(refused(format!(
                "the questions that wait for an answer may have {} bytes in all, and this one has {bytes}",
                limits.bytes
            )));
        }
        let asked_at = SystemTime::now();
        let expires_at = asked_at.checked_add(limits.age).unwrap_or(asked_at);
        let id = state.next_id(asked_at, random);
        let ask = PendingAsk::new(id.clone(), (asked_at, expires_at), put);
        let (sender, answer) = oneshot::channel();
        state.bytes += bytes;
        let entry = Entry { ask: ask.clone(), bytes, answer: Some(sender), lasts: false, joinable: None };
        state.pending.insert(id, entry);
        Ok(Waiting { asks: self.clone(), ask, answer })
    }

    /// Whether one more may wait.
    fn check_count(&self, state: &State) -> Result<(), Answer> {
        let most = self.0.limits.count;
        if state.pending.len().saturating_add(state.joined) >= most {
            return Err(refused(format!("{most} questions wait for an answer already")));
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that runs under the lock can leave the state half changed.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused(what: String) -> Answer {
    Answer::denied_by(DeniedBy::Limit, what)
}

/// What makes an id one that nobody guesses.
fn random() -> Result<[u8; 12], Answer> {
    let mut random = [0; 12];
    match getrandom::fill(&mut random) {
        Ok(()) => Ok(random),
        Err(error) => Err(Answer::denied_by(DeniedBy::Fault, format!("no randomness: {error}"))),
    }
}

impl State {
    /// 64 bits that grow with time and from one id to the next, then 96 random ones, in an alphabet that sorts as they do.
    fn next_id(&mut self, now: SystemTime, random: [u8; 12]) -> String {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let stamp = u64::try_from(since.as_millis()).unwrap_or(u64::MAX >> 16) << 16;
        self.last_stamp = stamp.max(self.last_stamp + 1);
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&self.last_stamp.to_be_bytes());
        bytes[8..].copy_from_slice(&random);
        format!("ask_{}", BASE32_DNSSEC.encode(&bytes))
    }

    /// What became of a question that waits no more.
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

/// A question on the list, held by whoever waits for the answer; dropping it takes the question off the list.
struct Waiting {
    asks: Asks,
    ask: PendingAsk,
    answer: oneshot::Receiver<Answer>,
}

impl Waiting {
    /// Shows the question again, with what was wrong with the answer.
    fn ask_again(&mut self, problem: String) {
        self.ask = self.ask.with_problem(problem);
        if let Some(entry) = self.asks.lock().pending.get_mut(self.ask.id()) {
            entry.ask = self.ask.clone();
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.asks.lock();
        let Some(entry) = state.pending.remove(self.ask.id()) else { return };
        state.bytes -= entry.bytes;
        if state.gone.len() >= MAX_REMEMBERED {
            state.gone.pop_front();
        }
        let fate = if entry.answer.is_some() { Fate::Withdrawn } else { Fate::Answered };
        state.gone.push_back((self.ask.id().to_owned(), fate));
    }
}

/// The answer as the tool gets it, if it answers the question.
fn fitting(question: &Question, answer: Answer) -> Result<Answer, AnswerError> {
    match (question, answer) {
        (Question::Approve(_), Answer::Value { .. }) => Err(AnswerError::WrongKind {
            problem: "permission was asked: allow or deny it, instead of giving a value",
        }),
        (Question::Elicit(_), Answer::Allow { .. }) => Err(AnswerError::WrongKind {
            problem: "a value was asked for: give or decline one, instead of allowing it",
        }),
        (Question::Elicit(elicitation), Answer::Value { value }) => match elicitation.check(value) {
            Ok(value) => Ok(Answer::Value { value }),
            Err(problem) => Err(AnswerError::Unfit { problem }),
        },
        (_, answer) => Ok(answer),
    }
}

#[cfg(test)]
mod tests;
