//! Standard output and standard error, with or without colours.

use crate::exit::Stop;
use clap::builder::styling::{AnsiColor, Style};
use std::borrow::Cow;
use std::env;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal, Write};
use toolkit::text::escape_terminal;

/// Standard output and standard error, or their replacements in a test.
pub(crate) struct Console<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    pub(crate) out_paint: Paint,
    err_paint: Paint,
    pub(crate) out_is_terminal: bool,
    pub(crate) err_is_terminal: bool,
}

impl<'a> Console<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        let paint = Paint::Plain;
        Self { out, err, out_paint: paint, err_paint: paint, out_is_terminal: false, err_is_terminal: false }
    }

    /// Enables colours for each stream that is a terminal, if the environment permits; foreign text is escaped there.
    pub(crate) fn with_terminals(self) -> Self {
        let (out_is_terminal, err_is_terminal) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let (out_paint, err_paint) = (Paint::for_stream(out_is_terminal), Paint::for_stream(err_is_terminal));
        Self { out_paint, err_paint, out_is_terminal, err_is_terminal, ..self }
    }

    /// Writes to standard output. A closed reader is not an error.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Stop> {
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Stop::failed(format!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Writes a tool's text to standard output: unchanged, but escaped for a terminal, which would execute control
    /// sequences.
    pub(crate) fn print_said(&mut self, text: &str) -> Result<(), Stop> {
        if self.out_is_terminal { self.print(&escape_terminal(text)) } else { self.print(text) }
    }

    /// Writes JSON to standard output; for a terminal, control characters are written as JSON escapes.
    pub(crate) fn print_json(&mut self, json: &str) -> Result<(), Stop> {
        if !self.out_is_terminal || json.is_ascii() && !json.contains('\u{7f}') {
            return self.print(json);
        }
        let mut text = String::with_capacity(json.len());
        for character in json.chars() {
            let mut one = [0; 4];
            let shown = character.encode_utf8(&mut one);
            if *escape_terminal(shown) == *shown {
                text.push(character);
            } else {
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
        }
        self.print(&text)
    }

    /// Writes a line to standard error, where nothing can be done about a failure.
    pub(crate) fn note(&mut self, text: &str) {
        let _ = writeln!(self.err, "{text}");
    }

    /// Writes our own text to standard error while a call runs.
    pub(crate) fn live(&mut self, text: &str) {
        let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
    }

    /// Writes a running tool's text to standard error. This happens only on a terminal, so the text is escaped.
    pub(crate) fn live_said(&mut self, text: &str) {
        self.live(&escape_terminal(text));
    }

    /// Writes a line that is escaped already to standard error while a call runs.
    pub(crate) fn live_note(&mut self, line: &str) {
        let line = self.err_paint.dim(line);
        self.live(&format!("{line}\n"));
    }

    pub(crate) fn error(&mut self, message: &str) {
        let label = self.err_paint.apply(AnsiColor::Red.on_default().bold(), "error:");
        let message = if self.err_is_terminal { escape_terminal(message) } else { Cow::Borrowed(message) };
        self.note(&format!("{label} {message}"));
    }

    /// Writes a message of clap to its stream.
    pub(crate) fn parse_error(&mut self, error: &clap::Error) -> Result<(), Stop> {
        let text = error.render();
        let show = |paint| if paint == Paint::Colours { text.ansi().to_string() } else { text.to_string() };
        if error.use_stderr() {
            let text = show(self.err_paint);
            let _ = self.err.write_all(text.as_bytes());
            Ok(())
        } else {
            self.print(&show(self.out_paint))
        }
    }
}

/// The choice between plain and coloured text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Colours,
}

impl Paint {
    fn for_stream(is_terminal: bool) -> Self {
        let (no_color, term) = (env::var_os("NO_COLOR"), env::var_os("TERM"));
        if is_terminal && wants_colours(no_color.as_deref(), term.as_deref()) {
            Self::Colours
        } else {
            Self::Plain
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.apply(Style::new().bold(), text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.apply(Style::new().dimmed(), text)
    }

    fn apply(self, style: Style, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colours => format!("{style}{text}{style:#}"),
        }
    }
}

/// Returns true if the environment permits colours: `NO_COLOR` (<https://no-color.org>) is unset or empty, and `TERM`
/// is not `dumb`.
fn wants_colours(no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    no_color.is_none_or(OsStr::is_empty) && term.is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn only_a_reader_that_went_away_is_no_error() {
        for (kind, is_fine) in [(ErrorKind::BrokenPipe, true), (ErrorKind::StorageFull, false)] {
            let (mut out, mut err) = (Failing(kind), Vec::new());
            assert_eq!(Console::new(&mut out, &mut err).print("x").is_ok(), is_fine, "{kind}");
        }
    }

    #[test]
    fn colours_only_where_asked_for() {
        for (no_color, term, expected) in [
            (None, None, true),
            (Some(""), Some("xterm"), true),
            (Some("1"), Some("xterm"), false),
            (Some("0"), None, false),
            (None, Some("dumb"), false),
        ] {
            let wants = wants_colours(no_color.map(OsStr::new), term.map(OsStr::new));
            assert_eq!(wants, expected, "{no_color:?} {term:?}");
        }
        assert_eq!(Paint::Plain.bold("x"), "x");
        assert_eq!(Paint::Colours.bold("x"), "\u{1b}[1mx\u{1b}[0m");
    }
}
