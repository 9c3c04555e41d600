//! The loopback of a private network, on which the processes of a job reach each other, such as a test and its server.

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::io;
use std::os::fd::AsFd as _;

use crate::sys;

/// Switches it on: a new network has it, but down. The process needs the rights of an administrator of that network, which the first
/// one of its namespaces has.
pub(super) fn up() -> io::Result<()> {
    let any = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    sys::switch_on(any.as_fd(), c"lo")
}
