//! Schemas of tools as components.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

/// The only draft of JSON Schema that the description has.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Keywords whose values are no schemas.
const VALUES: [&str; 6] = ["const", "enum", "default", "example", "examples", "required"];
/// Keywords whose members are named schemas.
const MAPS: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
/// Keywords that make the meaning of a reference depend on more than its document.
const MOVING: [&str; 6] = ["$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"];
/// Nesting of a schema that is described.
const MAX_DEPTH: usize = 128;
/// The most definitions of a tool's schema, and values in it, that are described: beyond, it is any object.
const MAX_DEFINITIONS: usize = 500;
const MAX_VALUES: usize = 20_000;

/// The schemas of the components, by names that are all different.
pub(super) struct Components {
    schemas: Map<String, Value>,
    /// The next number of each name that was taken.
    numbers: HashMap<String, usize>,
}

impl Components {
    /// Creates the components of the fixed routes.
    pub(super) fn new() -> Self {
        Self { schemas: fixed(), numbers: HashMap::new() }
    }

    pub(super) fn into_schemas(self) -> Value {
        self.schemas.into()
    }

    /// Adds the schema of a tool, and returns a reference to it. A schema that the description cannot have is any object.
    pub(super) fn add(&mut self, tool: &str, suffix: &str, schema: &Value) -> Value {
        let root = self.free(&format!("{}_{suffix}", safe(tool)));
        let any = || json!({ "type": "object" });
        // Reserved, so that no definition takes it.
        self.schemas.insert(root.clone(), any());
        if schema.is_object() && is_small(schema) && is_local(schema, schema, 0) {
            let mut schema = schema.clone();
            let definitions = self.hoist(&mut schema, &root);
            let names: BTreeMap<String, String> =
                definitions.iter().map(|(pointer, name, _)| (pointer.clone(), name.clone())).collect();
            rewrite(&mut schema, &root, &names);
            for (_, name, mut definition) in definitions {
                rewrite(&mut definition, &root, &names);
                self.schemas.insert(name, definition);
            }
            self.schemas.insert(root.clone(), schema);
        }
        reference(&root)
    }

    /// Takes the definitions out of a schema, each with its pointer there and its name here.
    fn hoist(&mut self, schema: &mut Value, root: &str) -> Vec<(String, String, Value)> {
        let mut hoisted = Vec::new();
        let Value::Object(members) = schema else { return hoisted };
        members.shift_remove("$schema");
        for key in ["$defs", "definitions"] {
            let Some(Value::Object(definitions)) = members.shift_remove(key) else { continue };
            for (name, definition) in definitions {
                let free = self.free(&format!("{root}_{}", safe(&name)));
                self.schemas.insert(free.clone(), json!({}));
                let pointer = format!("#/{key}/{}", name.replace('~', "~0").replace('/', "~1"));
                hoisted.push((pointer, free, definition));
            }
        }
        hoisted
    }

    /// Returns a name that is not taken.
    fn free(&mut self, wanted: &str) -> String {
        if !self.schemas.contains_key(wanted) {
            return wanted.to_owned();
        }
        let next = self.numbers.entry(wanted.to_owned()).or_insert(2);
        loop {
            let name = format!("{wanted}_{next}");
            *next += 1;
            if !self.schemas.contains_key(&name) {
                return name;
            }
        }
    }
}

pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Returns a name with the characters that names of components may have.
fn safe(name: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect()
}

/// Returns true for a schema of a size that is described.
fn is_small(schema: &Value) -> bool {
    let definitions = ["$defs", "definitions"].into_iter().filter_map(|key| schema[key].as_object());
    definitions.map(Map::len).sum::<usize>() <= MAX_DEFINITIONS && {
        let mut left = MAX_VALUES;
        has_at_most(schema, &mut left)
    }
}

/// Counts the values of a schema down; false if there are more.
fn has_at_most(schema: &Value, left: &mut usize) -> bool {
    let Some(rest) = left.checked_sub(1) else { return false };
    *left = rest;
    match schema {
        Value::Object(members) => members.values().all(|value| has_at_most(value, left)),
        Value::Array(items) => items.iter().all(|item| has_at_most(item, left)),
        _ => true,
    }
}

