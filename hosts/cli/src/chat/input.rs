//! The messages of the person: from a line editor on a terminal, or from the lines of standard input.

use super::complete::{Helper, Words, joined};
use crate::console::Console;
use crate::exit::Stop;
use crate::format::Format;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{Behavior, Config, Editor};
use std::future::poll_fn;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::pin::pin;
use std::task::Poll;
use tokio::task::JoinHandle;

/// The most bytes of a line of standard input.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// The most lines that are remembered.
const MAX_HISTORY: usize = 1_000;
const PROMPT: &str = "> ";

/// Something that the person did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of standard input.
    End,
    /// Something else ended the wait: a background job has ended.
    Woken,
    /// A signal ended the wait, and ends the conversation.
    Signalled,
}

/// The source of messages.
pub(super) enum Input {
    /// It is `None` while it reads, on a thread of its own.
    Terminal(Option<Box<Lines>>),
    /// The line that is being read, while the wait for it is interrupted.
    Lines(Option<JoinHandle<Result<Entry, Stop>>>),
}

/// The line editor.
pub(super) struct Lines {
    editor: Editor<Helper, DefaultHistory>,
    history: Option<PathBuf>,
}

impl Input {
    /// A line editor where there is a terminal to type on and to read on.
    pub(super) fn new(
        format: Format,
        console: &Console<'_>,
        words: Words,
        history: Option<PathBuf>,
    ) -> Result<Self, Stop> {
        if format == Format::Json || !console.err_is_terminal || !io::stdin().is_terminal() {
            return Ok(Self::Lines(None));
        }
        let cannot = |error: ReadlineError| Stop::failed(format!("the terminal cannot be used: {error}"));
        let config = Config::builder()
            .behavior(Behavior::PreferTerm)
            .auto_add_history(true)
            .history_ignore_space(true)
            // The wait before it asks for that.
            .bracketed_paste(!cfg!(unix))
            .max_history_size(MAX_HISTORY)
            .map_err(cannot)?
            .build();
        let mut editor = Editor::with_config(config).map_err(cannot)?;
        editor.set_helper(Some(Helper(words)));
        if let Some(history) = &history {
            // The first time, there is none.
            let _ = editor.load_history(history);
        }
        Ok(Self::Terminal(Some(Box::new(Lines { editor, history }))))
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// Reads the next message, unless `woken` comes first. What runs in the background goes on meanwhile.
    pub(super) async fn next_unless(&mut self, woken: impl Future<Output = ()>) -> Result<Entry, Stop> {
        #[cfg(unix)]
        if self.is_terminal() {
            let prompt = super::idle::IdlePrompt::show();
            let key = async {
                if let Some(prompt) = &prompt {
                    prompt.key().await;
                }
            };
            let is_woken = is_first(woken, key).await;
            if let Some(prompt) = &prompt {
                prompt.hide();
            }
            // The line editor begins with the terminal as it is now, so that no key is taken for something else in between.
            return if is_woken { Ok(Entry::Woken) } else { self.next().await };
        }
        // Elsewhere the line editor cannot be interrupted: what waits is delivered with the next message.
        #[cfg(not(unix))]
        if self.is_terminal() {
            return self.next().await;
        }
        let mut entry = None;
        let read = async { entry = Some(self.next().await) };
        if is_first(woken, read).await {
            return Ok(Entry::Woken);
        }
        entry.unwrap_or(Ok(Entry::End))
    }

    /// Reads the next message. What runs in the background goes on meanwhile. It can be dropped and called again.
    pub(super) async fn next(&mut self) -> Result<Entry, Stop> {
        match self {
            Self::Lines(reading) => {
                let read = reading.get_or_insert_with(|| tokio::task::spawn_blocking(read_lines)).await;
                *reading = None;
                read.map_err(|error| Stop::failed(error.to_string()))?
            }
            Self::Terminal(lines) => {
                let Some(mut reading) = lines.take() else { return Ok(Entry::End) };
                let read = tokio::task::spawn_blocking(move || {
                    let entry = reading.read();
                    (reading, entry)
                });
                let (back, entry) = read.await.map_err(|error| Stop::failed(error.to_string()))?;
                *lines = Some(back);
                entry
            }
        }
    }
}

/// Returns true if the first of two futures is ready first; false if the second is ready, whatever the first is.
async fn is_first(first: impl Future<Output = ()>, second: impl Future<Output = ()>) -> bool {
    let (mut first, mut second) = (pin!(first), pin!(second));
    poll_fn(|task| {
        if second.as_mut().poll(task).is_ready() {
            return Poll::Ready(false);
        }
        first.as_mut().poll(task).map(|()| true)
    })
    .await
}

impl Lines {
    fn read(&mut self) -> Result<Entry, Stop> {
        match self.editor.readline(PROMPT) {
            Ok(line) => {
                if let Some(history) = &self.history {
                    // A chat without a history is better than none.
                    let _ = self.editor.append_history(history);
                }
                Ok(Entry::Text(joined(&line)))
            }
            Err(ReadlineError::Interrupted) => Ok(Entry::Interrupted),
            Err(ReadlineError::Eof) => Ok(Entry::End),
            Err(error) => Err(Stop::failed(format!("cannot read from the terminal: {error}"))),
        }
    }
}

/// Reads a message of standard input: a line, with those after it if it ends with `\`.
fn read_lines() -> Result<Entry, Stop> {
    let mut message = String::new();
    loop {
        let mut line = String::new();
        let count = io::stdin().lock().take(MAX_LINE_BYTES).read_line(&mut line)?;
        let is_end = count == 0;
        message.push_str(&line);
        if is_end && message.is_empty() {
            return Ok(Entry::End);
        }
        if is_end || !message.trim_end_matches(['\r', '\n']).ends_with('\\') {
            return Ok(Entry::Text(joined(message.trim_end_matches(['\r', '\n']))));
        }
    }
}
