//! Location of the hunks of a patch in a file.
//!
//! A hunk is located by its old lines: by exact comparison, or, if they are not found, by increasingly loose ones. If they are
//! in several places, the following decide, in this order, and nothing else does: the line number that the patch states, if
//! they are right there; `*** End of File`, if they are there; that a hunk comes after the one before it; and the blocks that
//! begin with the lines named after `@@`. If several places remain, it is an error, and so is a place before the named lines.

use super::lines::{Block, Budget, Index, Level, Lines};
use super::patch::{Hunk, Sign};
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of places that are named.
const MAX_NAMED: usize = 10;
/// Maximum number of blocks that are looked into.
const MAX_BLOCKS: usize = 1_000;

/// Location of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    /// The first of its lines in the file, counted from 0.
    pub(super) at: usize,
    pub(super) level: Level,
    /// Number of blank lines at the end of the hunk that the file lacks: the hunk ends before them.
    pub(super) missing: usize,
}

/// The reason for which a hunk cannot be located.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Misplaced {
    /// The old lines are not in the file.
    Absent,
    /// The old lines are in several places.
    Ambiguous {
        /// Looseness of the comparison.
        level: Level,
        /// The first lines of the first few, counted from 1.
        lines: Vec<usize>,
    },
    /// The hunk has no old lines, and the line named after `@@` is absent, or comes before the changes of the previous hunk.
    NoAnchor,
    /// An anchor is absent, or not after the anchors before it, though the old lines may be in the file.
    AnchorAbsent {
        /// Index of the anchor, counted from 0.
        anchor: usize,
    },
    /// The old lines are only before the line named after `@@`.
    BeforeAnchor {
        /// Line at which the old lines begin, counted from 1.
        line: usize,
        /// The first line that it names.
        anchor: usize,
    },
    /// The old lines are present with another indentation, and no single rule determines the indentation of the new lines.
    Indented {
        /// Line at which they begin, counted from 1.
        line: usize,
    },
    /// The file has too many lines that are alike.
    TooAlike,
    /// The hunk changes the same lines as the one before.
    Overlaps,
}

/// Finds the places of the hunks of one file.
pub(super) struct Placer<'f, 'h> {
    lines: &'f Lines<'f>,
    hunks: &'h [Hunk<'h>],
    /// An index for each level, created on first use.
    indexes: [Option<Arc<Index>>; Level::ALL.len()],
    budget: Budget,
}

