//! Searches directories for files that a command must not leave behind, and moves them away.

mod names;
mod repository;
mod store;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::inside::is_placeholder;
use crate::{Quarantine, Quarantined, Repositories};
use names::Names;
use store::Store;

/// Maximum depth of the search through directories. A deeper directory counts as hidden on purpose.
const DEEPEST: usize = 256;
/// Maximum number of repositories that are protected individually.
const MAX_PROTECTED: usize = 1_000;
/// Maximum number of moved files that are reported.
const MAX_TOLD: usize = 1_000;
/// Parts of a repository that determine what git runs.
const PARTS: [&str; 4] = ["hooks", "config", "config.worktree", "commondir"];

/// The names to search for, and the files that existed before the command.
pub(super) struct Sweeper {
    names: Names,
    /// The names of rules.
    ruled: Names,
    quarantine: Quarantine,
    store: Store,
    before: HashSet<PathBuf>,
}

/// A look through the directories.
struct Look<'a> {
    sweeper: &'a Sweeper,
    store: Option<Store>,
    /// The files found, in the search before the command.
    found: HashSet<PathBuf>,
    repositories: Vec<PathBuf>,
    moved: Vec<Quarantined>,
}

/// An entry of a directory.
struct Entry {
    name: OsString,
    kind: FileType,
}

/// Position in the search through directories.
#[derive(Clone, Copy)]
struct Within {
    depth: usize,
    /// True in a directory with files installed by tools.
    is_of_tools: bool,
    /// True in an existing directory with one of the names.
    is_named: bool,
}

impl Sweeper {
    fn fit(&self, path: &Path, is_directory: bool) -> bool {
        self.names.fit(path, is_directory) || self.ruled.fit(path, is_directory)
    }

    /// Records the existing files. Also returns the repositories to protect.
    pub(super) fn new(quarantine: Quarantine) -> (Self, Vec<PathBuf>) {
        let mut sweeper = Self {
            names: Names::new(&quarantine.names, &quarantine.exceptions),
            ruled: Names::new(&quarantine.ruled, &quarantine.ruled_exceptions),
            store: Store::new(quarantine.store.clone()),
            quarantine,
            before: HashSet::new(),
        };
        let mut look = Look::new(&sweeper, None);
        look.at_all();
        let (found, mut repositories) = (look.found, look.repositories);
        repositories.truncate(MAX_PROTECTED);
        sweeper.before = found;
        (sweeper, repositories)
    }

    /// Moves new files away, and returns them.
    pub(super) fn sweep(&mut self) -> Vec<Quarantined> {
        let store = std::mem::replace(&mut self.store, Store::new(None));
        let mut look = Look::new(self, Some(store));
        look.at_all();
        let (store, mut moved) = (look.store, look.moved);
        if let Some(store) = store {
            self.store = store;
        }
        // Files that could not be moved are reported once.
        self.before.extend(moved.iter().filter(|moved| moved.to.is_none()).map(|moved| moved.from.clone()));
        moved.truncate(MAX_TOLD);
        moved
    }
}

impl<'a> Look<'a> {
    fn new(sweeper: &'a Sweeper, store: Option<Store>) -> Self {
        Self { sweeper, store, found: HashSet::new(), repositories: Vec::new(), moved: Vec::new() }
    }

    fn at_all(&mut self) {
        let mut roots = self.sweeper.quarantine.directories.clone();
        roots.sort();
        // A directory inside another is searched with that one.
        let mut kept: Vec<PathBuf> = Vec::new();
        for root in roots.into_iter().filter_map(|root| root.canonicalize().ok()) {
            if !kept.iter().any(|kept| root.starts_with(kept)) {
                kept.push(root);
            }
        }
        let within = Within { depth: 0, is_of_tools: false, is_named: false };
        for root in kept {
            if let Ok(directory) = open(CWD, root.as_os_str()) {
                self.through(&directory, &root, within);
            }
        }
    }

    fn through(&mut self, directory: &OwnedFd, path: &Path, within: Within) {
        let entries = entries(directory);
        let has = |name: &str| entries.iter().any(|entry| entry.name == name);
        let is_bare = has("HEAD") && has("objects") && has("refs");
        if is_bare && self.sweeper.quarantine.repositories != Repositories::Open {
            self.repository(
                directory,
                directory,
                (OsStr::new("HEAD"), &path.join("HEAD")),
                path,
                within.depth,
            );
        }
        for entry in entries {
            let below = path.join(&entry.name);
            if self.is_allowed(&below) || self.store.as_ref().is_some_and(|store| store.has_made(&below)) {
                continue;
            }
            if entry.name.eq_ignore_ascii_case(".git") {
                self.git(directory, &entry, &below, within.depth);
                continue;
            }
            let is_directory = entry.kind == FileType::Directory;
            let is_wanted = within.is_named
                || !within.is_of_tools && self.sweeper.fit(&below, is_directory)
                || is_directory && within.depth >= DEEPEST;
            if is_wanted && self.take(directory, &entry.name, &below) {
                continue;
            }
            if !is_directory {
                continue;
            }
            let is_of_tools = within.is_of_tools || self.is_tool_directory(&entry.name);
            let next = Within { depth: within.depth + 1, is_of_tools, is_named: is_wanted };
            if next.depth <= DEEPEST {
                self.into(directory, &entry.name, &below, next);
            }
        }
    }

