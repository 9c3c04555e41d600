//! The features of a system that contain commands.

/// A feature of the system for running and containing commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Feature {
    /// A supervisor can be started.
    Supervisor,
    /// A user namespace, in which the other namespaces can be created.
    UserNamespace,
    /// A private mount namespace, with read-only mount trees.
    Mounts,
    /// A private PID namespace, with a matching `/proc`.
    ProcessIds,
    /// A private network namespace, which contains only a loopback.
    Network,
    /// Private message queues and shared memory.
    Ipc,
    /// Landlock, which refuses access to files by rules.
    Landlock,
    /// Filters for system calls.
    Seccomp,
}

impl Feature {
    pub(crate) const ALL: [Self; 8] = [
        Self::Supervisor,
        Self::UserNamespace,
        Self::Mounts,
        Self::ProcessIds,
        Self::Network,
        Self::Ipc,
        Self::Landlock,
        Self::Seccomp,
    ];

    /// Returns the name for display.
    pub fn name(self) -> &'static str {
        match self {
            Self::Supervisor => "supervisor",
            Self::UserNamespace => "user namespaces",
            Self::Mounts => "mount namespaces",
            Self::ProcessIds => "process id namespaces",
            Self::Network => "network namespaces",
            Self::Ipc => "ipc namespaces",
            Self::Landlock => "Landlock",
            Self::Seccomp => "seccomp",
        }
    }

    pub(crate) fn bit(self) -> u64 {
        1 << (self as u32)
    }
}
