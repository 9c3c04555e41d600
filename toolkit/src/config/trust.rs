//! The trust store: the workspace files that the user trusts, by path and content.

use crate::approvals::{Lock, check_directory, open_own};
use crate::config::instructions::Instructions;
use crate::output_store::default_data_dir;
use crate::skills::{DIRECTORY, SkillFiles};
use hmac_sha256::Hash;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use toolkit_core::escape::escape_line;

/// The name of the store's file within the data directory.
const FILE: &str = "trust.json";
/// The name of the lock file, which prevents simultaneous changes.
const LOCK: &str = "trust.lock";
/// The name of the file while it is being written.
const UNFINISHED: &str = "trust.json.tmp";
/// The most files that are remembered; beyond that, the oldest are forgotten.
const MAX_FILES: usize = 1_000;
/// The most bytes of the store's file. A file can name hundreds of programs.
const MAX_BYTES: u64 = 16 << 20;

/// The files of workspaces that the user trusts. They are remembered in `trust.json` of the data directory, which only its
/// owner can read; never in a workspace.
#[derive(Debug, Clone)]
pub struct TrustStore {
    file: PathBuf,
}

/// A file that is trusted with its content, and with theirs the skills and the `AGENTS.md` beside it, and the programs that it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TrustedFile {
    /// The real path of the file's directory, joined with the file's name. The file itself is not resolved if it is a symlink:
    /// whoever can create a symlink could choose what is trusted.
    pub path: PathBuf,
    /// The SHA-256 of the content, in hexadecimal digits.
    pub sha256: String,
    /// The SHA-256 of the skills beside the file, as [`SkillFiles::sha256`](crate::skills::SkillFiles::sha256); `None` if there were
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<String>,
    /// The SHA-256 of the `AGENTS.md` beside the file, as [`Instructions::sha256`]; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The SHA-256 of the programs and scripts that servers of the file run, by path, as the host computes them; empty if there were none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<PathBuf, String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    files: Vec<TrustedFile>,
}

impl TrustedFile {
    /// Creates the identity of a file with this content.
    pub fn new(path: impl Into<PathBuf>, content: &[u8]) -> Self {
        let sha256 = data_encoding::HEXLOWER.encode(&Hash::hash(content));
        Self { path: path.into(), sha256, skills: None, instructions: None, programs: BTreeMap::new() }
    }

    /// Adds the skills that were read from the directory `skills` beside the file.
    #[must_use]
    pub fn with_skills(self, skills: &SkillFiles) -> Self {
        Self { skills: skills.sha256(), ..self }
    }

    /// Adds the `AGENTS.md` that was read beside the file.
    #[must_use]
    pub fn with_instructions(self, instructions: Option<&Instructions>) -> Self {
        Self { instructions: instructions.map(Instructions::sha256), ..self }
    }

    /// Adds the digests of the programs and scripts that servers of the file run.
    #[must_use]
    pub fn with_programs(self, programs: BTreeMap<PathBuf, String>) -> Self {
        Self { programs, ..self }
    }

    /// Returns the directory of the skills beside the file.
    pub fn skills_dir(&self) -> PathBuf {
        self.path.with_file_name(DIRECTORY)
    }

    /// Returns true if both are the same file with the same content, regardless of what is beside it.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        self.path == other.path && self.sha256 == other.sha256
    }
}

impl TrustStore {
    /// Opens the store of a data directory, which need not exist yet.
    pub fn new(data_dir: impl AsRef<Path>) -> Self {
        Self { file: data_dir.as_ref().join(FILE) }
    }

