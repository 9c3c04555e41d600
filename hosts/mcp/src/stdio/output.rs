//! Messages to a client: all that are ready are one write.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::Instant;
use toolkit::CancellationToken;

/// Maximum number of bytes of memory that are kept for the next messages.
const KEPT: usize = 64 << 10;

/// Size of the messages that wait, in bytes, from which on no request is begun.
pub(super) const MAX_UNREAD: usize = 4 << 20;

/// The messages that wait, and where they go. Clones write to the same stream.
#[derive(Debug)]
pub(super) struct Output<W>(Arc<Shared<W>>);

#[derive(Debug)]
struct Shared<W> {
    waiting: Mutex<Waiting>,
    writer: AsyncMutex<Writer<W>>,
    /// Notified when the messages that wait are few again, and when the stream has failed.
    changed: Arc<Notify>,
    /// Cancelled to end a write that does not move.
    abandoned: CancellationToken,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Whole messages, in the order in which they were added.
    messages: Vec<u8>,
    /// Number of bytes of the messages being written that are still to be written.
    unwritten: usize,
    /// The time at which the stream last took bytes, or was given the first ones. `None` if nothing waits.
    moved: Option<Instant>,
    /// True once the stream is closed or has failed.
    is_closed: bool,
}

impl Waiting {
    fn bytes(&self) -> usize {
        self.messages.len() + self.unwritten
    }
}

#[derive(Debug)]
struct Writer<W> {
    /// `None` once the stream is closed or has failed.
    stream: Option<W>,
    /// Messages being written. They are stored here, so that an abandoned write can be continued.
    batch: Vec<u8>,
    written: usize,
}

impl<W> Clone for Output<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<W: AsyncWrite + Unpin> Output<W> {
    pub(super) fn new(stream: W) -> Self {
        let writer = Writer { stream: Some(stream), batch: Vec::new(), written: 0 };
        Self(Arc::new(Shared {
            waiting: Mutex::default(),
            writer: AsyncMutex::new(writer),
            changed: Arc::default(),
            abandoned: CancellationToken::new(),
        }))
    }

    /// Adds a message, which [`flush`](Self::flush) writes.
    pub(super) fn add(&self, message: &impl serde::Serialize) -> io::Result<()> {
        let mut waiting = self.0.lock();
        let before = waiting.messages.len();
        if let Err(error) = serde_json::to_writer(&mut waiting.messages, message) {
            // Half a message would be the beginning of the next.
            waiting.messages.truncate(before);
            return Err(error.into());
        }
        waiting.messages.push(b'\n');
        waiting.moved.get_or_insert_with(Instant::now);
        Ok(())
    }

    /// Writes all added messages; messages that were added together are one write.
    pub(super) async fn flush(&self) -> io::Result<()> {
        let mut writer = self.0.writer.lock().await;
        let writer = &mut *writer;
        loop {
            if writer.written == writer.batch.len() {
                writer.written = 0;
                writer.batch.clear();
                writer.batch.shrink_to(KEPT);
                let mut waiting = self.0.lock();
                std::mem::swap(&mut waiting.messages, &mut writer.batch);
                waiting.unwritten = writer.batch.len();
            }
            let Some(stream) = &mut writer.stream else {
                return Err(io::Error::new(io::ErrorKind::NotConnected, "the client is gone"));
            };
            if writer.batch.is_empty() {
                return tokio::select! {
                    biased;
                    flushed = stream.flush() => flushed,
                    () = self.0.abandoned.cancelled() => Err(io::ErrorKind::TimedOut.into()),
                };
            }
            let written = tokio::select! {
                biased;
                written = stream.write(&writer.batch[writer.written..]) => written,
                () = self.0.abandoned.cancelled() => Err(io::ErrorKind::TimedOut.into()),
            };
            match written {
                Ok(bytes @ 1..) => {
                    writer.written += bytes;
                    self.0.moved(bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                failed => {
                    // Writers that wait for the rest of the messages get the error too.
                    writer.stream = None;
                    self.0.lock().is_closed = true;
                    self.0.changed.notify_one();
                    return Err(failed.err().unwrap_or_else(|| io::ErrorKind::WriteZero.into()));
                }
            }
        }
    }

    /// Gives up the messages that wait: flushes that are in progress fail.
    pub(super) fn abandon(&self) {
        self.0.abandoned.cancel();
    }

    /// Closes the stream after the current write.
    pub(super) async fn close(&self) {
        self.0.writer.lock().await.stream = None;
    }
}

impl<W> Output<W> {
    /// Returns what is notified of changes of [`is_closed`](Self::is_closed) and [`is_full`](Self::is_full).
    pub(super) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.0.changed)
    }

