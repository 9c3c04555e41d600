//! Selects the newest of many files, with memory for those only.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::time::SystemTime;

/// A file and its time of modification. The newest comes first; files of the same time are ordered by path.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stamped {
    stamp: Reverse<SystemTime>,
    pub(super) path: PathBuf,
    pub(super) modified: SystemTime,
}

impl Stamped {
    pub(super) fn new(path: PathBuf, modified: SystemTime) -> Self {
        Self { stamp: Reverse(modified), path, modified }
    }
}

/// The newest files, up to a number, and how many there were.
#[derive(Debug)]
pub(super) struct Newest {
    most: usize,
    /// The oldest of them is on top.
    files: BinaryHeap<Stamped>,
    count: u64,
}

impl Newest {
    pub(super) fn new(most: usize) -> Self {
        Self { most, files: BinaryHeap::new(), count: 0 }
    }

    pub(super) fn add(&mut self, file: Stamped) {
        self.count += 1;
        self.keep(file);
    }

    fn keep(&mut self, file: Stamped) {
        if self.files.len() < self.most {
            self.files.push(file);
        } else if let Some(mut last) = self.files.peek_mut()
            && file < *last
        {
            *last = file;
        }
    }

    /// Adds the files that another thread found.
    pub(super) fn join(&mut self, other: Self) {
        self.count += other.count;
        for file in other.files {
            self.keep(file);
        }
    }

    /// Returns the number of files seen.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn into_sorted(self) -> Vec<Stamped> {
        self.files.into_sorted_vec()
    }
}
