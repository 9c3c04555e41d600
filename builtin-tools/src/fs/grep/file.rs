//! The search of one file.

use super::pieces::Pieces;
use super::query::{Depth, MAX_BYTES_AT_ONCE, Query};
use super::shown;
use encoding_rs_io::DecodeReaderBytesBuilder;
use grep_matcher::Matcher as _;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};

/// Maximum text of one file held while other files are searched.
const MAX_BYTES_HELD: usize = 64 * 1024;
/// Number of bytes read before the search: the whole of most files, for which this read is then enough.
const MAX_BYTES_AT_THE_START: usize = 64 * 1024;
/// Maximum number of lines that are shown of one match that goes over several.
const MAX_LINES_OF_A_MATCH: usize = 50;

/// The range of a file's matches to return.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// Number of matches to skip at the beginning.
    pub(super) skip: u64,
    /// Number of matches to return after those.
    pub(super) take: u64,
}

/// The matches in a file.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Number of counted matches. Counting stops at one more than wanted.
    pub(super) count: u64,
    /// The wanted ones, as far as they are held, with the lines around them.
    pub(super) matches: Vec<Match>,
    /// True if the file is binary: its matches are not shown.
    pub(super) is_binary: bool,
    /// True if there were lines so long that they were searched in pieces.
    pub(super) has_pieces: bool,
}

/// A match, with the lines around it that no other match has.
#[derive(Debug, Default)]
pub(super) struct Match {
    pub(super) lines: Vec<Line>,
}

/// A line to show.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) is_match: bool,
    /// True if lines are missing between it and the one before.
    pub(super) after_gap: bool,
    pub(super) text: String,
}

/// The reason for which a file was not searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// The file cannot be read.
    Unreadable,
    /// The file exceeds the size limit of multiline searches.
    TooLarge,
    /// The call no longer waits for the result.
    Stopped,
}

/// A file that is read until the call is cancelled.
struct Watched<'a> {
    file: File,
    is_over: &'a dyn Fn() -> bool,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // An error of the kind `Interrupted` would be tried again.
        if (self.is_over)() { Err(io::Error::other("the call is over")) } else { self.file.read(buffer) }
    }
}

/// Buffers that are used for one file after the other.
pub(super) struct Search<'a> {
    query: &'a Query,
    searcher: Searcher,
    decoded: Vec<u8>,
    /// The beginning of the file, which for most is the whole file.
    start: Vec<u8>,
}

impl<'a> Search<'a> {
    pub(super) fn new(query: &'a Query) -> Self {
        Self {
            query,
            searcher: query.searcher(),
            decoded: vec![0; 8 * 1024],
            start: vec![0; MAX_BYTES_AT_THE_START],
        }
    }

