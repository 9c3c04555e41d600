//! Colours of a question. The text is escaped before it is coloured, so that it can contain no other escape
//! sequences.

use std::env;
use std::ffi::OsStr;
use toolkit_core::ask::{PromptLine, Tone};

/// The choice whether a question is shown with colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Plain,
    Colours,
}

impl Paint {
    /// Decides by the environment: <https://no-color.org>, and terminals without colours.
    pub(super) fn of_environment() -> Self {
        Self::of(env::var_os("NO_COLOR").as_deref(), env::var_os("TERM").as_deref())
    }

    fn of(no_color: Option<&OsStr>, term: Option<&OsStr>) -> Self {
        let is_able = term.is_some_and(|term| !term.is_empty() && term != "dumb");
        if is_able && no_color.is_none_or(OsStr::is_empty) { Self::Colours } else { Self::Plain }
    }

    /// Returns the lines as text.
    pub(super) fn lines(self, lines: &[PromptLine]) -> String {
        let mut text = String::new();
        for PromptLine { prefix, text: line, tone } in lines {
            text.push_str(prefix);
            match (self, sequence(*tone)) {
                (Self::Colours, Some(sequence)) => {
                    text.push_str(sequence);
                    text.push_str(line);
                    text.push_str("\u{1b}[0m");
                }
                _ => text.push_str(line),
            }
            text.push('\n');
        }
        text
    }
}

fn sequence(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Heading | Tone::Action => Some("\u{1b}[1m"),
        Tone::Added => Some("\u{1b}[32m"),
        Tone::Removed => Some("\u{1b}[31m"),
        Tone::Hunk => Some("\u{1b}[36m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides() {
        for (no_color, term, expected) in [
            (None, Some("xterm"), Paint::Colours),
            (Some(""), Some("xterm"), Paint::Colours),
            (Some("1"), Some("xterm"), Paint::Plain),
            (None, Some("dumb"), Paint::Plain),
            (None, Some(""), Paint::Plain),
            (None, None, Paint::Plain),
        ] {
            let of = Paint::of(no_color.map(OsStr::new), term.map(OsStr::new));
            assert_eq!(of, expected, "{no_color:?} {term:?}");
        }
    }
}
