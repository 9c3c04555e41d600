//! Compiles a schema. A keyword that is not covered, or has a value that the meta-schema refuses, is left to the full validator.

use super::super::describe::cut;
use super::pattern::Pattern;
use crate::pointer::escape;
use serde_json::{Map, Number, Value};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// The draft that is covered.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Keywords with an effect on validation, or on what others refer to, that are not covered.
const UNCOVERED: [&str; 16] = [
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
    "additionalItems",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "divisibleBy",
    "maxContains",
    "minContains",
    "unevaluatedItems",
];
/// The largest divisor that a float represents exactly.
const MAX_DIVISOR: u64 = 1 << 53;
/// From this many names, a lookup is faster than comparing each.
const MANY: usize = 16;

/// The index of a schema within a document.
pub(super) type Id = usize;

/// A compiled schema with all its parts.
pub(super) struct Document {
    pub(super) nodes: Vec<Node>,
    pub(super) root: Id,
}

/// A schema within a document.
pub(super) struct Node {
    /// The place of the schema.
    pub(super) pointer: String,
    /// In the order in which their violations are reported.
    pub(super) keywords: Vec<Keyword>,
}

pub(super) enum Keyword {
    /// The schema is `false`.
    Never,
    Type(Types),
    Const(Value),
    Enum(Vec<Value>),
    Bound(Bound, Number),
    MultipleOf(u64),
    Size(Size, u64),
    Required(Vec<String>),
    Pattern(Pattern),
    UniqueItems,
    Properties(Names),
    PatternProperties(Vec<(Pattern, Id)>),
    Members(Members),
    /// `additionalProperties` is `true`.
    AnyMembers,
    PropertyNames(Id),
    Items {
        skipped: usize,
        each: Id,
    },
    PrefixItems(Vec<Id>),
    Contains(Id),
    AllOf(Vec<Id>),
    AnyOf(Vec<Id>),
    OneOf(Vec<Id>),
    Not(Id),
    If {
        condition: Id,
        then: Option<Id>,
        otherwise: Option<Id>,
    },
    Unevaluated(Id),
    Ref(Id),
}

/// The types that a schema allows.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each type")]
pub(super) struct Types {
    pub(super) null: bool,
    pub(super) boolean: bool,
    pub(super) integer: bool,
    pub(super) number: bool,
    pub(super) string: bool,
    pub(super) array: bool,
    pub(super) object: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Bound {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

#[derive(Clone, Copy)]
pub(super) enum Size {
    MinLength,
    MaxLength,
    MinItems,
    MaxItems,
    MinProperties,
    MaxProperties,
}

/// `additionalProperties` with the keywords that it depends on.
pub(super) struct Members {
    pub(super) properties: Names,
    pub(super) patterns: Vec<(Pattern, Id)>,
    /// The schema of the other members; `None` if there must be none.
    pub(super) rest: Option<Id>,
    /// True if there are neither `properties` nor `patternProperties`.
    pub(super) is_alone: bool,
}

/// Schemas by the name of a property.
#[derive(Default)]
pub(super) struct Names {
    pub(super) list: Vec<(String, Id)>,
    /// Only if there are many.
    index: HashMap<String, Id>,
}

impl Names {
    fn new(list: Vec<(String, Id)>) -> Self {
        let index = if list.len() >= MANY { list.iter().cloned().collect() } else { HashMap::new() };
        Self { list, index }
    }

    pub(super) fn get(&self, name: &str) -> Option<Id> {
        if self.index.is_empty() {
            return self.list.iter().find(|(known, _)| known == name).map(|(_, id)| *id);
        }
        self.index.get(name).copied()
    }
}

/// A keyword that is not covered.
#[derive(Debug)]
pub(super) struct Uncovered {
    keyword: String,
    pointer: String,
}

impl Uncovered {
    fn new(keyword: &str, pointer: &str) -> Self {
        Self { keyword: cut(keyword, 80), pointer: cut(pointer, 200) }
    }
}

impl fmt::Display for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { keyword, pointer } = self;
        let place = if pointer.is_empty() { "the root" } else { pointer };
        write!(
            f,
            "`{keyword}` in {place} needs the validator of the feature `json-schema`; enable this feature of `agent-toolkit`"
        )
    }
}

impl Document {
    pub(super) fn new(schema: &Value) -> Result<Self, Uncovered> {
        let mut builder = Builder { schema, nodes: Vec::new(), left: Vec::new(), known: HashMap::new() };
        let root = builder.node(schema, String::new())?;
        // Schemas nest too deep for a recursion.
        while let Some((id, members)) = builder.left.pop() {
            let pointer = builder.nodes[id].pointer.clone();
            builder.nodes[id].keywords = builder.keywords(members, &pointer)?;
        }
        let document = Self { nodes: builder.nodes, root };
        match document.circle() {
            Some(id) => Err(Uncovered::new("$ref", &document.nodes[id].pointer)),
            None => Ok(document),
        }
    }

