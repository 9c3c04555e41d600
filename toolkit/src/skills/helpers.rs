//! The files of a skill beside its `SKILL.md`: scripts that it lets a model run, templates, references.

use hmac_sha256::Hash;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The maximum number of files and directories of one skill.
const MAX_ENTRIES: usize = 2_000;

/// The maximum size of one file: that of all skills.
const MAX_BYTES: u64 = 32 << 20;

/// The files beside a `SKILL.md`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Helpers {
    /// The number of files.
    pub(super) count: usize,
    /// The SHA-256 of their paths and contents; `None` if there are none.
    pub(super) sha256: Option<[u8; 32]>,
    /// The paths of the files, relative to the directory, and the SHA-256 of the content; of a symlink, the target.
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Helpers {
    /// Reads the files of a skill's directory and below, without `file`. `left` is the number of bytes that may still be read. Fails for
    /// files that cannot be compared later: symlinks that lead out of the directory, unreadable and too many ones.
    pub(super) fn read(directory: &Path, file: &Path, left: &mut u64) -> Result<Self, String> {
        let mut hash = Hash::new();
        let mut helpers = Self::default();
        let (mut waiting, mut entries) = (vec![directory.to_owned()], 0);
        while let Some(here) = waiting.pop() {
            for path in sorted(&here).map_err(|error| of(directory, &here, &error.to_string()))? {
                if path == file {
                    continue;
                }
                entries += 1;
                if entries > MAX_ENTRIES {
                    return Err(format!("its directory has more than {MAX_ENTRIES} entries"));
                }
                add(&mut hash, path.strip_prefix(directory).unwrap_or(&path).as_os_str().as_encoded_bytes());
                let kind =
                    path.symlink_metadata().map_err(|error| of(directory, &path, &error.to_string()))?;
                if kind.is_dir() {
                    waiting.push(path);
                    continue;
                }
                helpers.count += 1;
                let content = if kind.is_symlink() { link(directory, &path) } else { content(&path, left) };
                let content = content.map_err(|reason| of(directory, &path, &reason))?;
                add(&mut hash, &content);
                helpers.files.push((path.strip_prefix(directory).unwrap_or(&path).to_owned(), content));
            }
        }
        helpers.sha256 = (entries > 0).then(|| hash.finalize());
        Ok(helpers)
    }

    /// Returns the paths of the files, relative to the directory, and the contents; fails for a file that has changed since it was read. Of a
    /// symlink, the content is its target.
    pub(super) fn contents(&self, directory: &Path) -> Vec<(PathBuf, Result<Vec<u8>, String>)> {
        let content = |(path, known): &(PathBuf, Vec<u8>)| (path.clone(), same(&directory.join(path), known));
        self.files.iter().map(content).collect()
    }
}

/// Reads a file or the target of a symlink, if it is as it was.
fn same(path: &Path, known: &[u8]) -> Result<Vec<u8>, String> {
    let changed = || "it has changed meanwhile".to_owned();
    let kind = path.symlink_metadata().map_err(|error| error.to_string())?;
    if kind.is_symlink() {
        let target = fs::read_link(path).map_err(|error| error.to_string())?;
        let target = target.as_os_str().as_encoded_bytes().to_vec();
        return if target == known { Ok(target) } else { Err(changed()) };
    }
    // Opening a pipe would wait for a writer.
    if !kind.is_file() {
        return Err(changed());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if Hash::hash(&bytes) == known { Ok(bytes) } else { Err(changed()) }
}

/// Adds a text so that no two texts are the same as one.
fn add(hash: &mut Hash, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn of(directory: &Path, path: &Path, reason: &str) -> String {
    format!("its file {}: {reason}", path.strip_prefix(directory).unwrap_or(path).display())
}

fn sorted(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)?.take(MAX_ENTRIES + 1) {
        paths.push(entry?.path());
    }
    paths.sort_unstable();
    Ok(paths)
}

/// Returns the target of a symlink within the directory, whose content is compared there.
fn link(directory: &Path, path: &Path) -> Result<Vec<u8>, String> {
    let target = fs::read_link(path).map_err(|error| error.to_string())?;
    match path.canonicalize() {
        Ok(real) if real.starts_with(directory) => Ok(target.as_os_str().as_encoded_bytes().to_vec()),
        Ok(_) => Err("it is a symlink that leads out of the skill's directory".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn content(path: &Path, left: &mut u64) -> Result<Vec<u8>, String> {
    // Opening a pipe would wait for a writer.
    if !path.symlink_metadata().is_ok_and(|file| file.is_file()) {
        return Err("it is not a regular file".to_owned());
    }
    let mut file = File::open(path).map_err(|error| error.to_string())?.take(left.saturating_add(1));
    let (mut hash, mut part) = (Hash::new(), [0; 16 << 10]);
    loop {
        let read = file.read(&mut part).map_err(|error| error.to_string())?;
        if read == 0 {
            return Ok(hash.finalize().to_vec());
        }
        hash.update(&part[..read]);
        *left = left
            .checked_sub(read as u64)
            .ok_or("with those before it, it exceeds the size that is compared of all skills, 32 MiB")?;
    }
}
