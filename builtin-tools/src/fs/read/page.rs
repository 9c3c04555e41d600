//! A page of a text: numbered lines from an offset on.

use super::lines::{self, Ending, Line};
use std::fmt::Write as _;
use std::io::{self, BufRead};

/// Maximum number of lines that one call returns.
pub(super) const MAX_LINES: u64 = 2_000;
/// Maximum number of bytes that one call returns, line numbers included.
pub(crate) const MAX_BYTES: usize = 50 * 1024;
/// Maximum number of characters of one line.
pub(crate) const MAX_LINE_CHARACTERS: usize = 2_000;
/// No character takes more bytes in UTF-8.
const BYTES_A_CHARACTER: usize = 4;

/// The page that one call returns of a text.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// The lines, each with its number.
    pub(crate) text: String,
    /// Number of lines in `text`.
    pub(crate) count: u64,
    /// Number of lines in the file, if the end was reached.
    pub(crate) total: Option<u64>,
    /// Number of truncated lines.
    pub(super) cut: u64,
    /// Number of lines that are not valid UTF-8.
    pub(super) invalid: u64,
    /// Number of lines that end with `\n` alone.
    lf: u64,
    /// Number of lines that end with `\r\n`.
    crlf: u64,
}

/// Reads `limit` lines from line `offset` on, counted from 1, or as many as one call returns.
pub(super) fn page(
    reader: &mut impl BufRead,
    offset: u64,
    limit: u64,
    check: &mut impl FnMut() -> io::Result<()>,
) -> io::Result<Page> {
    let skipped = lines::skip(reader, offset - 1, check)?;
    let mut page = Page::default();
    loop {
        if page.count == limit {
            if reader.fill_buf()?.is_empty() {
                page.total = Some(skipped + page.count);
            }
            return Ok(page);
        }
        let Some(line) = lines::next(reader, MAX_LINE_CHARACTERS * BYTES_A_CHARACTER, check)? else {
            page.total = Some(skipped + page.count);
            return Ok(page);
        };
        let (text, was_cut) = render(offset + page.count, &line);
        // The first line always fits: a line is at most 2,000 characters.
        if page.text.len() + text.len() > MAX_BYTES && page.count > 0 {
            return Ok(page);
        }
        page.text.push_str(&text);
        page.count += 1;
        page.cut += u64::from(was_cut);
        page.invalid += u64::from(!line.is_utf8());
        page.lf += u64::from(line.ending == Ending::Lf);
        page.crlf += u64::from(line.ending == Ending::CrLf);
    }
}

impl Page {
    /// The endings of the lines that are shown.
    pub(super) fn endings(&self) -> &'static str {
        match (self.lf, self.crlf) {
            (0, 0) => "none",
            (_, 0) => "LF",
            (0, _) => "CRLF",
            _ => "mixed",
        }
    }
}

fn render(number: u64, line: &Line) -> (String, bool) {
    let (text, missing) = line.text(MAX_LINE_CHARACTERS);
    let mut rendered = format!("{number:>6}→{text}");
    if missing > 0 {
        let _ = write!(rendered, "… [{missing} more characters in this line]");
    }
    rendered.push('\n');
    (rendered, missing > 0)
}
