//! Warnings of the libraries, for the person who runs a server.

use crate::config;
use std::fmt::{self, Write as _};
use toolkit::text::escape_line;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Prints the warnings and errors that the crates of the toolkit log to standard error from now on, unless the program logs them itself.
pub(crate) fn print() {
    // A program with this command in it may have a subscriber.
    let _ = tracing::subscriber::set_global_default(Printer(config::warn));
}

/// A subscriber that prints warnings by a function, and has no spans.
struct Printer<P>(P);

impl<P: Fn(&str) + 'static> Subscriber for Printer<P> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::WARN && is_own(metadata.target())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        (self.0)(&escape_line(&text.whole()));
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// Returns true for the crates of the toolkit. What others log is for their developers.
fn is_own(target: &str) -> bool {
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
        for other in ["rmcp", "toolkits", "hyper::toolkit", ""] {
            assert!(!is_own(other), "{other}");
        }
    }

    #[test]
    fn a_warning_has_its_message_and_its_fields() {
        let (tell, told) = std::sync::mpsc::channel();
        tracing::subscriber::with_default(
            Printer(move |text: &str| tell.send(text.to_owned()).unwrap()),
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
