//! The program in the role of the spawner, in which the host starts it: see [`spawner`] for the processes that there are.

pub(crate) mod cgroup;
pub(crate) mod child;
mod ending;
pub(crate) mod init;
mod launch;
mod next;
mod owner;
mod polling;
mod quarantine;
mod ready;
pub(crate) mod spawner;
mod trials;
mod usage;

use std::ffi::OsStr;

/// Name and first argument with which this program starts as the spawner; a second one is the limit of open files of commands. If a user types them, the process finds no socket at its
/// standard input, and exits.
pub(crate) const NAME: &str = "toolkit-spawner";
pub(crate) const TOKEN: &str = "--owned-by-the-process-at-the-other-end-of-standard-input";

/// Returns true if this process was started as the spawner.
pub(crate) fn is_spawner() -> bool {
    let mut arguments = std::env::args_os();
    let mut is = |what: &str| arguments.next().as_deref() == Some(OsStr::new(what));
    is(NAME) && is(TOKEN)
}
