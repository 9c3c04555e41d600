//! The structured output of `apply_patch`.

/// The files that a patch changed.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PatchedFiles {
    /// The files, in the order of the patch.
    pub files: Vec<PatchedFile>,
    /// Number of added lines, without files whose content must not be shown.
    pub additions: usize,
    /// Number of removed lines, without files whose content must not be shown.
    pub deletions: usize,
}

/// A file that was added, changed, deleted or moved.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PatchedFile {
    /// The change.
    pub status: PatchStatus,
    /// The path, relative to the workspace if the file is in it; for a moved file the new path.
    pub file_path: String,
    /// The old path of a moved file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Number of added lines; absent if the content must not be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additions: Option<usize>,
    /// Number of removed lines; absent if the content must not be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletions: Option<usize>,
    /// The unified diff; absent if the content must not be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// True if the diff is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_truncated: Option<bool>,
    /// Number of other hard links to the file, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_names: Option<u64>,
    /// True if the file became executable, false if it is no longer executable; absent if that did not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable: Option<bool>,
}

/// The change of a file.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchStatus {
    /// Added.
    #[serde(rename = "A")]
    Added,
    /// Modified.
    #[serde(rename = "M")]
    Modified,
    /// Deleted.
    #[serde(rename = "D")]
    Deleted,
    /// Renamed.
    #[serde(rename = "R")]
    Renamed,
}

impl PatchStatus {
    /// Returns the letter of the status, as git writes it.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Modified => 'M',
            Self::Deleted => 'D',
            Self::Renamed => 'R',
        }
    }
}
