//! Reads the `SKILL.md` files of a directory of skills, and computes a hash of all files of the skills.

use super::helpers::Helpers;
use hmac_sha256::Hash;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use toolkit_core::escape::escape_line;

/// The file that makes a directory a skill.
const FILE: &str = "SKILL.md";
/// The maximum size of such a file, in bytes, and below it the maximum size of all files of a directory.
const MAX_BYTES: u64 = 256 * 1024;
const MAX_BYTES_OF_ALL: u64 = 32 * 1024 * 1024;
/// The maximum number of entries of a directory of skills that are read.
const MAX_ENTRIES: usize = 1_000;

/// The skills found in a directory: each is a subdirectory with a `SKILL.md`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillFiles {
    /// The files, sorted by the name of their directory.
    pub files: Vec<SkillFile>,
    /// The problem with the directory itself, if there is one.
    pub fault: Option<String>,
}

/// A `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillFile {
    /// Its path, below the real path of the directory of skills.
    pub path: PathBuf,
    /// The real path of its directory, and its content; or the reason why it is ignored.
    pub content: Result<(PathBuf, String), String>,
    /// The files beside it; not read for a directory that the user maintains.
    helpers: Helpers,
}

/// The symbolic links that are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Within,
    Anywhere,
}

impl SkillFiles {
    /// Reads the skills of a directory, which may have none. A link that leads out of the directory is not followed,
    /// and oversized content is not read: files of more than 256 KiB, and everything beyond 32 MiB or 1,000 entries. The
    /// other files of a skill are read for the [hash](Self::sha256) alone; a skill is ignored if one of them cannot be read, or is a
    /// symlink that leads out of the skill's directory. Blocks.
    pub fn read(directory: &Path) -> Self {
        Self::read_with(directory, Links::Within)
    }

    /// Reads the skills of a directory that the user maintains, whose links may lead anywhere. Blocks.
    pub fn read_linked(directory: &Path) -> Self {
        Self::read_with(directory, Links::Anywhere)
    }

    fn read_with(directory: &Path, links: Links) -> Self {
        let mut found = Self::default();
        let Ok(real) = directory.canonicalize() else { return found };
        if !real.is_dir() {
            return found;
        }
        let around = directory.parent().and_then(|around| around.canonicalize().ok());
        if links == Links::Within && around.is_none_or(|around| !real.starts_with(around)) {
            let directory = escape_line(&directory.to_string_lossy()).into_owned();
            found.fault =
                Some(format!("{directory}: it is a symlink that leads elsewhere, so its skills are ignored"));
            return found;
        }
        let (names, is_whole) = names(&real);
        if !is_whole {
            let directory = escape_line(&directory.to_string_lossy()).into_owned();
            found.fault =
                Some(format!("{directory}: only the first {MAX_ENTRIES} entries are searched for skills"));
        }
        let mut left = MAX_BYTES_OF_ALL;
        for name in names {
            let path = real.join(name).join(FILE);
            if path.symlink_metadata().is_ok() {
                let mut content = read_whole(&real, &path, links, &mut left);
                let mut helpers = Helpers::default();
                if links == Links::Within
                    && let Ok((base, _)) = &content
                {
                    match Helpers::read(base, &base.join(FILE), &mut left) {
                        Ok(beside) => helpers = beside,
                        Err(reason) => content = Err(reason),
                    }
                }
                found.files.push(SkillFile { path, content, helpers });
            }
        }
        found
    }

    /// Returns the SHA-256 of the names and contents of all skills, in hexadecimal, with all files in their directories, such as the scripts
    /// that a skill lets a model run; `None` if there are no skills.
    pub fn sha256(&self) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let mut hash = Hash::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        for file in &self.files {
            let name = file.path.parent().and_then(Path::file_name).unwrap_or_default();
            add(name.as_encoded_bytes());
            match &file.content {
                Ok((_, text)) => {
                    add(text.as_bytes());
                    add(file.helpers.sha256.as_ref().map_or(&[], |sha256| sha256.as_slice()));
                }
                // A file that is ignored now changes the hash once it is valid.
                Err(_) => add(b"\xFF"),
            }
        }
        Some(data_encoding::HEXLOWER.encode(&hash.finalize()))
    }
}

impl SkillFile {
    /// Reads the other files in the skill's directory, of a workspace: the paths relative to it, and the contents, or the reason why a file
    /// cannot be read. A file that is not as it was when the skill was read, and as the [hash](SkillFiles::sha256) has it, has no content
    /// here. Of a symlink, the content is its target. Blocks.
    pub fn helper_contents(&self) -> Vec<(PathBuf, Result<Vec<u8>, String>)> {
        self.content.as_ref().map_or_else(|_| Vec::new(), |(base, _)| self.helpers.contents(base))
    }

    /// Returns the number of other files in the skill's directory, of a workspace.
    pub fn helper_count(&self) -> usize {
        self.helpers.count
    }
}

/// Returns the names in a directory, sorted, and true if they are complete.
fn names(directory: &Path) -> (Vec<OsString>, bool) {
    let Ok(entries) = fs::read_dir(directory) else { return (Vec::new(), true) };
    let mut names: Vec<_> = entries.flatten().take(MAX_ENTRIES + 1).map(|entry| entry.file_name()).collect();
    let is_whole = names.len() <= MAX_ENTRIES;
    names.sort_unstable();
    names.truncate(MAX_ENTRIES);
    (names, is_whole)
}

fn read_whole(root: &Path, file: &Path, links: Links, left: &mut u64) -> Result<(PathBuf, String), String> {
    let cannot = |error: std::io::Error| format!("it cannot be read: {error}");
    let real = file.canonicalize().map_err(cannot)?;
    if links == Links::Within && !real.starts_with(root) {
        return Err("it is a symlink that leads out of the skills directory".to_owned());
    }
    // Checked first, because opening a pipe would wait for a writer.
    let before = real.symlink_metadata().map_err(cannot)?;
    if !before.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let opened = File::open(&real).map_err(cannot)?;
    if !is_same(&before, &opened.metadata().map_err(cannot)?) {
        return Err("something else keeps changing it".to_owned());
    }
    let mut bytes = Vec::new();
    opened.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it has more than {} KiB", MAX_BYTES / 1024));
    }
    *left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
        format!("with those before it, it has more than {} MiB", MAX_BYTES_OF_ALL / 1024 / 1024)
    })?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    // The files that belong to a linked file are beside the link.
    let base = file.parent().unwrap_or(root).canonicalize().map_err(cannot)?;
    if links == Links::Within && !base.starts_with(root) {
        return Err("its directory is a symlink that leads out of the skills directory".to_owned());
    }
    Ok((base, text))
}

#[cfg(unix)]
fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, other: &fs::Metadata) -> bool {
    other.is_file()
}
