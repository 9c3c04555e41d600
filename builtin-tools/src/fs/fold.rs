//! Texts in the form of a looser comparison, with every position mapped back to the original bytes.

use std::borrow::Cow;
use std::ops::Range;

/// The byte order mark of UTF-8.
pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Looseness of a comparison of texts. Each level also ignores what the levels before it ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Looseness {
    /// Byte for byte.
    Exact,
    /// CRLF and LF are the same.
    Endings,
    /// Spaces and tabs at the end of a line do not count.
    Trailing,
    /// Typographic quotes, dashes and spaces, and full-width characters, are the plain ones.
    Unicode,
    /// Spaces and tabs at the beginning of a line do not count; whether they follow one rule is for the caller to see.
    Indentation,
}

impl Looseness {
    /// Names the differences that it overlooks.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Exact => "nothing",
            Self::Endings => "line endings",
            Self::Trailing => "white space at the ends of lines",
            Self::Unicode => "typographic quotes, dashes or spaces",
            Self::Indentation => "indentation",
        }
    }
}

/// A part of a text, and its folded form.
#[derive(Debug)]
enum Piece {
    /// Unchanged.
    Same(Range<usize>),
    /// Seen as one ASCII character.
    As(Range<usize>, u8),
}

impl Piece {
    fn folded_len(&self) -> usize {
        match self {
            Self::Same(range) => range.len(),
            Self::As(..) => 1,
        }
    }

    /// Returns the original bytes of the folded byte at `offset`.
    fn original(&self, offset: usize) -> Range<usize> {
        match self {
            Self::Same(range) => range.start + offset..range.start + offset + 1,
            Self::As(range, _) => range.clone(),
        }
    }
}

/// A text as `looseness` sees it.
pub(super) fn fold(bytes: &[u8], looseness: Looseness) -> Vec<u8> {
    let mut folded = Vec::with_capacity(bytes.len() + 2);
    pieces(bytes, 0, looseness, Endings::Any, &mut |piece| {
        match piece {
            Piece::Same(range) => folded.extend_from_slice(&bytes[range]),
            Piece::As(_, byte) => folded.push(byte),
        }
        true
    });
    folded
}

/// A file as `looseness`, which overlooks something, sees it: without its byte order mark.
pub(super) fn fold_file(bytes: &[u8], looseness: Looseness) -> Vec<u8> {
    fold(&bytes[mark(bytes)..], looseness)
}

/// Returns the length of a file's byte order mark; 0 without one.
pub(super) fn mark(bytes: &[u8]) -> usize {
    if bytes.starts_with(BOM) { BOM.len() } else { 0 }
}

/// Returns the original bytes of parts of a folded file. No part is empty, and they are in order, without overlaps.
pub(super) fn resolve(bytes: &[u8], looseness: Looseness, parts: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(parts.len());
    let mut parts = parts.iter();
    let mut part = parts.next();
    let mut start = None;
    let mut passed = 0;
    pieces(bytes, mark(bytes), looseness, Endings::Any, &mut |piece| {
        let end = passed + piece.folded_len();
        while let Some(current) = part {
            if start.is_none() && current.start < end {
                start = Some(piece.original(current.start - passed).start);
            }
            let Some(from) = start.filter(|_| current.end <= end) else { break };
            ranges.push(from..piece.original(current.end - 1 - passed).end);
            (part, start) = (parts.next(), None);
        }
        passed = end;
        part.is_some()
    });
    ranges
}

/// Returns the original bytes of each byte of the folded text: for texts as short as those in a call.
pub(super) fn dense(bytes: &[u8], looseness: Looseness, endings: Endings) -> Vec<Range<usize>> {
    let mut behind = Vec::with_capacity(bytes.len());
    pieces(bytes, 0, looseness, endings, &mut |piece| {
        behind.extend((0..piece.folded_len()).map(|offset| piece.original(offset)));
        true
    });
    behind
}

