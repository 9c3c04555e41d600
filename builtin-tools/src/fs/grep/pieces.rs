//! A reader that gives a search short lines only, so that no line of a file can fill the memory.

use std::cell::RefCell;
use std::io::{self, Read};

/// The longest line that is searched as a whole.
pub(super) const LONGEST_LINE: usize = 1 << 20;
/// Overlap between consecutive pieces of a longer line, so that each match is whole in one of them.
pub(super) const OVERLAP: usize = 64 * 1024;
/// Maximum number of bytes read beyond the longest line before it is split: the size of one read of a search.
const MAX_AT_ONCE: usize = 64 * 1024;

/// Breaks lines that are longer than [`LONGEST_LINE`], and remembers where.
pub(super) struct Pieces<'a, R> {
    inner: R,
    /// Length of the current line.
    run: usize,
    /// The last bytes of that line so far, once it is long.
    tail: Vec<u8>,
    /// Bytes to return before further reads: a line feed that is not in the file, and the tail again.
    pending: Vec<u8>,
    given: usize,
    /// Number of returned line feeds.
    feeds: u64,
    /// The line feeds that are not in the file, by their number.
    breaks: &'a RefCell<Vec<u64>>,
}

impl<'a, R: Read> Pieces<'a, R> {
    /// Creates a reader that records in `breaks` the numbers of the line feeds that it inserts.
    pub(super) fn new(inner: R, breaks: &'a RefCell<Vec<u64>>) -> Self {
        Self { inner, run: 0, tail: Vec::new(), pending: Vec::new(), given: 0, feeds: 0, breaks }
    }

    /// Records bytes returned from the file.
    fn note(&mut self, given: &[u8]) {
        let Some(last) = memchr::memrchr(b'\n', given) else {
            self.run += given.len();
            if self.run > LONGEST_LINE - OVERLAP - MAX_AT_ONCE {
                self.tail.extend_from_slice(given);
                let surplus = self.tail.len().saturating_sub(OVERLAP);
                self.tail.drain(..surplus);
            }
            if self.run >= LONGEST_LINE {
                self.feeds += 1;
                self.breaks.borrow_mut().push(self.feeds);
                self.pending.clear();
                self.pending.push(b'\n');
                self.pending.append(&mut self.tail);
                self.given = 0;
                self.run = self.pending.len() - 1;
            }
            return;
        };
        self.feeds += memchr::memchr_iter(b'\n', given).count() as u64;
        self.run = given.len() - last - 1;
        self.tail.clear();
    }
}

impl<R: Read> Read for Pieces<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = &self.pending[self.given..];
        if !left.is_empty() {
            let count = left.len().min(buffer.len());
            buffer[..count].copy_from_slice(&left[..count]);
            self.given += count;
            return Ok(count);
        }
        let room = buffer.len().min(MAX_AT_ONCE);
        let count = self.inner.read(&mut buffer[..room])?;
        self.note(&buffer[..count]);
        Ok(count)
    }
}
