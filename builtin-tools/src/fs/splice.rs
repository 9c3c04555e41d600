//! Parts of a file that are replaced.

use std::ops::Range;

/// A part of a file and its replacement.
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

/// Returns the same, as kept and inserted parts in turn.
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

/// Line numbers, for offsets that are requested in order.
pub(super) struct LineNumbers<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> LineNumbers<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, line: 1 }
    }

    /// Returns the line of the byte at `place`, counted from 1; offsets must be requested in order.
    pub(super) fn of(&mut self, place: usize) -> usize {
        self.line += memchr::memchr_iter(b'\n', &self.bytes[self.at..place]).count();
        self.at = place;
        self.line
    }
}
