//! The changes of one call of `edit` in a file: all of its replacements against the original, or none.

use super::first_line::widen;
use super::frame::{Frame, Unclear};
use super::locate::{Located, MAX_PLACES, Miss, locate};
use super::replacement::Replacement;
use super::rewrite::{Rewritten, rewrite};
use crate::fs::fold::Looseness;
use crate::fs::returns::Returns;
use crate::fs::splice::{LineNumbers, Splice};
use std::ops::Range;

/// Maximum number of bytes that a file has after an edit.
pub(crate) const MAX_BYTES: usize = 256 << 20;

/// The changes in a file.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The parts that are replaced, in order.
    pub(crate) splices: Vec<Splice>,
    /// The result of each replacement.
    pub(crate) parts: Vec<Part>,
}

/// The result of a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The differences that were overlooked to find its text.
    pub(crate) looseness: Looseness,
    /// Number of replaced matches.
    pub(crate) count: usize,
    /// The bytes of the first place in the original.
    pub(crate) first: Range<usize>,
    /// The line of the original on which the first place begins, counted from 1.
    pub(crate) line: usize,
    /// True if the parts that are equal in the old and the new text are kept as they are in the file.
    pub(crate) is_minimal: bool,
    /// The frame that the new text's indentation followed, if the old text's indentation differs from the file's.
    pub(crate) frame: Option<Frame>,
}

/// The reason for which nothing changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlanError {
    /// Index of the replacement, counted from 0.
    pub(crate) index: usize,
    /// The problem.
    pub(crate) problem: Problem,
}

/// A problem with a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The old text is empty.
    Empty,
    /// The new text is the old text.
    Identical,
    /// The old text does not have exactly one match.
    Miss(Miss),
    /// The text was found with another indentation, and the indentation of a new line is ambiguous.
    NotIndented {
        /// The line on which the text begins.
        line: usize,
        /// The new line, counted from 1.
        new_line: usize,
    },
    /// The replacement changes the same place as another one.
    Overlaps {
        /// The other one, counted from 0.
        other: usize,
        /// The line of the original.
        line: usize,
    },
    /// The file would become too large.
    TooLarge,
    /// The file would be unchanged.
    NothingChanges,
}

