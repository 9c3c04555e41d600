//! Skills: the sources of a caller's skills. A tool reads their content.

mod files;
mod helpers;

pub use files::{SkillFile, SkillFiles};

use std::path::PathBuf;

/// The directory for skills in a workspace, and in the user's configuration directory.
pub(crate) const DIRECTORY: &str = "skills";

/// The sources of a caller's skills, in order of precedence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillSources {
    /// The workspace if it is trusted, the user, then crates by name.
    pub sources: Vec<SkillSource>,
    /// The directory of an untrusted workspace, whether or not it exists. Its skills are ignored.
    pub untrusted: Option<PathBuf>,
}

/// A source of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillSource {
    /// The owner in words: `the workspace`, `the user`, `the plugin acme`.
    pub owner: String,
    /// The place of the skills.
    pub place: SkillPlace,
    /// The required [`SkillFiles::sha256`] of all its skills: the content that the user saw when they trusted it.
    /// `None` if any content is accepted.
    pub trusted: Option<String>,
}

/// The place of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillPlace {
    /// In subdirectories of this directory, which may not exist.
    Directory(PathBuf),
    /// In the program: each text is a whole `SKILL.md`.
    Texts(&'static [&'static str]),
}
