//! Descriptions of schemas for people at a terminal.

use crate::kinds::Kinds;
use crate::parameter_type::ParameterType;
use serde_json::Value;

/// The names of the kinds of values, in the order in which they are listed.
const KINDS: [(Kinds, &str); 7] = [
    (Kinds::FRACTION, "number"),
    (Kinds::INTEGER, "integer"),
    (Kinds::STRING, "string"),
    (Kinds::BOOLEAN, "boolean"),
    (Kinds::ARRAY, "list"),
    (Kinds::OBJECT, "object"),
    (Kinds::NULL, "null"),
];

/// Returns a type in a few words: `integer`, `slow|fast`, `list of string`.
pub(crate) fn type_word(ty: &ParameterType<'_>) -> String {
    if let Some(choices) = ty.choices() {
        return choices.into_iter().map(plain).collect::<Vec<_>>().join("|");
    }
    let kinds = ty.kinds();
    if kinds == Kinds::ANY {
        return "any JSON".to_owned();
    }
    let has_fraction = kinds.has(Kinds::FRACTION);
    let names = KINDS.into_iter().filter(|(kind, _)| kinds.has(*kind));
    let names = names.filter(|(kind, _)| !(has_fraction && *kind == Kinds::INTEGER));
    let names = names.map(|(kind, name)| match kind {
        Kinds::ARRAY if !ty.tuple().is_empty() => {
            let items: Vec<String> = ty.tuple().iter().map(type_word).collect();
            format!("[{}]", items.join(", "))
        }
        Kinds::ARRAY if ty.item(0).kinds() != Kinds::ANY => format!("list of {}", type_word(&ty.item(0))),
        Kinds::OBJECT if ty.keyword("properties").is_none() => match ty.values() {
            Some(values) => format!("map of {}", type_word(&values)),
            None => name.to_owned(),
        },
        Kinds::STRING => match ty.keyword("format").and_then(Value::as_str) {
            Some(format) => format!("{name} ({format})"),
            None => name.to_owned(),
        },
        _ => name.to_owned(),
    });
    names.collect::<Vec<_>>().join("|")
}

/// Returns the placeholder for a flag's value in help: `INTEGER`, `slow|fast`, `JSON`.
pub(crate) fn value_name(ty: &ParameterType<'_>) -> String {
    if let Some(choices) = ty.choices() {
        return choices.into_iter().map(plain).collect::<Vec<_>>().join("|");
    }
    if is_boolean(ty) {
        return "true|false".to_owned();
    }
    let kinds = ty.kinds();
    if kinds.without(Kinds::NULL) == Kinds::ARRAY {
        let item = ty.item(0);
        if !ty.tuple().is_empty() {
            return "JSON".to_owned();
        }
        return if item.kinds().has(Kinds::ARRAY) { "JSON".to_owned() } else { value_name(&item) };
    }
    if kinds == Kinds::ANY || kinds.has(Kinds::OBJECT) {
        "JSON".to_owned()
    } else {
        let word = type_word(ty);
        word.split(" (").next().unwrap_or_default().to_uppercase()
    }
}

/// Returns true if a type allows only `true` and `false`.
pub(crate) fn is_boolean(ty: &ParameterType<'_>) -> bool {
    ty.kinds().without(Kinds::NULL) == Kinds::BOOLEAN
}

/// Returns the constraints of a type beyond its kind, and its default: `at least 1`, `default 10`.
pub(crate) fn rules(ty: &ParameterType<'_>) -> Vec<String> {
    let mut rules = Vec::new();
    let number = |key: &str| ty.keyword(key).filter(|bound| !is_limit_of_type(bound));
    rules.extend(range(number("minimum"), number("maximum"), ""));
    rules.extend(number("exclusiveMinimum").map(|bound| format!("above {bound}")));
    rules.extend(number("exclusiveMaximum").map(|bound| format!("below {bound}")));
    rules.extend(number("multipleOf").map(|step| format!("a multiple of {step}")));
    for (least, greatest, unit) in [
        ("minLength", "maxLength", " character"),
        ("minItems", "maxItems", " item"),
        ("minProperties", "maxProperties", " entry"),
    ] {
        rules.extend(range(ty.keyword(least), ty.keyword(greatest), unit));
    }
    if ty.keyword("uniqueItems") == Some(&Value::Bool(true)) {
        rules.push("no item twice".to_owned());
    }
    rules.extend(ty.keyword("pattern").map(|pattern| format!("matches {}", plain(pattern))));
    rules.extend(ty.keyword("default").map(|default| format!("default {default}")));
    if let Some(Value::Array(examples)) = ty.keyword("examples") {
        rules.extend(examples.first().map(|example| format!("for instance {example}")));
    }
    rules
}