    /// Returns the schema that allows nothing.
    pub(super) fn never() -> Self {
        Self { nodes: vec![Node { pointer: String::new(), keywords: vec![Keyword::Never] }], root: 0 }
    }

    /// Returns a schema that leads back to itself for the same value, so that checking a value would never end.
    fn circle(&self) -> Option<Id> {
        let (mut open, mut done) = (vec![false; self.nodes.len()], vec![false; self.nodes.len()]);
        for start in 0..self.nodes.len() {
            let mut path = vec![(start, false)];
            while let Some((id, is_left)) = path.pop() {
                if is_left {
                    (open[id], done[id]) = (false, true);
                    continue;
                }
                if open[id] {
                    return Some(id);
                }
                if done[id] {
                    continue;
                }
                open[id] = true;
                path.push((id, true));
                path.extend(
                    self.nodes[id].keywords.iter().flat_map(Keyword::same_value).map(|id| (id, false)),
                );
            }
        }
        None
    }
}

impl Keyword {
    /// Returns the schemas that the keyword applies to the same value.
    fn same_value(&self) -> Vec<Id> {
        match self {
            Self::AllOf(parts) | Self::AnyOf(parts) | Self::OneOf(parts) => parts.clone(),
            Self::Not(part) | Self::Ref(part) => vec![*part],
            Self::If { condition, then, otherwise } => {
                [Some(*condition), *then, *otherwise].into_iter().flatten().collect()
            }
            _ => Vec::new(),
        }
    }
}

struct Builder<'a> {
    schema: &'a Value,
    nodes: Vec<Node>,
    /// The schemas whose keywords are not compiled yet.
    left: Vec<(Id, &'a Map<String, Value>)>,
    /// The schemas by their place.
    known: HashMap<String, Id>,
}

impl<'a> Builder<'a> {
    /// Returns the index of a schema, whose keywords are compiled later.
    fn node(&mut self, schema: &'a Value, pointer: String) -> Result<Id, Uncovered> {
        if let Some(id) = self.known.get(&pointer) {
            return Ok(*id);
        }
        let id = self.nodes.len();
        let keywords = match schema {
            Value::Bool(true) => Vec::new(),
            Value::Bool(false) => vec![Keyword::Never],
            Value::Object(members) => {
                self.left.push((id, members));
                Vec::new()
            }
            _ => return Err(Uncovered::new("a schema that is not an object", &pointer)),
        };
        self.known.insert(pointer.clone(), id);
        self.nodes.push(Node { pointer, keywords });
        Ok(id)
    }

    fn keywords(&mut self, schema: &'a Map<String, Value>, pointer: &str) -> Result<Vec<Keyword>, Uncovered> {
        let mut found = Vec::with_capacity(schema.len());
        for (key, value) in schema {
            let keyword = self
                .keyword(key, value, schema, pointer)
                .map_err(|inner| inner.unwrap_or_else(|| Uncovered::new(key, pointer)))?;
            if let Some(keyword) = keyword {
                found.push((priority(key, schema), keyword));
            }
        }
        found.sort_by_key(|(priority, _)| *priority);
        Ok(found.into_iter().map(|(_, keyword)| keyword).collect())
    }

