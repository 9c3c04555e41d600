//! The view of a tool that models get: its definition and its schemas. The schemas are the enforced ones, except for
//! the limits of wide number types, which are not shown.

use super::{Origin, Tool};
use serde_json::{Map, Value};
use toolkit_core::definition::Definition;
use toolkit_core::error::ToolError;
use toolkit_core::guard::{caught, guard};
use toolkit_core::parameter;
use toolkit_core::parameter::Input;
use toolkit_core::schema::{self, Compiled};

impl Tool {
    /// Returns the JSON Schema of the arguments.
    ///
    /// # Errors
    ///
    /// Returns an error if the types of the parameters produce an invalid schema, or if a bound value does not match
    /// it.
    pub fn input_schema(&self) -> Result<&Value, ToolError> {
        Ok(self.compiled()?.shown())
    }

    /// Returns the JSON Schema that arguments are checked against: the [one for models](Self::input_schema) with the limits of wide number types.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Tool::input_schema`].
    pub fn enforced_schema(&self) -> Result<&Value, ToolError> {
        Ok(&self.compiled()?.schema)
    }

    /// Returns the JSON Schema of the structured output, [`ToolOutput::details`](crate::ToolOutput::details).
    pub fn output_schema(&self) -> Option<&Value> {
        if let Some(dynamic) = self.dynamic() {
            return dynamic.output_schema.as_ref();
        }
        let make = self.stated().output_schema?;
        // A schema that panics is the author's own `JsonSchema`; the tool works without it.
        self.0
            .output_schema
            .get_or_init(|| guard(self.name(), || schema::of_output(make)).ok().map(Box::new))
            .as_deref()
    }

    /// Returns the JSON Schema of the structured output, if it is an object that says all that the text says: then a host may show it
    /// to a model in place of the text.
    pub fn structured_schema(&self) -> Option<&Value> {
        let text_says_more = self.def().is_some_and(|def| def.text_says_more);
        self.output_schema().filter(|schema| !text_says_more && schema["type"] == "object")
    }

    /// Returns the tool's definition as a model sees it.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Tool::input_schema`].
    pub fn definition(&self) -> Result<Definition, ToolError> {
        let (name, description) = (self.name().to_owned(), self.description().to_owned());
        let mut definition =
            Definition::new(name, description, self.input_schema()?.clone(), self.annotations());
        definition.title = self.own_title().map(str::to_owned);
        definition.output_schema = self.structured_schema().cloned();
        Ok(definition)
    }

    pub(crate) fn compiled(&self) -> Result<&Compiled, ToolError> {
        self.0
            .compiled
            .get_or_init(|| {
                // Types and defaults run their author's code.
                let compiled = caught(|| self.compile()).unwrap_or_else(|panic| {
                    let what = format!("a type, a default or an example panicked: {panic}");
                    Err(ToolError::unavailable(format!(
                        "the schema of the tool `{}` is not valid: {what}",
                        self.name()
                    )))
                });
                compiled.map(Box::new).map_err(|error| error.to_string().into_boxed_str())
            })
            .as_deref()
            .map_err(|error| ToolError::unavailable(&**error))
    }

    fn compile(&self) -> Result<Compiled, ToolError> {
        let schema = self.annotated_schema();
        let bindings =
            self.changes().map(|changes| &changes.bindings).filter(|bindings| !bindings.is_empty());
        let Some(bindings) = bindings else { return self.compile_schema(schema) };
        let fault = |what: String| ToolError::unavailable(format!("the tool `{}` {what}", self.name()));
        let whole = self.compile_schema(schema)?;
        let narrowed = bindings.narrow(&whole).map_err(fault)?;
        let mut compiled = self.compile_schema(narrowed)?;
        compiled.bound = bindings.names();
        Ok(compiled)
    }

    fn compile_schema(&self, schema: Value) -> Result<Compiled, ToolError> {
        match &self.0.made.from {
            Origin::Static(_) => Compiled::new(self.name(), schema),
            Origin::Dynamic(_) => Compiled::foreign(self.name(), schema),
        }
    }

    /// Returns true if the schema of the arguments need not be compiled to see that it is valid. That of a tool created at run time was
    /// compiled then.
    pub(crate) fn is_certainly_valid(&self) -> bool {
        let is_as_stated = self
            .changes()
            .is_none_or(|changes| changes.schema.is_none() && changes.bindings.values().is_empty());
        is_as_stated
            && self
                .input()
                .is_none_or(|input| caught(|| parameter::is_certainly_valid(input)).unwrap_or(false))
    }

    /// Returns the schema with annotations, before arguments are bound.
    pub(crate) fn annotated_schema(&self) -> Value {
        match (self.changes().and_then(|changes| changes.schema.as_deref()), &self.0.made.from) {
            (Some(schema), _) => schema.clone(),
            (None, Origin::Static(def)) => parameter::of_input(&def.input),
            (None, Origin::Dynamic(dynamic)) => dynamic.schema.clone(),
        }
    }

    /// Returns the form of the arguments, if it is known statically.
    pub(crate) fn input(&self) -> Option<&'static Input> {
        self.def().map(|def| &def.input)
    }

    /// Returns the bound arguments, which the function gets in addition to those of the call.
    pub fn bound_arguments(&self) -> Option<&Map<String, Value>> {
        self.changes().map(|changes| changes.bindings.values()).filter(|values| !values.is_empty())
    }

    pub(super) fn is_bound(&self, parameter: &str) -> bool {
        self.bound_arguments().is_some_and(|bound| bound.contains_key(parameter))
    }
}
