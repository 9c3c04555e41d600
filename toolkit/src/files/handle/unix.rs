//! The implementation for Unix, by file descriptors.

use super::super::fault::{self, FileSystems};
use super::{Any, DirectoryEntry, ENTRIES_AT_ONCE, FileKind, Named, Stat};
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;
use std::ffi::{CString, OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The most attempts of an open that another process disturbs.
const TRIES: usize = 16;
/// The most bytes of one attribute of a file on Linux, and of the names of all attributes together.
#[cfg(target_os = "linux")]
const MAX_ATTRIBUTE_BYTES: usize = 64 * 1024;
/// The pause between two attempts to take a lock.
const LOCK_PAUSE: Duration = Duration::from_micros(200);

/// An open directory.
#[derive(Debug)]
pub(crate) struct Dir(OwnedFd);

impl Dir {
    /// Opens the directory at `path`, following symlinks: for paths that the user running the program chose.
    pub(crate) fn open_root(path: &Path) -> io::Result<Self> {
        // Different flags have no bit in common, so `|` and `^` join them alike, here and below: no test
        // can tell them apart.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => Ok(Self(fd)),
            // The directory may be traversed but not listed. No test, here and in `open_dir`: root
            // may list every directory.
            #[cfg(target_os = "linux")]
            Err(Errno::ACCESS) => Ok(Self(rustix::fs::open(path, flags | OFlags::PATH, Mode::empty())?)),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the directory, and returns its real path if the system tells it.
    pub(crate) fn open_root_and_path(path: &Path) -> io::Result<(Self, Option<PathBuf>)> {
        #[cfg(target_os = "linux")]
        {
            use crate::real_path::{open_straight, path_of};
            if let Some(Ok(fd)) = open_straight(path, OFlags::RDONLY | OFlags::DIRECTORY) {
                return Ok((Self(fd), Some(path.to_owned())));
            }
            let dir = Self::open_root(path)?;
            let real = path_of(&dir.0);
            Ok((dir, real))
        }
        #[cfg(not(target_os = "linux"))]
        Ok((Self::open_root(path)?, None))
    }

    /// Opens the directory at `path` below this one; no symlink is followed.
    pub(crate) fn open_dir(&self, path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match self.open(path, flags, Mode::empty()) {
            #[cfg(target_os = "linux")]
            Err(error) if error.raw_os_error() == Some(Errno::ACCESS.raw_os_error()) => {
                self.open(path, flags | OFlags::PATH, Mode::empty()).map(Self)
            }
            opened => opened.map(Self),
        }
    }

    /// Opens the file at `path` below this directory for reading; no symlink is followed, and it never blocks on a pipe.
    pub(crate) fn open_file(&self, path: &Path) -> io::Result<Any> {
        // Otherwise, opening a pipe would wait for a writer, and a terminal could become the process's controlling
        // terminal.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(self.open(path, flags, Mode::empty())?);
        let metadata = file.metadata()?;
        Ok(match kind(FileType::from_raw_mode(metadata.mode() as rustix::fs::RawMode)) {
            FileKind::File => Any::File(file, metadata),
            FileKind::Directory => Any::Directory(Self(file.into())),
            FileKind::Link | FileKind::Special => Any::Special,
        })
    }

    /// Opens a file by its name in this directory for reading, and returns the size of a regular file; no symlink is
    /// followed, and it never blocks on a pipe. It takes two system calls: one opens the file, one returns its kind.
    pub(crate) fn open_named(&self, name: &OsStr) -> io::Result<Named> {
        if name.as_bytes().contains(&b'/') || matches!(name.as_bytes(), b"" | b"." | b"..") {
            return Err(Errno::XDEV.into());
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.0, name, flags, Mode::empty())
            .map_err(|error| told_apart(&self.0, name, error))?;
        let stat = rustix::fs::fstat(&opened)?;
        Ok(match kind(FileType::from_raw_mode(stat.st_mode)) {
            FileKind::File => Named::File(opened.into(), u64::try_from(stat.st_size).unwrap_or_default()),
            kind => Named::Other(kind),
        })
    }

    /// Opens the file, but checks its kind first, because opening a device can have side effects.
    pub(crate) fn open_any(&self, path: &Path) -> io::Result<Any> {
        #[cfg(target_os = "linux")]
        {
            let found = self.open(path, OFlags::PATH, Mode::empty())?;
            let stat = rustix::fs::fstat(&found)?;
            match kind(FileType::from_raw_mode(stat.st_mode)) {
                FileKind::Special => return Ok(Any::Special),
                FileKind::Link => return Err(Errno::LOOP.into()),
                FileKind::File | FileKind::Directory => {}
            }
        }
        self.open_file(path)
    }

    /// Creates a new file of this name. Only its owner may use it until its mode is changed; if `shared` is true, the
    /// process's umask decides.
    pub(crate) fn create(&self, name: &OsStr, shared: bool) -> io::Result<File> {
        let mode = if shared { 0o666 } else { 0o600 };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.0, name, flags, Mode::from_raw_mode(mode))?))
    }

    /// Opens an existing regular file of this name for reading and writing; a symlink is not followed.
    pub(crate) fn open_to_write(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = File::from(self.open(Path::new(name), flags, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(Errno::LOOP.into()) }
    }

    pub(crate) fn make_dir(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777))?)
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    pub(crate) fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Renames a file, and replaces an existing one.
    pub(crate) fn rename(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &to_dir.0, to)?)
    }

    /// Renames a file; fails if the new name exists, even as a dangling symlink.
    pub(crate) fn rename_new(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        if fault::file_systems() == FileSystems::OnePerDirectory && self.identity() != to_dir.identity() {
            return Err(Errno::XDEV.into());
        }
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        if fault::file_systems() != FileSystems::WithoutFlags {
            let flags = rustix::fs::RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(&self.0, from, &to_dir.0, to, flags) {
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                done => return Ok(done?),
            }
        }
        // A second name is created, which fails if it exists, and then the first one is removed.
        rustix::fs::linkat(&self.0, from, &to_dir.0, to, AtFlags::empty())?;
        fault::point("remove the first name");
        self.remove(from)
    }

    /// Exchanges two names in this directory atomically. `Unsupported` if the file system cannot.
    pub(crate) fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<()> {
        if fault::file_systems() == FileSystems::WithoutFlags {
            return Err(io::ErrorKind::Unsupported.into());
        }
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            let flags = rustix::fs::RenameFlags::EXCHANGE;
            match rustix::fs::renameat_with(&self.0, one, &self.0, other, flags) {
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(io::ErrorKind::Unsupported.into()),
                done => Ok(done?),
            }
        }
        #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
        {
            let _ = (one, other);
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Returns the metadata of a name; a symlink is not followed.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        #[allow(clippy::unnecessary_cast, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        #[allow(clippy::cast_lossless, reason = "the widths of these fields differ between systems")]
        Ok(Stat {
            kind: kind(FileType::from_raw_mode(stat.st_mode)),
            size: stat.st_size as u64,
            modified: time(stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            changed: time(stat.st_ctime as i64, stat.st_ctime_nsec as u32),
            identity: Some((stat.st_dev as u64, stat.st_ino as u64)),
            names: stat.st_nlink as u64,
            owner: Some((stat.st_uid, stat.st_gid)),
            mode: stat.st_mode as u32 & 0o7777,
        })
    }

    /// Returns true if the process may write to the file of this name.
    pub(crate) fn is_writable(&self, name: &OsStr) -> bool {
        use rustix::fs::Access;
        match rustix::fs::accessat(&self.0, name, Access::WRITE_OK, AtFlags::EACCESS) {
            // No test: root may write to every file.
            Err(Errno::ACCESS | Errno::ROFS | Errno::PERM) => false,
            // If it is unknown, writing will show it.
            _ => true,
        }
    }

    /// Returns up to `most` names, in unspecified order, and true if there are more; fewer after cancellation.
    pub(crate) fn entries(
        &self,
        most: usize,
        mut goes_on: impl FnMut() -> bool,
    ) -> io::Result<(Vec<DirectoryEntry>, bool)> {
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            if entries.len() == most || entries.len().is_multiple_of(ENTRIES_AT_ONCE) && !goes_on() {
                return Ok((entries, true));
            }
            let name = OsString::from_vec(name.to_vec());
            let kind = match entry.file_type() {
                FileType::Unknown => self.stat(&name).map_or(FileKind::Special, |stat| stat.kind),
                known => kind(known),
            };
            entries.push(DirectoryEntry { name, kind });
        }
        Ok((entries, false))
    }

    /// Copies the other attributes of the file of this name to `file`: its access control list and user attributes.
    /// Attributes that cannot be read or set are skipped; if the list cannot be kept, the group gets no permissions.
    #[cfg(target_os = "linux")]
    pub(crate) fn give_attributes(&self, name: &OsStr, file: &File) {
        const LIST: &[u8] = b"system.posix_acl_access";
        let Ok(Any::File(of, metadata)) = self.open_file(Path::new(name)) else { return };
        let mut buffer = vec![0; MAX_ATTRIBUTE_BYTES];
        let Ok(length) = rustix::fs::flistxattr(&of, &mut buffer[..]) else { return };
        let names = buffer[..length].to_vec();
        for name in names.split(|byte| *byte == 0) {
            let is_list = name == LIST;
            if !is_list && !name.starts_with(b"user.") {
                continue;
            }
            let copied = rustix::fs::fgetxattr(&of, name, &mut buffer[..]).and_then(|length| {
                rustix::fs::fsetxattr(file, name, &buffer[..length], rustix::fs::XattrFlags::empty())
            });
            if is_list && copied.is_err() {
                // With a list, the group bits of the mode are the upper limit for everyone in the list.
                let _ = rustix::fs::fchmod(file, Mode::from_raw_mode(metadata.mode() & 0o7707));
            }
        }
    }

    /// Does nothing: such attributes are not supported here.
    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "as where something is")]
    pub(crate) fn give_attributes(&self, _name: &OsStr, _file: &File) {}

    /// Syncs the directory, so that files created, renamed and removed here survive a power cut. Errors of systems that
    /// cannot sync a directory are ignored.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&self.0) {
            // No test: only a power cut shows that a directory was not synced.
            Err(Errno::BADF | Errno::INVAL | Errno::NOTSUP | Errno::ROFS) => Ok(()),
            done => Ok(done?),
        }
    }

    /// Locks the directory for as long as the returned file lives, and waits at most this long for others that hold the
    /// lock. Returns `None` if it cannot be locked.
    pub(crate) fn lock(&self, most: Duration) -> Option<File> {
        // Opened again, because a lock belongs to the open file description, which clones share. No test can
        // tell if `DIRECTORY` is set: `.` is always a directory.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let dir = File::from(self.open(Path::new("."), flags, Mode::empty()).ok()?);
        let until = Instant::now() + most;
        loop {
            match rustix::fs::flock(&dir, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Some(dir),
                // With `<=` it would at most try once more, if the times were equal: no test.
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < until => {
                    std::thread::sleep(LOCK_PAUSE);
                }
                Err(_) => return None,
            }
        }
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Returns an identity that stays the same while the directory exists.
    pub(crate) fn identity(&self) -> Option<(u64, u64)> {
        let stat = rustix::fs::fstat(&self.0).ok()?;
        #[allow(clippy::unnecessary_cast, reason = "the widths of these fields differ between systems")]
        Some((stat.st_dev as u64, stat.st_ino as u64))
    }

    /// Opens a path without following any symlink.
    fn open(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC;
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        // Only saves system calls: for a path without `..`, the steps below open the same. No test can tell.
        #[cfg(target_os = "linux")]
        if let Some(opened) = self.open_at_once(path, flags, mode) {
            return opened;
        }
        self.open_stepwise(path, flags, mode)
    }

    /// Opens a path in one system call; returns `None` if there is no such system call.
    #[cfg(target_os = "linux")]
    fn open_at_once(&self, path: &Path, flags: OFlags, mode: Mode) -> Option<io::Result<OwnedFd>> {
        use rustix::fs::ResolveFlags;
        use std::sync::atomic::{AtomicBool, Ordering};
        static IS_ABSENT: AtomicBool = AtomicBool::new(false);
        if IS_ABSENT.load(Ordering::Relaxed) {
            return None;
        }
        let path = CString::new(path.as_os_str().as_bytes()).ok()?;
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::BENEATH;
        for _ in 0..TRIES {
            match rustix::fs::openat2(&self.0, path.as_c_str(), flags, mode, resolve) {
                // Older kernels lack the system call, and some sandboxes forbid it.
                Err(Errno::NOSYS | Errno::PERM) => {
                    IS_ABSENT.store(true, Ordering::Relaxed);
                    return None;
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                opened => return Some(opened.map_err(io::Error::from)),
            }
        }
        Some(Err(Errno::LOOP.into()))
    }

    /// Opens a path one directory at a time.
    pub(super) fn open_stepwise(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let mut names: Vec<&OsStr> = Vec::new();
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) => names.push(name),
                _ => return Err(Errno::XDEV.into()),
            }
        }
        let last = names.pop().unwrap_or(OsStr::new("."));
        let through = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        let through = through | OFlags::PATH;
        let mut above: Option<OwnedFd> = None;
        for name in names {
            let from = above.as_ref().unwrap_or(&self.0);
            above = match rustix::fs::openat(from, name, through, Mode::empty()) {
                Ok(next) => Some(next),
                Err(error) => return Err(told_apart(from, name, error)),
            };
        }
        let from = above.as_ref().unwrap_or(&self.0);
        rustix::fs::openat(from, last, flags | OFlags::NOFOLLOW, mode)
            .map_err(|error| told_apart(from, last, error))
    }
}