/// Plans the changes in a file: all of the replacements, or none.
///
/// # Errors
///
/// The problem with the first replacement that has one.
pub(crate) fn plan(file: &[u8], replacements: &[Replacement<'_>]) -> Result<Plan, PlanError> {
    let mut places: Vec<(Range<usize>, usize)> = Vec::new();
    let mut splices = Vec::new();
    let mut parts = Vec::new();
    let mut size = file.len();
    let returns = Returns::of(file);
    for (index, replacement) in replacements.iter().enumerate() {
        let wrong = |problem| PlanError { index, problem };
        if replacement.old.is_empty() {
            return Err(wrong(Problem::Empty));
        }
        if replacement.old == replacement.new {
            return Err(wrong(Problem::Identical));
        }
        let alone = returns.as_ref().filter(|_| !knows_returns(replacement));
        let has_lines = replacement.old.contains('\n') || replacement.new.contains('\n');
        let mut seen = alone.filter(|returns| returns.is_all && has_lines);
        let mut found = find(with_line_feeds(file, seen), replacement);
        if found == Err(Miss::Absent) && seen.is_none() && alone.is_some() {
            seen = alone;
            found = find(with_line_feeds(file, seen), replacement);
        }
        let file = with_line_feeds(file, seen);
        let (mut found, mut replacement) = found.map_err(|miss| wrong(Problem::Miss(miss)))?;
        // A line feed can become a whole line ending, and new lines are indented by no more than the file is.
        let indentation = found.reindent.as_ref().map_or(0, |_| replacement.new.lines().count() * 128);
        let more = found.ranges.len().saturating_mul(replacement.new.len() * 2 + indentation);
        size = size.saturating_add(more);
        if size > MAX_BYTES || found.ranges.len() + places.len() > MAX_PLACES {
            return Err(wrong(Problem::TooLarge));
        }
        let mut part = part(file, &found);
        let not_indented = |Unclear(new)| wrong(Problem::NotIndented { line: part.line, new_line: new + 1 });
        let missing = widen(file, &mut found, &replacement).map_err(not_indented)?;
        let whole_old = missing.map(|missing| missing + replacement.old);
        if let Some(old) = &whole_old {
            replacement.old = old;
        }
        let Rewritten { splices: rewritten, is_minimal, frame } =
            rewrite(file, &replacement, &found).map_err(not_indented)?;
        (part.is_minimal, part.frame) = (is_minimal, frame);
        if whole_old.is_some() {
            part.first.start = found.ranges[0].start;
            (part.looseness, part.frame) = (Looseness::Indentation, Some(Frame::File));
        }
        splices.extend(rewritten.into_iter().map(|(place, splice)| match seen {
            Some(returns) => (place, returns.restore(splice)),
            None => (place, splice),
        }));
        parts.push(part);
        places.extend(found.ranges.into_iter().map(|range| (range, index)));
    }
    places.sort_by_key(|(range, _)| range.start);
    if let Some(pair) = places.windows(2).find(|pair| pair[0].0.end > pair[1].0.start) {
        let (other, index) = (pair[0].1.min(pair[1].1), pair[0].1.max(pair[1].1));
        let line = LineNumbers::new(file).of(pair[1].0.start);
        return Err(PlanError { index, problem: Problem::Overlaps { other, line } });
    }
    splices.sort_by_key(|(place, splice)| (*place, splice.range.start));
    let mut splices: Vec<Splice> = splices.into_iter().map(|(_, splice)| splice).collect();
    splices.retain(|splice| file[splice.range.clone()] != splice.text);
    if splices.is_empty() {
        return Err(PlanError { index: 0, problem: Problem::NothingChanges });
    }
    Ok(Plan { splices, parts })
}

/// Returns true if a replacement states its carriage returns itself.
fn knows_returns(replacement: &Replacement<'_>) -> bool {
    replacement.old.contains('\r') || replacement.new.contains('\r')
}

/// Returns the file in the form that is searched.
fn with_line_feeds<'a>(file: &'a [u8], returns: Option<&'a Returns<'_>>) -> &'a [u8] {
    returns.map_or(file, |returns| &returns.with_line_feeds)
}

/// Finds the old text; at the end of a file without a final line feed, the last line feed of the replacement may be
/// missing.
fn find<'a>(file: &[u8], replacement: &Replacement<'a>) -> Result<(Located, Replacement<'a>), Miss> {
    locate(file, replacement.old, replacement.all).map(|found| (found, *replacement)).or_else(|miss| {
        let open = open_ended(file, replacement);
        open.and_then(|open| Some((at_end(file, &open)?, open))).ok_or(miss)
    })
}

/// A replacement of lines without the line ending that its last line has and the last line of the file has not.
fn open_ended<'a>(file: &[u8], replacement: &Replacement<'a>) -> Option<Replacement<'a>> {
    let without = |text: &'a str| text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n'));
    // A last line that is blank is not specific enough.
    let has_last_line = |old: &&str| old.rsplit('\n').next().is_some_and(|line| !line.trim().is_empty());
    let old = without(replacement.old).filter(has_last_line).filter(|_| !file.ends_with(b"\n"))?;
    Some(Replacement { old, new: without(replacement.new).unwrap_or(replacement.new), all: false })
}

/// The only place of a text, if that is the end of the file.
fn at_end(file: &[u8], replacement: &Replacement<'_>) -> Option<Located> {
    let mut found = locate(file, replacement.old, false).ok()?;
    let end = found.ranges.last()?.end;
    found.looseness = found.looseness.max(Looseness::Endings);
    file[end..].iter().all(|byte| matches!(byte, b' ' | b'\t')).then_some(found)
}

fn part(file: &[u8], found: &Located) -> Part {
    let first = found.ranges[0].clone();
    let line = LineNumbers::new(file).of(first.start);
    let (looseness, count) = (found.looseness, found.ranges.len());
    Part { looseness, count, first, line, is_minimal: true, frame: None }
}
