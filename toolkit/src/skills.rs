//! Skills: where a caller's come from. What is in them, a tool reads.

mod files;

pub use files::{SkillFile, SkillFiles};

use std::path::PathBuf;

/// The directory in a workspace, and in the user's directory for configuration, that holds skills.
pub(crate) const DIRECTORY: &str = "skills";

/// What a crate brings of skills. Made by [`skills!`](crate::skills).
#[derive(Debug, Clone, Copy)]
pub struct LinkedSkills {
    /// The module that registers them; its first segment is the crate.
    pub module: &'static str,
    /// Each a whole `SKILL.md`.
    pub texts: &'static [&'static str],
    /// Directories of skills.
    pub directories: &'static [&'static str],
}

inventory::collect!(LinkedSkills);

impl LinkedSkills {
    /// The crate that registers them.
    pub(crate) fn crate_name(&self) -> &'static str {
        self.module.split("::").next().unwrap_or(self.module)
    }
}

/// Where the skills of a caller come from, those that count first before others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillSources {
    /// The workspace's where it is trusted, the user's, then those of crates by name.
    pub sources: Vec<SkillSource>,
    /// The directory of a workspace that is not trusted, whether or not it is there. Its skills do not count.
    pub untrusted: Option<PathBuf>,
}

/// Where skills come from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillSource {
    /// Whose they are, in words: `the workspace`, `the user`, `the plugin acme`.
    pub owner: String,
    /// Where they are.
    pub place: SkillPlace,
    /// What they have to be together to count, as [`SkillFiles::sha256`]: what the user saw when they trusted them. `None` where
    /// whatever is there counts.
    pub trusted: Option<String>,
}

/// Where skills are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillPlace {
    /// In the directories of this directory, which need not be there.
    Directory(PathBuf),
    /// In the program: each a whole `SKILL.md`.
    Texts(&'static [&'static str]),
}
