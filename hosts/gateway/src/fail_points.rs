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
