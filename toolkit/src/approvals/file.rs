//! The file of approvals. It is read only if no other user can have written it, and is always replaced as a whole.

use super::Grounds;
use data_encoding::BASE32_DNSSEC;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The version of the file format that is written and read.
pub(super) const VERSION: u32 = 1;
/// The most bytes of a file.
const MAX_BYTES: u64 = 1 << 20;
/// The most approvals in a file.
pub(super) const MAX_APPROVALS: usize = 1_000;
/// How long to wait for a lock that another process holds.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause between two attempts to take the lock.
const PAUSE: Duration = Duration::from_millis(5);
/// The extension of a file that is being written.
pub(super) const UNFINISHED: &str = ".tmp";

/// The approvals of one workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Approved {
    version: u32,
    /// The real path of the workspace. The file is valid for this workspace only, even if it was moved or two workspaces
    /// share the file's name.
    pub(super) workspace: String,
    pub(super) approvals: Vec<Stored>,
}

/// One approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Stored {
    pub(super) id: String,
    pub(super) pattern: String,
    pub(super) of: Grounds,
    /// In milliseconds since 1970.
    pub(super) approved_at: u64,
}

impl Approved {
    pub(super) fn new(workspace: &str) -> Self {
        Self { version: VERSION, workspace: workspace.to_owned(), approvals: Vec::new() }
    }

    /// Reads a file; returns `None` if there is none.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, String> {
        let Some(approved) = read_json::<Self>(path)? else { return Ok(None) };
        check_version(path, approved.version)?;
        Ok(Some(approved))
    }

    /// Replaces a file with these approvals, or removes it if no approval is left. The caller must hold the [`Lock`].
    pub(super) fn write(&self, path: &Path) -> Result<(), String> {
        if self.approvals.is_empty() {
            return remove(path);
        }
        if self.approvals.len() > MAX_APPROVALS {
            return Err(too_large(path));
        }
        write_json(path, self)
    }
}

/// Reads a file that no other user can have written; returns `None` if there is none.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    let unread = |what: String| format!("{} is not read: {what}", path.display());
    let Some(file) = open_own(path).map_err(unread)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unread(error.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unread(format!("it has more than {MAX_BYTES} bytes")));
    }
    serde_json::from_slice(&bytes).map(Some).map_err(|error| unread(format!("it is damaged ({error})")))
}

/// Refuses a file of another version.
pub(super) fn check_version(path: &Path, version: u32) -> Result<(), String> {
    if version == VERSION {
        return Ok(());
    }
    Err(format!(
        "{} is not read: it has version {version}, and this program supports {VERSION}",
        path.display()
    ))
}

/// Replaces a file with a value. The caller must hold the [`Lock`].
pub(super) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), String> {
    let cannot = |error: &dyn std::fmt::Display| format!("{} cannot be written: {error}", path.display());
    let text = serde_json::to_vec_pretty(value).map_err(|error| cannot(&error))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(too_large(path));
    }
    // In the same directory, so that the rename is atomic; after a crash the old file is still complete.
    let unfinished = path.with_extension(format!("{}{UNFINISHED}", random_name()?));
    let written = write_new(&unfinished, &text).and_then(|()| fs::rename(&unfinished, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&unfinished);
        cannot(&error)
    })
}

fn too_large(path: &Path) -> String {
    format!(
        "{} would hold more than {MAX_APPROVALS} approvals or {MAX_BYTES} bytes; revoke some",
        path.display()
    )
}

/// Removes a file if it exists.
pub(super) fn remove(path: &Path) -> Result<(), String> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(format!("{} cannot be removed: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    own(&mut options);
    let mut file = options.open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

/// Returns eight random letters and digits. They need not be unguessable, only unlikely to repeat.
pub(super) fn random_name() -> Result<String, String> {
    let mut random = [0; 5];
    getrandom::fill(&mut random).map_err(|error| format!("cannot get random bytes: {error}"))?;
    Ok(BASE32_DNSSEC.encode(&random))
}

/// Opens an existing file that no other user can have written; returns `None` if there is none.
pub(crate) fn open_own(path: &Path) -> Result<Option<File>, String> {
    let mut options = OpenOptions::new();
    options.read(true);
    own(&mut options);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    check_owner(&metadata)?;
    Ok(Some(file))
}

/// Returns true if the directory exists; fails if another user can write to it.
pub(crate) fn check_directory(path: &Path) -> Result<bool, String> {
    let refused = |what: &str| Err(format!("{} is not read: {what}", path.display()));
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => refused(&error.to_string()),
        Ok(metadata) if !metadata.is_dir() => refused("it is not a directory"),
        Ok(metadata) => match check_owner(&metadata) {
            Ok(()) => Ok(true),
            Err(problem) => refused(&problem),
        },
    }
}

#[cfg(unix)]
fn check_owner(metadata: &Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;
    if metadata.mode() & 0o022 != 0 {
        return Err(format!("others can write to it (mode {:o})", metadata.mode() & 0o777));
    }
    match own_id() {
        Some(own) if metadata.uid() == own => Ok(()),
        Some(own) => Err(format!("it belongs to the user {} instead of {own}", metadata.uid())),
        None => Err("its owner is unknown, since /proc is not available".to_owned()),
    }
}

#[cfg(not(unix))]
fn check_owner(_metadata: &Metadata) -> Result<(), String> {
    Ok(())
}

/// Returns the id of the user that this process runs as. The direct system call is `unsafe` in Rust.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn own_id() -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    // As root, no test can tell this from the constant 0; as any other user, the tests can.
    fs::metadata("/proc/self").ok().map(|process| process.uid())
}

/// Returns the owner of the user's home directory, on other systems.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn own_id() -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    // No test on Linux, where this is not compiled.
    fs::metadata(std::env::home_dir()?).ok().map(|home| home.uid())
}

/// Restricts opening to the owner's own file: no symlink is followed, and opening a pipe does not wait for its other
/// end.
fn own(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // The flags have no bit in common, so `|` and `^` are the same: no test can tell them apart.
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// A lock that keeps other processes and threads from changing the locked file or directory.
pub(crate) struct Lock(#[expect(dead_code, reason = "it is released when it is closed")] File);

impl Lock {
    /// Takes the lock of a directory; waits a few seconds at most.
    pub(super) fn take(directory: &Path) -> Result<Self, String> {
        Self::take_within(directory, PATIENCE)
    }

    fn take_within(directory: &Path, patience: Duration) -> Result<Self, String> {
        Self::at_within(&directory.join("lock"), patience)
    }

    /// Takes the lock of a lock file; waits a few seconds at most. The empty file is never removed: a process that still
    /// has it open would hold a lock on a different file.
    pub(crate) fn at(path: &Path) -> Result<Self, String> {
        Self::at_within(path, PATIENCE)
    }

    fn at_within(path: &Path, patience: Duration) -> Result<Self, String> {
        let cannot = |error: &dyn std::fmt::Display| format!("{} cannot be locked: {error}", path.display());
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        own(&mut options);
        let file = options.open(path).map_err(|error| cannot(&error))?;
        let since = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                // With `<=` it would at most try once more, if the times were equal: no test.
                Err(TryLockError::WouldBlock) if since.elapsed() < patience => sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(cannot(&format!("another process has held it for {patience:?}")));
                }
                Err(TryLockError::Error(error)) => return Err(cannot(&error)),
            }
        }
    }
}

#[cfg(test)]
mod tests;
