//! Files.

mod apply_patch;
mod content;
mod diff;
mod edit;
mod fold;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod glob;
mod grep;
mod interrupted;
mod leave;
mod nearest;
mod place;
mod progress;
mod read;
mod returns;
mod skill;
mod skipped;
mod splice;
#[cfg(test)]
mod telling;
mod text;
mod threads;
mod walk;
mod write;

use crate::files::{hard_links, unread, written};

pub use apply_patch::{PatchStatus, PatchedFile, PatchedFiles, apply_patch};
pub use edit::{Edit, EditedFile, MadeReplacement, edit};
pub use glob::{FoundFile, FoundFiles, glob};
pub use grep::{FoundText, GrepOutput, MatchingFile, MatchingLine, grep};
pub use read::{DirectoryDetails, PictureDetails, ReadDetails, TextDetails, read};
pub use skill::{SkillDetails, skill};
pub use write::{WrittenFile, write};
