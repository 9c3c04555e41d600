//! Places of the configuration where `${env:NAME}` is replaced by a variable of the environment.

use serde_json::Value;

/// The keys of the core's at the root. Only in some of them a value may be kept elsewhere.
const OF_THE_CORE: [&str; 10] = [
    "$schema",
    "tools",
    "agents",
    "channels",
    "permission",
    "plugins",
    "enableToolCalls",
    "loopGuard",
    "history",
    "",
];

/// The keys that every agent has.
const OF_EVERY_AGENT: [&str; 5] = ["name", "model", "workspace", "tools", "permission"];
/// The keys that every channel has.
const OF_EVERY_CHANNEL: [&str; 4] = ["tools", "permission", "groups", "senders"];

/// Returns true if references in the value at `pointer` are resolved.
pub(super) fn is_resolved(pointer: &str) -> bool {
    let mut steps = pointer.split('/').skip(1);
    match (steps.next(), steps.next(), steps.next()) {
        // Whatever else stands there is a section.
        (Some(key), _, _) if !OF_THE_CORE.contains(&key) => true,
        (Some("agents"), Some(_), Some(key)) => !OF_EVERY_AGENT.contains(&key),
        (Some("channels"), Some(_), Some(key)) => !OF_EVERY_CHANNEL.contains(&key),
        (Some("plugins"), Some(id), key) => id != "prefer" && key != Some("joinGroups"),
        (Some("tools"), Some(key), _) => {
            !["profile", "allow", "alsoAllow", "deny", "profiles", "byProvider", "sandbox", "subagents"]
                .contains(&key)
        }
        _ => false,
    }
}

/// Returns true if the value at `pointer` is a text that names a variable of the environment where such names are replaced: it is
/// checked when it is replaced.
pub(super) fn names_variable(document: &Value, pointer: &str) -> bool {
    is_resolved(pointer)
        && document.pointer(pointer).and_then(Value::as_str).is_some_and(|text| text.contains("${env:"))
}
