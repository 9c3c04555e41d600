//! Changes to arguments that follow the schema: other names for a property, and `null` for an absent one.

use super::problem::Problem;
use crate::schema::{ALIASES, resolve};
use serde_json::{Map, Value};
use std::fmt;

/// Gives properties that came under an alias their own name.
///
/// `schema` is the annotated one, in which a property lists its aliases.
pub(super) fn rename_aliases(value: &mut Value, schema: &Value, problems: &mut Vec<Problem>) {
    visit_objects(value, schema, schema, Pointer::ROOT, &mut |members, object, at| {
        let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
        for (name, property) in properties {
            let Some(aliases) = property.get(ALIASES).and_then(Value::as_array) else { continue };
            for alias in aliases.iter().filter_map(Value::as_str) {
                // A property that itself has this name is meant by it.
                if properties.contains_key(alias) {
                    continue;
                }
                let Some(given) = members.shift_remove(alias) else { continue };
                if members.contains_key(name) {
                    problems.push(Problem::new(
                        at.member(alias).to_string(),
                        format!("one value for `{name}`"),
                        format!("a second one: `{alias}` is another name of it"),
                    ));
                } else {
                    members.insert(name.clone(), given);
                }
            }
        }
    });
}

/// Removes properties that are `null` where the schema wants something else and does not require them.
pub(super) fn drop_optional_nulls(value: &mut Value, schema: &Value) {
    visit_objects(value, schema, schema, Pointer::ROOT, &mut |members, object, _| {
        let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
        let required = object.get("required").and_then(Value::as_array);
        members.retain(|name, member| {
            let is_required = required.is_some_and(|required| required.iter().any(|other| other == name));
            !member.is_null()
                || is_required
                || properties.get(name).is_none_or(|property| allows_null(property, schema))
        });
    });
}

fn allows_null(schema: &Value, root: &Value) -> bool {
    let Some(schema) = resolve(schema, root).as_object() else { return true };
    if let Some(types) = schema.get("type") {
        return types == "null"
            || types.as_array().is_some_and(|types| types.iter().any(|kind| kind == "null"));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(options) = schema.get(key).and_then(Value::as_array) {
            return options.iter().any(|option| allows_null(option, root));
        }
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return options.contains(&Value::Null);
    }
    schema.get("const").is_none_or(Value::is_null)
}

/// Where a value stands, as a JSON pointer that is written only when somebody asks.
#[derive(Clone, Copy)]
struct Pointer<'a> {
    parent: Option<&'a Pointer<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Member(&'a str),
    Item(usize),
}

impl<'a> Pointer<'a> {
    const ROOT: Pointer<'static> = Pointer { parent: None, step: Step::Item(0) };

    fn member(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), step: Step::Member(name) }
    }

    fn item(&'a self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Item(index) }
    }
}

impl fmt::Display for Pointer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else { return Ok(()) };
        parent.fmt(f)?;
        match self.step {
            Step::Member(name) => write!(f, "/{}", name.replace('~', "~0").replace('/', "~1")),
            Step::Item(index) => write!(f, "/{index}"),
        }
    }
}

/// Calls `change` on every object of `value` with the schema that describes it, outermost first.
fn visit_objects(
    value: &mut Value,
    schema: &Value,
    root: &Value,
    at: Pointer<'_>,
    change: &mut impl FnMut(&mut Map<String, Value>, &Map<String, Value>, Pointer<'_>),
) {
    let Some(schema) = resolve(schema, root).as_object() else { return };
    match value {
        Value::Object(members) => {
            change(members, schema, at);
            let properties = schema.get("properties").and_then(Value::as_object);
            let rest = schema.get("additionalProperties").filter(|rest| rest.is_object());
            for (name, member) in members.iter_mut() {
                if let Some(each) = properties.and_then(|properties| properties.get(name)).or(rest) {
                    visit_objects(member, each, root, at.member(name), change);
                }
            }
        }
        Value::Array(items) => {
            let places = schema.get("prefixItems").and_then(Value::as_array);
            for (index, item) in items.iter_mut().enumerate() {
                if let Some(each) =
                    places.and_then(|places| places.get(index)).or_else(|| schema.get("items"))
                {
                    visit_objects(item, each, root, at.item(index), change);
                }
            }
        }
        _ => return,
    }
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        visit_objects(value, part, root, at, change);
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(options) = schema.get(key).and_then(Value::as_array)
            && let Some(option) = meant_option(value, options, root)
        {
            visit_objects(value, option, root, at, change);
        }
    }
}

/// The one variant that `value` can mean: its constant property says so, or the property under which an
/// externally tagged variant stands is there, or it is the only one of this JSON type.
pub(super) fn meant_option<'a>(value: &Value, options: &'a [Value], root: &'a Value) -> Option<&'a Value> {
    let resolved: Vec<&Value> = options.iter().map(|option| resolve(option, root)).collect();
    let mut tagged = resolved.iter().filter(|option| has_tags_of(value, option));
    if let Some(option) = tagged.next() {
        return tagged.next().is_none().then_some(*option);
    }
    let mut same_kind = resolved.iter().filter(|option| allows_kind(value, option));
    let option = *same_kind.next()?;
    same_kind.next().is_none().then_some(option)
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
    match (properties.len(), schema.get("required").and_then(Value::as_array)) {
        (1, Some(required)) if required.len() == 1 => {
            required[0].as_str().is_some_and(|name| members.contains_key(name))
        }
        _ => false,
    }
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
