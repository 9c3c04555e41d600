//! A schema of any draft as one of draft 2020-12 in which every part knows where it stood.

use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Under this key stands, in every part, its place: an index into [`Document::places`]. No keyword of anybody's begins so.
const PLACE: &str = "\u{0}place";

/// Schemas nest at most this deep, and so do values in them; what is deeper is cut.
const DEEPEST: usize = 256;

/// What a part that nests too deep refers to instead of saying anything.
const CUT: &str = "#\u{0}too deep";

/// What refers to elsewhere than into this schema refers to this.
const ELSEWHERE: &str = "#\u{0}elsewhere";

/// How many values are copied of what references lead to outside of all keywords; beyond that they lead nowhere.
const MAX_OUTSIDE: usize = 100_000;

/// A schema with what is needed to follow its references and to say where a part of it stood.
pub(super) struct Document {
    root: Value,
    /// The place above, and the key in it.
    places: Vec<(usize, Box<str>)>,
    /// What references lead to that stands under no keyword.
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

    /// What a reference leads to.
    pub(super) fn find(&self, reference: &str) -> Option<&Value> {
        let pointer = reference.strip_prefix('#')?;
        self.root.pointer(pointer).filter(|found| is_read(found)).or_else(|| self.outside.get(reference))
    }

    /// Where a part stood, as a JSON pointer into the schema.
    pub(super) fn pointer(&self, part: &Map<String, Value>) -> String {
        let mut place = place_of(part);
        let mut keys = Vec::new();
        while place != 0 {
            let (above, key) = &self.places[place];
            keys.push(key.replace('~', "~0").replace('/', "~1"));
            place = *above;
        }
        keys.iter().rev().fold(String::new(), |pointer, key| pointer + "/" + key)
    }
}

/// Whether a reference stands where something was cut.
pub(super) fn is_cut(reference: &str) -> bool {
    reference == CUT
}

/// A schema of any draft, cut where it nests too deep. What it is a copy of may nest deeper than a stack is.
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

/// A copy of a value; nothing where it nests too deep.
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

/// Whether a key is one of ours, and no keyword.
pub(super) fn is_place(key: &str) -> bool {
    key == PLACE
}

/// Gives a part the place of another.
pub(super) fn stand_at(part: &mut Map<String, Value>, other: &Map<String, Value>) {
    if let Some(place) = other.get(PLACE) {
        part.insert(PLACE.to_owned(), place.clone());
    }
}

/// Whether it is a schema whose parts are those of 2020-12.
fn is_read(part: &Value) -> bool {
    part.is_boolean() || part.get(PLACE).is_some()
}

fn place_of(part: &Map<String, Value>) -> usize {
    part.get(PLACE).and_then(Value::as_u64).and_then(|place| usize::try_from(place).ok()).unwrap_or(0)
}

/// What a draft means differently from 2020-12.
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

    /// Whether a schema has an address of its own. Up to draft 7 that may also be a name within another's.
    fn names_itself(self, members: &Map<String, Value>) -> bool {
        let key = if self == Self::Four { "id" } else { "$id" };
        members.get(key).and_then(Value::as_str).is_some_and(|id| !id.starts_with('#'))
    }

    /// Whether its validators know the keyword; those that they do not know say nothing.
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
    /// Within a schema that has an `$id` of its own, references start at that, which nobody follows here.
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

    /// Reads copies of what references lead to outside of all keywords, where it may be no schema for anybody else.
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
                let key = key.replace("~1", "/").replace("~0", "~");
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

/// What stands under a keyword.
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

/// Up to draft 7 a reference says all there is.
fn forget_beside_references(members: &mut Map<String, Value>) {
    if members.get("$ref").is_some_and(Value::is_string) {
        members.retain(|key, _| {
            matches!(key.as_str(), "$ref" | "$schema" | "$defs" | "definitions" | "description" | "default")
        });
    }
}

/// Writes what was said in other words then as it is said now.
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

/// The names of the properties that a list names, each once.
pub(super) fn names(list: Option<&Value>) -> Vec<&str> {
    let mut seen = HashSet::new();
    let names = list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names.filter(|name| seen.insert(*name)).collect()
}
