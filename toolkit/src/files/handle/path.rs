//! The implementation by paths, for systems without directory handles. Symlinks are checked before each use, so
//! only a symlink that is created between the check and the use can lead elsewhere.

use super::{Any, DirectoryEntry, ENTRIES_AT_ONCE, FileKind, Named, Stat};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// A directory.
#[derive(Debug)]
pub(crate) struct Dir(PathBuf);

impl Dir {
    /// Opens the directory at `path`, following symlinks: for paths that the user running the program chose.
    pub(crate) fn open_root(path: &Path) -> io::Result<Self> {
        if !fs::metadata(path)?.is_dir() {
            return Err(ErrorKind::NotADirectory.into());
        }
        Ok(Self(path.to_owned()))
    }

    /// Opens the directory, and returns its real path if the system tells it, which it does not here.
    pub(crate) fn open_root_and_path(path: &Path) -> io::Result<(Self, Option<PathBuf>)> {
        Ok((Self::open_root(path)?, None))
    }

    /// Opens the directory at `path` below this one; no symlink is followed.
    pub(crate) fn open_dir(&self, path: &Path) -> io::Result<Self> {
        Self::open_root(&self.checked(path)?)
    }

    /// Opens the file at `path` below this directory for reading; no symlink is followed.
    pub(crate) fn open_file(&self, path: &Path) -> io::Result<Any> {
        let path = self.checked(path)?;
        let metadata = fs::symlink_metadata(&path)?;
        Ok(match kind(metadata.file_type()) {
            FileKind::File => Any::File(File::open(path)?, metadata),
            FileKind::Directory => Any::Directory(Self(path)),
            FileKind::Link | FileKind::Special => Any::Special,
        })
    }

    /// Opens a file by its name in this directory for reading, and returns the size of a regular file; no
    /// symlink is followed.
    pub(crate) fn open_named(&self, name: &OsStr) -> io::Result<Named> {
        Ok(match self.open_file(Path::new(name))? {
            Any::File(file, metadata) => Named::File(file, metadata.len()),
            Any::Directory(_) => Named::Other(FileKind::Directory),
            Any::Special => Named::Other(FileKind::Special),
        })
    }

    /// Opens the file like [`open_file`](Self::open_file).
    pub(crate) fn open_any(&self, path: &Path) -> io::Result<Any> {
        self.open_file(path)
    }

