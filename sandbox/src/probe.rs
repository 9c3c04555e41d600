//! Features of this system that contain commands, found by trying them.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use crate::sys::{self, Forked};
use crate::wire::{Incoming, Reader, Writer, to_host};
use crate::{inside, socket};

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

/// The features of this system, as the first probe found them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Strength {
    missing: BTreeMap<Feature, String>,
    landlock: u32,
    cgroup: Option<PathBuf>,
}

impl Strength {
    /// Returns true if the system has the feature.
    pub fn has(&self, feature: Feature) -> bool {
        !self.missing.contains_key(&feature)
    }

    /// Returns the reason for which a feature is missing.
    pub fn why_missing(&self, feature: Feature) -> Option<&str> {
        self.missing.get(&feature).map(String::as_str)
    }

    /// Returns every feature, with the reason if it is missing.
    pub fn features(&self) -> impl Iterator<Item = (Feature, Option<&str>)> {
        Feature::ALL.into_iter().map(|feature| (feature, self.why_missing(feature)))
    }

    /// Returns the version of Landlock's interface; 0 without Landlock.
    pub fn landlock_abi(&self) -> u32 {
        self.landlock
    }

    /// The directory in which each job gets a control group (cgroup v2) for its [limits](crate::Limits), if one can be made.
    pub fn cgroup(&self) -> Option<&Path> {
        self.cgroup.as_deref()
    }

    /// Returns the directory for temporary files that a command in this sandbox will have, for `TMPDIR`, which
    /// [`Containment::tmp`](crate::Containment::tmp) will return. `None` if it gets none of its own.
    pub fn tmp(&self, sandbox: &crate::Sandbox) -> Option<std::path::PathBuf> {
        let mounts = self.has(Feature::UserNamespace) && self.has(Feature::Mounts);
        sandbox.tmp_for(mounts)
    }

    /// Returns true if no feature is missing.
    pub fn is_whole(&self) -> bool {
        self.missing.is_empty()
    }

    fn none(why: &str) -> Self {
        Self {
            missing: Feature::ALL.map(|feature| (feature, why.to_owned())).into(),
            landlock: 0,
            cgroup: None,
        }
    }
}

/// Time limit for the probe.
const PATIENCE: Duration = Duration::from_secs(10);

/// Probes the features of this system that contain commands. The first call tries them in separate processes, and blocks for
/// some milliseconds. If no supervisor can be started, every feature is missing, and the next call tries again.
pub fn probe() -> &'static Strength {
    static FOUND: OnceLock<Strength> = OnceLock::new();
    static NONE: OnceLock<Strength> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return found;
    }
    match ask() {
        Ok(found) => FOUND.get_or_init(|| found),
        Err(why) => NONE.get_or_init(|| Strength::none(&why)),
    }
}

/// Returns the features in the form for a supervisor: available ones as bits, the version of Landlock above them, and the
/// reasons for the missing ones.
pub(crate) fn offered() -> (u64, Vec<String>) {
    let strength = probe();
    let bits = Feature::ALL
        .into_iter()
        .filter(|&feature| strength.has(feature))
        .fold(0, |bits, feature| bits | feature.bit());
    let missing =
        Feature::ALL.map(|feature| strength.why_missing(feature).unwrap_or_default().to_owned()).to_vec();
    (bits | u64::from(strength.landlock) << 32, missing)
}

fn ask() -> Result<Strength, String> {
    if crate::host::program().is_none() {
        return Err("this program does not call `toolkit_sandbox::init` first in its `main`".to_owned());
    }
    let words = |error: &dyn std::fmt::Display| format!("no supervisor could be started: {error}");
    let (ours, theirs) = socket::stream().map_err(|error| words(&error))?;
    crate::host::spawner::probe(theirs.as_fd()).map_err(|error| words(&error))?;
    drop(theirs);
    let (mut incoming, mut buffer) = (Incoming::default(), [0; 4096]);
    let begun = Instant::now();
    loop {
        if let Ok(Some(message)) = incoming.next() {
            return read(&message).ok_or_else(|| words(&"it spoke nonsense"));
        }
        let mut watched = [PollFd::new(&ours, PollFlags::IN)];
        let left = PATIENCE.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Err(words(&"it did not answer"));
        }
        let _ = poll(&mut watched, rustix::event::Timespec::try_from(left).ok().as_ref());
        match socket::receive(&ours, &mut buffer, false) {
            Ok(received) if received.length == 0 => return Err(words(&"it ended")),
            Ok(received) => incoming.push(&buffer[..received.length]),
            Err(rustix::io::Errno::AGAIN) => {}
            Err(error) => return Err(words(&error)),
        }
    }
}

fn read(message: &[u8]) -> Option<Strength> {
    let mut reader = Reader::new(message);
    (reader.byte()? == to_host::STRENGTH).then_some(())?;
    let landlock = reader.small()?;
    let reasons = reader.list(Reader::text)?;
    let missing = Feature::ALL.into_iter().zip(reasons).filter(|(_, why)| !why.is_empty()).collect();
    Some(Strength { missing, landlock, cgroup: reader.list(Reader::path)?.pop() })
}

/// Tests every feature in this separate process, and reports the results.
pub(crate) fn run(socket: &OwnedFd) -> ! {
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
        .list(crate::supervisor::cgroup::usable().as_slice(), |writer, path| writer.path(path))
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

/// Returns a failure as text.
pub(crate) fn words(failure: &crate::supervisor::child::Failure) -> String {
    let error = std::io::Error::from_raw_os_error(failure.error);
    match (failure.detail.as_slice(), failure.error) {
        ([], _) => format!("{}: {error}", failure.step.words()),
        (detail, 0) => String::from_utf8_lossy(detail).into_owned(),
        (detail, _) => format!("{} ({}): {error}", failure.step.words(), String::from_utf8_lossy(detail)),
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
