//! The failure to start a command: the step, and the reason.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use rustix::io::Errno;

/// The step at which starting a command failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Step {
    Fork,
    Prepare,
    Terminal,
    Directory,
    NotFound,
    Execute,
    TooLong,
    Contradiction,
    /// A required part of the sandbox is missing; the detail names it, before a colon.
    Required,
    Namespaces,
    Mounts,
    Landlock,
    Capabilities,
    Seccomp,
}

impl Step {
    const ALL: [Self; 14] = [
        Self::Fork,
        Self::Prepare,
        Self::Terminal,
        Self::Directory,
        Self::NotFound,
        Self::Execute,
        Self::TooLong,
        Self::Contradiction,
        Self::Required,
        Self::Namespaces,
        Self::Mounts,
        Self::Landlock,
        Self::Capabilities,
        Self::Seccomp,
    ];

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|&step| step as u8 == number)
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Fork => "making a process",
            Self::Prepare => "preparing the process",
            Self::Terminal => "opening a terminal",
            Self::Directory => "entering the directory",
            Self::NotFound | Self::Execute | Self::TooLong => "executing the program",
            Self::Contradiction | Self::Required => "checking the sandbox",
            Self::Namespaces => "making namespaces",
            Self::Mounts => "mounting file systems",
            Self::Landlock => "restricting access to files by Landlock",
            Self::Capabilities => "giving up capabilities",
            Self::Seccomp => "filtering system calls",
        }
    }
}

/// The failure to start a command.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) step: Step,
    pub(crate) error: i32,
    pub(crate) detail: Vec<u8>,
}

impl Failure {
    pub(crate) fn new(step: Step, error: Errno) -> Self {
        Self { step, error: error.raw_os_error(), detail: Vec::new() }
    }

    pub(crate) fn io(step: Step, error: &std::io::Error) -> Self {
        Self { step, error: error.raw_os_error().unwrap_or(0), detail: Vec::new() }
    }

    pub(crate) fn said(step: Step, detail: impl Into<String>) -> Self {
        Self { step, error: 0, detail: detail.into().into_bytes() }
    }

    pub(crate) fn at(mut self, detail: impl AsRef<OsStr>) -> Self {
        self.detail = detail.as_ref().as_bytes().to_vec();
        self
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = vec![self.step as u8];
        bytes.extend_from_slice(&self.error.to_le_bytes());
        bytes.extend_from_slice(&self.detail);
        bytes
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (&step, rest) = bytes.split_first()?;
        let (error, detail) = rest.split_first_chunk()?;
        Some(Self {
            step: Step::from_number(step)?,
            error: i32::from_le_bytes(*error),
            detail: detail.to_vec(),
        })
    }
}

/// Returns a failure as text.
pub(crate) fn words(failure: &Failure) -> String {
    let error = std::io::Error::from_raw_os_error(failure.error);
    match (failure.detail.as_slice(), failure.error) {
        ([], _) => format!("{}: {error}", failure.step.words()),
        (detail, 0) => String::from_utf8_lossy(detail).into_owned(),
        (detail, _) => format!("{} ({}): {error}", failure.step.words(), String::from_utf8_lossy(detail)),
    }
}
