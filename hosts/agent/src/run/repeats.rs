//! Calls that lead nowhere: the toolkit's loop guard tells the model first, and then the run ends.
//!
//! The guard tells the model of a call that gives the same answer for the third time. Later it asks a person, and in the end it blocks the
//! call. A blocked call ends the run; so does the second one that was kept back because nobody allowed it. The guard never blocks a call that
//! is refused before it could run, so equal failures are counted here too.

use super::Run;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use toolkit::{ToolCall, ToolErrorKind, ToolResult, arguments::CallArguments};

/// After how many equal failures, with no success in between, the run ends. The model is told from the third on.
const MAX_FAILURES: u32 = 8;
/// After how many calls that the guard kept back the run ends.
const MAX_KEPT_BACK: u32 = 2;

/// The counts of calls that lead nowhere.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// Failures since the last success, by call.
    failures: HashMap<u64, u32>,
    kept_back: u32,
    pub(super) is_looping: bool,
}

impl Run<'_> {
    /// Counts the result of a call.
    pub(super) fn note_repeat(&mut self, result: &ToolResult, call: &ToolCall) {
        let repeats = &mut self.repeats;
        let Some(error) = result.error() else { return repeats.failures.clear() };
        match error.metadata("loopGuard").and_then(|guard| guard.as_str()) {
            Some("blocked") => repeats.is_looping = true,
            Some(_) => repeats.kept_back += 1,
            None if error.kind() == ToolErrorKind::Aborted => return,
            None => {}
        }
        let mut key = DefaultHasher::new();
        (&call.name, error.kind()).hash(&mut key);
        match &call.arguments {
            CallArguments::Text(text) => text.hash(&mut key),
            CallArguments::Json(value) => value.to_string().hash(&mut key),
            _ => {}
        }
        let count = repeats.failures.entry(key.finish()).or_default();
        *count += 1;
        repeats.is_looping |= *count >= MAX_FAILURES || repeats.kept_back >= MAX_KEPT_BACK;
    }
}
