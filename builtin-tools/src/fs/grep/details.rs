//! The structured output of `grep`.

/// The files with matches.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct FoundText {
    /// The regular expression.
    pub pattern: String,
    /// The file or directory that was searched.
    pub search_path: String,
    /// Some of the files with matches, sorted by path.
    pub results: Vec<MatchingFile>,
    /// Number of results: matches with `content`, files otherwise.
    pub count: u64,
    /// True if there are further results.
    pub truncated: bool,
    /// The `offset` of the next result; null if there is none.
    pub next_offset: Option<u64>,
    /// Number of files that were searched.
    pub files_searched: u64,
    /// Number of files and directories that were left out because reading them is denied or needs approval.
    pub left_out: u64,
    /// Number of files and directories that could not be read.
    pub unreadable: u64,
    /// Number of files that were too large to search.
    pub too_large: u64,
}

/// A file with matches.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct MatchingFile {
    /// The path, relative to the workspace if the file is in it.
    pub path: String,
    /// True for a binary file, whose lines are not returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary: Option<bool>,
    /// Number of matching lines, with `count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The matching lines and the lines around them, with `content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<MatchingLine>>,
}

/// A line of a file.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct MatchingLine {
    /// Number of the line, counted from 1.
    pub number: u64,
    /// True if the line matches; false for a line of the context.
    pub is_match: bool,
    /// The text without its line ending. The text of a long line is cut.
    pub text: String,
}
