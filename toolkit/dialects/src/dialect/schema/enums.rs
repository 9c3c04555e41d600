//! Writes enumerated values in the flat form.

use super::flat::Written;
use super::kind::Kind;
use super::profile::Writing;
use super::{Rewriter, words};
use serde_json::{Map, Value, json};

impl Rewriter<'_> {
    pub(super) fn flat_values(
        &mut self,
        part: &Map<String, Value>,
        values: &[Value],
        into: &mut Vec<Written>,
        takes_null: &mut bool,
    ) {
        let Writing::Flat { has_any_enum, .. } = self.profile.writing else { return };
        *takes_null |= values.contains(&Value::Null);
        let scalars = [
            (Kind::String, true),
            (Kind::Integer, true),
            (Kind::Number, true),
            (Kind::Boolean, has_any_enum),
        ];
        for (kind, has_enum) in scalars {
            let own: Vec<&Value> = values.iter().filter(|value| Kind::of(value) == kind).collect();
            if own.is_empty() {
                continue;
            }
            let mut schema = Map::new();
            schema.insert("type".into(), kind.name().into());
            let is_all = kind == Kind::Boolean && own.len() == 2;
            let mut sentences = Vec::new();
            if is_all {
            } else if has_enum && self.fits_enum(&own) {
                schema.insert("enum".into(), json!(own));
            } else {
                sentences.extend(words::demand("enum", &json!(own)));
                self.lose(part, "enum", "this dialect does not support these values there, or this many");
            }
            into.push(Written { schema, sentences });
        }
        for value in values {
            if let Some(schema) = exactly(value)
                && let Some(Value::Object(schema)) = self.flat(&schema)
            {
                into.push(Written { schema, sentences: Vec::new() });
            }
        }
    }

    /// Returns true if a strict enum may have these values.
    fn fits_enum(&self, values: &[&Value]) -> bool {
        const MAX_VALUES: usize = 1000;
        const MANY: usize = 250;
        const MAX_CHARACTERS: usize = 15_000;
        let characters =
            || -> usize { values.iter().filter_map(|value| Some(value.as_str()?.chars().count())).sum() };
        !self.profile.is_strict
            || values.len() <= MANY
            || (values.len() <= MAX_VALUES && characters() <= MAX_CHARACTERS)
    }
}

/// Returns a schema that matches only this object or list.
fn exactly(value: &Value) -> Option<Value> {
    let constant = |value: &Value| json!({ "const": value });
    match value {
        Value::Object(members) => {
            let properties: Map<String, Value> =
                members.iter().map(|(name, member)| (name.clone(), constant(member))).collect();
            let required: Vec<&String> = members.keys().collect();
            Some(
                json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
            )
        }
        Value::Array(items) => {
            let places: Vec<Value> = items.iter().map(constant).collect();
            let count = items.len();
            Some(
                json!({"type": "array", "prefixItems": places, "items": false, "minItems": count, "maxItems": count}),
            )
        }
        _ => None,
    }
}
