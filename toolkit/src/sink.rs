//! The stream for a tool's output: bounded memory for output of any size.
//!
//! ```text
//! write ─► buffer ─(full)─► seen: the two ends, counts
//!            ▲                └─► file, on the blocking pool; one write at a time
//!            └──── spare ◄────────┘
//! ```
//!
//! An output that never fills the buffer is not written to disk before its end, and only if it is truncated then.

mod seen;

use crate::cut::{OutputLimits, OutputLocation, shutting_down};
use crate::off_runtime::off_runtime;
use crate::output_store::{OutputFile, OutputStore};
use seen::StreamEnds;
use std::fmt;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::io::AsyncWrite;
use tokio::runtime::Handle;

/// The number of bytes written to the file at once. There are two such buffers.
const BUFFER_BYTES: usize = 128 * 1024;

/// The output of a call, written in pieces: `ctx.output()`.
///
/// It accepts any amount. Output beyond the limits is kept in a file, and the model is told its path; memory holds the
/// part that the model sees, and two buffers of 128 KiB. Text that the tool returns is appended to the written output.
///
/// Invalid UTF-8 is kept in the file unchanged, and the model sees `U+FFFD`. Writing fails only after the call is over:
/// if the disk is full, the excess is lost, and the model is told so. Flushing does nothing.
///
/// Clones write to the same output.
#[derive(Clone)]
pub struct OutputSink {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    store: OutputStore,
    session: Option<String>,
    buffer_bytes: usize,
    /// The first buffer holds as much as may not need truncation.
    first_buffer_bytes: usize,
}

struct State {
    buffer: Vec<u8>,
    spare: Vec<u8>,
    /// The two ends of the output that went through the buffer.
    seen: StreamEnds,
    disk: Disk,
    waiting: Vec<Waker>,
    is_over: bool,
    /// True if the output is not needed any more.
    is_abandoned: bool,
}

enum Disk {
    Unused,
    Idle(OutputFile),
    /// A write is running, and has the file.
    Busy,
    /// There is no file; the value says why.
    Failed(OutputLocation),
}

/// The content of a stream at its end.
pub(crate) enum Streamed {
    /// All of it. Nothing was written to disk.
    InMemory(Vec<u8>),
    /// Its two ends; the output was written to disk.
    Spilled { seen: StreamEnds, kept: OutputLocation },
}

impl OutputSink {
    pub(crate) fn new(limits: &OutputLimits, store: OutputStore, session: Option<String>) -> Self {
        Self::with_buffer(limits, store, session, BUFFER_BYTES)
    }

    pub(crate) fn with_buffer(
        limits: &OutputLimits,
        store: OutputStore,
        session: Option<String>,
        buffer_bytes: usize,
    ) -> Self {
        let state = State {
            buffer: Vec::new(),
            spare: Vec::new(),
            seen: StreamEnds::new(limits),
            disk: Disk::Unused,
            waiting: Vec::new(),
            is_over: false,
            is_abandoned: false,
        };
        let most = usize::try_from(limits.max_bytes).unwrap_or(usize::MAX);
        let first_buffer_bytes = buffer_bytes.max(most);
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                store,
                session,
                buffer_bytes,
                first_buffer_bytes,
            }),
        }
    }

    /// Writes all of a text or of bytes. It is tokio's `AsyncWriteExt::write_all`, without the need to import that.
    ///
    /// # Errors
    ///
    /// Returns an error if the call is over.
    pub async fn write_all(&mut self, bytes: impl AsRef<[u8]> + Send) -> io::Result<()> {
        let mut rest = bytes.as_ref();
        while !rest.is_empty() {
            let count = poll_fn(|task| self.shared.poll_write(task, rest)).await?;
            rest = &rest[count..];
        }
        Ok(())
    }

    /// Refuses further writes and removes the file, because the output is not needed any more. Does nothing if the
    /// output was already ended. A clone that outlives the call does not keep the file.
    pub(crate) fn abandon(&self) {
        self.shared.lock().abandon();
    }

    /// Refuses further writes and returns the written output, with `text` appended on lines of its own. Waits for a
    /// running write. If the future is dropped before it is done, no file is left on disk.
    pub(crate) fn end(&self, text: String) -> Pin<Box<dyn Future<Output = Streamed> + Send>> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            shared.lock().is_over = true;
            let (mut rest, mut seen, disk) = poll_fn(|task| shared.take(task)).await;
            if rest.is_empty() && seen.is_empty() {
                return Streamed::InMemory(text.into_bytes());
            }
            if !text.is_empty() {
                if rest.last().copied().or(seen.last()) != Some(b'\n') {
                    rest.push(b'\n');
                }
                rest.extend_from_slice(text.as_bytes());
            }
            let (mut file, none) = match disk {
                Disk::Unused => return Streamed::InMemory(rest),
                Disk::Idle(file) => (Some(file), None),
                Disk::Failed(kept) => (None, Some(kept)),
                Disk::Busy => unreachable!("waited for"),
            };
            seen.add(&rest);
            let written = off_runtime(move || {
                if let Some(file) = &mut file {
                    file.write(&rest);
                }
                file
            });
            let kept = match (written.await, none) {
                (_, Some(kept)) => kept,
                (Some(Some(file)), None) => file.keep(),
                _ => shutting_down(),
            };
            Streamed::Spilled { seen, kept }
        })
    }
}