    /// Creates a new file of this name.
    pub(crate) fn create(&self, name: &OsStr, _shared: bool) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(self.0.join(name))
    }

    /// Opens an existing file of this name for reading and writing.
    pub(crate) fn open_to_write(&self, name: &OsStr) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).open(self.checked(Path::new(name))?)
    }

    pub(crate) fn make_dir(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Removes an empty directory.
    pub(crate) fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    /// Renames a file, and replaces an existing one.
    pub(crate) fn rename(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), to_dir.0.join(to))
    }

    /// Renames a file; fails if the new name exists.
    pub(crate) fn rename_new(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        // A second name is created, which fails if it exists, and then the first one is removed.
        fs::hard_link(self.0.join(from), to_dir.0.join(to))?;
        self.remove(from)
    }

    /// Exchanges two names in this directory atomically. `Unsupported` if the file system cannot.
    #[expect(clippy::unused_self, reason = "as where it can")]
    pub(crate) fn exchange(&self, _one: &OsStr, _other: &OsStr) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    /// Returns the metadata of a name; a symlink is not followed.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        let metadata = fs::symlink_metadata(self.0.join(name))?;
        Ok(Stat {
            kind: kind(metadata.file_type()),
            size: metadata.len(),
            modified: metadata.modified().ok(),
            changed: None,
            identity: None,
            names: 1,
            owner: None,
            mode: u32::from(metadata.permissions().readonly()),
        })
    }

    /// Returns true if the process may write to the file of this name.
    pub(crate) fn is_writable(&self, name: &OsStr) -> bool {
        fs::metadata(self.0.join(name)).is_ok_and(|metadata| !metadata.permissions().readonly())
    }

    /// Returns up to `most` names, in unspecified order, and true if there are more; fewer after cancellation.
    pub(crate) fn entries(
        &self,
        most: usize,
        mut goes_on: impl FnMut() -> bool,
    ) -> io::Result<(Vec<DirectoryEntry>, bool)> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            if entries.len() == most || entries.len().is_multiple_of(ENTRIES_AT_ONCE) && !goes_on() {
                return Ok((entries, true));
            }
            entries.push(DirectoryEntry { name: entry.file_name(), kind: kind(entry.file_type()?) });
        }
        Ok((entries, false))
    }

    /// Does nothing: such attributes are not supported here.
    #[expect(clippy::unused_self, reason = "as where something is")]
    pub(crate) fn give_attributes(&self, _name: &OsStr, _file: &File) {}

    /// Does nothing: directories cannot be synced here.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as where there is")]
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    /// Returns `None`: directories cannot be locked here.
    #[expect(clippy::unused_self, reason = "as where they can")]
    pub(crate) fn lock(&self, _most: std::time::Duration) -> Option<File> {
        None
    }

    #[expect(clippy::unnecessary_wraps, reason = "as where it can fail")]
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.clone()))
    }

    /// Returns `None`: the system tells no identity by path.
    #[expect(clippy::unused_self, reason = "as where it can")]
    pub(crate) fn identity(&self) -> Option<(u64, u64)> {
        None
    }

    /// Returns the path below this directory, after checking that it contains no symlink.
    fn checked(&self, path: &Path) -> io::Result<PathBuf> {
        let mut checked = self.0.clone();
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) => {
                    checked.push(name);
                    if fs::symlink_metadata(&checked)?.is_symlink() {
                        return Err(io::Error::new(ErrorKind::InvalidInput, Raced));
                    }
                }
                _ => return Err(ErrorKind::InvalidInput.into()),
            }
        }
        Ok(checked)
    }
}

/// The error for a symlink at a place where there was none a moment ago.
#[derive(Debug, thiserror::Error)]
#[error("a symbolic link is in the way")]
struct Raced;

/// Returns true if opening failed at a symlink where there was none a moment ago.
pub(crate) fn is_raced(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<Raced>())
}

/// Returns `None`: the system tells no identity by path.
pub(crate) fn identity(_metadata: &Metadata) -> Option<(u64, u64)> {
    None
}

/// Returns 1: the system does not tell how many names a file has.
pub(crate) fn names(_metadata: &Metadata) -> u64 {
    1
}

/// Does nothing: there is no owner or mode here, and a read-only file is not written to.
#[expect(clippy::unnecessary_wraps, reason = "as where it can fail")]
pub(crate) fn owner_and_mode(_file: &File, _of: &Stat) -> io::Result<Option<(u32, u32)>> {
    Ok(None)
}

/// Returns `None`: there is no executable bit here.
pub(crate) fn is_executable(_metadata: &Metadata) -> Option<bool> {
    None
}

/// Does nothing: there is no executable bit here.
#[expect(clippy::unnecessary_wraps, reason = "as where it can fail")]
pub(crate) fn set_executable(_file: &File, _executable: bool) -> io::Result<()> {
    Ok(())
}

/// Locks a file for as long as it is open; returns false if another process has locked it.
pub(crate) fn try_lock(file: &File) -> bool {
    file.try_lock().is_ok()
}

/// Returns `None`: users have no id here.
pub(crate) fn user() -> Option<u32> {
    None
}

fn kind(kind: fs::FileType) -> FileKind {
    if kind.is_symlink() {
        FileKind::Link
    } else if kind.is_dir() {
        FileKind::Directory
    } else if kind.is_file() {
        FileKind::File
    } else {
        FileKind::Special
    }
}
