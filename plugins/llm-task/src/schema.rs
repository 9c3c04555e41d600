//! The schema that an answer has to fit.

use jsonschema::Validator;
use serde_json::{Map, Value};

/// Maximum number of returned validation errors.
const MAX_PROBLEMS: usize = 10;
/// Maximum number of characters of one of them.
const LONGEST_PROBLEM: usize = 300;
/// Maximum number of levels of a schema.
const DEEPEST: usize = 64;
/// Maximum number of schemas that references lead to, in total: each counts once for each path to it.
const MAX_FOLLOWED: usize = 10_000;

/// Keywords whose values are data, whatever their form.
const DATA: &[&str] = &["const", "default", "enum", "examples"];
/// Keywords whose members are schemas by name: one named `default` is a schema, too.
const NAMED: &[&str] = &["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// A schema that was checked and compiled.
#[derive(Debug)]
pub(crate) struct AnswerSchema(Validator);

impl AnswerSchema {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// Why it cannot be one.
    pub(crate) fn new(schema: &Map<String, Value>) -> Result<Self, String> {
        let root = Value::Object(schema.clone());
        Walk { root: &root, followed: Vec::new(), left: MAX_FOLLOWED }.look(&root, 0)?;
        // Nothing is fetched, whichever features another crate enables.
        jsonschema::options().offline().build(&root).map(Self).map_err(|error| {
            let text: String = error.to_string().chars().take(LONGEST_PROBLEM).collect();
            format!("it is not a JSON Schema: {text}")
        })
    }

    /// Returns the validation errors of an answer; empty if it is valid.
    pub(crate) fn problems(&self, answer: &Value) -> Vec<String> {
        let worded = |error: jsonschema::ValidationError<'_>| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "the answer".to_owned() } else { place };
            let text: String = error.masked().to_string().chars().take(LONGEST_PROBLEM).collect();
            format!("{place}: {text}")
        };
        self.0.iter_errors(answer).take(MAX_PROBLEMS).map(worded).collect()
    }
}

/// A walk through a schema along its references, which must not be recursive: a validator could otherwise recurse
/// forever.
struct Walk<'a> {
    root: &'a Value,
    followed: Vec<&'a str>,
    left: usize,
}

impl<'a> Walk<'a> {
    fn look(&mut self, schema: &'a Value, depth: usize) -> Result<(), String> {
        if depth > DEEPEST {
            return Err(format!("it is more than {DEEPEST} levels deep"));
        }
        self.left = self.left.checked_sub(1).ok_or("its references lead to too many schemas")?;
        match schema {
            Value::Object(members) => {
                for (key, member) in members {
                    match (key.as_str(), member) {
                        ("$ref", Value::String(to)) => self.follow(to, depth)?,
                        (
                            "$dynamicRef" | "$recursiveRef" | "$id" | "id" | "$anchor" | "$dynamicAnchor",
                            Value::String(_),
                        ) => {
                            return Err(format!(
                                "`{key}` is not taken: refer to a part of the schema by `$ref` \"#/$defs/…\""
                            ));
                        }
                        (key, _) if DATA.contains(&key) => {}
                        (key, Value::Object(named)) if NAMED.contains(&key) => {
                            named.values().try_for_each(|schema| self.look(schema, depth + 2))?;
                        }
                        _ => self.look(member, depth + 1)?,
                    }
                }
                Ok(())
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.look(item, depth + 1)),
            _ => Ok(()),
        }
    }

