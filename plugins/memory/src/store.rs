//! The notes of each agent, in a database of their own.

use crate::settings::MemorySettings;
use crate::words;
use rusqlite::limits::Limit;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension as _, Row, Transaction, TransactionBehavior, params,
};
use sha2::{Digest as _, Sha256};
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use toolkit::prelude::*;
use toolkit::{Config, ToolErrorKind, config::DataDir, output::Retry};

/// Time to wait in cases in which SQLite itself does not.
const PAUSE: Duration = Duration::from_millis(10);
/// Maximum number of bytes of a value that is read or written: no file makes more of it.
const LONGEST_VALUE: i32 = 1 << 20;
/// Version of the schema, stored in the database.
const VERSION: i32 = 2;
const TABLES: &str = "
    CREATE TABLE notes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        text TEXT NOT NULL,
        tags TEXT NOT NULL,
        stored INTEGER NOT NULL,
        digest BLOB NOT NULL UNIQUE
    );
";
/// The search index `words`, which contains no text, only the positions of words.
const INDEX: &str = "
    DROP TABLE IF EXISTS words;
    CREATE VIRTUAL TABLE words USING fts5(
        text, tags, content='', contentless_delete=1, tokenize='ascii'
    );
    PRAGMA user_version = 2;
";

/// The memories of all agents.
#[derive(Debug)]
pub struct Memory {
    directory: PathBuf,
    most_notes: u32,
    patience: Duration,
}

/// Result of storing a note.
pub(crate) struct Stored {
    pub(crate) id: i64,
    pub(crate) is_new: bool,
    pub(crate) notes: u32,
}

/// A note that was found.
pub(crate) struct Found {
    pub(crate) id: i64,
    pub(crate) text: String,
    pub(crate) tags: Vec<String>,
    /// Time of storing, as `2026-01-31T12:00:00Z`.
    pub(crate) stored: String,
}

#[toolkit::service]
fn memory(settings: &Config<MemorySettings>, data: &State<DataDir>) -> Result<Memory, ToolError> {
    Ok(Memory::new(data.directory("memory")?, settings))
}

impl Memory {
    /// Opens the memories in `directory`, which must exist, with these settings.
    pub fn new(directory: impl Into<PathBuf>, settings: &MemorySettings) -> Self {
        Self {
            directory: directory.into(),
            most_notes: settings.max_notes,
            patience: Duration::from_millis(settings.wait_ms.into()),
        }
    }

    /// Returns the file with an agent's notes. An agent's name is arbitrary, so the file name is a digest of it.
    pub fn file_of(&self, agent: Option<&str>) -> PathBuf {
        self.file_for(agent, None)
    }

    /// Returns the file with an agent's notes for a person whom the host keeps apart from others.
    pub fn file_for(&self, agent: Option<&str>, person: Option<&str>) -> PathBuf {
        let digest = |name: &str| data_encoding::HEXLOWER.encode(&Sha256::digest(name));
        let name = agent.map_or_else(|| "nobody".to_owned(), |agent| format!("agent-{}", digest(agent)));
        let of_person = person.map(|person| format!("-person-{}", digest(person))).unwrap_or_default();
        self.directory.join(format!("{name}{of_person}.sqlite3"))
    }

    /// Stores a note, or finds an identical one. Blocks.
    pub(crate) fn store(
        &self,
        (agent, person): (Option<&str>, Option<&str>),
        text: &str,
        tags: &[String],
        replaces: Option<i64>,
    ) -> Result<Stored, ToolError> {
        let file = self.file_for(agent, person);
        create(&file).map_err(|error| unusable(&file, &error))?;
        let insert = || self.insert(&mut self.open(&file)?, text, tags, replaces);
        insert().map_err(|fault| fault.worded(&file))
    }

    fn insert(
        &self,
        database: &mut Connection,
        text: &str,
        tags: &[String],
        replaces: Option<i64>,
    ) -> Result<Stored, Fault> {
        let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Some(id) = replaces {
            let gone = transaction.execute("DELETE FROM notes WHERE id = ?1", [id])?;
            if gone == 0 {
                return Err(Fault::Tool(ToolError::not_found(format!(
                    "there is no note {id} to replace; nothing was stored. Find its id with memory_search, or leave \
                     `replaces` out"
                ))));
            }
            transaction.execute("DELETE FROM words WHERE rowid = ?1", [id])?;
        }
        let notes = count(&transaction)?;
        let tags_json = serde_json::to_string(tags).expect("strings have JSON");
        let digest = Sha256::digest(serde_json::to_vec(&(text, tags)).expect("strings have JSON"));
        let known = transaction
            .query_row("SELECT id FROM notes WHERE digest = ?1", [digest.as_slice()], |row| row.get(0))
            .optional()?;
        if let Some(id) = known {
            transaction.commit()?;
            return Ok(Stored { id, is_new: false, notes });
        }
        if notes >= self.most_notes {
            return Err(Fault::Tool(ToolError::failed(format!(
                "the memory is full: it holds {notes} notes, and {} are the most (plugins.memory.maxNotes). Nothing was \
                 stored. Replace a note that is no longer needed: find it with memory_search, and give its id as `replaces`",
                self.most_notes
            ))));
        }
        transaction.execute(
            "INSERT INTO notes (text, tags, stored, digest) VALUES (?1, ?2, unixepoch(), ?3)",
            params![text, tags_json, digest.as_slice()],
        )?;
        let id = transaction.last_insert_rowid();
        index(&transaction, id, text, tags)?;
        transaction.commit()?;
        Ok(Stored { id, is_new: true, notes: notes + 1 })
    }

