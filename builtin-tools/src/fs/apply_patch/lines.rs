//! The lines of a file, found by their text.

use crate::fs::fold::{self, Looseness};
use foldhash::fast::RandomState;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::ops::Range;
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization as _;

/// Looseness of the comparison between the lines of a patch and those of the file. Each level also ignores what the levels
/// before it ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Byte for byte.
    Exact,
    /// A carriage return at the end does not count.
    Endings,
    /// White space at the end does not count.
    Trailing,
    /// White space at both ends does not count.
    Trimmed,
    /// Typographic quotes, dashes and spaces are the plain ones.
    Unicode,
    /// Characters that are compatible in Unicode (NFKC) are equal: full-width letters, ligatures, letters with accents
    /// composed differently.
    Compatible,
}

impl Level {
    /// The strictest first.
    pub(super) const ALL: [Self; 6] =
        [Self::Exact, Self::Endings, Self::Trailing, Self::Trimmed, Self::Unicode, Self::Compatible];

    /// Names the differences that it overlooks.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Exact => "nothing",
            Self::Endings => "line endings",
            Self::Trailing => "white space at the ends of lines",
            Self::Trimmed => "white space at both ends of lines",
            Self::Unicode => "typographic quotes, dashes or spaces",
            Self::Compatible => "full-width, composed and other forms of the same characters",
        }
    }

    /// Returns a line in the form for comparison at this level.
    pub(super) fn see(self, line: &[u8]) -> Cow<'_, [u8]> {
        let without_return = || line.strip_suffix(b"\r").unwrap_or(line);
        match self {
            Self::Exact => Cow::Borrowed(line),
            Self::Endings => Cow::Borrowed(without_return()),
            Self::Trailing => Cow::Borrowed(fold::trim_end(without_return(), false)),
            Self::Trimmed => {
                let line = fold::trim_end(without_return(), false);
                Cow::Borrowed(&line[fold::indentation(line)..])
            }
            Self::Unicode => {
                let line = fold::fold(without_return(), Looseness::Unicode);
                let blank = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                Cow::Owned(line[blank..].to_vec())
            }
            Self::Compatible => {
                let line = Self::Unicode.see(line);
                match std::str::from_utf8(&line) {
                    Ok(text) if !text.is_ascii() => {
                        let text: String = text.nfkc().collect();
                        Cow::Owned(text.trim_matches([' ', '\t']).to_owned().into_bytes())
                    }
                    _ => line,
                }
            }
        }
    }
}

/// The lines of a file.
pub(super) struct Lines<'f> {
    pub(super) bytes: &'f [u8],
    /// Offset of each line, followed by the length of the file.
    starts: Vec<u32>,
}

impl<'f> Lines<'f> {
    /// Splits the content of a file of less than 4 GiB into lines, from `start` on.
    pub(super) fn of(bytes: &'f [u8], start: usize) -> Self {
        let at = |at: usize| u32::try_from(at).expect("files that are patched are smaller than 4 GiB");
        let mut starts = vec![at(start)];
        starts.extend(memchr::memchr_iter(b'\n', &bytes[start..]).map(|end| at(start + end + 1)));
        if starts.last() != Some(&at(bytes.len())) {
            starts.push(at(bytes.len()));
        }
        Self { bytes, starts }
    }

    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the offset at which a line begins; for the index after the last line, the length of the file.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts[line] as usize
    }

    /// A line with its ending.
    pub(super) fn whole(&self, line: usize) -> &'f [u8] {
        &self.bytes[self.start(line)..self.start(line + 1)]
    }

    /// A line without its line feed.
    pub(super) fn text(&self, line: usize) -> &'f [u8] {
        let line = self.whole(line);
        line.strip_suffix(b"\n").unwrap_or(line)
    }

    /// Returns the ending of a line; `None` if it is the last one and has none.
    pub(super) fn ending(&self, line: usize) -> Option<&'static [u8]> {
        let line = self.whole(line);
        match line {
            [.., b'\r', b'\n'] => Some(b"\r\n"),
            [.., b'\n'] => Some(b"\n"),
            _ => None,
        }
    }
}

/// Positions of the lines with given texts, at one level.
pub(super) struct Index {
    level: Level,
    hasher: RandomState,
    places: HashMap<u64, Vec<u32>, RandomState>,
}

impl Index {
    /// Creates the index of the wanted texts, in one pass over the file.
    pub(super) fn of<'w>(lines: &Lines<'_>, level: Level, wanted: impl Iterator<Item = &'w str>) -> Self {
        // Every line of the file is hashed; the hash keys are random, so lines cannot be chosen to be slow to find.
        let hasher = RandomState::default();
        let key = |line: &[u8]| hasher.hash_one(&*level.see(line));
        let mut places: HashMap<u64, Vec<u32>, RandomState> =
            wanted.map(|text| (key(text.as_bytes()), Vec::new())).collect();
        let numbers = 0_u32..;
        for (number, line) in numbers.zip(0..lines.count()) {
            if let Some(places) = places.get_mut(&key(lines.text(line))) {
                places.push(number);
            }
        }
        Self { level, hasher, places }
    }

    /// The lines that may have this text, in order.
    pub(super) fn places(&self, text: &str) -> &[u32] {
        let key = self.hasher.hash_one(&*self.level.see(text.as_bytes()));
        self.places.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// A block of lines to search for.
pub(super) struct Block<'a> {
    index: Arc<Index>,
    seen: Vec<Cow<'a, [u8]>>,
    /// The rarest line of the block in the file, with its index in the block.
    rarest: (usize, &'a str),
}

impl<'a> Block<'a> {
    /// Creates a search for texts that the index contains.
    pub(super) fn of(texts: &[&'a str], index: Arc<Index>) -> Self {
        let rarest = texts.iter().enumerate().min_by_key(|(_, text)| index.places(text).len());
        let rarest = rarest.map_or((0, ""), |(at, text)| (at, *text));
        let seen = texts.iter().map(|text| index.level.see(text.as_bytes())).collect();
        Self { index, seen, rarest }
    }

    /// Returns true if the text is at a line.
    pub(super) fn is_at(&self, lines: &Lines<'_>, at: usize, budget: &mut Budget) -> bool {
        at.checked_add(self.seen.len()).is_some_and(|end| end <= lines.count())
            && self.seen.iter().enumerate().all(|(offset, seen)| {
                budget.spend(1 + seen.len() / 64);
                *seen == self.index.level.see(lines.text(at + offset))
            })
    }

    /// Returns the first few lines in a range at which the text is.
    pub(super) fn places(
        &self,
        lines: &Lines<'_>,
        range: Range<usize>,
        most: usize,
        budget: &mut Budget,
    ) -> Vec<usize> {
        let (offset, text) = self.rarest;
        let candidates = self.index.places(text);
        let from = candidates.partition_point(|&line| (line as usize) < range.start + offset);
        let mut places = Vec::new();
        for &line in &candidates[from..] {
            let at = line as usize - offset;
            if at >= range.end || places.len() >= most || budget.is_spent() {
                break;
            }
            if self.is_at(lines, at, budget) {
                places.push(at);
            }
        }
        places
    }
}

/// Limit on the comparisons for one file: with many equal lines, they could take hours.
pub(super) struct Budget(usize);

impl Budget {
    /// Steps of a few seconds.
    pub(super) const MAX: usize = 20_000_000;

    pub(super) fn new() -> Self {
        Self(Self::MAX)
    }

    pub(super) fn spend(&mut self, steps: usize) {
        self.0 = self.0.saturating_sub(steps);
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0 == 0
    }
}
