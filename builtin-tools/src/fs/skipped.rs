//! The files and directories that a search passes over.

use std::path::PathBuf;

/// The files and directories that were passed over.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    /// Files and directories that need approval.
    pub(super) refused: u64,
    /// Files and directories that could not be read.
    pub(super) unreadable: u64,
    /// The first of them.
    pub(super) first_unreadable: Option<PathBuf>,
    /// Files that are too large for the search.
    pub(super) too_large: u64,
    /// The first of them.
    pub(super) first_too_large: Option<PathBuf>,
}

impl Skipped {
    pub(super) fn unreadable(&mut self, path: PathBuf) {
        self.unreadable += 1;
        self.first_unreadable = first(self.first_unreadable.take(), Some(path));
    }

    /// Adds the counts of another thread.
    pub(super) fn join(&mut self, other: Self) {
        self.refused += other.refused;
        self.unreadable += other.unreadable;
        self.too_large += other.too_large;
        // The first by path is reported, whichever thread comes to it first.
        self.first_unreadable = first(self.first_unreadable.take(), other.first_unreadable);
        self.first_too_large = first(self.first_too_large.take(), other.first_too_large);
    }
}

fn first(one: Option<PathBuf>, other: Option<PathBuf>) -> Option<PathBuf> {
    one.into_iter().chain(other).min()
}
