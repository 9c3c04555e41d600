//! The files of a store: made for their owner alone, opened by one process.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::damage::Fault;

/// Time for which another process, such as a backup by hand, may hold the file's own lock.
const BUSY: Duration = Duration::from_secs(5);

/// Tries to take the lock, and the time between two.
const MAX_TRIES: u32 = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// The lock of a store that is open; given back when it is dropped.
#[derive(Debug)]
pub(super) struct InUse {
    _lock: File,
}

/// The file with the address of the gateway that has the directory.
pub(crate) const ADDRESS_FILE: &str = "gateway.address";
/// The directory in which a backup is made ready before it is put in place.
pub(crate) const RESTORING: &str = "restore.part";

/// Makes the directory if it is missing, and takes the lock.
pub(super) fn prepare(directory: &Path, file: &Path) -> Result<InUse, Fault> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)?;
    let lock = owned(&file.with_extension("lock"))?;
    let mut tries = 1;
    loop {
        match lock.try_lock() {
            Ok(()) => break,
            // Somebody who only looks if it is taken has it for a moment.
            Err(std::fs::TryLockError::WouldBlock) if tries < MAX_TRIES => {
                tries += 1;
                std::thread::sleep(BETWEEN_TRIES);
            }
            Err(std::fs::TryLockError::WouldBlock) => return Err(Fault::InUse),
            Err(std::fs::TryLockError::Error(error)) => return Err(error.into()),
        }
    }
    // That of a process that was killed: another program may listen there by now, and is sent no token.
    match std::fs::remove_file(directory.join(ADDRESS_FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    Ok(InUse { _lock: lock })
}

/// Makes the file if it is missing.
pub(super) fn make(file: &Path) -> Result<(), Fault> {
    // SQLite gives the files beside it the same mode.
    owned(file)?;
    Ok(())
}

/// Returns true if a process has the lock. Nothing is made.
pub(super) fn is_in_use(file: &Path) -> bool {
    let Ok(lock) = File::open(file.with_extension("lock")) else { return false };
    // Given back at once if it was free.
    matches!(lock.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock))
}

/// Opens a file that only its owner can access.
fn owned(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// Opens the file for writing.
pub(super) fn connect(file: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(Fault::Refused(format!(
            "SQLite cannot use a write-ahead log there (it answers `{mode}`): put the data directory on a local file system"
        )));
    }
    // A confirmed write survives a power failure.
    connection
        .execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;")?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Opens the file for reading.
pub(super) fn connect_reader(file: &Path) -> Result<Connection, Fault> {
    // With write access, as the log has an index in shared memory; the pragma refuses each change.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;")?;
    Ok(connection)
}

/// Writes a consistent copy of a file that is in use into a new one.
pub(super) fn back_up(file: &Path, to: &Path) -> Result<(), Fault> {
    // A connection that refuses changes refuses to copy, too.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    copy(&connection, to)
}

fn copy(connection: &Connection, to: &Path) -> Result<(), Fault> {
    if to.try_exists()? {
        let exists = io::Error::from(io::ErrorKind::AlreadyExists);
        return Err(named(to, &exists).into());
    }
    // Under another name until it is whole.
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let _ = std::fs::remove_file(&part);
    let copied = copy_to(connection, &part).and_then(|()| {
        // Unlike a rename, it keeps a file that was made meanwhile.
        std::fs::hard_link(&part, to).map_err(|error| named(to, &error))?;
        if let Some(directory) = to.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            File::open(directory)?.sync_all()?;
        }
        Ok(())
    });
    let _ = std::fs::remove_file(&part);
    copied
}

fn copy_to(connection: &Connection, to: &Path) -> Result<(), Fault> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    drop(options.open(to).map_err(|error| named(to, &error))?);
    let Some(name) = to.to_str() else {
        return Err(Fault::Refused(format!("the path {} is no UTF-8, which SQLite needs", to.display())));
    };
    connection.execute("VACUUM INTO ?1", [name])?;
    Ok(File::open(to)?.sync_all()?)
}

fn named(file: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", file.display()))
}

/// Makes a copy beside the file, of which the name says the format. One that is there already is kept.
pub(super) fn copy_before_migration(
    connection: &Connection,
    file: &Path,
    format: i64,
) -> Result<PathBuf, Fault> {
    let to = file.with_extension(format!("format-{format}.db"));
    if !to.exists() {
        copy(connection, &to)?;
    }
    Ok(to)
}

/// Checks all of the file.
pub(super) fn check(connection: &Connection) -> Result<Vec<String>, Fault> {
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let mut wrong: Vec<String> = lines.into_iter().filter(|line| line != "ok").collect();
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let broken = statement.query_map([], |row| {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        Ok(format!("a row of `{table}` names one of `{parent}` that is not there"))
    })?;
    wrong.extend(broken.collect::<Result<Vec<_>, _>>()?);
    Ok(wrong)
}
