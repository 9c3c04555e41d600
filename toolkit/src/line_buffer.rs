//! Lines of a stream, with a limit of their length: for the hosts, whose protocols have a message on each line.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use tokio::io::{AsyncRead, ReadBuf};

/// Minimum number of bytes per read.
const CHUNK: usize = 64 << 10;

/// A line, or a part of one that is longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A whole line, without its line feed.
    Line(&'a [u8]),
    /// A part of a line that is too long. Its other parts follow.
    Part(&'a [u8]),
    /// The last part of a line that is too long.
    LastPart(&'a [u8]),
}

/// Bytes that were read, of which lines are taken.
#[derive(Debug)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// Start of the bytes that were read and not yet returned.
    start: usize,
    end: usize,
    /// Up to here, behind `start`, there is no line feed.
    searched: usize,
    /// Maximum number of bytes of a line.
    limit: usize,
    /// True if a part of a line that is too long was returned, and its last part was not.
    is_within: bool,
}

impl LineBuffer {
    /// Creates a buffer for lines of at most this number of bytes.
    pub fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), start: 0, end: 0, searched: 0, limit, is_within: false }
    }

    /// Returns the next line or part among the bytes that were read.
    #[expect(clippy::should_implement_trait, reason = "the piece borrows from the buffer")]
    pub fn next(&mut self) -> Option<Piece<'_>> {
        let unread = &self.bytes[self.searched..self.end];
        let from = self.start;
        let Some(length) = memchr::memchr(b'\n', unread) else {
            self.searched = self.end;
            let is_too_long = self.is_within || self.end - from > self.limit;
            if !is_too_long || from == self.end {
                return None;
            }
            self.is_within = true;
            self.start = self.end;
            return Some(Piece::Part(&self.bytes[from..self.end]));
        };
        let to = self.searched + length;
        (self.start, self.searched) = (to + 1, to + 1);
        let is_too_long = std::mem::take(&mut self.is_within) || to - from > self.limit;
        let bytes = &self.bytes[from..to];
        Some(if is_too_long { Piece::LastPart(bytes) } else { Piece::Line(bytes) })
    }

    /// Returns the bytes after the last line feed, at the end of the input.
    pub fn rest(&mut self) -> Option<Piece<'_>> {
        let from = std::mem::replace(&mut self.start, self.end);
        let bytes = &self.bytes[from..self.end];
        if std::mem::take(&mut self.is_within) {
            return Some(Piece::LastPart(bytes));
        }
        (!bytes.is_empty()).then_some(Piece::Line(bytes))
    }

    /// Reads more bytes, and returns their number: 0 at the end of the input. Dropping the future while it waits loses nothing.
    ///
    /// # Errors
    ///
    /// Returns the error of the input.
    pub async fn read(&mut self, input: &mut (impl AsyncRead + Unpin)) -> io::Result<usize> {
        loop {
            let read = poll_fn(|task| {
                let mut room = ReadBuf::new(self.room());
                Pin::new(&mut *input).poll_read(task, &mut room).map_ok(|()| room.filled().len())
            });
            match read.await {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(bytes) => {
                    self.end += bytes;
                    return Ok(bytes);
                }
            }
        }
    }

    /// Returns the buffer to read into, which is never empty.
    fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end, self.searched) = (0, 0, 0);
            // Capacity for one long line is not kept for short ones.
            self.bytes.truncate(4 * CHUNK);
            self.bytes.shrink_to(4 * CHUNK);
        } else if self.start > 0 && self.bytes.len() - self.end < CHUNK {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.end, self.searched) = (self.end - self.start, self.searched - self.start);
            self.start = 0;
        }
        if self.bytes.len() - self.end < CHUNK / 2 {
            let length = (2 * self.bytes.len()).max(CHUNK);
            self.bytes.resize(length, 0);
        }
        &mut self.bytes[self.end..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line, unless it is too long.
    fn line(piece: Piece<'_>) -> Option<&[u8]> {
        match piece {
            Piece::Line(line) => Some(line),
            Piece::Part(_) | Piece::LastPart(_) => None,
        }
    }

    /// Returns the lines of input that arrives in pieces, and the rest at the end.
    fn lines(limit: usize, pieces: &[&[u8]]) -> (Vec<String>, Option<String>) {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let (mut buffer, mut lines) = (LineBuffer::new(limit), Vec::new());
        for piece in pieces {
            for part in piece.chunks(CHUNK / 2) {
                buffer.room()[..part.len()].copy_from_slice(part);
                buffer.end += part.len();
                while let Some(piece) = buffer.next() {
                    lines.extend(line(piece).map(text));
                }
            }
        }
        let rest = buffer.rest().and_then(line).map(text);
        (lines, rest)
    }

    #[test]
    fn lines_are_taken_whatever_the_pieces() {
        let all = b"one\ntwo\r\n\nthree\nrest";
        for size in 1..all.len() {
            let pieces: Vec<&[u8]> = all.chunks(size).collect();
            let (found, rest) = lines(100, &pieces);
            assert_eq!(found, ["one", "two\r", "", "three"], "{size}");
            assert_eq!(rest.as_deref(), Some("rest"), "{size}");
        }
        assert_eq!(lines(100, &[b"one\n"]), (vec!["one".to_owned()], None));
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_not_kept() {
        for size in 1..30 {
            let pieces: Vec<&[u8]> =
                b"a\n0123456789\n01234567890\nb\n012345678901234567890".chunks(size).collect();
            let (found, rest) = lines(10, &pieces);
            assert_eq!(found, ["a", "0123456789", "b"], "{size}");
            assert_eq!(rest, None, "{size}");
        }
        let long = vec![b'x'; 100 * CHUNK];
        let (found, rest) = lines(100 * CHUNK, &[&long, b"\nb\n", &long, b"y\nc"]);
        assert_eq!(found.iter().map(String::len).collect::<Vec<_>>(), [long.len(), 1]);
        assert_eq!(rest.as_deref(), Some("c"));
        let mut buffer = LineBuffer::new(10);
        for _ in 0..1_000 {
            let room = buffer.room();
            room.fill(b'x');
            let length = room.len();
            buffer.end += length;
            assert!(matches!(buffer.next(), Some(Piece::Part(part)) if part.len() == length));
            assert_eq!(buffer.next(), None);
        }
        assert!(buffer.bytes.capacity() <= 4 * CHUNK, "{}", buffer.bytes.capacity());
    }

    #[test]
    fn the_parts_of_a_line_that_is_too_long_are_the_line() {
        for size in 1..20 {
            let (mut buffer, mut parts, mut ends) = (LineBuffer::new(4), Vec::new(), 0);
            for piece in b"ab\n0123456789\ncd\nabcdefgh".chunks(size) {
                buffer.room()[..piece.len()].copy_from_slice(piece);
                buffer.end += piece.len();
                while let Some(piece) = buffer.next() {
                    match piece {
                        Piece::Line(_) => {}
                        Piece::Part(part) => parts.extend_from_slice(part),
                        Piece::LastPart(part) => {
                            parts.extend_from_slice(part);
                            ends += 1;
                        }
                    }
                }
            }
            assert_eq!((parts.starts_with(b"0123456789"), ends), (true, 1), "{size}");
            let Some(rest) = buffer.rest() else { panic!("{size}: there is no rest") };
            match rest {
                Piece::LastPart(part) => parts.extend_from_slice(part),
                Piece::Line(line) => parts.extend_from_slice(line),
                Piece::Part(_) => panic!("{size}: it goes on"),
            }
            assert_eq!(parts, b"0123456789abcdefgh", "{size}");
        }
    }
}
