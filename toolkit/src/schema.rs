//! A tool's JSON Schema (draft 2020-12): made from its parameters, shown to models, and compiled into the
//! validator that enforces it.

pub(crate) mod describe;

use crate::error::ToolError;
use crate::parameter::{ParameterDef, Rule, Shown};
use crate::tool_def::Input;
use jsonschema::{Draft, Validator};
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Annotation of a property: other names for it. Taken out of the schema that is shown.
pub(crate) const ALIASES: &str = "x-toolkit-aliases";
/// Annotation of a property: its value is a secret. Taken out of the schema that is shown.
pub(crate) const SECRET: &str = "x-toolkit-secret";

/// A schema with everything that is derived from it, made once a tool, at its first use.
pub(crate) struct Compiled {
    pub(crate) name: String,
    /// As models see it.
    pub(crate) schema: Value,
    /// With the annotations.
    pub(crate) annotated: Value,
    pub(crate) has_aliases: bool,
    pub(crate) validator: Validator,
}

impl Compiled {
    pub(crate) fn new(name: &str, annotated: Value) -> Result<Self, ToolError> {
        let mut schema = annotated.clone();
        let has_aliases = strip(&mut schema, "");
        let validator =
            jsonschema::options().with_draft(Draft::Draft202012).offline().build(&schema).map_err(
                |error| {
                    ToolError::unavailable(format!("the schema of the tool `{name}` is not valid: {error}"))
                },
            )?;
        Ok(Self { name: name.to_owned(), schema, annotated, has_aliases, validator })
    }
}

/// Removes the annotations; says whether one of them was an alias.
fn strip(schema: &mut Value, under: &str) -> bool {
    match schema {
        // Under these keys stand values of the user's, not schemas.
        _ if matches!(under, "default" | "examples" | "const" | "enum") => false,
        Value::Object(members) => {
            let mut found = false;
            if under != "properties" {
                members.shift_remove(SECRET);
                found = members.shift_remove(ALIASES).is_some();
            }
            for (key, member) in members {
                // The name of a property is no keyword.
                let key = if under == "properties" { "" } else { key.as_str() };
                found |= strip(member, key);
            }
            found
        }
        Value::Array(items) => items.iter_mut().fold(false, |found, item| strip(item, "") | found),
        _ => false,
    }
}

/// The schema of a tool's arguments, with annotations.
pub(crate) fn of_input(input: &Input) -> Value {
    let mut generator = generator();
    let mut schema = match input {
        Input::Parameters(parameters) => of_parameters(parameters, &mut generator),
        Input::Whole(parameter) => (parameter.schema)(&mut generator).to_value(),
    };
    finish(&mut schema, generator);
    if let Some(root) = schema.as_object_mut() {
        root.shift_remove("title");
        root.shift_remove("description");
        root.entry("properties").or_insert_with(|| json!({}));
        root.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    schema
}

/// The schema of a tool's structured output.
pub(crate) fn of_output(schema: crate::arg::SchemaFn) -> Value {
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
    strip(&mut schema, "");
    schema
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator()
}

fn of_parameters(parameters: &[&ParameterDef], generator: &mut SchemaGenerator) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in parameters {
        properties.insert(parameter.name.to_owned(), of_parameter(parameter, generator));
        if !parameter.optional {
            required.push(Value::from(parameter.name));
        }
    }
    let mut root = Map::new();
    root.insert("type".into(), "object".into());
    root.insert("properties".into(), properties.into());
    if !required.is_empty() {
        root.insert("required".into(), required.into());
    }
    root.insert("additionalProperties".into(), false.into());
    root.into()
}