    /// Compiles a keyword; none if it has no effect. An error without a keyword means this one.
    #[expect(clippy::too_many_lines, reason = "one arm for each keyword")]
    fn keyword(
        &mut self,
        key: &str,
        value: &'a Value,
        schema: &'a Map<String, Value>,
        pointer: &str,
    ) -> Result<Option<Keyword>, Option<Uncovered>> {
        let closes =
            || matches!(schema.get("additionalProperties"), Some(Value::Bool(false) | Value::Object(_)));
        let at = |key: &str| format!("{pointer}/{key}");
        let count = || value.as_u64().ok_or(None);
        let bound = |bound| match value {
            Value::Number(limit) => Ok(Some(Keyword::Bound(bound, limit.clone()))),
            _ => Err(None),
        };
        Ok(Some(match key {
            "type" => Keyword::Type(types(value).ok_or(None)?),
            "const" => Keyword::Const(value.clone()),
            "enum" => Keyword::Enum(value.as_array().ok_or(None)?.clone()),
            "minimum" => return bound(Bound::Minimum),
            "maximum" => return bound(Bound::Maximum),
            "exclusiveMinimum" => return bound(Bound::ExclusiveMinimum),
            "exclusiveMaximum" => return bound(Bound::ExclusiveMaximum),
            "multipleOf" => {
                let divisor = count()?;
                if divisor == 0 || divisor > MAX_DIVISOR {
                    return Err(None);
                }
                Keyword::MultipleOf(divisor)
            }
            "minLength" => Keyword::Size(Size::MinLength, count()?),
            "maxLength" => Keyword::Size(Size::MaxLength, count()?),
            "minItems" => Keyword::Size(Size::MinItems, count()?),
            "maxItems" => Keyword::Size(Size::MaxItems, count()?),
            "minProperties" => Keyword::Size(Size::MinProperties, count()?),
            "maxProperties" => Keyword::Size(Size::MaxProperties, count()?),
            "required" => Keyword::Required(names(value).ok_or(None)?),
            "pattern" => Keyword::Pattern(Pattern::new(value.as_str().ok_or(None)?).ok_or(None)?),
            "uniqueItems" => match value {
                Value::Bool(true) => Keyword::UniqueItems,
                Value::Bool(false) => return Ok(None),
                _ => return Err(None),
            },
            "properties" => {
                let names = self.by_name(value, &at(key))?;
                if closes() {
                    return Ok(None);
                }
                Keyword::Properties(names)
            }
            "patternProperties" => {
                let patterns = self.by_pattern(value, &at(key))?;
                if closes() {
                    return Ok(None);
                }
                Keyword::PatternProperties(patterns)
            }
            "additionalProperties" => {
                let rest = match value {
                    Value::Bool(true) => return Ok(Some(Keyword::AnyMembers)),
                    Value::Bool(false) => None,
                    _ => Some(self.node(value, at(key)).map_err(Some)?),
                };
                let properties = match schema.get("properties") {
                    Some(properties) => self.by_name(properties, &at("properties"))?,
                    None => Names::default(),
                };
                let patterns = match schema.get("patternProperties") {
                    Some(patterns) => self.by_pattern(patterns, &at("patternProperties"))?,
                    None => Vec::new(),
                };
                let is_alone =
                    !schema.contains_key("properties") && !schema.contains_key("patternProperties");
                Keyword::Members(Members { properties, patterns, rest, is_alone })
            }
            "propertyNames" => Keyword::PropertyNames(self.node(value, at(key)).map_err(Some)?),
            "items" => {
                let each = self.node(value, at(key)).map_err(Some)?;
                let skipped = schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                Keyword::Items { skipped, each }
            }
            "prefixItems" => Keyword::PrefixItems(self.list(value, &at(key))?),
            "contains" => Keyword::Contains(self.node(value, at(key)).map_err(Some)?),
            "allOf" => Keyword::AllOf(self.list(value, &at(key))?),
            "anyOf" => Keyword::AnyOf(self.list(value, &at(key))?),
            "oneOf" => Keyword::OneOf(self.list(value, &at(key))?),
            "not" => Keyword::Not(self.node(value, at(key)).map_err(Some)?),
            "if" => {
                let condition = self.node(value, at(key)).map_err(Some)?;
                let mut branch = |key: &str| {
                    schema.get(key).map(|branch| self.node(branch, at(key)).map_err(Some)).transpose()
                };
                Keyword::If { condition, then: branch("then")?, otherwise: branch("else")? }
            }
            "then" | "else" => {
                self.node(value, at(key)).map_err(Some)?;
                return Ok(None);
            }
            "unevaluatedProperties" => Keyword::Unevaluated(self.node(value, at(key)).map_err(Some)?),
            "$ref" => Keyword::Ref(self.target(value)?),
            "$defs" | "definitions" => {
                self.by_name(value, &at(key))?;
                return Ok(None);
            }
            "$schema" => {
                let is_known = pointer.is_empty()
                    && value.as_str().is_some_and(|draft| draft.trim_end_matches('#') == DRAFT);
                return if is_known { Ok(None) } else { Err(None) };
            }
            "title" | "description" | "$comment" | "format" | "contentEncoding" | "contentMediaType" => {
                return if value.is_string() { Ok(None) } else { Err(None) };
            }
            "deprecated" | "readOnly" | "writeOnly" => {
                return if value.is_boolean() { Ok(None) } else { Err(None) };
            }
            "examples" => return if value.is_array() { Ok(None) } else { Err(None) },
            key if UNCOVERED.contains(&key) => return Err(None),
            _ => return Ok(None),
        }))
    }

    fn target(&mut self, reference: &Value) -> Result<Id, Option<Uncovered>> {
        let pointer = reference.as_str().and_then(|reference| reference.strip_prefix('#')).ok_or(None)?;
        // An escaped character would have to be decoded.
        if pointer.contains('%') {
            return Err(None);
        }
        let target = self.schema.pointer(pointer).ok_or(None)?;
        self.node(target, pointer.to_owned()).map_err(Some)
    }

