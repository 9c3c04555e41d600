//! Converts a schema of any draft to draft 2020-12, and records the place of every part.

use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// The key in every part that holds its place: an index into [`Document::places`]. No real keyword begins like this.
const PLACE: &str = "\u{0}place";

/// The greatest nesting of schemas, and of values in them; deeper parts are cut off.
const DEEPEST: usize = 256;

/// The reference that replaces a part that is nested too deep.
const CUT: &str = "#\u{0}too deep";

/// The reference that replaces references to other documents.
const ELSEWHERE: &str = "#\u{0}elsewhere";

/// The most values that are copied from targets of references outside of all keywords; references to further targets are
/// dropped.
const MAX_OUTSIDE: usize = 100_000;

/// A schema with the data to follow its references and to find the original place of a part.
pub(super) struct Document {
    root: Value,
    /// The enclosing place, and the key in it.
    places: Vec<(usize, Box<str>)>,
    /// The targets of references that are under no keyword.
    outside: HashMap<String, Value>,
}

impl Document {
    pub(super) fn new(schema: &Value) -> Self {
        let mut places = vec![(0, "".into())];
        let draft = Draft::of(schema);
        let mut root = copy(schema, 0);
        let mut reading = Reading { places: &mut places, draft, references: Vec::new() };
        reading.schema(&mut root, 0, false);
        let outside = reading.outside(&root);
        Self { root, places, outside }
    }

    pub(super) fn root(&self) -> &Value {
        &self.root
    }

    /// Returns the target of a reference.
    pub(super) fn find(&self, reference: &str) -> Option<&Value> {
        let pointer = reference.strip_prefix('#')?;
        self.root.pointer(pointer).filter(|found| is_read(found)).or_else(|| self.outside.get(reference))
    }

    /// Returns the original place of a part, as a JSON pointer into the schema.
    pub(super) fn pointer(&self, part: &Map<String, Value>) -> String {
        let mut place = place_of(part);
        let mut keys = Vec::new();
        while place != 0 {
            let (above, key) = &self.places[place];
            keys.push(toolkit_core::pointer::escape(key));
            place = *above;
        }
        keys.iter().rev().fold(String::new(), |pointer, key| pointer + "/" + key)
    }
}

/// Returns true if a reference marks a part that was cut off.
pub(super) fn is_cut(reference: &str) -> bool {
    reference == CUT
}

/// Copies a schema of any draft, and cuts off parts that are nested too deep. The original may nest deeper than the stack
/// allows.
fn copy(schema: &Value, depth: usize) -> Value {
    let cut = || json!({ "$ref": CUT });
    let members = match schema {
        Value::Bool(_) => return schema.clone(),
        Value::Object(_) if depth > DEEPEST => return cut(),
        Value::Object(members) => members,
        _ => return Value::Null,
    };
    let part = |part: &Value| copy(part, depth + 1);
    let mut copied = Map::new();
    for (key, member) in members {
        let held = match key.as_str() {
            "additionalItems" => Holds::Schema,
            "dependencies" => Holds::SchemasByName,
            key => holds(key),
        };
        let member = match (held, member) {
            (Holds::Schema | Holds::Schemas, Value::Array(items)) => items.iter().map(part).collect(),
            (Holds::Schema, member) => part(member),
            (Holds::SchemasByName, Value::Object(parts)) => parts
                .iter()
                .map(|(name, member)| {
                    let names = if member.is_array() { shallow(member, 0) } else { None };
                    (name.clone(), names.unwrap_or_else(|| part(member)))
                })
                .collect(),
            (_, member) => match shallow(member, 0) {
                Some(member) => member,
                None if matches!(key.as_str(), "const" | "enum") => return cut(),
                None => continue,
            },
        };
        copied.insert(key.clone(), member);
    }
    copied.into()
}

