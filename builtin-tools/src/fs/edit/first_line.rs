//! The first line of an old text that begins within the indentation of a line.
//!
//! An old text that has lost only the indentation of its first line matches the file exactly. The indentation before the
//! match stays, so a new text whose first line has its full indentation would be indented twice there. A new text that lost
//! it too is correct as it is. The other lines show which of the two applies, since they begin at the start of their lines.
//! If they contradict each other, it is an error rather than a guess.

use super::frame::{Unclear, is_blank, opens_block};
use super::locate::{Located, is_within_bounds};
use super::replacement::Replacement;
use crate::fs::fold::indentation;

/// Interpretation of the first line of a new text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Text that replaces the old text, after the existing indentation.
    Text,
    /// A whole line, with its indentation.
    Line,
}

/// Extends the matches to whole lines if the first line of the new text is one, and returns the indentation by which each
/// became longer; `None` if nothing has to be extended.
///
/// # Errors
///
/// If the indentation of the first line is ambiguous, or the matches have different indentations.
pub(super) fn widen(
    file: &[u8],
    found: &mut Located,
    replacement: &Replacement<'_>,
) -> Result<Option<String>, Unclear> {
    let mut decided: Option<(Reading, &str)> = None;
    let mut last = "";
    for range in &found.ranges {
        let missing = before(file, range.start);
        // Many matches have the same indentation, which is evaluated once.
        if decided.is_some() && missing == last {
            continue;
        }
        last = missing;
        let reading = if missing.is_empty() {
            Reading::Text
        } else {
            reading(missing, replacement.old, replacement.new).ok_or(Unclear(0))?
        };
        let this = (reading, if reading == Reading::Line { missing } else { "" });
        if decided.is_some_and(|decided| decided != this) {
            return Err(Unclear(0));
        }
        decided = Some(this);
    }
    let Some((Reading::Line, missing)) = decided else { return Ok(None) };
    for range in &mut found.ranges {
        range.start -= missing.len();
        if !is_within_bounds(range, replacement.old) {
            return Err(Unclear(0));
        }
    }
    Ok(Some(missing.to_owned()))
}

/// Returns the spaces and tabs before `at`, if nothing else precedes it on the line.
fn before(file: &[u8], at: usize) -> &str {
    // From the place backwards: a line may be long, and have many places.
    let spaces = file[..at].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let (line, text) = file[..at].split_at(at - spaces);
    let is_first = line.last().is_none_or(|byte| *byte == b'\n');
    std::str::from_utf8(text).ok().filter(|_| is_first).unwrap_or_default()
}

/// Returns the interpretation of the first line of `new`, where `missing` precedes the first line of `old` in the file;
/// `None` if it is ambiguous.
fn reading(missing: &str, old: &str, new: &str) -> Option<Reading> {
    // The rest of the first line would indent the following text twice.
    if new.is_empty() {
        return Some(if old.ends_with('\n') { Reading::Line } else { Reading::Text });
    }
    let (Some(first_old), Some(first_new)) = (old.lines().next(), new.lines().next()) else {
        return Some(Reading::Text);
    };
    let (asked, came) = (indent_of(first_old), indent_of(first_new));
    if is_blank(first_old) || is_blank(first_new) || came == asked {
        return Some(Reading::Text);
    }
    let whole = format!("{missing}{asked}");
    let (olds, news) = (Rest::of(old), Rest::of(new));
    let Some(old_depth) = olds.depth else {
        // No other line shows which of the two applies. With the indentation of the file, the new line is a whole one; with another, it is
        // unclear, unless it differs from the old one in its indentation alone.
        let is_reindented = news.depth.is_none() && first_old.trim() == first_new.trim();
        return match (is_reindented, came == whole) {
            (true, _) => Some(Reading::Text),
            (false, true) => Some(Reading::Line),
            (false, false) => None,
        };
    };
    let Some(new_depth) = news.depth else { return (came == whole).then_some(Reading::Line) };
    let of_rest = shift(old_depth, new_depth);
    let (as_text, as_line) = (shift(asked, came), shift(&whole, came));
    if of_rest.is_some() && of_rest == as_line {
        return Some(Reading::Line);
    }
    let is_shifted_whole = of_rest.is_some() && of_rest == as_text;
    if came != whole {
        return is_shifted_whole.then_some(Reading::Text);
    }
    let is_put_around = opens_block(first_new) && !opens_block(first_old);
    if !is_shifted_whole || is_put_around {
        return Some(Reading::Line);
    }
    // All lines became deeper by the missing indentation: this is intended only if the new lines have the same text.
    let is_same = first_old.trim() == first_new.trim() && olds.texts == news.texts;
    is_same.then_some(Reading::Text)
}

/// The lines after the first.
struct Rest<'a> {
    /// Minimum indentation of the lines with text.
    depth: Option<&'a str>,
    /// Texts of the lines without their indentation.
    texts: Vec<&'a str>,
}

impl<'a> Rest<'a> {
    fn of(text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().skip(1).filter(|line| !is_blank(line)).collect();
        let depth = lines.iter().map(|line| indent_of(line)).min_by_key(|indent| indent.len());
        Self { depth, texts: lines.into_iter().map(str::trim).collect() }
    }
}

/// Returns the difference in length of two indentations, if one is a prefix of the other.
fn shift(from: &str, to: &str) -> Option<isize> {
    (to.starts_with(from) || from.starts_with(to)).then(|| to.len().checked_signed_diff(from.len()))?
}

fn indent_of(line: &str) -> &str {
    &line[..indentation(line.as_bytes())]
}