fn of_parameter(parameter: &ParameterDef, generator: &mut SchemaGenerator) -> Value {
    let schema: Schema = (parameter.schema)(generator);
    let mut schema = match schema.to_value() {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    if !parameter.description.is_empty() {
        schema.shift_remove("description");
        schema.shift_insert(0, "description".into(), parameter.description.into());
    }
    for rule in parameter.rules {
        apply(*rule, &mut schema);
    }
    if let Some(default) = parameter.default.and_then(Shown::to_value) {
        schema.insert("default".into(), default);
    }
    let examples: Vec<Value> = parameter.examples.iter().filter_map(|example| example.to_value()).collect();
    if !examples.is_empty() {
        schema.insert("examples".into(), examples.into());
    }
    if !parameter.aliases.is_empty() {
        schema.insert(ALIASES.into(), parameter.aliases.iter().copied().map(Value::from).collect());
    }
    if parameter.secret {
        schema.insert(SECRET.into(), true.into());
    }
    schema.into()
}

fn apply(rule: Rule, schema: &mut Map<String, Value>) {
    let kind = |schema: &Map<String, Value>| {
        schema.get("type").and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let (key, value) = match rule {
        Rule::Minimum(bound) => ("minimum", bound.to_value()),
        Rule::Maximum(bound) => ("maximum", bound.to_value()),
        Rule::ExclusiveMaximum(bound) => ("exclusiveMaximum", bound.to_value()),
        Rule::MinLength(count) => {
            (length_key(&kind(schema), "minLength", "minItems", "minProperties"), count.into())
        }
        Rule::MaxLength(count) => {
            (length_key(&kind(schema), "maxLength", "maxItems", "maxProperties"), count.into())
        }
        Rule::Pattern(pattern) => ("pattern", pattern.into()),
    };
    schema.insert(key.to_owned(), value);
}

fn length_key(kind: &str, string: &'static str, array: &'static str, object: &'static str) -> &'static str {
    match kind {
        "array" => array,
        "object" => object,
        _ => string,
    }
}

fn finish(schema: &mut Value, mut generator: SchemaGenerator) {
    let definitions = generator.take_definitions(true);
    add_definitions(schema, definitions);
    tighten(schema, "");
}

fn add_definitions(schema: &mut Value, definitions: Map<String, Value>) {
    if let (false, Some(root)) = (definitions.is_empty(), schema.as_object_mut()) {
        root.insert("$defs".into(), definitions.into());
    }
}

/// Gives integers the bounds of their type, and takes `null` from what is optional anyway: absent says it.
fn tighten(schema: &mut Value, under: &str) {
    match schema {
        _ if matches!(under, "default" | "examples" | "const" | "enum") => {}
        Value::Object(members) if under == "properties" || under == "$defs" => {
            members.values_mut().for_each(|member| tighten(member, ""));
        }
        Value::Object(members) => {
            bound_integer(members);
            let required: Vec<Value> =
                members.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            if let Some(properties) = members.get_mut("properties").and_then(Value::as_object_mut) {
                for (name, property) in properties {
                    if !required.iter().any(|required| required == name) {
                        drop_null(property);
                    }
                }
            }
            for (key, member) in members {
                tighten(member, key);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| tighten(item, "")),
        _ => {}
    }
}

fn bound_integer(schema: &mut Map<String, Value>) {
    let Some(format) = schema.get("format").and_then(Value::as_str) else { return };
    let (least, greatest): (Value, Value) = match format {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int64" | "int" => (i64::MIN.into(), i64::MAX.into()),
        "uint8" => (0.into(), u8::MAX.into()),
        "uint16" => (0.into(), u16::MAX.into()),
        "uint32" => (0.into(), u32::MAX.into()),
        "uint64" | "uint" => (0.into(), u64::MAX.into()),
        _ => return,
    };
    // The bounds say it all; as a format, these names are nobody's standard.
    schema.shift_remove("format");
    schema.entry("minimum").or_insert(least);
    if !schema.contains_key("exclusiveMaximum") {
        schema.entry("maximum").or_insert(greatest);
    }
}

fn drop_null(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    if members.get("default").is_some_and(Value::is_null) {
        members.shift_remove("default");
    }
    if let Some(Value::Array(kinds)) = members.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            members.insert("type".into(), kind);
        }
    }
    if let Some(Value::Array(options)) = members.get_mut("enum") {
        options.retain(|option| !option.is_null());
    }
    if let Some(Value::Array(options)) = members.get_mut("anyOf") {
        options.retain(|option| option.get("type").is_none_or(|kind| kind != "null"));
        if options.len() == 1
            && let Some(Value::Object(only)) = options.pop()
        {
            members.shift_remove("anyOf");
            for (key, value) in only {
                members.entry(key).or_insert(value);
            }
        }
    }
}

/// Follows a reference within the document.
pub(crate) fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    // A chain of references longer than this goes round in a circle.
    for _ in 0..32 {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return schema };
        match reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) {
            Some(target) => schema = target,
            None => return schema,
        }
    }
    schema
}
