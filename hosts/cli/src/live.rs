//! Events of a running call, shown on standard error when it is a terminal.
//!
//! Only whole lines are written, and no line is overwritten later, so nothing has to be erased when a permission prompt appears.
//! Events that arrive during a prompt are shown after it.

use crate::console::Console;
use crate::format::Format;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};
use toolkit::{
    Content, Toolbox,
    approval::TerminalApprover,
    events::{Event, Events, Progress},
    text::escape_line,
};

/// Minimum time between two progress lines.
const EVERY: Duration = Duration::from_millis(500);
/// Maximum number of bytes that are kept during a prompt, and that are compared with the result.
const MAX_BYTES: usize = 1 << 20;

/// The events of a running call.
pub(crate) struct Live {
    events: Events,
    shown: Shown,
    waiting: VecDeque<LiveOutput>,
    waiting_bytes: usize,
    /// Time and text of the last progress line.
    progress: Option<(Instant, String)>,
}

/// An event to show.
enum LiveOutput {
    /// A part of the answer.
    Part(String),
    /// A line of ours.
    Line(String),
}

/// The partial output that was shown before the result arrived.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// The parts, one after another; nothing where they are too long to compare.
    text: String,
    is_too_long: bool,
    is_within_line: bool,
}

impl Live {
    /// Watches the calls of a toolbox, where a person sees it: standard error is a terminal, and the result is for people.
    pub(crate) fn start(toolbox: &Toolbox, format: Format, console: &Console<'_>) -> Option<Self> {
        (format == Format::Text && console.err_is_terminal).then(|| Self::of(toolbox.events()))
    }

    fn of(events: Events) -> Self {
        Self { events, shown: Shown::default(), waiting: VecDeque::new(), waiting_bytes: 0, progress: None }
    }

    /// Runs a call to its end, and shows its events meanwhile.
    pub(crate) async fn follow<T>(&mut self, call: impl Future<Output = T>, console: &mut Console<'_>) -> T {
        let mut call = pin!(call);
        poll_fn(|task| {
            let polled = call.as_mut().poll(task);
            while let Poll::Ready(Some(event)) = self.events.poll_next(task) {
                self.take(event.event);
            }
            // A call that is over has no open question.
            if polled.is_ready() || !TerminalApprover::is_asking() {
                self.show(console);
            }
            polled
        })
        .await
    }

    /// Ends a partial line, and returns the output that was shown.
    pub(crate) fn finish(mut self, console: &mut Console<'_>) -> Shown {
        if std::mem::take(&mut self.shown.is_within_line) {
            console.live("\n");
            self.shown.text.push('\n');
        }
        self.shown
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Partial { content: Content::Text { text } } => self.wait(LiveOutput::Part(text)),
            Event::Progress(progress) => {
                let is_last = progress.total.is_some_and(|total| progress.done >= total);
                let line = line(&progress);
                let is_due = self
                    .progress
                    .as_ref()
                    .is_none_or(|(at, shown)| *shown != line && (is_last || at.elapsed() >= EVERY));
                if is_due && !self.is_shown(progress.message.as_deref()) {
                    self.progress = Some((Instant::now(), line.clone()));
                    self.wait(LiveOutput::Line(line));
                }
            }
            _ => {}
        }
    }

    /// Returns true if the last line of the partial output equals the message.
    fn is_shown(&self, message: Option<&str>) -> bool {
        let last = self.waiting.iter().rev().find_map(|output| match output {
            LiveOutput::Part(text) => Some(text.as_str()),
            LiveOutput::Line(_) => None,
        });
        let text = last.unwrap_or(&self.shown.text);
        let line = text.lines().rev().find(|line| !line.trim().is_empty());
        message
            .is_some_and(|message| line.is_some_and(|line| escape_line(line) == message || line == message))
    }

    fn wait(&mut self, output: LiveOutput) {
        self.waiting_bytes += output.text().len();
        self.waiting.push_back(output);
        while self.waiting_bytes > MAX_BYTES {
            let Some(oldest) = self.waiting.pop_front() else { break };
            self.waiting_bytes -= oldest.text().len();
            self.shown.is_too_long = true;
        }
    }

    fn show(&mut self, console: &mut Console<'_>) {
        for output in self.waiting.drain(..) {
            match output {
                LiveOutput::Part(text) => {
                    self.shown.is_within_line = !text.ends_with('\n');
                    console.live_said(&text);
                    self.shown.add(&text);
                }
                LiveOutput::Line(line) => {
                    if std::mem::take(&mut self.shown.is_within_line) {
                        console.live("\n");
                    }
                    console.live_note(&line);
                }
            }
        }
        self.waiting_bytes = 0;
    }
}

impl LiveOutput {
    fn text(&self) -> &str {
        match self {
            Self::Part(text) | Self::Line(text) => text,
        }
    }
}

impl Shown {
    fn add(&mut self, text: &str) {
        if self.text.len() + text.len() > MAX_BYTES {
            self.is_too_long = true;
            self.text.clear();
        }
        if !self.is_too_long {
            self.text.push_str(text);
        }
    }

    /// Returns the part of a result that was not shown yet: the whole result, unless it begins with the shown text.
    pub(crate) fn rest<'a>(&self, text: &'a str) -> &'a str {
        if self.is_too_long || self.text.is_empty() {
            return text;
        }
        // The last line may not have ended when it was shown.
        let begun = self.text.strip_suffix('\n').unwrap_or(&self.text);
        match text.strip_prefix(begun) {
            Some(rest) if rest.is_empty() || rest.starts_with('\n') => {
                rest.strip_prefix('\n').unwrap_or(rest)
            }
            _ => text,
        }
    }
}

/// Progress in a line: `3 of 10: a.txt`.
fn line(progress: &Progress) -> String {
    let message = progress.message.as_deref().map(|message| escape_line(message).into_owned());
    match (progress.total, message) {
        (Some(total), Some(message)) => format!("{} of {total}: {message}", progress.done),
        (Some(total), None) => format!("{} of {total}", progress.done),
        (None, Some(message)) => message,
        (None, None) => progress.done.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_one_safe_line() {
        for (progress, expected) in [
            (Progress::new(3).with_total(10).with_message("a\u{1b}[2J\nb"), "3 of 10: a\\u{1b}[2J\\u{a}b"),
            (Progress::new(3).with_total(10), "3 of 10"),
            (Progress::new(0.5).with_message("half"), "half"),
            (Progress::new(7), "7"),
        ] {
            assert_eq!(line(&progress), expected);
        }
    }

    #[test]
    fn a_result_that_was_shown_is_not_repeated() {
        for (parts, result, expected) in [
            (&["one\n", "two\n"][..], "one\ntwo\n[exit code 0]", "[exit code 0]"),
            (&["one\n", "tw"], "one\ntw\n[exit code 0]", "[exit code 0]"),
            (&["one\n"], "one\n", ""),
            (&["one"], "one", ""),
            (&["one\n"], "other\n", "other\n"),
            (&["on"], "one\n", "one\n"),
            (&[], "one\n", "one\n"),
        ] {
            let mut shown = Shown::default();
            for part in parts {
                shown.add(part);
            }
            assert_eq!(shown.rest(result), expected, "{parts:?}");
        }
        let mut shown = Shown::default();
        shown.add(&"x".repeat(MAX_BYTES));
        shown.add("\n");
        assert_eq!(shown.rest("x"), "x");
    }
}
