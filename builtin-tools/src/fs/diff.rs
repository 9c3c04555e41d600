//! Unified diffs, bounded in size and time whatever is compared.

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};
use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

/// How many unchanged lines stand around a change.
const CONTEXT: usize = 3;
/// How many bytes a diff has at most, unless it is asked for another number. More than a person reads.
pub(crate) const MAX_DIFF_BYTES: usize = 200 * 1024;
/// How long it is looked for a short diff; then what is left is one change.
const TIME: Duration = Duration::from_millis(300);
/// Above so many lines between one change and the next that is certain, it is not looked for a short diff.
const MOST_LINES: usize = 400_000;
/// From so many lines on, what stays between changes is looked for first: line by line, which is quicker than to compare each
/// with all.
const MANY_LINES: usize = 5_000;
/// How many lines in a row have to be the same after a change, for it to be over.
const ANCHOR: usize = 16;
/// Within how many lines, of both sides together, a change has to be over to be found so.
const FARTHEST: usize = 256;
/// How many bytes are compared at once.
const BLOCK: usize = 4 * 1024;

/// What changed from one content to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diff {
    /// A unified diff; empty where nothing changed.
    pub(crate) text: String,
    /// How many lines are new.
    pub(crate) added: usize,
    /// How many lines are gone.
    pub(crate) removed: usize,
    /// Whether `text` ends before the last change, and says so.
    pub(crate) is_cut: bool,
}

