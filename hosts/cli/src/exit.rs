//! Exit codes of the command, and the errors that end it early.

use crate::wrap::{help_columns, wrap};
use std::io;
use std::process::ExitCode;
use toolkit::{ToolError, ToolErrorKind, Toolbox};
use toolkit_host::HostError;

/// Exit code of the command. The crate's documentation has the same list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Success = 0,
    Failed = 1,
    Usage = 2,
    UnknownTool = 3,
    InvalidArguments = 4,
    Denied = 5,
    CannotStart = 6,
    Configuration = 78,
    TimedOut = 124,
    HungUp = 129,
    Cancelled = 130,
    Quit = 131,
    Terminated = 143,
}

impl Exit {
    const ALL: [Self; 13] = [
        Self::Success,
        Self::Failed,
        Self::Usage,
        Self::UnknownTool,
        Self::InvalidArguments,
        Self::Denied,
        Self::CannotStart,
        Self::Configuration,
        Self::TimedOut,
        Self::HungUp,
        Self::Cancelled,
        Self::Quit,
        Self::Terminated,
    ];

    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Success => "the command succeeded",
            Self::Failed => {
                "the tool failed, something was found that is denied, or something could not be read or written"
            }
            Self::Usage => "the command line is wrong",
            Self::UnknownTool => "there is no such tool",
            Self::InvalidArguments => "the arguments do not fit the tool",
            Self::Denied => "the tool or the call is denied",
            Self::CannotStart => "the toolkit cannot start",
            Self::Configuration => {
                "the gateway, or this device as a node, cannot start before its configuration or pairing is changed"
            }
            Self::TimedOut => "the call took too long",
            Self::HungUp => "the call was cancelled by SIGHUP",
            Self::Quit => "the call was cancelled by SIGQUIT",
            Self::Cancelled => "the call was cancelled, by Ctrl-C for instance",
            Self::Terminated => "the call was cancelled by SIGTERM",
        }
    }

    /// The list of exit codes for a help text.
    pub(crate) fn help() -> String {
        let mut text = String::from("Exit codes:\n");
        for exit in Self::ALL {
            let line = format!("{:<3}  {}", exit.code(), exit.meaning());
            text.push_str(&wrap(&line, "  ", "       ", Some(help_columns())));
        }
        text.truncate(text.trim_end().len());
        text
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl From<ToolErrorKind> for Exit {
    fn from(kind: ToolErrorKind) -> Self {
        match kind {
            ToolErrorKind::UnknownTool => Self::UnknownTool,
            ToolErrorKind::InvalidArguments => Self::InvalidArguments,
            ToolErrorKind::Denied => Self::Denied,
            ToolErrorKind::Aborted => Self::Cancelled,
            ToolErrorKind::TimedOut => Self::TimedOut,
            _ => Self::Failed,
        }
    }
}

/// An error that ends the command early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A wrong command line, or a request for help.
    Parse(clap::Error),
    /// Any other error.
    Error { exit: Exit, message: String },
}

impl Stop {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Error { exit: Exit::Usage, message: message.into() }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Error { exit: Exit::Failed, message: message.into() }
    }

    pub(crate) fn cannot_start(message: impl Into<String>) -> Self {
        Self::Error { exit: Exit::CannotStart, message: message.into() }
    }
}

impl From<clap::Error> for Stop {
    fn from(error: clap::Error) -> Self {
        Self::Parse(error)
    }
}

impl From<&ToolError> for Stop {
    fn from(error: &ToolError) -> Self {
        Self::Error { exit: error.kind().into(), message: error.message().to_owned() }
    }
}

/// Returns the error's message. For a name that nothing knows, it adds that a crate may not be linked, which only the developer of
/// the program can fix.
pub(crate) fn for_people(error: &ToolError, toolbox: &Toolbox, name: &str) -> String {
    let message = error.message();
    let is_explained = || toolbox.explain(name).is_some_and(|explanation| explanation.absence.is_some());
    match error.kind() {
        ToolErrorKind::UnknownTool if !is_explained() => format!(
            "{message}\nIf a crate provides it, the program must name that crate in `toolkit::link!`."
        ),
        _ => message.to_owned(),
    }
}

impl From<serde_json::Error> for Stop {
    fn from(error: serde_json::Error) -> Self {
        Self::failed(format!("the answer cannot be written as JSON: {error}"))
    }
}

impl From<HostError> for Stop {
    fn from(error: HostError) -> Self {
        match error {
            HostError::UnknownAgent(message) => Self::usage(message),
            other => Self::cannot_start(other.to_string()),
        }
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::failed(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_every_code() {
        let documentation = include_str!("lib.rs");
        for exit in Exit::ALL {
            let row = format!("//! | {} | {} |", exit.code(), exit.meaning());
            assert!(documentation.contains(&row), "{row}");
        }
    }
}
