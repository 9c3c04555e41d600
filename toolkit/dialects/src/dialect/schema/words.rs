//! Requirements that a dialect does not express, in words for the description.

use serde_json::{Map, Value};

/// The most characters of a value that are repeated.
const LONGEST_VALUE: usize = 120;

/// Returns the requirement of a keyword of one type as a sentence; `None` if it is too long.
pub(super) fn demand(key: &str, value: &Value) -> Option<String> {
    let count = |one: &str, many: &str| {
        let count = value.as_u64()?;
        Some(format!("{count} {}", if count == 1 { one } else { many }))
    };
    Some(match key {
        "minLength" => format!("At least {}.", count("character", "characters")?),
        "maxLength" => format!("At most {}.", count("character", "characters")?),
        "minItems" => format!("At least {}.", count("item", "items")?),
        "maxItems" => format!("At most {}.", count("item", "items")?),
        "minProperties" => format!("At least {}.", count("property", "properties")?),
        "maxProperties" => format!("At most {}.", count("property", "properties")?),
        "pattern" => format!("Matches the regular expression `{}`.", short(value.as_str()?)),
        "format" => format!("Format: {}.", short(value.as_str()?)),
        "multipleOf" => format!("A multiple of {value}."),
        "exclusiveMinimum" => format!("Greater than {value}."),
        "exclusiveMaximum" => format!("Less than {value}."),
        "minimum" => format!("At least {value}."),
        "maximum" => format!("At most {value}."),
        "uniqueItems" if value == &Value::Bool(true) => "No item twice.".to_owned(),
        "default" => format!("Default: {}.", short(&value.to_string())),
        "examples" => {
            let examples = value.as_array()?.iter().take(3).map(|example| short(&example.to_string()));
            let examples: Vec<String> = examples.collect();
            if examples.is_empty() {
                return None;
            }
            format!("For example {}.", examples.join(", "))
        }
        "enum" => {
            let values = value.as_array()?.iter().take(20).map(|value| short(&value.to_string()));
            format!("One of {}.", values.collect::<Vec<_>>().join(", "))
        }
        "dependentRequired" => {
            let needs = value.as_object()?.iter().take(5).filter_map(|(name, needed)| {
                let needed = super::document::names(Some(needed));
                (!needed.is_empty()).then(|| format!("`{name}` needs `{}`.", needed.join("`, `")))
            });
            let needs: Vec<String> = needs.collect();
            if needs.is_empty() {
                return None;
            }
            needs.join(" ")
        }
        _ => return None,
    })
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST_VALUE) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Adds sentences to the description.
pub(super) fn add(schema: &mut Map<String, Value>, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    let mut text =
        schema.get("description").and_then(Value::as_str).unwrap_or_default().trim_end().to_owned();
    for sentence in sentences {
        if text.contains(sentence.as_str()) {
            continue;
        }
        if text.contains('\n') {
            text.push('\n');
        } else if !text.is_empty() {
            text.push_str(if text.ends_with(['.', '!', '?', ':', ')', '…']) { " " } else { ". " });
        }
        text.push_str(sentence);
    }
    schema.shift_remove("description");
    schema.shift_insert(0, "description".into(), text.into());
}

/// Describes the variants of an object in one sentence: which properties belong together. `None` if all have the same.
pub(super) fn variants(alternatives: &[Map<String, Value>]) -> Option<String> {
    const MAX_VARIANTS: usize = 12;
    let mut shapes: Vec<String> = Vec::new();
    let none = Map::new();
    for alternative in alternatives {
        let required = super::document::names(alternative.get("required"));
        let properties = alternative.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let named =
            properties.iter().filter(|(_, schema)| **schema != Value::Bool(false)).map(|(name, schema)| {
                let optional = if required.contains(&name.as_str()) { "" } else { "?" };
                match schema.as_object().and_then(super::kind::values).as_deref() {
                    Some([value]) => format!("{name}{optional}: {}", short(&value.to_string())),
                    _ => format!("{name}{optional}"),
                }
            });
        let unnamed = required.iter().filter(|name| !properties.contains_key(**name));
        let members: Vec<String> = named.chain(unnamed.map(|name| (*name).to_owned())).collect();
        let shape = format!("{{{}}}", members.join(", "));
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    if shapes.len() < 2 {
        return None;
    }
    let more = match shapes.len().saturating_sub(MAX_VARIANTS) {
        0 => String::new(),
        count => format!("; {count} more"),
    };
    shapes.truncate(MAX_VARIANTS);
    Some(format!("The arguments are one of: {}{more}.", shapes.join("; ")))
}
