//! The names to search for, indexed by their last component.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Component, Path};

/// The part of a pattern that stands for any number of names.
const ANY: &str = "**";

/// Patterns of paths.
pub(super) struct Names {
    by_last: HashMap<String, Vec<Pattern>>,
    /// Patterns whose last part contains a `*`.
    others: Vec<Pattern>,
    exceptions: Vec<Pattern>,
}

/// The parts of a path, in lower case.
struct Pattern {
    parts: Vec<String>,
    /// True if the first part is below the root of the file system.
    is_from_root: bool,
    /// True if the pattern also matches directories.
    is_of_directories: bool,
}

impl Pattern {
    fn new(pattern: &str) -> Self {
        let parts = pattern.trim_matches('/').split('/').map(str::to_lowercase).collect();
        Self { parts, is_from_root: pattern.starts_with('/'), is_of_directories: pattern.ends_with('/') }
    }

    fn last(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }

    fn fits(&self, path: &Path, is_directory: bool) -> bool {
        if is_directory && !self.is_of_directories {
            return false;
        }
        if self.is_from_root {
            let names: Vec<_> = path
                .components()
                .filter(|part| matches!(part, Component::Normal(_)))
                .map(|part| folded(part.as_os_str()))
                .collect();
            return is_at(&self.parts, &names);
        }
        let mut names = path.components().rev().map(|part| folded(part.as_os_str()));
        self.parts.iter().rev().all(|part| names.next().is_some_and(|name| matches(part, &name)))
    }
}

impl Names {
    pub(super) fn new(patterns: &[String], exceptions: &[String]) -> Self {
        let mut names = Self {
            by_last: HashMap::new(),
            others: Vec::new(),
            exceptions: exceptions.iter().map(|pattern| Pattern::new(pattern)).collect(),
        };
        for pattern in patterns.iter().map(|pattern| Pattern::new(pattern)) {
            if pattern.last().contains('*') {
                names.others.push(pattern);
            } else {
                names.by_last.entry(pattern.last().to_owned()).or_default().push(pattern);
            }
        }
        names
    }

    /// Returns true if the last parts of a path match one of the names.
    pub(super) fn fit(&self, path: &Path, is_directory: bool) -> bool {
        let Some(name) = path.file_name() else { return false };
        let name = folded(name);
        let exact = self.by_last.get(&*name).into_iter().flatten();
        let others = self.others.iter().filter(|pattern| matches(pattern.last(), &name));
        exact.chain(others).any(|pattern| pattern.fits(path, is_directory))
            && !self.exceptions.iter().any(|pattern| pattern.fits(path, is_directory))
    }
}

/// Returns true if all names match the parts of a pattern, in which `**` stands for any number of names.
fn is_at(parts: &[String], names: &[Cow<'_, str>]) -> bool {
    // The parts that match the names so far, by their number.
    let mut reached = vec![false; parts.len() + 1];
    reached[0] = true;
    let skip = |reached: &mut [bool]| {
        for (at, _) in parts.iter().enumerate().filter(|(_, part)| *part == ANY) {
            reached[at + 1] |= reached[at];
        }
    };
    skip(&mut reached);
    for name in names {
        let mut next = vec![false; parts.len() + 1];
        for (at, part) in parts.iter().enumerate().filter(|(at, _)| reached[*at]) {
            if part == ANY {
                next[at] = true;
            } else if matches(part, name) {
                next[at + 1] = true;
            }
        }
        skip(&mut next);
        reached = next;
    }
    reached[parts.len()]
}

/// Folds a name for comparison: on some file systems case does not matter.
fn folded(name: &std::ffi::OsStr) -> Cow<'_, str> {
    let name = name.to_string_lossy();
    if name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return name;
    }
    Cow::Owned(name.to_lowercase())
}

/// Returns true if a name matches a pattern, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
