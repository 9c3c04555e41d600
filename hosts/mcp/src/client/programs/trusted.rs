//! The comparison of a server's programs with those that the user trusted together with the project's configuration.

use super::{is_local, plain, programs, real};
use crate::client::spawn::directory;
use crate::settings::{McpCommand, McpServerSettings};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use toolkit::config::{ConfigSource, Configuration};
use toolkit::text::escape_line;

/// Directories that tools create in a directory of code; their content is not compared.
const GENERATED: &[&str] = &[".git", ".venv", "__pycache__", "node_modules", "target", "venv"];
/// Maximum number of entries and bytes of a directory of code.
const MAX_ENTRIES: usize = 20_000;
const MAX_BYTES: u64 = 256 << 20;
/// Maximum number of bytes of all files, and of one file, whose content is kept to be shown.
const MAX_KEPT: usize = 16 << 20;
const MAX_KEPT_OF_FILE: usize = 4 << 20;

/// The programs that the user trusted, for a server that the `toolkit.json5` of a project names.
#[derive(Debug, Clone)]
pub(in crate::client) struct Trusted {
    /// The trusted files of the project that name the server.
    files: Vec<PathBuf>,
    /// The digests of the programs, by path.
    programs: BTreeMap<PathBuf, String>,
}

/// Returns the trusted programs of a server; `None` if no file of a project says anything about it.
pub(in crate::client) fn trusted_by(configuration: &Configuration, server: &str) -> Option<Trusted> {
    let mut trusted = Trusted { files: Vec::new(), programs: BTreeMap::new() };
    for file in
        configuration.workspace_files().iter().filter(|file| is_from(configuration, server, &file.file.path))
    {
        trusted.files.push(file.file.path.clone());
        trusted.programs.extend(file.trusted_programs.clone());
    }
    (!trusted.files.is_empty()).then_some(trusted)
}

/// Returns true if a value of a server's settings is from a file.
fn is_from(configuration: &Configuration, server: &str, file: &Path) -> bool {
    let pointer = format!("/mcp/{}", server.replace('~', "~0").replace('/', "~1"));
    let is_within =
        |at: &str| at.strip_prefix(&*pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let mut origins = configuration.origins().iter().filter(|(at, _)| is_within(at));
    origins.any(|(_, origin)| matches!(&origin.source, ConfigSource::File(source) if **source == *file))
}

/// A program of a server that the `toolkit.json5` of a project names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProjectProgram {
    /// The name of the server.
    pub server: String,
    /// The file, or the directory of code.
    pub path: PathBuf,
    /// The SHA-256 of the content, in hexadecimal digits; or the reason why it cannot be computed.
    pub sha256: Result<String, String>,
    /// Each file that the digest is of, with its content, or with its number of bytes if it has more than 4 MiB, or comes after 16 MiB of
    /// other files. The digest is of exactly this content.
    pub files: Vec<(PathBuf, Result<Vec<u8>, u64>)>,
}

/// Returns the existing programs and scripts within the project, of the servers that its file `file` names: they are trusted together with
/// the file. `workspace` is the directory that the servers work in. Blocks to read them.
pub fn project_programs(configuration: &Configuration, file: &Path, workspace: &Path) -> Vec<ProjectProgram> {
    let mut found = Vec::new();
    for (server, settings) in McpServerSettings::of(configuration) {
        let McpServerSettings::Command(command) = &settings else { continue };
        if !is_from(configuration, &server, file) {
            continue;
        }
        let own = own_programs(command, workspace, &[file.to_owned()], Some(MAX_KEPT)).into_iter();
        found.extend(own.filter_map(|(path, sha256)| {
            let (sha256, files) = match sha256 {
                Ok(digest) => digest.map(|(sha256, files)| (Ok(sha256), files))?,
                Err(reason) => (Err(reason), Vec::new()),
            };
            Some(ProjectProgram { server: server.clone(), path, sha256, files })
        }));
    }
    found
}

/// The digest of a program, and the files that it is of.
type Digest = (String, Vec<(PathBuf, Result<Vec<u8>, u64>)>);

/// Returns the programs of a server that are within the project, with their digests: `None` for those that do not exist. Keeps up to `kept`
/// bytes of the content.
fn own_programs(
    command: &McpCommand,
    workspace: &Path,
    files: &[PathBuf],
    kept: Option<usize>,
) -> Vec<(PathBuf, Result<Option<Digest>, String>)> {
    let workspace = &real(workspace);
    let directory = plain(&directory(command.cwd.as_deref(), workspace));
    let is_own = |path: &Path| {
        let mut projects = files.iter().filter_map(|file| file.parent());
        projects.any(|project| path.starts_with(project) || real(path).starts_with(project))
            || is_local(path, &directory, workspace)
    };
    let own = programs(command, workspace).into_iter().filter(|path| is_own(path));
    own.map(|path| {
        let digest = digest(&path, kept);
        (path, digest)
    })
    .collect()
}

