//! A tool's JSON Schema (draft 2020-12): created from its parameters, shown to models, and compiled into a validator.

mod check;
#[doc(hidden)]
pub mod describe;
#[doc(hidden)]
pub mod duration;
mod foreign;
mod object;
mod plain;
#[doc(hidden)]
pub mod secret;
mod signature;
mod tighten;
mod validator;

pub use check::drop_unfitting_examples;
pub(crate) use check::{circle_within, repeated_name};
pub use foreign::{foreign_fault, output_fault, typed_output_fault};
pub(crate) use object::{is_object, unit_names};
pub use validator::Validator;
pub(crate) use validator::{Kind, Violation, uncovered};

use crate::error::ToolError;
use plain::Plain;
pub(crate) use plain::certainly_allows;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};
use std::sync::OnceLock;
use tighten::{Side, tighten};
pub(crate) use tighten::{holds_values, is_by_name, under_of};

/// A function that generates the JSON Schema of a type.
pub type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// An annotation of a property: its aliases. Removed from the schema that is shown.
#[doc(hidden)]
pub const ALIASES: &str = "x-toolkit-aliases";
/// An annotation of a property: its value is a secret. Removed from the schema that is shown.
#[doc(hidden)]
pub const SECRET: &str = "x-toolkit-secret";

/// An annotation of a number: bounds of its type that are of no use to a model, such as those of 64 bits. They are
/// enforced, and not shown.
const LIMITS: &str = "x-toolkit-limits";

/// The maximum depth of schemas and values. JSON text nests at most 128 deep; each level takes a few steps.
#[doc(hidden)]
pub const DEEPEST: usize = 256;

/// Returns the name of a value's type in JSON Schema.
#[doc(hidden)]
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A schema with everything that is derived from it, created once per tool, at its first use.
#[doc(hidden)]
pub struct Compiled {
    pub name: String,
    /// The schema that is enforced: the one that models see, with the limits of number types.
    pub schema: Value,
    /// The schema that models see, if it differs: made when it is first asked for, since a call does not need it.
    shown: Option<OnceLock<Value>>,
    /// The schema with annotations.
    pub annotated: Value,
    pub has_aliases: bool,
    pub has_secrets: bool,
    /// A fast check in front of the validator, if the schema is simple enough.
    pub(crate) plain: Option<Plain>,
    /// Made when it is first asked for, if the fast check covers the whole schema.
    validator: OnceLock<Validator>,
    /// Names of bound arguments: rejected in calls, even if the schema accepts any.
    pub bound: Box<[String]>,
}

/// The author of a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    /// The types of a function.
    Types,
    /// A person, or another process: its defaults are only documentation.
    Anybody,
}

impl Compiled {
    #[doc(hidden)]
    pub fn new(name: &str, annotated: Value) -> Result<Self, ToolError> {
        Self::of(name, annotated, Writer::Types)
    }

    /// Compiles a schema without Rust types, already checked by [`foreign_fault`].
    #[doc(hidden)]
    pub fn foreign(name: &str, annotated: Value) -> Result<Self, ToolError> {
        Self::of(name, annotated, Writer::Anybody)
    }

    fn of(name: &str, annotated: Value, writer: Writer) -> Result<Self, ToolError> {
        let fault = |what: String| {
            ToolError::unavailable(format!("the schema of the tool `{name}` is not valid: {what}"))
        };
        let mut schema = annotated.clone();
        let found = strip(&mut schema, "", Limits::Enforced);
        let shown = found.limits.then(OnceLock::new);
        let plain = Plain::of(&schema);
        let validator = OnceLock::new();
        if !plain.as_ref().is_some_and(Plain::is_complete) {
            if let (Writer::Types, Some(repeated)) = (writer, check::repeated_name(&schema)) {
                return Err(fault(repeated));
            }
            if let Some(definition) = check::circle(&schema) {
                return Err(fault(format!("the type `{definition}` refers to itself without end")));
            }
            let _ = validator.set(Validator::new(&schema).map_err(fault)?);
        }
        if let (Writer::Types, Some(shown)) = (writer, check::shown_fault(&schema, found.secrets)) {
            return Err(fault(shown));
        }
        let Found { aliases: has_aliases, secrets: has_secrets, .. } = found;
        Ok(Self {
            name: name.to_owned(),
            plain,
            schema,
            shown,
            annotated,
            has_aliases,
            has_secrets,
            validator,
            bound: Box::default(),
        })
    }

