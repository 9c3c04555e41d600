//! Features of this system that contain commands, found by trying them.

use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use crate::feature::Feature;
use crate::socket;
use crate::wire::{Incoming, Reader, to_host};

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
