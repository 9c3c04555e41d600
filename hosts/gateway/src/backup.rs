//! Backups: a consistent copy of what a gateway keeps, and a copy that is put in the place of what is there.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::people::OWNER_TOKEN_FILE;
use crate::store::{RESTORING, Store, StoreError, StoreOptions};

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
        /// The faults.
        wrong: Vec<String>,
    },
}

/// Makes a directory with a copy of the store as it is now, and of the transcripts, while both are in use. It is there whole or not at all.
/// Tokens are not copied: only their digests are kept.
///
/// # Errors
///
/// The directory exists, or cannot be written.
pub async fn back_up(store: &Store, transcripts: &Path, to: &Path) -> Result<(), BackupError> {
    if to.symlink_metadata().is_ok() {
        return Err(failed("make", to)(io::ErrorKind::AlreadyExists.into()));
    }
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let (store, transcripts, to) = (store.clone(), transcripts.to_owned(), to.to_owned());
    // It is made to its end, also if whoever asked is gone.
    let making = tokio::spawn(async move {
        let made = make_part(&store, &transcripts, &part).await;
        let put = made.and_then(|()| fs::rename(&part, &to).map_err(failed("make", &to)));
        if put.is_err() {
            let _ = fs::remove_dir_all(&part);
        }
        put
    });
    making.await.unwrap_or_else(|error| Err(failed("make", Path::new(""))(io::Error::other(error))))
}

async fn make_part(store: &Store, transcripts: &Path, part: &Path) -> Result<(), BackupError> {
    make_new(part).map_err(failed("make", part))?;
    store.backup(&part.join(STORE)).await?;
    // After the store: what a row names is in a transcript before the row is written.
    let (from, into) = (transcripts.to_owned(), part.join(TRANSCRIPTS));
    off_runtime(move || copy_tree(&from, &into, 0)).await.map_err(failed("copy into", part))
}

/// Puts a backup in the place of the store and the transcripts in a data directory, which no gateway uses. What is there is moved into a directory
/// in it, whose path is returned. Everything that the backup had not sent becomes `unknown`, and runs that were under way end as failed: both
/// may have happened since. Questions, all tokens and all nodes are gone: they may have been answered or revoked since. The next start makes a token for the owner.
///
/// If the process ends meanwhile, no gateway starts with the data directory before this was done again.
///
/// # Errors
///
/// There is no backup, or it is damaged; a gateway uses the data directory; or a file cannot be written. What was there is left or moved, and never
/// removed.
pub async fn restore(from: &Path, data_dir: &Path) -> Result<PathBuf, BackupError> {
    if !from.join(STORE).is_file() {
        return Err(BackupError::NoBackup { path: from.to_owned() });
    }
    let of_lock = data_dir.to_owned();
    let lock = off_runtime(move || Ok(Store::lock(&of_lock))).await.map_err(failed("lock", data_dir))??;
    let part = data_dir.join(RESTORING);
    let (of_copy, into) = (from.to_owned(), part.clone());
    let prepared = off_runtime(move || Ok(copy_to_part(&of_copy, &into))).await;
    let prepared = prepared.map_err(failed("copy into", &part)).flatten();
    let settled = match prepared {
        Ok(()) => settle(from, &part).await,
        Err(error) => Err(error),
    };
    if let Err(error) = settled {
        // Nothing was moved: what is there is used as before.
        let _ = fs::remove_dir_all(&part);
        return Err(error);
    }
    let of_move = data_dir.to_owned();
    let moved = off_runtime(move || Ok(put_in_place(&of_move))).await;
    let moved = moved.map_err(failed("put a backup into", data_dir)).flatten();
    drop(lock);
    moved
}

/// Checks the store of a backup that is about to be put in place, and settles what may have happened since it was made.
async fn settle(from: &Path, part: &Path) -> Result<(), BackupError> {
    let store = Store::open(part, StoreOptions::new()).await?;
    let wrong = store.check().await?;
    let settled = if wrong.is_empty() { store.settle_restored().await.map(drop) } else { Ok(()) };
    store.close().await;
    settled?;
    if wrong.is_empty() { Ok(()) } else { Err(BackupError::Damaged { path: from.to_owned(), wrong }) }
}

fn copy_to_part(from: &Path, part: &Path) -> Result<(), BackupError> {
    match fs::remove_dir_all(part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed("remove", part)(error)),
        _ => {}
    }
    make_new(part).map_err(failed("make", part))?;
    copy_file(&from.join(STORE), &part.join(STORE)).map_err(failed("copy into", part))?;
    copy_tree(&from.join(TRANSCRIPTS), &part.join(TRANSCRIPTS), 0).map_err(failed("copy into", part))
}

/// Moves what is there away, and what is ready in its place. Until the last step, the directory of what is ready keeps a gateway from starting.
fn put_in_place(data_dir: &Path) -> Result<PathBuf, BackupError> {
    let before = free_name(data_dir);
    make_new(&before).map_err(failed("make", &before))?;
    let part = data_dir.join(RESTORING);
    for name in [STORE, TRANSCRIPTS, OWNER_TOKEN_FILE].into_iter().chain(BESIDE) {
        move_over(&data_dir.join(name), &before.join(name))?;
    }
    for name in [TRANSCRIPTS, STORE] {
        move_over(&part.join(name), &data_dir.join(name))?;
    }
    File::open(data_dir).and_then(|directory| directory.sync_all()).map_err(failed("write", data_dir))?;
    fs::remove_dir_all(&part).map_err(failed("remove", &part))?;
    Ok(before)
}

/// Renames a file or directory, if it is there.
fn move_over(from: &Path, to: &Path) -> Result<(), BackupError> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("move", from)(error)),
        _ => Ok(()),
    }
}

async fn off_runtime<T: Send + 'static>(
    act: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(act).await.unwrap_or_else(|error| Err(io::Error::other(error)))
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
