//! The index of a repository: the files that it tracks, and whether it names other repositories.

use super::layout::{common_dir, git_dir, read};
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
    each_entry(&bytes, &mut |entry| {
        // The files of a sparse directory are not listed.
        if entry.kind == DIRECTORY {
            return None;
        }
        if entry.kind == FILE {
            let is_plain = entry.flags & 0x7000 == 0;
            let (modified, size) = (entry.modified, entry.size);
            files.push(Entry { name: path(entry.name), modified, size, is_plain });
        }
        Some(())
    })
    .map(|()| files)
    .ok_or_else(|| unreadable(git_dir))
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
    each_entry(&bytes, &mut |entry| {
        match entry.kind {
            // It may hold some.
            DIRECTORY => return None,
            REPOSITORY => found.push(String::from_utf8(entry.name.to_owned()).ok()?),
            _ => {}
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
    let git_dir = git_dir(top).ok()??;
    let below = directory.strip_prefix(top).ok()?.to_str()?;
    let below = if below.is_empty() { String::new() } else { format!("{below}/") };
    let Some(bytes) = bytes(&git_dir, &Cell::new(0)).ok()? else { return Some(Vec::new()) };
    let mut found = Vec::new();
    each_entry(&bytes, &mut |entry| {
        // The files of a sparse directory are not listed.
        if entry.kind == DIRECTORY {
            return None;
        }
        if entry.kind != REPOSITORY && entry.name.starts_with(below.as_bytes()) {
            found.push(top.join(std::str::from_utf8(entry.name).ok()?));
        }
        Some(())
    })?;
    Some(found)
}

/// The kind of an entry that is another repository: the first four bits of its mode.
const REPOSITORY: u32 = 0b1110;
/// Kind of an entry that stands for a whole directory.
const DIRECTORY: u32 = 0b0100;
/// Kind of an entry that is a regular file.
const FILE: u32 = 0b1000;

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
    if has_other_hashes(git_dir) {
        return Err(unreadable(git_dir));
    }
    fs::read(&index).map(Some).map_err(|_| unreadable(git_dir))
}

/// Returns true if the repository may use another hash than SHA-1, whose entries are longer.
pub(super) fn has_other_hashes(git_dir: &Path) -> bool {
    let common = common_dir(git_dir);
    let configuration = common.and_then(|common| read(&common.join("config")));
    configuration
        .map_or(true, |text| text.is_some_and(|text| text.to_ascii_lowercase().contains("objectformat")))
}

/// An encoded entry.
struct Raw<'b> {
    name: &'b [u8],
    kind: u32,
    modified: (u32, u32),
    size: u32,
    flags: u16,
}

/// Passes each entry to `see`. `None` if it returns that, or if the index cannot be parsed, or not all readers of git need to find the
/// same in it. The format: git's `gitformat-index(5)`.
fn each_entry(bytes: &[u8], see: &mut dyn FnMut(&Raw<'_>) -> Option<()>) -> Option<()> {
    /// The size of the fields before the name: times, device, inode, mode, owner, size, a hash of 20 bytes, flags.
    const FIXED: usize = 62;
    const MODIFIED: usize = 8;
    const MODE: usize = 24;
    const SIZE: usize = 36;
    const EXTENDED: u16 = 0x4000;
    const LENGTH: u16 = 0x0fff;
    let number = |at: usize| number(bytes, at);
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let (version, count) = (number(4)?, number(8)?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    let mut name: Vec<u8> = Vec::new();
    let mut begins = Vec::new();
    for _ in 0..count {
        let flags = u16::from_be_bytes(bytes.get(at + FIXED - 2..at + FIXED)?.try_into().ok()?);
        let mut rest = at + FIXED + if flags & EXTENDED == 0 { 0 } else { 2 };
        let mut dropped = name.len();
        if version == 4 {
            // How much of the name before is left out.
            dropped = usize::from(bytes.get(rest)? & 0x7f);
            while bytes.get(rest)? & 0x80 != 0 {
                rest += 1;
                let more = usize::from(bytes.get(rest)? & 0x7f);
                dropped = dropped.saturating_add(1).saturating_mul(128).saturating_add(more);
            }
            rest += 1;
        }
        let end = rest + bytes.get(rest..)?.iter().position(|byte| *byte == 0)?;
        name.truncate(name.len().checked_sub(dropped)?);
        begins.push(Begin { at, is_whole: name.is_empty() });
        name.extend_from_slice(&bytes[rest..end]);
        // Git goes by the length, unless that is too long for the field.
        let length = usize::from(flags & LENGTH);
        if length != usize::from(LENGTH) && length != name.len() {
            return None;
        }
        see(&Raw {
            name: &name,
            kind: number(at + MODE)? >> 12,
            modified: (number(at + MODIFIED)?, number(at + MODIFIED + 4)?),
            size: number(at + SIZE)?,
            flags,
        })?;
        at = if version == 4 { end + 1 } else { at + ((end - at) / 8 + 1) * 8 };
    }
    extensions(bytes, at, &begins)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// The position of an entry.
struct Begin {
    at: usize,
    /// True if the entry has its whole name, and no part of the one before.
    is_whole: bool,
}

/// Reads the extensions. `None` if one may add entries, or leads a reader with several threads to others than those that were read.
fn extensions(bytes: &[u8], begin: usize, entries: &[Begin]) -> Option<()> {
    /// The size of the hash at the end.
    const HASH: usize = 20;
    /// The size of the record of where the extensions begin, which is the last of them: name, size, offset, hash.
    const END_OF_ENTRIES: usize = 32;
    const KNOWN: [&[u8]; 6] = [b"TREE", b"REUC", b"UNTR", b"FSMN", b"EOIE", b"IEOT"];
    let end = bytes.len().saturating_sub(HASH);
    // It is looked for at this place alone, even within another extension. With the right offset the extensions are the same for all.
    let last = end.saturating_sub(END_OF_ENTRIES);
    let is_elsewhere = |offset: u32| usize::try_from(offset) != Ok(begin);
    if bytes.get(last..last + 4) == Some(b"EOIE") && number(bytes, last + 8).is_none_or(is_elsewhere) {
        return None;
    }
    let mut at = begin;
    while at + 8 <= end {
        let name = &bytes[at..at + 4];
        let next = (at + 8).checked_add(usize::try_from(number(bytes, at + 4)?).ok()?)?;
        let fits = next <= end && (name != b"IEOT" || is_of_entries(&bytes[at + 8..next], entries));
        if !KNOWN.contains(&name) || !fits {
            return None;
        }
        at = next;
    }
    Some(())
}

/// Returns true if a table of blocks of entries, each with its offset and number of entries, is of all entries in their order.
fn is_of_entries(table: &[u8], entries: &[Begin]) -> bool {
    let mut seen = 0_usize;
    let blocks = table.get(4..).unwrap_or_default().chunks_exact(8);
    let is_complete = blocks.remainder().is_empty() && number(table, 0) == Some(1);
    let are_right = blocks.into_iter().all(|block| {
        let begins = entries.get(seen).is_some_and(|entry| {
            entry.is_whole && number(block, 0).is_some_and(|offset| usize::try_from(offset) == Ok(entry.at))
        });
        let count = number(block, 4).and_then(|count| usize::try_from(count).ok());
        seen = seen.saturating_add(count.unwrap_or(usize::MAX));
        begins
    });
    is_complete && are_right && seen == entries.len()
}