/// Returns true for a schema of the draft of the description whose references all lead to a place in it.
fn is_local(schema: &Value, root: &Value, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    match schema {
        Value::Object(members) => members.iter().all(|(key, value)| match (&**key, value) {
            ("$schema", value) => value.as_str().is_some_and(|draft| draft.trim_end_matches('#') == DRAFT),
            (key, _) if MOVING.contains(&key) => false,
            ("$ref", Value::String(reference)) => {
                reference == "#" || reference.strip_prefix('#').is_some_and(|at| resolves(at, root))
            }
            ("$ref", _) => false,
            (key, _) if VALUES.contains(&key) => true,
            (key, Value::Object(named)) if MAPS.contains(&key) => {
                named.values().all(|value| is_local(value, root, depth + 1))
            }
            (_, value) => is_local(value, root, depth + 1),
        }),
        Value::Array(items) => items.iter().all(|item| is_local(item, root, depth + 1)),
        _ => true,
    }
}

/// Returns true if a pointer leads to a schema of the document.
fn resolves(pointer: &str, root: &Value) -> bool {
    // The definitions are moved, and values are no schemas that are described.
    let is_moved = ["/$defs", "/definitions"].contains(&pointer);
    let leads_to_value = pointer.split('/').any(|part| VALUES.contains(&part));
    pointer.starts_with('/')
        && !is_moved
        && !leads_to_value
        && !pointer.contains('%')
        && root.pointer(pointer).is_some_and(|found| found.is_object() || found.is_boolean())
}

/// Rewrites the references of a schema to components.
fn rewrite(schema: &mut Value, root: &str, names: &BTreeMap<String, String>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                match (&**key, value) {
                    ("$ref", Value::String(reference)) => *reference = rewritten(reference, root, names),
                    (key, _) if VALUES.contains(&key) => {}
                    (key, Value::Object(members)) if MAPS.contains(&key) => {
                        members.values_mut().for_each(|value| rewrite(value, root, names));
                    }
                    (_, value) => rewrite(value, root, names),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite(item, root, names)),
        _ => {}
    }
}

fn rewritten(reference: &str, root: &str, names: &BTreeMap<String, String>) -> String {
    let target = |name: &str, rest: &str| format!("#/components/schemas/{name}{rest}");
    // `#`, the keyword, and the name of the definition; further parts lead into it.
    let end = reference.match_indices('/').nth(2).map_or(reference.len(), |(at, _)| at);
    let found = names.get(&reference[..end]).map(|name| target(name, &reference[end..]));
    found.unwrap_or_else(|| target(root, reference.trim_start_matches('#')))
}

/// Returns the schemas of the fixed routes.
fn fixed() -> Map<String, Value> {
    let text = json!({ "type": "string" });
    let path = json!({ "type": "string", "description": "A JSON pointer into the arguments; empty for all of them." });
    let schemas = json!({
        "Problem": {
            "type": "object",
            "description": "An error (RFC 9457).",
            "required": ["type", "title", "status", "detail"],
            "properties": {
                "type": text, "title": text, "status": { "type": "integer" }, "detail": text,
                "kind": { "type": "string", "description": "The kind of a refused call." },
                "problems": { "type": "array", "items": reference("ArgumentProblem") },
            },
        },
        "ArgumentProblem": {
            "type": "object",
            "required": ["path", "message", "expected", "actual"],
            "properties": { "path": path, "message": text, "expected": text, "actual": text, "nearest": text },
        },
        "Verdict": {
            "type": "object",
            "required": ["decision", "reason"],
            "properties": {
                "decision": { "enum": ["allow", "ask", "deny"] },
                "reason": text,
                "place": { "type": "string", "description": "The place of the rule that decided." },
            },
        },
        "ListedTool": {
            "type": "object",
            "required": ["name", "groups", "source", "summary", "annotations", "verdict"],
            "properties": {
                "name": text, "title": text, "groups": { "type": "array", "items": text },
                "source": { "type": "object" }, "summary": text, "annotations": { "type": "object" },
                "deprecated": text, "verdict": reference("Verdict"),
            },
        },
        "Tool": {
            "allOf": [reference("ListedTool")],
            "type": "object",
            "required": ["description"],
            "properties": {
                "description": text, "aliases": { "type": "array", "items": text },
                "inputSchema": { "type": "object" }, "outputSchema": {}, "examples": { "type": "array" },
            },
        },
        "Checked": {
            "oneOf": [
                {
                    "type": "object",
                    "required": ["valid", "arguments", "repairs"],
                    "properties": {
                        "valid": { "const": true },
                        "arguments": { "type": "object", "description": "The arguments as the tool gets them." },
                        "repairs": { "type": "array", "items": reference("Repair") },
                    },
                },
                {
                    "type": "object",
                    "required": ["valid", "problems", "text"],
                    "properties": {
                        "valid": { "const": false },
                        "problems": { "type": "array", "items": reference("ArgumentProblem") },
                        "text": { "type": "string", "description": "All problems, for people and models." },
                    },
                },
            ],
        },
        "Repair": {
            "type": "object",
            "required": ["pointer", "kind", "note"],
            "properties": { "pointer": path, "kind": text, "note": text },
        },
    });
    let mut all = Map::new();
    for schemas in [schemas, of_results()] {
        if let Value::Object(schemas) = schemas {
            all.extend(schemas);
        }
    }
    all
}