    /// Searches a directory, even one that its owner may not read, since files could be hidden there.
    fn into(&mut self, directory: &OwnedFd, name: &OsStr, below: &Path, within: Within) {
        match open(directory, name) {
            Ok(inner) => self.through(&inner, below, within),
            Err(Errno::ACCESS) => {
                let Ok(stat) = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
                let mode = Mode::from_raw_mode(stat.st_mode);
                let set = |mode| rustix::fs::chmodat(directory, name, mode, AtFlags::empty());
                if set(mode | Mode::RWXU).is_err() {
                    return;
                }
                let opened = open(directory, name);
                if let Ok(inner) = opened {
                    self.through(&inner, below, within);
                }
                let _ = set(mode);
            }
            Err(_) => {}
        }
    }

    /// A repository, or a file that leads to one.
    fn git(&mut self, directory: &OwnedFd, entry: &Entry, below: &Path, depth: usize) {
        if self.sweeper.quarantine.repositories == Repositories::Open {
            return;
        }
        if entry.kind != FileType::Directory {
            // A link cannot be protected, and is not followed.
            if self.store.is_none() && entry.kind == FileType::RegularFile {
                self.repositories.push(below.to_owned());
            }
            self.take(directory, &entry.name, below);
            return;
        }
        match open(directory, &entry.name) {
            Ok(inner) => self.repository(&inner, directory, (&entry.name, below), below, depth),
            Err(_) => {
                self.take(directory, &entry.name, below);
            }
        }
    }

    /// Handles a repository at `path`. After moving `mark` in `directory` away, git no longer detects a repository.
    fn repository(
        &mut self,
        repository: &OwnedFd,
        directory: &OwnedFd,
        (mark, mark_path): (&OsStr, &Path),
        path: &Path,
        depth: usize,
    ) {
        if self.store.is_none() {
            self.found.insert(mark_path.to_owned());
            self.repositories.push(path.to_owned());
            for part in PARTS.iter().filter(|part| is_there(repository, part)) {
                self.found.insert(path.join(part));
            }
            return;
        }
        if self.sweeper.before.contains(mark_path) {
            for part in PARTS {
                let is_new = is_there(repository, part) && !self.sweeper.before.contains(&path.join(part));
                if is_new && !repository::is_harmless(repository) {
                    self.take(repository, OsStr::new(part), &path.join(part));
                }
            }
            return;
        }
        if !repository::is_harmless(repository) {
            self.take(directory, mark, mark_path);
        } else if path == mark_path {
            // A repository may be inside the new files of another.
            let within = Within { depth: depth + 1, is_of_tools: true, is_named: false };
            self.through(repository, path, within);
        }
    }

    /// Records a file, or moves it if it is new. Returns true if nothing inside it needs to be searched.
    fn take(&mut self, directory: &OwnedFd, name: &OsStr, path: &Path) -> bool {
        if is_covered(directory, name) {
            return true;
        }
        let Some(store) = &mut self.store else {
            self.found.insert(path.to_owned());
            return false;
        };
        if self.sweeper.before.contains(path) {
            return false;
        }
        let to = store.take(directory, name, path);
        self.moved.push(Quarantined { from: path.to_owned(), to });
        true
    }

    fn is_allowed(&self, path: &Path) -> bool {
        self.sweeper.quarantine.named.iter().any(|named| path.starts_with(named))
    }

    fn is_tool_directory(&self, name: &OsStr) -> bool {
        self.sweeper.quarantine.tool_directories.iter().any(|known| name == OsStr::new(known))
    }
}

/// Opens a directory, without following a link.
fn open(directory: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, Mode::empty())
}

fn is_there(directory: &OwnedFd, name: &str) -> bool {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

fn entries(directory: &OwnedFd) -> Vec<Entry> {
    let Ok(read) = Dir::read_from(directory) else { return Vec::new() };
    let mut entries = Vec::new();
    for entry in read.flatten() {
        let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = rustix::fs::statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW);
                stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
            }
            kind => kind,
        };
        entries.push(Entry { name, kind });
    }
    entries
}

/// Returns true if the entry is the empty directory that stands in for a protected path while a job runs.
fn is_covered(directory: &OwnedFd, name: &OsStr) -> bool {
    let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    stat.is_ok_and(|stat| is_placeholder(&stat))
        && open(directory, name).is_ok_and(|inner| entries(&inner).is_empty())
}

#[cfg(test)]
mod tests;
