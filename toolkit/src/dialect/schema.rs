//! A tool's schema as a dialect can say it: the same where it can, looser where it cannot, narrower never.
//!
//! Two ways of writing: *whole*, for those who take JSON Schema, in which references are replaced and little else changes; and
//! *flat*, for those who take a few keywords of it: every part is taken apart into alternatives of one type each, which are then
//! written in those keywords.

mod close;
mod disjoint;
mod document;
mod enums;
mod flat;
mod flatten;
mod kind;
mod limits;
mod lists;
mod meet;
mod null;
mod object;
mod pattern;
mod profile;
mod root;
mod trail;
mod union;
mod whole;
mod words;

pub(super) use null::NULL_IS_ABSENT;

use super::Dialect;
use document::Document;
use profile::{Profile, Writing};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fmt;
use trail::Trail;

/// How often a type that holds itself is written out, one within the other; below that, any value is taken.
pub const MAX_RECURSION: usize = 3;

/// How deep parts are followed.
const DEEPEST: usize = 96;
/// How many values of a schema are looked at, those that references lead to counted each time: beyond that any value is taken.
const MAX_VALUES: usize = 100_000;
/// How many values are copied where parts are put together, which a schema can ask for more often than it has values: beyond that
/// parts are left out.
const MAX_COPIES: usize = 400_000;
/// How many losses are told of one schema.
const MAX_LOSSES: usize = 1000;

/// Something that a schema demands and a dialect does not say. Calls are held to it all the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Loosened {
    /// Where: a JSON pointer into the tool's own schema, to the part that demands it.
    pub pointer: String,
    /// The keyword.
    pub keyword: String,
    /// Why, in words.
    pub reason: String,
}

impl fmt::Display for Loosened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = if self.pointer.is_empty() { "the root" } else { &self.pointer };
        write!(f, "`{}` of {}: {}", self.keyword, crate::escape::escape_line(pointer), self.reason)
    }
}

/// A schema as a dialect says it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DialectSchema {
    /// As it goes into the request. Whatever fits the original fits this, but that in strict dialects what is optional is there and
    /// `null`; [`Definitions::parse`](super::Definitions::parse) takes that away again.
    pub schema: Value,
    /// What is no longer said, each once; the first thousand.
    pub loosened: Vec<Loosened>,
    /// In a strict dialect: why the schema cannot be strict, so that it is written as if the dialect were not.
    pub not_strict: Option<Loosened>,
    /// The schema with marks where `null` was let in.
    pub(super) annotated: Value,
}

impl DialectSchema {
    /// Takes out of a value what is `null` only since a strict schema wants it there, and returns true if something was. For answers whose
    /// schema this is; of calls [`Definitions::parse`](super::Definitions::parse) does so.
    pub fn without_nulls(&self, value: &mut Value) -> bool {
        super::read_back::read_back(value, &self.annotated)
    }
}

impl Dialect {
    /// A schema of a tool's arguments as this dialect says it.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::Dialect;
    ///
    /// let own = json!({
    ///     "type": "object",
    ///     "properties": {"name": {"type": "string", "minLength": 1}, "size": {"$ref": "#/$defs/size"}},
    ///     "required": ["name"],
    ///     "additionalProperties": false,
    ///     "$defs": {"size": {"type": "integer", "minimum": 0}},
    /// });
    /// let strict = Dialect::OpenAiChatStrict.schema(&own);
    /// assert_eq!(strict.schema["properties"]["size"], json!({"type": ["integer", "null"], "minimum": 0}));
    /// assert_eq!(strict.loosened[0].to_string(), "`minLength` of /properties/name: this dialect does not say it");
    /// ```
    ///
    /// * References are replaced by what they lead to. A type that holds itself is written out [`MAX_RECURSION`] times.
    /// * OpenAI, Anthropic: at the root there are no variants, so one object stands for all of them.
    /// * OpenAI: keywords of which grammars are made, since many servers that speak the same do so, and refuse others: not `not`,
    ///   `if`, `contains`, `uniqueItems`, `propertyNames`, `dependentRequired`, patterns that look around, unknown formats.
    /// * Anthropic: all of JSON Schema but references. It takes property names of letters, digits, `_`, `.` and `-`, at most 64;
    ///   others are left out of an object that is then open.
    /// * OpenAI strict, by its guide to structured outputs: `anyOf`, types, `enum`, the bounds of numbers and lists, `pattern`,
    ///   nine formats; every property is required, so those that are optional may be `null`; objects are closed. At most 5,000
    ///   properties, 10 levels, 1,000 values of enums, 120,000 characters of names and values. Open objects, and what takes any
    ///   value, cannot be said at all.
    /// * Gemini, by its reference of the keywords that JSON Schema may have there (`parametersJsonSchema`). The other form,
    ///   `parameters`, is of `OpenAPI` and has no word for a value of any type, for maps, tuples or enums of numbers, so a schema
    ///   would have to become narrower.
    /// * The Model Context Protocol takes every schema as it is.
    pub fn schema(self, schema: &Value) -> DialectSchema {
        let profile = Profile::of(self);
        if let Writing::AsItIs = profile.writing {
            let schema = schema.clone();
            return DialectSchema {
                annotated: schema.clone(),
                schema,
                loosened: Vec::new(),
                not_strict: None,
            };
        }
        let document = Document::new(schema);
        let mut rewriter = Rewriter::new(&document, profile);
        let annotated = rewriter.root();
        let shown = null::without_marks(&annotated);
        if profile.is_strict {
            rewriter.check_limits(&shown);
        }
        let loosened = rewriter.losses;
        match rewriter.impossible {
            None => DialectSchema { schema: shown, loosened, not_strict: None, annotated },
            not_strict => DialectSchema { not_strict, ..self.plain().schema(schema) },
        }
    }
}

