//! Lines that end with a carriage return alone: they are found as if they ended with a line feed, and keep their endings.

use super::splice::Splice;
use std::ops::Range;

/// A file with lines that end with a carriage return alone.
pub(super) struct Returns<'f> {
    file: &'f [u8],
    /// The same with a line feed in place of each such return, and so with all bytes in the same places.
    pub(super) with_line_feeds: Vec<u8>,
    /// True if no line ends otherwise.
    pub(super) is_all: bool,
}

impl<'f> Returns<'f> {
    /// Returns `None` if no line of the file ends with `\r\n`.
    pub(super) fn of(file: &'f [u8]) -> Option<Self> {
        let is_alone = |at: &usize| file.get(at + 1) != Some(&b'\n');
        let mut places = memchr::memchr_iter(b'\r', file).filter(is_alone).peekable();
        places.peek()?;
        let mut with_line_feeds = file.to_vec();
        places.for_each(|at| with_line_feeds[at] = b'\n');
        let is_all = memchr::memchr(b'\n', file).is_none();
        Some(Self { file, with_line_feeds, is_all })
    }

    /// Converts a splice of the file with line feeds to one of the original file: its lines get the endings of those that
    /// they replace, or else of the line before or after.
    pub(super) fn restore(&self, splice: Splice) -> Splice {
        let Splice { range, text } = splice;
        if memchr::memchr(b'\n', &text).is_none() {
            return Splice { range, text };
        }
        let mut replaced = self.endings(range.clone());
        let mut last = None;
        let mut restored = Vec::with_capacity(text.len());
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let Some(content) = line.strip_suffix(b"\n") else {
                restored.extend_from_slice(line);
                continue;
            };
            last = replaced.next().or(last);
            let ending = *last.get_or_insert_with(|| self.around(&range));
            if ending == b'\r' {
                restored.extend_from_slice(content.strip_suffix(b"\r").unwrap_or(content));
                restored.push(b'\r');
            } else {
                restored.extend_from_slice(line);
            }
        }
        Splice { range, text: restored }
    }

    /// The last byte of each line ending in a part of the file.
    fn endings(&self, range: Range<usize>) -> impl Iterator<Item = u8> {
        let feeds = memchr::memchr_iter(b'\n', &self.with_line_feeds[range.clone()]);
        feeds.map(move |at| self.file[range.start + at])
    }

    /// Returns the ending of the line before a range, or else of the one after it.
    fn around(&self, range: &Range<usize>) -> u8 {
        let before = memchr::memrchr(b'\n', &self.with_line_feeds[..range.start]);
        let after = || memchr::memchr(b'\n', &self.with_line_feeds[range.end..]).map(|at| range.end + at);
        before.or_else(after).map_or(b'\n', |at| self.file[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_endings() {
        let file = b"a\rb\r\nc\nd\r";
        let returns = Returns::of(file).unwrap();
        assert_eq!(returns.with_line_feeds, b"a\nb\r\nc\nd\n");
        assert!(!returns.is_all);
        for (range, text, expected) in [
            (0..2, "x\n", "x\r"),
            (0..2, "x\ny\n", "x\ry\r"),
            (0..5, "x\ny\r\n", "x\ry\r\n"),
            (2..2, "x\n", "x\r"),
            (5..7, "x\n", "x\n"),
            (7..7, "x\n", "x\n"),
            (9..9, "x\r\n", "x\r"),
            (0..1, "x", "x"),
        ] {
            let splice = Splice::new(range.clone(), text);
            assert_eq!(returns.restore(splice).text, expected.as_bytes(), "{range:?} {text:?}");
        }
        assert!(Returns::of(b"a\r\nb\n").is_none());
        assert!(Returns::of(b"a\rb").unwrap().is_all);
    }
}