    /// Returns the trusted files, the latest last; empty if no file was ever trusted.
    ///
    /// # Errors
    ///
    /// When the store cannot be read, or others may write to it. Then no file is trusted.
    pub fn files(&self) -> Result<Vec<TrustedFile>, String> {
        let fault = |reason: &str| {
            format!("{}: {reason}; remove the file to start again with no trusted file", self.file.display())
        };
        // Any other user who can write here could decide what is trusted.
        if !check_directory(self.directory())? {
            return Ok(Vec::new());
        }
        let Some(file) = open_own(&self.file).map_err(|reason| fault(&reason))? else {
            return Ok(Vec::new());
        };
        let mut text = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut text).map_err(|error| fault(&error.to_string()))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(fault(&format!("it has more than {MAX_BYTES} bytes")));
        }
        match serde_json::from_slice::<Stored>(&text) {
            Ok(stored) if stored.version == 1 => Ok(stored.files),
            _ => Err(fault("it was not written by `toolkit trust`")),
        }
    }

    /// Trusts a file with its content; its earlier content is no longer trusted. Beyond 1,000 files, the oldest is forgotten.
    /// Blocks, for some seconds if another process holds the lock.
    ///
    /// # Errors
    ///
    /// When the store cannot be read or written.
    pub fn trust(&self, file: &TrustedFile) -> Result<(), String> {
        if file.path.to_str().is_none() {
            return Err(format!("{}: a path that is not UTF-8 cannot be trusted", file.path.display()));
        }
        if let Some(reason) = self.is_beside(&file.path) {
            return Err(reason);
        }
        self.make_directory()?;
        let _lock = Lock::at(&self.beside(LOCK))?;
        let mut files = self.files()?;
        files.retain(|other| other.path != file.path);
        files.push(file.clone());
        let oldest = files.len().saturating_sub(MAX_FILES);
        files.drain(..oldest);
        self.write(files)
    }

    /// Revokes the trust in a file; returns false if it was not trusted. Blocks, for some seconds if another process holds the
    /// lock.
    ///
    /// # Errors
    ///
    /// When the store cannot be read or written.
    pub fn revoke(&self, path: &Path) -> Result<bool, String> {
        if self.files()?.iter().all(|file| file.path != path) {
            return Ok(false);
        }
        let _lock = Lock::at(&self.beside(LOCK))?;
        let mut files = self.files()?;
        let count = files.len();
        files.retain(|file| file.path != path);
        // No test: it is false only if another process revokes between the first look and the lock.
        let was_trusted = files.len() < count;
        if was_trusted {
            self.write(files)?;
        }
        Ok(was_trusted)
    }

    /// Writes atomically, through a temporary file. The caller must hold the lock.
    fn write(&self, files: Vec<TrustedFile>) -> Result<(), String> {
        let text = serde_json::to_string_pretty(&Stored { version: 1, files })
            .map_err(|error| self.unwritten(&error.into()))?;
        let new = self.beside(UNFINISHED);
        let written = create(&new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &self.file)
        });
        written.map_err(|error| {
            // The incomplete file is useless.
            let _ = fs::remove_file(&new);
            self.unwritten(&error)
        })
    }

    fn make_directory(&self) -> Result<(), String> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(self.directory()).map_err(|error| self.unwritten(&error))
    }

    fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("."))
    }

    /// Returns the reason why the file cannot be trusted, if whoever supplied it could also have supplied the trust store: the
    /// data directory is below the file's own directory. The platform's directory for a user's data may be below their home
    /// directory.
    pub(crate) fn is_beside(&self, file: &Path) -> Option<String> {
        let directory = self.directory();
        if default_data_dir().is_some_and(|default| default == directory) {
            return None;
        }
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let own = file.parent()?;
        real(directory).starts_with(real(own)).then(|| {
            format!(
                "{} cannot be trusted: the data directory {} is inside its directory, so one author may have \
                 written both; set TOOLKIT_DATA_DIR to a directory elsewhere",
                escape_line(&file.display().to_string()),
                escape_line(&directory.display().to_string())
            )
        })
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.file.with_file_name(name)
    }

    fn unwritten(&self, error: &std::io::Error) -> String {
        format!("{} cannot be written: {error}", self.file.display())
    }
}

fn create(path: &Path) -> std::io::Result<File> {
    // Left behind by a process that crashed while writing.
    let _ = fs::remove_file(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
