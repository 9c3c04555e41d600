//! Selects the bytes of a text that are kept, from its two ends.

use super::{Budget, Cut, OutputLimits, OutputLocation, Part, Position};
use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};

const NEWLINE: u8 = b'\n';
/// The length of the replacement for bytes that are not UTF-8.
const REPLACEMENT_BYTES: usize = char::REPLACEMENT_CHARACTER.len_utf8();
/// The most bytes of a character after its first byte.
const MAX_CONTINUATION_BYTES: usize = 3;

/// The two ends of a text, and the necessary facts about the middle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends<'a> {
    /// The first bytes: all of them, or as many as the budget of the beginning.
    pub(crate) head: &'a [u8],
    /// The last bytes: all of them, or as many as the budget of the end.
    pub(crate) tail: &'a [u8],
    /// The number of bytes.
    pub(crate) bytes: u64,
    /// The number of line feeds.
    pub(crate) newlines: u64,
    /// The offset after the first line feed behind `head`.
    pub(crate) head_line_end: Option<u64>,
    /// The offset after the last line feed before `tail`, or 0.
    pub(crate) tail_line_start: u64,
}

/// The kept parts of a text, and the record of the truncation before the whole is stored.
#[derive(Debug)]
pub(crate) struct Excerpt {
    pub(crate) head: String,
    pub(crate) tail: String,
    /// The record; [`Cut::kept`] is not set yet.
    pub(crate) cut: Cut,
}

impl<'a> Ends<'a> {
    /// Returns the ends of a text in memory; `newlines` is its number of line feeds.
    pub(crate) fn of(text: &'a [u8], newlines: u64, limits: &OutputLimits) -> Self {
        let (first, last) = limits.budgets();
        let head = &text[..text.len().min(first.window())];
        let before_tail = &text[..text.len().saturating_sub(last.window())];
        let behind_head = &text[head.len()..];
        Self {
            head,
            tail: &text[before_tail.len()..],
            bytes: text.len() as u64,
            newlines,
            head_line_end: memchr(NEWLINE, behind_head).map(|at| (head.len() + at + 1) as u64),
            tail_line_start: memrchr(NEWLINE, before_tail).map_or(0, |at| at as u64 + 1),
        }
    }

    /// Returns the number of lines. A last line without a line feed counts.
    pub(crate) fn lines(&self) -> u64 {
        self.newlines + u64::from(self.end().byte_in_line > 0)
    }

    /// Truncates a text that exceeds the limits.
    pub(crate) fn excerpt(&self, limits: &OutputLimits) -> Excerpt {
        let (first, last) = limits.budgets();
        let (head, tail) = (&self.head[..self.head_end(first)], &self.tail[self.tail_start(last)..]);
        let (start, end) = (Position { line: 1, byte_in_line: 0, offset: 0 }, self.end());
        let missing = Part { from: after(head), to: self.before(tail) };
        let parts = [Part { from: start, to: missing.from }, Part { from: missing.to, to: end }];
        let cut = Cut {
            total_lines: self.lines(),
            total_bytes: self.bytes,
            keep: limits.keep,
            shown: parts.into_iter().filter(|part| part.bytes() > 0).collect(),
            missing,
            kept: OutputLocation::Not { error: String::new() },
        };
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Excerpt { head: text(head), tail: text(tail), cut }
    }

    /// Returns the length of the kept beginning: whole lines. If the next line is longer than the budget, or no whole
    /// line fits, it also includes as much of that line as fits.
    fn head_end(&self, budget: Budget) -> usize {
        if budget.lines == 0 {
            return 0;
        }
        let window = &self.head[..lossy_prefix(self.head, budget.window())];
        if let Some(at) = memchr_iter(NEWLINE, window).nth(nth(budget.lines)) {
            return at + 1;
        }
        let whole = memrchr(NEWLINE, window).map_or(0, |at| at + 1);
        // A line that ends in `head` is no longer than the budget, because `head` is not.
        let ends_in_head = memchr(NEWLINE, &self.head[window.len()..]).is_some();
        let line_end = self.head_line_end.unwrap_or(self.bytes);
        if whole > 0 && (ends_in_head || line_end - whole as u64 <= budget.bytes) {
            return whole;
        }
        window.len()
    }