fn range(least: Option<&Value>, greatest: Option<&Value>, unit: &str) -> Option<String> {
    let unit = match (greatest.or(least).and_then(Value::as_u64), unit) {
        (_, "") | (Some(1), _) => unit.to_owned(),
        (_, " entry") => " entries".to_owned(),
        _ => format!("{unit}s"),
    };
    match (least, greatest) {
        (Some(least), Some(greatest)) if least == greatest => Some(format!("exactly {least}{unit}")),
        (Some(least), Some(greatest)) => Some(format!("{least} to {greatest}{unit}")),
        (Some(least), None) => Some(format!("at least {least}{unit}")),
        (None, Some(greatest)) => Some(format!("at most {greatest}{unit}")),
        (None, None) => None,
    }
}

/// Returns true if a bound is only the limit of an integer type.
fn is_limit_of_type(bound: &Value) -> bool {
    let limits = [i32::MIN.into(), i32::MAX.into(), u32::MAX.into(), i64::MIN, i64::MAX];
    bound.as_i64().is_some_and(|bound| limits.contains(&bound)) || bound.as_u64() == Some(u64::MAX)
}

/// A value as a person would type it.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The first sentence of a description, on one line.
pub(crate) fn first_sentence(description: &str) -> String {
    let paragraph = description.trim().split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let ends = line.match_indices(['.', '!', '?']).map(|(at, _)| at + 1);
    // A sentence begins with a capital letter; `e.g. this` does not end one.
    let end = ends.into_iter().find(|end| {
        let mut rest = line[*end..].chars();
        rest.next().is_none_or(|space| space == ' ' && rest.next().is_some_and(|first| !first.is_lowercase()))
    });
    line[..end.unwrap_or(line.len())].to_owned()
}

/// Every line of a text behind `indent`, empty ones aside.
pub(crate) fn indented(text: &str, indent: &str) -> String {
    text.lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{indent}{line}\n") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter_type::tests::typed;
    use serde_json::json;

    #[test]
    fn types_and_rules() {
        for (schema, word, name, expected) in [
            (
                json!({"type": "integer", "minimum": 1, "default": 1}),
                "integer",
                "INTEGER",
                "at least 1, default 1",
            ),
            (json!({"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX}), "integer", "INTEGER", ""),
            (
                json!({"type": "integer", "minimum": 0, "maximum": u64::MAX}),
                "integer",
                "INTEGER",
                "at least 0",
            ),
            (json!({"type": "number", "exclusiveMaximum": 1.5}), "number", "NUMBER", "below 1.5"),
            (
                json!({"enum": ["slow", "fast"], "default": "slow"}),
                "slow|fast",
                "slow|fast",
                "default \"slow\"",
            ),
            (
                json!({"type": "string", "maxLength": 5, "pattern": "^a"}),
                "string",
                "STRING",
                "at most 5 characters, matches ^a",
            ),
            (
                json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1}),
                "list of string",
                "STRING",
                "exactly 1 item",
            ),
            (json!({"type": ["integer", "string"]}), "integer|string", "INTEGER|STRING", ""),
            (json!({"type": "object"}), "object", "JSON", ""),
            (json!({"type": "string", "format": "uri"}), "string (uri)", "STRING", ""),
            (
                json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}),
                "[string, integer]",
                "JSON",
                "",
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "integer"}}),
                "map of integer",
                "JSON",
                "",
            ),
            (json!({}), "any JSON", "JSON", ""),
        ] {
            let ty = typed(&schema);
            assert_eq!((type_word(&ty).as_str(), value_name(&ty).as_str()), (word, name), "{schema}");
            assert_eq!(rules(&ty).join(", "), expected, "{schema}");
        }
    }

    #[test]
    fn first_sentences() {
        for (description, expected) in [
            ("Reads a file.", "Reads a file."),
            ("Reads a file. Then stops.", "Reads a file."),
            ("Reads\na file, e.g. a text.\n\nMore.", "Reads a file, e.g. a text."),
            ("Reads v1.5 files. Or `x`.", "Reads v1.5 files."),
            ("Really? Yes.", "Really?"),
            ("Without an end\n\nMore.", "Without an end"),
            ("Über. Öl.", "Über."),
            ("", ""),
        ] {
            assert_eq!(first_sentence(description), expected, "{description:?}");
        }
    }
}
