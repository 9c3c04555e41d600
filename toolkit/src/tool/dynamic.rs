//! Tools created at run time from a closure and a JSON Schema.

use super::args::Handler;
use super::{Changes, DynamicArgs, Made, NO_SERVICES, Origin, Tool, output_check};
use crate::closure_future::ClosureFuture;
use crate::tool::context::ToolContext;
use crate::tool::def::{BoxFuture, FormatError, ToolDef};
use serde_json::Value;
use std::fmt;
use std::panic;
use std::sync::Arc;
use std::time::Duration;
use toolkit_core::arguments::Arguments;
use toolkit_core::location::Location;
use toolkit_core::output::IntoToolOutput;
use toolkit_core::schema::{Compiled, foreign_fault, output_fault};
use toolkit_core::source::Source;
use toolkit_core::truncate::Truncate;

/// The definition of a tool created at run time.
pub(crate) struct Dynamic {
    pub(super) name: Box<str>,
    pub(super) title: Option<Box<str>>,
    pub(super) description: Box<str>,
    pub(super) groups: Vec<Box<str>>,
    pub(super) aliases: Vec<Box<str>>,
    pub(super) icon: Option<Box<str>>,
    pub(super) deprecated: Option<Box<str>>,
    pub(super) permission: Option<Box<str>>,
    pub(super) conditions: Vec<Box<str>>,
    /// The schema with annotations.
    pub(super) schema: Value,
    pub(super) output_schema: Option<Value>,
    /// The attributes other than texts.
    pub(super) stated: ToolDef,
    handler: Arc<Handler>,
}

impl Dynamic {
    pub(super) fn start(&self, context: &ToolContext, arguments: &mut Arguments) -> BoxFuture<'static> {
        (self.handler)(context.clone(), DynamicArgs::new(context.tool().clone(), arguments))
    }
}

/// An error in creating a tool.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool `{tool}` cannot be made: {problem}")]
#[non_exhaustive]
pub struct InvalidTool {
    /// The tool.
    pub tool: String,
    /// The problem with it.
    pub problem: String,
}

/// Formats the error like `Display`, so that an `unwrap`, or a `main` that returns it, prints it readably.
impl fmt::Debug for InvalidTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Tool {
    /// Creates a tool from a name, the JSON Schema of its arguments and an async closure.
    ///
    /// The description is the `description` at the schema's root. The schema is enforced as it is: unknown arguments
    /// are rejected if it says `"additionalProperties": false`. See [`DynamicArgs`] for an example, and
    /// [`Tool::builder`] for more attributes.
    ///
    /// # Errors
    ///
    /// Returns an error if the schema is not valid, is not the schema of an object, refers to another document, or has
    /// a cycle of references.
    #[track_caller]
    pub fn from_fn<F, A>(
        name: impl Into<String>,
        schema: impl Into<Value>,
        run: F,
    ) -> Result<Self, InvalidTool>
    where
        F: Fn(ToolContext, DynamicArgs) -> A + Send + Sync + 'static,
        A: ClosureFuture<Value: IntoToolOutput> + Send + 'static,
    {
        Self::builder(name).input_schema(schema).build(run)
    }

    /// Creates a builder for a tool at run time.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::prelude::*;
    /// use toolkit::Tool;
    ///
    /// # fn main() -> Result<(), toolkit::descriptor::InvalidTool> {
    /// let tool = Tool::builder("now")
    ///     .description("Tells the time.")
    ///     .group("clock")
    ///     .read_only()
    ///     .build(|_, _| async { "half past nine" })?;
    /// assert!(tool.annotations().read_only_hint);
    /// assert_eq!(tool.input_schema().unwrap(), &json!({"type": "object", "properties": {}, "additionalProperties": false}));
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn builder(name: impl Into<String>) -> ToolBuilder {
        let caller = panic::Location::caller();
        let (line, column) = (caller.line(), caller.column());
        let location = Location { module: "", package: "", version: "", file: caller.file(), line, column };
        ToolBuilder {
            name: name.into(),
            title: None,
            description: None,
            groups: Vec::new(),
            aliases: Vec::new(),
            icon: None,
            deprecated: None,
            permission: None,
            conditions: Vec::new(),
            schema: None,
            output_schema: None,
            source: Source::Runtime,
            stated: ToolDef { location, ..ToolDef::BASE },
        }
    }
}

