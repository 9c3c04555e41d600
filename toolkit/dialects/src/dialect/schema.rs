//! Converts a tool's schema for a dialect: unchanged if possible, otherwise looser. It becomes narrower in one case: a property of variants at
//! the root has the schemas of those that name it, also if others accept any further property.
//!
//! There are two ways of writing: *whole*, for providers that accept JSON Schema, which replaces references and changes little else;
//! and *flat*, for providers that accept only some keywords: every part is split into alternatives of one type each, which are then
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
mod presence;
mod profile;
mod root;
mod trail;
mod union;
mod whole;
mod words;

pub(super) use profile::{Profile, Writing};

use super::Dialect;
use document::Document;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fmt;
use trail::Trail;

/// How many times a recursive type is expanded within itself; below that, any value is accepted.
pub const MAX_RECURSION: usize = 3;

/// The greatest depth to which parts are followed.
const DEEPEST: usize = 96;
/// The most values of a schema that are examined, counting the targets of references each time: beyond that any value is accepted.
const MAX_VALUES: usize = 100_000;
/// The most values that are copied when parts are combined, which a schema can require more often than it has values: beyond that,
/// parts are left out.
const MAX_COPIES: usize = 400_000;
/// The most losses that are reported for one schema.
const MAX_LOSSES: usize = 1000;

/// A requirement of a schema that a dialect does not express. Calls are validated against it nevertheless.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SchemaLoss {
    /// The place: a JSON pointer into the tool's own schema, to the part with the requirement.
    pub pointer: String,
    /// The keyword.
    pub keyword: String,
    /// The reason, in words.
    pub reason: String,
}

impl fmt::Display for SchemaLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = if self.pointer.is_empty() { "the root" } else { &self.pointer };
        write!(f, "`{}` of {}: {}", self.keyword, toolkit_core::escape::escape_line(pointer), self.reason)
    }
}

