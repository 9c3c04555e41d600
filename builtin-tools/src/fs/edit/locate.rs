//! Search for a text in a file.
//!
//! The exact text is searched for first, then looser forms of it, one after the other, until one is found. Several
//! matches are an error, and a looser match is limited: it has as many lines as the text, and at most twice the bytes and
//! 128 more for each line.

use super::indent::Reindent;
use crate::fs::fold::{self, Looseness};
use crate::fs::splice::LineNumbers;
use memchr::memmem::Finder;
use std::ops::Range;

/// Maximum number of places that one call replaces.
pub(super) const MAX_PLACES: usize = 1_000_000;
/// Maximum number of listed lines if a text is in several places.
const MAX_NAMED: usize = 10;
/// Maximum length of a looser match, as a multiple of the requested bytes; [`MAX_MORE_A_LINE`] bytes are added for each
/// line.
const MAX_TIMES: usize = 2;
/// See [`MAX_TIMES`].
const MAX_MORE_A_LINE: usize = 128;
/// Maximum number of bytes compared to find matches whose indentation follows one rule: as many as reading a large file.
/// Without it, a text of many equal lines could take hours in a file with many more of them.
const MAX_COMPARED: usize = 64 << 20;

/// Location of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) looseness: Looseness,
    /// The ranges of bytes in the file: one, or several if all matches were requested.
    pub(super) ranges: Vec<Range<usize>>,
    /// The rule that the indentation follows, if it was overlooked.
    pub(super) reindent: Option<Reindent>,
}

/// The reason for which no location was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Miss {
    /// The text is nowhere.
    Absent,
    /// The text is in several places.
    Several {
        /// Looseness of the comparison.
        looseness: Looseness,
        /// Number of matches, without overlaps.
        count: usize,
        /// Lines on which the first few begin.
        lines: Vec<usize>,
    },
}

/// Searches for `old`, which is not empty; for all matches if `all` is true.
///
/// A match that ignores more than line endings must be unique, even if all are requested.
pub(super) fn locate(file: &[u8], old: &str, all: bool) -> Result<Located, Miss> {
    // In a file of mixed endings, all matches include those with the other ending.
    let begins_exact = !(all && old.contains('\n')) || old.contains('\r') || old.starts_with('\u{FEFF}');
    let found = if begins_exact { exact(file, old, all)? } else { Vec::new() };
    if !found.is_empty() {
        return Ok(Located { looseness: Looseness::Exact, ranges: found, reindent: None });
    }
    for looseness in [Looseness::Endings, Looseness::Trailing, Looseness::Unicode] {
        // White space alone is in every file.
        if looseness > Looseness::Endings && old.trim().is_empty() {
            return Err(Miss::Absent);
        }
        let ranges = folded(file, old, all, looseness)?;
        if ranges.iter().any(|range| !is_within_bounds(range, old)) {
            return Err(Miss::Absent);
        }
        if !ranges.is_empty() {
            let is_exact = ranges.iter().all(|range| &file[range.clone()] == old.as_bytes());
            let looseness = if is_exact { Looseness::Exact } else { looseness };
            return Ok(Located { looseness, ranges, reindent: None });
        }
    }
    indented(file, old)
}

/// Returns true if a match is not much longer than the requested text.
pub(super) fn is_within_bounds(range: &Range<usize>, old: &str) -> bool {
    range.len() <= MAX_TIMES * old.len() + MAX_MORE_A_LINE * old.split_inclusive('\n').count()
}

/// The places of the exact text.
fn exact(file: &[u8], old: &str, all: bool) -> Result<Vec<Range<usize>>, Miss> {
    // A line feed after a carriage return is the second half of a line ending.
    let takes_halves = !old.starts_with('\n') || old.contains('\r');
    let is_place = |at: usize| takes_halves || at == 0 || file[at - 1] != b'\r';
    search(file, old.as_bytes(), all, is_place).map_err(|found| found.into_miss(Looseness::Exact))
}

/// The places of a looser form.
fn folded(file: &[u8], old: &str, all: bool, looseness: Looseness) -> Result<Vec<Range<usize>>, Miss> {
    let (mut needle, mut seen) = (fold::fold(old.as_bytes(), looseness), fold::fold_file(file, looseness));
    let length = needle.len();
    // Requested white space at the end of a line is only ignored at the end of a line.
    let last = old.rsplit('\n').next().unwrap_or(old).as_bytes();
    let typographic = looseness >= Looseness::Unicode;
    if looseness >= Looseness::Trailing && fold::trim_end(last, typographic).len() < last.len() {
        needle.push(b'\n');
        end_with_newline(&mut seen);
    }
    let all = all && looseness == Looseness::Endings;
    let found = search(&seen, &needle, all, |_| true).map_err(|found| found.into_miss(looseness))?;
    let parts: Vec<Range<usize>> = found.iter().map(|range| range.start..range.start + length).collect();
    Ok(fold::resolve(file, looseness, &parts))
}

