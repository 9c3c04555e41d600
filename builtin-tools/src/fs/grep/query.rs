//! The query of a search, and error messages for patterns that cannot be used.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use toolkit::{ToolError, ToolErrorKind};

/// Maximum memory for a compiled pattern, in bytes.
const MAX_BYTES_OF_PATTERN: usize = 10 << 20;
/// Maximum memory that a pattern may take while it searches, in bytes, for each thread.
const MAX_BYTES_OF_STATES: usize = 32 << 20;
/// Maximum memory of a search per thread, in bytes: the lines around a match, or a whole file for multiline searches.
pub(super) const MAX_BYTES_AT_ONCE: usize = 32 << 20;

/// Memory of a thread in bytes that searches line by line: its stack, its buffers, and the states of an ordinary pattern.
const MEMORY_OF_LINES: u64 = 4 << 20;

/// The query for each file.
pub(super) struct Query {
    pub(super) matcher: RegexMatcher,
    /// True if a match may go over several lines.
    pub(super) multiline: bool,
    /// Number of lines shown before a match.
    pub(super) before: usize,
    /// Number of lines shown after a match.
    pub(super) after: usize,
    /// The depth of the search in a file.
    pub(super) depth: Depth,
}

/// The depth of the search in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// A match, if there is any.
    Any,
    /// The number of matches.
    Count,
    /// The lines of each match.
    Lines,
}

/// Interpretation of a pattern.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    pub(super) ignore_case: bool,
    pub(super) literal: bool,
    pub(super) multiline: bool,
}

/// Compiles a pattern as ripgrep does.
pub(super) fn matcher(pattern: &str, reading: Reading) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .octal(false)
        .fixed_strings(reading.literal)
        .case_insensitive(reading.ignore_case)
        .dot_matches_new_line(reading.multiline)
        // Content after such a byte is binary, and is not searched by lines.
        .ban_byte(Some(0))
        .size_limit(MAX_BYTES_OF_PATTERN)
        .dfa_size_limit(MAX_BYTES_OF_STATES);
    if !reading.multiline {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build_many(&[pattern]).map_err(|error| {
        ToolError::new(ToolErrorKind::InvalidArguments, problem(pattern, reading, &error.to_string()))
    })
}

fn problem(pattern: &str, reading: Reading, error: &str) -> String {
    let has_line_feed = pattern.contains('\n') || pattern.contains("\\n");
    if !reading.multiline && has_line_feed && (error.contains("is not allowed") || reading.literal) {
        return "the pattern has a line feed, but each line is searched by itself; set `multiline` to true to match \
                over several lines"
            .to_owned();
    }
    if error.contains("size limit") {
        return "the pattern is too large once its repetitions are written out; use smaller numbers in `{…}`, or `*` and \
                `+`"
            .to_owned();
    }
    if pattern.contains('\0') || pattern.contains("\\x00") || pattern.contains("\\0") {
        return format!("{error}; NUL bytes cannot be searched for: a file that has them is binary");
    }
    let escaped = escaped(pattern);
    let alternative = if escaped.chars().count() > 200 {
        String::new()
    } else {
        format!(", or escape what has a meaning of its own: `{escaped}`")
    };
    let look = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| pattern.contains(look));
    let back = error.contains("backreferences are not supported");
    let dialect = if look || back {
        "; this regular expression syntax has no look-around and no backreferences"
    } else {
        ""
    };
    // The regex library has wrapped the pattern by then, so its error would show another one.
    let own = regex_syntax::parse(pattern).err().map(|error| error.to_string());
    let error = own.as_deref().unwrap_or(error);
    format!(
        "the pattern is not a regular expression: {}{dialect}. To search for it as plain text, set `literal` to true{alternative}",
        error.trim_end()
    )
}

/// The pattern that matches this very text.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

impl Query {
    /// Returns the number of bytes that a thread may take for files of at most this length. A whole file is read for a multiline search, into a
    /// buffer that grows.
    pub(super) fn memory(&self, longest: u64) -> u64 {
        let whole = if self.multiline { 2 * longest.min(MAX_BYTES_AT_ONCE as u64) } else { 0 };
        MEMORY_OF_LINES + whole
    }

    /// Returns a searcher, which goes through one file after the other.
    pub(super) fn searcher(&self) -> Searcher {
        let mut builder = SearcherBuilder::new();
        builder
            .multi_line(self.multiline)
            // Without numbers, two pieces of one line could not be distinguished from two lines.
            .line_number(self.depth != Depth::Any)
            .before_context(self.before)
            .after_context(self.after)
            // Content is decoded before the search, so that long lines can be split as text.
            .bom_sniffing(false)
            .heap_limit(Some(MAX_BYTES_AT_ONCE))
            .binary_detection(BinaryDetection::convert(0));
        builder.build()
    }
}
