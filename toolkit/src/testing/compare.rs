//! Compares a tool's definition with the snapshot in a file.

use super::compatibility::compatibility;
use super::diff::diff;
use super::snapshot::{Snapshot, SnapshotError, UPDATE};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

/// The handling of a snapshot that does not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// A mismatch is an error.
    Never,
    /// The file is written.
    Write,
}

impl Snapshot {
    /// Asserts that the definition is the one in the file.
    ///
    /// A relative path starts at the package of the test. With `UPDATE_SNAPSHOTS=1` in the environment the file is
    /// written instead, unless `CI` is set too.
    ///
    /// # Panics
    ///
    /// Panics if the definition differs, with the differing lines and their effect on a model that knows the old ones,
    /// and if there is no file.
    #[track_caller]
    pub fn assert_matches(&self, path: impl AsRef<Path>) {
        let is_set = |name| {
            env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
        };
        let update = if is_set(UPDATE) && !is_set("CI") { Update::Write } else { Update::Never };
        if let Err(error) = self.compare(path.as_ref(), update) {
            panic!("{error}");
        }
    }

    /// Compares like [`Snapshot::assert_matches`], but returns an error instead of panicking.
    ///
    /// # Errors
    ///
    /// Returns an error in the cases in which that method panics.
    pub fn compare(&self, path: &Path, update: Update) -> Result<(), SnapshotError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => Some(text.replace("\r\n", "\n")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(SnapshotError::File { path: path.to_owned(), error }),
        };
        let now = self.to_json();
        match (text, update) {
            (Some(text), _) if text == now => Ok(()),
            (_, Update::Write) => self.write(path),
            (None, Update::Never) => Err(SnapshotError::Absent { path: path.to_owned() }),
            (Some(text), Update::Never) => {
                Err(SnapshotError::Different { report: self.report(path, &text, &now) })
            }
        }
    }

    fn report(&self, path: &Path, text: &str, now: &str) -> String {
        let mut report = format!(
            "the definition of `{}` is not the one in {}\n\n{}",
            self.name,
            path.display(),
            diff(text, now)
        );
        match Self::from_json(text) {
            Ok(old) => {
                let changes = compatibility(&old, self);
                if !changes.is_empty() {
                    report.push_str("\nfor a model that knows the old one:\n");
                }
                for change in changes {
                    let _ = writeln!(report, "- {change}");
                }
            }
            Err(error) => {
                let _ = writeln!(report, "\nthe file is {error}");
            }
        }
        let _ = write!(report, "\nif the change is intended, rewrite the file with {UPDATE}=1");
        report
    }
}
