//! What a session has read or written last.

use super::Workspace;
use super::version::FileVersion;
use crate::caller::SharedReads;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many files of a session are remembered; beyond, the one that was used longest ago is forgotten.
const MAX_FILES: usize = 1_000;

/// How many parts of a file are remembered; beyond, what was read of it counts as nothing.
const MAX_PARTS: usize = 1_000;

/// How much of a file a session knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extent {
    /// Nothing: it has neither read nor written it, or forgot that.
    Nothing,
    /// Some of its lines.
    Part,
    /// All of it.
    Whole,
}

/// What a session knows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seen {
    /// It has neither read nor written it, or forgot that.
    Never,
    /// It is as the session read or wrote it last.
    Same,
    /// Another hand changed it since.
    Changed,
}

#[derive(Debug, Default)]
pub(super) struct SeenFiles(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    files: HashMap<PathBuf, Known>,
    uses: u64,
}

/// What is known of a file.
#[derive(Debug)]
struct Known {
    version: FileVersion,
    /// The version that it seemed to be still when it was looked at last, of whose content more is known: where only the time
    /// changes, it is the same.
    by_content: Option<FileVersion>,
    lines: Lines,
    used: u64,
    /// When it was noted.
    at: Instant,
}

/// The lines of a file that a session knows.
#[derive(Debug, Clone)]
enum Lines {
    All,
    /// Ranges in order that neither overlap nor touch, counted from 1, and how many lines there are where that is known.
    Some {
        ranges: Vec<Range<u64>>,
        total: Option<u64>,
    },
}

impl Lines {
    const NONE: Self = Self::Some { ranges: Vec::new(), total: None };

    /// With further lines of the same content.
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
    /// Remembers that this session knows all of a version of the file at a real path: it read or wrote it.
    #[expect(clippy::needless_pass_by_value, reason = "it is stored, once more for a group of sessions")]
    pub fn saw(&self, path: &Path, version: FileVersion) {
        self.note(|files| files.set(path, version.clone(), |_| Lines::All));
    }

    /// Remembers that this session has read some lines of a version of the file at a real path, counted from 1; `total` is how
    /// many there are, where that is known. Once it has read all lines of one version, it knows all of it.
    #[expect(clippy::needless_pass_by_value, reason = "it is stored, once more for a group of sessions")]
    pub fn saw_lines(&self, path: &Path, version: FileVersion, lines: Range<u64>, total: Option<u64>) {
        self.note(|files| {
            let lines = lines.clone();
            files.set(path, version.clone(), |same| same.unwrap_or(Lines::NONE).with(lines, total));
        });
    }

    /// Remembers that this session made a version of the file at a real path from what the file had before: what it did not
    /// know of it then it does not know now.
    #[expect(clippy::needless_pass_by_value, reason = "it is stored, once more for a group of sessions")]
    pub(super) fn edited(&self, path: &Path, version: FileVersion) {
        self.note(|files| files.edit(path, version.clone()));
    }

    /// How much this session knows of the file at a real path, which is `now`. Where the host
    /// ends with its [only call](crate::Builder::for_one_call), nothing can have been read before, and all of it counts as known. So does
    /// what a session of the [same group](crate::SharedReads) knows, of a file that this session has neither read nor written.
    pub fn extent(&self, path: &Path, now: &FileVersion) -> Extent {
        if self.ctx.is_for_one_call() {
            return Extent::Whole;
        }
        let own = self.ctx.session_state::<SeenFiles>();
        match (own.compare(path, now, None), self.shared()) {
            (Seen::Never, Some((shared, within))) => shared.extent(path, now, Some(within)),
            _ => own.extent(path, now, None),
        }
    }

    /// Whether the file at a real path is as this session has seen it last, or a session of the [same group](crate::SharedReads) if this
    /// session has neither read nor written it.
    pub fn seen(&self, path: &Path, now: &FileVersion) -> Seen {
        let own = self.ctx.session_state::<SeenFiles>().compare(path, now, None);
        match (own, self.shared()) {
            (Seen::Never, Some((shared, within))) => shared.compare(path, now, Some(within)),
            _ => own,
        }
    }

    /// What the session knows of the file at one real path it knows from now on of the one at another: it was moved.
    pub(super) fn moved(&self, from: &Path, to: &Path) {
        self.note(|files| files.rename(from, to));
    }

    /// Forgets what was at a real path: it is gone.
    pub fn forget(&self, path: &Path) {
        self.note(|files| files.remove(path));
    }

    /// Notes something for this session, and for those that share what they have read.
    fn note(&self, note: impl Fn(&SeenFiles)) {
        note(&self.ctx.session_state::<SeenFiles>());
        if let Some((shared, _)) = self.shared() {
            note(&shared);
        }
    }

    /// What is known to the sessions that share what they have read, and for how long it counts.
    fn shared(&self) -> Option<(Arc<SeenFiles>, Duration)> {
        let SharedReads { group, within } = self.ctx.caller().shared_reads.as_ref()?;
        let session = self.ctx.scope().toolkit.sessions.open(group);
        Some((session.state::<SeenFiles>(), *within))
    }
}

impl Known {
    /// Returns true if it was noted within this time.
    fn is_within(&self, within: Option<Duration>) -> bool {
        within.is_none_or(|within| self.at.elapsed() <= within)
    }

    /// Whether it is the version that is known.
    fn is_same(&self, now: &FileVersion) -> bool {
        std::iter::once(&self.version).chain(&self.by_content).any(|version| version.is_same(now))
    }
}

impl SeenFiles {
    /// `lines` makes of the lines that are known of this very version those that are known now.
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

    /// What was noted longer ago than `within` does not count.
    fn extent(&self, path: &Path, now: &FileVersion, within: Option<Duration>) -> Extent {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = table.files.get(path).filter(|known| known.is_within(within));
        match known.filter(|known| known.is_same(now)) {
            None => Extent::Nothing,
            Some(Known { lines: Lines::All, .. }) => Extent::Whole,
            Some(_) => Extent::Part,
        }
    }

    fn compare(&self, path: &Path, now: &FileVersion, within: Option<Duration>) -> Seen {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = table.files.get(path).filter(|known| known.is_within(within));
        let Some(known) = known else { return Seen::Never };
        if known.is_same(now) { Seen::Same } else { Seen::Changed }
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
