//! Connections whose other end reads nothing.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream of which a write fails that makes no progress for a time: what waits for a reader that has stopped does not wait for ever.
#[derive(Debug)]
pub(crate) struct Stalling<S> {
    stream: S,
    within: Duration,
    /// The end of the wait, while a write waits.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Stalling<S> {
    pub(crate) fn new(stream: S, within: Duration) -> Self {
        Self { stream, within, waits: None }
    }
}

impl<S: AsyncWrite + Unpin> Stalling<S> {
    fn write<T>(
        &mut self,
        task: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(written) = write(Pin::new(&mut self.stream), task) {
            self.waits = None;
            return Poll::Ready(written);
        }
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(self.within)));
        waits.as_mut().poll(task).map(|()| {
            let text = format!("the client has read nothing for {} seconds", self.within.as_secs());
            Err(io::Error::new(io::ErrorKind::TimedOut, text))
        })
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stalling<S> {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(task, |stream, task| stream.poll_write(task, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(task, |stream, task| stream.poll_write_vectored(task, parts))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write(task, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write(task, AsyncWrite::poll_shutdown)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stalling<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(task, buffer)
    }
}