/// The line endings of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endings {
    /// LF, or CRLF.
    Any,
    /// LF: CRLF is converted already, and a carriage return before a line feed belongs to the line.
    Plain,
}

/// Passes the parts of a text to `take` in order from `start`, the beginning of a line, until `take` stops.
fn pieces(
    bytes: &[u8],
    mut start: usize,
    looseness: Looseness,
    endings: Endings,
    take: &mut impl FnMut(Piece) -> bool,
) {
    if looseness == Looseness::Exact {
        take(Piece::Same(start..bytes.len()));
        return;
    }
    while start < bytes.len() {
        let newline = memchr::memchr(b'\n', &bytes[start..]).map(|length| start + length);
        let next = newline.map_or(bytes.len(), |at| at + 1);
        let end = match newline {
            Some(at) if endings == Endings::Any && at > start && bytes[at - 1] == b'\r' => at - 1,
            Some(at) => at,
            None => bytes.len(),
        };
        if !content(bytes, start..end, looseness, take) {
            return;
        }
        if newline.is_some() && !take(Piece::As(end..next, b'\n')) {
            return;
        }
        start = next;
    }
}

/// Folds a line without its ending.
fn content(
    bytes: &[u8],
    mut line: Range<usize>,
    looseness: Looseness,
    take: &mut impl FnMut(Piece) -> bool,
) -> bool {
    if looseness >= Looseness::Trailing {
        line.end = line.start + trim_end(&bytes[line.clone()], looseness >= Looseness::Unicode).len();
    }
    if looseness >= Looseness::Indentation {
        line.start += indentation(&bytes[line.clone()]);
    }
    if line.is_empty() {
        return true;
    }
    if looseness < Looseness::Unicode || bytes[line.clone()].is_ascii() {
        return take(Piece::Same(line));
    }
    let mut same = line.start;
    let mut at = line.start;
    // No test covers the exact bounds: `plain` finds nothing at the end, and an empty piece has no effect.
    while at < line.end {
        match plain(&bytes[at..line.end]) {
            Some((length, byte)) => {
                if same < at && !take(Piece::Same(same..at)) || !take(Piece::As(at..at + length, byte)) {
                    return false;
                }
                at += length;
                same = at;
            }
            None => at += 1,
        }
    }
    same == line.end || take(Piece::Same(same..line.end))
}

