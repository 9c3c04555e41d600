//! What really holds a command, for metadata and for the model.

use std::fmt;

use crate::{Exit, Mode};

/// A part of the sandbox: one thing that is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Part {
    /// Nothing but the writable paths can be changed.
    Files,
    /// What is protected within writable paths stays as it is.
    Protected,
    /// What is hidden can't be read.
    Hidden,
    /// `/tmp`, `/var/tmp` and `/run` are the command's own.
    PrivateTmp,
    /// Nothing can be reached by network, the machine's own services included.
    Network,
    /// Other processes can be neither seen nor signalled, and none of the job's can outlive it.
    Processes,
    /// System calls that a command has no use for and that could widen what it may do are refused.
    SystemCalls,
}

impl Part {
    /// All of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::Files,
        Self::Protected,
        Self::Hidden,
        Self::PrivateTmp,
        Self::Network,
        Self::Processes,
        Self::SystemCalls,
    ];

    /// Its name, as it is shown and put into metadata.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Protected => "protected paths",
            Self::Hidden => "hidden paths",
            Self::PrivateTmp => "private tmp",
            Self::Network => "network",
            Self::Processes => "processes",
            Self::SystemCalls => "system calls",
        }
    }

    pub(crate) fn number(self) -> u8 {
        Self::ALL
            .iter()
            .position(|&part| part == self)
            .and_then(|at| u8::try_from(at).ok())
            .unwrap_or(u8::MAX)
    }

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What really holds a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Containment {
    /// Which files it may change; nothing where it runs without a sandbox.
    pub mode: Option<Mode>,
    /// The parts that hold.
    pub held: Vec<Part>,
    /// The parts that were asked for and do not hold, each with the reason.
    pub missing: Vec<(Part, String)>,
    /// What is otherwise than described, without being weaker: a writable path that does not exist.
    pub notes: Vec<String>,
    /// The paths that may be changed, as they were when the command started.
    pub writable: Vec<std::path::PathBuf>,
}

impl Containment {
    /// Whether there was a sandbox, and all of it holds.
    pub fn is_whole(&self) -> bool {
        self.mode.is_some() && self.missing.is_empty()
    }

    /// Whether this part holds.
    pub fn holds(&self, part: Part) -> bool {
        self.held.contains(&part)
    }

    /// What of a failure is probably the sandbox's doing, in words for a model; `None` where nothing in the end of the output looks
    /// like it, or the command succeeded. It is a guess from the texts of system errors.
    pub fn explain(&self, output_tail: &str, exit: &Exit) -> Option<String> {
        let mode = self.mode?;
        if exit.success() {
            return None;
        }
        let text = output_tail.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let mut found = Vec::new();
        if self.holds(Part::Network)
            && says(&[
                "network is unreachable",
                "temporary failure in name resolution",
                "could not resolve host",
                "name or service not known",
                "getaddrinfo",
                "eai_again",
                "socket: operation not permitted",
                "failed to connect",
                "connection error",
                "dial tcp",
                "dns error",
                "cannot assign requested address",
                "enetunreach",
            ])
        {
            found.push(
                "it has no network: no host can be reached, not even services of this machine on localhost"
                    .to_owned(),
            );
        }
        let read_only = says(&["read-only file system", "erofs"]);
        let denied = says(&["permission denied", "eacces", "operation not permitted", "eperm"]);
        if self.holds(Part::Files) && (read_only || denied) {
            found.push(match (mode, self.writable.as_slice()) {
                (Mode::WorkspaceWrite, paths @ [_, ..]) => {
                    let paths: Vec<_> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
                    format!(
                        "files can be written only in {}{}{}",
                        paths.join(", "),
                        if self.holds(Part::PrivateTmp) { " and in a private /tmp" } else { "" },
                        if self.holds(Part::Protected) {
                            ", where some paths (such as .git) are read-only"
                        } else {
                            ""
                        },
                    )
                }
                _ if self.holds(Part::PrivateTmp) => {
                    "no file can be written but in a private /tmp".to_owned()
                }
                _ => "no file can be written".to_owned(),
            });
        }
        if self.holds(Part::Hidden) && denied {
            found.push("files that hold keys or credentials cannot be read".to_owned());
        }
        if self.holds(Part::PrivateTmp)
            && says(&[
                "cannot connect to the docker daemon",
                "/run/",
                "/tmp/",
                "ssh_auth_sock",
                "authentication agent",
            ])
        {
            found.push(
                "/tmp and /run are its own and were empty at its start, so files and sockets of other programs are not there"
                    .to_owned(),
            );
        }
        if self.holds(Part::SystemCalls)
            && says(&["operation not permitted", "eperm", "ptrace", "function not implemented"])
        {
            found.push(
                "it runs without privileges: no mounting, tracing, changing of owners or setuid programs"
                    .to_owned(),
            );
        }
        if found.is_empty() {
            return None;
        }
        Some(format!(
            "this may be because the command ran in a sandbox: {}. If the command needs more, ask for it to be run outside the sandbox \
             and say why; do not try to get around it",
            found.join("; ")
        ))
    }
}
