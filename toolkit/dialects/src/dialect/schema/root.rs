//! Writes the root of a schema, which is always one object.

use super::flatten::Alternative;
use super::kind;
use super::profile::Writing;
use super::trail::Trail;
use super::{Rewriter, words};
use serde_json::{Map, Value, json};

/// The most variants of the root, higher than for a part because each contributes only its properties.
const MAX_VARIANTS: usize = 1024;

/// Keywords that compose a root of other schemas.
const COMPOSING: [&str; 6] = ["$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf"];

/// Returns the schema with `type: object` and `properties` at its root, and else unchanged; `None` if its root is composed of other schemas, or is
/// no object.
///
/// An object with properties of its own can have `allOf` beside them: the protocol has servers keep it, as it has them keep `if` and `$defs`.
pub(super) fn unchanged(schema: &Value) -> Option<Value> {
    let members = schema.as_object()?;
    let is_object = members.get("type").is_some_and(|kind| kind == "object")
        && members.get("properties").is_some_and(Value::is_object);
    if COMPOSING.iter().any(|key| members.contains_key(*key) && !(is_object && *key == "allOf")) {
        return None;
    }
    let mut members = members.clone();
    members.insert("type".into(), "object".into());
    members.entry("properties").or_insert_with(|| json!({}));
    Some(members.into())
}

impl Rewriter<'_> {
    /// Writes the whole schema, with marks.
    pub(super) fn root(&mut self) -> Value {
        let document = self.document;
        let root = document.root();
        let own = root.as_object().cloned().unwrap_or_default();
        let is_put_together =
            COMPOSING.iter().chain(&["unevaluatedProperties"]).any(|key| own.contains_key(*key));
        let mut sentences = Vec::new();
        let mut one = if is_put_together { self.root_as_one(root, &own, &mut sentences) } else { own };
        // Arguments are always an object.
        one.insert("type".into(), "object".into());
        for key in ["const", "enum"] {
            if one.shift_remove(key).is_some() {
                self.lose(&one, key, "arguments are described by their properties alone");
            }
        }
        for key in self.profile.not_at_root {
            if one.shift_remove(*key).is_some() {
                self.lose(&one, key, "this dialect does not support it at the root");
            }
        }
        if matches!(self.profile.writing, Writing::Flat { .. }) {
            for key in ["not", "if"] {
                if one.contains_key(key) {
                    self.lose(&one, key, "this dialect does not support it");
                }
            }
        }
        let written = match self.profile.writing {
            Writing::Flat { .. } => self.flat_object(&one, &mut sentences),
            Writing::Whole { .. } | Writing::AsItIs => self.whole(&Value::Object(one.clone())),
        };
        let mut written = match written {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        if let (Writing::Flat { .. }, Some(text)) = (self.profile.writing, one.get("description")) {
            written.shift_insert(0, "description".into(), text.clone());
        }
        written.entry("properties").or_insert_with(|| json!({}));
        words::add(&mut written, &sentences);
        written.into()
    }

    /// Combines the variants of a composed root into one object.
    fn root_as_one(
        &mut self,
        root: &Value,
        own: &Map<String, Value>,
        sentences: &mut Vec<String>,
    ) -> Map<String, Value> {
        let apart = self.apart(root, MAX_VARIANTS);
        let mut alternatives = Vec::new();
        let mut trail = Trail::default();
        for Alternative { members, trail: own } in apart.alternatives {
            trail.join(&own);
            alternatives.push(members);
        }
        self.followed.add(&trail);
        let is_object = |schema: &Map<String, Value>| {
            kind::stated(schema).is_none_or(|kinds| kinds.contains(&kind::Kind::Object))
        };
        alternatives.retain(is_object);
        if alternatives.len() > 1 {
            let key = ["oneOf", "anyOf", "allOf", "$ref"].into_iter().find(|key| own.contains_key(*key));
            self.lose(
                own,
                key.unwrap_or("anyOf"),
                "this dialect does not support variants at the root; the relation between properties is lost",
            );
            sentences.extend(words::variants(&alternatives));
        }
        let mut one = self.one_object(alternatives).unwrap_or_default();
        for (key, value) in apart.said {
            one.entry(key).or_insert(value);
        }
        one
    }
}
