//! The loopback of a private network, on which the processes of a job reach each other, such as a test and its server.

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::io;
use std::os::fd::AsFd as _;

use crate::sys;

/// Switches the loopback on: a new network has one, but it is down. The process needs the administrator's rights for the network,
/// which the first process of its namespaces has.
pub(crate) fn up() -> io::Result<()> {
    let any = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    sys::switch_on(any.as_fd(), c"lo")
}
