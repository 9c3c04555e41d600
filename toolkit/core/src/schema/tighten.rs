//! Rewrites schemas of schemars, so that they state all requirements of a type in keywords that every provider
//! supports.

use super::unit_names;
use super::{LIMITS, duration};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The use of a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Arguments: `null` for an optional value is accepted, but not shown, because leaving the value out means the
    /// same.
    Input,
    /// Structured output: `null` values are written, so they are shown.
    Output,
}

/// Returns true if the key contains values of the user, and not schemas.
pub(crate) fn holds_values(key: &str) -> bool {
    matches!(key, "default" | "examples" | "const" | "enum")
}

/// Returns the keyword that a member of a schema is under: the name of a property is not a keyword.
pub(crate) fn under_of<'a>(under: &str, key: &'a str) -> &'a str {
    if is_by_name(under) { "" } else { key }
}

/// Returns true if the members under this keyword are schemas by name, so that the names are not keywords.
pub(crate) fn is_by_name(under: &str) -> bool {
    matches!(under, "properties" | "patternProperties" | "$defs")
}

/// Adds the bounds of number types, simplifies enums of strings, and unwraps descriptions.
pub(super) fn tighten(schema: &mut Value, side: Side) {
    walk(schema, "", side);
}

fn walk(schema: &mut Value, under: &str, side: Side) {
    match schema {
        _ if holds_values(under) => {}
        Value::Object(members) if is_by_name(under) => {
            members.values_mut().for_each(|member| walk(member, "", side));
        }
        Value::Object(members) => {
            bound_number(members, side);
            match side {
                Side::Input => {
                    duration::write_as_text(members);
                    drop_optional_nulls(members);
                }
                Side::Output => {
                    // An absent value means the same.
                    if members.get("default").is_some_and(Value::is_null) {
                        members.shift_remove("default");
                    }
                }
            }
            for (key, member) in members.iter_mut() {
                walk(member, key, side);
            }
            if let Some(Value::String(text)) = members.get_mut("description") {
                *text = unwrap_lines(text);
            }
            fold_units(members);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, "", side)),
        _ => {}
    }
}

/// Adds the bounds of its type to a number. Those of up to 16 bits, and the 0 of unsigned integers, are useful to a
/// model; those of wider types are only enforced, and left out in outputs.
fn bound_number(schema: &mut Map<String, Value>, side: Side) {
    let Some(format) = schema.get("format").and_then(Value::as_str) else { return };
    let (is_telling, bounds): (bool, Option<(Value, Value)>) = match format {
        "int8" => (true, Some((i8::MIN.into(), i8::MAX.into()))),
        "int16" => (true, Some((i16::MIN.into(), i16::MAX.into()))),
        "uint8" => (true, Some((0.into(), u8::MAX.into()))),
        "uint16" => (true, Some((0.into(), u16::MAX.into()))),
        "int32" => (false, Some((i32::MIN.into(), i32::MAX.into()))),
        "int64" | "int" => (false, Some((i64::MIN.into(), i64::MAX.into()))),
        "uint32" => (false, Some((0.into(), u32::MAX.into()))),
        // JSON numbers are limited to 64 bits here.
        "uint64" | "uint" | "uint128" => (false, Some((0.into(), u64::MAX.into()))),
        "int128" => (false, Some((i64::MIN.into(), u64::MAX.into()))),
        "float" => (false, Some((f32::MIN.into(), f32::MAX.into()))),
        "double" => (false, None),
        _ => return,
    };
    // These format names are not standard.
    schema.shift_remove("format");
    let Some((least, greatest)) = bounds else { return };
    let mut limits = Map::new();
    for (key, exclusive, bound) in
        [("minimum", "exclusiveMinimum", least), ("maximum", "exclusiveMaximum", greatest)]
    {
        if schema.contains_key(key) || schema.contains_key(exclusive) {
            continue;
        }
        if is_telling || bound == 0 {
            schema.insert(key.to_owned(), bound);
        } else {
            limits.insert(key.to_owned(), bound);
        }
    }
    if side == Side::Input && !limits.is_empty() {
        schema.insert(LIMITS.to_owned(), limits.into());
    }
}

