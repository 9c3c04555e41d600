//! The structured output of `write`.

/// The file that was written.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct WrittenFile {
    /// The path, relative to the workspace if the file is in it.
    pub file_path: String,
    /// True for a new file.
    pub created: bool,
    /// Size of the file in bytes.
    pub bytes: usize,
    /// Number of lines.
    pub lines: usize,
    /// The encoding, such as UTF-8.
    pub encoding: String,
    /// True if the file begins with a byte order mark.
    pub byte_order_mark: bool,
    /// The line endings: LF, CRLF, mixed or none.
    pub line_endings: String,
    /// Number of other hard links to the file, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_names: Option<u64>,
    /// Number of added lines; absent if the old content must not be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additions: Option<usize>,
    /// Number of removed lines; absent if the old content must not be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletions: Option<usize>,
    /// The unified diff; absent if the old content must not be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// True if the diff is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_truncated: Option<bool>,
}
