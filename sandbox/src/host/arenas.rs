//! The arenas of the allocator, where addresses are limited.

use rustix::process::{Resource, getrlimit};

/// Bytes of addresses below the limit for each arena. An arena takes 64 MiB of them at once, used or not.
const LIMIT_OF_ARENA: u64 = 1 << 30;

/// Lets threads share arenas of the allocator if the addresses of this process are limited (`ulimit -v`): with the GNU C library, each of
/// its up to eight arenas for each processor takes 64 MiB of addresses at once, and an allocation that finds none ends the process. Called
/// first, while there is one thread.
pub fn share_arenas() {
    if let Some(limit) = getrlimit(Resource::As).current {
        crate::sys::set_max_arenas(u32::try_from(limit / LIMIT_OF_ARENA).unwrap_or(u32::MAX).max(1));
    }
}
