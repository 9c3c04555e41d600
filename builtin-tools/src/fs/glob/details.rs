//! The structured output of `glob`.

/// The files whose names match.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct FoundFiles {
    /// The pattern.
    pub pattern: String,
    /// The directory that was searched.
    pub search_path: String,
    /// Some of the files, the most recently changed first.
    pub files: Vec<FoundFile>,
    /// Number of all files that match.
    pub count: u64,
    /// True if there are further files.
    pub truncated: bool,
    /// The `offset` of the next file; null if there is none.
    pub next_offset: Option<usize>,
    /// Number of files and directories that were left out because reading them is denied or needs approval.
    pub left_out: u64,
    /// Number of directories that could not be read.
    pub unreadable: u64,
}

/// A file.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct FoundFile {
    /// The path, relative to the workspace if the file is in it.
    pub path: String,
    /// Time of the last change, in seconds since 1970.
    pub modified: u64,
}
