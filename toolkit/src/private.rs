//! What the macros' expansions use. Not part of the public interface: any release may change it.

pub use crate::arg::{LengthArg, PatternArg, RangeArg, SchemaFn, ToolArg};
pub use crate::arguments::Arguments;
pub use crate::context::ToolContext;
pub use crate::error::{IntoToolError, ToolError};
pub use crate::link::{Link, Linked};
pub use crate::name::is_valid_name;
pub use crate::output::{IntoToolOutput, ToolOutput};
pub use crate::parameter::{Arg, Literal, ParameterDef, Rule, Shown, arg};
pub use crate::state::{Service, State};
pub use crate::tool::Tool;
pub use crate::tool_def::{BoxFuture, Input, Keep, Location, Run, ServiceDef, ToolDef, Truncate};
pub use core::option::Option::{self, None, Some};
pub use core::result::Result::{self, Err, Ok};
pub use core::time::Duration;
pub use inventory;
pub use schemars;
pub use serde;
pub use std::boxed::Box;
pub use std::path::{Path, PathBuf};
pub use std::string::String;
pub use std::vec::Vec;
pub use toolkit_macros::link as link_list;

use serde::Serialize;
use serde_json::Value;
use std::any::{TypeId, type_name};
use std::marker::PhantomData;

/// How a function's value becomes a tool's answer; made where the function's return type is checked.
pub struct Output<R> {
    /// Converts the value.
    pub convert: fn(R) -> Result<ToolOutput, ToolError>,
    /// The schema of its structured data.
    pub schema: Option<SchemaFn>,
}

/// Checks a function's return type.
pub const fn output<R: IntoToolOutput>() -> Output<R> {
    Output { convert: R::into_tool_output, schema: R::OUTPUT_SCHEMA }
}

/// A service with its type; made where the type of a `State<T>` is checked.
pub struct StateOf<T: ?Sized> {
    /// What is known without the type.
    pub def: ServiceDef,
    /// Gets it.
    pub get: fn(&ToolContext) -> Result<State<T>, ToolError>,
}

/// Checks the type of a `State<T>`.
pub const fn state_of<T: ?Sized + Service>() -> StateOf<T> {
    StateOf {
        def: ServiceDef { name: type_name::<T>, id: TypeId::of::<T>() },
        get: ToolContext::require_service,
    }
}

/// The value of an environment variable at compile time, if cargo set it.
pub const fn or_empty(value: Option<&'static str>) -> &'static str {
    match value {
        Some(value) => value,
        None => "",
    }
}

/// An example for a schema.
pub fn to_value(value: &impl Serialize) -> Option<Value> {
    serde_json::to_value(value).ok()
}

/// Checks the type of a `range`.
pub const fn ranged<T: RangeArg>() {}

/// Checks the type of a `length`.
pub const fn measured<T: LengthArg>() {}

/// Checks the type of a `pattern`.
pub const fn patterned<T: PatternArg>() {}

/// The type of a function.
pub const fn function_id<F: 'static>(_: &F) -> TypeId {
    TypeId::of::<F>()
}

/// Boxes a call: the one place where a tool's future becomes a trait object.
pub fn boxed<'a>(future: impl Future<Output = Result<ToolOutput, ToolError>> + Send + 'a) -> BoxFuture<'a> {
    Box::pin(future)
}

/// Finds the tool of a function.
pub fn tool_of<F: 'static>(_: &F) -> Tool {
    let id = TypeId::of::<F>();
    match inventory::iter::<Linked>().find(|Linked(def)| def.function == Some(id)) {
        Some(Linked(def)) => Tool::new(def),
        None => panic!("`tool_ref!` needs a function with `#[tool]`, and `{}` has none", type_name::<F>()),
    }
}

/// Serialises a value for a schema if its type can be: see [`Computed`] and [`Unshown`].
pub struct Probe<T>(PhantomData<T>);

impl<T> Probe<T> {
    /// A probe for the type of a function's value.
    pub const fn of(_: fn() -> T) -> Self {
        Self(PhantomData)
    }
}

/// Chosen when the type serialises.
pub trait Computed<T> {
    /// The value.
    fn value(&self, make: fn() -> T) -> Option<Value>;
}

impl<T: Serialize> Computed<T> for Probe<T> {
    fn value(&self, make: fn() -> T) -> Option<Value> {
        serde_json::to_value(make()).ok()
    }
}

/// Chosen when it doesn't.
pub trait Unshown<T> {
    /// Nothing.
    fn value(&self, make: fn() -> T) -> Option<Value>;
}

impl<T> Unshown<T> for &Probe<T> {
    fn value(&self, _: fn() -> T) -> Option<Value> {
        None
    }
}
