//! Section values that an untrusted file can make stricter, never looser.

use crate::config::restriction::Restriction;
use crate::config::schema::Schemas;
use crate::section::pointer::steps;
use crate::section::{ConfigGate, ConfigSection};
use serde_json::{Map, Value};
use toolkit_core::schema::resolve;

/// Returns true if a value could be stricter than another. The loosest value cannot.
pub(super) fn may_be_stricter(gate: ConfigGate, value: &Value) -> bool {
    match gate {
        ConfigGate::Order { ranks, .. } => rank(ranks, value).is_some_and(|rank| rank > 0),
        ConfigGate::AtMost { .. } => value.is_number(),
        _ => false,
    }
}

/// Replaces looser values with the stricter ones of untrusted files.
pub(super) fn take_away(resolved: &mut Value, restrictions: &[Restriction], schemas: &Schemas) {
    for restriction in restrictions {
        for section in &schemas.sections {
            let pointer = section.pointer();
            for gate in section.its_gates() {
                if let Some(said) = restriction.document.pointer(&gate.pointer(&pointer)) {
                    narrow(resolved, section, *gate, said, schemas);
                }
            }
        }
    }
}

fn narrow(resolved: &mut Value, section: &ConfigSection, gate: ConfigGate, said: &Value, schemas: &Schemas) {
    let pointer = gate.pointer(&section.pointer());
    let default = default(&schemas.whole.schema, &pointer);
    let known = resolved.pointer(&pointer).filter(|known| !known.is_null()).or(default.as_ref());
    match gate {
        ConfigGate::Order { ranks, and, .. } => {
            // Without a value and without a default, the loosest value is assumed.
            let of_known = known.map_or(Some(0), |known| rank(ranks, known));
            if rank(ranks, said) <= of_known || of_known.is_none() {
                return;
            }
            put(resolved, &pointer, said.clone());
            let Some((key, word)) = and.filter(|_| of_known == Some(0)) else { return };
            let is_other =
                |gate: &&ConfigGate| matches!(gate, ConfigGate::Order { key: known, .. } if *known == key);
            if let Some(other) = section.its_gates().iter().find(is_other) {
                narrow(resolved, section, *other, &word.into(), schemas);
            }
        }
        ConfigGate::AtMost { .. } => {
            let is_less = known.is_none_or(|known| match (said.as_f64(), known.as_f64()) {
                (Some(said), Some(known)) => said < known,
                _ => false,
            });
            if is_less {
                put(resolved, &pointer, said.clone());
            }
        }
        _ => {}
    }
}

/// Returns the rank of a value: a higher rank is stricter.
fn rank(ranks: &[&[&str]], value: &Value) -> Option<usize> {
    let text = match value {
        Value::String(text) => text,
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        _ => return None,
    };
    ranks.iter().position(|rank| rank.contains(&text))
}

/// Returns the default of a key.
fn default(schema: &Value, pointer: &str) -> Option<Value> {
    let mut here = schema;
    for step in steps(pointer) {
        here = resolve(here, schema).get("properties")?.get(&*step)?;
    }
    // The annotations of a key are beside the reference to its type.
    here.get("default").or_else(|| resolve(here, schema).get("default")).cloned()
}

fn put(resolved: &mut Value, pointer: &str, value: Value) {
    let mut here = resolved;
    for step in steps(pointer) {
        if !here.is_object() {
            *here = Map::new().into();
        }
        let Value::Object(members) = here else { return };
        here = members.entry(step).or_insert(Value::Null);
    }
    *here = value;
}