fn drop_optional_nulls(schema: &mut Map<String, Value>) {
    let required: Vec<Value> = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties {
            // With another default, leaving the value out does not mean the same.
            let has_default = property.get("default").is_some_and(|default| !default.is_null());
            if !has_default && !required.iter().any(|required| required == name) {
                drop_null(property);
            }
        }
    }
}

fn drop_null(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    if members.get("default").is_some_and(Value::is_null) {
        members.shift_remove("default");
    }
    if let Some(Value::Array(examples)) = members.get_mut("examples") {
        examples.retain(|example| !example.is_null());
        if examples.is_empty() {
            members.shift_remove("examples");
        }
    }
    if let Some(Value::Array(kinds)) = members.get_mut("type") {
        // A type that is only null stays.
        if kinds.iter().any(|kind| kind != "null") {
            kinds.retain(|kind| kind != "null");
        }
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            members.insert("type".into(), kind);
        }
    }
    if let Some(Value::Array(options)) = members.get_mut("enum") {
        options.retain(|option| !option.is_null());
    }
    if let Some(Value::Array(options)) = members.get_mut("anyOf") {
        options.retain(|option| option.get("type").is_none_or(|kind| kind != "null"));
        if options.len() == 1
            && let Some(Value::Object(only)) = options.pop()
        {
            members.shift_remove("anyOf");
            for (key, value) in only {
                members.entry(key).or_insert(value);
            }
        }
    }
}

/// Combines the documented unit variants of an enum, which schemars writes as one `const` per variant (some providers
/// reject that), into one list of strings, and moves their descriptions into the description of the enum.
fn fold_units(schema: &mut Map<String, Value>) {
    let Some(options) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let mut names = Vec::new();
    let mut lines = String::new();
    for option in options {
        let Some(units) = unit_names(option) else { return };
        if let (Some(description), [name]) =
            (option.get("description").and_then(Value::as_str), units.as_slice())
        {
            // The lines after the first belong to the same list item.
            let _ = write!(lines, "\n- `{name}`: {}", description.replace('\n', "\n  "));
        }
        names.extend(units);
    }
    schema.shift_remove("oneOf");
    schema.insert("type".into(), "string".into());
    schema.insert("enum".into(), json!(names));
    if !lines.is_empty() {
        let own = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let description = format!("{own}{lines}").trim_start().to_owned();
        schema.insert("description".into(), description.into());
    }
}

/// Joins the lines of each paragraph, which were wrapped to the width of the source. Lists, code, tables and hard
/// breaks stay unchanged.
fn unwrap_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let (mut is_fenced, mut is_code, mut takes_more) = (false, false, false);
    for (number, line) in text.lines().enumerate() {
        let content = line.trim_start();
        let is_fence = content.starts_with("```") || content.starts_with("~~~");
        is_code = !takes_more
            && line.len() - content.len() >= 4
            && !content.is_empty()
            && (is_code || ends_blank(&joined));
        let joins = takes_more && !is_fenced && !is_fence && !content.is_empty() && !begins_block(content);
        if joins {
            joined.push(' ');
            joined.push_str(content);
        } else {
            if number > 0 {
                joined.push('\n');
            }
            joined.push_str(line);
        }
        is_fenced ^= is_fence;
        takes_more = !is_fenced
            && !is_fence
            && !is_code
            && !content.is_empty()
            && !content.starts_with(['#', '|'])
            && !line.ends_with("  ")
            && !line.ends_with('\\');
    }
    joined
}

fn ends_blank(text: &str) -> bool {
    text.is_empty() || text.ends_with('\n')
}

