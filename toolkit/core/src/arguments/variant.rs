//! Determines which variant of an enum a value means.

use crate::schema::describe::plain;
use crate::schema::type_name;
use crate::schema::{ALIASES, resolve};
use serde_json::{Map, Value};

/// Returns the one variant that `value` can mean: because its constant property has the variant's value, or it has
/// the property of an externally tagged variant, or only that variant knows all of the value's properties, or only
/// that variant has the value's JSON type.
pub(super) fn meant_option<'a>(value: &Value, options: &'a [Value], root: &'a Value) -> Option<&'a Value> {
    let resolved: Vec<&Value> = options.iter().map(|option| resolve(option, root)).collect();
    let mut tagged = resolved.iter().filter(|option| has_tags_of(value, option));
    if let Some(option) = tagged.next() {
        return tagged.next().is_none().then_some(*option);
    }
    // A flattened option is the type or `{}`, which says nothing about the value.
    let same_kind: Vec<&Value> =
        resolved.into_iter().filter(|option| !is_anything(option) && allows_kind(value, option)).collect();
    match (same_kind.as_slice(), value) {
        ([option], _) => Some(*option),
        (options, Value::Object(members)) if !is_tagged(options) => {
            // serde takes the first variant that matches.
            let knowing = || options.iter().copied().filter(|option| knows_all(members, option));
            knowing()
                .find(|option| has_required(members, option))
                .or_else(|| only(knowing()))
                // A flattened enum is accompanied by properties that no variant knows.
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

/// Returns the constant property that all object variants share: the tag, with its possible values.
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
    /// An object with only this property.
    Key(&'a str),
}

impl<'a> Name<'a> {
    /// Returns the value as a model would write it, without the content of an object.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Unit(name) => plain(&Value::from(*name)),
            Self::Key(name) => format!("{{{}: …}}", plain(&Value::from(*name))),
        }
    }

    pub(super) fn text(&self) -> &'a str {
        match self {
            Self::Unit(name) | Self::Key(name) => name,
        }
    }
}

/// Returns the names of all variants, if all are variants of an externally tagged enum.
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
    // A single variant with one property may also be a struct.
    (names.len() > 1).then_some(names)
}

