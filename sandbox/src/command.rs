//! A command to be run.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use crate::pump::{self, Kept};
use crate::sys::MAX_GIVEN;
use crate::{Limits, Sandbox};

/// Source of a command's standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Stdin {
    /// No input: reading returns the end of the file.
    #[default]
    Null,
    /// A pipe that [`Job::stdin`](crate::Job::stdin) writes to.
    Pipe,
}

/// Destination of a command's output.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output {
    /// Nowhere.
    Null,
    /// Standard output and standard error, interleaved, into this file, which must be open for appending. The supervisor writes to
    /// it, not the command, so that output written before a host is killed is complete.
    File(File),
    /// As [`File`](Self::File), and the first [`BEGINNING`](Self::BEGINNING) bytes into another file too, which is to be one in memory, so
    /// that a short output does not depend on the disk. Without a file, the beginning alone is written.
    Kept {
        /// The file for the whole output, open for appending.
        file: Option<File>,
        /// The file for the beginning of the output.
        beginning: File,
    },
    /// Standard output and standard error each into a pipe that [`Job::take_stdout`](crate::Job::take_stdout) and [`Job::take_stderr`](crate::Job::take_stderr) read.
    Pipes,
}

impl Output {
    /// The most bytes of an output that are written into the file for its beginning.
    pub const BEGINNING: u64 = pump::BEGINNING;

    /// Returns the files, or an output that goes into none.
    pub(crate) fn kept(self) -> Result<Kept, Self> {
        match self {
            Self::File(file) => Ok(Kept { file: Some(file.into()), beginning: None }),
            Self::Kept { file, beginning } => {
                Ok(Kept { file: file.map(OwnedFd::from), beginning: Some(beginning.into()) })
            }
            other => Err(other),
        }
    }
}

/// Size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Lines.
    pub rows: u16,
    /// Columns.
    pub columns: u16,
}

/// A command to run: a program with its arguments, its directory, and its sandbox.
///
/// The environment of the host is not inherited. The process starts in its own session, without a terminal, with every signal at its
/// default; umask, niceness and limits are those that the host had when its first job started.
#[derive(Debug)]
pub struct Command {
    pub(crate) program: OsString,
    pub(crate) arg0: Option<OsString>,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) directory: PathBuf,
    pub(crate) stdin: Stdin,
    pub(crate) output: Output,
    pub(crate) terminal: Option<Size>,
    pub(crate) descriptors: Vec<OwnedFd>,
    pub(crate) grace: Duration,
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) limits: Limits,
}

impl Command {
    /// The most descriptors that a command can be given beside its standard streams.
    pub const MAX_DESCRIPTORS: usize = MAX_GIVEN;

    /// Creates a command that runs `program` in `/`, with no arguments, no environment, no input and no output. A name without a
    /// slash is searched for in the `PATH` of the command's own environment.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arg0: None,
            arguments: Vec::new(),
            environment: Vec::new(),
            directory: PathBuf::from("/"),
            stdin: Stdin::Null,
            output: Output::Null,
            terminal: None,
            descriptors: Vec::new(),
            grace: Duration::ZERO,
            sandbox: None,
            limits: Limits::new(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets the name that the program receives as its first argument, instead of `program`.
    #[must_use]
    pub fn arg0(mut self, name: impl Into<OsString>) -> Self {
        self.arg0 = Some(name.into());
        self
    }

    /// Sets a variable of the environment; the last value of a name counts.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.environment.retain(|(other, _)| *other != name);
        self.environment.push((name, value.into()));
        self
    }

    /// Sets variables of the environment.
    #[must_use]
    pub fn envs(
        self,
        variables: impl IntoIterator<Item = (impl Into<OsString>, impl Into<OsString>)>,
    ) -> Self {
        variables.into_iter().fold(self, |command, (name, value)| command.env(name, value))
    }

    /// The directory that it starts in, absolute.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = directory.into();
        self
    }

    /// Sets the source of standard input. On a terminal it is the terminal, whatever is set here.
    #[must_use]
    pub fn stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// Sets the destination of the output.
    #[must_use]
    pub fn output(mut self, output: Output) -> Self {
        self.output = output;
        self
    }

    /// Gives the command a terminal of this size as its standard streams. Its output goes to the [file](Output::File);
    /// [pipes](Output::Pipes) cannot be combined with a terminal. The caller must set `TERM`.
    #[must_use]
    pub fn terminal(mut self, size: Size) -> Self {
        self.terminal = Some(size);
        self
    }

    /// Passes on a descriptor beside the standard streams: the first becomes number 3, the next 4, up to
    /// [`MAX_DESCRIPTORS`](Self::MAX_DESCRIPTORS).
    #[must_use]
    pub fn descriptor(mut self, descriptor: impl Into<OwnedFd>) -> Self {
        self.descriptors.push(descriptor.into());
        self
    }

    /// Sets the time that the processes get between TERM and KILL when the [`Job`](crate::Job) is dropped; none by default.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Keeps it within this.
    #[must_use]
    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Ends it when it uses more than this.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}
