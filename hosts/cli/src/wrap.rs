//! Wrapping of text at words, to the width of the terminal.

use std::env;
use std::io::IsTerminal as _;
use terminal_size::{Width, terminal_size_of};

/// Minimum number of columns for wrapping; a terminal that reports fewer probably does not know its width.
const LEAST: usize = 30;
/// Maximum number of columns of a line of text. Longer lines are hard to read.
pub(crate) const MAX_COLUMNS: usize = 100;
/// Minimum number of columns at which a line of a source file is taken for a broken one.
const SOURCE_COLUMNS: usize = 72;

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

/// Returns the maximum line length of help texts, which clap wraps to the same width.
pub(crate) fn help_columns() -> usize {
    columns(std::io::stdout().is_terminal()).unwrap_or(MAX_COLUMNS)
}

/// Joins the lines of each paragraph that were broken at the width of a source file. Lists, tables, code blocks, indented lines and short
/// lines stay as they are.
pub(crate) fn paragraphs(text: &str) -> String {
    let mut joined = String::new();
    let (mut is_code, mut last) = (false, None::<&str>);
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        let is_prose = !is_code && !is_fence && is_prose(line);
        let first_word = line.split(' ').next().unwrap_or_default();
        let continues = is_prose
            && last.is_some_and(|last| {
                !last.ends_with("  ") && width(last) + 1 + width(first_word) > SOURCE_COLUMNS
            });
        match last {
            None if joined.is_empty() => {}
            _ if continues => joined.push(' '),
            _ => joined.push('\n'),
        }
        joined.push_str(line);
        is_code ^= is_fence;
        last = is_prose.then_some(line);
    }
    joined
}

/// Returns true if a line is part of a paragraph.
fn is_prose(line: &str) -> bool {
    let marks = ["- ", "* ", "+ ", "#", ">", "|"];
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_item = number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") "));
    !line.is_empty()
        && !line.starts_with([' ', '\t'])
        && !is_item
        && !marks.iter().any(|mark| line.starts_with(mark))
}

/// Returns the number of columns of a text. Characters from U+1100 on count as two.
fn width(text: &str) -> usize {
    text.chars().map(|c| if (c as u32) < 0x1100 { 1 } else { 2 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_broken_paragraphs_are_joined() {
        let long = "x".repeat(70);
        for (text, expected) in [
            (format!("{long}\nyy z\nshort\nlines"), format!("{long} yy z\nshort\nlines")),
            (format!("{long} a\n{long} b\nend"), format!("{long} a {long} b end")),
            (format!("{long}\n\nyyy"), format!("{long}\n\nyyy")),
            (
                format!("{long} a\n- {long} b\n  more\n2. two"),
                format!("{long} a\n- {long} b\n  more\n2. two"),
            ),
            (format!("```\n{long} a\n{long}\n```\nend"), format!("```\n{long} a\n{long}\n```\nend")),
            (format!("{long} a  \nend"), format!("{long} a  \nend")),
            (format!("{long} a\n2.5 of it"), format!("{long} a 2.5 of it")),
        ] {
            assert_eq!(paragraphs(&text), expected, "{text}");
        }
    }

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
