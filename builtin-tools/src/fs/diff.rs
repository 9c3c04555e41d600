//! Unified diffs, bounded in size and time for any input.

use super::splice::{LineNumbers, Splice, splice};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Number of unchanged lines around a change.
const CONTEXT: usize = 3;
/// Default maximum size of a diff in bytes. More than a person reads.
pub(crate) const MAX_DIFF_BYTES: usize = 200 * 1024;
/// Time limit for the search for a short diff; after it, the remaining lines count as one change.
const TIME: Duration = Duration::from_millis(300);
/// Maximum number of lines for which a short diff is searched and a list of them is built.
pub(super) const MAX_LINES: usize = 400_000;
/// Maximum number of separate changes.
const MAX_CHANGES: usize = 100_000;
/// Number of lines from which unchanged lines between changes are searched for line by line, which is faster than comparing
/// all pairs.
const MANY_LINES: usize = 5_000;
/// Number of consecutive equal lines that end a change.
const ANCHOR: usize = 16;
/// Maximum length of a change, in lines of both sides together, that this search finds.
const FARTHEST: usize = 256;
/// Minimum distance of two changes, in bytes, from which the text between them is not examined.
const FAR_BYTES: usize = 16 * 1024;
/// Number of bytes compared at once.
// No test covers the number: it only affects speed, the result is the same.
const BLOCK: usize = 4 * 1024;

/// The difference between two contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diff {
    /// A unified diff; empty where nothing changed.
    pub(crate) text: String,
    /// Number of added lines.
    pub(crate) added: usize,
    /// Number of removed lines.
    pub(crate) removed: usize,
    /// True if `text` ends before the last change, with a note.
    pub(crate) is_cut: bool,
}

