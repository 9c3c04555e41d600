//! A page of results of one call: its start, its length, and a limit on the text for the model.

use super::file::{Found, Match, Wanted};
use super::query::Depth;
use std::path::PathBuf;

/// Maximum size of the results in bytes, without the text around them.
const MAX_BYTES: usize = 48 * 1024;

/// The page that one call returns of the files with matches, by path.
#[derive(Debug)]
pub(super) struct Page {
    depth: Depth,
    skip: u64,
    take: u64,
    bytes: usize,
    pub(super) results: Vec<Hit>,
    /// Number of results on the page.
    pub(super) count: u64,
    /// Number of matches skipped or shown, and of the files they are in.
    pub(super) matches: u64,
    /// True if there are further results.
    pub(super) has_more: bool,
    /// True if there were lines so long that they were searched in pieces.
    pub(super) has_pieces: bool,
}

/// A file with matches.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) path: PathBuf,
    pub(super) content: HitContent,
}

/// The output for one file.
#[derive(Debug)]
pub(super) enum HitContent {
    /// The file has a match.
    Matches,
    /// The file has a match, and is binary.
    Binary,
    /// The number of matches.
    Count(u64),
    /// The matches.
    Lines(Vec<Match>),
}

impl Page {
    pub(super) fn new(depth: Depth, wanted: Wanted) -> Self {
        let Wanted { skip, take } = wanted;
        Self {
            depth,
            skip,
            take,
            bytes: 0,
            results: Vec::new(),
            count: 0,
            matches: 0,
            has_more: false,
            has_pieces: false,
        }
    }

    /// Returns the matches to collect of each file while those before it are unknown.
    pub(super) fn wanted(&self) -> Wanted {
        Wanted { skip: 0, take: self.skip.saturating_add(self.take) }
    }

    /// Returns true if a file's matches are results each.
    fn counts_matches(&self, found: &Found) -> bool {
        self.depth == Depth::Lines && !found.is_binary
    }

    /// Adds the matches of the next file; false once the page is full. `again` finds more matches of the same file.
    pub(super) fn add(
        &mut self,
        path: PathBuf,
        mut found: Found,
        mut again: impl FnMut(Wanted) -> Option<Found>,
    ) -> bool {
        self.has_pieces |= found.has_pieces;
        if found.count == 0 {
            return true;
        }
        if !self.counts_matches(&found) {
            return self.add_whole(path, &found);
        }
        if found.count <= self.skip {
            self.skip -= found.count;
            self.matches += found.count;
            return true;
        }
        self.matches += self.skip;
        let mut from = std::mem::take(&mut self.skip);
        let end = found.count;
        // The held matches begin with the file's first match.
        let mut held =
            found.matches.drain(..).skip(usize::try_from(from).unwrap_or(usize::MAX)).collect::<Vec<_>>();
        let mut shown = Vec::new();
        while from < end {
            if self.count == self.take {
                self.has_more = true;
                break;
            }
            if held.is_empty() {
                let Some(mut more) = again(Wanted { skip: from, take: self.take - self.count }) else {
                    break;
                };
                held.append(&mut more.matches);
            }
            // The file is another by now.
            if held.is_empty() {
                break;
            }
            for one in held.drain(..) {
                if !self.has_room(bytes_of(&path, &one)) {
                    self.has_more = true;
                    break;
                }
                self.count += 1;
                self.matches += 1;
                from += 1;
                shown.push(one);
            }
            if self.has_more {
                break;
            }
        }
        if !shown.is_empty() {
            self.results.push(Hit { path, content: HitContent::Lines(shown) });
        }
        !self.has_more
    }

    /// Adds a file that is a result itself.
    fn add_whole(&mut self, path: PathBuf, found: &Found) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            self.matches += found.count;
            return true;
        }
        if !self.has_room(path.as_os_str().len() + 8) {
            self.has_more = true;
            return false;
        }
        self.count += 1;
        self.matches += found.count;
        let content = match self.depth {
            Depth::Any => HitContent::Matches,
            _ if found.is_binary => HitContent::Binary,
            Depth::Count | Depth::Lines => HitContent::Count(found.count),
        };
        self.results.push(Hit { path, content });
        true
    }

    fn has_room(&mut self, bytes: usize) -> bool {
        let has_room = self.count < self.take && (self.count == 0 || self.bytes + bytes <= MAX_BYTES);
        if has_room {
            self.bytes += bytes;
        }
        has_room
    }
}

fn bytes_of(path: &std::path::Path, one: &Match) -> usize {
    let path = path.as_os_str().len();
    one.lines.iter().map(|line| path + 12 + line.text.len()).sum()
}
