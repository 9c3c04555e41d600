//! Replaces `unevaluatedProperties` by objects that are closed to properties they do not name.

use super::Rewriter;
use super::flatten::Alternative;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Keywords with schemas that apply to the same value, and may name further properties.
const LOOK_TOO: [&str; 4] = ["dependentSchemas", "if", "then", "else"];

impl Rewriter<'_> {
    /// Closes the alternatives to properties that none of them names, if their common schema was closed in this way; `rest` is the
    /// schema of the remaining properties. If another keyword may have evaluated properties, the alternatives stay open, because
    /// that keyword may be what allows the properties.
    pub(super) fn close(
        &mut self,
        alternatives: &mut [Alternative],
        rest: &Value,
        is_one_only: bool,
        is_partial: bool,
    ) {
        if !is_partial {
            self.close_whole(alternatives, rest, is_one_only);
        }
        let is_open = |other: &&Alternative| !other.members.contains_key("additionalProperties");
        for alternative in alternatives.iter().filter(is_open) {
            let reason = if is_partial {
                "a part of the keywords about properties is lost, so valid properties would be refused"
            } else {
                "this dialect does not support it"
            };
            self.lose(&alternative.members, "unevaluatedProperties", reason);
        }
    }

    fn close_whole(&mut self, alternatives: &mut [Alternative], rest: &Value, is_one_only: bool) {
        // If several alternatives can match at once, each is closed to the properties that none of them names; if only one can
        // match, it is closed by its own.
        let mut others: BTreeSet<String> = BTreeSet::new();
        if alternatives.len() > 1 && !is_one_only {
            if alternatives.iter().any(|alternative| alternative.members.contains_key("patternProperties")) {
                return;
            }
            others =
                alternatives.iter().flat_map(|alternative| named(&alternative.members)).cloned().collect();
        }
        let copies = alternatives.len() * (others.len() + super::count(rest, self.copies));
        if !self.can_copy(copies) {
            return;
        }
        for Alternative { members, .. } in alternatives {
            if members.contains_key("additionalProperties")
                || LOOK_TOO.iter().any(|key| members.contains_key(*key))
            {
                continue;
            }
            members.insert("additionalProperties".into(), rest.clone());
            if let Some(properties) = members.entry("properties").or_insert_with(|| json!({})).as_object_mut()
            {
                for name in &others {
                    properties.entry(name.clone()).or_insert(Value::Bool(true));
                }
            }
        }
    }
}

fn named(members: &Map<String, Value>) -> impl Iterator<Item = &String> {
    members.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys)
}
