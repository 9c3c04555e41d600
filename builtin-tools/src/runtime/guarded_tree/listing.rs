//! The entries of one directory, as far as they matter to its guarded paths.

use super::levels::{Level, Levels};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, FileType, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime};
use toolkit::permission::{PathRules, may_be_guarded};

/// Directories in which only secrets and paths that a rule names are guarded: tools create their content, and other programs run nothing
/// there by its name.
pub(in crate::runtime) const OF_TOOLS: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__"];

/// Maximum time for which a file system may give the same time to two changes.
const GRANULARITY: Duration = Duration::from_secs(2);

/// The identity of a directory and the times of its last changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) device: u64,
    inode: u64,
    modified: Option<SystemTime>,
    /// Seconds and nanoseconds.
    changed: (i64, i64),
}

/// A directory as it was listed.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is another fact about a directory")]
pub(super) struct Listing {
    pub(super) stamp: Stamp,
    /// True if any later change gives it another time.
    is_settled: bool,
    pub(super) entries: usize,
    /// True if there are more entries than may be examined.
    pub(super) is_cut: bool,
    /// True if the process may not list or enter it.
    pub(super) is_closed: bool,
    pub(super) directories: Vec<Directory>,
    /// The other entries with a decision of their own.
    pub(super) marks: Vec<Mark>,
    /// The inodes of all entries but directories.
    pub(super) inodes: Vec<u64>,
    /// True if it must not be read, but something in it may be.
    pub(super) shows: bool,
    /// True if it is a repository's own directory.
    pub(super) is_repository: bool,
    /// True if a file in it gives files attributes in git.
    pub(super) has_attributes: bool,
}

/// A directory in a listing.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) name: OsString,
    pub(super) levels: Levels,
}

/// A file or symlink with a decision of its own.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) name: OsString,
    pub(super) levels: Levels,
    pub(super) inode: u64,
    pub(super) is_link: bool,
}

impl Stamp {
    /// Reads the stamp of a directory.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let metadata = path.symlink_metadata()?;
        if !metadata.is_dir() {
            return Err(ErrorKind::NotADirectory.into());
        }
        let (device, inode, changed) = identity(&metadata);
        Ok(Self { device, inode, modified: metadata.modified().ok(), changed })
    }

    /// Returns true if a change at `now` or later gives other times than these.
    fn is_settled(&self, now: SystemTime) -> bool {
        let Some(before) = now.checked_sub(GRANULARITY) else { return false };
        let seconds = before.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        self.modified.is_some_and(|modified| modified < before)
            && i64::try_from(seconds).is_ok_and(|seconds| self.changed.0 < seconds)
    }
}

impl Listing {
    /// Lists a directory, of which at most `left` entries are examined.
    pub(super) fn of(
        path: &Path,
        stamp: Stamp,
        rules: &PathRules,
        levels: Levels,
        is_of_tools: bool,
        left: usize,
    ) -> io::Result<Self> {
        let is_settled = stamp.is_settled(SystemTime::now());
        let mut listing = Self {
            stamp,
            is_settled,
            entries: 0,
            is_cut: false,
            is_closed: false,
            directories: Vec::new(),
            marks: Vec::new(),
            inodes: Vec::new(),
            shows: false,
            is_repository: false,
            has_attributes: false,
        };
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                listing.is_closed = true;
                return Ok(listing);
            }
            Err(error) => return Err(error),
        };
        let mut repository = GitDirectory::default();
        let deciding = Deciding { path, rules, levels, is_of_tools };
        for entry in entries {
            let entry = entry?;
            if listing.entries >= left {
                listing.is_cut = true;
                break;
            }
            listing.entries += 1;
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let name = entry.file_name();
            repository.see(&name);
            listing.add(&deciding, name, kind, inode_of(&entry));
        }
        if repository.is_one() && levels.writing == Level::Allow {
            listing.protect();
        }
        Ok(listing)
    }

    /// Returns true if the directory with this stamp has the listed entries.
    pub(super) fn is_current(&self, stamp: &Stamp) -> bool {
        self.is_settled && self.stamp == *stamp
    }

    /// Sets that the directory, which has this stamp now, is as it was listed.
    #[cfg(test)]
    pub(super) fn settle(&mut self, stamp: Stamp) {
        (self.is_settled, self.stamp) = (true, stamp);
    }

    fn add(&mut self, deciding: &Deciding<'_>, name: OsString, kind: FileType, inode: u64) {
        let above = deciding.levels;
        let levels = deciding.of(&name, kind.is_dir());
        if kind.is_dir() {
            self.directories.push(Directory { name, levels: levels.unwrap_or(above) });
            return;
        }
        self.has_attributes |= name == ".gitattributes";
        self.inodes.push(inode);
        let Some(levels) = levels else { return };
        self.shows |= above.reading > Level::Allow && levels.reading == Level::Allow;
        let is_single = deciding.is_with_exceptions() && levels.reading > Level::Allow;
        if is_single || (levels.reading, levels.writing) != (above.reading, above.writing) {
            self.marks.push(Mark { name, levels, inode, is_link: kind.is_symlink() });
        }
    }

    /// Protects all that is in it: git obeys the configuration in a repository's own directory, whatever its name.
    fn protect(&mut self) {
        let all = self.directories.iter_mut().map(|directory| &mut directory.levels);
        for levels in all.chain(self.marks.iter_mut().map(|mark| &mut mark.levels)) {
            levels.writing = levels.writing.max(Level::Ask);
            levels.is_of_repository = true;
        }
        self.is_repository = true;
    }
}

