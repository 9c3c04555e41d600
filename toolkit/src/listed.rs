//! The tools that a session has been shown: a list that only grows, so that a provider's prompt cache stays
//! valid.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most found tools that a session remembers; beyond that, the tool found longest ago is removed.
const MAX_FOUND: usize = 256;

/// The names of the tools that a session was shown, in the order in which they were shown.
#[derive(Debug, Default)]
pub(crate) struct Listed(Mutex<Vec<Entry>>);

#[derive(Debug)]
struct Entry {
    name: Box<str>,
    found: bool,
}

impl Listed {
    /// Adds the tools that are shown from the beginning, in this order. Tools that are already shown keep
    /// their position.
    pub(crate) fn show<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        let mut entries = self.lock();
        let new: Vec<Box<str>> = {
            let known: HashSet<&str> = entries.iter().map(|entry| &*entry.name).collect();
            names.into_iter().filter(|name| !known.contains(name)).map(Into::into).collect()
        };
        entries.extend(new.into_iter().map(|name| Entry { name, found: false }));
    }

    /// Adds found tools; returns those that were not shown before.
    pub(crate) fn find<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
        let mut entries = self.lock();
        let mut new = Vec::new();
        for name in names {
            if entries.iter().all(|entry| *entry.name != *name) {
                entries.push(Entry { name: name.into(), found: true });
                new.push(name);
            }
        }
        let surplus = entries.iter().filter(|entry| entry.found).count().saturating_sub(MAX_FOUND);
        let mut left = surplus;
        entries.retain(|entry| {
            let goes = entry.found && left > 0;
            left -= usize::from(goes);
            !goes
        });
        new
    }

    /// Calls a function with each name, in order, and with true if the tool was found.
    pub(crate) fn each(&self, mut each: impl FnMut(&str, bool)) {
        self.lock().iter().for_each(|entry| each(&entry.name, entry.found));
    }

    /// Returns true if a name is shown.
    pub(crate) fn shows(&self, name: &str) -> bool {
        self.lock().iter().any(|entry| *entry.name == *name)
    }

    /// Returns true if the list contains no found tools, and so nothing that would be lost.
    pub(crate) fn is_empty(&self) -> bool {
        !self.lock().iter().any(|entry| entry.found)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(listed: &Listed) -> Vec<String> {
        let mut names = Vec::new();
        listed.each(|name, found| names.push(format!("{name}{}", if found { "*" } else { "" })));
        names
    }

    #[test]
    fn what_was_shown_stays_where_it_is() {
        let listed = Listed::default();
        listed.show(["b", "d"]);
        assert!(listed.is_empty());
        assert_eq!(listed.find(["a", "b"]), ["a"]);
        listed.show(["a", "b", "c"]);
        assert_eq!(listed.find(["a"]), Vec::<&str>::new());
        assert_eq!(names(&listed), ["b", "d", "a*", "c"]);
        assert!(!listed.is_empty() && listed.shows("c") && !listed.shows("e"));
    }

    #[test]
    fn what_was_found_longest_ago_goes() {
        let listed = Listed::default();
        listed.show(["shown"]);
        for number in 0..MAX_FOUND + 10 {
            listed.find([&*format!("t{number}")]);
        }
        let names = names(&listed);
        assert_eq!(names.len(), MAX_FOUND + 1);
        assert_eq!(names[..2], ["shown", "t10*"]);
    }
}
