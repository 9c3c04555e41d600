//! The formats of the file, and the steps from one to the next.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::damage::Fault;
use super::files;

/// The steps in order: the first makes format 1, and so on. One that was released never changes.
pub(super) const ALL: &[&str] =
    &[include_str!("format_1.sql"), include_str!("format_2.sql"), include_str!("format_3.sql")];

/// Brings the file to the newest format.
pub(super) fn run(connection: &mut Connection, file: &Path, steps: &[&str]) -> Result<(), Fault> {
    let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let missing = match usize::try_from(found) {
        Ok(found) if found <= steps.len() => &steps[found..],
        _ => return Err(Fault::Newer { found, known }),
    };
    if missing.is_empty() {
        return Ok(());
    }
    if found > 0 {
        files::copy_before_migration(connection, file, found)?;
    } else if has_tables(connection)? {
        return Err(Fault::Refused(
            "it holds tables of another program: name another data directory".to_owned(),
        ));
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for step in missing {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}

fn has_tables(connection: &Connection) -> Result<bool, Fault> {
    Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests;
