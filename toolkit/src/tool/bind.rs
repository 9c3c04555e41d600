//! Bound arguments: hidden from models, and passed to the function.

use serde_json::{Map, Value};
use toolkit_core::schema::Compiled;

/// The bound arguments, by name, with their values.
#[derive(Debug, Clone, Default)]
pub(super) struct Bindings(Map<String, Value>);

/// Keywords at the root of a schema that may apply to an argument without naming it under `properties`.
const BEYOND: [&str; 16] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "maxProperties",
    "minProperties",
    "patternProperties",
    "propertyNames",
];

impl Bindings {
    pub(super) fn add(&mut self, argument: String, value: Value) {
        self.0.insert(argument, value);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn values(&self) -> &Map<String, Value> {
        &self.0
    }

    pub(super) fn names(&self) -> Box<[String]> {
        self.0.keys().cloned().collect()
    }

    /// Returns the schema, with annotations, without the bound arguments.
    ///
    /// # Errors
    ///
    /// Returns the reason why an argument cannot be bound, as text to follow the tool's name.
    pub(super) fn narrow(&self, whole: &Compiled) -> Result<Value, String> {
        let mut schema = whole.annotated.clone();
        let Some(root) = schema.as_object_mut() else { return Err("takes no arguments".to_owned()) };
        if let Some(key) = BEYOND.iter().find(|key| root.contains_key(**key)) {
            return Err(format!(
                "cannot have arguments bound: its schema has `{key}` at the root, so the remaining schema is unclear"
            ));
        }
        for (name, value) in &self.0 {
            let properties = root.get_mut("properties").and_then(Value::as_object_mut);
            let Some(property) = properties.and_then(|properties| properties.shift_remove(name)) else {
                return Err(format!("has no argument `{name}` that could be bound"));
            };
            fits(name, property, whole, value)?;
            if let Some(required) = root.get_mut("required").and_then(Value::as_array_mut) {
                required.retain(|required| required != name);
            }
        }
        if root.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
            root.shift_remove("required");
        }
        Ok(schema)
    }
}

/// Checks that a value matches its argument's schema.
fn fits(name: &str, property: Value, whole: &Compiled, value: &Value) -> Result<(), String> {
    let mut document = Map::new();
    for key in ["$schema", "$defs", "definitions"] {
        if let Some(definitions) = whole.schema.get(key) {
            document.insert(key.to_owned(), definitions.clone());
        }
    }
    document.insert("type".into(), "object".into());
    document.insert("properties".into(), Map::from_iter([(name.to_owned(), property)]).into());
    let document = Value::Object(document);
    let is_fit = Compiled::foreign(name, document).is_ok_and(|compiled| {
        compiled.validator().is_valid(&Map::from_iter([(name.to_owned(), value.clone())]).into())
    });
    if is_fit {
        return Ok(());
    }
    let expected = whole.schema.get("properties").and_then(|properties| properties.get(name));
    let expected = expected.map_or_else(|| "another value".to_owned(), |schema| whole.describe_type(schema));
    // The value is not shown: it may be a secret that was bound to hide it from models.
    Err(format!("cannot have `{name}` bound to this value: it takes {expected}"))
}