/// Returns the number of leading bytes of spaces and tabs.
pub(super) fn indentation(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// A line without spaces and tabs at its end, and without typographic spaces if so wanted.
pub(super) fn trim_end(mut line: &[u8], typographic: bool) -> &[u8] {
    loop {
        match line {
            [rest @ .., b' ' | b'\t'] => line = rest,
            // The typographic spaces have two or three bytes.
            _ if typographic => match (2..=3).find(|&length| ends_with_space(line, length)) {
                Some(length) => line = &line[..line.len() - length],
                None => return line,
            },
            _ => return line,
        }
    }
}

fn ends_with_space(line: &[u8], length: usize) -> bool {
    let Some(start) = line.len().checked_sub(length) else { return false };
    plain(&line[start..]) == Some((length, b' '))
}

/// Returns the plain character for a typographic one at the start of `bytes`, and the length of that one in bytes.
fn plain(bytes: &[u8]) -> Option<(usize, u8)> {
    let code = match *bytes {
        [0xC2, 0xA0, ..] => return Some((2, b' ')),
        [0xE2, second @ 0x80..=0x81, third @ 0x80..=0xBF, ..] => {
            // No test tells `|` from `^` here: no two of the parts share a bit, so the result is the same.
            0x2000 | u32::from(second & 0x3F) << 6 | u32::from(third & 0x3F)
        }
        [0xE2, 0x88, 0x92, ..] => 0x2212,
        [0xE3, 0x80, 0x80, ..] => 0x3000,
        // The full-width forms of the characters of ASCII.
        [0xEF, 0xBC, third @ 0x81..=0xBF, ..] => return Some((3, third - 0x80 + b' ')),
        [0xEF, 0xBD, third @ 0x80..=0x9E, ..] => return Some((3, third - 0x80 + b'`')),
        _ => return None,
    };
    let byte = match code {
        0x2018..=0x201B | 0x2032 => b'\'',
        0x201C..=0x201F | 0x2033 => b'"',
        0x2010..=0x2015 | 0x2212 => b'-',
        0x2000..=0x200A | 0x202F | 0x205F | 0x3000 => b' ',
        _ => return None,
    };
    Some((3, byte))
}

/// A text with CRLF as LF.
pub(super) fn with_plain_endings(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Looseness::{Exact, Indentation, Trailing, Unicode};

    fn folded(text: &str, looseness: Looseness) -> String {
        String::from_utf8(fold(text.as_bytes(), looseness)).unwrap()
    }

    #[test]
    fn what_is_overlooked() {
        let text = "\ta \t\r\n\r\n  “b”\u{2014}c\u{A0}d \u{3000}\ne\r";
        for (looseness, expected) in [
            (Exact, text),
            (Looseness::Endings, "\ta \t\n\n  “b”\u{2014}c\u{A0}d \u{3000}\ne\r"),
            (Trailing, "\ta\n\n  “b”\u{2014}c\u{A0}d \u{3000}\ne\r"),
            (Unicode, "\ta\n\n  \"b\"-c d\ne\r"),
            (Indentation, "a\n\n\"b\"-c d\ne\r"),
        ] {
            assert_eq!(folded(text, looseness), expected, "{looseness:?}");
            let marked = ["\u{FEFF}", text].concat();
            assert_eq!(fold_file(marked.as_bytes(), looseness), expected.as_bytes());
        }
    }

    #[test]
    fn the_typographic_characters() {
        for (plain, typographic) in [
            ("'", "‘’‚‛′"),
            ("\"", "“”„‟″"),
            ("-", "‐‑‒–—―−"),
            (" ", "\u{A0}\u{2000}\u{2009}\u{202F}\u{205F}\u{3000}"),
            ("!", "！"),
            ("@", "＠"),
            ("_", "＿"),
            ("`", "｀"),
            ("a", "ａ"),
            ("~", "～"),
        ] {
            for character in typographic.chars() {
                let text = format!("x{character}y");
                assert_eq!(folded(&text, Unicode), format!("x{plain}y"), "{character:?}");
            }
        }
        // Characters that only look alike are kept: an ellipsis, a zero-width space, a letter.
        for text in
            ["x…y", "x\u{200B}y", "xаy", "x\u{2028}y", "x\u{2022}y", "xéy", "x\u{FF00}y", "x\u{FF5F}y"]
        {
            assert_eq!(folded(text, Unicode), text);
        }
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        let bytes = b"\xE2\x80\n\xFF \n\xE2";
        assert_eq!(fold(bytes, Unicode), b"\xE2\x80\n\xFF\n\xE2");
    }

    #[test]
    fn places_are_mapped_back() {
        let bytes = "a \r\n“b”\t\n  c".as_bytes();
        // a, LF, ", b, ", LF, c
        let folded = fold(bytes, Indentation);
        let behind = dense(bytes, Indentation, Endings::Any);
        assert_eq!(folded, b"a\n\"b\"\nc");
        assert_eq!(behind, [0..1, 2..4, 4..7, 7..8, 8..11, 12..13, 15..16]);
        for start in 0..folded.len() {
            for end in start + 1..=folded.len() {
                let found = resolve(bytes, Indentation, std::slice::from_ref(&(start..end)));
                let expected = behind[start].start..behind[end - 1].end;
                assert_eq!(found, std::slice::from_ref(&expected), "{start}..{end}");
            }
        }
        let each: Vec<Range<usize>> = (0..folded.len()).map(|at| at..at + 1).collect();
        assert_eq!(resolve(bytes, Indentation, &each), behind);
        assert!(resolve(bytes, Indentation, &[]).is_empty());
    }
}