/// A schema as people are shown it: one object at the root, without references, and with every property that it names.
pub(crate) fn for_people(schema: &Value) -> Value {
    let document = Document::new(schema);
    null::without_marks(&Rewriter::new(&document, Profile::for_people()).root())
}

/// Writes one schema for one dialect.
struct Rewriter<'d> {
    document: &'d Document,
    profile: &'static Profile,
    /// The references within whose targets it is.
    followed: Trail,
    /// How many values may still be looked at.
    left: usize,
    /// How many may still be copied.
    copies: usize,
    /// How many parts may still be asked whether they take `null`.
    asked: usize,
    /// How deep in the schema it is.
    depth: usize,
    losses: Vec<Loosened>,
    told: HashSet<Loosened>,
    /// How often something was lost, told or not.
    lost: usize,
    /// Why it cannot be strict.
    impossible: Option<Loosened>,
}

impl<'d> Rewriter<'d> {
    fn new(document: &'d Document, profile: &'static Profile) -> Self {
        Self {
            document,
            profile,
            followed: Trail::default(),
            left: MAX_VALUES,
            copies: MAX_COPIES,
            asked: null::MAX_ASKED,
            depth: 0,
            lost: 0,
            losses: Vec::new(),
            told: HashSet::new(),
            impossible: None,
        }
    }

    /// Tells that something is not said.
    fn lose(&mut self, part: &Map<String, Value>, keyword: &str, reason: &str) {
        self.lost += 1;
        if self.losses.len() == MAX_LOSSES {
            return;
        }
        let loss = self.loosened(part, keyword, reason);
        if self.told.insert(loss.clone()) {
            self.losses.push(loss);
        }
    }

    /// What is said cannot be strict.
    fn refuse(&mut self, part: &Map<String, Value>, keyword: &str, reason: &str) {
        if self.impossible.is_none() {
            self.impossible = Some(self.loosened(part, keyword, reason));
        }
    }

    fn loosened(&self, part: &Map<String, Value>, keyword: &str, reason: &str) -> Loosened {
        Loosened {
            pointer: self.document.pointer(part),
            keyword: keyword.to_owned(),
            reason: reason.to_owned(),
        }
    }

    /// Whether a part may be followed: not where that is too deep.
    fn enter(&mut self, part: &Value) -> bool {
        self.depth += 1;
        let is_allowed = self.depth <= DEEPEST;
        if let (false, Value::Object(part)) = (is_allowed, part) {
            self.lose(part, "$ref", "it nests too deep: here any value is taken");
        }
        is_allowed
    }

    /// Counts what is looked at; false where it is too much.
    fn spend(&mut self, part: &Map<String, Value>) -> bool {
        let count = size(part, self.left);
        self.left = self.left.saturating_sub(count + 1);
        if self.left == 0 {
            self.lose(part, "$ref", "written out, the schema is too large: here any value is taken");
        }
        self.left > 0
    }

    /// Counts what is copied; false where it is too much.
    fn copy(&mut self, part: &Map<String, Value>, count: usize) -> bool {
        let can = self.can_copy(count);
        if !can {
            self.lose(part, "allOf", "put together, the schema is too large");
        }
        can
    }

    fn can_copy(&mut self, count: usize) -> bool {
        self.copies = self.copies.saturating_sub(count);
        self.copies > 0
    }

    /// What a reference leads to; nothing where that is any value, since it leads nowhere or to itself too often. Whoever goes there
    /// leaves it again.
    fn follow(&mut self, members: &Map<String, Value>, reference: &str) -> Option<&'d Value> {
        let document = self.document;
        if document::is_cut(reference) {
            self.lose(members, "$ref", "it nests too deep: here any value is taken");
            return None;
        }
        let Some(target) = document.find(reference) else {
            self.lose(members, "$ref", "it leads to no place in the schema, so any value is taken");
            return None;
        };
        if self.followed.count(reference) >= MAX_RECURSION {
            self.lose(members, "$ref", "the type holds itself: so deep down, any value is taken");
            return None;
        }
        self.followed.enter(reference);
        Some(target)
    }
}

/// How many values the members of a schema hold, counted up to a limit.
fn size(members: &Map<String, Value>, limit: usize) -> usize {
    let mut sum = 0;
    for value in members.values() {
        if sum >= limit {
            break;
        }
        sum += count(value, limit - sum);
    }
    sum
}

/// How many values a value holds, counted up to a limit.
fn count(value: &Value, limit: usize) -> usize {
    let inner: &mut dyn Iterator<Item = &Value> = match value {
        Value::Array(items) => &mut items.iter(),
        Value::Object(members) => &mut members.values(),
        _ => return 1,
    };
    let mut sum = 1;
    for value in inner {
        if sum >= limit {
            break;
        }
        sum += count(value, limit - sum);
    }
    sum
}
