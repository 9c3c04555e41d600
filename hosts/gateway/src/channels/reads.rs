//! A bound on how many files are read for each person.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::people::Window;
use crate::store::Moment;

/// The most files that are read for a person within a window; more arrive as files alone.
const MAX_READS: u32 = 30;
/// The length of the window.
const WINDOW: Duration = Duration::from_mins(10);

/// The counts of people, who are at most 1,000.
#[derive(Debug, Default)]
pub(crate) struct Reads(Mutex<HashMap<String, Window>>);

impl Reads {
    /// Counts one file of a person. Returns false if it is one too many.
    pub(super) fn count(&self, person: &str, now: Moment) -> bool {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.entry(person.to_owned()).or_insert_with(|| Window::new(WINDOW));
        window.note(now).0 < MAX_READS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_person_has_so_many_files_read_in_a_window() {
        let (reads, now) = (Reads::default(), Moment(1));
        assert_eq!((0..40).filter(|_| reads.count("ada", now)).count(), 30);
        assert!(reads.count("bob", now));
        assert!(reads.count("ada", now.after(WINDOW)));
    }
}
