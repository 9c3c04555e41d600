//! The guarantees of [`Sandbox::reading`](crate::Sandbox::reading), and what gives each on a system.

use crate::{Feature, Strength};

/// A guarantee about a command that only reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadingGuarantee {
    /// The guarantee, as a sentence about the command without its full stop.
    pub text: &'static str,
    /// The means that gives it on this system.
    pub by: &'static str,
    /// The first version of Linux with this means.
    pub since: &'static str,
    /// True if the system has it.
    pub holds: bool,
}

/// The version of Landlock that keeps signals within a sandbox.
const SCOPED_SIGNALS: u32 = 6;

impl Strength {
    /// Returns the guarantees about a command that only reads, in the order of the documentation. If one of them does not hold, such a
    /// command is not started.
    pub fn reading_guarantees(&self) -> Vec<ReadingGuarantee> {
        let landlock = self.has(Feature::Landlock);
        let seccomp = self.has(Feature::Seccomp);
        let by_landlock = |text| ReadingGuarantee { text, by: "Landlock 1", since: "5.13", holds: landlock };
        let by_filter = |text| ReadingGuarantee { text, by: "seccomp", since: "3.17", holds: seccomp };
        let signals = if self.landlock_abi() >= SCOPED_SIGNALS {
            ReadingGuarantee { by: "Landlock 6", since: "6.12", ..by_landlock(SIGNALS) }
        } else {
            by_filter(SIGNALS)
        };
        vec![
            by_landlock(
                "it writes, makes, renames and removes no file, but in a directory of its own for temporary files",
            ),
            by_filter("it truncates no file that it may read"),
            by_filter("it changes no mode, owner, time, flag or attribute of a file"),
            by_landlock("it reads the content of no hidden file"),
            by_landlock("it executes no program of the workspace"),
            by_filter("it makes no socket: TCP, UDP, with a path or abstract"),
            signals,
            by_landlock(
                "it reads neither memory, environment nor open files of other processes, and traces none",
            ),
            by_filter(
                "it changes neither priority nor limits of other processes, and shares no memory or messages with them",
            ),
            by_filter("it controls no device"),
            ReadingGuarantee {
                text: "no process of it outlives the command",
                by: "the supervisor",
                since: "3.4",
                holds: self.has(Feature::Supervisor),
            },
        ]
    }
}

const SIGNALS: &str = "it signals no process outside the command";
