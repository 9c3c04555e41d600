//! Splits a schema into alternatives without references and combinations.

use super::annotation::{AT, is_annotation};
use serde_json::{Map, Value, json};
use toolkit_core::pointer::escape;
use toolkit_core::schema::resolve;

/// The maximum number of alternatives; a schema with more is not split.
const MAX_BRANCHES: usize = 128;
/// The maximum number of nested references and combinations; beyond it, a schema is not split.
const DEEPEST: usize = 32;

/// The alternatives of a schema: a value matches it if and only if it matches one of them.
#[derive(Debug, Clone)]
pub(super) struct Alternatives {
    pub(super) branches: Vec<Map<String, Value>>,
    /// False if the branches allow more than the schema.
    pub(super) is_exact: bool,
    /// True if a value must not match two of them.
    pub(super) is_exclusive: bool,
}

impl Alternatives {
    fn one(branch: Map<String, Value>) -> Self {
        Self { branches: vec![branch], is_exact: true, is_exclusive: false }
    }

    /// Returns the alternatives for values that match both.
    fn and(self, other: &Self) -> Self {
        let mut both = Self {
            branches: Vec::new(),
            is_exact: self.is_exact && other.is_exact,
            is_exclusive: self.is_exclusive || other.is_exclusive,
        };
        if self.branches.len() * other.branches.len() > MAX_BRANCHES {
            return Self { is_exact: false, ..self };
        }
        for one in &self.branches {
            for other in &other.branches {
                match merge(one, other) {
                    Merged::Both(branch) => both.branches.push(branch),
                    Merged::Nothing => {}
                    Merged::Unknown => {
                        both.is_exact = false;
                        both.branches.push(one.clone());
                    }
                }
            }
        }
        both
    }
}

/// Splits a schema.
pub(super) fn alternatives(schema: &Value, root: &Value) -> Alternatives {
    take_apart(schema, root, 0)
}

fn take_apart(schema: &Value, root: &Value, depth: usize) -> Alternatives {
    let members = match schema {
        Value::Bool(false) => {
            return Alternatives { branches: Vec::new(), is_exact: true, is_exclusive: false };
        }
        Value::Object(members) => members,
        _ => return Alternatives::one(Map::new()),
    };
    let mut own = members.clone();
    own.retain(|key, _| {
        !matches!(key.as_str(), "$ref" | "allOf" | "anyOf" | "oneOf" | "unevaluatedProperties" | "$defs")
    });
    let mut all = Alternatives::one(own);
    if depth > DEEPEST {
        return Alternatives { is_exact: false, ..all };
    }
    if members.contains_key("$ref") {
        let reference = json!({ "$ref": members["$ref"] });
        let target = resolve(&reference, root);
        if target.get("$ref").is_some() {
            all.is_exact = false;
        } else {
            all = all.and(&take_apart(target, root, depth + 1));
        }
    }
    let list = |key: &str| members.get(key).and_then(Value::as_array).into_iter().flatten();
    for part in list("allOf") {
        all = all.and(&take_apart(part, root, depth + 1));
    }
    for key in ["anyOf", "oneOf"] {
        if !members.contains_key(key) {
            continue;
        }
        let mut options = Alternatives { branches: Vec::new(), is_exact: true, is_exclusive: false };
        for option in list(key) {
            let option = take_apart(option, root, depth + 1);
            options.is_exact &= option.is_exact;
            options.is_exclusive |= option.is_exclusive;
            options.branches.extend(option.branches);
        }
        options.is_exclusive |= key == "oneOf" && options.branches.len() > 1;
        all = all.and(&options);
    }
    if let Some(rest) = members.get("unevaluatedProperties") {
        for branch in &mut all.branches {
            // These may evaluate properties too, or depend on such keywords.
            all.is_exact &= !["if", "not", "dependentSchemas", "patternProperties"]
                .iter()
                .any(|key| branch.contains_key(*key));
            branch.entry("additionalProperties").or_insert_with(|| rest.clone());
        }
    }
    all
}

enum Merged {
    Both(Map<String, Value>),
    Nothing,
    Unknown,
}

