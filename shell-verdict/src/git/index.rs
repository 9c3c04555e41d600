//! The index of a repository: whether it names other repositories.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

/// So much of indexes is read for a command, in bytes.
const MOST_OF_INDEXES: u64 = 64 << 20;

/// Whether the index has an entry that is another repository.
pub(super) fn has_submodules(git_dir: &Path, read: &Cell<u64>) -> Result<bool, String> {
    let index: PathBuf = git_dir.join("index");
    let unreadable = || format!("{} is not understood", index.display());
    match fs::metadata(&index) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Ok(metadata) if metadata.is_file() => {
            read.set(read.get().saturating_add(metadata.len()));
            if read.get() > MOST_OF_INDEXES {
                return Err(format!("{} is too large, or too much beside others", index.display()));
            }
        }
        _ => return Err(unreadable()),
    }
    let bytes = fs::read(&index).map_err(|_| unreadable())?;
    index_has_submodules(&bytes).ok_or_else(unreadable)
}

/// The same of what is in the index; `None` where that is not understood. The format: git's `gitformat-index(5)`.
fn index_has_submodules(bytes: &[u8]) -> Option<bool> {
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
    for _ in 0..count {
        let flags = u16::from_be_bytes(bytes.get(at + FIXED - 2..at + FIXED)?.try_into().ok()?);
        // Another repository has this mode.
        if number(at + MODE)? >> 12 == 0b1110 {
            return Some(true);
        }
        let mut name = at + FIXED + if flags & EXTENDED == 0 { 0 } else { 2 };
        if version == 4 {
            // How much of the name before is kept.
            while bytes.get(name)? & 0x80 != 0 {
                name += 1;
            }
            name += 1;
        }
        let end = name + bytes.get(name..)?.iter().position(|byte| *byte == 0)?;
        at = if version == 4 { end + 1 } else { at + ((end - at) / 8 + 1) * 8 };
    }
    // Extensions, and a hash at the end. Of a split index the entries are in another file.
    while at + 8 <= bytes.len().saturating_sub(20) {
        if &bytes[at..at + 4] == b"link" {
            return None;
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(number(at + 4)?).ok()?)?;
    }
    Some(false)
}