/// A schema in the form of a dialect.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DialectSchema {
    /// The schema for the request. Every value that matches the original matches it too, with two exceptions. Strict dialects require
    /// optional properties to be present as `null`; [`Definitions::parse`](super::Definitions::parse) removes these again. And where
    /// variants at the root become one object, a property has the schemas of the variants that name it, although a variant that does not
    /// name it may accept any value there.
    pub schema: Value,
    /// The requirements that are no longer expressed, each once; the first thousand.
    pub loosened: Vec<SchemaLoss>,
    /// In a strict dialect: the reason why the schema cannot be strict, so that it is written as if the dialect were not.
    pub not_strict: Option<SchemaLoss>,
    /// The schema with marks where `null` was added.
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
    /// Converts a schema of a tool's arguments to this dialect.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::dialects::Dialect;
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
    /// assert_eq!(strict.loosened[0].to_string(), "`minLength` of /properties/name: this dialect does not support it");
    /// ```
    ///
    /// * References are replaced by their targets. A recursive type is expanded [`MAX_RECURSION`] times.
    /// * Variants are not supported at the root by any dialect, so one object represents all of them: with the properties of all, their types,
    ///   descriptions and bounds, and a sentence about which belong together.
    /// * OpenAI: only keywords that grammars support, because many compatible servers generate a grammar and refuse other keywords:
    ///   no `not`, `if`, `contains`, `uniqueItems`, `propertyNames`, `dependentRequired`, patterns with look-around, unknown
    ///   formats.
    /// * Anthropic: all of JSON Schema but references. It accepts property names of letters, digits, `_`, `.` and `-`, at most 64
    ///   characters; other properties are left out, and the object is then open.
    /// * OpenAI strict, by its guide to structured outputs: `anyOf`, types, `enum`, the bounds of numbers and lists, `pattern`, nine
    ///   formats; every property is required, so optional ones may be `null`; objects are closed. At most 5,000 properties, 10
    ///   levels, 1,000 values of enums, 120,000 characters of names and values. Open objects, and parts that accept any value,
    ///   cannot be expressed at all.
    /// * Gemini, by its reference of the JSON Schema keywords that `parametersJsonSchema` accepts. The other form, `parameters`, is
    ///   based on `OpenAPI` and cannot express a value of any type, maps, tuples or enums of numbers, so a schema would have to
    ///   become narrower.
    /// * The Model Context Protocol accepts every schema of one object unchanged. Its clients demand `type: object` at the root, and leave out a
    ///   tool, or all tools, for `oneOf`, `anyOf`, `$ref` or a bare `allOf` there: such a schema is written as for Anthropic, with any property names.
    pub fn schema(self, schema: &Value) -> DialectSchema {
        let profile = self.provider().profile();
        if profile.writing == Writing::AsItIs
            && let Some(schema) = root::unchanged(schema)
        {
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

/// Returns a schema in the form that is shown to people: one object at the root, without references, and with every property that it
/// names.
pub fn for_people(schema: &Value) -> Value {
    let document = Document::new(schema);
    null::without_marks(&Rewriter::new(&document, Profile::for_people()).root())
}

/// Writes one schema for one dialect.
struct Rewriter<'d> {
    document: &'d Document,
    profile: &'static Profile,
    /// The references whose targets are being expanded.
    followed: Trail,
    /// The number of values that may still be examined.
    left: usize,
    /// The number of values that may still be copied.
    copies: usize,
    /// The number of parts that may still be checked for `null`.
    asked: usize,
    /// The present depth in the schema.
    depth: usize,
    losses: Vec<SchemaLoss>,
    told: HashSet<SchemaLoss>,
    /// The number of losses, including those that are not reported.
    lost: usize,
    /// The reason why the schema cannot be strict.
    impossible: Option<SchemaLoss>,
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

    /// Records that a requirement is not expressed.
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

    /// Records that the schema cannot be strict.
    fn refuse(&mut self, part: &Map<String, Value>, keyword: &str, reason: &str) {
        if self.impossible.is_none() {
            self.impossible = Some(self.loosened(part, keyword, reason));
        }
    }

    fn loosened(&self, part: &Map<String, Value>, keyword: &str, reason: &str) -> SchemaLoss {
        SchemaLoss {
            pointer: self.document.pointer(part),
            keyword: keyword.to_owned(),
            reason: reason.to_owned(),
        }
    }

    /// Returns true if a part may be followed, and is not too deep.
    fn enter(&mut self, part: &Value) -> bool {
        self.depth += 1;
        let is_allowed = self.depth <= DEEPEST;
        if let (false, Value::Object(part)) = (is_allowed, part) {
            self.lose(part, "$ref", "it nests too deep: any value is accepted here");
        }
        is_allowed
    }

    /// Counts examined values; returns false if there are too many.
    fn spend(&mut self, part: &Map<String, Value>) -> bool {
        let count = size(part, self.left);
        self.left = self.left.saturating_sub(count + 1);
        if self.left == 0 {
            self.lose(part, "$ref", "written out, the schema is too large: any value is accepted here");
        }
        self.left > 0
    }

    /// Counts copied values; returns false if there are too many.
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

    /// Returns the target of a reference; `None`, which means any value, if it has no target or is expanded too often. The caller
    /// must leave the target again.
    fn follow(&mut self, members: &Map<String, Value>, reference: &str) -> Option<&'d Value> {
        let document = self.document;
        if document::is_cut(reference) {
            self.lose(members, "$ref", "it nests too deep: any value is accepted here");
            return None;
        }
        let Some(target) = document.find(reference) else {
            self.lose(members, "$ref", "it points to nothing in the schema, so any value is accepted");
            return None;
        };
        if self.followed.count(reference) >= MAX_RECURSION {
            self.lose(members, "$ref", "the type contains itself: at this depth, any value is accepted");
            return None;
        }
        self.followed.enter(reference);
        Some(target)
    }
}

/// Returns the number of values in the members of a schema, counted up to a limit.
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

/// Returns the number of values in a value, counted up to a limit.
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
