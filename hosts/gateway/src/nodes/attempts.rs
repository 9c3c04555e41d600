//! Attempts within a window of time, counted for each of those who make them.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use crate::people::Window;
use crate::store::Moment;

/// Counts after which those whose windows are over are dropped.
const MAX_COUNTS: usize = 64;

/// The attempts of each key, such as a network or a token.
#[derive(Debug)]
pub(super) struct Attempts<K> {
    max: u32,
    length: Duration,
    counts: HashMap<K, Window>,
}

impl<K: Eq + Hash> Attempts<K> {
    /// So many attempts within windows of this length.
    pub(super) fn new(max: u32, length: Duration) -> Self {
        Self { max, length, counts: HashMap::new() }
    }

    /// Returns how long to wait, if a key has made too many attempts.
    pub(super) fn wait(&self, key: &K, now: Moment) -> Option<Duration> {
        // On a copy, so that a look does not count.
        let (count, left) = self.counts.get(key).copied()?.note(now);
        (count >= self.max).then_some(left)
    }

    /// Counts an attempt.
    pub(super) fn note(&mut self, key: K, now: Moment) {
        if self.counts.len() >= MAX_COUNTS {
            self.counts.retain(|_, window| !window.is_over(now));
        }
        self.counts.entry(key).or_insert_with(|| Window::new(self.length)).note(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_a_count_of_its_own_for_a_window() {
        let mut attempts = Attempts::new(2, Duration::from_mins(1));
        let now = Moment(1_000);
        for _ in 0..2 {
            assert_eq!(attempts.wait(&"one", now), None);
            attempts.note("one", now);
        }
        assert_eq!(attempts.wait(&"one", now), Some(Duration::from_mins(1)));
        assert_eq!(attempts.wait(&"other", now), None);
        assert_eq!(attempts.wait(&"one", now.after(Duration::from_mins(1))), None);
    }

    #[test]
    fn counts_whose_windows_are_over_are_dropped() {
        let mut attempts = Attempts::new(2, Duration::from_mins(1));
        (0..MAX_COUNTS).for_each(|key| attempts.note(key, Moment(1_000)));
        attempts.note(MAX_COUNTS, Moment(1_000).after(Duration::from_mins(1)));
        assert_eq!(attempts.counts.len(), 1);
    }
}
