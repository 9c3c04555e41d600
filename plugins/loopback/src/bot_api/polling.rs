//! `getUpdates`.

use super::answers::Refusal;
use super::state::{Shared, State};
use serde_json::{Map, Value};
use std::time::Duration;

/// The updates that are delivered when no kinds are named.
const NOT_BY_DEFAULT: &[&str] = &["chat_member", "message_reaction"];

/// Waits for updates. Returns a JSON list of them.
pub(super) async fn updates(shared: &Shared, fields: &Map<String, Value>) -> Result<String, Refusal> {
    let number = |name: &str| fields.get(name).and_then(Value::as_i64);
    let limit = number("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(100);
    let timeout =
        Duration::from_secs(number("timeout").and_then(|time| u64::try_from(time).ok()).unwrap_or(0));
    let own = shared.change(|state| {
        state.poll += 1;
        state.waiting = Some(state.poll);
        confirm(state, number("offset").unwrap_or(0));
        let kinds = fields.get("allowed_updates").and_then(Value::as_array).filter(|kinds| !kinds.is_empty());
        let is_allowed = |kind: &str| match kinds {
            Some(kinds) => kinds.iter().any(|allowed| allowed == kind),
            None => !NOT_BY_DEFAULT.contains(&kind),
        };
        state.updates.retain(|update| update.kind.is_none_or(is_allowed));
        state.poll
    });
    let _waiting = Waiting { shared, own };
    let found = shared.find(|state| {
        if state.waiting != Some(own) {
            return Some(Err(conflict()));
        }
        (!state.updates.is_empty()).then(|| Ok(listed(state, limit)))
    });
    match tokio::time::timeout(timeout, found).await {
        Ok(found) => found,
        Err(_) => Ok("[]".to_owned()),
    }
}

/// A poll that waits. It ends also when the client disconnects.
struct Waiting<'a> {
    shared: &'a Shared,
    own: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.shared.change(|state| {
            if state.waiting == Some(self.own) {
                state.waiting = None;
            }
        });
    }
}

/// The refusal of a poll beside another one.
pub(super) fn conflict() -> Refusal {
    Refusal::new(
        409,
        "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    )
}

/// Forgets the updates below an offset; for a negative one, all but the last ones.
fn confirm(state: &mut State, offset: i64) {
    if offset < 0 {
        let kept = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        let gone = state.updates.len().saturating_sub(kept);
        state.updates.drain(..gone);
    } else {
        state.updates.retain(|update| update.id >= offset);
    }
}

fn listed(state: &State, limit: usize) -> String {
    let updates: Vec<&str> = state.updates.iter().take(limit).map(|update| update.json.as_str()).collect();
    format!("[{}]", updates.join(","))
}
