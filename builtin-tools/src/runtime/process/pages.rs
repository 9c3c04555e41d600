//! Pages of an output: some of its lines.

use std::io::{self, BufRead as _, BufReader, Read, Seek, SeekFrom};

/// Maximum number of bytes of an output that one call returns.
pub(super) const MAX_BYTES: u64 = 50 * 1024;

/// Some lines of a file. Text after the last line feed, such as a prompt, is a line too.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) text: String,
    /// The first line, from 1.
    pub(super) first: u64,
    /// Number of lines, the last of which may be cut.
    pub(super) lines: u64,
    /// Number of lines of the whole output so far.
    pub(super) of: u64,
    pub(super) cut: PageCut,
}

/// The part of the wanted lines that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageCut {
    Nothing,
    /// The lines after these.
    Lines,
    /// The rest of the only line, which is longer than what one call returns: it goes on at this byte of the file, counted from 1.
    Line {
        at: u64,
    },
}

impl Page {
    /// Reads `limit` lines from `first` on, or the last ones, of the first `bytes` of a file, which have `newlines` line feeds. Blocks.
    pub(super) fn read(
        mut file: impl Read + Seek,
        bytes: u64,
        newlines: u64,
        first: Option<u64>,
        limit: u64,
        stops: &dyn Fn() -> bool,
    ) -> io::Result<Self> {
        let of = newlines + u64::from(ends_in_a_line(&mut file, bytes)?);
        let first = first.unwrap_or_else(|| of.saturating_sub(limit) + 1);
        let nothing = Self { text: String::new(), first, lines: 0, of, cut: PageCut::Nothing };
        let mut file = BufReader::with_capacity(256 << 10, file.take(bytes));
        let mut at = 0;
        let mut line = 1;
        while line < first {
            let buffer = file.fill_buf()?;
            if buffer.is_empty() || stops() {
                return Ok(nothing);
            }
            let mut used = buffer.len();
            for (at, _) in buffer.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
                line += 1;
                if line == first {
                    used = at + 1;
                    break;
                }
            }
            file.consume(used);
            at += used as u64;
        }
        let mut whole = Vec::new();
        let mut lines = 0;
        let mut cut = PageCut::Nothing;
        while lines < limit {
            let (start, room) = (whole.len(), MAX_BYTES.saturating_sub(whole.len() as u64));
            if file.by_ref().take(room).read_until(b'\n', &mut whole)? == 0 {
                if room == 0 && !file.fill_buf()?.is_empty() {
                    cut = PageCut::Lines;
                }
                break;
            }
            lines += 1;
            if whole.last() == Some(&b'\n') || file.fill_buf()?.is_empty() {
                continue;
            }
            // There is no room for the whole of it.
            if start > 0 {
                whole.truncate(start);
                lines -= 1;
                cut = PageCut::Lines;
            } else {
                whole.truncate(whole_characters(&whole));
                cut = PageCut::Line { at: at + whole.len() as u64 + 1 };
            }
            break;
        }
        Ok(Self { text: String::from_utf8_lossy(&whole).into_owned(), lines, cut, ..nothing })
    }
}

/// Counts the line feeds in the first `bytes` bytes of an output. Blocks.
pub(super) fn newlines_in(output: impl Read, bytes: u64) -> io::Result<u64> {
    let mut output = BufReader::with_capacity(256 << 10, output.take(bytes));
    let mut newlines = 0;
    loop {
        let buffer = output.fill_buf()?;
        if buffer.is_empty() {
            return Ok(newlines);
        }
        // A line feed separates two parts.
        newlines += buffer.split(|byte| *byte == b'\n').skip(1).count() as u64;
        let length = buffer.len();
        output.consume(length);
    }
}

/// Returns true if the first `bytes` bytes do not end with a line feed.
fn ends_in_a_line(file: &mut (impl Read + Seek), bytes: u64) -> io::Result<bool> {
    let Some(last) = bytes.checked_sub(1) else { return Ok(false) };
    file.seek(SeekFrom::Start(last))?;
    let mut byte = [0];
    let read = file.read(&mut byte)?;
    file.rewind()?;
    Ok(read == 1 && byte != *b"\n")
}

/// Up to where the bytes end with a whole character, as far as they are text.
fn whole_characters(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(3);
    let Some(start) = bytes[from..].iter().rposition(|byte| *byte >= 0xc0) else { return bytes.len() };
    match std::str::from_utf8(&bytes[from + start..]) {
        // It is the beginning of a character.
        Err(error) if error.valid_up_to() == 0 && error.error_len().is_none() => from + start,
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_last_line_is_one_without_a_line_feed_too_and_long_ones_are_told() {
        let long = "x".repeat(60_000);
        let nearly = format!("{}é\n", "x".repeat(51_199));
        for (whole, first, limit, expected) in [
            ("", None, 10, (1, 0, 0, 0, PageCut::Nothing)),
            ("hello", None, 10, (1, 1, 1, 5, PageCut::Nothing)),
            ("a\nb\n", None, 10, (1, 2, 2, 4, PageCut::Nothing)),
            ("a\nb\nname? ", None, 1, (3, 1, 3, 6, PageCut::Nothing)),
            ("a\nb\nname? ", None, 2, (2, 2, 3, 8, PageCut::Nothing)),
            ("a\nb\nc\n", Some(2), 1, (2, 1, 3, 2, PageCut::Nothing)),
            ("a\nb\n", Some(3), 1, (3, 0, 2, 0, PageCut::Nothing)),
            ("a\nb\n", Some(u64::MAX), 1, (u64::MAX, 0, 2, 0, PageCut::Nothing)),
            (&long, None, 1, (1, 1, 1, 51_200, PageCut::Line { at: 51_201 })),
            (&format!("ab\n{long}\nend\n"), Some(2), 1, (2, 1, 3, 51_200, PageCut::Line { at: 51_204 })),
            (&format!("ab\n{long}\nend\n"), Some(2), 5, (2, 1, 3, 51_200, PageCut::Line { at: 51_204 })),
            (&format!("ab\n{long}\nend\n"), Some(1), 5, (1, 1, 3, 3, PageCut::Lines)),
            (&format!("ab\n{long}\nend\n"), Some(3), 5, (3, 1, 3, 4, PageCut::Nothing)),
            (
                &format!("{}\n{}\n", &long[..30_000], &long[..30_000]),
                None,
                9,
                (1, 1, 2, 30_001, PageCut::Lines),
            ),
            (&format!("{}\nx\n", &long[..51_199]), None, 9, (1, 1, 2, 51_200, PageCut::Lines)),
            (&nearly, None, 9, (1, 1, 1, 51_199, PageCut::Line { at: 51_200 })),
        ] {
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), whole).unwrap();
            let newlines = whole.matches('\n').count() as u64;
            let page = Page::read(
                fs::File::open(file.path()).unwrap(),
                whole.len() as u64,
                newlines,
                first,
                limit,
                &|| false,
            )
            .unwrap();
            let found = (page.first, page.lines, page.of, page.text.len(), page.cut);
            assert_eq!(found, expected, "{} {first:?} {limit}", &whole[..whole.len().min(20)]);
            assert!(!page.text.contains('\u{fffd}'));
        }
    }
}