/// Copies a value; returns `None` if it is nested too deep.
fn shallow(value: &Value, depth: usize) -> Option<Value> {
    match value {
        Value::Array(_) | Value::Object(_) if depth > DEEPEST => None,
        Value::Array(items) => items.iter().map(|item| shallow(item, depth + 1)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| Some((name.clone(), shallow(member, depth + 1)?)))
            .collect::<Option<Map<_, _>>>()
            .map(Value::from),
        other => Some(other.clone()),
    }
}

/// Returns true if a key is the internal place key, and no keyword.
pub(super) fn is_place(key: &str) -> bool {
    key == PLACE
}

/// Gives a part the place of another.
pub(super) fn stand_at(part: &mut Map<String, Value>, other: &Map<String, Value>) {
    if let Some(place) = other.get(PLACE) {
        part.insert(PLACE.to_owned(), place.clone());
    }
}

/// Returns true if a schema was already converted to 2020-12.
fn is_read(part: &Value) -> bool {
    part.is_boolean() || part.get(PLACE).is_some()
}

fn place_of(part: &Map<String, Value>) -> usize {
    part.get(PLACE).and_then(Value::as_u64).and_then(|place| usize::try_from(place).ok()).unwrap_or(0)
}

/// A draft that gives keywords another meaning than 2020-12.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Draft {
    Four,
    Six,
    Seven,
    Year2019,
    Year2020,
}

impl Draft {
    fn of(schema: &Value) -> Self {
        let named = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
        [
            ("draft-04", Self::Four),
            ("draft-06", Self::Six),
            ("draft-07", Self::Seven),
            ("2019-09", Self::Year2019),
        ]
        .iter()
        .find(|(part, _)| named.contains(part))
        .map_or(Self::Year2020, |(_, draft)| *draft)
    }

    /// Returns true if a schema has an address of its own. Up to draft 7 that may also be a name within another schema.
    fn names_itself(self, members: &Map<String, Value>) -> bool {
        let key = if self == Self::Four { "id" } else { "$id" };
        members.get(key).and_then(Value::as_str).is_some_and(|id| !id.starts_with('#'))
    }

    /// Returns true if the draft's validators know the keyword; unknown keywords have no effect.
    fn knows(self, keyword: &str) -> bool {
        let since = match keyword {
            "const" | "contains" | "propertyNames" => Self::Six,
            "if" | "then" | "else" => Self::Seven,
            "dependentRequired"
            | "dependentSchemas"
            | "minContains"
            | "maxContains"
            | "unevaluatedProperties"
            | "unevaluatedItems" => Self::Year2019,
            "prefixItems" => Self::Year2020,
            _ => Self::Four,
        };
        self >= since
    }
}

struct Reading<'a> {
    places: &'a mut Vec<(usize, Box<str>)>,
    draft: Draft,
    references: Vec<String>,
}

