//! Lines that are typed while the model works. The terminal is in its usual mode then: it shows what is typed, and hands over whole lines.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::time::Duration;
use toolkit::approval::TerminalApprover;

/// The time between two looks for a line.
const INTERVAL: Duration = Duration::from_millis(50);
/// The longest line.
const MAX_LINE_BYTES: usize = 1 << 20;

/// The terminal.
pub(super) struct Typed {
    terminal: File,
    /// The beginning of a line.
    line: Vec<u8>,
}

impl Typed {
    /// Opens the terminal; `None` if lines cannot be read without waiting for them.
    #[cfg(unix)]
    pub(super) fn open() -> Option<Self> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        Some(Self { terminal: options.open("/dev/tty").ok()?, line: Vec::new() })
    }

    /// Lines cannot be read without waiting for them on this system.
    #[cfg(not(unix))]
    pub(super) fn open() -> Option<Self> {
        None
    }

    /// Waits for lines. While a question stands on the terminal, lines answer it.
    pub(super) async fn lines(&mut self) -> Vec<String> {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if TerminalApprover::is_asking() {
                continue;
            }
            let lines = self.read();
            if !lines.is_empty() {
                return lines;
            }
        }
    }

    fn read(&mut self) -> Vec<String> {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = self.terminal.read(&mut bytes) {
            self.line.extend_from_slice(&bytes[..count]);
            if self.line.len() > MAX_LINE_BYTES {
                self.line.clear();
            }
        }
        let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        let rest = self.line.split_off(end + 1);
        let whole = std::mem::replace(&mut self.line, rest);
        let whole = String::from_utf8_lossy(&whole);
        whole.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }
}