/// The decisions about the entries of a directory.
struct Deciding<'a> {
    path: &'a Path,
    rules: &'a PathRules,
    /// The decisions about the directory with all that it contains.
    levels: Levels,
    is_of_tools: bool,
}

impl Deciding<'_> {
    /// Returns true if something in the directory may be allowed although the directory is not.
    fn is_with_exceptions(&self) -> bool {
        let is_allowed = self.levels.reading.max(self.levels.writing) == Level::Allow;
        !is_allowed && self.rules.has_exceptions()
    }

    /// Returns the decisions about an entry; `None` if they are those about the directory.
    fn of(&self, name: &OsStr, is_directory: bool) -> Option<Levels> {
        let is_named =
            self.levels.is_named || self.rules.may_name(name) && self.rules.is_named(&self.path.join(name));
        let is_guarded = may_be_guarded(name);
        if !is_named && !is_guarded && !self.is_with_exceptions() {
            return None;
        }
        let mut levels = Levels::of(self.rules, &self.path.join(name), is_directory);
        levels.is_named = is_named;
        if self.is_of_tools && !is_named {
            levels.writing = self.levels.writing;
        }
        if self.levels.is_of_repository {
            levels.writing = levels.writing.max(Level::Ask);
            levels.is_of_repository = true;
        }
        Some(levels)
    }
}

/// The names by which a repository's own directory is recognised.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is another name that may be there or not")]
struct GitDirectory {
    head: bool,
    commondir: bool,
    objects: bool,
    refs: bool,
}

impl GitDirectory {
    fn see(&mut self, name: &OsStr) {
        match name.as_encoded_bytes() {
            b"HEAD" => self.head = true,
            b"commondir" => self.commondir = true,
            b"objects" => self.objects = true,
            b"refs" => self.refs = true,
            _ => {}
        }
    }

    fn is_one(&self) -> bool {
        self.head && (self.commondir || self.objects && self.refs)
    }
}

/// Returns true if tools create the content of a directory of this name.
pub(super) fn is_of_tools(name: &OsStr) -> bool {
    OF_TOOLS.iter().any(|known| name == *known)
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64, (i64, i64)) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino(), (metadata.ctime(), metadata.ctime_nsec()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64, (i64, i64)) {
    // Never settled, so that it is listed each time.
    (0, 0, (i64::MAX, 0))
}

#[cfg(unix)]
pub(super) fn inode_of(entry: &DirEntry) -> u64 {
    std::os::unix::fs::DirEntryExt::ino(entry)
}

#[cfg(not(unix))]
pub(super) fn inode_of(_: &DirEntry) -> u64 {
    0
}

/// Returns the device and inode of a file.
pub(super) fn identity_of(path: &Path) -> Option<(u64, u64)> {
    let metadata = path.symlink_metadata().ok()?;
    let (device, inode, _) = identity(&metadata);
    Some((device, inode))
}