/// Merges two schemas into one for values that match both.
fn merge(one: &Map<String, Value>, other: &Map<String, Value>) -> Merged {
    // Keywords beside the properties of one would have to be applied to the properties of the other.
    for (rest, named) in [(one, other), (other, one)] {
        let names_some = ["properties", "patternProperties", "additionalProperties"]
            .iter()
            .any(|key| named.contains_key(*key));
        if rest.contains_key("additionalProperties") && names_some {
            return Merged::Unknown;
        }
        let lists_some = ["prefixItems", "items", "contains"].iter().any(|key| named.contains_key(*key));
        if lists_some && ["items", "contains", "prefixItems"].iter().any(|key| rest.contains_key(*key)) {
            return Merged::Unknown;
        }
    }
    let is_conditional =
        |schema: &Map<String, Value>| ["if", "then", "else"].iter().any(|key| schema.contains_key(*key));
    if is_conditional(one) && is_conditional(other) {
        return Merged::Unknown;
    }
    let mut both = one.clone();
    for (key, value) in other {
        let Some(first) = both.get(key) else {
            both.insert(key.clone(), value.clone());
            continue;
        };
        let merged = match key.as_str() {
            _ if first == value => continue,
            key if is_annotation(key) => value.clone(),
            "default" => first.clone(),
            "type" => {
                let both = types(one) & types(other);
                if both == 0 {
                    return Merged::Nothing;
                }
                names(both)
            }
            "required" => {
                let mut names = first.as_array().cloned().unwrap_or_default();
                let more = value.as_array().into_iter().flatten();
                names.extend(
                    more.filter(|name| !first.as_array().is_some_and(|first| first.contains(name))).cloned(),
                );
                names.into()
            }
            "properties" => merge_properties(first, value),
            _ => return Merged::Unknown,
        };
        both.insert(key.clone(), merged);
    }
    Merged::Both(both)
}

fn merge_properties(one: &Value, other: &Value) -> Value {
    let mut both = one.as_object().cloned().unwrap_or_default();
    for (name, property) in other.as_object().into_iter().flatten() {
        let merged = match both.get(name) {
            Some(first) if first != property => {
                // The place is kept for messages.
                let mut merged = Map::new();
                merged.insert("allOf".into(), json!([first, property]));
                for key in [AT, "default", toolkit_core::schema::ALIASES] {
                    if let Some(value) = property.get(key).or_else(|| first.get(key)) {
                        merged.insert(key.into(), value.clone());
                    }
                }
                merged.into()
            }
            _ => property.clone(),
        };
        both.insert(name.clone(), merged);
    }
    both.into()
}

/// Sets of types, one bit per type. A number is an integer or has a fraction.
pub(super) type Types = u8;
pub(super) const NULL: Types = 1;
pub(super) const BOOLEAN: Types = 2;
pub(super) const INTEGER: Types = 4;
pub(super) const FRACTION: Types = 8;
pub(super) const STRING: Types = 16;
pub(super) const ARRAY: Types = 32;
pub(super) const OBJECT: Types = 64;
pub(super) const ANY: Types = 127;

fn type_of(name: &str) -> Types {
    match name {
        "null" => NULL,
        "boolean" => BOOLEAN,
        "integer" => INTEGER,
        "number" => INTEGER | FRACTION,
        "string" => STRING,
        "array" => ARRAY,
        "object" => OBJECT,
        _ => ANY,
    }
}

/// Returns the types that a branch allows.
pub(super) fn types(branch: &Map<String, Value>) -> Types {
    match branch.get("type") {
        Some(Value::String(name)) => type_of(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).fold(0, |types, name| types | type_of(name))
        }
        _ => ANY,
    }
}

/// Returns each type of a set separately. `number` counts as one if it includes integers.
pub(super) fn each(types: Types) -> impl Iterator<Item = Types> {
    let number = INTEGER | FRACTION;
    let numbers = if types & number == number { vec![number] } else { vec![INTEGER, FRACTION] };
    [NULL, BOOLEAN]
        .into_iter()
        .chain(numbers)
        .chain([STRING, ARRAY, OBJECT])
        .filter(move |each| types & each != 0)
}

/// Returns the set as a value of `type`. Numbers with a fraction have no name of their own.
pub(super) fn names(types: Types) -> Value {
    each(types)
        .map(|each| match each {
            NULL => "null",
            BOOLEAN => "boolean",
            INTEGER => "integer",
            STRING => "string",
            ARRAY => "array",
            OBJECT => "object",
            _ => "number",
        })
        .map(Value::from)
        .collect()
}

/// Writes its place into every schema.
pub(super) fn locate(schema: &mut Value, at: &str) {
    let Value::Object(members) = schema else { return };
    for (key, member) in members.iter_mut() {
        let at = format!("{at}/{}", escape(key));
        match (key.as_str(), member) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(schemas),
            ) => {
                schemas
                    .iter_mut()
                    .for_each(|(name, schema)| locate(schema, &format!("{at}/{}", escape(name))));
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                schemas
                    .iter_mut()
                    .enumerate()
                    .for_each(|(index, schema)| locate(schema, &format!("{at}/{index}")));
            }
            (
                "items"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "unevaluatedItems"
                | "contains"
                | "propertyNames"
                | "not"
                | "if"
                | "then"
                | "else",
                schema,
            ) => locate(schema, &at),
            _ => {}
        }
    }
    members.insert(AT.to_owned(), at.into());
}
