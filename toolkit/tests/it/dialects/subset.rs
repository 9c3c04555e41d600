//! The subset of JSON Schema that each provider documents, as a check of the written schemas that shares no code with the writer.

use serde_json::{Map, Value};
use toolkit::dialects::Dialect;

/// Why a provider would refuse the schema of a tool.
pub(crate) fn fault(dialect: Dialect, schema: &Value, is_strict: bool) -> Option<String> {
    let root = schema.as_object()?;
    if root.get("type").and_then(Value::as_str) != Some("object") {
        return Some("the root is no object".to_owned());
    }
    if !root.get("properties").is_some_and(Value::is_object) {
        return Some("the root has no properties".to_owned());
    }
    let banned: &[&str] = match dialect {
        Dialect::Anthropic => &["oneOf", "anyOf", "allOf"],
        // The protocol has servers keep `allOf` beside an object's properties.
        Dialect::Mcp => &["oneOf", "anyOf", "$ref", "$dynamicRef", "$recursiveRef"],
        Dialect::OpenAiChat
        | Dialect::OpenAiChatStrict
        | Dialect::OpenAiResponses
        | Dialect::OpenAiResponsesStrict
        | Dialect::Gemini => &["oneOf", "anyOf", "allOf", "enum", "const", "not"],
        other => panic!("{other} needs the keywords that its provider refuses at the root"),
    };
    if let Some(key) = banned.iter().find(|key| root.contains_key(**key)) {
        return Some(format!("`{key}` at the root"));
    }
    let rule: fn(&Map<String, Value>) -> Option<String> = match dialect {
        Dialect::Mcp => return None,
        Dialect::Anthropic => anthropic,
        Dialect::Gemini => gemini,
        Dialect::OpenAiChatStrict | Dialect::OpenAiResponsesStrict if is_strict => strict,
        Dialect::OpenAiChat
        | Dialect::OpenAiChatStrict
        | Dialect::OpenAiResponses
        | Dialect::OpenAiResponsesStrict => openai,
        other => {
            panic!("{other} needs the rule of one part; for all of JSON Schema, one that returns `None`")
        }
    };
    if is_strict && let Some(fault) = strict_sizes(schema) {
        return Some(fault);
    }
    each(schema, rule)
}

/// The first fault that a rule finds in any part.
fn each(schema: &Value, rule: fn(&Map<String, Value>) -> Option<String>) -> Option<String> {
    let Value::Object(part) = schema else { return None };
    if part.contains_key("$ref") || part.contains_key("$defs") || part.contains_key("$schema") {
        return Some(format!("a reference or a name of a document in {schema}"));
    }
    if part.keys().any(|key| key.contains('\u{0}') || key == "title") {
        return Some(format!("something that was to be left out in {schema}"));
    }
    if let Some(fault) = rule(part) {
        return Some(format!("{fault}: {schema}"));
    }
    parts(part).find_map(|inner| each(inner, rule))
}

fn parts(part: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let one = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];
    let lists = ["anyOf", "oneOf", "allOf", "prefixItems"];
    let named = ["properties", "patternProperties", "dependentSchemas"];
    one.into_iter()
        .filter_map(|key| part.get(key))
        .chain(lists.into_iter().filter_map(|key| part.get(key)?.as_array()).flatten())
        .chain(named.into_iter().filter_map(|key| part.get(key)?.as_object()).flat_map(Map::values))
}

fn only(part: &Map<String, Value>, known: &[&str]) -> Option<String> {
    part.keys().find(|key| !known.contains(&key.as_str())).map(|key| format!("the keyword `{key}`"))
}

fn kinds(part: &Map<String, Value>) -> Vec<&str> {
    match part.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(kind)) => vec![kind],
        _ => Vec::new(),
    }
}