    /// Returns the index in `tail` at which the kept end begins, by the same rule.
    fn tail_start(&self, budget: Budget) -> usize {
        let start = if budget.lines == 0 { self.tail.len() } else { self.lossy_suffix(budget.window()) };
        let window = &self.tail[start..];
        let Some(before_last) = window.len().checked_sub(1) else { return start };
        if let Some(at) = memrchr_iter(NEWLINE, &window[..before_last]).nth(nth(budget.lines)) {
            return start + at + 1;
        }
        let line_start = self.before(window).offset - self.before(window).byte_in_line;
        let line_end = memchr(NEWLINE, window).map_or(window.len(), |at| at + 1);
        let line_bytes = self.offset(start + line_end) - line_start;
        let is_whole = line_start == self.offset(start);
        if !is_whole && line_end < window.len() && line_bytes <= budget.bytes {
            start + line_end
        } else {
            start
        }
    }

    /// Returns the index from which `tail` takes at most `budget` bytes as text, without splitting a character.
    fn lossy_suffix(&self, budget: usize) -> usize {
        let is_continuation = |byte: &&u8| matches!(byte, 0x80..=0xBF);
        let skip = if self.offset(0) == 0 {
            0
        } else {
            self.tail.iter().take(MAX_CONTINUATION_BYTES).take_while(is_continuation).count()
        };
        let window = &self.tail[skip..];
        let mut excess = lossy_bytes(window).saturating_sub(budget);
        let mut start = skip;
        for chunk in window.utf8_chunks() {
            let drop = chunk.valid().ceil_char_boundary(excess.min(chunk.valid().len()));
            start += drop;
            excess = excess.saturating_sub(drop);
            if excess == 0 {
                break;
            }
            start += chunk.invalid().len();
            excess = excess.saturating_sub(REPLACEMENT_BYTES);
        }
        start
    }

    /// Converts an index in `tail` to an offset in the whole text.
    fn offset(&self, in_tail: usize) -> u64 {
        self.bytes - (self.tail.len() - in_tail) as u64
    }

    /// Returns the position at which the last bytes, a suffix of `tail`, begin.
    fn before(&self, last: &[u8]) -> Position {
        let at = self.tail.len() - last.len();
        let line_start = memrchr(NEWLINE, &self.tail[..at])
            .map_or(self.tail_line_start, |newline| self.offset(newline + 1));
        let offset = self.offset(at);
        let line = self.newlines - newlines(last) + 1;
        Position { line, byte_in_line: offset - line_start, offset }
    }

    fn end(&self) -> Position {
        self.before(&[])
    }
}

/// Returns the position after the first bytes of a text.
fn after(first: &[u8]) -> Position {
    let line_start = memrchr(NEWLINE, first).map_or(0, |at| at + 1);
    Position {
        line: newlines(first) + 1,
        byte_in_line: (first.len() - line_start) as u64,
        offset: first.len() as u64,
    }
}

/// Returns the number of line feeds.
pub(crate) fn newlines(bytes: &[u8]) -> u64 {
    memchr_iter(NEWLINE, bytes).count() as u64
}

/// Returns the index of the last of `count` items.
fn nth(count: u64) -> usize {
    usize::try_from(count - 1).unwrap_or(usize::MAX)
}

/// Returns how many bytes at the end are the start of an incomplete character.
fn cut_character(bytes: &[u8]) -> usize {
    let goes_on = |last: &[u8]| std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    let longest = bytes.len().min(MAX_CONTINUATION_BYTES);
    (1..=longest).find(|last| goes_on(&bytes[bytes.len() - last..])).unwrap_or(0)
}

/// Returns the length of the text that `bytes` become. Never less than the number of bytes.
pub(crate) fn lossy_bytes(bytes: &[u8]) -> usize {
    let invalid = |invalid: &[u8]| if invalid.is_empty() { 0 } else { REPLACEMENT_BYTES };
    match std::str::from_utf8(bytes) {
        Ok(text) => text.len(),
        Err(_) => bytes.utf8_chunks().map(|chunk| chunk.valid().len() + invalid(chunk.invalid())).sum(),
    }
}

/// Returns how many of the first bytes become a text of at most `budget` bytes, without splitting a character. An
/// incomplete character at the end is left out, rather than replaced as invalid UTF-8.
fn lossy_prefix(bytes: &[u8], budget: usize) -> usize {
    let complete = &bytes[..bytes.len() - cut_character(bytes)];
    if lossy_bytes(complete) <= budget {
        return complete.len();
    }
    let (mut end, mut room) = (0, budget);
    for chunk in complete.utf8_chunks() {
        let take = chunk.valid().floor_char_boundary(room.min(chunk.valid().len()));
        end += take;
        room -= take;
        if take < chunk.valid().len() || room < REPLACEMENT_BYTES {
            break;
        }
        end += chunk.invalid().len();
        room -= REPLACEMENT_BYTES;
    }
    end
}
