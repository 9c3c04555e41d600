//! An index of the patterns of guarded paths by a component, because a directory walk decides about thousands of paths.

use super::{GuardedPaths, describes};
use crate::permission::matching::matches;
use std::collections::HashMap;

pub(super) struct Index {
    all: &'static [GuardedPaths],
    /// Patterns by a component without `*`.
    by_name: HashMap<&'static str, Vec<Entry>, foldhash::fast::RandomState>,
    /// Patterns whose every component has a `*`.
    others: Vec<(usize, &'static str)>,
}

struct Entry {
    /// The index of the group that contains the pattern.
    of: usize,
    parts: Vec<&'static str>,
    /// The index of the component by which it is found.
    by: usize,
    is_from_root: bool,
    is_directory: bool,
}

impl Index {
    pub(super) fn new(all: &'static [GuardedPaths]) -> Self {
        let mut index = Self { all, by_name: HashMap::default(), others: Vec::new() };
        for (of, guarded) in all.iter().enumerate() {
            for pattern in guarded.patterns {
                let parts: Vec<&str> = pattern.trim_matches('/').split('/').collect();
                match parts.iter().rposition(|part| !part.contains('*')) {
                    None => index.others.push((of, pattern)),
                    Some(by) => index.by_name.entry(parts[by]).or_default().push(Entry {
                        of,
                        by,
                        parts,
                        is_from_root: pattern.starts_with('/'),
                        is_directory: pattern.ends_with('/'),
                    }),
                }
            }
        }
        index
    }

    /// Returns the first wanted pattern that matches a path.
    pub(super) fn first(
        &self,
        parts: &[String],
        is_wanted: impl Fn(&GuardedPaths) -> bool,
    ) -> Option<&'static GuardedPaths> {
        let mut first = self.all.len();
        let mut note = |of: usize| {
            // With `of == first` the same is noted again, so no test can tell `<` from `<=`.
            if of < first && is_wanted(&self.all[of]) {
                first = of;
            }
        };
        for (place, part) in parts.iter().enumerate() {
            for entry in self.by_name.get(&**part).into_iter().flatten() {
                if entry.describes(parts, place) {
                    note(entry.of);
                }
            }
        }
        for (of, pattern) in &self.others {
            if describes(pattern, parts) {
                note(*of);
            }
        }
        self.all.get(first)
    }
}

impl Entry {
    /// Returns true if it matches a path whose component at `place` is the one it was found by.
    fn describes(&self, parts: &[String], place: usize) -> bool {
        let Some(start) = place.checked_sub(self.by) else { return false };
        let end = start + self.parts.len();
        end <= parts.len()
            && (!self.is_from_root || start == 0)
            && (self.is_directory || end == parts.len())
            && self.parts.iter().zip(&parts[start..end]).all(|(wanted, part)| matches(wanted, part))
    }
}
