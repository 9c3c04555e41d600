//! The structured output of `skill`.

/// The skill that was loaded.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SkillDetails {
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The owner, such as the plugin or the workspace.
    pub owner: String,
    /// The directory of the files; null for a skill that is part of the program.
    pub base_directory: Option<String>,
    /// Some of the files, relative to the directory.
    pub files: Vec<String>,
}