impl Trusted {
    /// Fails if a program of the server is not as the user trusted it. Blocks to read them.
    pub(in crate::client) fn check(&self, command: &McpCommand, workspace: &Path) -> Result<(), String> {
        for (path, digest) in own_programs(command, workspace, &self.files, None) {
            let shown = escape_line(&path.display().to_string()).into_owned();
            let Some((sha256, _)) =
                digest.map_err(|reason| format!("its program {shown} cannot be checked: {reason}"))?
            else {
                continue;
            };
            let what = match self.programs.get(&path) {
                Some(trusted) if *trusted == sha256 => continue,
                Some(_) => "has changed since `toolkit trust`",
                None => "was not there, or did not belong to the server, at `toolkit trust`",
            };
            return Err(format!(
                "its program {shown} {what}, so the server is not started; read the file, then run `toolkit trust`"
            ));
        }
        Ok(())
    }
}

/// Returns the digest of a file, or of a directory of code; `None` if there is none.
fn digest(path: &Path, kept: Option<usize>) -> Result<Option<Digest>, String> {
    let Ok(metadata) = path.metadata() else { return Ok(None) };
    let mut content =
        Content { hash: Sha256::new(), entries: MAX_ENTRIES, bytes: MAX_BYTES, files: Vec::new(), kept };
    if metadata.is_dir() {
        content.add_directory(path)?;
    } else {
        content.add_file(path)?;
    }
    Ok(Some((data_encoding::HEXLOWER.encode(&content.hash.finalize()), content.files)))
}

/// The content that was read so far, and how much more may be read.
struct Content {
    hash: Sha256,
    entries: usize,
    bytes: u64,
    files: Vec<(PathBuf, Result<Vec<u8>, u64>)>,
    /// The number of bytes that may still be kept; `None` if no files are.
    kept: Option<usize>,
}

impl Content {
    /// Adds a text so that no two texts are the same as one.
    fn add(&mut self, text: &[u8]) {
        self.hash.update((text.len() as u64).to_le_bytes());
        self.hash.update(text);
    }

    fn add_file(&mut self, path: &Path) -> Result<(), String> {
        // Opening a pipe would wait for a writer.
        if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err("it is not a regular file".to_owned());
        }
        let file = File::open(path).map_err(|error| error.to_string())?;
        let mut file = file.take(self.bytes + 1);
        let (mut hash, mut part) = (Sha256::new(), [0; 16 << 10]);
        let (mut content, mut size) = (Vec::new(), 0_u64);
        let most = self.kept.map_or(0, |kept| kept.min(MAX_KEPT_OF_FILE));
        loop {
            let read = file.read(&mut part).map_err(|error| error.to_string())?;
            if read == 0 {
                break;
            }
            hash.update(&part[..read]);
            size += read as u64;
            if size <= most as u64 {
                content.extend_from_slice(&part[..read]);
            }
            let left = self.bytes.checked_sub(read as u64);
            self.bytes = left.ok_or_else(|| format!("it has more than {} MiB", MAX_BYTES >> 20))?;
        }
        self.add(&hash.finalize());
        if let Some(kept) = &mut self.kept {
            let is_whole = size <= most as u64;
            *kept -= if is_whole { content.len() } else { 0 };
            self.files.push((path.to_owned(), if is_whole { Ok(content) } else { Err(size) }));
        }
        Ok(())
    }

    fn add_directory(&mut self, directory: &Path) -> Result<(), String> {
        let cannot = |error: io::Error| error.to_string();
        let mut waiting = vec![directory.to_owned()];
        while let Some(here) = waiting.pop() {
            let mut names = fs::read_dir(&here)
                .and_then(|entries| {
                    entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()
                })
                .map_err(cannot)?;
            names.sort_unstable();
            for name in names.iter().filter(|name| GENERATED.iter().all(|generated| **name != *generated)) {
                self.entries = self
                    .entries
                    .checked_sub(1)
                    .ok_or_else(|| format!("it has more than {MAX_ENTRIES} entries"))?;
                let path = here.join(name);
                self.add(path.strip_prefix(directory).unwrap_or(&path).as_os_str().as_encoded_bytes());
                let kind = path.symlink_metadata().map_err(cannot)?.file_type();
                if kind.is_dir() {
                    self.add(b"directory");
                    waiting.push(path);
                } else if kind.is_symlink() {
                    self.add(fs::read_link(&path).map_err(cannot)?.as_os_str().as_encoded_bytes());
                    if path.is_file() {
                        self.add_file(&path)?;
                    }
                } else if kind.is_file() {
                    self.add_file(&path)?;
                } else {
                    self.add(b"special");
                }
            }
        }
        Ok(())
    }
}
