//! A terminal that is read and written without a thread: it never blocks, and is polled.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The pause between two polls: too short for a person to notice.
const PAUSE: Duration = Duration::from_millis(30);
/// The most bytes of a typed line.
const LONGEST_LINE: usize = 64 << 10;

/// A longer gap than this between two polls means that the process was stopped, or that the machine slept.
pub(super) const GAP: Duration = Duration::from_millis(500);

/// The result of waiting for a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// A line, without its line ending.
    Line(String),
    /// The end of input: Ctrl-D, or a terminal that hung up. A part of a line before it is discarded, because the person has not
    /// pressed Enter.
    End,
    /// No line yet, but the process was probably stopped and continued.
    Resumed,
}

pub(super) struct Device {
    file: File,
    /// The bytes read after the end of the line.
    read: Vec<u8>,
}

impl Device {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        never_block(&mut options)?;
        let file = options.open(path)?;
        if !file.is_terminal() {
            return Err(io::Error::other("it is not a terminal"));
        }
        Ok(Self { file, read: Vec::new() })
    }

    pub(super) async fn write(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => sleep(PAUSE).await,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for a line.
    pub(super) async fn read_line(&mut self) -> io::Result<Typed> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
                let line: Vec<u8> = self.read.drain(..=end).take(end).collect();
                return Ok(Typed::Line(text(&line)));
            }
            if self.read.len() > LONGEST_LINE {
                return Err(io::Error::other("the typed line is too long"));
            }
            match self.read_some()? {
                Some(0) => {
                    self.read.clear();
                    return Ok(Typed::End);
                }
                Some(_) => {}
                None => {
                    let since = Instant::now();
                    sleep(PAUSE).await;
                    if since.elapsed() > GAP {
                        return Ok(Typed::Resumed);
                    }
                }
            }
        }
    }

    /// Discards typed lines that were not read; returns true if there were any. An unfinished line stays
    /// in the terminal's buffer.
    pub(super) fn discard_typed(&mut self) -> io::Result<bool> {
        let mut any = !self.read.is_empty();
        // Bounded, in case input arrives without end.
        for _ in 0..1_000 {
            match self.read_some()? {
                None | Some(0) => break,
                Some(_) => {
                    any = true;
                    self.read.clear();
                }
            }
        }
        self.read.clear();
        Ok(any)
    }

    /// Reads available bytes and returns their number; `None` if there are none yet.
    fn read_some(&mut self) -> io::Result<Option<usize>> {
        let mut buffer = [0; 4096];
        match self.file.read(&mut buffer) {
            Ok(count) => {
                self.read.extend_from_slice(&buffer[..count]);
                Ok(Some(count))
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns the typed text, without control characters that line editing may have left in it.
fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line)
        .chars()
        .filter(|character| !character.is_control() || *character == '\t')
        .collect()
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it fails")]
fn never_block(options: &mut OpenOptions) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    // The flag applies to this opening only: the shell's own file description is unchanged.
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    Ok(())
}

#[cfg(not(unix))]
fn never_block(_options: &mut OpenOptions) -> io::Result<()> {
    Err(io::Error::new(ErrorKind::Unsupported, "asking on a terminal is not supported on this system"))
}
