//! Messages of the protocol over two streams, a line each.

use super::message::{self, Line, Message};
use super::output::Output;
use rmcp::model::ErrorData;
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::DEFAULT_MAX_LINE_LENGTH;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};

/// Minimum number of bytes per read.
const CHUNK: usize = 64 << 10;

/// The transport between a client and a server.
///
/// It is cheaper per message than rmcp's own: many messages are one read and one write, and a tool call is parsed once.
#[derive(Debug)]
pub(super) struct Lines<R, W> {
    input: R,
    read: Buffer,
    output: Output<W>,
    /// An error was added that is not written yet.
    owes_error: bool,
    is_at_end: bool,
}

/// Bytes that were read, of which lines are taken.
#[derive(Debug)]
struct Buffer {
    bytes: Vec<u8>,
    /// Start of the bytes that were read and not yet returned.
    start: usize,
    end: usize,
    /// Up to here, behind `start`, there is no line feed.
    searched: usize,
    /// Maximum number of bytes of a line. Longer ones are discarded.
    limit: usize,
    /// True while the rest of a line that is too long is skipped.
    skips: bool,
}

impl Buffer {
    fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), start: 0, end: 0, searched: 0, limit, skips: false }
    }

    /// Returns the next complete line.
    fn line(&mut self) -> Option<&[u8]> {
        loop {
            let unread = &self.bytes[self.searched..self.end];
            let Some(length) = memchr::memchr(b'\n', unread) else {
                self.searched = self.end;
                if self.end - self.start > self.limit {
                    self.skip();
                }
                return None;
            };
            let (from, to) = (self.start, self.searched + length);
            (self.start, self.searched) = (to + 1, to + 1);
            let is_rest = std::mem::take(&mut self.skips);
            if is_rest {
                continue;
            }
            if to - from > self.limit {
                too_long(self.limit);
                continue;
            }
            return Some(&self.bytes[from..to]);
        }
    }

    fn skip(&mut self) {
        if !self.skips {
            too_long(self.limit);
        }
        self.skips = true;
        (self.start, self.searched) = (self.end, self.end);
    }

    /// Returns the bytes after the last line feed, at the end of the input.
    fn rest(&mut self) -> Option<&[u8]> {
        let from = std::mem::replace(&mut self.start, self.end);
        (from < self.end && !self.skips).then(|| &self.bytes[from..self.end])
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

fn too_long(limit: usize) {
    tracing::error!("the client sent a line of more than {limit} bytes, which is ignored");
}

impl<R, W: AsyncWrite + Unpin> Lines<R, W> {
    pub(super) fn new(input: R, output: W) -> Self {
        Self {
            input,
            read: Buffer::new(DEFAULT_MAX_LINE_LENGTH),
            output: Output::new(output),
            owes_error: false,
            is_at_end: false,
        }
    }

    /// Parses a line to a message. A line that is JSON but not a message gets an error.
    fn message(&mut self, line: Line) -> Option<Message> {
        match line {
            Line::Message(message) => return Some(*message),
            Line::Ignored => {}
            Line::Invalid => {
                let error = ErrorData::invalid_request("Invalid request", None);
                self.owes_error =
                    self.output.add(&TxJsonRpcMessage::<RoleServer>::error(error, None)).is_ok();
            }
        }
        None
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // It is added now, so that the first flush writes all messages added by then.
        let added = self.output.add(&message);
        let output = self.output.clone();
        async move {
            added?;
            output.flush().await
        }
    }

    // This future is dropped whenever another one is ready first: bytes that were read, and answers that are owed, are
    // in `self`.
    async fn receive(&mut self) -> Option<Message> {
        loop {
            if self.owes_error {
                self.output.flush().await.ok()?;
                self.owes_error = false;
            }
            if let Some(line) = self.read.line() {
                let parsed = if is_blank(line) { Line::Ignored } else { message::parse(line) };
                if let Some(message) = self.message(parsed) {
                    return Some(message);
                }
                continue;
            }
            if self.is_at_end {
                let rest = self.read.rest().filter(|rest| !is_blank(rest)).map(message::parse)?;
                return self.message(rest);
            }
            match self.input.read(self.read.room()).await {
                Ok(0) => self.is_at_end = true,
                Ok(bytes) => self.read.end += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::error!("the client cannot be read from: {error}");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.close().await;
        Ok(())
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of input that arrives in pieces, and the rest at the end.
    fn lines(limit: usize, pieces: &[&[u8]]) -> (Vec<String>, Option<String>) {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let (mut buffer, mut lines) = (Buffer::new(limit), Vec::new());
        for piece in pieces {
            for part in piece.chunks(CHUNK / 2) {
                buffer.room()[..part.len()].copy_from_slice(part);
                buffer.end += part.len();
                while let Some(line) = buffer.line() {
                    lines.push(text(line));
                }
            }
        }
        let rest = buffer.rest().map(text);
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
        let mut buffer = Buffer::new(10);
        for _ in 0..1_000 {
            let room = buffer.room();
            room.fill(b'x');
            let length = room.len();
            buffer.end += length;
            assert!(buffer.line().is_none());
        }
        assert!(buffer.bytes.capacity() <= 4 * CHUNK, "{}", buffer.bytes.capacity());
    }

    #[tokio::test]
    async fn messages_are_received_in_order_and_what_is_none_is_answered() {
        const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let input = format!("\n{PING}\r\n{{}}\nno JSON\n{PING}");
        let (near, mut far) = tokio::io::duplex(1 << 10);
        let mut lines = Lines::new(input.as_bytes(), near);
        for _ in 0..2 {
            let message = lines.receive().await.unwrap();
            assert_eq!(serde_json::to_string(&message).unwrap(), PING);
        }
        assert!(lines.receive().await.is_none());
        assert!(lines.receive().await.is_none());
        lines.close().await.unwrap();
        assert!(
            lines
                .send(TxJsonRpcMessage::<RoleServer>::error(ErrorData::internal_error("x", None), None))
                .await
                .is_err()
        );
        drop(lines);
        let mut answers = String::new();
        far.read_to_string(&mut answers).await.unwrap();
        assert_eq!(answers.lines().count(), 1, "{answers}");
        assert!(answers.contains("-32600"), "{answers}");
    }
}
