//! The place of a key that stands where it is unknown.

use super::error::ConfigProblem;
use super::schema::Schemas;
use crate::link::Linked;
use crate::section::pointer::{dotted, steps};
use serde_json::Value;
use toolkit_core::arguments::Problem;
use toolkit_core::config_origin::ConfigOrigin;
use toolkit_core::name::nearest;
use toolkit_core::pointer::escape;
use toolkit_core::schema::resolve;

/// How deep keys are looked for: `agents.<id>.tools.allow` is the deepest that a person may take for one of the top.
const MAX_DEPTH: usize = 3;

/// Keys under which other programs have the rules of permission.
const OTHER_NAMES: [&str; 2] = ["approvals", "rules"];

/// Converts a schema's problems. One of a key that is known elsewhere says where, and one of a key in place of the only one that is missing names
/// that.
pub(super) fn problems(
    found: &[Problem],
    origin: impl Fn(&Problem) -> Option<ConfigOrigin>,
    schemas: &Schemas,
) -> Vec<ConfigProblem> {
    let missing = |problem: &&Problem| problem.actual == MISSING;
    let renamed: Vec<(&Problem, &Problem)> = found
        .iter()
        .filter(|problem| is_unknown(problem))
        .filter_map(|unknown| {
            let mut beside = found.iter().filter(missing).filter(|other| parent(other) == parent(unknown));
            let only = beside.next().filter(|_| beside.next().is_none())?;
            let mut unknowns =
                found.iter().filter(|other| is_unknown(other) && parent(other) == parent(unknown));
            (unknowns.next().is_some() && unknowns.next().is_none()).then_some((unknown, only))
        })
        .collect();
    let shown =
        found.iter().filter(|problem| !renamed.iter().any(|(_, missing)| std::ptr::eq(*missing, *problem)));
    shown
        .map(|problem| {
            let mut told = ConfigProblem::of(problem, origin(problem));
            if let Some(advice) = of_permission(problem, schemas) {
                told.message.push_str(&advice);
                return told;
            }
            // An exact name counts more than a near one.
            if is_unknown(problem)
                && problem.nearest.is_some()
                && let Some(place) = top_place(&problem.pointer, schemas)
            {
                let mut plain = problem.clone();
                plain.nearest = None;
                told = ConfigProblem::of(&plain, origin(problem));
                told.message.push_str(&place);
                return told;
            }
            if problem.nearest.is_none() && is_unknown(problem) {
                let meant = renamed.iter().find(|(unknown, _)| std::ptr::eq(*unknown, problem));
                told.message.extend(match meant {
                    Some((_, missing)) => steps(&missing.pointer)
                        .last()
                        .map(|key| format!("; `{key}` is missing, did you mean it?")),
                    None => advice(&problem.pointer, schemas),
                });
            }
            told
        })
        .collect()
}

/// The value of a key that is required and absent, as problems show it.
const MISSING: &str = "nothing";

fn is_unknown(problem: &Problem) -> bool {
    problem.actual.starts_with("the unknown ")
}

