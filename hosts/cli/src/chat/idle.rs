//! The wait at an empty prompt. The line editor cannot be interrupted once it reads, so it begins only with the first key: until then,
//! the end of a background job can begin a turn.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The time between two looks for a key, where the terminal cannot be waited for.
const INTERVAL: Duration = Duration::from_millis(30);
/// Asks the terminal to mark pasted text, for the line editor, and shows the prompt.
const PROMPT: &str = "\u{1b}[?2004h\r> ";
/// Removes the prompt.
const CLEAR: &str = "\r\u{1b}[K";
/// Has pasted text no longer marked.
const UNMARK: &str = "\u{1b}[?2004l";

/// A terminal that shows a prompt and hands over each key at once, until it is dropped.
pub(super) struct IdlePrompt {
    before: Termios,
}

impl IdlePrompt {
    /// Shows the prompt. `None` if standard input is no terminal that can be set so.
    pub(super) fn show() -> Option<Self> {
        let stdin = io::stdin();
        let before = tcgetattr(&stdin).ok()?;
        let mut keys = before.clone();
        keys.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
        keys.input_modes -= InputModes::ICRNL;
        tcsetattr(&stdin, OptionalActions::Now, &keys).ok()?;
        let shown = Self { before };
        write(PROMPT);
        Some(shown)
    }

    /// Removes the prompt.
    #[expect(clippy::unused_self, reason = "only a prompt that is shown can be hidden")]
    pub(super) fn hide(&self) {
        write(CLEAR);
    }

    /// Waits for a key, which stays to be read.
    pub(super) async fn key(&self) {
        let terminal = watched();
        while !is_readable() {
            match &terminal {
                // The state that the runtime knows may be older than the look.
                Some(terminal) => match terminal.readable().await {
                    Ok(mut ready) if !is_readable() => ready.clear_ready(),
                    Ok(_) => {}
                    Err(_) => tokio::time::sleep(INTERVAL).await,
                },
                None => tokio::time::sleep(INTERVAL).await,
            }
        }
    }
}

/// The modes of the terminal, which are restored when this is dropped, wherever the line editor was left.
pub(super) struct Restored(Option<Termios>);

impl Restored {
    pub(super) fn at_end() -> Self {
        Self(tcgetattr(io::stdin()).ok())
    }
}

impl Drop for Restored {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // A terminal that is gone cannot be set.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// Returns standard input as the runtime waits for it. `None` if it cannot.
#[expect(
    deprecated,
    reason = "what takes its place is unsafe: a descriptor must stay open and the same. One that is owned does"
)]
fn watched() -> Option<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(io::stdin().as_fd().try_clone_to_owned().ok()?, Interest::READABLE).ok()
}

impl Drop for IdlePrompt {
    fn drop(&mut self) {
        write(UNMARK);
        // A terminal that is gone cannot be set.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// Returns true if a read of standard input would not wait.
fn is_readable() -> bool {
    let stdin = io::stdin();
    let mut look = [PollFd::new(&stdin, PollFlags::IN)];
    // An error is one of the line editor's too, which says what it is.
    poll(&mut look, Some(&Timespec::default())).is_ok_and(|count| count > 0)
}

fn write(text: &str) {
    let mut out = io::stdout();
    // Without a prompt, lines are read all the same.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
