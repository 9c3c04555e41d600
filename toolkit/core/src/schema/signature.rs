//! Formats a tool's parameters in one line, for error messages.

use super::describe::{cut_list, literals, plain};
use super::{Compiled, resolve};
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// The maximum depth to which a type is written out.
const DEEPEST_WORD: usize = 2;

impl Compiled {
    /// Formats the tool's parameters in one line: `read(file_path: string, offset?: integer = 1)`.
    #[doc(hidden)]
    pub fn signature(&self) -> String {
        let mut parameters: Vec<(&str, Vec<String>, bool, Option<&Value>)> = Vec::new();
        for (branch, is_shared) in branches(&self.schema) {
            let required = branch.get("required").and_then(Value::as_array);
            let properties = branch.get("properties").and_then(Value::as_object);
            for (name, schema) in properties.into_iter().flatten() {
                let is_required = is_shared
                    && required.is_some_and(|required| required.iter().any(|other| other == name))
                    || !is_shared && all_require(&self.schema, name);
                let word = self.type_word(schema, 0);
                match parameters.iter_mut().find(|(other, ..)| other == name) {
                    None => parameters.push((name, vec![word], is_required, schema.get("default"))),
                    Some((_, words, ..)) if words.contains(&word) => {}
                    Some((_, words, ..)) => words.push(word),
                }
            }
        }
        let parameters: Vec<String> = parameters
            .into_iter()
            .map(|(name, words, is_required, default)| {
                let mut text = format!("{name}{}: {}", if is_required { "" } else { "?" }, words.join(" | "));
                if let Some(default) = default {
                    let _ = write!(text, " = {}", plain(default));
                }
                text
            })
            .collect();
        format!("{}({})", self.name, parameters.join(", "))
    }

    fn type_word(&self, schema: &Value, depth: usize) -> String {
        let schema = resolve(schema, &self.schema);
        if depth > DEEPEST_WORD {
            return "any".to_owned();
        }
        if let Some(options) = literals(schema) {
            return cut_list(&options.iter().map(plain).collect::<Vec<_>>(), " | ");
        }
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "array" => match schema.get("items") {
                Some(items) if items.is_object() => {
                    let word = self.type_word(items, depth + 1);
                    if word.contains(" | ") { format!("({word})[]") } else { format!("{word}[]") }
                }
                _ => "array".to_owned(),
            },
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => {
                kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ")
            }
            _ => match schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array) {
                Some(options) => {
                    let mut words: Vec<String> = Vec::new();
                    for option in options {
                        let word = self.type_word(option, depth + 1);
                        if !words.contains(&word) {
                            words.push(word);
                        }
                    }
                    words.join(" | ")
                }
                None => "any".to_owned(),
            },
        }
    }
}

/// Returns the root, its parts and its variants, each with true if its required properties are always required.
fn branches(root: &Value) -> Vec<(&Map<String, Value>, bool)> {
    let mut branches: Vec<_> = root.as_object().map(|root| (root, true)).into_iter().collect();
    for (key, is_shared) in [("allOf", true), ("oneOf", false), ("anyOf", false)] {
        let parts = root.get(key).and_then(Value::as_array).into_iter().flatten();
        branches
            .extend(parts.filter_map(|part| resolve(part, root).as_object()).map(|part| (part, is_shared)));
    }
    branches
}

/// Returns true if every variant of the root requires the property.
fn all_require(root: &Value, name: &str) -> bool {
    ["oneOf", "anyOf"].iter().filter_map(|key| root.get(*key)?.as_array()).any(|options| {
        options.iter().all(|option| {
            let required = resolve(option, root).get("required").and_then(Value::as_array);
            required.is_some_and(|required| required.iter().any(|other| other == name))
        })
    })
}
