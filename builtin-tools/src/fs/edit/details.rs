//! The structured output of `edit`.

/// The file that was edited.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct EditedFile {
    /// The path, relative to the workspace if the file is in it.
    pub file_path: String,
    /// True for a new file.
    pub created: bool,
    /// Number of added lines.
    pub additions: usize,
    /// Number of removed lines.
    pub deletions: usize,
    /// The replacements, in the order of the edits; absent for a new file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacements: Option<Vec<MadeReplacement>>,
    /// The unified diff; absent if the content must not be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// True if the diff is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_truncated: Option<bool>,
    /// Number of other hard links to the file, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_names: Option<u64>,
}

/// A replacement that was made.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct MadeReplacement {
    /// Number of places where the text was replaced.
    pub count: usize,
    /// Number of the line of the first place, counted from 1.
    pub line: usize,
    /// The differences that were ignored to find the text, such as `indentation`; `nothing` if the text was found as given.
    pub overlooked: String,
}
