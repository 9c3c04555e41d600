//! Messages as lines: read with a bound, and written from a queue with a bound.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};
use toolkit::CancellationToken;
use toolkit::text::{LineBuffer, Piece};

/// The most bytes of one message.
const MAX_LINE_BYTES: usize = 64 << 20;
/// The most bytes that wait for an editor that does not read.
const MAX_QUEUED_BYTES: usize = 256 << 20;
/// The bytes that wait for the editor from which on no further message of it is read.
const MAX_UNREAD_BYTES: usize = 4 << 20;
/// How long an editor may read nothing while so much waits for it.
pub(super) const READ_WITHIN: Duration = Duration::from_mins(10);
/// Time for the writer after that: where this process or the machine stood still meanwhile, the editor may have read all.
const LAST_CHANCE: Duration = Duration::from_secs(30);
/// The most bytes that are written at once. Larger writes would be taken at once by a buffer, and tell nothing of the editor.
const MAX_WRITTEN_BYTES: usize = 32 << 10;

/// A line that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(Vec<u8>),
    /// It was longer than a message may be, and is left out.
    TooLong,
    End,
}

/// Reads lines. A read that is dropped loses nothing.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    read: LineBuffer,
    is_at_end: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self::bounded(reader, MAX_LINE_BYTES)
    }

    fn bounded(reader: R, most: usize) -> Self {
        Self { reader, read: LineBuffer::new(most), is_at_end: false }
    }

    /// Reads a line without its end.
    pub(super) async fn next(&mut self) -> io::Result<Line> {
        loop {
            match self.read.next() {
                Some(Piece::Line(line)) => return Ok(Line::Text(line.to_vec())),
                Some(Piece::LastPart(_)) => return Ok(Line::TooLong),
                Some(Piece::Part(_)) => continue,
                None => {}
            }
            if self.is_at_end {
                return Ok(match self.read.rest() {
                    Some(Piece::Line(line)) => Line::Text(line.to_vec()),
                    Some(Piece::Part(_) | Piece::LastPart(_)) => Line::TooLong,
                    None => Line::End,
                });
            }
            self.is_at_end = self.read.read(&mut self.reader).await? == 0;
        }
    }
}

/// Writes some of the bytes, and returns how many have left this process.
async fn write_some(writer: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<usize> {
    let written = writer.write(&bytes[..bytes.len().min(MAX_WRITTEN_BYTES)]).await?;
    writer.flush().await?;
    Ok(written)
}

/// The lines that wait to be written. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Outbox(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    arrived: Notify,
    /// Notified when few bytes wait again.
    has_room: Notify,
    /// Notified when many bytes wait.
    is_full: Notify,
    closed: CancellationToken,
}

#[derive(Debug, Default)]
struct Queue {
    lines: VecDeque<String>,
    /// Number of bytes that are still to be written, of these lines and of the one that is being written.
    bytes: usize,
    /// The time since when much waits and the editor takes nothing. `None` if little waits.
    full_since: Option<Instant>,
}

impl Outbox {
    /// Queues a line. An editor that reads nothing for very long is left.
    pub(super) fn send(&self, mut line: String) {
        line.push('\n');
        let mut queue = self.queue();
        if self.0.closed.is_cancelled() {
            return;
        }
        if queue.bytes + line.len() > MAX_QUEUED_BYTES {
            queue.lines.clear();
            self.0.closed.cancel();
        } else {
            queue.bytes += line.len();
            queue.lines.push_back(line);
        }
        if queue.bytes >= MAX_UNREAD_BYTES {
            queue.full_since.get_or_insert_with(Instant::now);
            self.0.is_full.notify_one();
        }
        drop(queue);
        self.0.arrived.notify_one();
    }

    /// Waits until the editor has read most of what was sent.
    pub(super) async fn room(&self) {
        while self.queue().bytes >= MAX_UNREAD_BYTES {
            self.0.has_room.notified().await;
        }
    }

    /// Waits until much waits and the editor has taken nothing of it for [`READ_WITHIN`].
    pub(super) async fn unread(&self) {
        let mut last_chance = None;
        loop {
            let since = self.queue().full_since;
            let Some(since) = since else {
                self.0.is_full.notified().await;
                continue;
            };
            let until = since + READ_WITHIN;
            if until > Instant::now() {
                sleep_until(until).await;
            } else if last_chance == Some(since) {
                return;
            } else {
                last_chance = Some(since);
                sleep(LAST_CHANCE).await;
            }
        }
    }

    /// Is cancelled once nothing can be written any more.
    pub(super) fn closed(&self) -> &CancellationToken {
        &self.0.closed
    }

    /// Writes the lines that wait, until `last` is cancelled and none waits.
    pub(super) async fn write(&self, writer: &mut (impl AsyncWrite + Unpin), last: &CancellationToken) {
        loop {
            while let Some(line) = self.next() {
                let mut rest = line.as_bytes();
                while !rest.is_empty() {
                    match write_some(writer, rest).await {
                        Ok(written @ 1..) => {
                            rest = &rest[written..];
                            self.moved(written);
                        }
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        _ => {
                            self.0.closed.cancel();
                            return;
                        }
                    }
                }
            }
            if writer.flush().await.is_err() {
                self.0.closed.cancel();
                return;
            }
            tokio::select! {
                biased;
                () = self.0.arrived.notified() => {}
                () = self.0.closed.cancelled() => return,
                () = last.cancelled() => {
                    if self.queue().lines.is_empty() {
                        return;
                    }
                }
            }
        }
    }

    fn next(&self) -> Option<String> {
        self.queue().lines.pop_front()
    }

    /// Takes note of bytes that were written.
    fn moved(&self, bytes: usize) {
        let mut queue = self.queue();
        queue.bytes -= bytes;
        queue.full_since = (queue.bytes >= MAX_UNREAD_BYTES).then(Instant::now);
        if queue.bytes < MAX_UNREAD_BYTES {
            self.0.has_room.notify_one();
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_left_out_and_the_next_one_read() {
        let mut reader = Lines::bounded(&b"short\n0123456789\n\nlast"[..], 5);
        let mut lines = Vec::new();
        loop {
            let line = reader.next().await.unwrap();
            let is_end = line == Line::End;
            lines.push(line);
            if is_end {
                break;
            }
        }
        let text = |text: &[u8]| Line::Text(text.to_vec());
        assert_eq!(lines, [text(b"short"), Line::TooLong, text(b""), text(b"last"), Line::End]);
    }
}