impl fmt::Debug for OutputSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputSink").finish_non_exhaustive()
    }
}

/// Nothing has this trait. The bound is at the `impl` block, so that the call is refused whatever its arguments are; it has a lifetime, because
/// the compiler would refuse one without any.
#[diagnostic::on_unimplemented(
    message = "the output of a tool is written by `write_all`",
    label = "write `output.write_all(format!(\"{{line}}\\n\").as_bytes()).await?`"
)]
pub trait WritesFormatted<'a> {}

#[doc(hidden)]
impl<'a> OutputSink
where
    Self: WritesFormatted<'a>,
{
    pub fn write_fmt(&mut self) {}
    pub fn write_str(&mut self) {}
    pub fn write_line(&mut self) {}
    pub fn println(&mut self) {}
}

impl AsyncWrite for OutputSink {
    fn poll_write(self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.shared.poll_write(task, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll_write(self: &Arc<Self>, task: &Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let mut state = self.lock();
        loop {
            if state.is_over {
                return Poll::Ready(Err(io::Error::new(ErrorKind::BrokenPipe, "the call is over")));
            }
            let size = match state.disk {
                Disk::Unused => self.first_buffer_bytes,
                _ => self.buffer_bytes,
            };
            let room = size.saturating_sub(state.buffer.len());
            if room > 0 {
                let count = bytes.len().min(room);
                state.buffer.extend_from_slice(&bytes[..count]);
                return Poll::Ready(Ok(count));
            }
            if matches!(state.disk, Disk::Busy) {
                state.wait(task);
                return Poll::Pending;
            }
            // Meanwhile another clone may write, or the call may end.
            let write = self.hand_over(&mut state);
            drop(state);
            write.into_iter().for_each(Write::start);
            state = self.lock();
        }
    }

    /// Swaps out the full buffer, and returns the write to do without the lock.
    fn hand_over(self: &Arc<Self>, state: &mut State) -> Option<Write> {
        let State { buffer, spare, seen, disk, .. } = state;
        seen.add(buffer);
        let file = match mem::replace(disk, Disk::Busy) {
            failed @ Disk::Failed(_) => {
                *disk = failed;
                buffer.clear();
                return None;
            }
            Disk::Idle(file) => Some(file),
            Disk::Unused | Disk::Busy => None,
        };
        let bytes = mem::replace(buffer, mem::take(spare));
        Some(Write { shared: Arc::clone(self), file, bytes, failed: None })
    }

    /// Takes the whole state, as soon as no write is running.
    fn take(&self, task: &Context<'_>) -> Poll<(Vec<u8>, StreamEnds, Disk)> {
        let mut state = self.lock();
        if matches!(state.disk, Disk::Busy) {
            state.wait(task);
            return Poll::Pending;
        }
        let disk = mem::replace(&mut state.disk, Disk::Failed(OutputLocation::Not { error: String::new() }));
        state.spare = Vec::new();
        Poll::Ready((mem::take(&mut state.buffer), mem::take(&mut state.seen), disk))
    }
}

impl State {
    fn abandon(&mut self) {
        (self.is_over, self.is_abandoned) = (true, true);
        (self.buffer, self.spare, self.seen) = Default::default();
        // A running write checks this state at its end.
        if !matches!(self.disk, Disk::Busy) {
            self.disk = Disk::Failed(OutputLocation::Not { error: String::new() });
        }
    }

    fn wait(&mut self, task: &Context<'_>) {
        if !self.waiting.iter().any(|waiting| waiting.will_wake(task.waker())) {
            self.waiting.push(task.waker().clone());
        }
    }
}

/// A running write. However it ends, even if the runtime drops it before it runs, waiting tasks go on.
struct Write {
    shared: Arc<Shared>,
    file: Option<OutputFile>,
    bytes: Vec<u8>,
    failed: Option<String>,
}

impl Write {
    fn start(mut self) {
        match Handle::try_current() {
            // The write itself updates the state at its end, since all clones may wait for it.
            Ok(runtime) => drop(runtime.spawn_blocking(move || self.run())),
            Err(_) => self.run(),
        }
    }

    fn run(&mut self) {
        if self.file.is_none() {
            match self.shared.store.create(self.shared.session.as_deref()) {
                Ok(file) => self.file = Some(file),
                Err(error) => self.failed = Some(error),
            }
        }
        if let Some(file) = &mut self.file {
            file.write(&self.bytes);
        }
        self.bytes.clear();
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        let is_written = self.bytes.is_empty();
        let mut state = self.shared.lock();
        state.disk = match (self.file.take(), self.failed.take()) {
            (Some(file), _) if is_written => Disk::Idle(file),
            (_, Some(error)) => Disk::Failed(OutputLocation::Not { error }),
            _ => Disk::Failed(shutting_down()),
        };
        state.spare = mem::take(&mut self.bytes);
        if state.is_abandoned {
            state.abandon();
        }
        let waiting = mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests;
