//! Judges a shell command before it runs: it is allowed, needs approval, or is denied.
//!
//! ```
//! use shell_verdict::{Access, Decision, Programs, Shell, Situation, judge};
//! use std::collections::BTreeMap;
//! use std::path::Path;
//!
//! let env = BTreeMap::from([("HOME".to_owned(), "/home/ada".to_owned())]);
//! let programs = Programs::of_path("/usr/bin:/bin");
//! let workspace = Path::new("/srv/project");
//! let decide = |path: &Path, access: Access| match access {
//!     Access::Write => Decision::Ask,
//!     _ if path.starts_with(workspace) => Decision::Allow,
//!     _ => Decision::Ask,
//! };
//! let situation = Situation {
//!     cwd: workspace,
//!     workspace,
//!     env: &env,
//!     programs: &programs,
//!     shell: Shell::Bash,
//!     decide: &decide,
//!     search: None,
//!     contained: false,
//! };
//! assert_eq!(judge("grep -n main src/main.rs | head -5", &situation).decision, Decision::Allow);
//! assert_eq!(judge("cat ~/.ssh/id_rsa", &situation).decision, Decision::Ask);
//! assert_eq!(judge("echo done && sudo reboot", &situation).decision, Decision::Deny);
//! ```
//!
//! Each command is read in two ways. The *strict* reading proves that the command only reads, and which paths: it is allowed then, if
//! [`Situation::decide`] allows each of them. The *lenient* reading finds dangerous and forbidden commands, even in text that cannot be
//! parsed. A command for which neither is conclusive needs approval.
//!
//! # What this is a boundary for, and what it is not
//!
//! An allowed command that runs as it was judged, in the same situation and with the variables of [`Verdict::env`], writes no file, opens
//! no connection, and starts no program except those that the verdict lists. Package managers may still write locks and usage records in
//! their own caches below the home. The guarantee holds against the author of the command, and against the author of the files of the
//! workspace, including the configuration of a git repository.
//!
//! With [`Situation::contained`] the host's containment keeps an allowed command from writing, connecting and running what is in the
//! workspace. The verdict then decides which paths are read and shown, and allows commands whose effects the containment prevents.
//!
//! It does not hold against an attacker who can change, between the verdict and the run, the programs of the `PATH`, the environment, or
//! the files of the workspace. It makes no statement about a command that the user approved: run that in a sandbox. And a command can
//! disclose what it reads: its output goes to the caller.
//!
//! The parser panics on some texts that no shell accepts. The panic is caught, and the command needs approval, in programs whose panics
//! unwind; a program built with `panic = "abort"` aborts.

mod archive;
mod builtin;
mod class;
mod command;
mod contained;
mod environment;
mod forbidden;
#[doc(hidden)]
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod git;
mod guards;
mod listed;
mod lookup;
mod names;
mod never;
mod options;
mod possible;
mod repository;
mod scripts;
mod situation;
mod special;
mod starters;
mod state;
mod verdict;
mod walk;
mod words;
mod wrappers;

pub use class::Class;
pub use environment::has_assumed_shape;
pub use git::attributes_may_show;
pub use lookup::Programs;
pub use possible::{PossiblePath, PossiblePaths, PossiblePlace, possible_paths_of_text, resolve_path};
pub use situation::{Access, DecideSearch, Decision, Search, Searched, SearchedFiles, Shell, Situation};
pub use verdict::{Ground, Part, Reason, Verdict};

use std::path::{Path, PathBuf};

/// Judges `command` in this situation.
///
/// Never fails: a text that cannot be parsed, is longer than 64 KiB or nested too deep needs approval. An everyday command takes some
/// microseconds; the file system is read as needed for patterns, programs and git repositories.
pub fn judge(command: &str, situation: &Situation<'_>) -> Verdict {
    walk::judge(command, situation, command::JUDGES)
}

/// Returns the files that git tracks below a directory, by their real paths, from the index of its repository. `None` if the directory is
/// in no repository, or the index cannot be parsed.
pub fn tracked_files(directory: &Path) -> Option<Vec<PathBuf>> {
    repository::tracked(directory)
}
