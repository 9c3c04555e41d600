//! The schema of a tool's arguments, made from its parameters.

use super::close::close;
use super::rules::apply;
use crate::arguments::rewrite_shown_values;
use crate::parameter::{Input, ParameterDef, Shown};
use crate::schema::{ALIASES, SECRET, finish_input, generate};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// Returns the schema of a tool's arguments, with annotations.
#[doc(hidden)]
pub fn of_input(input: &Input) -> Value {
    let mut schema = make(input);
    if let Input::Whole(_) = input {
        close(&mut schema);
    }
    finish(&mut schema);
    schema
}

/// Returns a schema, with annotations, that `make` composes from those of several types.
#[doc(hidden)]
pub fn compose(make: impl FnOnce(&mut SchemaGenerator) -> Value) -> Value {
    let mut schema = generate(make);
    finish(&mut schema);
    schema
}

fn finish(schema: &mut Value) {
    finish_input(schema);
    rewrite_shown_values(schema);
}

/// Returns the schema as schemars generates it.
pub(super) fn make(input: &Input) -> Value {
    generate(|generator| match input {
        Input::Parameters(parameters) => of_parameters(parameters, generator),
        Input::Whole(parameter) => (parameter.schema)(generator).to_value(),
    })
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
