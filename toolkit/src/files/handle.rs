//! Directories by handle: what is opened, made, renamed and removed through one cannot be led elsewhere by a link.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(super) use unix::{
    Dir, changed, identity, is_executable, is_raced, names, owner_and_mode, set_executable, try_lock, user,
};

#[cfg(not(unix))]
mod path;
#[cfg(not(unix))]
pub(super) use path::{
    Dir, changed, identity, is_executable, is_raced, names, owner_and_mode, set_executable, try_lock, user,
};

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::time::SystemTime;

/// After how many names of a directory it is asked whether to go on.
const ENTRIES_AT_ONCE: usize = 1024;

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DirectoryEntry {
    /// The name.
    pub name: OsString,
    /// What it is, where links are not followed.
    pub kind: FileKind,
}

/// What is known of what stands under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) kind: FileKind,
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
    /// When anything about it changed last, its name included.
    pub(super) changed: Option<SystemTime>,
    /// The same for the same file as long as it lives, where the system tells one.
    pub(super) identity: Option<(u64, u64)>,
    /// How many names it has.
    pub(super) names: u64,
    /// Who owns it, and which group.
    pub(super) owner: Option<(u32, u32)>,
    /// Who may do what with it; `0` where the system has no such thing.
    pub(super) mode: u32,
}

/// What was opened under a name.
#[derive(Debug)]
pub(super) enum Any {
    File(File, Metadata),
    Directory(Dir),
    /// A pipe, a socket or a device, which is not held open.
    Special,
}

/// What was opened by its name in a directory.
#[derive(Debug)]
pub(super) enum Named {
    /// A regular file, and its size in bytes.
    File(File, u64),
    /// Something else, which is not held open.
    Other(FileKind),
}