impl<'f, 'h> Placer<'f, 'h> {
    pub(super) fn new(lines: &'f Lines<'f>, hunks: &'h [Hunk<'h>]) -> Self {
        Self { lines, hunks, indexes: Default::default(), budget: Budget::new() }
    }

    /// Locates a hunk; the hunks before it end before the line `from`.
    pub(super) fn place(&mut self, hunk: &Hunk<'_>, from: usize) -> Result<Placed, Misplaced> {
        let old = hunk.old().count();
        if old == 0 {
            return self.place_new_lines(hunk, from);
        }
        // If all old lines may be padding, they are.
        if old == hunk.padding {
            return self.place_new_lines(&hunk.without_padding(), from);
        }
        let mut found = self.place_lines(hunk, from)?;
        // Without padding the same search would only fail twice, so no test covers the second condition.
        if found.is_none() && hunk.padding > 0 {
            found = self.place_lines(&hunk.without_padding(), from)?;
        }
        if found.is_none() {
            found = self.place_at_end(hunk, from)?;
        }
        match found {
            Some(placed) => self.check_anchors(hunk, placed.at + old - placed.missing).map(|()| placed),
            None => Err(Misplaced::Absent),
        }
    }

    /// Locates a hunk at the end of the file without its final blank lines, which the file does not have: some count the end
    /// after the last line ending as a line.
    fn place_at_end(&mut self, hunk: &Hunk<'_>, from: usize) -> Result<Option<Placed>, Misplaced> {
        let old = hunk.old().count();
        for missing in hunk.padding + 1..=hunk.padding + hunk.last_blanks {
            let shorter = hunk.without_last(missing);
            let placed = match old - missing {
                0 if !hunk.anchors.is_empty() || hunk.at.is_some() => None,
                0 => Some(self.place_new_lines(&shorter, from)?),
                _ => self.place_lines(&shorter, from)?,
            };
            if let Some(placed) = placed.filter(|placed| placed.at + old - missing == self.lines.count()) {
                return Ok(Some(Placed { missing, ..placed }));
            }
        }
        Ok(None)
    }

    /// Locates a hunk that only adds lines, without context.
    fn place_new_lines(&mut self, hunk: &Hunk<'_>, from: usize) -> Result<Placed, Misplaced> {
        let at = |at| Placed { at, level: Level::Endings, missing: 0 };
        let count = self.lines.count();
        if let Some(line) = hunk.at.filter(|line| *line <= count) {
            return self.check_anchors(hunk, line).map(|()| at(line));
        }
        if hunk.anchors.is_empty() || hunk.at_end {
            return self.check_anchors(hunk, count).map(|()| at(count));
        }
        let anchors = self.anchors(hunk).ok_or(Misplaced::NoAnchor)?;
        let after: Vec<usize> = anchors.iter().copied().filter(|&anchor| anchor + 1 >= from).collect();
        match after[..] {
            [anchor] => Ok(at(anchor + 1)),
            [] => Err(Misplaced::NoAnchor),
            _ => Err(ambiguous(Level::Trimmed, &after)),
        }
    }

    fn place_lines(&mut self, hunk: &Hunk<'_>, from: usize) -> Result<Option<Placed>, Misplaced> {
        let old: Vec<&str> = hunk.old().collect();
        let count = self.lines.count();
        // A hunk marked as being at the end is searched for there first, by any comparison.
        if let Some(at) = count.checked_sub(old.len()).filter(|_| hunk.at_end) {
            for level in Level::ALL {
                let block = Block::of(&old, self.index(level));
                if block.is_at(self.lines, at, &mut self.budget) {
                    return Ok(Some(Placed { at, level, missing: 0 }));
                }
            }
        }
        for level in Level::ALL {
            // Blank lines are everywhere once their content is ignored.
            if level > Level::Endings && old.iter().all(|line| line.trim().is_empty()) {
                break;
            }
            let block = Block::of(&old, self.index(level));
            let found_at = |at| Ok(Some(Placed { at, level, missing: 0 }));
            let is_at = |placer: &mut Self, at: usize| block.is_at(placer.lines, at, &mut placer.budget);
            if let Some(at) = hunk.at.and_then(|line| line.checked_sub(1))
                && at >= from
                && is_at(self, at)
            {
                return found_at(at);
            }
            let mut places = block.places(self.lines, from..count, MAX_NAMED, &mut self.budget);
            if places.is_empty() {
                // Some hunks come in another order.
                places = block.places(self.lines, 0..from, MAX_NAMED, &mut self.budget);
            }
            if self.budget.is_spent() {
                return Err(Misplaced::TooAlike);
            }
            match places[..] {
                [] => {}
                [at] => return found_at(at),
                _ => {
                    return match self.anchored(hunk, &block, from) {
                        Some(at) => found_at(at),
                        None => self.earliest(hunk).and(Err(ambiguous(level, &places))),
                    };
                }
            }
        }
        Ok(None)
    }

    /// Checks that the changes of a hunk come after its anchors, or that these are among its own lines, which end before the
    /// line `end`: otherwise the location would be wrong.
    fn check_anchors(&mut self, hunk: &Hunk<'_>, end: usize) -> Result<(), Misplaced> {
        match self.earliest(hunk)? {
            Some(anchor) if anchor >= end => {
                let line = end - hunk.old().count().min(end) + 1;
                Err(Misplaced::BeforeAnchor { line, anchor: anchor + 1 })
            }
            _ => Ok(()),
        }
    }

    /// Returns the earliest line of the last anchor of a hunk, with each anchor after the one before it. An anchor that the
    /// hunk itself adds, such as the new signature of a function, may be absent.
    fn earliest(&mut self, hunk: &Hunk<'_>) -> Result<Option<usize>, Misplaced> {
        let mut last = None;
        for (anchor, text) in hunk.anchors.iter().enumerate() {
            let seen = |text: &'_ str| Level::Compatible.see(text.as_bytes()).into_owned();
            let is_new =
                || hunk.lines.iter().any(|line| line.sign == Sign::Come && seen(line.text) == seen(text));
            match self.lines_of(text, last.map_or(0, |last| last + 1), 1).first() {
                Some(line) => last = Some(*line),
                None if is_new() => {}
                // With many similar lines, the search may only have reached its limit.
                None if self.budget.is_spent() => return Err(Misplaced::TooAlike),
                None => return Err(Misplaced::AnchorAbsent { anchor }),
            }
        }
        Ok(last)
    }

    /// Returns the line, counted from 1, that begins the block named by a hunk, if the hunk comes after that block.
    pub(super) fn left_block(&mut self, hunk: &Hunk<'_>, placed: &Placed) -> Option<usize> {
        let end = placed.at + hunk.old().count();
        let lines: Vec<usize> = self.anchors(hunk)?.into_iter().filter(|line| *line < end).collect();
        if lines.iter().any(|&line| placed.at < self.block_end(line)) {
            return None;
        }
        let last = lines.into_iter().max()?;
        // A line that does not begin a block has no end of a block either.
        let depth = |text: &[u8]| text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let next = (last + 1..placed.at)
            .map(|line| self.lines.text(line))
            .find(|text| text.iter().any(|byte| !byte.is_ascii_whitespace()))?;
        let is_block = depth(next) > depth(self.lines.text(last)) || next.trim_ascii().starts_with(b"{");
        is_block.then_some(last + 1)
    }

    /// Returns the only place in the blocks that begin with the anchors; else the one after the only line with that text.
    fn anchored(&mut self, hunk: &Hunk<'_>, block: &Block<'_>, from: usize) -> Option<usize> {
        let anchors = self.anchors(hunk)?;
        let mut inside = Vec::new();
        for &anchor in &anchors {
            // The line may be the first of the hunk as well.
            let range = anchor.max(from)..self.block_end(anchor);
            inside.extend(block.places(self.lines, range, 2, &mut self.budget));
        }
        inside.sort_unstable();
        inside.dedup();
        match (&inside[..], &anchors[..]) {
            (&[at], _) => Some(at),
            (&[], &[anchor]) => {
                let after =
                    block.places(self.lines, anchor.max(from)..self.lines.count(), 2, &mut self.budget);
                <[usize; 1]>::try_from(after).ok().map(|[at]| at)
            }
            _ => None,
        }
    }

    /// Returns the lines that match the last anchor, within the blocks of the anchors before it if possible.
    fn anchors(&mut self, hunk: &Hunk<'_>) -> Option<Vec<usize>> {
        let mut blocks: Vec<Range<usize>> = std::iter::once(0..self.lines.count()).collect();
        let mut found: Vec<usize> = Vec::new();
        for anchor in &hunk.anchors {
            let places = self.lines_of(anchor, 0, MAX_BLOCKS);
            found =
                places.into_iter().filter(|line| blocks.iter().any(|block| block.contains(line))).collect();
            if found.is_empty() {
                return None;
            }
            blocks = found.iter().map(|&line| line + 1..self.block_end(line)).collect();
        }
        (!found.is_empty()).then_some(found)
    }

    /// Returns the first few lines, from one on, that have this text, or else those that begin with it at a word boundary.
    fn lines_of(&mut self, anchor: &str, from: usize, most: usize) -> Vec<usize> {
        let count = self.lines.count();
        for level in [Level::Trimmed, Level::Unicode, Level::Compatible] {
            let index = self.index(level);
            let block = Block::of(&[anchor], index);
            let lines = block.places(self.lines, from..count, most, &mut self.budget);
            if !lines.is_empty() {
                return lines;
            }
        }
        let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
        let ends_in_word = anchor.bytes().last().is_some_and(is_of_word);
        let begins = |line: &usize| {
            let text = Level::Trimmed.see(self.lines.text(*line));
            let rest = text.strip_prefix(anchor.as_bytes());
            rest.is_some_and(|rest| !ends_in_word || !rest.first().is_some_and(|byte| is_of_word(*byte)))
        };
        let lines: Vec<usize> = (from..count).filter(begins).take(most).collect();
        self.budget.spend((count - from.min(count)) / 16);
        lines
    }

    /// Returns the end of the block that begins with a line: the next line that is not indented deeper and begins with a word.
    fn block_end(&mut self, first: usize) -> usize {
        let depth = |line: &[u8]| line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let begun = depth(self.lines.text(first));
        let mut line = first + 1;
        while line < self.lines.count() && !self.budget.is_spent() {
            let text = self.lines.text(line);
            let word = text.get(depth(text)).copied().unwrap_or(b' ');
            if depth(text) <= begun
                && (word.is_ascii_alphanumeric() || matches!(word, b'_' | b'@' | b'#' | b'[' | b'<'))
            {
                break;
            }
            self.budget.spend(1);
            line += 1;
        }
        line
    }

    fn index(&mut self, level: Level) -> Arc<Index> {
        let wanted = self.hunks.iter().flat_map(|hunk| hunk.old().chain(hunk.anchors.iter().copied()));
        Arc::clone(
            self.indexes[level as usize]
                .get_or_insert_with(|| Arc::new(Index::of(self.lines, level, wanted))),
        )
    }
}

fn ambiguous(level: Level, places: &[usize]) -> Misplaced {
    Misplaced::Ambiguous { level, lines: places.iter().take(MAX_NAMED).map(|at| at + 1).collect() }
}

/// Returns the end of the lines that a hunk at a given line changes: the lines after it may also belong to the next hunk.
pub(super) fn changed_until(hunk: &Hunk<'_>, at: usize) -> usize {
    let (mut line, mut end) = (at, at);
    for hunk_line in &hunk.lines {
        line += usize::from(hunk_line.sign != Sign::Come);
        if hunk_line.sign != Sign::Keep {
            end = line;
        }
    }
    end
}

#[cfg(test)]
mod tests;