/// Returns a uniform error for a symlink that is not followed; systems differ in their error codes.
fn told_apart(from: &OwnedFd, name: &OsStr, error: Errno) -> io::Error {
    if matches!(error, Errno::NOTDIR | Errno::MLINK)
        && rustix::fs::statat(from.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
    {
        return Errno::LOOP.into();
    }
    error.into()
}

/// Returns true if opening failed at a symlink where there was none a moment ago.
pub(crate) fn is_raced(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Returns an identity that stays the same while the file exists.
#[expect(clippy::unnecessary_wraps, reason = "not every system tells one")]
pub(crate) fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    Some((metadata.dev(), metadata.ino()))
}

/// Returns the time of the last change of a file's content, mode or names.
pub(crate) fn changed(metadata: &Metadata) -> Option<SystemTime> {
    time(metadata.ctime(), u32::try_from(metadata.ctime_nsec()).ok()?)
}

/// Returns the number of names of a file.
pub(crate) fn names(metadata: &Metadata) -> u64 {
    metadata.nlink()
}

/// Gives `file` the owner, group and mode of the file that it replaces, as far as the process may; returns its own owner
/// and group if those cannot be kept.
pub(crate) fn owner_and_mode(file: &File, of: &Stat) -> io::Result<Option<(u32, u32)>> {
    let (mut mode, mut other) = (of.mode, None);
    if let Some((owner, group)) = of.owner {
        let is_kept = |file: &Metadata| (file.uid(), file.gid()) == (owner, group);
        if !is_kept(&file.metadata()?) {
            let _ = rustix::fs::fchown(file, Some(Uid::from_raw(owner)), Some(Gid::from_raw(group)));
            // With another owner, the bit would give the rights of the user running this program to others.
            let now = file.metadata()?;
            if !is_kept(&now) {
                // No test looks at the mode here: the one that cannot keep the owner looks only at the owner.
                mode &= 0o1777;
                other = Some((now.uid(), now.gid()));
            }
        }
    }
    #[allow(clippy::useless_conversion, clippy::cast_possible_truncation)]
    #[allow(clippy::unnecessary_cast, reason = "the width of a mode differs between systems")]
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode as rustix::fs::RawMode))?;
    Ok(other)
}

