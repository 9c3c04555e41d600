//! Lines and paths as they are shown.

use std::fmt::Write as _;
use std::ops::Range;

/// The longest line that is shown whole, in bytes.
const LONGEST_SHOWN: usize = 500;
/// Number of bytes shown of a longer line, without the note on the omitted part.
const SHOWN_OF_LONG: usize = 400;

/// Returns true if a line will be cut.
pub(super) fn is_long(line: &[u8]) -> bool {
    without_ending(line).len() > LONGEST_SHOWN
}

/// Returns a line without its ending; a long one is cut around the match. Invalid UTF-8 becomes U+FFFD. For a piece of a
/// line, the lengths before and after it are unknown.
pub(super) fn line(line: &[u8], found: Option<Range<usize>>, is_piece: bool) -> String {
    let line = without_ending(line);
    if line.len() <= LONGEST_SHOWN && !is_piece {
        return String::from_utf8_lossy(line).into_owned();
    }
    let found = found.unwrap_or(0..0);
    let wanted = found.len().min(SHOWN_OF_LONG);
    let before = (SHOWN_OF_LONG - wanted) / 2;
    let latest = line.len().saturating_sub(SHOWN_OF_LONG);
    let start = boundary(line, found.start.saturating_sub(before).min(latest));
    let end = boundary(line, line.len().min(start + SHOWN_OF_LONG));
    let mut text = String::new();
    if is_piece {
        text.push_str("[…]");
    } else if start > 0 {
        let _ = write!(text, "[{start} bytes…]");
    }
    text.push_str(&String::from_utf8_lossy(&line[start..end]));
    if is_piece {
        text.push_str("[…]");
    } else if end < line.len() {
        let _ = write!(text, "[…{} bytes]", line.len() - end);
    }
    text
}

fn without_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The nearest place at or before `at` where a character begins.
fn boundary(line: &[u8], at: usize) -> usize {
    let begins = |at: &usize| line.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
    (at.saturating_sub(3)..=at).rev().find(begins).unwrap_or(at)
}
