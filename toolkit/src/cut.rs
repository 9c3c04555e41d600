//! Cutting an output to size: how much a model gets, which part, and what it is told of the rest.
//!
//! ```text
//! fits            within the limits: nothing is touched
//!   └─ excerpt    which bytes stay, from the two ends of the text alone
//!        └─ cutter  the whole goes to a file, the excerpt and a hint to the model
//!             └─ hint  the words
//! ```
//!
//! Returned and streamed text take the same way: a stream keeps the two ends and writes the rest as it comes.

mod excerpt;
mod hint;

use crate::caller::Caller;
use crate::truncate::{Keep, Truncate};
use serde::{Deserialize, Serialize, Serializer};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use excerpt::{Ends, Excerpt, lossy_bytes, newlines};
pub(crate) use hint::left_out;

/// How much of an output a model gets at most.
///
/// They bound the text that stays; what the model is told of the rest comes on top, some hundred bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// The most lines. A line ends with a line feed.
    pub max_lines: u64,
    /// The most bytes of text, in UTF-8.
    pub max_bytes: u64,
    /// Which part stays.
    pub keep: Keep,
}

impl Default for OutputLimits {
    /// 2,000 lines and 50 KiB of the beginning.
    fn default() -> Self {
        Self { max_lines: 2_000, max_bytes: 50 * 1024, keep: Keep::Head }
    }
}

impl OutputLimits {
    /// The limits for one tool, where these are the toolkit's; `None` where it is not cut.
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

    /// What the beginning and the end may take.
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

/// What one end may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
}

impl Budget {
    /// How much of that end has to be looked at.
    pub(crate) fn window(self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }
}

/// Words what a model is told of an output that was cut. [`Cut`]'s own words are its `Display`.
pub type CutHint = Arc<dyn Fn(&Cut, &Caller) -> String + Send + Sync>;

/// What was cut from an output: a result has it in its metadata, under `truncation`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Cut {
    /// How many lines there were. A last line without a line feed counts.
    pub total_lines: u64,
    /// How many bytes there were.
    pub total_bytes: u64,
    /// Which part stayed.
    #[serde(with = "KeepName")]
    pub keep: Keep,
    /// What the model sees, in order: up to two parts, none where the limit is less than a character.
    pub shown: Vec<Part>,
    /// What it does not see. Reading on means reading this.
    pub missing: Part,
    /// Where the whole output is.
    pub kept: Kept,
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
    /// Its first byte.
    pub from: Position,
    /// The byte after its last.
    pub to: Position,
}

impl Part {
    /// How many bytes it has.
    pub fn bytes(&self) -> u64 {
        self.to.offset - self.from.offset
    }

    /// The first line that it has something of, from 1.
    pub fn first_line(&self) -> u64 {
        self.from.line
    }

    /// The last line that it has something of, from 1.
    pub fn last_line(&self) -> u64 {
        if self.to.byte_in_line == 0 { self.to.line - 1 } else { self.to.line }
    }

    /// How many lines it has something of.
    pub fn lines(&self) -> u64 {
        self.last_line() - self.first_line() + 1
    }
}

/// A place in an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Position {
    /// The line, from 1.
    pub line: u64,
    /// How many bytes of that line come before; 0 at its start.
    pub byte_in_line: u64,
    /// How many bytes of the output come before.
    pub offset: u64,
}

/// Where a whole output is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kept {
    /// In a file.
    Whole {
        /// The file.
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
    },
    /// Its beginning is in a file; then the disk was full, or failed.
    Partly {
        /// The file.
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
        /// How many bytes are in it.
        bytes: u64,
        /// Why no more.
        error: String,
    },
    /// Nowhere.
    Not {
        /// Why.
        error: String,
    },
}

fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Says that an output is kept nowhere because the runtime ends.
pub(crate) fn shutting_down() -> Kept {
    Kept::Not { error: "the host is shutting down".to_owned() }
}
