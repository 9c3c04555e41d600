//! Keyed calls of one client: each key runs one call, and gets its answer however often it is sent.
//!
//! ```text
//! begin ── start ── finish ──── the answer, or the fact that there was one
//!   │        ├────── release ─── nothing has run: the key is free again
//!   │        └────── dropped ─── the outcome is unknown: the call is not run again
//!   └─────── dropped ─────────── nothing has run: the key is free again
//! ```

use crate::answer::Answer;
use crate::limits::{KEY_LIFETIME, MAX_KEPT_ANSWER, MAX_KEY_BYTES, MAX_KEYS};
use crate::room::{Room, Share, Shared};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The bytes that count for an entry besides its key and its answer.
const ENTRY_BYTES: usize = 256;

/// The digest of a tool and its arguments.
pub(crate) type Fingerprint = [u8; 32];

/// The keyed calls of one client.
#[derive(Debug)]
pub(crate) struct Keys {
    entries: Mutex<HashMap<Arc<str>, Entry>>,
    room: Shared,
}

#[derive(Debug)]
struct Entry {
    fingerprint: Fingerprint,
    state: State,
    _room: Share,
}

#[derive(Debug)]
enum State {
    Running(CancellationToken),
    Ended { at: Instant, outcome: Outcome },
}

#[derive(Debug)]
enum Outcome {
    Kept {
        answer: Answer,
        _room: Share,
    },
    /// There was no room for the answer.
    NotKept,
    Unknown,
}

/// The state of a key.
#[derive(Debug)]
pub(crate) enum Found {
    /// The key is new: this call runs under it.
    New(Reserved),
    /// The answer of the call that ran under it.
    Kept(Answer),
    Running,
    /// The key is that of another call.
    Other,
    NotKept,
    Unknown,
    /// There is no room for another key.
    Full,
}

/// The name of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Running,
    Ended,
    Unknown,
}

/// A key under which a call runs. Dropped before the call has started, the key is free again; dropped after it without an end, the outcome is unknown.
#[derive(Debug)]
pub(crate) struct Reserved {
    keys: Arc<Keys>,
    key: Arc<str>,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Reserved,
    Started,
    Over,
}

impl Keys {
    pub(crate) fn new(all: Arc<Room>) -> Arc<Self> {
        Arc::new(Self { entries: Mutex::default(), room: Shared::new(MAX_KEY_BYTES, all) })
    }

    /// Looks a key up, and reserves it if it is new. `cancel` cancels the call.
    pub(crate) fn begin(
        self: &Arc<Self>,
        key: &str,
        fingerprint: Fingerprint,
        cancel: CancellationToken,
    ) -> Found {
        let mut entries = self.lock();
        forget_old(&mut entries);
        if let Some(entry) = entries.get(key) {
            return entry.found(fingerprint);
        }
        if entries.len() >= MAX_KEYS && !forget_oldest(&mut entries) {
            return Found::Full;
        }
        let bytes = key.len() + ENTRY_BYTES;
        let Some(room) = self.make_room(&mut entries, bytes) else { return Found::Full };
        let key: Arc<str> = key.into();
        entries.insert(Arc::clone(&key), Entry { fingerprint, state: State::Running(cancel), _room: room });
        Found::New(Reserved { keys: Arc::clone(self), key, phase: Phase::Reserved })
    }

    /// Returns the state of a key without a call.
    pub(crate) fn stage(&self, key: &str) -> Option<Stage> {
        let mut entries = self.lock();
        forget_old(&mut entries);
        entries.get(key).map(|entry| match &entry.state {
            State::Running(_) => Stage::Running,
            State::Ended { outcome: Outcome::Unknown, .. } => Stage::Unknown,
            State::Ended { .. } => Stage::Ended,
        })
    }

    /// Cancels the call of a key; returns the state that it had.
    pub(crate) fn cancel(&self, key: &str) -> Option<Stage> {
        let stage = self.stage(key)?;
        if let Some(Entry { state: State::Running(cancel), .. }) = self.lock().get(key) {
            cancel.cancel();
        }
        Some(stage)
    }

