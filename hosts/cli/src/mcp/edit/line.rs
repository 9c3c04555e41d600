//! Edits of a JSON object on a single line, which stays on one line and keeps its formatting.

use super::Dialect;
use jsonc_parser::ast::{Object, Value as Parsed};
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::{Map, Value};

/// Returns the text with `value` at the path, if the deepest existing object on the path has members, is on one line and lacks the
/// next name of the path; otherwise `None`.
pub(super) fn with(text: &str, dialect: Dialect, path: &[&str], value: &Value) -> Option<String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &dialect.options()).ok()?;
    let mut object = object(parsed.value.as_ref()?)?;
    let mut path = path;
    let key = loop {
        let (key, rest) = path.split_first()?;
        path = rest;
        match object.get(key) {
            Some(member) => object = self::object(&member.value)?,
            None => break *key,
        }
    };
    let last = object.properties.last().filter(|_| is_line(text, object))?.range.end;
    let wrap = |inner: Value, key: &&str| Value::Object(Map::from_iter([((*key).to_owned(), inner)]));
    let value = path.iter().rev().fold(value.clone(), wrap);
    // Written as its neighbours are.
    let space = if text[object.range.start..object.range.end].contains(", ")
        || text[object.range.start..object.range.end].contains(": ")
    {
        " "
    } else {
        ""
    };
    let added = format!(",{space}{}:{space}{value}", Value::from(key));
    Some(format!("{}{added}{}", &text[..last], &text[last..]))
}

/// Returns the text without the member at the path, if the member is in an object on one line; otherwise `None`.
pub(super) fn without(text: &str, dialect: Dialect, path: &[&str]) -> Option<String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &dialect.options()).ok()?;
    let (name, above) = path.split_last()?;
    let mut holder = object(parsed.value.as_ref()?)?;
    for key in above {
        holder = object(&holder.get(key)?.value)?;
    }
    let place = holder.properties.iter().position(|member| member.name.as_str() == *name)?;
    let members = &holder.properties;
    if !is_line(text, holder) {
        return None;
    }
    let range = members[place].range;
    let (start, end) = match (place.checked_sub(1), members.get(place + 1)) {
        (_, Some(next)) => (range.start, next.range.start),
        (Some(before), None) => (members[before].range.end, range.end),
        (None, None) => return None,
    };
    Some(format!("{}{}", &text[..start], &text[end..]))
}

fn object<'a, 'b>(value: &'b Parsed<'a>) -> Option<&'b Object<'a>> {
    match value {
        Parsed::Object(object) => Some(object),
        _ => None,
    }
}

fn is_line(text: &str, object: &Object<'_>) -> bool {
    !text[object.range.start..object.range.end].contains('\n')
}
