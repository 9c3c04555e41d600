//! The size limits of a strict schema, by OpenAI's guide to structured outputs.

use super::{Rewriter, SchemaLoss};
use serde_json::Value;

const MAX_PROPERTIES: usize = 5000;
const MAX_LEVELS: usize = 10;
const MAX_VALUES: usize = 1000;
const MAX_CHARACTERS: usize = 120_000;

#[derive(Default)]
struct Size {
    properties: usize,
    levels: usize,
    values: usize,
    characters: usize,
}

impl Rewriter<'_> {
    /// Checks that the schema is small enough to be strict.
    pub(super) fn check_limits(&mut self, schema: &Value) {
        let mut size = Size::default();
        measure(schema, 0, &mut size);
        let Size { properties, levels, values, characters } = size;
        let over = [
            (properties, MAX_PROPERTIES, "properties"),
            (levels, MAX_LEVELS, "levels of objects and lists"),
            (values, MAX_VALUES, "values of enums"),
            (characters, MAX_CHARACTERS, "characters of names and of values of enums"),
        ];
        let over = over.iter().find(|(count, most, _)| count > most);
        if let (Some((count, most, what)), None) = (over, &self.impossible) {
            self.impossible = Some(SchemaLoss {
                pointer: String::new(),
                keyword: "properties".to_owned(),
                reason: format!("it has {count} {what}, and a strict schema at most {most}"),
            });
        }
    }
}

fn measure(schema: &Value, level: usize, size: &mut Size) {
    let characters = |text: &str| text.chars().count();
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        size.values += values.len();
        size.characters += values.iter().filter_map(Value::as_str).map(characters).sum::<usize>();
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let items = schema.get("items");
    let level = if properties.is_some() || items.is_some() { level + 1 } else { level };
    size.levels = size.levels.max(level);
    for (name, property) in properties.into_iter().flatten() {
        size.properties += 1;
        size.characters += characters(name);
        measure(property, level, size);
    }
    for inner in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten().chain(items) {
        measure(inner, level, size);
    }
}
