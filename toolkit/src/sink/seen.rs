//! Keeps the two ends of a stream, and its counts.

use crate::cut::{Ends, OutputLimits};
use memchr::{memchr, memchr_iter, memrchr};
use std::collections::VecDeque;

const NEWLINE: u8 = b'\n';

/// The two ends of the bytes that were streamed.
#[derive(Debug, Default)]
pub(crate) struct StreamEnds {
    head: Vec<u8>,
    head_bytes: usize,
    head_line_end: Option<u64>,
    tail: VecDeque<u8>,
    tail_bytes: usize,
    tail_line_start: u64,
    bytes: u64,
    newlines: u64,
    last: Option<u8>,
}

impl StreamEnds {
    pub(super) fn new(limits: &OutputLimits) -> Self {
        let (first, last) = limits.budgets();
        Self { head_bytes: first.window(), tail_bytes: last.window(), ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Returns the last byte.
    pub(super) fn last(&self) -> Option<u8> {
        self.last
    }

    /// Adds the next bytes of the stream.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.newlines += memchr_iter(NEWLINE, bytes).count() as u64;
        self.last = bytes.last().copied().or(self.last);
        self.add_to_head(bytes);
        self.add_to_tail(bytes);
        self.bytes += bytes.len() as u64;
    }

    fn add_to_head(&mut self, bytes: &[u8]) {
        let (first, behind) = bytes.split_at(bytes.len().min(self.head_bytes - self.head.len()));
        self.head.extend_from_slice(first);
        if self.head_line_end.is_none()
            && let Some(at) = memchr(NEWLINE, behind)
        {
            self.head_line_end = Some(self.bytes + (first.len() + at + 1) as u64);
        }
    }

    fn add_to_tail(&mut self, bytes: &[u8]) {
        let from = self.bytes - self.tail.len() as u64;
        // Drops the excess: first from the kept bytes, then from the new ones.
        let (before, last) = bytes.split_at(bytes.len().saturating_sub(self.tail_bytes));
        let old = (self.tail.len() + last.len()).saturating_sub(self.tail_bytes);
        if let Some(at) = memrchr(NEWLINE, before) {
            self.tail_line_start = self.bytes + at as u64 + 1;
        } else {
            let (one, two) = self.tail.as_slices();
            let two = &two[..old.saturating_sub(one.len())];
            let one = &one[..old.min(one.len())];
            let at = memrchr(NEWLINE, two).map(|at| one.len() + at).or_else(|| memrchr(NEWLINE, one));
            if let Some(at) = at {
                self.tail_line_start = from + at as u64 + 1;
            }
        }
        self.tail.drain(..old);
        self.tail.extend(last);
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.head.capacity() + self.tail.capacity()
    }

    pub(crate) fn ends(&mut self) -> Ends<'_> {
        Ends {
            head: &self.head,
            tail: self.tail.make_contiguous(),
            bytes: self.bytes,
            newlines: self.newlines,
            head_line_end: self.head_line_end,
            tail_line_start: self.tail_line_start,
        }
    }
}
