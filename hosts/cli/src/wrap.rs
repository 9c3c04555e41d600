//! Wrapping of text at words, to the width of the terminal.

use std::env;
use terminal_size::{Width, terminal_size_of};

/// Minimum number of columns for wrapping; a terminal that reports fewer probably does not know its width.
const LEAST: usize = 30;
/// Maximum number of columns of a line of text. Longer lines are hard to read.
pub(crate) const MAX_COLUMNS: usize = 100;

/// Returns the maximum line length on standard output: `COLUMNS` if set, else the width of the terminal, at most 100. Without either,
/// lines are not wrapped.
pub(crate) fn columns(out_is_terminal: bool) -> Option<usize> {
    let given = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let columns: Option<usize> = given.or_else(|| {
        let size = out_is_terminal.then(|| terminal_size_of(std::io::stdout())).flatten();
        size.map(|(Width(columns), _)| columns.into())
    });
    columns.filter(|columns| *columns >= LEAST).map(|columns| columns.min(MAX_COLUMNS))
}

/// Returns the lines of a text, each after `first`, or after `further` if it continues a wrapped line. Empty lines stay empty;
/// indentation in the text is kept.
pub(crate) fn wrap(text: &str, first: &str, further: &str, columns: Option<usize>) -> String {
    let mut wrapped = String::new();
    for (number, line) in text.lines().enumerate() {
        let indent = if number == 0 { first } else { further };
        let body = line.trim_start_matches(' ');
        let own = " ".repeat(line.len() - body.len());
        if body.trim_end().is_empty() {
            wrapped.push('\n');
            continue;
        }
        let mut written = format!("{indent}{own}");
        let mut gap = None;
        for word in body.split(' ') {
            // Of several spaces, all stay.
            if word.is_empty() {
                gap = gap.map(|gap| gap + 1);
                continue;
            }
            if let Some(gap) = gap {
                if columns.is_none_or(|columns| width(&written) + gap + width(word) <= columns) {
                    written.push_str(&" ".repeat(gap));
                } else {
                    wrapped.push_str(&written);
                    wrapped.push('\n');
                    written = format!("{further}{own}");
                }
            }
            written.push_str(word);
            gap = Some(1);
        }
        wrapped.push_str(&written);
        wrapped.push('\n');
    }
    wrapped
}

/// Returns the number of columns of a text. Characters from U+1100 on count as two.
fn width(text: &str) -> usize {
    text.chars().map(|c| if (c as u32) < 0x1100 { 1 } else { 2 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_words() {
        for (text, columns, expected) in [
            ("one two three", Some(12), "- one two\n  three\n"),
            ("one two three", None, "- one two three\n"),
            ("one\n\n  two three four", Some(12), "- one\n\n    two\n    three\n    four\n"),
            ("averylongwordindeed x", Some(12), "- averylongwordindeed\n  x\n"),
            ("", Some(12), ""),
        ] {
            assert_eq!(wrap(text, "- ", "  ", columns), expected, "{text:?}");
        }
        assert_eq!(wrap("name  notes", "  ", "", Some(40)), "  name  notes\n");
        assert_eq!(wrap("日本 日本 日本", "", "", Some(10)), "日本 日本\n日本\n");
    }
}
