//! Checks schemas: parameters that say too little, and schemas that providers refuse.

use super::Findings;
use super::losses::Losses;
use super::names::{is_taken, pairs};
use super::shape::unreachable;
use super::texts::printable;
use crate::search::{stems_of, words_of};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use toolkit_core::escape::escape_line;
use toolkit_core::schema::Validator;

/// The maximum nesting of objects and lists in the strict modes of providers.
const DEEPEST: usize = 10;
/// The maximum number of enumerated values that providers accept in one tool.
const MAX_VALUES: usize = 1_000;
/// The maximum depth to which a schema is checked.
const LIMIT: usize = 64;
/// The maximum number of parts of a schema that are checked.
const MAX_PARTS: usize = 20_000;

pub(super) fn check(schema: &Value, findings: &mut Findings) {
    let mut walk = Walk {
        root: schema,
        findings,
        parts: 0,
        values: 0,
        deep: false,
        open: Vec::new(),
        told: BTreeSet::new(),
        losses: Losses::default(),
    };
    walk.losses.of_root(schema);
    walk.part(schema, String::new(), 0, 0);
    // Recursive schemas have a rule of their own.
    let is_recursive = !walk.told.is_empty();
    walk.losses.ask_dialects(schema, is_recursive);
    walk.losses.tell(walk.findings);
    if walk.values > MAX_VALUES {
        let message = format!(
            "there are {} enum values, more than {MAX_VALUES}; use a string, and say where its values are found",
            walk.values
        );
        walk.findings.add("large-enum", "", message);
    }
}

struct Walk<'a, 'b> {
    root: &'a Value,
    findings: &'b mut Findings,
    parts: usize,
    values: usize,
    deep: bool,
    /// The references that are being followed.
    open: Vec<&'a str>,
    /// The references that were followed or found to be recursive.
    told: BTreeSet<&'a str>,
    losses: Losses<'a>,
}