/// Returns true if a line of Markdown begins a new block.
fn begins_block(line: &str) -> bool {
    let after_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered =
        after_digits.len() < line.len() && (after_digits.starts_with(". ") || after_digits.starts_with(") "));
    is_numbered
        || ["- ", "* ", "+ ", "> ", "# ", "## ", "### ", "|"].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_paragraph_are_joined() {
        for (text, expected) in [
            ("One\ntwo\nthree.", "One two three."),
            ("One.\n\nTwo\nthree.", "One.\n\nTwo three."),
            ("A list:\n- one\n  more\n- two", "A list:\n- one more\n- two"),
            ("1. one\n2. two", "1. one\n2. two"),
            ("Code:\n```\na\nb\n```\nand\nmore", "Code:\n```\na\nb\n```\nand more"),
            ("Code:\n\n    a\n    b\n\nand\nmore", "Code:\n\n    a\n    b\n\nand more"),
            ("A break  \nhere", "A break  \nhere"),
            ("# Head\ntext", "# Head\ntext"),
            ("| a | b |\n| - | - |\n| 1 | 2 |", "| a | b |\n| - | - |\n| 1 | 2 |"),
            ("", ""),
        ] {
            assert_eq!(unwrap_lines(text), expected, "{text:?}");
        }
    }

    #[test]
    fn unit_variants_become_one_list() {
        let mut schema = json!({"description": "How.", "oneOf": [
            {"type": "string", "enum": ["a", "b"]},
            {"type": "string", "const": "c", "description": "The\nthird."},
        ]});
        tighten(&mut schema, Side::Input);
        assert_eq!(
            schema,
            json!({"description": "How.\n- `c`: The third.", "type": "string", "enum": ["a", "b", "c"]})
        );
    }

    #[test]
    fn numbers_show_the_bounds_of_their_type_that_tell_something() {
        for (format, shown, enforced) in [
            ("uint8", json!({"minimum": 0, "maximum": 255}), json!(null)),
            ("int8", json!({"minimum": -128, "maximum": 127}), json!(null)),
            ("uint16", json!({"minimum": 0, "maximum": 65535}), json!(null)),
            ("int16", json!({"minimum": -32768, "maximum": 32767}), json!(null)),
            ("uint32", json!({"minimum": 0}), json!({"maximum": u32::MAX})),
            ("int32", json!({}), json!({"minimum": i32::MIN, "maximum": i32::MAX})),
            ("uint64", json!({"minimum": 0}), json!({"maximum": u64::MAX})),
            ("uint", json!({"minimum": 0}), json!({"maximum": u64::MAX})),
            ("int64", json!({}), json!({"minimum": i64::MIN, "maximum": i64::MAX})),
            ("int", json!({}), json!({"minimum": i64::MIN, "maximum": i64::MAX})),
            ("uint128", json!({"minimum": 0}), json!({"maximum": u64::MAX})),
            ("int128", json!({}), json!({"minimum": i64::MIN, "maximum": u64::MAX})),
            ("float", json!({}), json!({"minimum": f32::MIN, "maximum": f32::MAX})),
            ("double", json!({}), json!(null)),
            ("date-time", json!({"format": "date-time"}), json!(null)),
        ] {
            let mut output = json!({ "format": format });
            tighten(&mut output, Side::Output);
            assert_eq!(output, shown, "{format}");
            let mut input = json!({ "format": format });
            tighten(&mut input, Side::Input);
            let limits = input.as_object_mut().unwrap().shift_remove(LIMITS);
            assert_eq!((input, limits.unwrap_or_default()), (shown, enforced), "{format}");
        }
    }

    #[test]
    fn the_author_goes_before_the_type() {
        let mut schema = json!({"format": "uint64", "minimum": 1, "exclusiveMaximum": 5});
        tighten(&mut schema, Side::Input);
        assert_eq!(schema, json!({"minimum": 1, "exclusiveMaximum": 5}));
    }
}