fn end_with_newline(text: &mut Vec<u8>) {
    if text.last() != Some(&b'\n') {
        text.push(b'\n');
    }
}

/// Finds the unique match of whole lines whose indentation differs by one rule.
fn indented(file: &[u8], old: &str) -> Result<Located, Miss> {
    let looseness = Looseness::Indentation;
    let (mut needle, mut seen) = (vec![b'\n'], vec![b'\n']);
    needle.append(&mut fold::fold(old.as_bytes(), looseness));
    // Also if the last line is blank: then a blank line is requested.
    if !old.ends_with('\n') {
        needle.push(b'\n');
    }
    seen.append(&mut fold::fold_file(file, looseness));
    if !old.ends_with('\n') {
        end_with_newline(&mut seen);
    }
    let finder = Finder::new(&needle);
    let (mut budget, mut from) = (MAX_COMPARED, 0);
    let (mut lines, mut ranges, mut reindent) = (Vec::new(), Vec::new(), None);
    let mut seen_lines = LineNumbers::new(&seen);
    let mut starts = LineStarts::new(file);
    while let Some(at) = finder.find(&seen[from..]).map(|at| from + at) {
        // The match begins with the line feed before it.
        let line = seen_lines.of(at);
        let range = starts.of(line).lines(old);
        let cost = needle.len() + range.len();
        let Some(left) = budget.checked_sub(cost) else { return Err(Miss::Absent) };
        budget = left;
        if is_within_bounds(&range, old)
            && let Some(rule) = Reindent::between(old, &file[range.clone()])
        {
            lines.push(line);
            ranges.push(range);
            reindent = Some(rule);
        }
        if lines.len() > MAX_NAMED {
            break;
        }
        from = at + 1;
    }
    match ranges.len() {
        0 => Err(Miss::Absent),
        1 => Ok(Located { looseness, ranges, reindent }),
        count => {
            lines.truncate(MAX_NAMED);
            Err(Miss::Several { looseness, count, lines })
        }
    }
}

/// Starts of lines, for lines that are requested in order.
struct LineStarts<'a> {
    file: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> LineStarts<'a> {
    fn new(file: &'a [u8]) -> Self {
        Self { file, at: fold::mark(file), line: 1 }
    }

    /// Advances to a line, counted from 1.
    fn of(&mut self, line: usize) -> &Self {
        while self.line < line {
            let end = memchr::memchr(b'\n', &self.file[self.at..]);
            self.at = end.map_or(self.file.len(), |end| self.at + end + 1);
            self.line += 1;
        }
        self
    }

    /// Returns as many lines from here as `old` has, without the last ending if `old` lacks it.
    fn lines(&self, old: &str) -> Range<usize> {
        let mut end = self.at;
        let (mut ending, lines) = (0, old.split_inclusive('\n').count());
        for _ in 0..lines {
            let rest = &self.file[end..];
            let line = &rest[..memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1)];
            end += line.len();
            ending = if line.ends_with(b"\r\n") { 2 } else { usize::from(line.ends_with(b"\n")) };
        }
        self.at..if old.ends_with('\n') { end } else { end - ending }
    }
}

/// Several matches of a text that should have one.
struct Places {
    count: usize,
    lines: Vec<usize>,
}

impl Places {
    fn into_miss(self, looseness: Looseness) -> Miss {
        Miss::Several { looseness, count: self.count, lines: self.lines }
    }
}

/// Returns all matches of `needle` without overlaps, or the only one; empty if there is none.
fn search(
    bytes: &[u8],
    needle: &[u8],
    all: bool,
    is_place: impl Fn(usize) -> bool,
) -> Result<Vec<Range<usize>>, Places> {
    let finder = Finder::new(needle);
    let next = |mut from: usize| loop {
        let at = from + finder.find(bytes.get(from..)?)?;
        if is_place(at) {
            return Some(at);
        }
        from = at + 1;
    };
    if all {
        // One match more than the maximum shows that there are too many.
        let places = std::iter::successors(next(0), |at| next(at + needle.len())).take(MAX_PLACES + 1);
        return Ok(places.map(|at| at..at + needle.len()).collect());
    }
    // Two that overlap are two places as well.
    let first: Vec<usize> = std::iter::successors(next(0), |at| next(at + 1)).take(MAX_NAMED).collect();
    if let [] | [_] = first[..] {
        return Ok(first.into_iter().map(|at| at..at + needle.len()).collect());
    }
    let apart = std::iter::successors(next(0), |at| next(at + needle.len())).count();
    let rest =
        std::iter::successors(next(first[first.len() - 1] + needle.len()), |at| next(at + needle.len()));
    let mut numbers = LineNumbers::new(bytes);
    let mut lines = Vec::new();
    for line in first.iter().copied().chain(rest).map(|at| numbers.of(at)) {
        if lines.last() != Some(&line) {
            lines.push(line);
        }
        if lines.len() >= MAX_NAMED {
            break;
        }
    }
    Err(Places { count: apart.max(2), lines })
}