/// The unified diff of a file. `None` is a file that is not there.
pub(crate) fn diff(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> Diff {
    diff_within(path, old, new, MAX_DIFF_BYTES)
}

/// The same, of at most so many bytes.
pub(crate) fn diff_within(path: &str, old: Option<&[u8]>, new: Option<&[u8]>, most_bytes: usize) -> Diff {
    let name =
        |side: &str, there: bool| if there { format!("{side}/{path}") } else { "/dev/null".to_owned() };
    let (from, to) = (name("a", old.is_some()), name("b", new.is_some()));
    let lines = Lines::of(old.unwrap_or_default(), new.unwrap_or_default());
    let ops = lines.compare();
    let (mut added, mut removed) = (0, 0);
    for op in &ops {
        if !matches!(op, DiffOp::Equal { .. }) {
            removed += op.old_range().len();
            added += op.new_range().len();
        }
    }
    let mut diff = Diff { text: String::new(), added, removed, is_cut: false };
    if added + removed == 0 && old.is_some() == new.is_some() {
        return diff;
    }
    let _ = write!(diff.text, "--- {from}\n+++ {to}\n");
    for hunk in group_diff_ops(ops, CONTEXT) {
        lines.write_hunk(&mut diff, &hunk, most_bytes);
        if diff.is_cut {
            break;
        }
    }
    diff
}

/// Which lines of `old` and `new` are the same ones, as ranges of lines of equal length. Lines are compared by `key`.
pub(crate) fn same_lines<'a, K: Eq + std::hash::Hash>(
    old: &[&'a [u8]],
    new: &[&'a [u8]],
    key: impl Fn(&'a [u8]) -> K,
) -> Vec<(Range<usize>, Range<usize>)> {
    let keys = |lines: &[&'a [u8]]| lines.iter().map(|line| key(line)).collect::<Vec<K>>();
    let (old, new) = (keys(old), keys(new));
    let ops = compare(&old, &new);
    let same = ops.iter().filter(|op| matches!(op, DiffOp::Equal { .. }));
    same.map(|op| (op.old_range(), op.new_range())).collect()
}

/// The lines of a content, each with its ending.
pub(crate) fn split(content: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', content) {
        lines.push(&content[start..=end]);
        start = end + 1;
    }
    if start < content.len() {
        lines.push(&content[start..]);
    }
    lines
}

/// Both contents by lines, of which those that begin or end both are only counted, but for a few around the rest.
struct Lines<'a> {
    /// How many lines came before those that are here.
    before: usize,
    old: Vec<&'a [u8]>,
    new: Vec<&'a [u8]>,
}

impl<'a> Lines<'a> {
    fn of(old: &'a [u8], new: &'a [u8]) -> Self {
        let start = same_start(old, new);
        // A little more than is the same, so that there is context.
        let start = back(&old[..start], CONTEXT);
        let end = same_end(&old[start..], &new[start..]);
        let end = end - ahead(&old[old.len() - end..], CONTEXT);
        let before = memchr::memchr_iter(b'\n', &old[..start]).count();
        Self { before, old: split(&old[start..old.len() - end]), new: split(&new[start..new.len() - end]) }
    }

    fn compare(&self) -> Vec<DiffOp> {
        compare(&self.old, &self.new)
    }

    fn write_hunk(&self, diff: &mut Diff, hunk: &[DiffOp], most_bytes: usize) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
        let old = first.old_range().start..last.old_range().end;
        let new = first.new_range().start..last.new_range().end;
        let _ = writeln!(diff.text, "@@ -{} +{} @@", self.numbers(&old), self.numbers(&new));
        for op in hunk {
            let (sign, lines) = match op {
                DiffOp::Equal { .. } => (' ', &self.old[op.old_range()]),
                _ => ('-', &self.old[op.old_range()]),
            };
            write_lines(diff, sign, lines, most_bytes);
            if !matches!(op, DiffOp::Equal { .. }) {
                write_lines(diff, '+', &self.new[op.new_range()], most_bytes);
            }
            if diff.is_cut {
                return;
            }
        }
    }

    /// A range of lines as a hunk states it.
    fn numbers(&self, range: &Range<usize>) -> String {
        let start = self.before + range.start;
        match range.len() {
            1 => format!("{}", start + 1),
            // Where nothing is, the line before is named.
            0 => format!("{start},0"),
            count => format!("{},{count}", start + 1),
        }
    }
}

/// Adds lines with a sign before each, as long as there is room.
fn write_lines(diff: &mut Diff, sign: char, lines: &[&[u8]], most_bytes: usize) {
    for line in lines {
        if diff.is_cut {
            return;
        }
        if diff.text.len() + line.len() > most_bytes {
            diff.is_cut = true;
            let Diff { added, removed, .. } = diff;
            let rest = format!(
                "[… the rest of the diff is left out; in all {added} lines are new and {removed} gone]\n"
            );
            diff.text.push_str(&rest);
            return;
        }
        diff.text.push(sign);
        diff.text.push_str(&String::from_utf8_lossy(line));
        if !line.ends_with(b"\n") {
            diff.text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn compare<T: Eq + std::hash::Hash>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let until = Instant::now() + TIME;
    if old.len().max(new.len()) < MANY_LINES {
        return short(old, new, until);
    }
    step_by_step(old, new, until)
}

/// Goes through both sides at once, and looks for the shortest changes only where they differ.
fn step_by_step<T: Eq + std::hash::Hash>(old: &[T], new: &[T], until: Instant) -> Vec<DiffOp> {
    let mut ops = Vec::new();
    let (mut from_old, mut from_new) = (0, 0);
    loop {
        let (rest_old, rest_new) = (&old[from_old..], &new[from_new..]);
        let len = common(rest_old.iter().zip(rest_new), rest_old.len());
        push(&mut ops, DiffOp::Equal { old_index: from_old, new_index: from_new, len });
        (from_old, from_new) = (from_old + len, from_new + len);
        let (rest_old, rest_new) = (&old[from_old..], &new[from_new..]);
        if rest_old.is_empty() && rest_new.is_empty() {
            return ops;
        }
        let (until_old, until_new) = over(rest_old, rest_new).unwrap_or((rest_old.len(), rest_new.len()));
        let change = short(&rest_old[..until_old], &rest_new[..until_new], until);
        change.into_iter().for_each(|op| push(&mut ops, moved(op, from_old, from_new)));
        (from_old, from_new) = (from_old + until_old, from_new + until_new);
    }
}

/// Adds an operation; what stays after what stays is one.
fn push(ops: &mut Vec<DiffOp>, op: DiffOp) {
    match (ops.last_mut(), op) {
        (_, DiffOp::Equal { len: 0, .. }) => {}
        (Some(DiffOp::Equal { len, .. }), DiffOp::Equal { len: more, .. }) => *len += more,
        (_, op) => ops.push(op),
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

fn moved(op: DiffOp, by_old: usize, by_new: usize) -> DiffOp {
    match op {
        DiffOp::Equal { old_index, new_index, len } => {
            DiffOp::Equal { old_index: old_index + by_old, new_index: new_index + by_new, len }
        }
        DiffOp::Delete { old_index, old_len, new_index } => {
            DiffOp::Delete { old_index: old_index + by_old, old_len, new_index: new_index + by_new }
        }
        DiffOp::Insert { old_index, new_index, new_len } => {
            DiffOp::Insert { old_index: old_index + by_old, new_index: new_index + by_new, new_len }
        }
        DiffOp::Replace { old_index, old_len, new_index, new_len } => {
            DiffOp::Replace { old_index: old_index + by_old, old_len, new_index: new_index + by_new, new_len }
        }
    }
}

/// The shortest changes, as far as there is time to look for them.
fn short<T: Eq + std::hash::Hash>(old: &[T], new: &[T], until: Instant) -> Vec<DiffOp> {
    if old.len().max(new.len()) > MOST_LINES {
        return at_once(old, new);
    }
    capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(until))
}

/// All that is between the first change and the last as one.
fn at_once<T: Eq>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let both = old.len().min(new.len());
    let start = common(old.iter().zip(new), both);
    let end = common(old.iter().rev().zip(new.iter().rev()), both - start);
    let (old_len, new_len) = (old.len() - start - end, new.len() - start - end);
    let mut ops = Vec::new();
    if start > 0 {
        ops.push(DiffOp::Equal { old_index: 0, new_index: 0, len: start });
    }
    if old_len + new_len > 0 {
        ops.push(DiffOp::Replace { old_index: start, old_len, new_index: start, new_len });
    }
    if end > 0 {
        ops.push(DiffOp::Equal { old_index: start + old_len, new_index: start + new_len, len: end });
    }
    ops
}

/// How many pairs at the beginning are equal, of at most `most`.
fn common<T: Eq>(pairs: impl Iterator<Item = (T, T)>, most: usize) -> usize {
    pairs.take(most).take_while(|(one, other)| one == other).count()
}

/// How many bytes at the beginning are the same.
fn same_start(old: &[u8], new: &[u8]) -> usize {
    let blocks = old.chunks_exact(BLOCK).zip(new.chunks_exact(BLOCK));
    let same = BLOCK * blocks.take_while(|(old, new)| old == new).count();
    same + common(old[same..].iter().zip(&new[same..]), BLOCK)
}

/// How many bytes at the end are the same.
fn same_end(old: &[u8], new: &[u8]) -> usize {
    let blocks = old.rchunks_exact(BLOCK).zip(new.rchunks_exact(BLOCK));
    let same = BLOCK * blocks.take_while(|(old, new)| old == new).count();
    let rest = |content: &[u8]| content.len() - same;
    common(old[..rest(old)].iter().rev().zip(new[..rest(new)].iter().rev()), BLOCK) + same
}

/// Where the line begins that is so many lines before the one that `bytes` ends in.
fn back(bytes: &[u8], lines: usize) -> usize {
    memchr::memrchr_iter(b'\n', bytes).nth(lines).map_or(0, |end| end + 1)
}

/// Where the line ends that is so many lines after the one that `bytes` begins in.
fn ahead(bytes: &[u8], lines: usize) -> usize {
    memchr::memchr_iter(b'\n', bytes).nth(lines).map_or(bytes.len(), |end| end + 1)
}

#[cfg(test)]
mod tests;
