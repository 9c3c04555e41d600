//! Parts of a file that are replaced.

use std::ops::Range;

/// A part of a file and what comes in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    /// The bytes of the original that go.
    pub(crate) range: Range<usize>,
    /// The bytes that come.
    pub(crate) text: Vec<u8>,
}

impl Splice {
    pub(super) fn new(range: Range<usize>, text: impl Into<Vec<u8>>) -> Self {
        Self { range, text: text.into() }
    }
}

/// The file with its parts replaced; they are in order and do not overlap.
pub(crate) fn splice(original: &[u8], splices: &[Splice]) -> Vec<u8> {
    let gone: usize = splices.iter().map(|splice| splice.range.len()).sum();
    let come: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut after = Vec::with_capacity(original.len() - gone + come);
    let mut at = 0;
    for splice in splices {
        after.extend_from_slice(&original[at..splice.range.start]);
        after.extend_from_slice(&splice.text);
        at = splice.range.end;
    }
    after.extend_from_slice(&original[at..]);
    after
}

/// Numbers of lines, for places that are asked for in order.
pub(super) struct LineNumbers<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> LineNumbers<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, line: 1 }
    }

    /// The line that the byte at `place` is on, counted from 1; no place comes before one that was asked for.
    pub(super) fn of(&mut self, place: usize) -> usize {
        self.line += memchr::memchr_iter(b'\n', &self.bytes[self.at..place]).count();
        self.at = place;
        self.line
    }
}