/// Lists say what is in them; Responses has no `oneOf`, and nobody makes a grammar of some keywords.
fn openai(part: &Map<String, Value>) -> Option<String> {
    let known = [
        "type",
        "description",
        "default",
        "examples",
        "enum",
        "const",
        "anyOf",
        "allOf",
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "minProperties",
        "maxProperties",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "uniqueItems",
        "contentEncoding",
    ];
    if let Some(fault) = only(part, &known) {
        return Some(fault);
    }
    if part.get("uniqueItems") == Some(&Value::Bool(true))
        || part.get("format").is_some_and(|format| format == "unheard-of")
    {
        return Some("what no grammar is made of".to_owned());
    }
    let patterns = part.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let pattern = part.get("pattern").and_then(Value::as_str);
    if patterns.map(String::as_str).chain(pattern).any(looks_around) {
        return Some("a pattern that looks around".to_owned());
    }
    (kinds(part).contains(&"array") && !part.contains_key("items")).then(|| "a list without items".to_owned())
}

fn looks_around(pattern: &str) -> bool {
    ["(?!", "(?=", "(?<!", "(?<="].iter().any(|part| pattern.contains(part))
}

fn strict(part: &Map<String, Value>) -> Option<String> {
    let known = [
        "type",
        "description",
        "enum",
        "anyOf",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "pattern",
        "format",
    ];
    if let Some(fault) = only(part, &known) {
        return Some(fault);
    }
    let kinds = kinds(part);
    if kinds.is_empty() && !part.contains_key("anyOf") {
        return Some("no type".to_owned());
    }
    if kinds.len() > 2 || kinds.len() == 2 && kinds[1] != "null" {
        return Some("more than one type".to_owned());
    }
    if kinds.contains(&"array") && !part.get("items").is_some_and(Value::is_object) {
        return Some("a list without items".to_owned());
    }
    let formats = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
    if let Some(format) = part.get("format").and_then(Value::as_str)
        && !formats.contains(&format)
    {
        return Some(format!("the format {format}"));
    }
    if part.get("pattern").and_then(Value::as_str).is_some_and(looks_around) {
        return Some("a pattern that looks around".to_owned());
    }
    if kinds.contains(&"object") {
        let properties: Vec<&String> = part.get("properties")?.as_object()?.keys().collect();
        let required: Vec<&str> =
            part.get("required")?.as_array()?.iter().filter_map(Value::as_str).collect();
        if properties != required {
            return Some("not all are required".to_owned());
        }
        if part.get("additionalProperties") != Some(&Value::Bool(false)) {
            return Some("an open object".to_owned());
        }
    }
    None
}

fn strict_sizes(schema: &Value) -> Option<String> {
    #[derive(Default)]
    struct Sizes {
        properties: usize,
        values: usize,
        deepest: usize,
    }
    fn walk(schema: &Value, depth: usize, sizes: &mut Sizes) {
        let Value::Object(part) = schema else { return };
        let is_level = kinds(part).iter().any(|kind| matches!(*kind, "object" | "array"));
        let depth = depth + usize::from(is_level);
        sizes.deepest = sizes.deepest.max(depth);
        sizes.properties += part.get("properties").and_then(Value::as_object).map_or(0, Map::len);
        sizes.values += part.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
        parts(part).for_each(|inner| walk(inner, depth, sizes));
    }
    let mut sizes = Sizes::default();
    walk(schema, 0, &mut sizes);
    (sizes.properties > 5000 || sizes.values > 1000 || sizes.deepest > 10).then(|| "too large".to_owned())
}

fn anthropic(part: &Map<String, Value>) -> Option<String> {
    let is_legal = |name: &String| {
        (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
    };
    let properties = part.get("properties").and_then(Value::as_object);
    properties
        .and_then(|properties| properties.keys().find(|name| !is_legal(name)))
        .map(|name| format!("the name {name:?}"))
}

fn gemini(part: &Map<String, Value>) -> Option<String> {
    let known = [
        "type",
        "format",
        "description",
        "enum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "properties",
        "additionalProperties",
        "required",
    ];
    if let Some(fault) = only(part, &known) {
        return Some(fault);
    }
    let values = part.get("enum").and_then(Value::as_array);
    if values.is_some_and(|values| values.iter().any(|value| !value.is_string() && !value.is_number())) {
        return Some("an enum of other values than texts and numbers".to_owned());
    }
    let formats = ["date-time", "date", "time"];
    part.get("format")
        .and_then(Value::as_str)
        .filter(|format| !formats.contains(format))
        .map(|format| format!("the format {format}"))
}
