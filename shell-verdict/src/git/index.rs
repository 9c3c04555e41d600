//! The index of a repository: the files that it tracks, and whether it names other repositories.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

/// So much of indexes is read for a command, in bytes.
const MOST_OF_INDEXES: u64 = 64 << 20;

/// The names of the entries of an index that are other repositories.
pub(super) fn submodules(git_dir: &Path, read: &Cell<u64>) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    entries(git_dir, read, &mut |name, kind| {
        if kind == REPOSITORY {
            found.push(String::from_utf8(name.to_owned()).ok()?);
        }
        Some(())
    })?;
    Ok(found)
}

/// The files that a repository tracks below a directory of its work tree, by their real paths. `None` where that cannot be told.
pub(crate) fn tracked(directory: &Path) -> Option<Vec<PathBuf>> {
    let directory = directory.canonicalize().ok()?;
    let top = directory.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?;
    let git_dir = super::config::git_dir(top).ok()??;
    let below = directory.strip_prefix(top).ok()?.to_str()?;
    let below = if below.is_empty() { String::new() } else { format!("{below}/") };
    let mut found = Vec::new();
    entries(&git_dir, &Cell::new(0), &mut |name, kind| {
        // What is in a directory that stands for all below it is not listed.
        if kind == DIRECTORY {
            return None;
        }
        if kind != REPOSITORY && name.starts_with(below.as_bytes()) {
            found.push(top.join(std::str::from_utf8(name).ok()?));
        }
        Some(())
    })
    .ok()?;
    Some(found)
}

/// The kind of an entry that is another repository: the first four bits of its mode.
const REPOSITORY: u32 = 0b1110;
/// The kind of an entry that stands for all below a directory.
const DIRECTORY: u32 = 0b0100;

/// What is done with the name and the kind of an entry. `None` says that it is not understood.
type EachEntry<'a> = dyn FnMut(&[u8], u32) -> Option<()> + 'a;

/// Reads the index of a repository. One that is not there has no entries.
fn entries(git_dir: &Path, read: &Cell<u64>, each: &mut EachEntry<'_>) -> Result<(), String> {
    let index: PathBuf = git_dir.join("index");
    let unreadable = || format!("{} is not understood", index.display());
    match fs::metadata(&index) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Ok(metadata) if metadata.is_file() => {
            read.set(read.get().saturating_add(metadata.len()));
            if read.get() > MOST_OF_INDEXES {
                return Err(format!("{} is too large, or too much beside others", index.display()));
            }
        }
        _ => return Err(unreadable()),
    }
    let bytes = fs::read(&index).map_err(|_| unreadable())?;
    entries_of(&bytes, each).ok_or_else(unreadable)
}

/// The same of what is in the index; `None` where that is not understood. The format: git's `gitformat-index(5)`.
fn entries_of(bytes: &[u8], each: &mut EachEntry<'_>) -> Option<()> {
    /// What stands before the name: times, device, inode, mode, owner, size, a hash of 20 bytes, flags.
    const FIXED: usize = 62;
    const MODE: usize = 24;
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
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..count {
        let flags = u16::from_be_bytes(bytes.get(at + FIXED - 2..at + FIXED)?.try_into().ok()?);
        let kind = number(at + MODE)? >> 12;
        let mut begin = at + FIXED + if flags & EXTENDED == 0 { 0 } else { 2 };
        if version == 4 {
            let (removed, length) = variable_width(bytes.get(begin..)?)?;
            begin += length;
            name.truncate(name.len().checked_sub(removed)?);
        } else {
            name.clear();
        }
        let end = begin + bytes.get(begin..)?.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&bytes[begin..end]);
        each(&name, kind)?;
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

/// A number as version 4 writes how much of the name before is dropped, and how many bytes that takes.
fn variable_width(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = usize::from(*bytes.first()? & 0x7f);
    let mut at = 0;
    while bytes.get(at)? & 0x80 != 0 {
        at += 1;
        value = value.checked_add(1)?.checked_mul(128)? + usize::from(*bytes.get(at)? & 0x7f);
    }
    Some((value, at + 1))
}