    /// Forgets the keys whose calls ended long ago.
    pub(crate) fn forget_old(&self) {
        forget_old(&mut self.lock());
    }

    /// Takes room in that of this client and in that of all. Older answers of this client give way, and no other's.
    fn make_room(&self, entries: &mut HashMap<Arc<str>, Entry>, bytes: usize) -> Option<Share> {
        loop {
            if let Some(taken) = self.room.take(bytes) {
                return Some(taken);
            }
            if !forget_oldest_answer(entries) {
                return None;
            }
        }
    }

    fn end(&self, key: &str, outcome: impl FnOnce(&Self, &mut HashMap<Arc<str>, Entry>) -> Outcome) {
        let mut entries = self.lock();
        let outcome = outcome(self, &mut entries);
        if let Some(entry) = entries.get_mut(key) {
            entry.state = State::Ended { at: Instant::now(), outcome };
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn found(&self, fingerprint: Fingerprint) -> Found {
        if self.fingerprint != fingerprint {
            return Found::Other;
        }
        match &self.state {
            State::Running(_) => Found::Running,
            State::Ended { outcome: Outcome::Kept { answer, .. }, .. } => Found::Kept(answer.clone()),
            State::Ended { outcome: Outcome::NotKept, .. } => Found::NotKept,
            State::Ended { outcome: Outcome::Unknown, .. } => Found::Unknown,
        }
    }

    fn ended_at(&self) -> Option<Instant> {
        match &self.state {
            State::Running(_) => None,
            State::Ended { at, .. } => Some(*at),
        }
    }
}

fn forget_old(entries: &mut HashMap<Arc<str>, Entry>) {
    entries.retain(|_, entry| entry.ended_at().is_none_or(|at| at.elapsed() < KEY_LIFETIME));
}

/// Forgets the key that ended first; returns false if all run.
fn forget_oldest(entries: &mut HashMap<Arc<str>, Entry>) -> bool {
    let ended = entries.iter().filter_map(|(key, entry)| Some((entry.ended_at()?, key)));
    let Some((_, oldest)) = ended.min() else { return false };
    let oldest = Arc::clone(oldest);
    entries.remove(&oldest);
    true
}

/// Forgets the answer that was kept first, and keeps its key; returns false if none is kept.
fn forget_oldest_answer(entries: &mut HashMap<Arc<str>, Entry>) -> bool {
    let kept = entries.values_mut().filter_map(|entry| match &mut entry.state {
        State::Ended { at, outcome: outcome @ Outcome::Kept { .. } } => Some((*at, outcome)),
        _ => None,
    });
    let Some((_, outcome)) = kept.min_by_key(|(at, _)| *at) else { return false };
    *outcome = Outcome::NotKept;
    true
}

impl Reserved {
    /// Says that the call may run from now on.
    pub(crate) fn start(&mut self) {
        self.phase = Phase::Started;
    }

    /// Ends the call with its answer, which is kept if there is room for it.
    pub(crate) fn finish(mut self, answer: &Answer) {
        self.phase = Phase::Over;
        let bytes = answer.bytes();
        self.keys.end(&self.key, |keys, entries| {
            let fits = bytes <= MAX_KEPT_ANSWER;
            match fits.then(|| keys.make_room(entries, bytes)).flatten() {
                Some(room) => Outcome::Kept { answer: answer.clone(), _room: room },
                None => Outcome::NotKept,
            }
        });
    }

    /// Frees the key of a call of which nothing has run.
    pub(crate) fn release(mut self) {
        self.phase = Phase::Reserved;
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        match self.phase {
            Phase::Over => {}
            Phase::Reserved => drop(self.keys.lock().remove(&self.key)),
            Phase::Started => self.keys.end(&self.key, |_, _| Outcome::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolkit_serve::axum::http::StatusCode;

    fn answer(text: &str) -> Answer {
        Answer::new(StatusCode::OK, &json!({ "text": text }))
    }

    fn begin(keys: &Arc<Keys>, key: &str) -> Found {
        keys.begin(key, [1; 32], CancellationToken::new())
    }

    fn reserved(keys: &Arc<Keys>, key: &str) -> Reserved {
        match begin(keys, key) {
            Found::New(mut reserved) => {
                reserved.start();
                reserved
            }
            other => panic!("{key}: {other:?}"),
        }
    }

    #[test]
    fn a_key_gives_the_answer_of_its_call_and_refuses_another_call() {
        let keys = Keys::new(Room::new(1 << 20));
        let call = reserved(&keys, "a");
        assert!(matches!(begin(&keys, "a"), Found::Running));
        call.finish(&answer("x"));
        assert!(matches!(begin(&keys, "a"), Found::Kept(kept) if kept.json() == answer("x").json()));
        let other = keys.begin("a", [2; 32], CancellationToken::new());
        assert!(matches!(other, Found::Other), "{other:?}");
    }

    #[test]
    fn a_key_whose_task_is_dropped_is_never_run_again() {
        let keys = Keys::new(Room::new(1 << 20));
        drop(reserved(&keys, "a"));
        assert!(matches!(begin(&keys, "a"), Found::Unknown));
        assert_eq!(keys.stage("a"), Some(Stage::Unknown));
        reserved(&keys, "b").release();
        reserved(&keys, "b").finish(&answer("ran"));
        // A client that was gone before the call started.
        drop(begin(&keys, "c"));
        assert_eq!(keys.stage("c"), None);
    }

    #[test]
    fn an_answer_without_room_is_not_kept_and_its_key_stays_used() {
        let all = Room::new(2 * (2 * ENTRY_BYTES + 100));
        let keys = Keys::new(Arc::clone(&all));
        reserved(&keys, "a").finish(&answer("small"));
        let before = all.taken();
        reserved(&keys, "b").finish(&answer(&"x".repeat(1_000)));
        assert!(matches!(begin(&keys, "b"), Found::NotKept));
        // The older answer of the same client gave way, and its key stays.
        assert!(matches!(begin(&keys, "a"), Found::NotKept));
        assert!(matches!(begin(&keys, "c"), Found::Full));
        assert!(all.taken() > 0 && before > 0);
        drop(keys);
        assert_eq!(all.taken(), 0);
    }

    #[test]
    fn answers_of_one_client_never_give_way_to_those_of_another() {
        let all = Room::new(2_000);
        let (one, other) = (Keys::new(Arc::clone(&all)), Keys::new(all));
        reserved(&one, "a").finish(&answer(&"x".repeat(400)));
        let mut made = 0;
        while let Found::New(call) = begin(&other, &made.to_string()) {
            call.finish(&answer("y"));
            made += 1;
        }
        assert!(matches!(begin(&one, "a"), Found::Kept(_)));
    }

    #[test]
    fn beyond_the_limit_the_key_that_ended_first_is_forgotten() {
        let keys = Keys::new(Room::new(usize::MAX));
        let running = reserved(&keys, "running");
        for number in 1..MAX_KEYS {
            reserved(&keys, &number.to_string()).finish(&answer(""));
        }
        reserved(&keys, "more").finish(&answer(""));
        assert_eq!((keys.stage("1"), keys.stage("2")), (None, Some(Stage::Ended)));
        assert_eq!(keys.stage("running"), Some(Stage::Running));
        running.finish(&answer(""));
    }

    #[test]
    fn a_running_call_is_cancelled_by_its_key() {
        let keys = Keys::new(Room::new(1 << 20));
        let cancel = CancellationToken::new();
        let call = keys.begin("a", [1; 32], cancel.clone());
        assert_eq!(keys.cancel("a"), Some(Stage::Running));
        assert!(cancel.is_cancelled());
        assert_eq!(keys.cancel("b"), None);
        drop(call);
    }
}
