//! Titles of calls that have just started. The title in a tool's answer replaces them.

use toolkit::{ToolContext, text::escape_line};

/// Maximum number of characters of the object in a title.
const MAX_CHARS: usize = 100;

/// Sets the title of a starting call: the action and its object. The object comes from a model, so it is escaped and
/// truncated.
pub(crate) fn begin(ctx: &ToolContext, verb: &str, what: &str) {
    ctx.set_title(format!("{verb} {}", short(what)).trim_end().to_owned());
}

/// The first line of a text, escaped and cut.
pub(crate) fn short(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(MAX_CHARS).collect();
    if short.len() < text.trim().len() {
        short.push('…');
    }
    escape_line(&short).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_short_line() {
        for (text, expected) in [
            ("src/main.rs", "src/main.rs".to_owned()),
            ("  a\nb", "a…".to_owned()),
            ("\u{1b}[2J", "\\u{1b}[2J".to_owned()),
            (&"x".repeat(101), "x".repeat(100) + "…"),
            ("", String::new()),
        ] {
            assert_eq!(short(text), expected);
        }
    }
}
