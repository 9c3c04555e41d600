//! The history that a host keeps in its data directory.

use super::{History, HistoryReader, JsonlHistory, JsonlOptions, Report};
use crate::config::HistorySettings;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use toolkit_core::diagnostic::{Diagnostic, Level};
use toolkit_core::redact::Redactor;

const DAY: Duration = Duration::from_hours(24);

/// Returns the file of the history in a data directory.
fn file_in(data_dir: &Path) -> PathBuf {
    data_dir.join("history").join("calls.jsonl")
}

/// Opens the history in a data directory, if the settings want one.
///
/// # Errors
///
/// Returns a diagnostic if there is no data directory, or if the file cannot be opened.
pub(crate) fn open(
    data_dir: Option<&Path>,
    settings: HistorySettings,
    redactor: &Redactor,
    report: Report,
) -> Result<Option<Arc<dyn History>>, Diagnostic> {
    if !settings.enabled {
        return Ok(None);
    }
    let fault = |message: String| Diagnostic::new(Level::Warning, "history", message);
    let Some(data_dir) = data_dir else {
        return Err(fault(
            "calls are not recorded: there is no data directory; set XDG_DATA_HOME or HOME".to_owned(),
        ));
    };
    let path = file_in(data_dir);
    let options = JsonlOptions::new()
        .report(report)
        .redactor(redactor.clone())
        .max_age(DAY * settings.max_days)
        .max_bytes(settings.max_bytes);
    match JsonlHistory::open(&path, options) {
        Ok(history) => Ok(Some(Arc::new(history))),
        Err(error) => Err(fault(format!(
            "calls are not recorded: {}: {error}; make it writable, or set `history.enabled` to false",
            path.display()
        ))),
    }
}

impl HistoryReader {
    /// Opens the history that a host with this data directory keeps. A history that was never written is empty.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory or a file cannot be read.
    pub fn of_data_dir(data_dir: &Path) -> io::Result<Self> {
        Self::open(file_in(data_dir))
    }
}
