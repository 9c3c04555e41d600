//! JSON text that does not depend on the order of members.

use serde_json::Value;
use std::collections::BTreeMap;

/// The same value with the members of each object by name.
pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<&String, Value> =
                members.iter().map(|(key, value)| (key, sorted(value))).collect();
            members.into_iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
