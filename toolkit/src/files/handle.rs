//! Directory handles: a symlink cannot redirect the files opened, created, renamed and removed through a handle.

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

/// The number of names of a directory that are read between two checks of cancellation.
const ENTRIES_AT_ONCE: usize = 1024;

/// The kind of file under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symlink.
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
    /// The kind; symlinks are not followed.
    pub kind: FileKind,
}

/// The metadata of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) kind: FileKind,
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
    /// The time of the last change of any metadata, including its name.
    pub(super) changed: Option<SystemTime>,
    /// An identity that stays the same while the file exists, if the system has one.
    pub(super) identity: Option<(u64, u64)>,
    /// The number of names (hard links).
    pub(super) names: u64,
    /// The ids of the owner and the group.
    pub(super) owner: Option<(u32, u32)>,
    /// The permission bits; `0` if the system has none.
    pub(super) mode: u32,
}

/// A file that was opened.
#[derive(Debug)]
pub(super) enum Any {
    File(File, Metadata),
    Directory(Dir),
    /// A pipe, a socket or a device, which is not kept open.
    Special,
}

/// A file that was opened by its name in a directory.
#[derive(Debug)]
pub(super) enum Named {
    /// A regular file, and its size in bytes.
    File(File, u64),
    /// Another kind of file, which is not kept open.
    Other(FileKind),
}
