//! Waiting for descriptors.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::Timespec;

/// Converts a time to wait for the system; the maximum means no limit.
pub(super) fn timeout(wait: Duration) -> Option<Timespec> {
    if wait == Duration::MAX { None } else { Timespec::try_from(wait).ok() }
}

/// Drains a descriptor for signals: only the fact that it was readable matters.
pub(super) fn drain(signals: &OwnedFd) {
    let mut buffer = [0_u8; 1024];
    while rustix::io::read(signals, &mut buffer).is_ok_and(|length| length > 0) {}
}
