//! The directories that files are moved to.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, CWD, Mode, renameat};

/// Name of a quarantine directory beside the original location.
const BESIDE: &str = "quarantined";

/// A directory for the files moved after one job. It is created for the first file.
pub(super) struct Store {
    within: Option<PathBuf>,
    directory: Option<PathBuf>,
    count: usize,
    /// Directories created beside the original locations.
    made: Vec<PathBuf>,
}

impl Store {
    pub(super) fn new(within: Option<PathBuf>) -> Self {
        Self { within, directory: None, count: 0, made: Vec::new() }
    }

    /// Moves a file into the store, or else into a directory beside it that nobody can enter. Returns the new path.
    pub(super) fn take(&mut self, directory: &OwnedFd, name: &OsStr, path: &Path) -> Option<PathBuf> {
        match self.try_to_take(directory, name, path) {
            // The job may have taken away the right to change its directory.
            None => {
                let stat = rustix::fs::fstat(directory).ok()?;
                let mode = Mode::from_raw_mode(stat.st_mode);
                rustix::fs::fchmod(directory, mode | Mode::RWXU).ok()?;
                let taken = self.try_to_take(directory, name, path);
                let _ = rustix::fs::fchmod(directory, mode);
                taken
            }
            taken => taken,
        }
    }

    fn try_to_take(&mut self, directory: &OwnedFd, name: &OsStr, path: &Path) -> Option<PathBuf> {
        self.count += 1;
        let safe = safe_name(name);
        if let Some(store) = self.directory() {
            let to = store.join(format!("{}-{safe}", self.count));
            if renameat(directory, name, CWD, &to).is_ok() {
                note(&store, &to, path);
                return Some(to);
            }
        }
        self.beside(directory, name, path, &safe)
    }

    /// Returns true if the store created this directory.
    pub(super) fn has_made(&self, path: &Path) -> bool {
        self.made.iter().any(|made| made == path)
    }

    /// Moves a file into a directory beside it.
    fn beside(&mut self, directory: &OwnedFd, name: &OsStr, path: &Path, safe: &str) -> Option<PathBuf> {
        let own = format!("{BESIDE}-{}-{}", stamp(), self.count);
        rustix::fs::mkdirat(directory, &own, Mode::RWXU).ok()?;
        let below = format!("{own}/{safe}");
        let moved = renameat(directory, name, directory, &below);
        let closed = rustix::fs::chmodat(directory, &own, Mode::empty(), AtFlags::empty());
        if moved.is_err() {
            let _ = rustix::fs::unlinkat(directory, &own, AtFlags::REMOVEDIR);
            return None;
        }
        closed.ok()?;
        let parent = path.parent()?;
        self.made.push(parent.join(own));
        Some(parent.join(below))
    }

    /// The directory of this job.
    fn directory(&mut self) -> Option<PathBuf> {
        if self.directory.is_none() {
            let directory = self.within.as_ref()?.join(stamp());
            DirBuilder::new().recursive(true).mode(0o700).create(&directory).ok()?;
            self.directory = Some(directory);
        }
        self.directory.clone()
    }
}

/// Unlike that of any other job.
fn stamp() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}", since.as_micros(), std::process::id())
}

/// A name by which nothing is run: without a dot at its beginning, in letters that need no care.
fn safe_name(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let safe: String = name.trim_start_matches('.').chars().take(100).map(plain).collect();
    format!("{safe}.moved")
}

/// Writes down where something was.
fn note(store: &Path, to: &Path, from: &Path) {
    let file = File::options().create(true).append(true).open(store.join("moved.txt"));
    if let Ok(mut file) = file {
        let _ = writeln!(file, "{}\twas {}", to.display(), from.display());
    }
}
