//! The last calls of a session, as far as the loop guard needs them.

use super::LoopGuard;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The maximum number of different calls that are remembered.
const MAX_CALLS: usize = 32;

/// The time without such a call after which its count expires.
const STALE: Duration = Duration::from_mins(10);

/// The last calls of a session.
#[derive(Default)]
pub(crate) struct Recent {
    seen: Mutex<RecentCalls>,
    /// True if any call has to be checked before it runs again.
    alarm: AtomicBool,
}

/// The keys are separate from the calls, because most calls only need a search for a key.
#[derive(Default)]
struct RecentCalls {
    keys: Vec<u64>,
    calls: Vec<Call>,
    /// A counter of calls.
    now: u64,
}

struct Call {
    result: u64,
    /// The number of consecutive times the call had this result.
    answers: u32,
    /// The value of `Seen::now` when the call was last made.
    at: u64,
    /// The time of the last call, set from the second result on: most calls need none.
    time: Option<Instant>,
}

impl Recent {
    fn lock(&self) -> MutexGuard<'_, RecentCalls> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the guard has to check calls before they run.
    pub(crate) fn is_alarmed(&self) -> bool {
        self.alarm.load(Ordering::Relaxed)
    }

    /// Returns how often the call of this key had the same result, or 0 if that count has expired.
    pub(crate) fn answers(&self, key: u64) -> u32 {
        let mut seen = self.lock();
        match seen.find(key) {
            Some(place) if seen.calls[place].is_stale() => {
                seen.forget(place);
                0
            }
            Some(place) => seen.calls[place].answers,
            None => 0,
        }
    }

    /// Records the result of a call and returns how often the call had it in a row. `changes` says that the call may
    /// have changed something: unless it did exactly the same before, the counts of other calls are reset.
    pub(crate) fn note(&self, guard: LoopGuard, key: u64, result: u64, changes: bool) -> u32 {
        let mut seen = self.lock();
        seen.now += 1;
        let at = seen.now;
        let found = seen.find(key).filter(|place| !seen.calls[*place].is_stale());
        let answers = match found {
            Some(place) if seen.calls[place].result == result => {
                let call = &mut seen.calls[place];
                call.answers = call.answers.saturating_add(1);
                (call.at, call.time) = (at, Some(Instant::now()));
                call.answers
            }
            _ => {
                if changes {
                    // The calls are kept and only their counts reset: two calls in turn would otherwise remove each
                    // other for ever.
                    seen.calls.iter_mut().for_each(|call| call.answers = 0);
                    self.alarm.store(false, Ordering::Relaxed);
                }
                seen.add(key, Call { result, answers: 1, at, time: None });
                1
            }
        };
        if guard.is_watching(answers) {
            self.alarm.store(true, Ordering::Relaxed);
        }
        answers
    }

    /// Records that a call was repeated and kept from running.
    pub(crate) fn note_kept_back(&self, key: u64) {
        let mut seen = self.lock();
        seen.now += 1;
        let at = seen.now;
        if let Some(place) = seen.find(key) {
            let call = &mut seen.calls[place];
            call.answers = call.answers.saturating_add(1);
            (call.at, call.time) = (at, Some(Instant::now()));
        }
    }

    /// Returns true if the state has counts for which a session should be kept.
    pub(crate) fn is_suspicious(&self) -> bool {
        self.lock().calls.iter().any(|call| call.answers > 1)
    }
}

impl RecentCalls {
    fn find(&self, key: u64) -> Option<usize> {
        self.keys.iter().position(|known| *known == key)
    }

    fn forget(&mut self, place: usize) {
        self.keys.swap_remove(place);
        self.calls.swap_remove(place);
    }

    fn add(&mut self, key: u64, call: Call) {
        let place = match self.find(key) {
            Some(place) => Some(place),
            None if self.keys.len() < MAX_CALLS => None,
            // Replaces the call that was made longest ago.
            None => self.calls.iter().enumerate().min_by_key(|(_, call)| call.at).map(|(place, _)| place),
        };
        match place {
            Some(place) => (self.keys[place], self.calls[place]) = (key, call),
            None => {
                self.keys.push(key);
                self.calls.push(call);
            }
        }
    }
}

