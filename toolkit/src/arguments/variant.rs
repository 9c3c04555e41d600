//! Which variant of an enum a value means.

use crate::schema::{ALIASES, resolve};
use serde_json::{Map, Value};

/// The one variant that `value` can mean: its constant property says so, or the property under which an
/// externally tagged variant stands is there, or only it knows all the value's properties, or it is the only one of
/// this JSON type.
pub(super) fn meant_option<'a>(value: &Value, options: &'a [Value], root: &'a Value) -> Option<&'a Value> {
    let resolved: Vec<&Value> = options.iter().map(|option| resolve(option, root)).collect();
    let mut tagged = resolved.iter().filter(|option| has_tags_of(value, option));
    if let Some(option) = tagged.next() {
        return tagged.next().is_none().then_some(*option);
    }
    // A flattened option is the type or `{}`, which says nothing of the value.
    let same_kind: Vec<&Value> =
        resolved.into_iter().filter(|option| !is_anything(option) && allows_kind(value, option)).collect();
    match (same_kind.as_slice(), value) {
        ([option], _) => Some(*option),
        (options, Value::Object(members)) if !is_tagged(options) => {
            // serde takes the first that fits.
            let knowing = || options.iter().copied().filter(|option| knows_all(members, option));
            knowing()
                .find(|option| has_required(members, option))
                .or_else(|| only(knowing()))
                // Beside a flattened enum stand properties that no variant knows.
                .or_else(|| only(options.iter().copied().filter(|option| has_required(members, option))))
        }
        _ => None,
    }
}

fn only<'a>(mut options: impl Iterator<Item = &'a Value>) -> Option<&'a Value> {
    let option = options.next()?;
    options.next().is_none().then_some(option)
}

pub(super) fn is_anything(schema: &Value) -> bool {
    schema == &Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}

/// The constant property that all object variants share: the tag, with the values it may have.
pub(super) fn shared_tag<'a>(options: &'a [Value], root: &'a Value) -> Option<(&'a str, Vec<&'a Value>)> {
    let objects: Vec<&Map<String, Value>> = options
        .iter()
        .map(|option| resolve(option, root).get("properties")?.as_object())
        .collect::<Option<_>>()?;
    let constant = |properties: &&'a Map<String, Value>, name: &str| properties.get(name)?.get("const");
    objects.first()?.keys().find_map(|name| {
        let values: Option<Vec<&Value>> =
            objects.iter().map(|properties| constant(properties, name)).collect();
        Some((name.as_str(), values?))
    })
}

/// A variant of an externally tagged enum.
#[derive(Clone)]
pub(super) enum Name<'a> {
    /// A string.
    Unit(&'a str),
    /// An object with this one property.
    Key(&'a str),
}

impl<'a> Name<'a> {
    pub(super) fn text(&self) -> &'a str {
        match self {
            Self::Unit(name) | Self::Key(name) => name,
        }
    }
}

/// The names of all variants, where all are those of an externally tagged enum.
pub(super) fn external_names<'a>(options: &'a [Value], root: &'a Value) -> Option<Vec<Name<'a>>> {
    let mut names = Vec::new();
    for option in options {
        let option = resolve(option, root);
        if let Some(key) = only_required(option) {
            names.push(Name::Key(key));
        } else if let Some(values) = option.get("enum").and_then(Value::as_array) {
            names.extend(
                values.iter().map(|value| value.as_str().map(Name::Unit)).collect::<Option<Vec<_>>>()?,
            );
        } else {
            names.push(Name::Unit(option.get("const")?.as_str()?));
        }
    }
    // One variant with one property may as well be a struct.
    (names.len() > 1).then_some(names)
}

/// The one property of an externally tagged variant.
fn only_required(schema: &Value) -> Option<&str> {
    let properties = schema.get("properties")?.as_object()?;
    match schema.get("required")?.as_array()?.as_slice() {
        [name]
            if properties.len() == 1
                && properties.values().all(|property| property.get("const").is_none()) =>
        {
            name.as_str()
        }
        _ => None,
    }
}

fn is_tagged(options: &[&Value]) -> bool {
    options.iter().any(|option| {
        let properties = option.get("properties").and_then(Value::as_object);
        properties
            .is_some_and(|properties| properties.values().any(|property| property.get("const").is_some()))
    })
}

fn has_tags_of(value: &Value, schema: &Value) -> bool {
    let (Some(members), Some(properties)) =
        (value.as_object(), schema.get("properties").and_then(Value::as_object))
    else {
        return false;
    };
    let mut tags =
        properties.iter().filter_map(|(name, property)| Some((name, property.get("const")?))).peekable();
    if tags.peek().is_some() {
        return tags.all(|(name, tag)| members.get(name) == Some(tag));
    }
    only_required(schema).is_some_and(|name| {
        members.contains_key(name) || aliases(&properties[name]).any(|alias| members.contains_key(alias))
    })
}

fn knows_all(members: &Map<String, Value>, schema: &Value) -> bool {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return false };
    members.keys().all(|name| {
        properties.contains_key(name)
            || properties.values().any(|property| aliases(property).any(|alias| alias == name))
    })
}

fn has_required(members: &Map<String, Value>, schema: &Value) -> bool {
    let Some(required) = schema.get("required").and_then(Value::as_array) else { return true };
    required.iter().filter_map(Value::as_str).all(|name| {
        members.contains_key(name)
            || schema
                .get("properties")
                .and_then(|properties| properties.get(name))
                .is_some_and(|property| aliases(property).any(|alias| members.contains_key(alias)))
    })
}

fn aliases(property: &Value) -> impl Iterator<Item = &str> {
    property.get(ALIASES).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn allows_kind(value: &Value, schema: &Value) -> bool {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let allows = |named: &Value| named == kind || kind == "number" && named == "integer";
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(allows),
        Some(named) => allows(named),
        None => true,
    }
}
