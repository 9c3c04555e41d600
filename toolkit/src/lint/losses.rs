//! Finds the parts of a schema that a provider loses: those reported by the dialects, and those lost when a schema is
//! passed on unchanged.

use super::Findings;
use super::names::is_taken;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use toolkit_dialects::dialect::{Dialect, SchemaLoss};

/// Keywords that are lost when a schema is passed on unchanged, whatever a dialect does with them, and the
/// alternatives.
const LOST: &[(&str, &str)] = &[
    ("not", "describe the accepted values"),
    ("if", "describe the condition in words, or use variants"),
    ("then", "describe the condition in words, or use variants"),
    ("else", "describe the condition in words, or use variants"),
    ("patternProperties", "use a list of objects with a name and a value"),
    ("propertyNames", "describe in words what the names may be"),
    ("prefixItems", "use an object in place of a list with a type per position"),
    ("contains", "describe in words what the list must have"),
    ("minContains", "describe in words what the list must have"),
    ("maxContains", "describe in words what the list must have"),
    ("dependentRequired", "describe in words what goes together, or use variants"),
    ("dependentSchemas", "describe in words what goes together, or use variants"),
    ("dependencies", "describe in words what goes together, or use variants"),
    ("unevaluatedProperties", "use `additionalProperties`"),
    ("unevaluatedItems", "use `items`"),
    ("contentEncoding", "describe in words how the text is encoded"),
    ("contentMediaType", "describe in words what the text holds"),
    ("contentSchema", "describe in words what the text holds"),
    ("$dynamicRef", "use a reference that means the same everywhere"),
];

/// Keywords that are lost only at the root.
const LOST_AT_ROOT: &[&str] = &["oneOf", "anyOf", "allOf", "enum", "const"];

/// Bounds of one value. A dialect without these keywords describes them in the description, and the validation error of
/// a call names the bound, so their loss is not reported. Too many enumerated values have a rule of their own.
const BOUNDS: &[&str] = &[
    "enum",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// The losses of one schema.
#[derive(Default)]
pub(super) struct Losses<'a> {
    by_place: BTreeMap<String, Lost>,
    /// The targets of references, and the parameter in which each was first followed.
    targets: BTreeMap<&'a str, String>,
}

#[derive(Default)]
struct Lost {
    keyword: String,
    /// The dialects that lose it, by reason; empty if no dialect loses it.
    reasons: BTreeMap<String, Vec<Dialect>>,
}

impl<'a> Losses<'a> {
    /// Checks the keywords of the root.
    pub(super) fn of_root(&mut self, schema: &Value) {
        for key in LOST_AT_ROOT.iter().filter(|key| schema.get(**key).is_some()) {
            self.add("", key);
        }
    }

    /// Checks the keywords of a part.
    pub(super) fn of_part(&mut self, members: &Map<String, Value>, pointer: &str) {
        for (key, _) in LOST.iter().filter(|(key, _)| members.contains_key(*key)) {
            self.add(pointer, key);
        }
        if members.get("items").is_some_and(Value::is_array) {
            self.add(pointer, "items");
        }
    }

    /// Records where a reference was followed.
    pub(super) fn followed(&mut self, reference: &'a str, pointer: &str) {
        let target = reference.strip_prefix('#').unwrap_or_default();
        self.targets.entry(target).or_insert_with(|| pointer.to_owned());
    }

    /// Collects the losses that the dialects report. A schema that cannot be strict is not a loss: it is then written
    /// without strict mode.
    pub(super) fn ask_dialects(&mut self, schema: &Value, is_recursive: bool) {
        for dialect in Dialect::ALL {
            for SchemaLoss { pointer, keyword, reason, .. } in dialect.schema(schema).loosened {
                let name = pointer.rsplit('/').next().unwrap_or_default();
                // Recursive schemas, and names that providers refuse, have rules of their own.
                let is_told = match keyword.as_str() {
                    "$ref" => is_recursive,
                    "properties" => !is_taken(name, "_-."),
                    keyword => BOUNDS.contains(&keyword),
                };
                if !is_told {
                    let pointer = self.parameter_at(&pointer);
                    self.add(&pointer, &keyword).reasons.entry(reason).or_default().push(*dialect);
                }
            }
        }
    }

    fn add(&mut self, pointer: &str, keyword: &str) -> &mut Lost {
        let lost = self.by_place.entry(format!("{pointer}/{keyword}")).or_default();
        keyword.clone_into(&mut lost.keyword);
        lost
    }

    /// Returns the parameter that leads to a part, since several parameters may share the part itself.
    fn parameter_at(&self, pointer: &str) -> String {
        let rest = |target: &str| {
            pointer.strip_prefix(target).filter(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // Longest first.
        let mut shared = self.targets.iter().rev().filter(|(target, _)| !target.is_empty());
        let found = shared.find_map(|(target, place)| Some(format!("{place}{}", rest(target)?)));
        found.unwrap_or_else(|| pointer.to_owned())
    }

    /// Reports the losses: keyword, place, dialects, and a solution.
    pub(super) fn tell(&self, findings: &mut Findings) {
        for (place, Lost { keyword, reasons }) in &self.by_place {
            let in_dialects = |(reason, dialects): (&String, &Vec<Dialect>)| {
                let names: Vec<&str> = dialects.iter().map(|dialect| dialect.name()).collect();
                format!("in {} ({reason})", names.join(", "))
            };
            let mut lost: Vec<String> = reasons.iter().map(in_dialects).collect();
            if lost.is_empty() {
                lost.push("where a schema is handed to a model as it is".to_owned());
            }
            let is_at_root = place.matches('/').count() == 1 && LOST_AT_ROOT.contains(&keyword.as_str());
            let advice = LOST.iter().find(|(key, _)| key == keyword).map(|(_, advice)| *advice);
            let advice = match keyword.as_str() {
                "items" => "use an object in place of a list with a type per position",
                _ if is_at_root => "move it into a parameter",
                _ => advice.unwrap_or("state it in the description"),
            };
            findings.add(
                "lost-by-provider",
                place,
                format!("`{keyword}` is lost {}; {advice}", lost.join(", ")),
            );
        }
    }
}
