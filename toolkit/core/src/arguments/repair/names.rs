//! Renames unknown names of an object that can only mean one property.

use super::super::known::{add_properties, property_of};
use super::super::schema_facts::rest_of;
use super::spelling::{fold, only_match};
use crate::schema::ALIASES;
use serde_json::{Map, Value};

/// The most unknown names of one object that are looked up.
const MAX_UNKNOWN: usize = 64;

/// An unknown name, and the property of which it is another spelling or an alias.
pub(super) struct Renaming {
    pub(super) given: String,
    pub(super) name: String,
    pub(super) is_alias: bool,
}

/// Returns the renamings of names that `schema` does not know, without those where two names would
/// become one.
///
/// If the schema accepts other names too, only required missing properties are considered.
pub(super) fn renamings(value: &Value, schema: &Value, root: &Value) -> Vec<Renaming> {
    let (Some(members), Some(rules)) = (value.as_object(), schema.as_object()) else { return Vec::new() };
    let mut known = Vec::new();
    add_properties(&mut known, schema, root, value, 0);
    let unknown: Vec<&String> =
        members.keys().filter(|name| !known.contains(&name.as_str())).take(MAX_UNKNOWN + 1).collect();
    if unknown.is_empty() || unknown.len() > MAX_UNKNOWN {
        return Vec::new();
    }
    let mut wanted: Vec<&str> = known.iter().copied().filter(|name| !members.contains_key(*name)).collect();
    if !is_closed(rules) {
        let required = rules.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|required| required.iter().any(|other| other == name));
        // A map accepts any name literally.
        wanted.retain(|name| rest_of(rules).is_none() && is_required(name));
    }
    let found: Vec<Renaming> =
        unknown.into_iter().filter_map(|given| renaming(given, &wanted, schema, root)).collect();
    let is_only = |renaming: &Renaming| {
        let same = found.iter().filter(|other| other.name == renaming.name);
        same.count() == 1
    };
    let only: Vec<bool> = found.iter().map(is_only).collect();
    found.into_iter().zip(only).filter_map(|(renaming, is_only)| is_only.then_some(renaming)).collect()
}

fn renaming(given: &str, wanted: &[&str], schema: &Value, root: &Value) -> Option<Renaming> {
    let aliases = |name: &str| -> Vec<&str> {
        let property = property_of(schema, root, name, 0);
        let listed = property.and_then(|property| property.get(ALIASES)?.as_array());
        listed.into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let exact = wanted.iter().find(|name| aliases(name).contains(&given));
    if let Some(name) = exact {
        return Some(Renaming { given: given.to_owned(), name: (*name).to_owned(), is_alias: true });
    }
    let folded = fold(given)?;
    let mut owners = wanted
        .iter()
        .filter(|name| fold(name).as_ref() == Some(&folded) || only_match(given, aliases(name)).is_some());
    let name = owners.next()?;
    owners.next().is_none().then(|| Renaming {
        given: given.to_owned(),
        name: (*name).to_owned(),
        is_alias: false,
    })
}

/// Returns true if an object accepts only the names that its schema lists.
pub(super) fn is_closed(schema: &Map<String, Value>) -> bool {
    ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .any(|key| schema.get(*key) == Some(&Value::Bool(false)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_that_can_only_mean_one_property() {
        let properties = json!({"user_name": {ALIASES: ["login"]}, "age": {}, "page_size": {}});
        let closed = json!({"properties": properties, "additionalProperties": false});
        let unevaluated = json!({"properties": properties, "unevaluatedProperties": false});
        let open = json!({"properties": properties, "required": ["user_name", "page_size"]});
        let explicit = json!({"properties": properties, "additionalProperties": true});
        let map = json!({"properties": properties, "required": ["user_name"], "additionalProperties": {}});
        for (schema, value, expected) in [
            (&closed, json!({"userName": 1, "Age": 2}), "userName>user_name Age>age"),
            (&unevaluated, json!({"userName": 1, "Age": 2}), "userName>user_name Age>age"),
            (&closed, json!({"login": 1, "age": 2}), "login>user_name*"),
            (&closed, json!({"LogIn": 1}), "LogIn>user_name"),
            (&closed, json!({"userName": 1, "UserName": 2, "AGE": 3}), "AGE>age"),
            (&closed, json!({"userName": 1, "login": 2}), ""),
            (&closed, json!({"userName": 1, "user_name": 2}), ""),
            (&closed, json!({"name": 1}), ""),
            (&closed, json!({"age": 1}), ""),
            (&closed, json!([]), ""),
            (&open, json!({"userName": 1, "Age": 2}), "userName>user_name"),
            (&open, json!({"login": 1, "pageSize": 2}), "login>user_name* pageSize>page_size"),
            (&explicit, json!({"userName": 1}), ""),
            (&map, json!({"userName": 1}), ""),
        ] {
            let found = renamings(&value, schema, schema);
            let told: Vec<String> = found
                .iter()
                .map(|Renaming { given, name, is_alias }| {
                    format!("{given}>{name}{}", if *is_alias { "*" } else { "" })
                })
                .collect();
            assert_eq!(told.join(" "), expected, "{value} {schema}");
        }
    }

    #[test]
    fn a_name_that_two_properties_could_have_is_none() {
        let schema = json!({"properties": {"user_name": {}, "userName": {}}, "additionalProperties": false});
        assert!(renamings(&json!({"UserName": 1}), &schema, &schema).is_empty());
    }

    #[test]
    fn so_many_unknown_names_are_looked_up() {
        let schema = json!({"properties": {"user_name": {}}, "additionalProperties": false});
        for (unknown, is_found) in [(1, true), (MAX_UNKNOWN, true), (MAX_UNKNOWN + 1, false)] {
            let mut members = Map::from_iter([("userName".to_owned(), json!(1))]);
            members.extend((1..unknown).map(|n| (format!("n{n}"), json!(1))));
            let found = renamings(&members.into(), &schema, &schema);
            assert_eq!(found.len(), usize::from(is_found), "{unknown}");
        }
    }
}
