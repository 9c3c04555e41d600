//! Writes lists in the flat form.

use super::Rewriter;
use super::flat::{Written, one_of};
use super::profile::Writing;
use serde_json::{Map, Value, json};

/// Keywords of lists that the flat form does not express.
const LOST: [&str; 2] = ["contains", "unevaluatedItems"];

impl Rewriter<'_> {
    pub(super) fn flat_items(&mut self, part: &Map<String, Value>, schema: &mut Map<String, Value>) {
        let Writing::Flat { has_places, .. } = self.profile.writing else { return };
        for key in LOST {
            if part.contains_key(key) {
                self.lose(part, key, "this dialect does not support it");
            }
        }
        let any = Value::Bool(true);
        let rest = part.get("items").unwrap_or(&any);
        let places = part.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut most = part.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX);
        let mut written: Vec<Value> = Vec::new();
        for place in places {
            match self.flat(place) {
                Some(place) => written.push(place),
                None => {
                    most = most.min(written.len() as u64);
                    break;
                }
            }
        }
        let has_rest = most > written.len() as u64;
        let rest = if !has_rest && !places.is_empty() {
            None
        } else if rest == &any {
            Some(self.anything(part))
        } else {
            self.flat(rest)
        };
        if rest.is_none() {
            // No further item can match.
            schema.insert("maxItems".into(), most.min(written.len() as u64).into());
        }
        if written.is_empty() {
            schema.insert("items".into(), rest.unwrap_or_else(|| json!({"type": "null"})));
            return;
        }
        if has_places {
            schema.insert("prefixItems".into(), written.into());
            if let Some(rest) = rest {
                schema.insert("items".into(), rest);
            }
            return;
        }
        self.lose(part, "prefixItems", "this dialect does not support schemas by list position");
        written.extend(rest);
        let options = written.into_iter().filter_map(|option| match option {
            Value::Object(schema) => Some(Written { schema, sentences: Vec::new() }),
            _ => None,
        });
        let items = one_of(options.collect(), false).unwrap_or_default();
        schema.insert("items".into(), items.into());
    }
}