fn parent(problem: &Problem) -> &str {
    problem.pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Returns the place of a key that is one at the top.
fn top_place(pointer: &str, schemas: &Schemas) -> Option<String> {
    let key = steps(pointer).last()?;
    let is_known = top_keys(schemas).any(|name| name == key) && pointer.matches('/').count() > 1;
    is_known.then(|| format!("; `{key}` belongs at the top of the configuration"))
}

fn top_keys(schemas: &Schemas) -> impl Iterator<Item = &str> {
    let keys = schemas.partial.schema.get("properties").and_then(Value::as_object);
    keys.into_iter().flat_map(|keys| keys.keys().map(String::as_str))
}

/// Returns the advice for a problem at a key of `permission` that is no kind of action and no tool, but a key of another section.
fn of_permission(problem: &Problem, schemas: &Schemas) -> Option<String> {
    const FORM: &str = "`permission` has rules for kinds of action and for tools, such as `edit: \"allow\"`";
    let mut steps = steps(&problem.pointer);
    let is_of_permission = steps.next().as_deref() == Some("permission");
    let key = steps.next().filter(|_| is_of_permission)?;
    if inventory::iter::<Linked>().any(|Linked(def)| def.name == key) {
        return None;
    }
    let root = &schemas.partial.schema;
    let is_key_of = |section: &str| {
        let section =
            root.get("properties").and_then(|all| all.get(section)).map(|section| resolve(section, root));
        section.and_then(|section| section.get("properties")).is_some_and(|keys| keys.get(&key).is_some())
    };
    if is_key_of("tools") {
        return Some(format!("; {FORM}; `{key}` belongs in `tools`, which decides which tools there are"));
    }
    if top_keys(schemas).any(|name| name == key) {
        return Some(format!("; {FORM}; `{key}` belongs at the top of the configuration"));
    }
    (key == "autoExecute")
        .then(|| format!("; {FORM}; `autoExecute: true` belongs in `tools.settings.<tool>`"))
}

fn advice(pointer: &str, schemas: &Schemas) -> Option<String> {
    let root = &schemas.partial.schema;
    let key = steps(pointer).last()?;
    if inventory::iter::<Linked>().any(|Linked(def)| def.name == key) {
        return Some(format!("; the settings of this tool belong in `tools.settings.{key}`"));
    }
    let is_top = pointer.matches('/').count() == 1;
    let section = schemas.sections.iter().find(|section| is_top && section.is_known_as(&key));
    if let Some(section) = section {
        return Some(format!("; did you mean `{}`?", dotted(&section.pointer())));
    }
    if is_top && OTHER_NAMES.contains(&key.as_str()) {
        return Some("; did you mean `permission`?".to_owned());
    }
    let mut places = Vec::new();
    collect(root, root, &key, "", 0, &mut places);
    places.retain(|place| place != pointer);
    places.sort_by_key(|place| place.matches('/').count());
    let Some(place) = places.first() else { return near_top(pointer, &key, schemas) };
    Some(match place.matches('/').count() {
        1 => format!("; `{key}` belongs at the top of the configuration"),
        _ => format!("; `{key}` belongs in `{}`", dotted(place.rsplit_once('/')?.0)),
    })
}

/// Returns the advice for a key that is nearly one at the top, or that stands in a section which is taken for an entry of a section of entries.
fn near_top(pointer: &str, key: &str, schemas: &Schemas) -> Option<String> {
    let entry = steps(pointer).nth(1).filter(|entry| pointer.matches('/').count() > 2 && entry != key);
    let misplaced = entry.filter(|entry| top_keys(schemas).any(|name| name == entry));
    if let Some(entry) = misplaced {
        let above = steps(pointer).next().unwrap_or_default();
        return Some(format!(
            "; `{entry}` is taken for the name of an entry here: it belongs at the top of the configuration, or in one entry, `{above}.<name>.{entry}`"
        ));
    }
    let near = nearest(key, top_keys(schemas));
    near.first().map(|near| format!("; did you mean `{near}`, at the top of the configuration?"))
}

/// Collects the places of a key in a schema.
fn collect(schema: &Value, root: &Value, key: &str, at: &str, depth: usize, places: &mut Vec<String>) {
    let schema = resolve(schema, root);
    let variants = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    for schema in [schema].into_iter().chain(variants.map(|variant| resolve(variant, root))) {
        for (name, next) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let place = format!("{at}/{}", escape(name));
            if name == key {
                places.push(place.clone());
            }
            if depth < MAX_DEPTH {
                collect(next, root, key, &place, depth + 1, places);
            }
        }
        if let Some(next) = schema.get("additionalProperties").filter(|next| next.is_object())
            && depth < MAX_DEPTH
        {
            collect(next, root, key, &format!("{at}/<name>"), depth + 1, places);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Configuration, LoadOptions};
    use serde_json::json;

    #[test]
    fn a_key_of_another_section_is_told_where_it_belongs() {
        for (values, advice) in [
            (
                json!({ "tools": { "permissions": { "edit": "allow" } } }),
                Some("did you mean `permission`, at the top of the configuration?"),
            ),
            (
                json!({ "tools": { "loopguard": {} } }),
                Some("did you mean `loopGuard`, at the top of the configuration?"),
            ),
            (
                json!({ "tools": { "agents": { "kid": {} } } }),
                Some("got the unknown `agents`; `agents` belongs at the top of the configuration"),
            ),
            (json!({ "permission": { "allow": ["read"] } }), Some("`allow` belongs in `tools`")),
            (json!({ "permission": { "profile": "full" } }), Some("`profile` belongs in `tools`")),
            (
                json!({ "permission": { "history": {} } }),
                Some("`history` belongs at the top of the configuration"),
            ),
            (
                json!({ "permission": { "tools": { "read": "allow" } } }),
                Some("`tools` belongs at the top of the configuration"),
            ),
            (
                json!({ "permission": { "autoExecute": ["read"] } }),
                Some("`autoExecute: true` belongs in `tools.settings.<tool>`"),
            ),
            (
                json!({ "agents": { "permission": { "edit": "allow" } } }),
                Some(
                    "it belongs at the top of the configuration, or in one entry, `agents.<name>.permission`",
                ),
            ),
            (
                json!({ "tools": { "permission": { "edit": "allow" } } }),
                Some("`permission` belongs at the top of the configuration"),
            ),
            (
                json!({ "permission": { "edit": "allow" }, "autoExecute": true }),
                Some("`autoExecute` belongs in `tools.settings.<name>`"),
            ),
            (
                json!({ "permission": { "edit": [{ "pattern": "docs/**", "do": "allow" }] } }),
                Some("`match` is missing, did you mean it?"),
            ),
            (json!({ "rules": {} }), Some("did you mean `permission`?")),
            (json!({ "tools": { "xyzzy": 1 } }), None),
        ] {
            let error = Configuration::load(LoadOptions::new().program(values)).unwrap_err().to_string();
            match advice {
                Some(advice) => assert!(error.contains(advice), "{error}"),
                None => assert!(!error.contains("belongs"), "{error}"),
            }
            assert_eq!(error.lines().filter(|line| line.starts_with("- ")).count(), 1, "{error}");
        }
    }
}
