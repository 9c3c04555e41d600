//! Points at which a test tells the process to end, as a crash would end it.

/// The variable that names a point and the number of its pass: `transcript_line:3`.
#[cfg(feature = "fail-points")]
const VARIABLE: &str = "TOOLKIT_FAIL_POINT";

/// Passes a point. Aborts the process if it is told to end there.
#[cfg(feature = "fail-points")]
pub(crate) fn pass(name: &str) {
    use std::collections::HashMap;
    use std::sync::{Mutex, PoisonError};

    static PASSED: Mutex<Option<HashMap<String, u64>>> = Mutex::new(None);

    let Ok(told) = std::env::var(VARIABLE) else { return };
    let Some((point, at)) = told.split_once(':') else { return };
    if point != name {
        return;
    }
    let mut passed = PASSED.lock().unwrap_or_else(PoisonError::into_inner);
    let count = passed.get_or_insert_default().entry(name.to_owned()).or_default();
    *count += 1;
    if at.parse() == Ok(*count) {
        std::process::abort();
    }
}

/// Passes a point, which does nothing.
#[cfg(not(feature = "fail-points"))]
pub(crate) fn pass(_name: &str) {}

/// The variable that names a directory for the lengths of transcripts that have reached the disk: a file for each segment, with a line for each time.
#[cfg(feature = "fail-points")]
const SYNCED: &str = "TOOLKIT_SYNCED_LENGTHS";

/// Notes that so many bytes of a segment have reached the disk, so that a test can cut the rest off, as a loss of power would.
#[cfg(feature = "fail-points")]
pub(crate) fn synced(path: &std::path::Path, length: u64) {
    use std::io::Write as _;

    let Some(directory) = std::env::var_os(SYNCED) else { return };
    let Some(name) = path.file_name() else { return };
    let file = std::path::Path::new(&directory).join(name);
    let file = std::fs::OpenOptions::new().create(true).append(true).open(file);
    // A note that is missing cuts off more than a loss of power would.
    let _ = file.and_then(|mut file| file.write_all(format!("{length}\n").as_bytes()));
}

/// Notes nothing.
#[cfg(not(feature = "fail-points"))]
pub(crate) fn synced(_path: &std::path::Path, _length: u64) {}
