//! Tests of the features of this system, by trying them in processes of their own.

use std::os::fd::OwnedFd;

use super::cgroup;
use crate::failure::words;
use crate::sys::{self, Forked};
use crate::wire::{Writer, to_host};
use crate::{inside, socket};

/// Tests every feature in this separate process, and reports the results.
pub(super) fn run(socket: &OwnedFd) -> ! {
    let _ = sys::children_ended();
    let tried = |result: Result<(), String>| result.err().unwrap_or_default();
    let user = no_user_namespaces(in_namespaces(libc::CLONE_NEWUSER, || Ok(())).err());
    // Without user namespaces nothing else is tested: as root it might work, but is not used.
    let then = |flags: i32, act: fn() -> Result<(), String>| {
        if user.is_empty() { tried(in_namespaces(libc::CLONE_NEWUSER | flags, act)) } else { user.clone() }
    };
    let mounts = then(libc::CLONE_NEWNS, inside::mounts::possible);
    let processes = then(libc::CLONE_NEWNS | libc::CLONE_NEWPID, inside::mounts::own_processes_possible);
    let network = then(libc::CLONE_NEWNET, || Ok(()));
    let ipc = then(libc::CLONE_NEWIPC, || Ok(()));
    let (landlock, no_landlock) = match sys::landlock_version() {
        Ok(version) => (u64::try_from(version).unwrap_or(0), String::new()),
        Err(error) => (0, format!("the kernel does not have it, or it is switched off: {error}")),
    };
    let seccomp = tried(in_namespaces(0, || {
        inside::seccomp::restrict(false, inside::seccomp::Local::Pairs)
            .map(drop)
            .map_err(|failure| words(&failure))
    }));
    let reasons = [String::new(), user, mounts, processes, network, ipc, no_landlock, seccomp];
    let message = Writer::new(to_host::STRENGTH)
        .number(landlock)
        .list(&reasons, |writer, why| writer.bytes(why.as_bytes()))
        .list(cgroup::usable().as_slice(), |writer, path| writer.path(path))
        .finish();
    let _ = socket::send(socket, &message, &[], true);
    sys::leave(0)
}

/// Explains why user namespaces are unavailable; an empty text if they are available. Usually they are switched off, which the
/// system's error does not say.
fn no_user_namespaces(error: Option<String>) -> String {
    let Some(error) = error else { return String::new() };
    // Each with the value that switches them off.
    let switches = [
        ("user.max_user_namespaces", "0"),
        ("kernel.unprivileged_userns_clone", "0"),
        ("kernel.apparmor_restrict_unprivileged_userns", "1"),
    ];
    let is_off = |name: &str, off: &str| {
        std::fs::read_to_string(format!("/proc/sys/{}", name.replace('.', "/")))
            .is_ok_and(|value| value.trim() == off)
    };
    match switches.into_iter().find(|(name, off)| is_off(name, off)) {
        Some((name, off)) => {
            format!("user namespaces are switched off on this system (the sysctl `{name}` is {off}): {error}")
        }
        None => format!(
            "user namespaces cannot be made here: {error}. The filter for system calls of a container, the limit in the sysctl \
             `user.max_user_namespaces`, or a security module may forbid it"
        ),
    }
}

/// Runs a function in a new process that is alone in new namespaces.
fn in_namespaces(flags: i32, act: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let (ours, theirs) = socket::packets().map_err(|error| said(&error))?;
    match sys::clone(flags).map_err(|error| said(&error))? {
        Forked::Child => {
            drop(ours);
            let mut go = [0; 1];
            let result = match socket::receive(&theirs, &mut go, true) {
                Ok(received) if received.length == 1 => act(),
                _ => Err("the process that tries was left alone".to_owned()),
            };
            let message = result.err().unwrap_or_default();
            let _ = socket::send(&theirs, &[b"!", message.as_bytes()].concat(), &[], true);
            sys::leave(0)
        }
        Forked::Parent(pid) => {
            drop(theirs);
            let result = if flags == 0 {
                Ok(())
            } else {
                inside::identity::write(pid.as_raw_nonzero().get()).map_err(|failure| words(&failure))
            };
            let result = result.and_then(|()| {
                socket::send(&ours, b"g", &[], true).map_err(|error| said(&error))?;
                let mut answer = [0; 1024];
                let received = socket::receive(&ours, &mut answer, true).map_err(|error| said(&error))?;
                match answer[..received.length].split_first() {
                    Some((_, [])) => Ok(()),
                    Some((_, why)) => Err(String::from_utf8_lossy(why).into_owned()),
                    None => Err("the process that tried it was killed".to_owned()),
                }
            });
            drop(ours);
            let _ = sys::reap(true);
            result
        }
    }
}