    /// Returns true once the stream has failed.
    pub(super) fn is_closed(&self) -> bool {
        self.0.lock().is_closed
    }

    /// Returns true if so many messages wait that no request should be begun.
    pub(super) fn is_full(&self) -> bool {
        self.0.lock().bytes() >= MAX_UNREAD
    }

    /// Returns the time since when the stream takes nothing of the messages that wait. `None` if nothing waits.
    pub(super) fn stands_since(&self) -> Option<Instant> {
        self.0.lock().moved
    }
}

impl<W> Shared<W> {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of bytes that were written.
    fn moved(&self, bytes: usize) {
        let mut waiting = self.lock();
        let was_full = waiting.bytes() >= MAX_UNREAD;
        waiting.unwritten -= bytes;
        waiting.moved = (waiting.bytes() > 0).then(Instant::now);
        if was_full && waiting.bytes() < MAX_UNREAD {
            self.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::AsyncReadExt as _;

    /// Counts the writes, each of which takes at most `most` bytes.
    #[derive(Default, Clone)]
    struct Counting {
        writes: Arc<Mutex<Vec<usize>>>,
        most: Option<usize>,
        fails: bool,
    }

    impl AsyncWrite for Counting {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            if self.fails {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            let taken = self.most.unwrap_or(bytes.len()).min(bytes.len());
            self.writes.lock().unwrap().push(taken);
            Poll::Ready(Ok(taken))
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn messages_that_are_ready_together_are_one_write() {
        let stream = Counting::default();
        let output = Output::new(stream.clone());
        for number in 0..16 {
            output.add(&number).unwrap();
        }
        let flushes: Vec<_> = (0..16).map(|_| output.flush()).collect();
        for flush in flushes {
            flush.await.unwrap();
        }
        assert_eq!(*stream.writes.lock().unwrap(), [10 * 2 + 6 * 3]);
        output.add(&"x").unwrap();
        output.flush().await.unwrap();
        assert_eq!(*stream.writes.lock().unwrap(), [38, 4]);
    }

    #[tokio::test]
    async fn a_write_that_takes_a_part_is_continued_and_so_is_one_that_was_given_up() {
        let stream = Counting { most: Some(3), ..Counting::default() };
        let output = Output::new(stream.clone());
        output.add(&"abcdefgh").unwrap();
        output.flush().await.unwrap();
        assert_eq!(*stream.writes.lock().unwrap(), [3, 3, 3, 2]);

        // A pipe of four bytes, so that writing has to wait.
        let (near, mut far) = tokio::io::duplex(4);
        let output = Output::new(near);
        output.add(&"abcdefgh").unwrap();
        assert!(
            std::future::poll_fn(|task| {
                let mut flush = Box::pin(output.flush());
                Poll::Ready(flush.as_mut().poll(task).is_pending())
            })
            .await
        );
        output.add(&1).unwrap();
        let mut text = vec![0; 13];
        let (flushed, read) = tokio::join!(output.flush(), far.read_exact(&mut text));
        flushed.unwrap();
        read.unwrap();
        assert_eq!(text, b"\"abcdefgh\"\n1\n");
    }

    #[tokio::test]
    async fn a_message_that_cannot_be_written_leaves_nothing_of_it() {
        let stream = Counting::default();
        let output = Output::new(stream.clone());
        // A key that is not text cannot be one of JSON.
        let wrong = std::collections::BTreeMap::from([(vec![1], 1)]);
        assert!(output.add(&(1, wrong)).is_err());
        output.flush().await.unwrap();
        assert!(stream.writes.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn all_who_wait_hear_that_the_client_is_gone() {
        let output = Output::new(Counting { fails: true, ..Counting::default() });
        output.add(&1).unwrap();
        output.add(&2).unwrap();
        assert_eq!(output.flush().await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(output.flush().await.unwrap_err().kind(), io::ErrorKind::NotConnected);
        let output = Output::new(Counting::default());
        output.close().await;
        assert!(output.flush().await.is_err());
    }
}
