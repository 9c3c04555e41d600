//! The limit of open files of the host.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The most that the limit is raised to: beyond it, programs that go through all possible descriptors become slow.
const MAX_DESCRIPTORS: u64 = 65_536;

/// The soft limit that the host was started with, if it was raised.
static BEFORE: OnceLock<u64> = OnceLock::new();

/// Raises the soft limit of open files of this process to the hard one, at most to 65,536. A host of many sessions needs more than the usual
/// 1,024. Commands that are started under the supervisor have the limit of before, since some programs fail with descriptors beyond 1,023;
/// other child processes inherit the raised one.
pub fn raise_descriptor_limit() {
    let now = getrlimit(Resource::Nofile);
    let Some(current) = now.current else { return };
    let wanted = now.maximum.map_or(MAX_DESCRIPTORS, |maximum| maximum.min(MAX_DESCRIPTORS));
    if wanted > current
        && setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: now.maximum }).is_ok()
    {
        let _ = BEFORE.set(current);
    }
}

/// Returns the soft limit for commands, if it is not that of this process.
pub(super) fn of_commands() -> Option<u64> {
    BEFORE.get().copied()
}