/// Returns the schemas of results.
fn of_results() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "Result": {
            "type": "object",
            "description": "The result of a call, also of one that failed.",
            "required": ["id", "name", "isError", "content"],
            "properties": {
                "id": text, "name": text, "isError": { "type": "boolean" },
                "content": { "type": "array", "items": { "type": "object", "required": ["type"] } },
                "structured": {}, "error": reference("ResultError"), "title": text,
                "metadata": { "type": "object" }, "truncated": { "type": "boolean" },
                "filesModified": { "type": "array", "items": text },
                "files": { "type": "array", "items": reference("ResultFile") },
            },
        },
        "ResultError": {
            "type": "object",
            "required": ["kind", "message"],
            "properties": { "kind": text, "message": text, "retryAfterMs": { "type": "integer" } },
        },
        "ResultFile": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": text, "mimeType": text, "path": text, "bytes": { "type": "integer" },
                "data": { "type": "string", "contentEncoding": "base64" },
                "href": { "type": "string", "description": "The path of a later request for the data." },
                "error": { "type": "string", "description": "The reason why the data is not there." },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(schema: &Value) -> (Value, Map<String, Value>) {
        let mut components = Components::new();
        let root = components.add("t", "input", schema);
        (root, components.schemas)
    }

    #[test]
    fn references_within_a_schema_lead_to_components() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "a": { "$ref": "#/$defs/A~1b" },
                "self": { "$ref": "#" },
                "again": { "$ref": "#/properties/a" },
                "$ref": { "type": "string" },
            },
            "examples": [{ "$ref": "#/$defs/none" }],
            "$defs": { "A/b": { "type": "object", "properties": { "next": { "$ref": "#/$defs/A~1b" } } } },
        });
        let (root, all) = added(&schema);
        assert_eq!(root, reference("t_input"));
        let input = &all["t_input"];
        assert_eq!(input.get("$defs"), None);
        assert_eq!(input["properties"]["a"], reference("t_input_A_b"));
        assert_eq!(input["properties"]["self"], reference("t_input"));
        assert_eq!(input["properties"]["again"]["$ref"], "#/components/schemas/t_input/properties/a");
        assert_eq!(input["properties"]["$ref"], json!({ "type": "string" }));
        assert_eq!(input["examples"][0]["$ref"], "#/$defs/none");
        assert_eq!(all["t_input_A_b"]["properties"]["next"], reference("t_input_A_b"));
    }

    #[test]
    fn a_schema_of_another_draft_or_with_other_documents_is_any_object() {
        for schema in [
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "object" }),
            json!({ "properties": { "a": { "$ref": "https://example.org/a.json" } } }),
            json!({ "properties": { "a": { "$ref": "other.json#/a" } } }),
            json!({ "properties": { "a": { "$ref": "#/$defs/none" } } }),
            json!({ "properties": { "a": { "$ref": "#anchor" } } }),
            json!({ "$id": "https://example.org/", "type": "object" }),
            json!({ "$defs": { "A": { "$anchor": "a" } } }),
            json!(true),
        ] {
            assert_eq!(added(&schema).1["t_input"], json!({ "type": "object" }), "{schema}");
        }
    }

    #[test]
    fn names_of_components_never_collide() {
        let mut components = Components::new();
        let mut names = Vec::new();
        let schema = json!({ "$defs": { "x y": {}, "x_y": {}, "x/y": {} } });
        for tool in ["a b", "a_b", "a/b", "a_b_input", "a_b_input_x_y"] {
            for suffix in ["input", "output"] {
                names.push(components.add(tool, suffix, &schema)["$ref"].as_str().unwrap().to_owned());
            }
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(components.schemas.len(), fixed().len() + 4 * count);
    }
}