    /// Returns the validator of the schema that is enforced.
    #[doc(hidden)]
    pub fn validator(&self) -> &Validator {
        self.validator.get_or_init(|| Validator::of_plain(&self.schema))
    }

    /// Returns the schema as models see it.
    #[doc(hidden)]
    pub fn shown(&self) -> &Value {
        match &self.shown {
            Some(once) => once.get_or_init(|| shown(&self.annotated)),
            None => &self.schema,
        }
    }
}

/// Returns a schema with annotations as models see it.
#[doc(hidden)]
pub fn shown(annotated: &Value) -> Value {
    let mut schema = annotated.clone();
    strip(&mut schema, "", Limits::Dropped);
    schema
}

/// The kinds of annotations in a schema.
#[derive(Clone, Copy, Default)]
struct Found {
    aliases: bool,
    secrets: bool,
    limits: bool,
}

impl Found {
    fn and(self, other: Self) -> Self {
        Self {
            aliases: self.aliases || other.aliases,
            secrets: self.secrets || other.secrets,
            limits: self.limits || other.limits,
        }
    }
}

/// The use of the limits of number types.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Limits {
    /// They become bounds.
    Enforced,
    /// They are removed.
    Dropped,
}

/// Removes the annotations; returns which kinds there were.
fn strip(schema: &mut Value, under: &str, limits: Limits) -> Found {
    match schema {
        _ if holds_values(under) => Found::default(),
        Value::Object(members) => {
            let mut found = Found::default();
            if under != "properties" {
                found.secrets = members.shift_remove(SECRET).is_some();
                found.aliases = members.shift_remove(ALIASES).is_some();
                if let Some(bounds) = members.shift_remove(LIMITS) {
                    found.limits = true;
                    if limits == Limits::Enforced {
                        enforce(members, bounds);
                    }
                }
            }
            for (key, member) in members {
                found = found.and(strip(member, under_of(under, key), limits));
            }
            found
        }
        Value::Array(items) => {
            items.iter_mut().fold(Found::default(), |found, item| found.and(strip(item, "", limits)))
        }
        _ => Found::default(),
    }
}

/// Adds the bounds of a number type to a schema, unless it has its own.
fn enforce(members: &mut Map<String, Value>, bounds: Value) {
    let Value::Object(bounds) = bounds else { return };
    for (key, bound) in bounds {
        if matches!(key.as_str(), "minimum" | "maximum") && bound.is_number() {
            members.entry(key).or_insert(bound);
        }
    }
}

/// Returns a schema, with annotations, that `make` composes from those of several types.
pub(crate) fn compose(make: impl FnOnce(&mut SchemaGenerator) -> Value) -> Value {
    let mut schema = generate(make);
    finish_input(&mut schema);
    schema
}

/// Returns the schema that `make` composes, with its definitions, as schemars generates it.
pub(crate) fn generate(make: impl FnOnce(&mut SchemaGenerator) -> Value) -> Value {
    let mut generator = generator();
    let mut schema = make(&mut generator);
    let definitions = generator.take_definitions(true);
    add_definitions(&mut schema, definitions);
    schema
}

/// Brings a generated schema of arguments to the form that is compiled and shown.
pub(crate) fn finish_input(schema: &mut Value) {
    tighten(schema, Side::Input);
}

/// Returns the schema of a tool's structured output.
#[doc(hidden)]
pub fn of_output(schema: SchemaFn) -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .for_serialize()
        .into_generator();
    let mut schema = schema(&mut generator).to_value();
    let definitions = generator.take_definitions(true);
    add_definitions(&mut schema, definitions);
    strip(&mut schema, "", Limits::Dropped);
    tighten(&mut schema, Side::Output);
    schema
}

/// Returns true if a type, or a type within it, is marked as secret.
pub(crate) fn holds_secret(schema: SchemaFn) -> bool {
    let mut schema = generate(|generator| schema(generator).to_value());
    strip(&mut schema, "", Limits::Dropped).secrets
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator()
}

fn add_definitions(schema: &mut Value, definitions: Map<String, Value>) {
    if let (false, Some(root)) = (definitions.is_empty(), schema.as_object_mut()) {
        root.insert("$defs".into(), definitions.into());
    }
}

/// Follows a reference within the document.
#[doc(hidden)]
pub fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    // A longer chain of references is a cycle.
    for _ in 0..32 {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return schema };
        match reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) {
            Some(target) => schema = target,
            None => return schema,
        }
    }
    schema
}
