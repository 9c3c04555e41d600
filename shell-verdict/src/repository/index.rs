//! The index of a repository: the files that it tracks, and whether it names other repositories.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum size of indexes read for a command, in bytes.
const MAX_OF_INDEXES: u64 = 64 << 20;

/// A file that the index names.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Path relative to the work tree.
    pub(crate) name: PathBuf,
    /// Time of modification recorded by git, in seconds and nanoseconds.
    pub(crate) modified: (u32, u32),
    /// File size recorded by git.
    pub(crate) size: u32,
    /// True if the entry has no conflict and no extended flags.
    pub(crate) is_plain: bool,
}

/// The regular files that the index names, links and other repositories left out.
pub(crate) fn files(git_dir: &Path, read: &Cell<u64>) -> Result<Vec<Entry>, String> {
    let Some(bytes) = bytes(git_dir, read)? else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    let mut name: Vec<u8> = Vec::new();
    let mut has_directory = false;
    let seen = each_entry(&bytes, &mut |entry| {
        name.truncate(name.len().saturating_sub(entry.dropped));
        name.extend_from_slice(entry.name);
        let kind = entry.mode >> 12;
        // In a sparse index such an entry stands for a whole directory.
        has_directory |= kind == 0b0100;
        if kind == 0b1000 {
            let is_plain = entry.flags & 0x7000 == 0;
            files.push(Entry { name: path(&name), modified: entry.modified, size: entry.size, is_plain });
        }
        true
    });
    seen.filter(|()| !has_directory).map(|()| files).ok_or_else(|| unreadable(git_dir))
}

#[cfg(unix)]
fn path(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}

#[cfg(not(unix))]
fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}

fn unreadable(git_dir: &Path) -> String {
    format!("{} is not understood", git_dir.join("index").display())
}

/// The names of the entries of an index that are other repositories.
pub(crate) fn submodules(git_dir: &Path, read: &Cell<u64>) -> Result<Vec<String>, String> {
    let Some(bytes) = bytes(git_dir, read)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    each_name(&bytes, &mut |name, kind| {
        if kind == REPOSITORY {
            found.push(String::from_utf8(name.to_owned()).ok()?);
        }
        Some(())
    })
    .ok_or_else(|| unreadable(git_dir))?;
    Ok(found)
}

/// Returns the files that a repository tracks below a directory of its work tree, by their real paths. `None` if they are
/// unknown.
pub(crate) fn tracked(directory: &Path) -> Option<Vec<PathBuf>> {
    let directory = directory.canonicalize().ok()?;
    let top = directory.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?;
    let git_dir = super::config::git_dir(top).ok()??;
    let below = directory.strip_prefix(top).ok()?.to_str()?;
    let below = if below.is_empty() { String::new() } else { format!("{below}/") };
    let Some(bytes) = bytes(&git_dir, &Cell::new(0)).ok()? else { return Some(Vec::new()) };
    let mut found = Vec::new();
    each_name(&bytes, &mut |name, kind| {
        // The files of a sparse directory are not listed.
        if kind == DIRECTORY {
            return None;
        }
        if kind != REPOSITORY && name.starts_with(below.as_bytes()) {
            found.push(top.join(std::str::from_utf8(name).ok()?));
        }
        Some(())
    })?;
    Some(found)
}

/// The kind of an entry that is another repository: the first four bits of its mode.
const REPOSITORY: u32 = 0b1110;
/// Kind of an entry that stands for a whole directory.
const DIRECTORY: u32 = 0b0100;

/// Passes the name and the kind of each entry to `each`. `None` if the index, or an entry, cannot be parsed.
fn each_name(bytes: &[u8], each: &mut dyn FnMut(&[u8], u32) -> Option<()>) -> Option<()> {
    let mut name: Vec<u8> = Vec::new();
    let mut is_understood = true;
    each_entry(bytes, &mut |entry| {
        is_understood = entry.dropped <= name.len();
        name.truncate(name.len().saturating_sub(entry.dropped));
        name.extend_from_slice(entry.name);
        is_understood = is_understood && each(&name, entry.mode >> 12).is_some();
        is_understood
    })?;
    is_understood.then_some(())
}

/// The index of a repository, if it has one.
fn bytes(git_dir: &Path, read: &Cell<u64>) -> Result<Option<Vec<u8>>, String> {
    let index: PathBuf = git_dir.join("index");
    match fs::metadata(&index) {
        // No test of other errors: they mean an unreadable directory, and git reads no index there either.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Ok(metadata) if metadata.is_file() => {
            read.set(read.get().saturating_add(metadata.len()));
            if read.get() > MAX_OF_INDEXES {
                return Err(format!("{} is too large, or too much beside others", index.display()));
            }
        }
        _ => return Err(unreadable(git_dir)),
    }
    fs::read(&index).map(Some).map_err(|_| unreadable(git_dir))
}

/// An encoded entry.
struct Raw<'b> {
    mode: u32,
    modified: (u32, u32),
    size: u32,
    flags: u16,
    /// Number of bytes to drop from the end of the previous entry's name.
    dropped: usize,
    /// The rest of the name.
    name: &'b [u8],
}

/// Passes each entry to `see`, until it returns true. `None` if the index cannot be parsed. The format: git's
/// `gitformat-index(5)`.
fn each_entry(bytes: &[u8], see: &mut dyn FnMut(&Raw<'_>) -> bool) -> Option<()> {
    /// The size of the fields before the name: times, device, inode, mode, owner, size, a hash of 20 bytes, flags.
    const FIXED: usize = 62;
    const MODIFIED: usize = 8;
    const MODE: usize = 24;
    const SIZE: usize = 36;
    const EXTENDED: u16 = 0x4000;
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let (version, count) = (number(4)?, number(8)?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    let mut before = 0_usize;
    for _ in 0..count {
        let flags = u16::from_be_bytes(bytes.get(at + FIXED - 2..at + FIXED)?.try_into().ok()?);
        let mut name = at + FIXED + if flags & EXTENDED == 0 { 0 } else { 2 };
        let mut dropped = before;
        if version == 4 {
            // How much of the name before is left out.
            dropped = usize::from(bytes.get(name)? & 0x7f);
            while bytes.get(name)? & 0x80 != 0 {
                name += 1;
                let more = usize::from(bytes.get(name)? & 0x7f);
                dropped = dropped.saturating_add(1).saturating_mul(128).saturating_add(more);
            }
            name += 1;
        }
        let end = name + bytes.get(name..)?.iter().position(|byte| *byte == 0)?;
        let raw = Raw {
            mode: number(at + MODE)?,
            modified: (number(at + MODIFIED)?, number(at + MODIFIED + 4)?),
            size: number(at + SIZE)?,
            flags,
            dropped,
            name: &bytes[name..end],
        };
        before = before.saturating_sub(dropped) + raw.name.len();
        if !see(&raw) {
            return Some(());
        }
        at = if version == 4 { end + 1 } else { at + ((end - at) / 8 + 1) * 8 };
    }
    // Extensions, and a hash at the end. Of a split index the entries are in another file.
    while at + 8 <= bytes.len().saturating_sub(20) {
        if &bytes[at..at + 4] == b"link" {
            return None;
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(number(at + 4)?).ok()?)?;
    }
    Some(())
}