/// Returns the unified diff of a file. `None` is an absent file.
pub(crate) fn diff(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> Diff {
    diff_within(path, old, new, MAX_DIFF_BYTES)
}

/// Returns the same, of at most `most_bytes` bytes.
pub(crate) fn diff_within(path: &str, old: Option<&[u8]>, new: Option<&[u8]>, most_bytes: usize) -> Diff {
    let name =
        |side: &str, there: bool| if there { format!("{side}/{path}") } else { "/dev/null".to_owned() };
    let (from, to) = (name("a", old.is_some()), name("b", new.is_some()));
    let whole = old.unwrap_or_default();
    let both = Both { old: whole, new: new.unwrap_or_default(), whole, from: 0, line: 0 };
    let changes = both.changes();
    let added = changes.iter().map(|change| change.new.lines.len()).sum();
    let removed = changes.iter().map(|change| change.old.lines.len()).sum();
    let mut diff = Diff { text: String::new(), added, removed, is_cut: false };
    if changes.is_empty() && old.is_some() == new.is_some() {
        return diff;
    }
    let _ = write!(diff.text, "--- {from}\n+++ {to}\n");
    both.write(&mut diff, &changes, 0, most_bytes);
    diff
}

/// Returns the diff of a file whose parts are replaced, in order, without examining text far from the changes.
pub(crate) fn diff_spliced(path: &str, old: &[u8], splices: &[Splice]) -> Diff {
    let is_near = |one: &Splice, next: &Splice| {
        let between = &old[one.range.end..next.range.start];
        // As many whole lines that no two hunks can meet.
        let mut ends = memchr::memchr_iter(b'\n', between);
        // No test covers the limit: the text between is skipped or compared, with the same result either way.
        between.len() < FAR_BYTES || ends.nth(2 * CONTEXT + 1).is_none()
    };
    let mut numbers = LineNumbers::new(old);
    let regions: Vec<Region> =
        splices.chunk_by(is_near).map(|near| Region::around(old, near, &mut numbers)).collect();
    let changes: Vec<Vec<Change>> = regions.iter().map(|region| region.both(old).changes()).collect();
    let count = |lines: fn(&Change) -> usize| changes.iter().flatten().map(lines).sum::<usize>();
    let (added, removed) = (count(|change| change.new.lines.len()), count(|change| change.old.lines.len()));
    let mut diff = Diff { text: String::new(), added, removed, is_cut: false };
    if changes.iter().any(|changes| !changes.is_empty()) {
        let _ = write!(diff.text, "--- a/{path}\n+++ b/{path}\n");
    }
    let mut shift = 0;
    for (region, changes) in regions.iter().zip(&changes) {
        region.both(old).write(&mut diff, changes, shift, MAX_DIFF_BYTES);
        shift += changes.iter().map(Change::growth).sum::<isize>();
    }
    diff
}

/// Whole lines of a file in which some of its parts are replaced.
struct Region {
    old: Range<usize>,
    /// Number of lines before the region.
    line: usize,
    new: Vec<u8>,
}

impl Region {
    /// Returns the region around splices that are near each other; regions must be requested in order.
    fn around(file: &[u8], splices: &[Splice], numbers: &mut LineNumbers<'_>) -> Self {
        let first = splices.first().map_or(0, |splice| splice.range.start);
        let last = splices.last().map_or(first, |splice| splice.range.end);
        let (from, to) = (line_start(&file[..first]), last + line_end(&file[last..]));
        let within = splices.iter().map(|splice| {
            let range = splice.range.start - from..splice.range.end - from;
            Splice { range, text: splice.text.clone() }
        });
        let within: Vec<Splice> = within.collect();
        Self { old: from..to, line: numbers.of(from) - 1, new: splice(&file[from..to], &within) }
    }

    fn both<'a>(&'a self, file: &'a [u8]) -> Both<'a> {
        Both {
            old: &file[self.old.clone()],
            new: &self.new,
            whole: file,
            from: self.old.start,
            line: self.line,
        }
    }
}

/// Returns the equal lines of `old` and `new`, as pairs of ranges of equal length. Lines are compared by `key`.
pub(crate) fn same_lines<'a, K: Eq + std::hash::Hash>(
    old: &[&'a [u8]],
    new: &[&'a [u8]],
    key: impl Fn(&'a [u8]) -> K,
) -> Vec<(Range<usize>, Range<usize>)> {
    let keys = |lines: &[&'a [u8]]| lines.iter().map(|line| key(line)).collect::<Vec<K>>();
    let (old, new) = (keys(old), keys(new));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(Instant::now() + TIME));
    let same = ops.iter().filter(|op| matches!(op, DiffOp::Equal { .. }));
    same.map(|op| (op.old_range(), op.new_range())).collect()
}

/// The lines of a content, each with its ending.
pub(crate) fn split(content: &[u8]) -> Vec<&[u8]> {
    lines(content).collect()
}

/// The same, one after the other.
fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = content;
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let (line, after) = rest.split_at(end);
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

/// Returns the number of lines in a content.
pub(super) fn count_lines(content: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', content).count()
        + usize::from(content.last().is_some_and(|last| *last != b'\n'))
}

/// Both contents, or the part of both that may differ.
struct Both<'a> {
    old: &'a [u8],
    new: &'a [u8],
    /// All that is old, and where in it `old` begins.
    whole: &'a [u8],
    from: usize,
    /// Number of lines before `old`.
    line: usize,
}

/// Removed lines, and the lines that replace them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    old: Part,
    new: Part,
}

/// Consecutive lines of a content.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    /// Counted from 0.
    lines: Range<usize>,
    bytes: Range<usize>,
}

impl Change {
    /// Returns the difference in the number of lines.
    fn growth(&self) -> isize {
        self.new.lines.len().cast_signed() - self.old.lines.len().cast_signed()
    }
}

impl Part {
    /// Returns the part that begins at the end of this one, with the given numbers of lines and bytes.
    fn next(&self, lines: usize, bytes: usize) -> Self {
        Self { lines: self.lines.end..self.lines.end + lines, bytes: self.bytes.end..self.bytes.end + bytes }
    }
}

/// State of the search for changes; both sides are compared up to here.
struct Walk<'a> {
    old: &'a [u8],
    new: &'a [u8],
    changes: Vec<Change>,
    /// The parts compared last.
    last: Change,
    /// Number of remaining lines on each side.
    left: [usize; 2],
    until: Instant,
}