/// Builds a tool at run time.
#[derive(Clone)]
pub struct ToolBuilder {
    name: String,
    title: Option<String>,
    description: Option<String>,
    groups: Vec<Box<str>>,
    aliases: Vec<Box<str>>,
    icon: Option<String>,
    deprecated: Option<String>,
    permission: Option<String>,
    conditions: Vec<Box<str>>,
    schema: Option<Value>,
    output_schema: Option<Value>,
    source: Source,
    stated: ToolDef,
}

macro_rules! texts {
    ($($(#[$doc:meta])* $field:ident;)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $field(mut self, text: impl Into<String>) -> Self {
            self.$field = Some(text.into());
            self
        })*
    };
}

impl ToolBuilder {
    texts! {
        /// Sets the display name.
        title;
        /// Sets the description for the model; by default it is the description at the root of the schema.
        description;
        /// Sets an icon for user interfaces.
        icon;
        /// Marks the tool as deprecated, with the reason and a replacement.
        deprecated;
        /// Sets the kind of permission; by default it is the tool's name.
        permission;
    }

    /// Adds the tool to a group.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.groups.push(group.into().into_boxed_str());
        self
    }

    /// Adds an alias, which is accepted and never advertised.
    #[must_use]
    pub fn alias(mut self, alias: impl Into<String>) -> Self {
        self.aliases.push(alias.into().into_boxed_str());
        self
    }

    /// Sets the JSON Schema of the arguments; without one, the tool takes none.
    ///
    /// Most keywords of draft 2020-12 are validated without further crates. Schemas of other drafts, and those with `$anchor`, `$id`,
    /// `$dynamicRef`, dependent keywords, `unevaluatedItems` or `minContains`, need the feature `json-schema`; without it, building the
    /// tool fails and the error names the keyword.
    #[must_use]
    pub fn input_schema(mut self, schema: impl Into<Value>) -> Self {
        self.schema = Some(schema.into());
        self
    }

    /// Sets the JSON Schema of the structured output, [`ToolOutput::details`](crate::ToolOutput::details). Output that
    /// does not match is an error.
    #[must_use]
    pub fn output_schema(mut self, schema: impl Into<Value>) -> Self {
        self.output_schema = Some(schema.into());
        self
    }

    /// Marks that the tool changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.stated.read_only = true;
        self
    }

    /// Sets if the tool may destroy something.
    #[must_use]
    pub fn destructive(mut self, destructive: bool) -> Self {
        self.stated.destructive = Some(destructive);
        self
    }

    /// Marks that repeating a call with the same arguments has no further effect.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.stated.idempotent = true;
        self
    }

    /// Sets if the tool accesses anything outside this machine.
    #[must_use]
    pub fn open_world(mut self, open_world: bool) -> Self {
        self.stated.open_world = Some(open_world);
        self
    }

    /// Makes the tool exist only if an allow list names it.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.stated.optional = true;
        self
    }

    /// Lets the tool run without approval.
    #[must_use]
    pub fn auto_execute(mut self) -> Self {
        self.stated.auto_execute = true;
        self
    }

    /// Sets the time limit of a call; by default it is the host's.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.stated.timeout = Some(timeout);
        self
    }

    /// Sets the maximum number of simultaneous calls, at least 1; by default there is none.
    #[must_use]
    pub fn concurrency(mut self, calls: u32) -> Self {
        self.stated.concurrency = Some(calls);
        self
    }

    /// Sets the limits of the output; by default they are the host's.
    #[must_use]
    pub fn truncate(mut self, truncate: Truncate) -> Self {
        self.stated.truncate = Some(truncate);
        self
    }

    /// Sets the function that formats argument errors.
    #[must_use]
    pub fn format_error(mut self, format: FormatError) -> Self {
        self.stated.format_error = Some(format);
        self
    }

    /// Sets the source; by default it is the host. See [`Tool::with_source`].
    #[must_use]
    pub fn source(mut self, source: Source) -> Self {
        self.source = source;
        self
    }

    /// Adds a fact about what runs the tool, such as the command that starts its server: a lasting answer to the question before a call
    /// counts only while the tool has the same ones. See [`Ask::with_condition`](crate::Ask::with_condition).
    #[must_use]
    pub fn condition(mut self, condition: impl Into<String>) -> Self {
        self.conditions.push(condition.into().into_boxed_str());
        self
    }

    /// Builds the tool with an async closure.
    ///
    /// # Errors
    ///
    /// Returns an error if a schema is not valid, or if the schema of the arguments is not the schema of an object,
    /// refers to another document, or has a cycle of references.
    pub fn build<F, A>(self, run: F) -> Result<Tool, InvalidTool>
    where
        F: Fn(ToolContext, DynamicArgs) -> A + Send + Sync + 'static,
        A: ClosureFuture<Value: IntoToolOutput> + Send + 'static,
    {
        self.build_shared(Arc::new(move |context, args| {
            let future = run(context, args).boxed();
            Box::pin(async move { future.await.into_tool_output() })
        }))
    }

    fn build_shared(self, handler: Arc<Handler>) -> Result<Tool, InvalidTool> {
        let Self { name, schema, output_schema, source, .. } = self;
        let fault = |problem: String| InvalidTool { tool: name.clone(), problem };
        let mut schema = schema.unwrap_or_else(
            || serde_json::json!({"type": "object", "properties": {}, "additionalProperties": false}),
        );
        if let Some(problem) = foreign_fault(&schema) {
            return Err(fault(format!("the schema of its arguments is not valid: {problem}")));
        }
        let said = root_text(&mut schema, self.description.as_deref());
        // The part left out of the root applies to every tool's arguments: they are an object.
        let compiled = Compiled::foreign(&name, schema.clone()).map_err(|error| fault(error.to_string()))?;
        if let Some(schema) = &output_schema
            && let Some(problem) = output_fault(schema)
        {
            return Err(fault(format!("the schema of its output is not valid: {problem}")));
        }
        let handler = match &output_schema {
            Some(schema) => output_check::checked(handler, schema.clone()),
            None => handler,
        };
        let boxed = |text: Option<String>| text.map(String::into_boxed_str);
        let dynamic = Dynamic {
            name: name.into_boxed_str(),
            title: boxed(self.title),
            description: self.description.unwrap_or(said).into_boxed_str(),
            groups: self.groups,
            aliases: self.aliases,
            icon: boxed(self.icon),
            deprecated: boxed(self.deprecated),
            permission: boxed(self.permission),
            conditions: self.conditions,
            schema,
            output_schema,
            stated: self.stated,
            handler,
        };
        let tool = Tool::from(Made {
            from: Origin::Dynamic(Arc::new(dynamic)),
            name: None,
            services: NO_SERVICES.clone(),
            source,
            plugin: None,
            changes: None::<Box<Changes>>,
        });
        // It was compiled for validation, and will be needed again.
        let _ = tool.0.compiled.set(Ok(Box::new(compiled)));
        Ok(tool)
    }
}

/// Returns the description at the root, which is the tool's if it has no other; a schema shows it only once.
fn root_text(schema: &mut Value, own: Option<&str>) -> String {
    let Some(root) = schema.as_object_mut() else { return String::new() };
    root.entry("type").or_insert_with(|| "object".into());
    if own.is_some() {
        return String::new();
    }
    match root.shift_remove("description") {
        Some(Value::String(text)) => text,
        _ => String::new(),
    }
}

impl fmt::Debug for ToolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}
