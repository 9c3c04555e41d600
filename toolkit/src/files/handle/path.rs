//! Where there are no directory handles: by path. A check of links precedes each use, so that only a link which
//! appears in between can lead elsewhere.

use super::{Any, DirectoryEntry, ENTRIES_AT_ONCE, FileKind, Named, Stat};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// A directory.
#[derive(Debug)]
pub(crate) struct Dir(PathBuf);

impl Dir {
    /// The directory at `path`, whatever links lead there: for places that whoever runs the program chose.
    pub(crate) fn open_root(path: &Path) -> io::Result<Self> {
        if !fs::metadata(path)?.is_dir() {
            return Err(ErrorKind::NotADirectory.into());
        }
        Ok(Self(path.to_owned()))
    }

    /// The same, and its real path where the system tells it: not here.
    pub(crate) fn open_root_and_path(path: &Path) -> io::Result<(Self, Option<PathBuf>)> {
        Ok((Self::open_root(path)?, None))
    }

    /// The directory at `path` below this one; no link is followed.
    pub(crate) fn open_dir(&self, path: &Path) -> io::Result<Self> {
        Self::open_root(&self.checked(path)?)
    }

    /// What is at `path` below this directory, for reading; no link is followed.
    pub(crate) fn open_file(&self, path: &Path) -> io::Result<Any> {
        let path = self.checked(path)?;
        let metadata = fs::symlink_metadata(&path)?;
        Ok(match kind(metadata.file_type()) {
            FileKind::File => Any::File(File::open(path)?, metadata),
            FileKind::Directory => Any::Directory(Self(path)),
            FileKind::Link | FileKind::Special => Any::Special,
        })
    }

    /// What has a name in this directory, for reading, and the size of a regular file; no link is followed.
    pub(crate) fn open_named(&self, name: &OsStr) -> io::Result<Named> {
        Ok(match self.open_file(Path::new(name))? {
            Any::File(file, metadata) => Named::File(file, metadata.len()),
            Any::Directory(_) => Named::Other(FileKind::Directory),
            Any::Special => Named::Other(FileKind::Special),
        })
    }

    /// The same.
    pub(crate) fn open_any(&self, path: &Path) -> io::Result<Any> {
        self.open_file(path)
    }

    /// A new file of this name.
    pub(crate) fn create(&self, name: &OsStr, _shared: bool) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(self.0.join(name))
    }

    /// Opens a file of this name for reading and writing, as it is.
    pub(crate) fn open_to_write(&self, name: &OsStr) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).open(self.checked(Path::new(name))?)
    }

    pub(crate) fn make_dir(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Removes a directory that is empty.
    pub(crate) fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    /// Renames, replacing what is there.
    pub(crate) fn rename(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), to_dir.0.join(to))
    }

    /// Renames; fails where anything stands under the new name.
    pub(crate) fn rename_new(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        // A second name is made where there is none, and then the first goes.
        fs::hard_link(self.0.join(from), to_dir.0.join(to))?;
        self.remove(from)
    }

    /// Gives two names in this directory each other's file at once. `Unsupported` where the file system cannot.
    #[expect(clippy::unused_self, reason = "as where it can")]
    pub(crate) fn exchange(&self, _one: &OsStr, _other: &OsStr) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    /// What stands under a name; a link is not followed.
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

    /// Whether the process may write to what stands under a name.
    pub(crate) fn is_writable(&self, name: &OsStr) -> bool {
        fs::metadata(self.0.join(name)).is_ok_and(|metadata| !metadata.permissions().readonly())
    }

    /// Up to `most` names, in no order, and whether there are more; fewer once it does not go on.
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

    /// Nothing is known of such attributes here.
    #[expect(clippy::unused_self, reason = "as where something is")]
    pub(crate) fn give_attributes(&self, _name: &OsStr, _file: &File) {}

    /// There is nothing to be synced of a directory here.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as where there is")]
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    /// Directories cannot be locked here.
    #[expect(clippy::unused_self, reason = "as where they can")]
    pub(crate) fn lock(&self, _most: std::time::Duration) -> Option<File> {
        None
    }

    #[expect(clippy::unnecessary_wraps, reason = "as where it can fail")]
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.clone()))
    }

    /// No system tells one by path.
    #[expect(clippy::unused_self, reason = "as where it can")]
    pub(crate) fn identity(&self) -> Option<(u64, u64)> {
        None
    }

    /// The path below this directory, where no link is on the way.
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

/// A link stands where none was a moment ago.
#[derive(Debug, thiserror::Error)]
#[error("a symbolic link is in the way")]
struct Raced;

/// Whether an open met a link where none was a moment ago.
pub(crate) fn is_raced(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<Raced>())
}

/// No system tells one by path.
pub(crate) fn identity(_metadata: &Metadata) -> Option<(u64, u64)> {
    None
}

/// No system tells how many names a file has.
pub(crate) fn names(_metadata: &Metadata) -> u64 {
    1
}

/// There is no owner or mode here; a read-only file is not written to.
#[expect(clippy::unnecessary_wraps, reason = "as where it can fail")]
pub(crate) fn owner_and_mode(_file: &File, _of: &Stat) -> io::Result<Option<(u32, u32)>> {
    Ok(None)
}

/// There is no bit for it here.
pub(crate) fn is_executable(_metadata: &Metadata) -> Option<bool> {
    None
}

/// There is no bit for it here.
#[expect(clippy::unnecessary_wraps, reason = "as where it can fail")]
pub(crate) fn set_executable(_file: &File, _executable: bool) -> io::Result<()> {
    Ok(())
}

/// Locks a file for as long as it is open, unless another process has; whether it is locked.
pub(crate) fn try_lock(file: &File) -> bool {
    file.try_lock().is_ok()
}

/// Users have no number here.
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
