//! Truncates an output: how much a model gets, which part, and the hint about the rest.
//!
//! ```text
//! cutter: fits       within the limits: nothing is touched
//!   └─ excerpt       which bytes stay, from the two ends of the text alone
//!        └─ cutter   the whole goes to a file, the excerpt and a hint to the model
//!             └─ hint  the words
//! ```
//!
//! Returned and streamed text take the same way: a stream keeps the two ends and writes the rest as it comes.

mod excerpt;
mod hint;

use serde::{Deserialize, Serialize, Serializer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolkit_core::caller::Caller;
use toolkit_core::truncate::{Keep, Truncate};

pub(crate) use excerpt::{Ends, Excerpt, lossy_bytes, newlines};
pub(crate) use hint::left_out;

/// The limits of an output for a model.
///
/// They limit the text that is kept; the hint about the rest is added to it, some hundred bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// The most lines. A line ends with a line feed.
    pub max_lines: u64,
    /// The most bytes of text, in UTF-8.
    pub max_bytes: u64,
    /// The part that is kept.
    pub keep: Keep,
}

impl Default for OutputLimits {
    /// Returns the default: 2,000 lines and 50 KiB of the beginning.
    fn default() -> Self {
        Self { max_lines: 2_000, max_bytes: 50 * 1024, keep: Keep::Head }
    }
}

impl OutputLimits {
    /// Returns the limits for one tool, from these of the toolkit; `None` if the tool is not truncated.
    pub(crate) fn of(self, tool: Option<Truncate>) -> Option<Self> {
        match tool {
            None => Some(self),
            Some(Truncate::Off) => None,
            Some(Truncate::Limits { max_lines, max_bytes, keep }) => Some(Self {
                max_lines: max_lines.unwrap_or(self.max_lines),
                max_bytes: max_bytes.unwrap_or(self.max_bytes),
                keep,
            }),
        }
    }

    /// Returns the budgets of the beginning and the end.
    pub(crate) fn budgets(self) -> (Budget, Budget) {
        let all = Budget { lines: self.max_lines, bytes: self.max_bytes };
        let none = Budget { lines: 0, bytes: 0 };
        match self.keep {
            Keep::Head => (all, none),
            Keep::Tail => (none, all),
            Keep::Ends => (
                Budget { lines: all.lines.div_ceil(2), bytes: all.bytes.div_ceil(2) },
                Budget { lines: all.lines / 2, bytes: all.bytes / 2 },
            ),
        }
    }
}

/// The budget of one end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
}

impl Budget {
    /// Returns the number of bytes of that end that have to be examined.
    pub(crate) fn window(self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }
}

/// A function that words the hint about a truncated output. The default wording is the `Display` of [`Cut`].
pub type CutHint = Arc<dyn Fn(&Cut, &Caller) -> String + Send + Sync>;

/// A record of what was truncated: a result has it in its metadata, under `truncation`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Cut {
    /// The number of lines of the whole output. A last line without a line feed counts.
    pub total_lines: u64,
    /// The number of bytes of the whole output.
    pub total_bytes: u64,
    /// The part that was kept.
    #[serde(with = "KeepName")]
    pub keep: Keep,
    /// The parts that the model gets, in order: up to two, none if the limit is less than a character.
    pub shown: Vec<Part>,
    /// The missing part, which the model can read from the kept output.
    pub missing: Part,
    /// The place of the whole output.
    pub kept: OutputLocation,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Keep", rename_all = "snake_case")]
enum KeepName {
    Head,
    Tail,
    Ends,
}

/// A part of an output, never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Part {
    /// The position of its first byte.
    pub from: Position,
    /// The position after its last byte.
    pub to: Position,
}

impl Part {
    /// Returns the number of bytes.
    pub fn bytes(&self) -> u64 {
        self.to.offset - self.from.offset
    }

    /// Returns the first line that the part contains or begins in, from 1.
    pub fn first_line(&self) -> u64 {
        self.from.line
    }

    /// Returns the last line that the part contains or ends in, from 1.
    pub fn last_line(&self) -> u64 {
        if self.to.byte_in_line == 0 { self.to.line - 1 } else { self.to.line }
    }

    /// Returns the number of lines, counting partial ones.
    pub fn lines(&self) -> u64 {
        self.last_line() - self.first_line() + 1
    }
}

/// A position in an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Position {
    /// The line, from 1.
    pub line: u64,
    /// The number of bytes of that line before the position; 0 at the start of the line.
    pub byte_in_line: u64,
    /// The number of bytes of the output before the position.
    pub offset: u64,
}

/// The place of a whole output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputLocation {
    /// In a file.
    Whole {
        /// The file.
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
    },
    /// The beginning is in a file; then the disk was full, or writing failed.
    Partly {
        /// The file.
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
        /// The number of bytes in the file.
        bytes: u64,
        /// The reason why there are no more.
        error: String,
    },
    /// The output was not kept.
    Not {
        /// The reason.
        error: String,
    },
}

/// A picture, a sound or a binary document that an output had beyond the limits: a result has a list of them in its metadata, under
/// `leftOut`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LeftOutMedia {
    /// Its media type, as the tool states it.
    pub mime_type: String,
    /// The number of bytes.
    pub bytes: u64,
    /// The place of its data.
    pub kept: OutputLocation,
}

fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Says that an output is kept nowhere because the runtime ends.
pub(crate) fn shutting_down() -> OutputLocation {
    OutputLocation::Not { error: "the host is shutting down".to_owned() }
}
