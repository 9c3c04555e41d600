//! Backups: a consistent copy of what a gateway keeps, and a copy that is put in the place of what is there.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::store::{Store, StoreError, StoreOptions};

/// The store's file in a data directory, and in a backup.
const STORE: &str = "gateway.db";
/// The transcripts of agents in a data directory, and in a backup.
const TRANSCRIPTS: &str = "agents";
/// The files beside the store's that belong to it alone while it is open.
const BESIDE: [&str; 2] = ["gateway.db-wal", "gateway.db-shm"];
/// How deep directories of transcripts are copied.
const MAX_DEPTH: usize = 8;

/// Why there is no backup, or none was put back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// A file or directory cannot be used.
    #[error("cannot {action} {}: {reason}", path.display())]
    Io {
        /// The action.
        action: &'static str,
        /// Its path.
        path: PathBuf,
        /// Why.
        reason: io::Error,
    },
    /// The directory holds no backup.
    #[error("{} holds no backup of a gateway: it has no `{STORE}`", path.display())]
    NoBackup {
        /// The directory.
        path: PathBuf,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The copied store is damaged.
    #[error("the backup {} is damaged: {}", path.display(), wrong.join("; "))]
    Damaged {
        /// The directory.
        path: PathBuf,
        /// What is wrong.
        wrong: Vec<String>,
    },
}

/// Makes a directory with a copy of the store as it is now, and of the transcripts, while both are in use. Tokens are not copied: only their
/// digests are kept.
///
/// # Errors
///
/// The directory exists, or cannot be written.
pub async fn back_up(store: &Store, transcripts: &Path, to: &Path) -> Result<(), BackupError> {
    make_new(to).map_err(failed("make", to))?;
    store.backup(&to.join(STORE)).await?;
    // After the store: what a row names is in a transcript before the row is written.
    let (from, into) = (transcripts.to_owned(), to.join(TRANSCRIPTS));
    let copied = tokio::task::spawn_blocking(move || copy_tree(&from, &into, 0)).await;
    copied.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(failed("copy into", to))
}

/// Puts a backup in the place of the store and the transcripts in a data directory, which no gateway uses. What is there is moved into a directory
/// beside it, whose path is returned. Everything that the backup had not sent becomes `unknown`, and runs that were under way end as failed: both
/// may have happened since.
///
/// # Errors
///
/// There is no backup, a gateway uses the data directory, or a file cannot be written. What was there is left or moved, and never removed.
pub async fn restore(from: &Path, data_dir: &Path) -> Result<PathBuf, BackupError> {
    if !from.join(STORE).is_file() {
        return Err(BackupError::NoBackup { path: from.to_owned() });
    }
    let moved = {
        // Nobody has it open, and the log is in the file.
        let present = Store::open(data_dir, StoreOptions::new()).await?;
        present.close().await;
        let (from, data_dir) = (from.to_owned(), data_dir.to_owned());
        let put = tokio::task::spawn_blocking(move || put_in_place(&from, &data_dir)).await;
        put.unwrap_or_else(|error| {
            Err(BackupError::Io { action: "copy", path: PathBuf::new(), reason: io::Error::other(error) })
        })?
    };
    let store = Store::open(data_dir, StoreOptions::new()).await?;
    let wrong = store.check().await?;
    if wrong.is_empty() {
        store.settle_restored().await?;
    }
    store.close().await;
    if wrong.is_empty() { Ok(moved) } else { Err(BackupError::Damaged { path: from.to_owned(), wrong }) }
}

fn put_in_place(from: &Path, data_dir: &Path) -> Result<PathBuf, BackupError> {
    let before = free_name(data_dir);
    make_new(&before).map_err(failed("make", &before))?;
    for name in [STORE, TRANSCRIPTS].into_iter().chain(BESIDE) {
        let present = data_dir.join(name);
        match fs::rename(&present, before.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed("move away", &present)(error));
            }
            _ => {}
        }
    }
    copy_file(&from.join(STORE), &data_dir.join(STORE)).map_err(failed("copy into", data_dir))?;
    copy_tree(&from.join(TRANSCRIPTS), &data_dir.join(TRANSCRIPTS), 0)
        .map_err(failed("copy into", data_dir))?;
    Ok(before)
}

/// The name of a directory in the data directory that is not there.
fn free_name(data_dir: &Path) -> PathBuf {
    let names = (1..).map(|number: u32| data_dir.join(format!("before-restore-{number}")));
    let mut free = names.filter(|path| !path.exists());
    free.next().unwrap_or_else(|| data_dir.join("before-restore"))
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BackupError {
    let path = path.to_owned();
    move |reason| BackupError::Io { action, path, reason }
}

fn make_new(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Copies the files of a directory; nothing if it is not there. Links are not followed.
fn copy_tree(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    let entries = match fs::read_dir(from) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    make_new(to)?;
    for entry in entries {
        let entry = entry?;
        let kind = entry.file_type()?;
        let into = to.join(entry.file_name());
        if kind.is_dir() && depth < MAX_DEPTH {
            copy_tree(&entry.path(), &into, depth + 1)?;
        } else if kind.is_file() {
            match copy_file(&entry.path(), &into) {
                // A clean-up has removed it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                copied => copied?,
            }
        }
    }
    File::open(to)?.sync_all()
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut copy = options.open(to)?;
    io::copy(&mut source, &mut copy)?;
    copy.sync_all()
}