impl Both<'_> {
    /// Adds the hunks of the changes; `shift` is the number of lines by which the new file is longer before them.
    fn write(&self, diff: &mut Diff, changes: &[Change], shift: isize, most_bytes: usize) {
        let is_near = |one: &Change, next: &Change| next.old.lines.start - one.old.lines.end <= 2 * CONTEXT;
        for hunk in changes.chunk_by(is_near) {
            if diff.is_cut {
                break;
            }
            self.write_hunk(diff, hunk, shift, most_bytes);
        }
    }

    /// Returns the changes in order; between two of them there is a line that stays.
    fn changes(&self) -> Vec<Change> {
        let Self { old, new, line, .. } = *self;
        // Most changes are small: the common start and end are skipped first.
        let start = line_start(&old[..same_start(old, new)]);
        let end = same_end(&old[start..], &new[start..]);
        let end = end - line_end(&old[old.len() - end..]);
        let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
        let lines = line + memchr::memchr_iter(b'\n', &old[..start]).count();
        let before = Part { lines: 0..lines, bytes: 0..start };
        let mut walk = Walk {
            old,
            new,
            changes: Vec::new(),
            left: [count_lines(&old[start..]), count_lines(&new[start..])],
            last: Change { old: before.clone(), new: before },
            until: Instant::now() + TIME,
        };
        while walk.step() {}
        walk.changes
    }

    fn write_hunk(&self, diff: &mut Diff, hunk: &[Change], shift: isize, most_bytes: usize) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
        let before = &self.whole[..self.from + first.old.bytes.start];
        let before = &before[back(before, CONTEXT)..];
        let after = &self.whole[self.from + last.old.bytes.end..];
        let after = &after[..ahead(after, CONTEXT)];
        let (more_before, more_after) = (count_lines(before), count_lines(after));
        let whole = |first: &Part, last: &Part| first.lines.start - more_before..last.lines.end + more_after;
        let (old, new) = (whole(&first.old, &last.old), whole(&first.new, &last.new));
        let new = new.start.saturating_add_signed(shift)..new.end.saturating_add_signed(shift);
        let _ = writeln!(diff.text, "@@ -{} +{} @@", numbers(&old), numbers(&new));
        write_lines(diff, ' ', before, most_bytes);
        for (index, change) in hunk.iter().enumerate() {
            write_lines(diff, '-', &self.old[change.old.bytes.clone()], most_bytes);
            write_lines(diff, '+', &self.new[change.new.bytes.clone()], most_bytes);
            let between = hunk.get(index + 1).map(|next| change.old.bytes.end..next.old.bytes.start);
            write_lines(diff, ' ', between.map_or(after, |between| &self.old[between]), most_bytes);
        }
    }
}

impl<'a> Walk<'a> {
    fn rest(&self) -> [&'a [u8]; 2] {
        [&self.old[self.last.old.bytes.end..], &self.new[self.last.new.bytes.end..]]
    }

    /// Advances to the end of the next change; false at the end of both sides.
    fn step(&mut self) -> bool {
        let [old, new] = self.rest();
        let same = line_start(&old[..same_start(old, new)]);
        let lines = count_lines(&old[..same]);
        self.pass([lines, lines], [same, same]);
        let [old, new] = self.rest();
        if old.is_empty() && new.is_empty() {
            return false;
        }
        // No test covers the exact limit: either way finds such a change, and only the speed differs.
        let is_much = self.left.into_iter().max() > Some(MANY_LINES);
        if is_much && self.changes.len() < MAX_CHANGES {
            // No test covers the sum: `over` looks at no more lines, so with more the result is the same.
            let near = |rest: &'a [u8]| lines_of(rest, FARTHEST + ANCHOR);
            let (old, new) = (near(old), near(new));
            if let Some((until_old, until_new)) = over(&old, &new) {
                self.compare(&old[..until_old], &new[..until_new]);
                return true;
            }
        }
        if self.changes.len() < MAX_CHANGES && self.left.into_iter().max() <= Some(MAX_LINES) {
            self.compare(&split(old), &split(new));
        } else {
            self.change(self.left, [old.len(), new.len()]);
        }
        true
    }

    /// Finds the changes among the next lines of both sides.
    fn compare(&mut self, old: &[&[u8]], new: &[&[u8]]) {
        let bytes = |lines: &[&[u8]]| lines.iter().map(|line| line.len()).sum::<usize>();
        for op in capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(self.until)) {
            let (gone, come) = (&old[op.old_range()], &new[op.new_range()]);
            let (lines, bytes) = ([gone.len(), come.len()], [bytes(gone), bytes(come)]);
            if matches!(op, DiffOp::Equal { .. }) {
                self.pass(lines, bytes);
            } else {
                self.change(lines, bytes);
            }
        }
    }

    /// Skips the given numbers of lines and bytes on each side.
    fn pass(&mut self, lines: [usize; 2], bytes: [usize; 2]) {
        let Change { old, new } = &self.last;
        self.last = Change { old: old.next(lines[0], bytes[0]), new: new.next(lines[1], bytes[1]) };
        self.left = [self.left[0] - lines[0], self.left[1] - lines[1]];
    }

    /// The same, of lines that change.
    fn change(&mut self, lines: [usize; 2], bytes: [usize; 2]) {
        self.pass(lines, bytes);
        self.changes.push(self.last.clone());
    }
}

