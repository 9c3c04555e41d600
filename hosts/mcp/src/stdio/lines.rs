//! Messages of the protocol over two streams, a line each.

use super::message::{self, Line, Message};
use super::output::Output;
use crate::scan::Scan;
use crate::server::no_message;
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::DEFAULT_MAX_LINE_LENGTH;
use std::io;
use tokio::io::{AsyncRead, AsyncWrite};
use toolkit::memory;
use toolkit::text::{LineBuffer, Piece};

/// The transport between a client and a server.
///
/// It is cheaper per message than rmcp's own: many messages are one read and one write, and a tool call is parsed once.
#[derive(Debug)]
pub(super) struct Lines<R, W> {
    input: R,
    read: LineBuffer,
    output: Output<W>,
    /// An error was added that is not written yet.
    owes_error: bool,
    is_at_end: bool,
    /// The parts of a line that is too long, as far as they were read.
    overlong: Scan,
    /// Number of bytes of the last line.
    length: usize,
}

impl<R, W: AsyncWrite + Unpin> Lines<R, W> {
    pub(super) fn new(input: R, output: W) -> Self {
        Self {
            input,
            read: LineBuffer::new(DEFAULT_MAX_LINE_LENGTH),
            output: Output::new(output),
            owes_error: false,
            is_at_end: false,
            overlong: Scan::default(),
            length: 0,
        }
    }

    /// The messages to the client.
    pub(super) fn output(&self) -> &Output<W> {
        &self.output
    }

    /// Returns the number of bytes of the line of the last message.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Returns the message of a line. The client gets an error for a line that looks like one and is not.
    fn message(&mut self, line: Line) -> Option<Message> {
        match line {
            Line::Message(message) => return Some(*message),
            Line::Ignored => {}
            Line::Invalid(error) => self.owes_error = self.output.add(&error).is_ok(),
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
            if let Some(piece) = self.read.next() {
                self.length = length(&piece);
                let parsed = parse(&piece, &mut self.overlong);
                if let Some(message) = self.message(parsed) {
                    return Some(message);
                }
                continue;
            }
            if self.is_at_end {
                let rest = self.read.rest()?;
                self.length = length(&rest);
                let parsed = parse(&rest, &mut self.overlong);
                return self.message(parsed);
            }
            match self.read.read(&mut self.input).await {
                Ok(bytes) => self.is_at_end = bytes == 0,
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

fn length(piece: &Piece<'_>) -> usize {
    let (Piece::Line(bytes) | Piece::Part(bytes) | Piece::LastPart(bytes)) = piece;
    bytes.len()
}

/// Parses a line. One that is too long is an error of the request whose ID `overlong` found in its parts.
fn parse(piece: &Piece<'_>, overlong: &mut Scan) -> Line {
    match piece {
        Piece::Line(line) if line.iter().all(u8::is_ascii_whitespace) => Line::Ignored,
        Piece::Line(line) => match memory::reserve(no_message::memory_of(line)) {
            Ok(memory) => message::parse(line).holding(memory),
            Err(full) => {
                let scan = Scan::of(line);
                if scan.has_outcome && !scan.has_method {
                    // A call waits for this answer, and ends with it.
                    message::parse(line)
                } else {
                    Line::Invalid(Box::new(no_message::no_memory(&scan, full)))
                }
            }
        },
        Piece::Part(part) => {
            overlong.read(part);
            Line::Ignored
        }
        Piece::LastPart(part) => {
            overlong.read(part);
            let scan = std::mem::take(overlong);
            tracing::error!("the client sent a line of more than {DEFAULT_MAX_LINE_LENGTH} bytes");
            Line::Invalid(Box::new(no_message::too_long(&scan, DEFAULT_MAX_LINE_LENGTH)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ErrorData;
    use tokio::io::AsyncReadExt as _;

    #[tokio::test]
    async fn messages_are_received_in_order_and_what_is_none_is_answered() {
        const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let long = "x".repeat(DEFAULT_MAX_LINE_LENGTH);
        let long =
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{long}"}}}}"#);
        let input = format!("\n{PING}\r\n{{}}\nno JSON\n{{\"id\":5,\"method\":\n{long}\n{PING}");
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
        let answers: Vec<serde_json::Value> =
            answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let told: Vec<_> =
            answers.iter().map(|answer| (answer["error"]["code"].as_i64(), answer["id"].as_i64())).collect();
        assert_eq!(
            told,
            [(Some(-32600), None), (Some(-32700), Some(5)), (Some(-32700), Some(7))],
            "{answers:?}"
        );
    }
}
