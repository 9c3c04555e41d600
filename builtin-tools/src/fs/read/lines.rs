//! Lines of a file of any size, in memory of a fixed size.

use std::io::{self, BufRead};

/// A line, cut to a number of bytes that suffices for the characters wanted of it.
pub(super) struct Line {
    /// Beginning of the line, without the line ending.
    pub(super) start: Vec<u8>,
    /// Length of the line in bytes, without the line ending.
    pub(super) length: u64,
    /// Length of the line in characters, without the line ending.
    pub(super) characters: u64,
    /// Line ending.
    pub(super) ending: Ending,
}

/// The ending of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The end of the file.
    None,
    Lf,
    CrLf,
}

impl Line {
    /// Returns true if the held part is valid UTF-8, apart from a character cut at its end.
    pub(super) fn is_utf8(&self) -> bool {
        let whole = self.start.len() as u64 == self.length;
        std::str::from_utf8(if whole { &self.start } else { until_character(&self.start) }).is_ok()
    }

    /// Returns at most `most` characters of the line, and the number of omitted characters.
    pub(super) fn text(&self, most: usize) -> (String, u64) {
        // The cut may be within a character, whose beginning is then left out.
        let whole = self.start.len() as u64 == self.length;
        let bytes = if whole { &self.start } else { until_character(&self.start) };
        let text = String::from_utf8_lossy(bytes);
        let (end, shown) = match text.char_indices().nth(most) {
            None if whole => return (text.into_owned(), 0),
            None => (text.len(), count_characters(bytes)),
            Some((end, _)) => (end, most as u64),
        };
        // Invalid UTF-8 has no characters to count, so the number is not exact then.
        (text[..end].to_owned(), self.characters.saturating_sub(shown).max(1))
    }
}

/// Returns the number of UTF-8 characters that begin in `bytes`.
fn count_characters(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| !matches!(byte, 0x80..=0xBF)).count() as u64
}

/// `bytes` without a character that is cut off at its end.
fn until_character(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

/// Skips `count` lines; returns the number of skipped lines, including a last one without an ending.
pub(super) fn skip(
    reader: &mut impl BufRead,
    count: u64,
    check: &mut impl FnMut() -> io::Result<()>,
) -> io::Result<u64> {
    let mut skipped = 0;
    let mut in_line = false;
    while skipped < count {
        check()?;
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            break;
        }
        // To count them is several times as quick as to find them.
        let ends = memchr::memchr_iter(b'\n', buffer).count() as u64;
        let used = if ends < count - skipped {
            skipped += ends;
            buffer.len()
        } else {
            let last = usize::try_from(count - skipped - 1).unwrap_or(usize::MAX);
            skipped = count;
            memchr::memchr_iter(b'\n', buffer).nth(last).map_or(buffer.len(), |end| end + 1)
        };
        in_line = buffer[used - 1] != b'\n';
        reader.consume(used);
    }
    Ok(skipped + u64::from(in_line && skipped < count))
}

/// The next line, of which at most `keep` bytes are held.
pub(super) fn next(
    reader: &mut impl BufRead,
    keep: usize,
    check: &mut impl FnMut() -> io::Result<()>,
) -> io::Result<Option<Line>> {
    let mut line = Line { start: Vec::new(), length: 0, characters: 0, ending: Ending::None };
    let mut last = None;
    loop {
        check()?;
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok((line.length > 0).then_some(line));
        }
        let end = memchr::memchr(b'\n', buffer);
        let part = &buffer[..end.unwrap_or(buffer.len())];
        let room = keep - line.start.len();
        line.start.extend_from_slice(&part[..part.len().min(room)]);
        line.length += part.len() as u64;
        line.characters += count_characters(part);
        last = part.last().copied().or(last);
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            line.ending = Ending::Lf;
            if last == Some(b'\r') {
                line.ending = Ending::CrLf;
                line.length -= 1;
                line.characters -= 1;
                let held = usize::try_from(line.length).unwrap_or(usize::MAX);
                line.start.truncate(held);
            }
            return Ok(Some(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn all(bytes: &[u8], capacity: usize, keep: usize) -> Vec<(String, u64)> {
        let mut reader = BufReader::with_capacity(capacity, bytes);
        let mut lines = Vec::new();
        while let Some(line) = next(&mut reader, keep, &mut || Ok(())).unwrap() {
            lines.push(line.text(usize::MAX));
        }
        lines
    }

    #[test]
    fn lines_do_not_depend_on_the_buffer() {
        let text = b"one\r\ntwo\n\nlast\r\n\rx\ny";
        let expected: Vec<(String, u64)> =
            ["one", "two", "", "last", "\rx", "y"].iter().map(|line| ((*line).to_owned(), 0)).collect();
        for capacity in 1..30 {
            assert_eq!(all(text, capacity, 100), expected, "{capacity}");
        }
        assert!(all(b"", 8, 8).is_empty());
        assert_eq!(all(b"\n", 8, 8), [(String::new(), 0)]);
    }

    #[test]
    fn a_long_line_is_held_in_part_and_cut_between_characters() {
        let text = "ä".repeat(10);
        assert_eq!(all(text.as_bytes(), 4, 5), [("ää".to_owned(), 8)]);
        let line = Line { start: text.into_bytes(), length: 20, characters: 10, ending: Ending::Lf };
        assert_eq!(line.text(3), ("äää".to_owned(), 7));
    }

    #[test]
    fn skipping_counts_what_is_there() {
        for (text, count, expected, rest) in [
            ("a\nb\nc", 0, 0, "a\nb\nc"),
            ("a\nb\nc", 1, 1, "b\nc"),
            ("a\nb\nc", 2, 2, "c"),
            ("a\nb\nc", 3, 3, ""),
            ("a\nb\nc", 9, 3, ""),
            ("a\nb\n", 9, 2, ""),
            ("", 1, 0, ""),
        ] {
            for capacity in 1..8 {
                let mut reader = BufReader::with_capacity(capacity, text.as_bytes());
                assert_eq!(skip(&mut reader, count, &mut || Ok(())).unwrap(), expected, "{text:?} {count}");
                let mut left = String::new();
                io::Read::read_to_string(&mut reader, &mut left).unwrap();
                assert_eq!(left, rest, "{text:?} {count} {capacity}");
            }
        }
    }
}
