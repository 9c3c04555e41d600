//! The standard input of a command.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError};

use rustix::io::Errno;
use rustix::termios::{InputModes, LocalModes, SpecialCodeIndex, Winsize, tcgetattr, tcsetwinsize};
use tokio::net::unix::pipe::Sender;
use tokio::sync::Mutex;

use crate::Size;

/// A command's standard input, or its terminal. Copies write to the same one, a write at a time.
#[derive(Debug, Clone)]
pub struct Input {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    /// `None` once it is closed. Non-blocking.
    sink: Mutex<Option<Arc<OwnedFd>>>,
    /// `None` once no process of the command is left.
    terminal: std::sync::Mutex<Option<Arc<OwnedFd>>>,
    is_terminal: bool,
    /// The last byte that was written.
    last: AtomicU8,
}

impl Input {
    pub(crate) fn new(sink: Arc<OwnedFd>, is_terminal: bool) -> Self {
        let terminal = std::sync::Mutex::new(is_terminal.then(|| Arc::clone(&sink)));
        let (sink, last) = (Mutex::new(Some(sink)), AtomicU8::new(b'\n'));
        Self { shared: Arc::new(Shared { sink, terminal, is_terminal, last }) }
    }

    /// Closes it, and a terminal with it: nobody reads any more. A write that still waits keeps its end.
    pub(crate) fn release(&self) {
        drop(self.shared.terminal.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Ok(mut sink) = self.shared.sink.try_lock() {
            *sink = None;
        }
    }

    fn terminal(&self) -> Option<Arc<OwnedFd>> {
        self.shared.terminal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes all bytes, waiting while the command does not read: nothing is buffered here beyond the system's pipe. If the future
    /// is dropped, a part may have been written.
    ///
    /// In canonical mode, a terminal accepts at most 4095 bytes per line.
    ///
    /// # Errors
    ///
    /// `BrokenPipe` if the command no longer reads, or [`close`](Self::close) was called.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let sink = self.shared.sink.lock().await;
        let Some(sink) = sink.as_ref() else { return Err(io::ErrorKind::BrokenPipe.into()) };
        if let Some(last) = bytes.last() {
            self.shared.last.store(*last, Ordering::Relaxed);
        }
        let mut rest = bytes;
        let mut ready: Option<Sender> = None;
        while !rest.is_empty() {
            match rustix::io::write(sink, rest) {
                Ok(length) => rest = &rest[length..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    // A copy, since one descriptor can be waited for in one place only. A terminal is written to like a pipe.
                    let waiting = match &mut ready {
                        Some(waiting) => waiting,
                        none => none.insert(Sender::from_owned_fd_unchecked(
                            rustix::io::fcntl_dupfd_cloexec(sink, 3)?,
                        )?),
                    };
                    waiting.writable().await?;
                    match waiting.try_write(rest) {
                        Ok(length) => rest = &rest[length..],
                        Err(error)
                            if matches!(
                                error.kind(),
                                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                            ) => {}
                        Err(error) if Errno::from_io_error(&error) == Some(Errno::IO) => {
                            return Err(io::ErrorKind::BrokenPipe.into());
                        }
                        Err(error) => return Err(error),
                    }
                }
                // A terminal that no process has open.
                Err(Errno::IO) => return Err(io::ErrorKind::BrokenPipe.into()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Signals the end of the input. A pipe is closed. A terminal is sent its end-of-file character, which has an effect only in
    /// canonical mode; the terminal stays usable.
    pub async fn close(&self) -> io::Result<()> {
        let Some(terminal) = self.terminal() else {
            *self.shared.sink.lock().await = None;
            return Ok(());
        };
        let modes = tcgetattr(&*terminal)?;
        if !modes.local_modes.contains(LocalModes::ICANON) {
            return self.write(&[4]).await;
        }
        // Within a line, the first character only submits the partial line; the second is then at the beginning of a line.
        let character = modes.special_codes[SpecialCodeIndex::VEOF];
        let last = self.shared.last.load(Ordering::Relaxed);
        let is_return = last == b'\r' && modes.input_modes.contains(InputModes::ICRNL);
        let is_at_beginning = last == b'\n' || last == character || is_return;
        let count = if is_at_beginning { 1 } else { 2 };
        self.write(&[character; 2][..count]).await
    }

    /// Sets the size of the terminal, and notifies the program.
    ///
    /// # Errors
    ///
    /// `Unsupported` where the command has no terminal; `BrokenPipe` once its processes are gone and it was released.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        let Some(terminal) = self.terminal() else {
            let is_closed = self.shared.is_terminal;
            return Err(if is_closed { io::ErrorKind::BrokenPipe } else { io::ErrorKind::Unsupported }.into());
        };
        let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(tcsetwinsize(terminal.as_fd(), size)?)
    }

    /// Returns true if the input is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.shared.is_terminal
    }
}
