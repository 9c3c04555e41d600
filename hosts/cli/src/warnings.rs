//! Warnings of the libraries, for the person who runs a server.

use crate::config;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};
use toolkit::text::escape_line;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The most warnings that wait to be printed. Further ones are counted.
const MAX_WAITING: usize = 256;
/// Time for the last warnings to be printed at the end.
const LAST: Duration = Duration::from_millis(500);

/// Prints the warnings and errors that the crates of the toolkit log to standard error from now on, unless the program logs them itself. A thread
/// prints them: nothing else waits where nobody reads them. The returned value waits for the last ones when it is dropped.
pub(crate) fn print() -> Printing {
    print_and(|_, _| {})
}

/// Prints them, and has `further` get all that is logged at least as information.
pub(crate) fn print_and(further: impl Fn(&Metadata<'_>, &str) + Send + Sync + 'static) -> Printing {
    let queue = Arc::new(Waiting::default());
    let (texts, received) = sync_channel::<String>(MAX_WAITING);
    let printed = Arc::clone(&queue);
    let started = std::thread::Builder::new().name("toolkit-warnings".to_owned()).spawn(move || {
        for text in received {
            config::warn(&text);
            let lost = printed.lost.swap(0, Ordering::Relaxed);
            if lost > 0 {
                config::warn(&format!("{lost} further warnings came faster than they could be printed"));
            }
            printed.count.fetch_sub(1, Ordering::Release);
        }
    });
    let waiting = Arc::clone(&queue);
    let print = move |text: &str| {
        waiting.count.fetch_add(1, Ordering::Relaxed);
        if texts.try_send(text.to_owned()).is_err() {
            waiting.count.fetch_sub(1, Ordering::Relaxed);
            waiting.lost.fetch_add(1, Ordering::Relaxed);
        }
    };
    if started.is_ok() {
        // A program with this command in it may have a subscriber.
        let _ = tracing::subscriber::set_global_default(Printer { print, further });
    }
    Printing(queue)
}

#[derive(Default)]
struct Waiting {
    count: AtomicUsize,
    lost: AtomicUsize,
}

/// The printing of warnings.
#[must_use = "the last warnings are printed when it is dropped"]
pub(crate) struct Printing(Arc<Waiting>);

impl Drop for Printing {
    fn drop(&mut self) {
        let begun = Instant::now();
        while self.0.count.load(Ordering::Acquire) > 0 && begun.elapsed() < LAST {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A subscriber that prints warnings by a function, hands all to a further one, and has no spans.
struct Printer<P, F> {
    print: P,
    further: F,
}

impl<P: Fn(&str) + 'static, F: Fn(&Metadata<'_>, &str) + 'static> Subscriber for Printer<P, F> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::INFO && is_own(metadata.target())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        let text = text.whole();
        let text = escape_line(&text);
        if *event.metadata().level() <= Level::WARN {
            (self.print)(&text);
        }
        (self.further)(event.metadata(), &text);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// Returns true for the crates of the toolkit. What others log is for their developers, and messages of MCP servers may hold secrets of theirs.
pub(crate) fn is_own(target: &str) -> bool {
    target != "toolkit_mcp::client::log" && is_of_toolkit(target)
}

fn is_of_toolkit(target: &str) -> bool {
    target == "toolkit" || target.starts_with("toolkit_") || target.starts_with("toolkit::")
}

/// The text of a warning: its message, and its other fields in parentheses.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Text {
    fn whole(self) -> String {
        let Self { message, fields } = self;
        if fields.is_empty() { message } else { format!("{message} ({fields})") }
    }
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            let _ = write!(self.message, "{value:?}");
            return;
        }
        if !self.fields.is_empty() {
            self.fields.push_str(", ");
        }
        let _ = write!(self.fields, "{}: {value:?}", field.name());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crates_of_the_toolkit_are_told_apart_from_others() {
        for own in ["toolkit", "toolkit::agent", "toolkit_mcp::stdio::lines", "toolkit_serve"] {
            assert!(is_own(own), "{own}");
        }
        for other in ["rmcp", "toolkit_mcp::client::log", "toolkits", "hyper::toolkit", ""] {
            assert!(!is_own(other), "{other}");
        }
    }

    #[test]
    fn a_warning_has_its_message_and_its_fields() {
        let (tell, told) = std::sync::mpsc::channel();
        tracing::subscriber::with_default(
            Printer {
                print: move |text: &str| tell.send(text.to_owned()).unwrap(),
                further: |_: &Metadata<'_>, _: &str| {},
            },
            || {
                tracing::warn!(error = %"no\nfile", count = 2, "it cannot be read");
                tracing::warn!("{} is gone", "it");
                tracing::info!("nothing happened");
                tracing::warn!(target: "rmcp", "this is for others");
            },
        );
        let all: Vec<String> = told.iter().collect();
        assert_eq!(all, ["it cannot be read (error: no\\u{a}file, count: 2)", "it is gone"]);
    }
}