    /// Returns the notes with any of the words of `query`, the best first. Blocks.
    pub(crate) fn search(
        &self,
        (agent, person): (Option<&str>, Option<&str>),
        query: &str,
        limit: u32,
    ) -> Result<Vec<Found>, ToolError> {
        let file = self.file_for(agent, person);
        let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        if file.symlink_metadata().is_err_and(|error| missing(&error)) {
            return Ok(Vec::new());
        }
        let find = || select(&self.open(&file)?, query, limit);
        find().map_err(|fault| fault.worded(&file))
    }

    fn open(&self, file: &Path) -> Result<Connection, Fault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let database = Connection::open_with_flags(file, flags)?;
        database.busy_timeout(self.patience)?;
        database.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
        let began = Instant::now();
        loop {
            match prepare(&database) {
                // Changing the journal mode fails at once while another process does the same.
                Err(Fault::Sqlite(error)) if is_busy(&error) && began.elapsed() < self.patience => {
                    std::thread::sleep(PAUSE);
                }
                outcome => return outcome.map(|()| database),
            }
        }
    }
}

/// Adds a note to the search index.
fn index(transaction: &Transaction<'_>, id: i64, text: &str, tags: &[String]) -> Result<(), Fault> {
    transaction.execute(
        "INSERT INTO words (rowid, text, tags) VALUES (?1, ?2, ?3)",
        params![id, words::indexed(text), words::indexed(&tags.join("\n"))],
    )?;
    Ok(())
}

/// The tags of a note, from the column that holds them.
fn tags_of(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let tags: String = row.get(column)?;
    serde_json::from_str(&tags).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}

fn select(database: &Connection, query: &str, limit: u32) -> Result<Vec<Found>, Fault> {
    // The rank of the table itself would know nothing of weights.
    let mut statement = database.prepare(
        "SELECT notes.id, notes.text, notes.tags, strftime('%Y-%m-%dT%H:%M:%SZ', notes.stored, 'unixepoch')
         FROM words JOIN notes ON notes.id = words.rowid
         WHERE words MATCH ?1 ORDER BY bm25(words, 1.0, 2.0), notes.id DESC LIMIT ?2",
    )?;
    let notes = statement.query_map(params![query, limit], |row| {
        Ok(Found { id: row.get(0)?, text: row.get(1)?, tags: tags_of(row, 2)?, stored: row.get(3)? })
    })?;
    Ok(notes.collect::<Result<_, _>>()?)
}

fn count(transaction: &Transaction<'_>) -> Result<u32, Fault> {
    Ok(transaction.query_row("SELECT count(*) FROM notes", [], |row| row.get(0))?)
}

/// Creates an empty file that only its owner can access; SQLite gives the files beside it the same mode.
fn create(file: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(file) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

/// Creates the missing parts of the schema in a file.
fn prepare(database: &Connection) -> Result<(), Fault> {
    let version = |database: &Connection| -> Result<i32, rusqlite::Error> {
        database.query_row("PRAGMA user_version", [], |row| row.get(0))
    };
    match version(database)? {
        VERSION => return Ok(()),
        0 | 1 => {}
        newer => {
            return Err(Fault::Tool(ToolError::unavailable(format!(
                "the memory was made by a newer version of the plugin `memory` (its format is {newer}, and this one knows \
                 {VERSION}); use that version"
            ))));
        }
    }
    // Readers and one writer at once.
    database.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    let transaction = Transaction::new_unchecked(database, TransactionBehavior::Immediate)?;
    // Another process may have been there first.
    let found = version(&transaction)?;
    if found == 0 {
        transaction.execute_batch(TABLES)?;
    }
    if found < VERSION {
        transaction.execute_batch(INDEX)?;
        index_all(&transaction)?;
    }
    Ok(transaction.commit()?)
}

/// Indexes the existing notes: the first format did not index symbols, nor the letters of later versions of Unicode.
fn index_all(transaction: &Transaction<'_>) -> Result<(), Fault> {
    let mut statement = transaction.prepare("SELECT id, text, tags FROM notes")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        index(transaction, row.get(0)?, &row.get::<_, String>(1)?, &tags_of(row, 2)?)?;
    }
    Ok(())
}

/// An error of the database or of the tool.
enum Fault {
    Sqlite(rusqlite::Error),
    Tool(ToolError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Fault {
    fn worded(self, file: &Path) -> ToolError {
        let error = match self {
            Self::Tool(error) => return error,
            Self::Sqlite(error) => error,
        };
        if is_busy(&error) {
            let message = format!(
                "the memory is in use: another process writes to {} and does not end. Nothing was changed; try again",
                file.display()
            );
            return ToolError::new(ToolErrorKind::Unavailable, message).with_retry(Retry::Now);
        }
        if is_damaged(&error) {
            return ToolError::unavailable(format!(
                "the memory is damaged: {error}. A person has to move {} and the files beside it with the same \
                 name away; the next note creates a new one",
                file.display()
            ));
        }
        unusable(file, &error)
    }
}

fn unusable(file: &Path, error: &dyn std::fmt::Display) -> ToolError {
    ToolError::unavailable(format!("the memory {} cannot be used: {error}", file.display()))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Returns true also for a file that is not a database, for tables other than the ones created here (the queries never change), and
/// for values that are too long or of another type.
fn is_damaged(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::SqlInputError { .. } => true,
        error => matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::DatabaseCorrupt
                    | ErrorCode::NotADatabase
                    | ErrorCode::TooBig
                    | ErrorCode::TypeMismatch
                    | ErrorCode::Unknown
            )
        ),
    }
}
