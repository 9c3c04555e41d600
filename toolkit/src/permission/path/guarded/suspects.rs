//! The last components of guarded paths, for a quick check of a name.

use super::{GuardedPaths, parts};
use crate::permission::matching::matches;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;

/// The longest name that is folded without an allocation: the longest that Linux has.
const LONGEST: usize = 255;

/// The last components of guarded paths.
pub(super) struct Suspects {
    exact: HashSet<&'static str, foldhash::fast::RandomState>,
    /// Patterns with a `*`, by the byte that they begin with.
    by_first: [Vec<&'static str>; 256],
    /// Patterns that begin with `*`, by the byte that they end with.
    by_last: [Vec<&'static str>; 256],
    /// Patterns that begin and end with `*`.
    others: Vec<&'static str>,
}

impl Suspects {
    pub(super) fn new(all: impl Iterator<Item = &'static GuardedPaths>) -> Self {
        let mut suspects = Self {
            exact: HashSet::default(),
            by_first: std::array::from_fn(|_| Vec::new()),
            by_last: std::array::from_fn(|_| Vec::new()),
            others: Vec::new(),
        };
        for pattern in all.flat_map(|guarded| guarded.patterns) {
            let pattern = pattern.trim_matches('/');
            suspects.add(pattern.rsplit('/').next().unwrap_or(pattern));
        }
        suspects
    }

    fn add(&mut self, end: &'static str) {
        let list = match (end.contains('*'), end.as_bytes()) {
            (false, _) | (true, []) => {
                self.exact.insert(end);
                return;
            }
            (true, [b'*', .., b'*'] | [b'*']) => &mut self.others,
            (true, [b'*', .., last]) => &mut self.by_last[usize::from(*last)],
            (true, [first, ..]) => &mut self.by_first[usize::from(*first)],
        };
        if !list.contains(&end) {
            list.push(end);
        }
    }

    /// Returns true if a guarded path can end with this name.
    pub(super) fn hold(&self, name: &OsStr) -> bool {
        let mut folded = [0; LONGEST];
        let bytes = name.as_encoded_bytes();
        // Only a fast path: except on Windows, `parts` gives the same name. No test can tell.
        if bytes.is_ascii() && bytes.len() <= LONGEST && !cfg!(windows) {
            let folded = &mut folded[..bytes.len()];
            folded.copy_from_slice(bytes);
            folded.make_ascii_lowercase();
            return std::str::from_utf8(folded).is_ok_and(|name| self.hold_folded(name));
        }
        parts(Path::new(name)).iter().any(|part| self.hold_folded(part))
    }

    fn hold_folded(&self, name: &str) -> bool {
        let bytes = name.as_bytes();
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
        let patterns = [&self.by_first[usize::from(*first)], &self.by_last[usize::from(*last)], &self.others];
        self.exact.contains(name) || patterns.into_iter().flatten().any(|pattern| matches(pattern, name))
    }
}
