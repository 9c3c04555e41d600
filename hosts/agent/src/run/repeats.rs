//! Calls that lead nowhere: the toolkit's loop guard tells the model first, and then the run ends.
//!
//! The guard tells the model of a call that gives the same answer for the third time. Later it asks a person, and in the end it blocks the
//! call. A blocked call ends the run; so does the second one that was kept back because nobody allowed it. The guard never blocks a call that
//! is refused before it could run, so equal failures are counted here too.
//!
//! Equal calls of one answer count once: the model is told of them only with their results.

use super::Run;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use toolkit::{ToolCall, ToolErrorKind, ToolResult, arguments::CallArguments};

/// After how many answers with the same failing call, with no success in between, the run ends. The model is told from the third on.
const MAX_FAILURES: u32 = 8;
/// After how many answers with a call that the guard kept back the run ends.
const MAX_KEPT_BACK: u32 = 2;

/// The counts of calls that lead nowhere.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// Failures since the last success, by call.
    failures: HashMap<u64, Turns>,
    /// Answers with a call that the guard kept back or blocked.
    kept_back: Turns,
    pub(super) is_looping: bool,
}

/// A number of turns.
#[derive(Debug, Default)]
struct Turns {
    count: u32,
    last: Option<u32>,
}

impl Turns {
    /// Counts a turn, once.
    fn note(&mut self, turn: u32) {
        if self.last != Some(turn) {
            self.count += 1;
            self.last = Some(turn);
        }
    }
}

impl Run<'_> {
    /// Counts the result of a call.
    pub(super) fn note_repeat(&mut self, result: &ToolResult, call: &ToolCall) {
        let (turn, repeats) = (self.turns, &mut self.repeats);
        let Some(error) = result.error() else { return repeats.failures.clear() };
        match error.metadata("loopGuard").and_then(|guard| guard.as_str()) {
            Some(guard) => {
                repeats.kept_back.note(turn);
                // In the first such answer the model could not know.
                repeats.is_looping |= guard == "blocked" && repeats.kept_back.count > 1;
            }
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
        let failures = repeats.failures.entry(key.finish()).or_default();
        failures.note(turn);
        repeats.is_looping |= failures.count >= MAX_FAILURES || repeats.kept_back.count >= MAX_KEPT_BACK;
    }
}
