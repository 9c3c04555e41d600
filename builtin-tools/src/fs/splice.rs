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
    parts(original, splices).concat()
}

/// The same, as what stays and what comes by turns.
pub(super) fn parts<'a>(original: &'a [u8], splices: &'a [Splice]) -> Vec<&'a [u8]> {
    let mut parts = Vec::with_capacity(2 * splices.len() + 1);
    let mut at = 0;
    for splice in splices {
        parts.push(&original[at..splice.range.start]);
        parts.push(&splice.text[..]);
        at = splice.range.end;
    }
    parts.push(&original[at..]);
    parts
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
