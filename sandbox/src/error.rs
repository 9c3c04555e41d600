//! Errors that prevent a command from starting.

use std::io;
use std::path::PathBuf;

use crate::Part;

/// The reason for which a command was not started. No part of it runs, and everything that was prepared is removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The program does not exist.
    #[error("program `{program}` was not found: {}", searched(path.as_deref()))]
    NotFound {
        /// The program as it was given.
        program: String,
        /// The `PATH` of the command's environment, if it was searched.
        path: Option<String>,
    },
    /// The program exists, but cannot be executed.
    #[error("program `{program}` cannot be executed: {source}")]
    NotExecutable {
        /// The program as it was given.
        program: String,
        /// The system's error.
        source: io::Error,
    },
    /// The directory that the command is to start in can't be entered.
    #[error("cannot start in the directory `{}`: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A given text contains a NUL byte, and cannot be passed on.
    #[error("{what} cannot be passed to a program: it contains a NUL byte")]
    Nul {
        /// The part with the NUL byte.
        what: &'static str,
    },
    /// The program with its arguments and environment is longer than the system takes.
    #[error(
        "arguments and environment are too long for the system: write the long part to a file or to the standard input"
    )]
    TooLong,
    /// A part of the sandbox that was required could not be set up.
    #[error("the sandbox is required, but its part `{part}` is unavailable: {why}")]
    Sandbox {
        /// The part.
        part: Part,
        /// The reason.
        why: String,
    },
    /// The sandbox as it was described makes no sense.
    #[error("this sandbox cannot be set up: {why}")]
    Contradiction {
        /// The conflict, for a host that has its own text for what to do about it.
        conflict: Conflict,
        /// The same as text, with the paths, and the remedy if only the program can apply it.
        why: String,
    },
    /// The process that owns the job could not be started, or was killed while it started the command.
    #[error("the supervisor could not start the command ({step}): {source}")]
    Supervisor {
        /// The step that failed.
        step: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// This system cannot run commands at all.
    #[error("commands cannot be run on this system")]
    Unsupported,
}

/// A conflict between a command and its sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Conflict {
    /// The root directory would be writable, in a mode that restricts writing to some paths.
    RootWritable,
    /// The workspace does not exist.
    NoWorkspace,
    /// The directory to use as `/tmp` does not exist.
    NoTmp,
    /// A path of the sandbox cannot be examined.
    Unreadable,
    /// A path of the sandbox is inside a hidden one.
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

    /// Returns the character with which a supervisor reports the conflict, before the text.
    pub(crate) fn sign(self) -> char {
        char::from(b'a' + self as u8)
    }

    pub(crate) fn from_sign(sign: char) -> Option<Self> {
        Self::ALL.into_iter().find(|conflict| conflict.sign() == sign)
    }
}

/// Returns where a program was searched for.
fn searched(path: Option<&str>) -> String {
    match path {
        Some("") => "the command's environment has no `PATH`; give the program's whole path".to_owned(),
        Some(path) => format!("it is in none of the directories of `PATH` ({path})"),
        None => "there is no such file, or the interpreter that its first line names is missing".to_owned(),
    }
}
