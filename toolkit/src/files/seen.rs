//! The file versions that a session has last read or written.

use super::Workspace;
use super::version::FileVersion;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use toolkit_core::caller::SharedReads;

/// The most files of a session that are remembered; beyond that, the least recently used is forgotten.
const MAX_FILES: usize = 1_000;

/// The most parts of a file that are remembered; beyond that, the file counts as not read.
const MAX_PARTS: usize = 1_000;

/// The extent to which a session knows a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extent {
    /// Nothing: the session has neither read nor written the file, or its record was dropped.
    Nothing,
    /// Some of its lines.
    Part,
    /// The whole file.
    Whole,
}

/// The relation of a file to the version that a session knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadState {
    /// The session has neither read nor written the file, or its record was dropped.
    Never,
    /// The file is unchanged since the session last read or wrote it.
    Same,
    /// The file was changed by another writer since.
    Changed,
}

#[derive(Debug, Default)]
pub(super) struct SeenFiles(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    files: HashMap<PathBuf, Known>,
    uses: u64,
}

/// The record of a file.
#[derive(Debug)]
struct Known {
    version: FileVersion,
    /// The version at the last check that was considered the same, with its content known: if only the time changes, the version is the
    /// same.
    by_content: Option<FileVersion>,
    lines: Lines,
    used: u64,
    /// The time of the record.
    at: Instant,
}

/// The lines of a file that a session knows.
#[derive(Debug, Clone)]
enum Lines {
    All,
    /// Sorted ranges that neither overlap nor touch, counted from 1, and the total number of lines if it is known.
    Some {
        ranges: Vec<Range<u64>>,
        total: Option<u64>,
    },
}

impl Lines {
    const NONE: Self = Self::Some { ranges: Vec::new(), total: None };

    /// Adds further lines of the same content.
    fn with(self, lines: Range<u64>, of: Option<u64>) -> Self {
        let Self::Some { mut ranges, total } = self else { return self };
        let total = of.or(total);
        ranges.push(lines);
        ranges.sort_by_key(|range| range.start);
        let mut merged: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
        for range in ranges.into_iter().filter(|range| !range.is_empty()) {
            match merged.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => merged.push(range),
            }
        }
        let is_whole = match (total, &merged[..]) {
            (Some(0), _) => true,
            (Some(total), [all]) => all.start <= 1 && all.end > total,
            _ => false,
        };
        if is_whole {
            return Self::All;
        }
        if merged.len() > MAX_PARTS {
            merged.clear();
        }
        Self::Some { ranges: merged, total }
    }
}

impl Workspace {
    /// Records that this session knows all of a version of the file at a real path, because it read or wrote it.
    #[expect(clippy::needless_pass_by_value, reason = "it is stored, once more for a group of sessions")]
    pub fn saw(&self, path: &Path, version: FileVersion) {
        self.note(|files| files.set(path, version.clone(), |_| Lines::All));
    }

    /// Records that this session has read some lines of a version of the file at a real path, counted from 1; `total` is the number of
    /// all lines, if it is known. Once the session has read all lines of one version, it knows the whole version.
    #[expect(clippy::needless_pass_by_value, reason = "it is stored, once more for a group of sessions")]
    pub fn saw_lines(&self, path: &Path, version: FileVersion, lines: Range<u64>, total: Option<u64>) {
        self.note(|files| {
            let lines = lines.clone();
            files.set(path, version.clone(), |same| same.unwrap_or(Lines::NONE).with(lines, total));
        });
    }

    /// Records that this session derived a version of the file at a real path from the earlier content: lines that it did not know
    /// before, it does not know now.
    #[expect(clippy::needless_pass_by_value, reason = "it is stored, once more for a group of sessions")]
    pub(super) fn edited(&self, path: &Path, version: FileVersion) {
        self.note(|files| files.edit(path, version.clone()));
    }

    /// Returns to what extent this session knows the file at a real path, of which the present version is `now`. If the host ends with
    /// its [only call](crate::Builder::for_one_call), nothing can have been read before, and the whole file counts as known. For a file
    /// that this session has neither read nor written, the records of sessions of the [same group](crate::files::SharedReads) count.
    pub fn extent(&self, path: &Path, now: &FileVersion) -> Extent {
        if self.ctx.is_for_one_call() {
            return Extent::Whole;
        }
        let own = self.ctx.session_state::<SeenFiles>();
        match (own.compare(path, now, None), self.shared()) {
            (ReadState::Never, Some((shared, within))) => shared.extent(path, now, Some(within)),
            _ => own.extent(path, now, None),
        }
    }

    /// Compares the file at a real path with the version that this session last read or wrote; the records of sessions of the
    /// [same group](crate::files::SharedReads) count if this session has neither read nor written it.
    pub fn seen(&self, path: &Path, now: &FileVersion) -> ReadState {
        let own = self.ctx.session_state::<SeenFiles>().compare(path, now, None);
        match (own, self.shared()) {
            (ReadState::Never, Some((shared, within))) => shared.compare(path, now, Some(within)),
            _ => own,
        }
    }

