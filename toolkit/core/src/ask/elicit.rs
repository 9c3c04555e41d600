//! A request to a person for a value: a message, and a schema that any form can show.

use super::Choice;
use crate::arg::ToolArg;
use crate::arguments::{self, Repairing};
use crate::error::ToolError;
use crate::parameter;
use crate::parameter::Input;
use crate::parameter::ParameterDef;
use crate::schema::Compiled;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request for a value: a message, and the schema of the answer.
///
/// The schema is one that the Model Context Protocol permits for elicitation, and that any host can show as a form: an object whose
/// properties are strings, integers, numbers, booleans, or choices from a list. One value is chosen by `enum`, or by `oneOf` with a
/// `const` and a `title` each; several values by an array whose `items` have `enum`, or `anyOf` likewise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Elicitation {
    /// The question, as worded by the tool.
    pub message: String,
    /// The schema of the answer.
    pub schema: Value,
    /// The name of the question, for protocols that identify questions by names, such as the Model Context Protocol; see
    /// [`named`](Self::named).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Elicitation {
    /// Creates a request for an object with this JSON Schema.
    ///
    /// # Errors
    ///
    /// When the schema is no object of strings, integers, numbers, booleans and lists to choose from; the message names the property.
    pub fn new(message: impl Into<String>, schema: Value) -> Result<Self, ToolError> {
        let fault = |what| ToolError::failed(format!("a person cannot be asked for this: {what}"));
        flat_fault(&schema).map_or(Ok(()), |what| Err(fault(what)))?;
        // The compiled schema is not kept: it is compiled again at each check. Errors are reported now.
        compile(&schema).map_err(|error| fault(error.to_string()))?;
        Ok(Self { message: message.into(), schema, name: None })
    }

    /// Sets a name for programs that answer the request, for example `user_name`. Without one, the name differs each time.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Creates a request for a value of a type: a struct whose fields are strings, unit enums, numbers or booleans, or `Option`s of
    /// them.
    ///
    /// # Errors
    ///
    /// When the type has any other schema; the message names the field.
    pub fn of<T: ToolArg>(message: impl Into<String>) -> Result<Self, ToolError> {
        Self::of_input(message.into(), &Input::Whole(const { &whole::<T>() }))
    }

    fn of_input(message: String, input: &Input) -> Result<Self, ToolError> {
        let annotated = parameter::of_input(input);
        let shown = Compiled::new(NAME, annotated).map(|compiled| compiled.schema);
        Self::new(message, shown.map_err(|error| ToolError::failed(error.message().to_owned()))?)
    }

    /// Validates an answer, as every answer is validated before the tool gets it; `null` for optional fields is removed.
    ///
    /// # Errors
    ///
    /// When the answer is invalid, with a message for the person who gave it.
    pub fn check(&self, value: Value) -> Result<Value, String> {
        if !value.is_object() {
            return Err("the answer is not a JSON object".to_owned());
        }
        let compiled = compile(&self.schema).map_err(|error| error.message().to_owned())?;
        arguments::prepare(&compiled, value.into(), Repairing::On)
            .map(|(mut fitting, _)| fitting.take_all())
            .map_err(|wrong| wrong.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }

    /// Returns the number of bytes of its texts.
    #[doc(hidden)]
    pub fn size(&self) -> usize {
        let name = self.name.as_ref().map_or(0, String::len);
        self.message.len() + self.schema.to_string().len() + name
    }
}

const NAME: &str = "question to a person";

fn compile(schema: &Value) -> Result<Compiled, ToolError> {
    Compiled::new(NAME, schema.clone())
}

/// Returns the whole answer as one parameter, so that its schema is generated like that of a tool.
const fn whole<T: ToolArg>() -> ParameterDef {
    ParameterDef {
        name: "answer",
        description: "",
        schema: T::schema,
        optional: false,
        default: None,
        rules: &[],
        examples: &[],
        aliases: &[],
        secret: false,
        check: |_| Ok(()),
    }
}

/// Schema keywords that a form cannot show.
const COMPOSED: [&str; 15] = [
    "$ref",
    "$dynamicRef",
    "$defs",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "if",
    "properties",
    "patternProperties",
    "items",
    "prefixItems",
    "dependentSchemas",
    "dependentRequired",
    "propertyNames",
];

