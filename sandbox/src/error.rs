//! Why a command was not started.

use std::io;
use std::path::PathBuf;

use crate::Part;

/// Why a command was not started. Nothing of it runs, and nothing is left of what was prepared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The program is not there.
    #[error("program `{program}` was not found: {}", searched(path.as_deref()))]
    NotFound {
        /// The program as it was given.
        program: String,
        /// The `PATH` of the command's environment, if it was searched.
        path: Option<String>,
    },
    /// The program is there, but can't be executed.
    #[error("program `{program}` cannot be executed: {source}")]
    NotExecutable {
        /// The program as it was given.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The directory that the command is to start in can't be entered.
    #[error("cannot start in the directory `{}`: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something that was given can't be passed on.
    #[error("{what} cannot be passed to a program: it contains a NUL byte")]
    Nul {
        /// What it is.
        what: &'static str,
    },
    /// The program with its arguments and environment is longer than the system takes.
    #[error(
        "arguments and environment are too long for the system: write the long part to a file or to the standard input"
    )]
    TooLong,
    /// A part of the sandbox that was required could not be set up.
    #[error("the sandbox is required and its part `{part}` cannot be had: {why}")]
    Sandbox {
        /// The part.
        part: Part,
        /// Why not.
        why: String,
    },
    /// The sandbox as it was described makes no sense.
    #[error("this sandbox cannot be set up: {why}")]
    Contradiction {
        /// What does not fit together, for a host that has words of its own for what to do about it.
        conflict: Conflict,
        /// The same in words, with the paths, and what to do about it where only the program can do that.
        why: String,
    },
    /// The process that owns the job could not be started, or was killed while it started the command.
    #[error("the supervisor could not start the command ({step}): {source}")]
    Supervisor {
        /// What it was at.
        step: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// This system can't run commands here at all.
    #[error("commands cannot be run on this system")]
    Unsupported,
}

/// What of a command and its sandbox does not fit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Conflict {
    /// The root directory would be writable, in a mode that holds back something beside what is writable.
    RootWritable,
    /// The workspace does not exist.
    NoWorkspace,
    /// The directory that is to be its `/tmp` does not exist.
    NoTmp,
    /// A path of it cannot be looked at.
    Unreadable,
    /// A path that is to be used lies in one that is hidden.
    InHidden,
    /// A path is not absolute.
    NotAbsolute,
    /// A terminal and pipes.
    TerminalWithPipes,
    /// More descriptors than [`Command::MAX_DESCRIPTORS`](crate::Command::MAX_DESCRIPTORS).
    TooManyDescriptors,
}

impl Conflict {
    const ALL: [Self; 8] = [
        Self::RootWritable,
        Self::NoWorkspace,
        Self::NoTmp,
        Self::Unreadable,
        Self::InHidden,
        Self::NotAbsolute,
        Self::TerminalWithPipes,
        Self::TooManyDescriptors,
    ];

    /// What a supervisor says it by, before the words.
    pub(crate) fn sign(self) -> char {
        char::from(b'a' + self as u8)
    }

    pub(crate) fn from_sign(sign: char) -> Option<Self> {
        Self::ALL.into_iter().find(|conflict| conflict.sign() == sign)
    }
}

/// Where a program was looked for.
fn searched(path: Option<&str>) -> String {
    match path {
        Some("") => "the command's environment has no `PATH`; give the program's whole path".to_owned(),
        Some(path) => format!("it is in none of the directories of `PATH` ({path})"),
        None => "there is no such file, or the interpreter that its first line names is missing".to_owned(),
    }
}