/// A range of lines as a hunk states it.
fn numbers(range: &Range<usize>) -> String {
    match range.len() {
        1 => format!("{}", range.start + 1),
        // For an empty range, the header names the line before.
        0 => format!("{},0", range.start),
        count => format!("{},{count}", range.start + 1),
    }
}

/// Adds lines with a sign before each, as long as there is room.
fn write_lines(diff: &mut Diff, sign: char, content: &[u8], most_bytes: usize) {
    for line in lines(content) {
        if diff.is_cut {
            return;
        }
        // The sign takes room too, and invalid UTF-8 takes more room than it has bytes. Only as much is examined as there is
        // room for.
        let room = most_bytes.saturating_sub(diff.text.len());
        let text = String::from_utf8_lossy(&line[..line.len().min(room)]);
        if text.len() >= room {
            diff.is_cut = true;
            let Diff { added, removed, .. } = diff;
            let rest = format!(
                "[… the rest of the diff is left out; in all {added} lines are new and {removed} gone]\n"
            );
            diff.text.push_str(&rest);
            return;
        }
        diff.text.push(sign);
        diff.text.push_str(&text);
        if !line.ends_with(b"\n") {
            diff.text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// After how many lines of each side a change is over: both go on alike from there.
fn over<T: Eq>(old: &[T], new: &[T]) -> Option<(usize, usize)> {
    let goes_on = |at_old: usize, at_new: usize| {
        let (Some(old), Some(new)) = (old.get(at_old..at_old + ANCHOR), new.get(at_new..at_new + ANCHOR))
        else {
            return false;
        };
        old == new
    };
    let pairs = (1..FARTHEST).flat_map(|both| (0..=both).map(move |at_old| (at_old, both - at_old)));
    pairs.into_iter().find(|(at_old, at_new)| goes_on(*at_old, *at_new))
}

/// Returns the number of equal pairs at the beginning, at most `most`.
fn common<T: Eq>(pairs: impl Iterator<Item = (T, T)>, most: usize) -> usize {
    pairs.take(most).take_while(|(one, other)| one == other).count()
}

/// Returns the number of equal bytes at the beginning.
fn same_start(old: &[u8], new: &[u8]) -> usize {
    let blocks = old.chunks_exact(BLOCK).zip(new.chunks_exact(BLOCK));
    let same = BLOCK * blocks.take_while(|(old, new)| old == new).count();
    same + common(old[same..].iter().zip(&new[same..]), BLOCK)
}

/// Returns the number of equal bytes at the end.
fn same_end(old: &[u8], new: &[u8]) -> usize {
    let blocks = old.rchunks_exact(BLOCK).zip(new.rchunks_exact(BLOCK));
    let same = BLOCK * blocks.take_while(|(old, new)| old == new).count();
    let rest = |content: &[u8]| content.len() - same;
    common(old[..rest(old)].iter().rev().zip(new[..rest(new)].iter().rev()), BLOCK) + same
}

/// Returns the start of the last line in `bytes`, which is partial unless `bytes` ends with a line feed.
fn line_start(bytes: &[u8]) -> usize {
    memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1)
}

/// Returns the end of the first line in `bytes`, which may be partial.
fn line_end(bytes: &[u8]) -> usize {
    memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)
}

/// Returns the start of the last `lines` lines.
fn back(bytes: &[u8], lines: usize) -> usize {
    memchr::memrchr_iter(b'\n', bytes).nth(lines).map_or(0, |end| end + 1)
}

/// Returns the end of the first `lines` lines.
fn ahead(bytes: &[u8], lines: usize) -> usize {
    memchr::memchr_iter(b'\n', bytes).nth(lines - 1).map_or(bytes.len(), |end| end + 1)
}

/// Returns the first `count` lines.
fn lines_of(bytes: &[u8], count: usize) -> Vec<&[u8]> {
    lines(bytes).take(count).collect()
}

#[cfg(test)]
mod tests;