impl Call {
    fn is_stale(&self) -> bool {
        self.time.is_some_and(|time| time.elapsed() > STALE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters are calls, each followed by its result; a call with a capital letter may change something.
    fn answers(calls: &str) -> Vec<u32> {
        let recent = Recent::default();
        let letters: Vec<char> = calls.chars().filter(|letter| *letter != ' ').collect();
        let note = |pair: &[char]| {
            let key = u64::from(u32::from(pair[0]));
            recent.note(LoopGuard::new(), key, u64::from(u32::from(pair[1])), pair[0].is_uppercase())
        };
        letters.chunks(2).map(note).collect()
    }

    #[test]
    fn what_counts_as_the_same_again() {
        for (calls, expected) in [
            ("a1 a1 a1", vec![1, 2, 3]),
            ("a1 a2 a1 a2", vec![1, 1, 1, 1]),
            ("a1 a1 a2 a2", vec![1, 2, 1, 2]),
            // Other calls in between.
            ("a1 b1 a1 c1 a1", vec![1, 1, 2, 1, 3]),
            ("a1 b1 a1 b2 a1", vec![1, 1, 2, 1, 3]),
            // A call in between changes something.
            ("a1 B1 a1 C1 a1", vec![1, 1, 1, 1, 1]),
            ("a1 B1 a1 B2 a1", vec![1, 1, 1, 1, 1]),
            // Calls that change something also repeat in a cycle.
            ("A1 B1 A1 B1 A1 B1", vec![1, 1, 1, 2, 2, 3]),
            ("a1 B1 a1 B1 a1 B1", vec![1, 1, 1, 2, 2, 3]),
        ] {
            assert_eq!(answers(calls), expected, "{calls}");
        }
    }

    #[test]
    fn the_last_calls_are_remembered_and_no_more() {
        let recent = Recent::default();
        let note = |key: u64| recent.note(LoopGuard::new(), key, 0, false);
        for key in 0..MAX_CALLS as u64 {
            assert_eq!(note(key), 1);
        }
        assert_eq!(note(0), 2);
        assert_eq!(note(1000), 1);
        assert_eq!(note(0), 3, "it was made more recently than another one");
        assert_eq!(note(1), 1, "it was made longest ago");
        let seen = recent.lock();
        assert_eq!((seen.keys.len(), seen.calls.len()), (MAX_CALLS, MAX_CALLS));
    }

    #[tokio::test(start_paused = true)]
    async fn time_passes() {
        let recent = Recent::default();
        let note = || recent.note(LoopGuard::new(), 1, 0, false);
        assert_eq!((note(), note(), recent.answers(1)), (1, 2, 2));
        tokio::time::advance(STALE).await;
        assert_eq!(recent.answers(1), 2);
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(recent.answers(1), 0);
        assert_eq!(note(), 1);
        note();
        tokio::time::advance(STALE * 2).await;
        assert_eq!(note(), 1);
    }

    #[test]
    fn the_alarm_rings_when_a_call_has_to_be_looked_at() {
        let recent = Recent::default();
        let guard = LoopGuard::new().ask(2);
        recent.note(guard, 1, 0, false);
        assert!(!recent.is_alarmed() && !recent.is_suspicious());
        recent.note(guard, 1, 0, false);
        assert!(recent.is_alarmed() && recent.is_suspicious());
        recent.note_kept_back(1);
        assert_eq!(recent.answers(1), 3);
        recent.note(guard, 2, 0, false);
        assert!(recent.is_alarmed());
        recent.note(guard, 3, 0, true);
        assert!(!recent.is_alarmed() && !recent.is_suspicious());
        assert_eq!(recent.answers(1), 0);
    }
}