/// Returns true if the owner may execute a file.
#[expect(clippy::unnecessary_wraps, reason = "not every system has a bit for it")]
pub(crate) fn is_executable(metadata: &Metadata) -> Option<bool> {
    Some(metadata.mode() & 0o100 != 0)
}

/// Makes a file executable for everyone who may read it, or for no one.
pub(crate) fn set_executable(file: &File, executable: bool) -> io::Result<()> {
    let mode = file.metadata()?.mode() & 0o7777;
    let mode = if executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 };
    #[allow(clippy::useless_conversion, clippy::cast_possible_truncation)]
    #[allow(clippy::unnecessary_cast, reason = "the width of a mode differs between systems")]
    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode as rustix::fs::RawMode))?)
}

/// Locks a file for as long as it is open; returns false if another process has locked it.
pub(crate) fn try_lock(file: &File) -> bool {
    rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Returns the id of the user whose rights the process has.
#[allow(clippy::unnecessary_wraps, reason = "not every system has users by number")]
pub(crate) fn user() -> Option<u32> {
    // As root, no test can tell this from the constant 0.
    Some(rustix::process::geteuid().as_raw())
}

fn kind(kind: FileType) -> FileKind {
    match kind {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Link,
        _ => FileKind::Special,
    }
}

fn time(seconds: i64, nanoseconds: u32) -> Option<SystemTime> {
    let since = Duration::new(u64::try_from(seconds).ok()?, nanoseconds);
    UNIX_EPOCH.checked_add(since)
}

#[cfg(test)]
mod tests;