    /// Searches a file from its beginning, which has `size` bytes where that is known.
    pub(super) fn file(
        &mut self,
        mut file: File,
        size: Option<u64>,
        wanted: Wanted,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Found, Failure> {
        let query = self.query;
        let is_whole = self.searcher.multi_line_with_matcher(&query.matcher);
        let limit = MAX_BYTES_AT_ONCE as u64;
        if is_whole && file.metadata().is_ok_and(|metadata| metadata.len() > limit) {
            return Err(Failure::TooLarge);
        }
        let failed = |_: io::Error| if is_over() { Failure::Stopped } else { Failure::Unreadable };
        let breaks = RefCell::new(Vec::new());
        let mut collecting = Collecting::new(query, wanted, &breaks);
        let mut length = 0;
        if !is_whole {
            let is_complete;
            (length, is_complete) = fill(&mut self.start, &mut file, size, is_over).map_err(failed)?;
            let start = &self.start[..length];
            // Anything but plain text is searched as a stream, which detects binary content and UTF-16.
            if is_complete && is_plain(start) {
                self.searcher.search_slice(&query.matcher, start, &mut collecting).map_err(failed)?;
                return Ok(collecting.end());
            }
        }
        let file = self.start[..length].chain(Watched { file, is_over });
        let decoder = DecodeReaderBytesBuilder::new()
            .utf8_passthru(true)
            .strip_bom(true)
            .bom_override(true)
            .bom_sniffing(true)
            .build_with_buffer(file, &mut self.decoded)
            .map_err(failed)?;
        let searched = if is_whole {
            self.searcher.search_reader(&query.matcher, decoder, &mut collecting)
        } else {
            let pieces = Pieces::new(decoder, &breaks);
            self.searcher.search_reader(&query.matcher, pieces, &mut collecting)
        };
        searched.map_err(failed)?;
        let mut found = collecting.end();
        found.has_pieces = !breaks.borrow().is_empty();
        Ok(found)
    }
}

/// Reads the beginning of a file; returns the number of bytes, and whether they are the whole file.
fn fill(
    start: &mut [u8],
    file: &mut File,
    size: Option<u64>,
    is_over: &dyn Fn() -> bool,
) -> io::Result<(usize, bool)> {
    let mut length = 0;
    while length < start.len() {
        if is_over() {
            return Err(io::Error::other("the call is over"));
        }
        match file.read(&mut start[length..]) {
            Ok(0) => return Ok((length, true)),
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        // The size was read when the file was opened.
        if size == Some(length as u64) && length < start.len() {
            return Ok((length, true));
        }
    }
    Ok((length, false))
}

/// Returns true if a content has neither a byte order mark nor a NUL byte.
fn is_plain(content: &[u8]) -> bool {
    let marks: [&[u8]; 3] = [b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFE\xFF"];
    !marks.iter().any(|mark| content.starts_with(mark)) && memchr::memchr(0, content).is_none()
}

/// Collects the matches of a search.
struct Collecting<'a> {
    query: &'a Query,
    wanted: Wanted,
    breaks: &'a RefCell<Vec<u64>>,
    found: Found,
    /// Lines before the next match, if it is shown.
    before: VecDeque<Line>,
    /// Size of the text held.
    held: usize,
    /// The last line that was seen of the file, and whether it held a match.
    last: Option<(u64, bool)>,
    after_gap: bool,
    /// True if the last match is held, so that the lines after it are.
    is_holding: bool,
}

impl<'a> Collecting<'a> {
    fn new(query: &'a Query, wanted: Wanted, breaks: &'a RefCell<Vec<u64>>) -> Self {
        Self {
            query,
            wanted,
            breaks,
            found: Found::default(),
            before: VecDeque::new(),
            held: 0,
            last: None,
            after_gap: false,
            is_holding: false,
        }
    }

    fn end(mut self) -> Found {
        if self.found.is_binary {
            self.found.matches.clear();
        }
        self.found
    }

    /// Returns the number of a line in the file, for a line number of the search, which counts pieces of long lines
    /// separately.
    fn number(&self, number: Option<u64>) -> u64 {
        let number = number.unwrap_or(1);
        let breaks = self.breaks.borrow();
        number - breaks.partition_point(|feed| *feed < number) as u64
    }

    /// Returns true if a line that is searched is a piece of one.
    fn is_piece(&self, number: Option<u64>) -> bool {
        let number = number.unwrap_or(1);
        let breaks = self.breaks.borrow();
        // It ends with the line feed of its number, and begins after the one before.
        breaks.binary_search(&number).is_ok() || breaks.binary_search(&(number - 1)).is_ok()
    }

    fn line(&mut self, number: u64, is_match: bool, is_piece: bool, bytes: &[u8]) -> Line {
        let at = if is_match && (is_piece || shown::is_long(bytes)) {
            self.query.matcher.find(bytes).ok().flatten().map(|found| found.start()..found.end())
        } else {
            None
        };
        let text = shown::line(bytes, at, is_piece);
        Line { number, is_match, after_gap: std::mem::take(&mut self.after_gap), text }
    }

    fn hold(&mut self, line: Line) {
        self.held += line.text.len();
        if let Some(found) = self.found.matches.last_mut() {
            found.lines.push(line);
        }
    }

    fn has_room(&self) -> bool {
        let is_wanted = self.found.count > self.wanted.skip;
        let held = self.found.matches.len() as u64;
        // The first match always fits, so that a caller who reads on makes progress.
        is_wanted && held < self.wanted.take && (held == 0 || self.held < MAX_BYTES_HELD)
            // The held matches are contiguous.
            && self.found.count == self.wanted.skip + held + 1
    }
}

impl Sink for Collecting<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.found.is_binary {
            self.found.count = 1;
            return Ok(false);
        }
        if self.query.depth == Depth::Any {
            self.found.count = 1;
            return Ok(false);
        }
        let first = self.number(matched.line_number());
        if let Some((last, was_match)) = self.last
            && last == first
        {
            // Another piece of the same line.
            if was_match {
                return Ok(true);
            }
            self.before.pop_back();
            if self.is_holding
                && let Some(found) = self.found.matches.last_mut()
                && found.lines.last().is_some_and(|line| line.number == first)
            {
                found.lines.pop();
            }
        }
        self.found.count += 1;
        if self.query.depth == Depth::Count {
            self.last = Some((first, true));
            return Ok(true);
        }
        if self.found.count > self.wanted.skip.saturating_add(self.wanted.take) {
            return Ok(false);
        }
        self.is_holding = self.has_room();
        let before = std::mem::take(&mut self.before);
        if self.is_holding {
            self.found.matches.push(Match::default());
            for line in before {
                self.hold(line);
            }
        }
        let is_piece = self.is_piece(matched.line_number());
        let mut number = first;
        let lines = matched.lines();
        for (count, bytes) in lines.enumerate() {
            if self.is_holding && count < MAX_LINES_OF_A_MATCH {
                let line = self.line(number, true, is_piece, bytes);
                self.hold(line);
            }
            self.last = Some((number, true));
            number += 1;
        }
        let more = (number - first).saturating_sub(MAX_LINES_OF_A_MATCH as u64);
        if self.is_holding && more > 0 {
            let number = first + MAX_LINES_OF_A_MATCH as u64;
            let text = format!("[{more} more lines of this match]");
            self.hold(Line { number, is_match: true, after_gap: false, text });
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        let number = self.number(context.line_number());
        if self.last.is_some_and(|(last, _)| last == number) {
            return Ok(true);
        }
        self.last = Some((number, false));
        let line = self.line(number, false, self.is_piece(context.line_number()), context.bytes());
        if self.is_holding && *context.kind() == SinkContextKind::After {
            self.hold(line);
        } else {
            self.before.push_back(line);
            if self.before.len() > self.query.before {
                self.before.pop_front();
                if let Some(first) = self.before.front_mut() {
                    first.after_gap = true;
                }
            }
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.before.clear();
        self.after_gap = true;
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.found.is_binary = true;
        // Only one match is reported of such a file.
        Ok(self.found.count == 0)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.found.is_binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}