    fn follow(&mut self, to: &'a str, depth: usize) -> Result<(), String> {
        let shown: String = to.chars().take(100).collect();
        let Some(pointer) =
            to.strip_prefix('#').filter(|pointer| pointer.is_empty() || pointer.starts_with('/'))
        else {
            return Err(format!(
                "`$ref` \"{shown}\" leads out of it: refer to a part of the schema, by \"#/$defs/…\""
            ));
        };
        if self.followed.contains(&to) {
            return Err(format!("`$ref` \"{shown}\" leads to itself, which is not taken"));
        }
        let Some(target) = self.root.pointer(pointer) else {
            return Err(format!("`$ref` \"{shown}\" leads nowhere"));
        };
        self.followed.push(to);
        self.look(target, depth + 1)?;
        self.followed.pop();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema(value: &Value) -> Result<AnswerSchema, String> {
        AnswerSchema::new(value.as_object().expect("an object"))
    }

    #[test]
    fn schemas_that_are_not_taken() {
        let mut deep = json!({});
        for _ in 0..100 {
            deep = json!({ "items": deep });
        }
        let mut bomb = json!({ "$defs": { "d0": { "type": "string" } }, "$ref": "#/$defs/d20" });
        for level in 1..=20 {
            let below = json!({ "$ref": format!("#/$defs/d{}", level - 1) });
            bomb["$defs"][format!("d{level}")] = json!({ "anyOf": [below, below] });
        }
        for (value, expected) in [
            (json!({ "$ref": "#" }), "leads to itself"),
            (json!({ "allOf": [{ "$ref": "#" }] }), "leads to itself"),
            (json!({ "properties": { "child": { "$ref": "#" } } }), "leads to itself"),
            (
                json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } }, "$ref": "#/$defs/a" }),
                "leads to itself",
            ),
            (json!({ "$ref": "#/$defs/none" }), "leads nowhere"),
            (json!({ "$ref": "https://example.com/schema.json" }), "leads out"),
            (json!({ "$ref": "file:///etc/passwd" }), "leads out"),
            (json!({ "$ref": "other.json#/x" }), "leads out"),
            (json!({ "$id": "https://example.com/", "type": "object" }), "`$id` is not taken"),
            (json!({ "$dynamicRef": "#x" }), "`$dynamicRef` is not taken"),
            // A property with the name of a data keyword is not data.
            (json!({ "properties": { "default": { "$ref": "#" } } }), "leads to itself"),
            (json!({ "$defs": { "enum": { "$id": "https://example.com/" } } }), "`$id` is not taken"),
            (json!({ "$ref": "#/const", "const": { "$ref": "#" } }), "leads to itself"),
            (json!({ "type": "nonsense" }), "not a JSON Schema"),
            (json!({ "pattern": "(" }), "not a JSON Schema"),
            (deep, "levels deep"),
            (bomb, "too many schemas"),
        ] {
            let error = schema(&value).expect_err("a fault");
            assert!(error.contains(expected) && error.len() < 500, "{expected}: {error}");
        }
    }

    /// Data may look like anything, and an answer is compared with it all the same.
    #[test]
    fn data_is_no_schema() {
        let data = json!({ "$ref": "https://example.com/", "$id": "x", "items": { "$ref": "#" } });
        for key in ["const", "default", "enum", "examples"] {
            let many = matches!(key, "enum" | "examples");
            let value = json!({ "type": "object", (key): if many { json!([data]) } else { data.clone() } });
            let compiled = schema(&value).unwrap_or_else(|why| panic!("{key}: {why}"));
            assert!(compiled.problems(&data).is_empty(), "{key}");
            assert_eq!(
                compiled.problems(&json!({})).is_empty(),
                matches!(key, "default" | "examples"),
                "{key}"
            );
        }
        // Also one by the name of a keyword.
        let named = json!({ "properties": { "$ref": { "type": "string" }, "$id": { "const": "a" } } });
        assert!(!schema(&named).unwrap().problems(&json!({ "$id": "b" })).is_empty());
    }

    #[test]
    fn answers_are_checked() {
        let value = json!({
            "$defs": { "name": { "type": "string", "minLength": 1 } },
            "type": "object", "required": ["names"], "additionalProperties": false,
            "properties": { "names": { "type": "array", "items": { "$ref": "#/$defs/name" } }, "id": { "type": "integer" } },
        });
        let schema = schema(&value).unwrap();
        assert!(schema.problems(&json!({ "names": ["Ada"] })).is_empty());
        let problems = schema.problems(&json!({ "names": [""], "id": "x", "more": 1 }));
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(problems.iter().any(|problem| problem.starts_with("/names/0: ")), "{problems:?}");
    }

    #[test]
    fn a_pattern_that_takes_for_ever_ends() {
        let schema = schema(&json!({ "type": "string", "pattern": "^(?=(a+)+$)(a|a)*b\\1$" })).unwrap();
        assert!(!schema.problems(&json!("a".repeat(200))).is_empty());
    }
}