/// Returns the reason why a form cannot show a schema.
fn flat_fault(schema: &Value) -> Option<String> {
    let flat = "a flat object of strings, integers, numbers and booleans";
    let Some(root) = schema.as_object() else { return Some(format!("its schema is not that of {flat}")) };
    let is_composed = COMPOSED.iter().find(|key| **key != "properties" && root.contains_key(**key));
    if root.get("type").is_none_or(|kind| kind != "object") || is_composed.is_some() {
        return Some(format!("its schema is not that of {flat}"));
    }
    if root.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false)) {
        return Some(format!("its schema takes any property, instead of being that of {flat}"));
    }
    let properties = root.get("properties").and_then(Value::as_object)?;
    properties.iter().find_map(|(name, property)| {
        let kind = property.get("type").and_then(Value::as_str);
        let list = match kind {
            Some("array") => "items",
            _ => "oneOf",
        };
        let is_chosen = Choice::of(property).is_some();
        let is_primitive = (matches!(kind, Some("string" | "integer" | "number" | "boolean")) || is_chosen)
            && !COMPOSED.iter().any(|key| property.get(*key).is_some() && !(is_chosen && *key == list));
        (!is_primitive)
            .then(|| format!("`{name}` is not a string, integer, number or boolean; ask for {flat}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Where to deploy.
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Target {
        /// The host's name.
        host: String,
        port: Option<u16>,
        #[serde(default)]
        force: bool,
        color: Color,
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    enum Color {
        /// Like blood.
        Red,
        Green,
    }

    #[expect(dead_code, reason = "only its schema is looked at")]
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nested {
        name: String,
        colors: Vec<String>,
    }

    #[expect(dead_code, reason = "only its schema is looked at")]
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Deep {
        target: Target,
    }

    #[test]
    fn a_type_becomes_a_form() {
        let asked = Elicitation::of::<Target>("where to?").unwrap();
        assert_eq!(
            asked.schema,
            json!({
                "type": "object",
                "properties": {
                    "host": {"description": "The host's name.", "type": "string"},
                    "port": {"type": "integer", "minimum": 0, "maximum": 65535},
                    "force": {"type": "boolean", "default": false},
                    "color": {"type": "string", "enum": ["Green", "Red"], "description": "- `Red`: Like blood."},
                },
                "required": ["host", "color"],
                "additionalProperties": false,
            })
        );
        let answer = json!({"host": "a", "port": null, "color": "Red"});
        let checked = asked.check(answer).unwrap();
        assert_eq!(checked, json!({"host": "a", "color": "Red"}));
        let target = Target::decode(checked).unwrap();
        assert_eq!((target.host.as_str(), target.port, target.force), ("a", None, false));
        assert!(matches!(target.color, Color::Red));
    }

    #[test]
    fn what_no_form_can_show_is_refused_by_name() {
        for (refused, expected) in [
            (Elicitation::of::<Nested>("?"), "`colors` is not a string, integer, number or boolean"),
            (Elicitation::of::<Deep>("?"), "`target` is not a string"),
            (Elicitation::of::<String>("?"), "its schema is not that of a flat object"),
            (Elicitation::of::<std::collections::BTreeMap<String, String>>("?"), "takes any property"),
            (Elicitation::new("?", json!(true)), "its schema is not that of a flat object"),
            (
                Elicitation::new("?", json!({"type": "object", "oneOf": []})),
                "its schema is not that of a flat",
            ),
            (
                Elicitation::new(
                    "?",
                    json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}),
                ),
                "`a` is not a string",
            ),
            (
                Elicitation::new(
                    "?",
                    json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}),
                ),
                "is not valid",
            ),
        ] {
            let message = refused.unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn what_is_chosen_fits_its_list() {
        let several = json!({"type": "array", "minItems": 1, "items": {"anyOf": [{"const": "a", "title": "A"}, {"const": "b"}]}});
        let one = json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]});
        let schema = json!({"type": "object", "properties": {"one": one, "several": several}});
        let asked = Elicitation::new("?", schema).unwrap();
        let answer = json!({"one": "b", "several": ["a", "b"]});
        assert_eq!(asked.check(answer.clone()), Ok(answer));
        for wrong in
            [json!({"one": "c"}), json!({"several": []}), json!({"several": ["c"]}), json!({"several": 1})]
        {
            assert!(asked.check(wrong.clone()).is_err(), "{wrong}");
        }
        let nested =
            json!({"type": "array", "items": {"type": "string", "enum": ["a"], "not": {}}, "not": {}});
        assert!(Elicitation::new("?", json!({"type": "object", "properties": {"a": nested}})).is_err());
    }

    #[test]
    fn a_wrong_answer_is_explained() {
        let asked = Elicitation::of::<Target>("where to?").unwrap();
        for (given, expected) in [
            (json!("a"), "the answer is not a JSON object"),
            (
                json!({"host": "a", "port": 70000, "color": "Blue"}),
                "/port: expected an integer from 0 to 65535, got the number 70000; /color: expected one of",
            ),
            (json!({"host": "a"}), "/color: expected"),
        ] {
            let problem = asked.check(given).unwrap_err();
            assert!(problem.starts_with(expected), "{problem}");
        }
    }
}
