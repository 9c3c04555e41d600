//! What `#[tool]` states about a function: a `static`, made at compile time, that nothing has to run for.

use crate::arg::SchemaFn;
use crate::arguments::{Arguments, InvalidArguments};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::location::Location;
use crate::output::ToolOutput;
use crate::parameter::{Input, ParameterDef};
use crate::prepare::PrepareFn;
use crate::truncate::Truncate;
use std::any::TypeId;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// A tool as its author wrote it.
///
/// Made by `#[tool]`. One written by hand starts from [`ToolDef::BASE`], so that new fields do not break it.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent statement of the author's")]
pub struct ToolDef {
    /// The name that models call it by.
    pub name: &'static str,
    /// Its name for people.
    pub title: Option<&'static str>,
    /// What it does, for the model.
    pub description: &'static str,
    /// The groups it belongs to.
    pub groups: &'static [&'static str],
    /// Other names that it answers to, never advertised.
    pub aliases: &'static [&'static str],
    /// An icon for user interfaces.
    pub icon: Option<&'static str>,
    /// Why it should no longer be used, and what instead.
    pub deprecated: Option<&'static str>,
    /// It changes nothing.
    pub read_only: bool,
    /// It may destroy something; unknown where `None`.
    pub destructive: Option<bool>,
    /// Calling it twice with the same arguments does no more than once.
    pub idempotent: bool,
    /// It deals with things outside this machine; unknown where `None`.
    pub open_world: Option<bool>,
    /// It is there only where an allow list names it.
    pub optional: bool,
    /// The channel in whose sessions alone it exists.
    pub channel: Option<&'static str>,
    /// It is there at all, unless the configuration says otherwise.
    pub enabled: bool,
    /// It may run without asking.
    pub auto_execute: bool,
    /// It asks by itself where it has to, so that nobody asks before it runs.
    pub asks: bool,
    /// Makes it ready for a caller, once a toolbox.
    pub prepare: Option<PrepareFn>,
    /// The kind of permission it asks for; its name where `None`.
    pub permission: Option<&'static str>,
    /// How long a call may take; the host's default where `None`.
    pub timeout: Option<Duration>,
    /// How many calls may run at once.
    pub concurrency: Option<u32>,
    /// How its output is cut; the host's defaults where `None`.
    pub truncate: Option<Truncate>,
    /// Words its argument errors.
    pub format_error: Option<FormatError>,
    /// What arguments it takes.
    pub input: Input,
    /// The schema of its structured output.
    pub output_schema: Option<SchemaFn>,
    /// The services it needs.
    pub services: &'static [&'static ServiceDef],
    /// How it runs.
    pub run: Run,
    /// The type of the function, by which `tool_ref!` finds its tool.
    pub function: Option<TypeId>,
    /// Where it is written.
    pub location: Location,
}

impl ToolDef {
    /// A definition without content, to fill in.
    pub const BASE: Self = Self {
        name: "",
        title: None,
        description: "",
        groups: &[],
        aliases: &[],
        icon: None,
        deprecated: None,
        read_only: false,
        destructive: None,
        idempotent: false,
        open_world: None,
        optional: false,
        channel: None,
        enabled: true,
        auto_execute: false,
        asks: false,
        prepare: None,
        permission: None,
        timeout: None,
        concurrency: None,
        truncate: None,
        format_error: None,
        input: Input::Parameters(&[]),
        output_schema: None,
        services: &[],
        run: Run::Blocking(|_, _| Err(ToolError::unavailable("this tool has no function"))),
        function: None,
        location: Location { module: "", package: "", version: "", file: "", line: 0, column: 0 },
    };

    /// The parameters, where they are stated one by one.
    pub fn parameters(&self) -> &'static [&'static ParameterDef] {
        match self.input {
            Input::Parameters(parameters) => parameters,
            Input::Whole(_) => &[],
        }
    }
}

/// Words the error that a model gets for arguments that do not fit.
pub type FormatError = fn(&InvalidArguments) -> String;

/// A service that a tool takes as `State<T>`.
#[derive(Clone, Copy)]
pub struct ServiceDef {
    /// The type as the code names it.
    pub name: fn() -> &'static str,
    /// The type.
    pub id: TypeId,
}

impl ServiceDef {
    /// Of a type.
    pub(crate) const fn of<T: ?Sized + 'static>() -> Self {
        Self { name: std::any::type_name::<T>, id: TypeId::of::<T>() }
    }
}

impl fmt::Debug for ServiceDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str((self.name)())
    }
}

/// A call under way.
pub type BoxFuture<'a> = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send + 'a>>;

/// How a tool runs.
#[derive(Clone, Copy)]
pub enum Run {
    /// As a future.
    Async(for<'a> fn(&'a ToolContext, &mut Arguments) -> Result<BoxFuture<'a>, ToolError>),
    /// On the blocking pool.
    Blocking(fn(&ToolContext, &mut Arguments) -> Result<ToolOutput, ToolError>),
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Async(_) => "Async",
            Self::Blocking(_) => "Blocking",
        })
    }
}
