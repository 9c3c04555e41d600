//! Errors of a store.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// An error of a store. Nothing of the command that returns it was stored.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .file.display())]
pub struct StoreError {
    /// The file.
    pub file: PathBuf,
    /// The problem.
    pub problem: Problem,
}

/// A problem of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Another process has it open.
    #[error("another gateway has it open; stop that one, or use another data directory")]
    InUse,
    /// The disk is full.
    #[error("the disk is full, or its quota is used up; make room. Nothing of the last request was stored")]
    Full,
    /// It cannot be written.
    #[error("it cannot be written: the file or its directory is read-only")]
    ReadOnly,
    /// It is no database, or not a sound one.
    #[error(
        "it is damaged ({0}). Stop the gateway, move it and the files beside it with the same name away, and put a backup in its place; what \
         was stored since that backup is lost"
    )]
    Damaged(String),
    /// It was made by a newer version.
    #[error("its format is {found}, and this version knows {known}: use the newer version that made it")]
    Newer {
        /// The format of the file.
        found: i64,
        /// The newest known format.
        known: i64,
    },
    /// A file or directory cannot be used.
    #[error("{0}")]
    Io(io::Error),
    /// The store was closed.
    #[error("the store is closed: the gateway is ending")]
    Closed,
    /// The request is not possible.
    #[error("{0}")]
    Refused(String),
}

impl Problem {
    /// Returns true if the same request may succeed later: the disk is full, or a file cannot be used now.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Full | Self::ReadOnly | Self::Io(_))
    }
}

/// An error within the store, before the file is named.
#[derive(Debug)]
pub(super) enum Fault {
    Sqlite(rusqlite::Error),
    Json(serde_json::Error),
    Io(io::Error),
    InUse,
    Newer {
        found: i64,
        known: i64,
    },
    Closed,
    Refused(String),
    /// The transaction that it was part of failed, for this reason.
    WithOthers(String, bool),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Fault {
    /// Names the file.
    pub(super) fn at(self, file: &Path) -> StoreError {
        let problem = match self {
            Self::Sqlite(error) => of_sqlite(&error),
            Self::Json(error) => Problem::Damaged(format!("a value in it is no JSON: {error}")),
            Self::Io(error) => of_io(error),
            Self::InUse => Problem::InUse,
            Self::Newer { found, known } => Problem::Newer { found, known },
            Self::Closed => Problem::Closed,
            Self::Refused(reason) => Problem::Refused(reason),
            Self::WithOthers(_, true) => Problem::Full,
            Self::WithOthers(reason, false) => Problem::Io(io::Error::other(reason)),
        };
        StoreError { file: file.to_owned(), problem }
    }

    /// The same fault for another command of one transaction.
    pub(super) fn for_another(&self) -> Self {
        match self {
            Self::Sqlite(error) => {
                Self::WithOthers(error.to_string(), error.sqlite_error_code() == Some(ErrorCode::DiskFull))
            }
            Self::WithOthers(reason, full) => Self::WithOthers(reason.clone(), *full),
            _ => Self::WithOthers("the transaction was rolled back".to_owned(), false),
        }
    }
}

fn of_io(error: io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Problem::Full,
        io::ErrorKind::ReadOnlyFilesystem => Problem::ReadOnly,
        _ => Problem::Io(error),
    }
}

fn of_sqlite(error: &rusqlite::Error) -> Problem {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Problem::Full,
        Some(ErrorCode::ReadOnly) => Problem::ReadOnly,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Problem::InUse,
        // `None`: tables or values other than those that this store makes.
        None
        | Some(
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::TypeMismatch
            | ErrorCode::Unknown,
        ) => Problem::Damaged(error.to_string()),
        Some(_) => Problem::Io(io::Error::other(error.to_string())),
    }
}