impl Reading<'_> {
    /// Converts a schema. Within a schema with an `$id` of its own, references are relative to that, and are not followed
    /// here.
    fn schema(&mut self, schema: &mut Value, place: usize, is_elsewhere: bool) {
        let Value::Object(members) = schema else { return };
        members.retain(|key, _| self.draft.knows(key));
        if self.draft <= Draft::Seven {
            forget_beside_references(members);
        }
        if self.draft < Draft::Year2020 {
            modernise(members);
        }
        let is_elsewhere = is_elsewhere || (place != 0 && self.draft.names_itself(members));
        if let Some(Value::String(reference)) = members.get_mut("$ref") {
            if is_elsewhere && !is_cut(reference) {
                ELSEWHERE.clone_into(reference);
            }
            self.references.push(reference.clone());
        }
        for (key, member) in members.iter_mut() {
            match (holds(key), member) {
                (Holds::Schema, member) => {
                    let here = self.place(place, key);
                    self.schema(member, here, is_elsewhere);
                }
                (Holds::Schemas, Value::Array(items)) => {
                    let above = self.place(place, key);
                    for (index, item) in items.iter_mut().enumerate() {
                        let here = self.place(above, &index.to_string());
                        self.schema(item, here, is_elsewhere);
                    }
                }
                (Holds::SchemasByName, Value::Object(parts)) => {
                    let above = self.place(place, key);
                    for (name, part) in parts.iter_mut() {
                        let here = self.place(above, name);
                        self.schema(part, here, is_elsewhere);
                    }
                }
                _ => {}
            }
        }
        members.insert(PLACE.to_owned(), place.into());
    }

    /// Converts copies of the targets of references outside of all keywords, which may be no schemas in any other context.
    fn outside(&mut self, root: &Value) -> HashMap<String, Value> {
        let mut outside = HashMap::new();
        let mut left = MAX_OUTSIDE;
        while let Some(reference) = self.references.pop() {
            let Some(pointer) = reference.strip_prefix('#').filter(|_| !outside.contains_key(&reference))
            else {
                continue;
            };
            let Some(found) = root.pointer(pointer).filter(|found| found.is_object() && !is_read(found))
            else {
                continue;
            };
            left = left.saturating_sub(super::count(found, left) + pointer.len());
            if left == 0 {
                break;
            }
            let mut target = copy(found, 0);
            let (mut place, mut above, mut is_elsewhere) = (0, root, false);
            for key in pointer.split('/').skip(1) {
                let key = toolkit_core::pointer::unescape(key);
                is_elsewhere |=
                    place != 0 && above.as_object().is_some_and(|above| self.draft.names_itself(above));
                place = self.place(place, &key);
                above = match above {
                    Value::Array(items) => key.parse().ok().and_then(|index: usize| items.get(index)),
                    above => above.get(&key),
                }
                .unwrap_or(&Value::Null);
            }
            self.schema(&mut target, place, is_elsewhere);
            outside.insert(reference, target);
        }
        outside
    }

    fn place(&mut self, above: usize, key: &str) -> usize {
        self.places.push((above, key.into()));
        self.places.len() - 1
    }
}

/// The kind of value that a keyword has.
pub(super) enum Holds {
    Schema,
    Schemas,
    SchemasByName,
    Something,
}

pub(super) fn holds(keyword: &str) -> Holds {
    match keyword {
        "items"
        | "additionalProperties"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Holds::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::Schemas,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            Holds::SchemasByName
        }
        _ => Holds::Something,
    }
}

/// Removes the keywords beside a reference: up to draft 7 they have no effect.
fn forget_beside_references(members: &mut Map<String, Value>) {
    if members.get("$ref").is_some_and(Value::is_string) {
        members.retain(|key, _| {
            matches!(key.as_str(), "$ref" | "$schema" | "$defs" | "definitions" | "description" | "default")
        });
    }
}

/// Replaces keywords of earlier drafts by those of 2020-12.
fn modernise(members: &mut Map<String, Value>) {
    match members.remove("items") {
        Some(tuple @ Value::Array(_)) => {
            let rest = members.remove("additionalItems");
            members.insert("prefixItems".into(), tuple);
            if let Some(rest) = rest {
                members.insert("items".into(), rest);
            }
        }
        Some(items) => {
            members.insert("items".into(), items);
        }
        None => {}
    }
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let Some(Value::Bool(is_exclusive)) = members.get(exclusive).cloned() {
            members.remove(exclusive);
            if let (true, Some(value)) = (is_exclusive, members.remove(bound)) {
                members.insert(exclusive.into(), value);
            }
        }
    }
    if let Some(Value::Object(dependencies)) = members.remove("dependencies") {
        let (lists, schemas): (Map<_, _>, Map<_, _>) =
            dependencies.into_iter().partition(|(_, value)| value.is_array());
        members.insert("dependentRequired".into(), lists.into());
        members.insert("dependentSchemas".into(), schemas.into());
    }
}

/// Returns the names of the properties in a list, each once.
pub(super) fn names(list: Option<&Value>) -> Vec<&str> {
    let mut seen = HashSet::new();
    let names = list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names.filter(|name| seen.insert(*name)).collect()
}