impl<'a> Walk<'a, '_> {
    /// Checks a part of the schema; `depth` counts objects and lists, `level` counts all steps.
    fn part(&mut self, schema: &'a Value, pointer: String, depth: usize, level: usize) {
        self.parts += 1;
        let Some(members) = schema.as_object().filter(|_| level < LIMIT && self.parts < MAX_PARTS) else {
            return;
        };
        self.losses.of_part(members, &pointer);
        self.values += members.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
        let holds = members.contains_key("properties") || members.contains_key("items");
        let depth = depth + usize::from(holds);
        if depth > DEEPEST && !self.deep {
            self.deep = true;
            let message = format!("it is more than {DEEPEST} levels deep; use fewer, or a string with JSON");
            self.findings.add("deep-schema", &pointer, message);
        }
        self.properties(members, &pointer, depth, level);
        for key in ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"]
        {
            if let Some(inner) = members.get(key) {
                self.part(inner, format!("{pointer}/{key}"), depth, level + 1);
            }
        }
        if let Some(variants) = members.get("anyOf").and_then(Value::as_array) {
            unreachable(variants, &pointer, self.findings);
        }
        for key in ["oneOf", "anyOf", "allOf", "prefixItems"] {
            for (number, inner) in
                members.get(key).and_then(Value::as_array).into_iter().flatten().enumerate()
            {
                self.part(inner, format!("{pointer}/{key}/{number}"), depth, level + 1);
            }
        }
        if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
            self.follow(reference, pointer, depth, level);
        }
    }

    fn follow(&mut self, reference: &'a str, pointer: String, depth: usize, level: usize) {
        if self.open.contains(&reference) {
            if self.told.insert(reference) {
                let message =
                    format!("`{}` refers to itself; providers cut it or refuse it", escape_line(reference));
                self.findings.add("recursive-schema", &format!("{pointer}/$ref"), message);
            }
            return;
        }
        let target = reference.strip_prefix('#').and_then(|target| self.root.pointer(target));
        if let Some(target) = target {
            self.losses.followed(reference, &pointer);
            self.open.push(reference);
            self.part(target, pointer, depth, level + 1);
            self.open.pop();
        }
    }

    fn properties(&mut self, members: &'a Map<String, Value>, pointer: &str, depth: usize, level: usize) {
        let properties = members.get("properties").and_then(Value::as_object);
        let names: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        for required in
            members.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            if !names.contains(&required) && properties.is_some() {
                let message =
                    format!("`{}` is required, but not described by a property", escape_line(required));
                self.findings.add("required-but-absent", &format!("{pointer}/required"), message);
            }
        }
        for (first, second) in pairs(&names) {
            let message = format!(
                "it is easily mistaken for `{}`; choose names that show the difference",
                names[first]
            );
            self.findings.add("similar-parameters", &place(pointer, names[second]), message);
        }
        for (name, parameter) in properties.into_iter().flatten() {
            let place = place(pointer, name);
            // The tag of a variant has one value, so the variant's description describes it.
            let is_described = parameter.get("const").is_some() && members.contains_key("description");
            self.parameter(name, parameter, &place, is_described);
            self.part(parameter, place, depth, level + 1);
        }
    }

    /// Checks a parameter; `is_described` is true if it needs no description of its own.
    fn parameter(&mut self, name: &str, parameter: &'a Value, place: &str, is_described: bool) {
        if !is_taken(name, "_-.") {
            let message = "providers take letters, digits, `_`, `-` and `.` in the name of a parameter, at most 64; rename it";
            self.findings.add("parameter-name-refused", place, message.to_owned());
        }
        // The target of a reference counts too.
        let target =
            parameter.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        let target = target.and_then(|target| self.root.pointer(target));
        let text = |schema: &Value| schema.get("description").and_then(Value::as_str).map(str::to_owned);
        let description = text(parameter).or_else(|| target.and_then(text)).unwrap_or_default();
        let words = words_of(&description);
        if words.is_empty() && !is_described {
            let message =
                "it has no description; say what it is, its unit, and what happens without it".to_owned();
            self.findings.add("parameter-without-description", place, message);
        } else if !words.is_empty() && repeats(name, &description) {
            let message = "its description only repeats its name; say what it is, its unit, and what happens without it";
            self.findings.add("parameter-repeats-name", place, message.to_owned());
        }
        printable(place, &description, self.findings);
        let says_type = ["type", "enum", "const", "$ref", "oneOf", "anyOf", "allOf", "properties", "items"];
        // "Any JSON" is a type too, if it is stated.
        let takes_any =
            parameter.get("description").and_then(Value::as_str).is_some_and(|text| text.contains("JSON"));
        let is_untyped = says_type.iter().all(|key| parameter.get(*key).is_none());
        if parameter != &Value::Bool(false) && is_untyped && !takes_any {
            let message = "it has no type, so a model can only guess; state `type`".to_owned();
            self.findings.add("untyped-parameter", place, message);
        }
        if let Some(default) = parameter.get("default")
            && !default_fits(parameter, default, self.root)
        {
            self.findings.add(
                "default-does-not-fit",
                &format!("{place}/default"),
                "its own schema rejects it".to_owned(),
            );
        }
    }
}

/// Returns true if a text says no more than a name.
fn repeats(name: &str, text: &str) -> bool {
    let (name, text) = (stems_of(name), stems_of(text));
    !text.is_empty() && text.iter().all(|stem| name.contains(stem))
}

/// Returns true if a parameter's own schema accepts its default, or if that schema cannot be checked.
fn default_fits(parameter: &Value, default: &Value, root: &Value) -> bool {
    let mut schema = parameter.clone();
    for key in ["$defs", "definitions"] {
        if let (Some(members), Some(shared)) = (schema.as_object_mut(), root.get(key)) {
            members.insert(key.to_owned(), shared.clone());
        }
    }
    Validator::new(&schema).map_or(true, |validator| validator.is_valid(default))
}

fn place(pointer: &str, name: &str) -> String {
    format!("{pointer}/properties/{}", toolkit_core::pointer::escape(name))
}
