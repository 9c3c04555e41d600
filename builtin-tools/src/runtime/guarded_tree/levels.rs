//! Decisions about the paths of a tree.

use std::path::Path;
use toolkit::approval::Access;
use toolkit::permission::{PathDecision, PathRules};

/// A decision about one kind of access. A stricter one compares greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Allow,
    Ask,
    Deny,
}

/// The decisions about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Levels {
    pub(super) reading: Level,
    pub(super) writing: Level,
    /// True if an entry of a rule may be about it or a directory above it, so that rules decide about each path in it.
    pub(super) is_named: bool,
    /// True if it is in a repository's own directory, which is recognised by its content.
    pub(super) is_of_repository: bool,
}

impl Level {
    fn of(decision: &PathDecision) -> Self {
        match decision {
            PathDecision::Allow => Self::Allow,
            PathDecision::Deny { .. } => Self::Deny,
            _ => Self::Ask,
        }
    }
}

impl Levels {
    pub(super) const NONE: Self =
        Self { reading: Level::Allow, writing: Level::Allow, is_named: false, is_of_repository: false };

    /// Returns the decisions about a file, or about a directory with all that it contains.
    pub(super) fn of(rules: &PathRules, path: &Path, is_directory: bool) -> Self {
        let decide = |access| {
            let decided =
                if is_directory { rules.decide_below(path, access) } else { rules.decide(path, access) };
            Level::of(&decided)
        };
        Self { reading: decide(Access::Read), writing: decide(Access::Write), ..Self::NONE }
    }

    /// Returns the decisions about a tree.
    pub(super) fn of_root(rules: &PathRules, root: &Path) -> Self {
        let levels = Self::of(rules, root, true);
        Self { is_named: levels.reading.max(levels.writing) > Level::Allow, ..levels }
    }
}
