//! A parsed patch, in any format.

/// A patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Patch<'a> {
    /// The changes in the order in which they are applied.
    pub(crate) changes: Vec<Change<'a>>,
    /// The directory that the patch is applied in, where a command before it names one. The paths have it by now.
    pub(super) directory: Option<&'a str>,
}

/// The change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change<'a> {
    /// The line of the patch on which it begins, counted from 1.
    pub(crate) line: usize,
    /// The file.
    pub(crate) path: String,
    /// Another name that the patch gives it, for where nothing is under the first.
    pub(crate) or_path: Option<String>,
    /// The change to it.
    pub(crate) action: Action<'a>,
    /// The executable bit, if the patch sets it.
    pub(crate) executable: Option<bool>,
}

/// The change to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action<'a> {
    /// The file is created.
    Add(String),
    /// The file is deleted; its content must match the hunks, if there are any.
    Delete(Vec<Hunk<'a>>),
    /// The file is changed.
    Update {
        /// Destination, if the file is moved or copied.
        to: Option<String>,
        /// True if the original is kept.
        is_copy: bool,
        /// The changes in its content.
        hunks: Vec<Hunk<'a>>,
    },
}

/// Lines of a file that change, with lines around them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hunk<'a> {
    /// The line of the patch on which it begins, counted from 1.
    pub(crate) line: usize,
    /// Lines that precede the hunk somewhere, the outermost first.
    pub(crate) anchors: Vec<&'a str>,
    /// First line of the file that the hunk is about, if the patch states it: counted from 1; without old lines, the line
    /// before it.
    pub(crate) at: Option<usize>,
    /// The lines, old and new.
    pub(crate) lines: Vec<HunkLine<'a>>,
    /// Number of empty lines at the end that may belong to the patch rather than to the file.
    pub(crate) padding: usize,
    /// Number of signed, unchanged blank lines before that padding.
    pub(super) last_blanks: usize,
    /// True if the patch states that the hunk is at the end of the file.
    pub(crate) at_end: bool,
    /// True if the patch states that the last old line has no line ending.
    pub(crate) old_is_open: bool,
    /// True if the patch states that the last new line has no line ending.
    pub(crate) new_is_open: bool,
}

/// A line of a hunk, without its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HunkLine<'a> {
    /// The change to it.
    pub(crate) sign: Sign,
    /// The text, including a carriage return at its end.
    pub(crate) text: &'a str,
}

/// The change to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// The line is unchanged.
    Keep,
    /// The line is removed.
    Gone,
    /// The line is added.
    Come,
}

impl<'a> Hunk<'a> {
    /// The lines that the file has now.
    pub(crate) fn old(&self) -> impl Iterator<Item = &'a str> {
        self.lines.iter().filter(|line| line.sign != Sign::Come).map(|line| line.text)
    }

    /// Returns the hunk without the empty lines at its end that may belong to the patch.
    pub(crate) fn without_padding(&self) -> Self {
        self.without_last(self.padding)
    }

    /// Returns the hunk without its last `lines` lines, which may belong to the patch.
    pub(super) fn without_last(&self, lines: usize) -> Self {
        let mut hunk = self.clone();
        hunk.lines.truncate(self.lines.len() - lines);
        (hunk.padding, hunk.last_blanks) = (0, 0);
        hunk
    }

    /// Adds a line that begins with a sign; returns `None` without a sign.
    pub(crate) fn push(&mut self, line: &'a str) -> Option<Sign> {
        let (sign, text) = match line.as_bytes().first() {
            None => (Sign::Keep, ""),
            Some(b' ') => (Sign::Keep, &line[1..]),
            Some(b'-') => (Sign::Gone, &line[1..]),
            Some(b'+') => (Sign::Come, &line[1..]),
            _ => return None,
        };
        if line.is_empty() {
            self.padding += 1;
        } else {
            let is_blank = sign == Sign::Keep && text.trim().is_empty();
            self.last_blanks = if is_blank { self.last_blanks + 1 } else { 0 };
            self.padding = 0;
        }
        self.lines.push(HunkLine { sign, text });
        Some(sign)
    }

    /// Notes that the line before has no line ending.
    pub(crate) fn leave_open(&mut self) {
        match self.lines.last().map(|line| line.sign) {
            Some(Sign::Keep) => (self.old_is_open, self.new_is_open) = (true, true),
            Some(Sign::Gone) => self.old_is_open = true,
            Some(Sign::Come) => self.new_is_open = true,
            None => {}
        }
    }
}

/// The reason for which a patch cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatchError {
    /// The line of the patch, counted from 1.
    pub(crate) line: usize,
    /// The problem, and the way out.
    pub(crate) problem: String,
}

impl PatchError {
    pub(super) fn new(line: usize, problem: impl Into<String>) -> Self {
        Self { line, problem: problem.into() }
    }
}

/// A line without the carriage return at its end.
pub(super) fn without_return(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}