/// Returns the only property of an externally tagged variant.
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
    let kind = type_name(value);
    let allows = |named: &Value| named == kind || kind == "number" && named == "integer";
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(allows),
        Some(named) => allows(named),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns a schema of an object with these properties: `!` marks required ones, `=` constants.
    fn object(properties: &str) -> Value {
        let mut rules = Map::new();
        let mut required = Vec::new();
        for property in properties.split_whitespace() {
            let (name, constant) = property.split_once('=').unwrap_or((property, ""));
            let plain = name.trim_end_matches('!');
            let rule = if constant.is_empty() { json!({}) } else { json!({ "const": constant }) };
            rules.insert(plain.to_owned(), rule);
            if plain != name {
                required.push(plain);
            }
        }
        json!({"type": "object", "properties": rules, "required": required})
    }

    #[test]
    fn the_variant_that_is_meant() {
        let tagged = || vec![object("x! kind!=a"), object("kind!=b y"), object("kind=c"), object("kind=c z")];
        let twice = || vec![object("kind!=a sort!=x"), object("kind!=a sort!=y")];
        let external = || {
            let uno =
                json!({"type": "object", "properties": {"One": {ALIASES: ["Uno"]}}, "required": ["One"]});
            vec![uno, object("Two!"), json!({"type": "string", "enum": ["Three"]})]
        };
        let untagged = || {
            let file = json!({"type": "object", "required": ["file"],
                "properties": {"file": {ALIASES: ["path"]}, "n": {}}});
            vec![file, object("url! n")]
        };
        let kinds = || ["integer", "string", "array"].map(|kind| json!({ "type": kind })).to_vec();
        for (options, value, expected) in [
            (tagged(), json!({"kind": "a"}), Some(0)),
            (tagged(), json!({"kind": "b", "x": 1}), Some(1)),
            (tagged(), json!({"kind": "d", "x": 1}), None),
            (tagged(), json!({"x": 1}), None),
            (tagged(), json!({"kind": "c"}), None),
            (tagged(), json!("a"), None),
            (twice(), json!({"kind": "a", "sort": "y"}), Some(1)),
            (twice(), json!({"kind": "a"}), None),
            (external(), json!({"Two": 1}), Some(1)),
            (external(), json!({"Uno": 1}), Some(0)),
            (external(), json!({"One": 1, "Two": 1}), None),
            (external(), json!({"Four": 1}), None),
            (external(), json!("Three"), Some(2)),
            (untagged(), json!({"file": 1}), Some(0)),
            (untagged(), json!({"path": 1, "n": 1}), Some(0)),
            (untagged(), json!({"url": 1}), Some(1)),
            (untagged(), json!({"n": 1}), None),
            (untagged(), json!({"file": 1, "other": 1}), Some(0)),
            (untagged(), json!({"file": 1, "url": 1}), None),
            (untagged(), json!({"other": 1}), None),
            // The name of a variant takes precedence over properties beside it.
            (vec![object("One!"), object("a b")], json!({"One": 1, "a": 1}), Some(0)),
            (vec![external().remove(0), object("a b")], json!({"Uno": 1, "a": 1}), Some(0)),
            // Both variants know the property, and the first one requires no more.
            (vec![object("a b"), object("a c")], json!({"a": 1}), Some(0)),
            (vec![object("a b!"), object("a c")], json!({"a": 1}), Some(1)),
            (vec![object("a b"), object("a c")], json!({"c": 1}), Some(1)),
            (vec![object("a b!"), object("c d!")], json!({"a": 1}), Some(0)),
            (kinds(), json!(5), Some(0)),
            (kinds(), json!(5.5), Some(0)),
            (kinds(), json!("a"), Some(1)),
            (kinds(), json!([]), Some(2)),
            (kinds(), json!(true), None),
            (kinds(), json!(null), None),
            (kinds(), json!({}), None),
            (vec![json!({"type": "number"}), json!({"type": ["boolean", "null"]})], json!(5), Some(0)),
            (vec![json!({"type": "number"}), json!({"type": ["boolean", "null"]})], json!(null), Some(1)),
            (vec![json!({}), object("a b")], json!({"x": 1}), Some(1)),
            (vec![json!(true), object("a b")], json!({"x": 1}), Some(1)),
            (vec![json!({}), json!(true)], json!({"x": 1}), None),
        ] {
            let meant = meant_option(&value, &options, &Value::Null);
            let place = meant.and_then(|meant| options.iter().position(|option| std::ptr::eq(option, meant)));
            assert_eq!(place, expected, "{value} {options:?}");
        }
    }

    #[test]
    fn the_tag_is_constant_in_every_variant() {
        for (options, expected) in [
            (vec![object("x kind=a"), object("kind=b")], Some(("kind", vec!["a", "b"]))),
            (vec![object("kind=a sort=x"), object("sort=y kind")], Some(("sort", vec!["x", "y"]))),
            (vec![object("kind=a")], Some(("kind", vec!["a"]))),
            (vec![object("kind=a"), object("kind")], None),
            (vec![object("kind=a"), json!({"type": "string"})], None),
            (vec![object("")], None),
            (vec![], None),
        ] {
            let found = shared_tag(&options, &Value::Null);
            let found =
                found.map(|(tag, values)| (tag, values.into_iter().filter_map(Value::as_str).collect()));
            assert_eq!(found, expected, "{options:?}");
        }
    }

    #[test]
    fn the_names_of_externally_tagged_variants() {
        for (options, expected) in [
            (vec![object("One!"), object("Two!")], Some("{One} {Two}")),
            (vec![object("One!"), json!({"enum": ["a", "b"]})], Some("{One} a b")),
            (vec![json!({"const": "a"}), object("One!"), json!({"const": "b"})], Some("a {One} b")),
            (vec![json!({"enum": ["a", "b"]})], Some("a b")),
            (vec![json!({"enum": ["a"]})], None),
            (vec![object("One!")], None),
            (vec![object("One!"), json!({"enum": ["a", 1]})], None),
            (vec![object("One!"), json!({"const": 1})], None),
            (vec![object("One!"), json!({"type": "string"})], None),
            (vec![object("One!"), object("Two! more")], None),
            (vec![object("One!"), object("Two! Three!")], None),
            (vec![object("One!"), object("Two")], None),
            (vec![object("One!"), object("kind!=a")], None),
        ] {
            let names = external_names(&options, &Value::Null).map(|names| {
                let words = names.iter().map(|name| match name {
                    Name::Unit(_) => name.text().to_owned(),
                    Name::Key(_) => format!("{{{}}}", name.text()),
                });
                words.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(names.as_deref(), expected, "{options:?}");
        }
    }
}
