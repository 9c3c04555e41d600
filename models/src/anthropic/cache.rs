//! Marks of what is to be cached. A request may have four.

use serde_json::{Value, json};

/// Marks the end of the tools, of the system prompt and of the last two messages of the user: the last one, so that the next request finds
/// all of this one; the one before, since that is where this request finds the last one.
pub(super) fn mark(body: &mut Value) {
    set(body["tools"].as_array_mut().and_then(|tools| tools.last_mut()));
    set(body["system"].as_array_mut().and_then(|blocks| blocks.last_mut()));
    let messages = body["messages"].as_array_mut().into_iter().flatten();
    for message in messages.rev().filter(|message| message["role"] == "user").take(2) {
        set(message["content"].as_array_mut().and_then(|blocks| blocks.last_mut()));
    }
    // Indexing by a key that is not there has added it.
    if let Some(members) = body.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
}

fn set(place: Option<&mut Value>) {
    if let Some(members) = place.and_then(Value::as_object_mut) {
        members.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}
