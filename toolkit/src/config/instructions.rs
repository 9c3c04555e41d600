//! Instructions for agents that stand in a file: `AGENTS.md`.

use hmac_sha256::Hash;
use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::path::Path;

/// The name of the file.
const FILE: &str = "AGENTS.md";
/// The most bytes of it that count.
const MAX_BYTES: usize = 64 << 10;

/// The `AGENTS.md` of a directory, as an agent reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instructions {
    /// The text without white space at its ends, at most 64 KiB of the file.
    pub text: String,
    /// True if the file is longer.
    pub is_cut: bool,
}

impl Instructions {
    /// Reads the file of a directory. `None` if there is none, if it is empty or cannot be read, and if it is a link: whoever may
    /// create a link could choose what is read. Blocks.
    pub fn read(directory: &Path) -> Option<Self> {
        let path = directory.join(FILE);
        if !path.symlink_metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        open(&path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
        let is_cut = bytes.len() > MAX_BYTES;
        bytes.truncate(MAX_BYTES);
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty()).then_some(Self { text, is_cut })
    }

    /// Returns the SHA-256 of the text that counts, in hexadecimal.
    pub fn sha256(&self) -> String {
        data_encoding::HEXLOWER.encode(&Hash::hash(self.text.as_bytes()))
    }
}

/// Opens a file that was a regular one a moment ago: neither a link nor a pipe that took its place is waited for.
fn open(path: &Path) -> Option<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_long_file_is_cut_and_a_link_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        assert_eq!(Instructions::read(directory.path()), None);
        fs::write(&path, " \n").unwrap();
        assert_eq!(Instructions::read(directory.path()), None);
        fs::write(&path, "Be brief.\n").unwrap();
        let read = Instructions::read(directory.path()).unwrap();
        assert_eq!((&*read.text, read.is_cut), ("Be brief.", false));
        fs::write(&path, "x".repeat(MAX_BYTES + 1)).unwrap();
        let long = Instructions::read(directory.path()).unwrap();
        assert_eq!((long.text.len(), long.is_cut), (MAX_BYTES, true));
        assert_ne!(long.sha256(), read.sha256());
        #[cfg(unix)]
        {
            fs::rename(&path, directory.path().join("other")).unwrap();
            std::os::unix::fs::symlink("other", &path).unwrap();
            assert_eq!(Instructions::read(directory.path()), None);
        }
    }
}