    /// Moves the session's record of a file to another real path, because the file was moved.
    pub(super) fn moved(&self, from: &Path, to: &Path) {
        self.note(|files| files.rename(from, to));
    }

    /// Removes the record of a real path, because the file no longer exists.
    pub fn forget(&self, path: &Path) {
        self.note(|files| files.remove(path));
    }

    /// Updates the records of this session, and of the group that shares its reads.
    fn note(&self, note: impl Fn(&SeenFiles)) {
        note(&self.ctx.session_state::<SeenFiles>());
        if let Some((shared, _)) = self.shared() {
            note(&shared);
        }
    }

    /// Returns the records of the group that shares reads, and the time for which they are valid.
    fn shared(&self) -> Option<(Arc<SeenFiles>, Duration)> {
        let SharedReads { group, within, .. } = self.ctx.caller().shared_reads.as_ref()?;
        let session = self.ctx.scope().toolkit.sessions.open(group);
        Some((session.state::<SeenFiles>(), *within))
    }
}

impl Known {
    /// Returns true if the record is at most this old.
    fn is_within(&self, within: Option<Duration>) -> bool {
        within.is_none_or(|within| self.at.elapsed() <= within)
    }

    /// Returns true if `now` is the recorded version.
    fn is_same(&self, now: &FileVersion) -> bool {
        std::iter::once(&self.version).chain(&self.by_content).any(|version| version.is_same(now))
    }
}

impl SeenFiles {
    /// Sets the record of a file; `lines` gets the known lines of the same version, and returns the lines known now.
    fn set(&self, path: &Path, version: FileVersion, lines: impl FnOnce(Option<Lines>) -> Lines) {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.uses += 1;
        let used = table.uses;
        let before = table.files.remove(path);
        let same = before.as_ref().filter(|known| known.is_same(&version)).map(|known| known.lines.clone());
        let lines = lines(same);
        let by_content = before
            .and_then(|known| known.by_content.or(Some(known.version)))
            .filter(|known| version.is_less_than(known));
        table.files.insert(path.to_owned(), Known { version, by_content, lines, used, at: Instant::now() });
        if table.files.len() > MAX_FILES {
            let oldest = table.files.iter().min_by_key(|(_, known)| known.used).map(|(path, _)| path.clone());
            oldest.and_then(|oldest| table.files.remove(&oldest));
        }
    }

    fn edit(&self, path: &Path, version: FileVersion) {
        let was_whole = {
            let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            table.files.get(path).is_some_and(|known| matches!(known.lines, Lines::All))
        };
        self.set(path, version, |_| if was_whole { Lines::All } else { Lines::NONE });
    }

    /// Returns the known extent; records older than `within` are not used.
    fn extent(&self, path: &Path, now: &FileVersion, within: Option<Duration>) -> Extent {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = table.files.get(path).filter(|known| known.is_within(within));
        match known.filter(|known| known.is_same(now)) {
            None => Extent::Nothing,
            Some(Known { lines: Lines::All, .. }) => Extent::Whole,
            Some(_) => Extent::Part,
        }
    }

    fn compare(&self, path: &Path, now: &FileVersion, within: Option<Duration>) -> ReadState {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = table.files.get(path).filter(|known| known.is_within(within));
        let Some(known) = known else { return ReadState::Never };
        if known.is_same(now) { ReadState::Same } else { ReadState::Changed }
    }

    fn rename(&self, from: &Path, to: &Path) {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match table.files.remove(from) {
            Some(known) => drop(table.files.insert(to.to_owned(), known)),
            None => drop(table.files.remove(to)),
        }
    }

    fn remove(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).files.remove(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_add_up_to_the_whole() {
        let known = |parts: &[(Range<u64>, Option<u64>)]| {
            let lines =
                parts.iter().cloned().fold(Lines::NONE, |lines, (part, total)| lines.with(part, total));
            match lines {
                Lines::All => "all".to_owned(),
                Lines::Some { ranges, .. } => format!("{ranges:?}"),
            }
        };
        for (parts, expected) in [
            (&[(1..11, Some(10))][..], "all"),
            (&[(1..10, Some(10))], "[1..10]"),
            (&[(2..11, Some(10))], "[2..11]"),
            (&[(1..1, Some(0))], "all"),
            (&[(1..5, None), (5..11, Some(10))], "all"),
            (&[(5..11, Some(10)), (1..5, None)], "all"),
            (&[(1..5, None), (6..11, Some(10))], "[1..5, 6..11]"),
            (&[(1..5, None), (6..11, Some(10)), (3..7, None)], "all"),
            (&[(1..5, None), (5..9, None)], "[1..9]"),
            (&[(1..11, Some(10)), (3..4, None)], "all"),
        ] {
            assert_eq!(known(parts), expected, "{parts:?}");
        }
        let many: Vec<(Range<u64>, Option<u64>)> =
            (0..=MAX_PARTS as u64).map(|part| (3 * part + 1..3 * part + 2, None)).collect();
        assert_eq!(known(&many), "[]");
    }
}
