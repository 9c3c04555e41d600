//! A tool as models see it: its definition and its schemas. They are those that are enforced, but for the limits of wide
//! number types, which are not shown.

use super::{Origin, Tool};
use crate::definition::Definition;
use crate::error::ToolError;
use crate::guard::guard;
use crate::parameter::Input;
use crate::schema::{self, Compiled};
use serde_json::{Map, Value};

impl Tool {
    /// The JSON Schema of its arguments.
    ///
    /// # Errors
    ///
    /// When the types of its parameters state a schema that is not valid, or what is bound does not fit it.
    pub fn input_schema(&self) -> Result<&Value, ToolError> {
        Ok(self.compiled()?.shown())
    }

    /// The JSON Schema of its structured output.
    pub fn output_schema(&self) -> Option<&Value> {
        if let Some(dynamic) = self.dynamic() {
            return dynamic.output_schema.as_ref();
        }
        let make = self.stated().output_schema?;
        // A schema that panics is the author's own `JsonSchema`; the tool works without.
        self.0
            .output_schema
            .get_or_init(|| guard(self.name(), || schema::of_output(make)).ok().map(Box::new))
            .as_deref()
    }

    /// The tool as a model sees it.
    ///
    /// # Errors
    ///
    /// As [`Tool::input_schema`].
    pub fn definition(&self) -> Result<Definition, ToolError> {
        Ok(Definition {
            name: self.name().to_owned(),
            title: self.own_title().map(str::to_owned),
            description: self.description().to_owned(),
            input_schema: self.input_schema()?.clone(),
            output_schema: self.output_schema().filter(|schema| schema["type"] == "object").cloned(),
            annotations: self.annotations(),
        })
    }

    pub(crate) fn compiled(&self) -> Result<&Compiled, ToolError> {
        self.0
            .compiled
            .get_or_init(|| {
                // Types and defaults bring code of their author's along.
                guard(self.name(), || self.compile())
                    .flatten()
                    .map(Box::new)
                    .map_err(|error| error.to_string().into_boxed_str())
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

    /// The schema with annotations, before anything is bound.
    pub(crate) fn annotated_schema(&self) -> Value {
        match (self.changes().and_then(|changes| changes.schema.as_deref()), &self.0.made.from) {
            (Some(schema), _) => schema.clone(),
            (None, Origin::Static(def)) => schema::of_input(&def.input),
            (None, Origin::Dynamic(dynamic)) => dynamic.schema.clone(),
        }
    }

    /// How it takes its arguments, where that is known without asking it.
    pub(crate) fn input(&self) -> Option<&'static Input> {
        self.def().map(|def| &def.input)
    }

    /// The arguments that are fixed: what the function gets beside those of the call.
    pub fn bound_arguments(&self) -> Option<&Map<String, Value>> {
        self.changes().map(|changes| changes.bindings.values()).filter(|values| !values.is_empty())
    }

    pub(super) fn is_bound(&self, parameter: &str) -> bool {
        self.bound_arguments().is_some_and(|bound| bound.contains_key(parameter))
    }
}
