//! What one call of `edit` changes in a file: all of its replacements against the original, or none.

use super::locate::{Located, Miss, locate};
use super::rewrite::{NotIndented, rewrite};
use crate::fs::fold::Looseness;
use crate::fs::splice::{LineNumbers, Splice};
use std::ops::Range;

/// The most places that one call replaces.
pub(super) const MOST_PLACES: usize = 1_000_000;
/// The most bytes that a file has after an edit.
pub(crate) const MOST_BYTES: usize = 256 << 20;

/// A text and what comes in its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replacement<'a> {
    /// The text that goes.
    pub(crate) old: &'a str,
    /// The text that comes.
    pub(crate) new: &'a str,
    /// Whether it is replaced in all of its places.
    pub(crate) all: bool,
}

/// What changes in a file.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The parts that are replaced, in order.
    pub(crate) splices: Vec<Splice>,
    /// What became of each replacement.
    pub(crate) parts: Vec<Part>,
}

/// What became of a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// What was overlooked to find its text.
    pub(crate) looseness: Looseness,
    /// In how many places its text is replaced.
    pub(crate) count: usize,
    /// The bytes of the first place in the original.
    pub(crate) first: Range<usize>,
    /// The line of the original on which the first place begins, counted from 1.
    pub(crate) line: usize,
}

/// Why nothing changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlanError {
    /// The replacement that it is about, counted from 0.
    pub(crate) index: usize,
    /// What is wrong with it.
    pub(crate) problem: Problem,
}

/// What is wrong with a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// There is no text that goes.
    Empty,
    /// What comes is what goes.
    Identical,
    /// The text that goes is not in one place.
    Miss(Miss),
    /// The text was found with another indentation, and a line of what comes cannot be indented alike.
    NotIndented {
        /// The line on which the text begins.
        line: usize,
        /// The line of what comes, counted from 1.
        new_line: usize,
    },
    /// It changes the same place as another replacement.
    Overlaps {
        /// The other one, counted from 0.
        other: usize,
        /// The line of the original.
        line: usize,
    },
    /// The file would become too large.
    TooLarge,
    /// The file would stay as it is.
    NothingChanges,
}

/// What changes in a file: all of the replacements, or none.
///
/// # Errors
///
/// What is wrong with the first replacement with which anything is.
pub(crate) fn plan(file: &[u8], replacements: &[Replacement<'_>]) -> Result<Plan, PlanError> {
    let mut places: Vec<(Range<usize>, usize)> = Vec::new();
    let mut splices = Vec::new();
    let mut parts = Vec::new();
    let mut size = file.len();
    for (index, replacement) in replacements.iter().enumerate() {
        let wrong = |problem| PlanError { index, problem };
        if replacement.old.is_empty() {
            return Err(wrong(Problem::Empty));
        }
        if replacement.old == replacement.new {
            return Err(wrong(Problem::Identical));
        }
        let open;
        let (found, replacement) = match locate(file, replacement.old, replacement.all) {
            Ok(found) => (found, replacement),
            Err(miss) => {
                open = open_ended(file, replacement);
                let found = open.as_ref().and_then(|open| at_end(file, open));
                let Some((found, open)) = found.zip(open.as_ref()) else {
                    return Err(wrong(Problem::Miss(miss)));
                };
                (found, open)
            }
        };
        // A line feed can become a whole line ending, and new lines are indented by no more than the file is.
        let indentation = found.reindent.as_ref().map_or(0, |_| replacement.new.lines().count() * 128);
        let more = found.ranges.len().saturating_mul(replacement.new.len() * 2 + indentation);
        size = size.saturating_add(more);
        if size > MOST_BYTES || found.ranges.len() + places.len() > MOST_PLACES {
            return Err(wrong(Problem::TooLarge));
        }
        let part = part(file, &found);
        let rewritten = rewrite(file, replacement, &found)
            .map_err(|NotIndented(new_line)| wrong(Problem::NotIndented { line: part.line, new_line }))?;
        splices.extend(rewritten);
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

/// A replacement of lines without the line ending that its last line has and the last line of the file has not.
fn open_ended<'a>(file: &[u8], replacement: &Replacement<'a>) -> Option<Replacement<'a>> {
    let without = |text: &'a str| text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n'));
    // A last line without text says too little of where it is.
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
    Part { looseness: found.looseness, count: found.ranges.len(), first, line }
}
