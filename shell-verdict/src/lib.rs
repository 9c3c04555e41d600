//! Judges a shell command before it runs: may it run unasked, does a person have to be asked, or is it refused?
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
//! };
//! assert_eq!(judge("grep -n main src/main.rs | head -5", &situation).decision, Decision::Allow);
//! assert_eq!(judge("cat ~/.ssh/id_rsa", &situation).decision, Decision::Ask);
//! assert_eq!(judge("echo done && sudo reboot", &situation).decision, Decision::Deny);
//! ```
//!
//! Two readings of a command are made at once. The *strict* one proves that the command only reads, and which paths: it is
//! allowed then, if [`Situation::decide`] allows each of them. The *lenient* one finds what is dangerous or never runs, also in
//! what cannot be parsed. What neither proves is asked.
//!
//! # What this is a boundary for, and what it is not
//!
//! A command that is allowed and runs as it was judged, in the situation that it was judged in and with the variables of
//! [`Verdict::env`], writes no file, opens no connection, and starts no program but those that the verdict lists. Package managers may still
//! keep locks and notes of use in their own caches below the home. That holds against
//! whoever wrote the command, and against whoever wrote the files of the workspace, the configuration of a git repository among
//! them.
//!
//! It does not hold against whoever can change, between the judgement and the run, the programs of the `PATH`, the environment, or
//! what the names of the workspace stand for. It says nothing of a command that a person allowed: run that in a sandbox. And what a
//! command finds out it can tell: what it prints goes to whoever called it.
//!
//! The parser panics at some texts that no shell takes. That is caught, and asked about, in programs whose panics unwind; one that is
//! built with `panic = "abort"` ends there.

mod builtin;
mod class;
mod command;
mod environment;
mod facts;
mod forbidden;
#[doc(hidden)]
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod git;
mod guards;
mod listed;
mod lookup;
mod names;
mod options;
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
pub use lookup::Programs;
pub use situation::{Access, DecideSearch, Decision, Search, Searched, SearchedFiles, Shell, Situation};
pub use verdict::{Ground, Part, Reason, Verdict};

use std::path::{Path, PathBuf};

/// Judges `command` in this situation.
///
/// It never fails: what cannot be parsed, is longer than 64 KiB or too deep is asked about. It takes some microseconds for an
/// everyday command, and looks at the file system where patterns, programs and git repositories have to be known.
pub fn judge(command: &str, situation: &Situation<'_>) -> Verdict {
    walk::judge(command, situation)
}

/// The files that git tracks below a directory, by their real paths, as the index of its repository names them. `None` where the
/// directory is in no repository, or the index is not understood.
pub fn tracked_files(directory: &Path) -> Option<Vec<PathBuf>> {
    git::tracked(directory)
}