    fn by_name(&mut self, schemas: &'a Value, pointer: &str) -> Result<Names, Option<Uncovered>> {
        let schemas = schemas.as_object().ok_or(None)?;
        let each = schemas.iter().map(|(name, schema)| {
            Ok((name.clone(), self.node(schema, format!("{pointer}/{}", escape(name)))?))
        });
        Ok(Names::new(each.collect::<Result<_, Uncovered>>()?))
    }

    fn by_pattern(
        &mut self,
        schemas: &'a Value,
        pointer: &str,
    ) -> Result<Vec<(Pattern, Id)>, Option<Uncovered>> {
        let mut patterns = Vec::new();
        for (pattern, schema) in schemas.as_object().ok_or(None)? {
            let id = self.node(schema, format!("{pointer}/{}", escape(pattern)))?;
            patterns.push((Pattern::new(pattern).ok_or(None)?, id));
        }
        Ok(patterns)
    }

    fn list(&mut self, schemas: &'a Value, pointer: &str) -> Result<Vec<Id>, Option<Uncovered>> {
        let schemas = schemas.as_array().filter(|schemas| !schemas.is_empty()).ok_or(None)?;
        let each = schemas.iter().enumerate();
        let each = each.map(|(place, schema)| self.node(schema, format!("{pointer}/{place}")));
        Ok(each.collect::<Result<_, Uncovered>>()?)
    }
}

fn types(value: &Value) -> Option<Types> {
    let mut types = Types::default();
    let kinds = match value {
        Value::Array(kinds) if kinds.is_empty() => return None,
        Value::Array(kinds) => kinds.as_slice(),
        kind => std::slice::from_ref(kind),
    };
    for kind in kinds {
        let kind = match kind.as_str()? {
            "null" => &mut types.null,
            "boolean" => &mut types.boolean,
            "integer" => &mut types.integer,
            "number" => &mut types.number,
            "string" => &mut types.string,
            "array" => &mut types.array,
            "object" => &mut types.object,
            _ => return None,
        };
        // Repeated types make the schema invalid.
        if std::mem::replace(kind, true) {
            return None;
        }
    }
    Some(types)
}

/// Reads a list of different names.
fn names(value: &Value) -> Option<Vec<String>> {
    let mut told = HashSet::new();
    let names = value.as_array()?.iter();
    names.map(|name| name.as_str().filter(|name| told.insert(*name)).map(str::to_owned)).collect()
}

/// Returns the rank of a keyword: those of `jsonschema`, so that problems are in the same order.
fn priority(key: &str, schema: &Map<String, Value>) -> u16 {
    match key {
        "type" | "minItems" | "maxItems" if is_plain_list(schema) => match key {
            "type" => 437,
            "minItems" => 438,
            _ => 439,
        },
        "required" if is_closed_with_one(schema) => 425,
        "type" => 10,
        "const" => 50,
        "enum" => 60,
        "minimum" => 100,
        "maximum" => 110,
        "exclusiveMinimum" => 120,
        "exclusiveMaximum" => 130,
        "multipleOf" => 140,
        "minLength" => 200,
        "maxLength" => 210,
        "minItems" => 220,
        "maxItems" => 230,
        "minProperties" => 240,
        "maxProperties" => 250,
        "required" => 260,
        "pattern" => 300,
        "uniqueItems" => 350,
        "properties" => 400,
        "patternProperties" => 410,
        "additionalProperties" => 420,
        "propertyNames" => 430,
        "items" => 440,
        "prefixItems" => 450,
        "contains" => 470,
        "allOf" => 500,
        "anyOf" => 510,
        "oneOf" => 520,
        "not" => 530,
        "if" => 540,
        "unevaluatedProperties" => 600,
        _ => 700,
    }
}

/// Returns true if the type and the number of items are checked together with the items.
fn is_plain_list(schema: &Map<String, Value>) -> bool {
    matches!(schema.get("items"), Some(Value::Object(_) | Value::Bool(false)))
        && schema.get("type").is_some_and(|kind| kind == "array")
        && !["prefixItems", "contains", "uniqueItems"].iter().any(|key| schema.contains_key(*key))
}

/// Returns true if the only required property is checked after the members of a closed object.
fn is_closed_with_one(schema: &Map<String, Value>) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|names| names.len() == 1)
        && schema.get("additionalProperties") == Some(&Value::Bool(false))
        && schema.contains_key("properties")
        && !schema.contains_key("patternProperties")
}
