//! Items used by the macros' expansions. Not part of the public interface: any release may change them.

#[path = "private/constants.rs"]
mod constants;
#[path = "private/doc_text.rs"]
mod doc_text;
#[path = "private/durations.rs"]
mod durations;
#[path = "private/prepares.rs"]
mod prepares;
#[path = "private/probable.rs"]
mod probable;
#[path = "private/returned.rs"]
mod returned;
#[path = "private/shapes.rs"]
mod shapes;

pub use self::constants::{
    Constant, IsNumber, IsText, IsWholeNumber, OtherConstant, OwnDefault, own_default, unread,
};
pub use self::doc_text::{check_described, trimmed, until_heading};
pub use self::durations::{IsDuration, IsOther, check_duration};
pub use self::prepares::Prepares;
pub use self::probable::{caller, context, json, parameters, result_of_mcp, shared};
pub use self::returned::{Held, HeldElse, Returns, ReturnsElse, fallible_of, output_of};
pub use self::shapes::{OtherShape, ShapeOf, check_key, check_literal, check_whole};
pub use crate::config_of::{ConfigOf, PluginConfigOf, config_of, plugin_config_of};
pub use crate::link::{Link, Linked};
pub use crate::linked::{AtStart, LinkedKeys, LinkedSkills, PolicyData};
pub use crate::named_functions::{Closes, FormatsErrors, SkippedField, formatted, skipped};
pub use crate::section::ConfigSection;
pub use crate::service::{
    FactoryDef, LinkedFactory, LinkedMaker, MakerDef, Making, MakingFuture, NeedOf, Products, ServiceOf,
    closing, need_of, products, service_of,
};
pub use crate::tool::Tool;
pub use crate::tool::context::ToolContext;
pub use crate::tool::def::{BoxFuture, Run, ServiceDef, ToolDef};
pub use crate::tool::prepare::{Ending, Preparation, Preparing};
pub use core::option::Option::{self, None, Some};
pub use core::result::Result::{self, Err, Ok};
pub use core::time::Duration;
pub use inventory;
pub use schemars;
pub use serde;
pub use serde_json::{Error as JsonError, Value as JsonValue};
pub use std::boxed::Box;
pub use std::path::{Path, PathBuf};
pub use std::string::String;
pub use std::sync::Arc;
pub use std::vec::Vec;
pub use toolkit_core::arg::{
    ArgField, ArgsShape, ArgsType, FieldOf, FieldType, LengthArg, OtherType, PatternArg, RangeArg, ToolArg,
};
pub use toolkit_core::arguments::{Arguments, InvalidArguments};
pub use toolkit_core::caller::Caller;
pub use toolkit_core::error::{IntoToolError, ToolError};
pub use toolkit_core::location::Location;
pub use toolkit_core::name::is_valid_name;
pub use toolkit_core::output::{IntoToolOutput, ToolOutput};
pub use toolkit_core::parameter::Input;
pub use toolkit_core::parameter::{Arg, Literal, ParameterDef, Rule, Shown, Take, arg, optional};
pub use toolkit_core::plugin::{LinkedPlugin, PluginDef};
pub use toolkit_core::schema::SchemaFn;
pub use toolkit_core::state::{AnyService, ClosingFuture};
pub use toolkit_core::state::{Service, State};
pub use toolkit_core::truncate::{Keep, Truncate};
pub use toolkit_macros::{link as link_list, plugin as plugin_fields, read_fields};

use serde::Serialize;
use serde_json::Value;
use std::any::{TypeId, type_name};
use std::error::Error as StdError;
pub use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use toolkit_core::name::MAX_NAME_BYTES;

/// The conversion of a function's value into a tool's output; created where the function's return type is checked.
pub struct Output<R> {
    /// Converts the value.
    pub convert: fn(R) -> Result<ToolOutput, ToolError>,
    /// The schema of the structured data.
    pub schema: Option<SchemaFn>,
    /// True if the content says more than the structured data.
    pub text_says_more: bool,
}

/// Checks a function's return type.
pub const fn output<R: IntoToolOutput>() -> Output<R> {
    Output { convert: R::into_tool_output, schema: R::OUTPUT_SCHEMA, text_says_more: R::TEXT_SAYS_MORE }
}

/// Selects how the error of a return type converts: see [`Wrapped`] and [`Converted`].
pub struct Returned<R>(PhantomData<R>);

impl<T, E: Into<Box<dyn StdError + Send + Sync>>> Returned<Result<T, E>> {
    /// Preferred where it applies, since it is an inherent item.
    pub const ERRORS: Wrapped = Wrapped;
}

/// Used for all other return types.
pub trait ReturnedElse {
    /// The conversion by the traits.
    const ERRORS: Converted = Converted;
}

impl<R> ReturnedElse for Returned<R> {}

/// A marker for errors that are boxed: no trait can be implemented for a string or an `anyhow::Error`, because either
/// may implement `std::error::Error` one day.
#[derive(Clone, Copy)]
pub struct Wrapped;

/// A marker for errors that convert by [`IntoToolError`].
#[derive(Clone, Copy)]
pub struct Converted;

/// A `Result` whose error is boxed.
pub trait Fallible {
    /// Same as [`IntoToolOutput::OUTPUT_SCHEMA`].
    const SCHEMA: Option<SchemaFn>;
    /// Same as [`IntoToolOutput::TEXT_SAYS_MORE`].
    const TEXT_SAYS_MORE: bool;

    /// Same as [`IntoToolOutput::into_tool_output`].
    ///
    /// # Errors
    ///
    /// Returns the function's own error, or an error if its value could not be serialised.
    fn convert(self) -> Result<ToolOutput, ToolError>;
}

impl<T: IntoToolOutput, E: Into<Box<dyn StdError + Send + Sync>>> Fallible for Result<T, E> {
    const SCHEMA: Option<SchemaFn> = T::OUTPUT_SCHEMA;
    const TEXT_SAYS_MORE: bool = T::TEXT_SAYS_MORE;

    fn convert(self) -> Result<ToolOutput, ToolError> {
        self.map_err(ToolError::wrap)?.into_tool_output()
    }
}

impl Wrapped {
    /// Checks a function's return type.
    pub const fn output<R: Fallible>(self) -> Output<R> {
        Output { convert: R::convert, schema: R::SCHEMA, text_says_more: R::TEXT_SAYS_MORE }
    }

    /// Checks a return type that is a `Result`, with value and error separate.
    pub const fn fallible<T: IntoToolOutput, E: Into<Box<dyn StdError + Send + Sync>>>(
        self,
    ) -> Output<Result<T, E>> {
        Output { convert: Fallible::convert, schema: T::OUTPUT_SCHEMA, text_says_more: T::TEXT_SAYS_MORE }
    }

    /// Same as [`fallible`](Self::fallible), for a value that is checked already.
    pub const fn fallible_of<E: Into<Box<dyn StdError + Send + Sync>>, T: IntoToolOutput>(
        self,
        _: PhantomData<T>,
    ) -> Output<Result<T, E>> {
        self.fallible::<T, E>()
    }

    /// Converts an error.
    pub fn error<E: Into<Box<dyn StdError + Send + Sync>>>(self, error: E) -> ToolError {
        ToolError::wrap(error)
    }
}

impl Converted {
    /// Checks a function's return type.
    pub const fn output<R: IntoToolOutput>(self) -> Output<R> {
        output::<R>()
    }

    /// Checks a return type that is a `Result`, with value and error separate.
    pub const fn fallible<T: IntoToolOutput, E: IntoToolError>(self) -> Output<Result<T, E>> {
        fallible::<T, E>()
    }

    /// Same as [`fallible`](Self::fallible), for a value that is checked already.
    pub const fn fallible_of<E: IntoToolError, T: IntoToolOutput>(
        self,
        value: PhantomData<T>,
    ) -> Output<Result<T, E>> {
        fallible_of::<E, T>(value)
    }

    /// Converts an error.
    pub fn error<E: IntoToolError>(self, error: E) -> ToolError {
        error.into_tool_error()
    }
}

/// Checks a return type that is a `Result`, with value and error separate: the compiler reports a problem at the
/// failing one.
pub const fn fallible<T: IntoToolOutput, E: IntoToolError>() -> Output<Result<T, E>> {
    Output {
        convert: <Result<T, E>>::into_tool_output,
        schema: T::OUTPUT_SCHEMA,
        text_says_more: T::TEXT_SAYS_MORE,
    }
}

/// A service with its type; created where the type of a `State<T>` is checked.
pub struct StateOf<T: ?Sized> {
    /// The definition without the type.
    pub def: ServiceDef,
    /// Returns the service.
    pub get: fn(&ToolContext) -> Result<State<T>, ToolError>,
}

/// Checks the type of a `State<T>`.
pub const fn state_of<T: ?Sized + Service>() -> StateOf<T> {
    StateOf { def: ServiceDef::of::<T>(), get: ToolContext::require_service }
}

/// A service that something else in the file provides, where its type is checked. A type that is no service is one error, there.
pub struct CheckedElsewhere<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized + Service> CheckedElsewhere<T> {
    /// Preferred where it applies, since it is an inherent item.
    pub const STATE: StateOf<T> = state_of::<T>();
}

/// Used for a type that is no service. If nothing else is an error, the build of the toolkit is one: nobody can provide it.
pub trait NoService<T: ?Sized + 'static> {
    /// The definition of a service that is never there.
    const STATE: StateOf<T> = StateOf {
        def: ServiceDef { is_shared: false, ..ServiceDef::of::<T>() },
        get: |_| Err(ToolError::unavailable("threads cannot share this service")),
    };
}

impl<T: ?Sized + 'static> NoService<T> for CheckedElsewhere<T> {}

/// Returns the value of an environment variable at compile time, or an empty text if cargo did not set it.
pub const fn or_empty(value: Option<&'static str>) -> &'static str {
    match value {
        Some(value) => value,
        None => "",
    }
}

/// Checks a name that is a constant; the error is reported where the macro is called.
#[track_caller]
pub const fn check_name(what: &str, name: &str) {
    if is_valid_name(name) {
        return;
    }
    let mut text = Text::EMPTY;
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        text.push(b"the name of a ");
        text.push(what.as_bytes());
        text.push(if name.is_empty() { b" cannot be empty" } else { b" has 64 bytes at most" });
    } else {
        text.push(b"`");
        text.push(name.as_bytes());
        text.push(b"` cannot name a ");
        text.push(what.as_bytes());
    }
    // A list of errors shows the first line only.
    text.push(if name.len() > MAX_NAME_BYTES / 2 { b"\n`" } else { b"; `" });
    text.push_legal(name.as_bytes());
    text.push(b"` would do");
    match core::str::from_utf8(text.bytes.split_at(text.length).0) {
        Ok(text) => panic!("{}", text),
        Err(_) => panic!("not a legal name"),
    }
}

/// A text built at compile time.
struct Text {
    bytes: [u8; 192],
    length: usize,
}

impl Text {
    const EMPTY: Self = Self { bytes: [0; 192], length: 0 };

    /// Appends names, as many as there is room for.
    const fn push_list(&mut self, names: &[&str]) {
        let mut place = 0;
        while place < names.len() {
            if self.length + names[place].len() + 8 > self.bytes.len() {
                self.push("…".as_bytes());
                return;
            }
            if place > 0 {
                self.push(b", ");
            }
            self.push(b"`");
            self.push(names[place].as_bytes());
            self.push(b"`");
            place += 1;
        }
    }

    const fn push(&mut self, text: &[u8]) {
        let mut at = 0;
        while at < text.len() {
            self.push_byte(text[at]);
            at += 1;
        }
    }

    const fn push_byte(&mut self, byte: u8) {
        if self.length < self.bytes.len() {
            self.bytes[self.length] = byte;
            self.length += 1;
        }
    }

    /// Appends the nearest valid name, like the macro proposes it for a literal.
    const fn push_legal(&mut self, name: &[u8]) {
        let start = self.length;
        let (mut at, mut after_lower, mut gap) = (0, false, false);
        while at < name.len() && self.length - start < MAX_NAME_BYTES - 1 {
            let byte = name[at];
            let is_first = self.length == start;
            if byte.is_ascii_alphabetic() || byte.is_ascii_digit() && !is_first {
                if !is_first && (gap || byte.is_ascii_uppercase() && after_lower) {
                    self.push_byte(b'_');
                }
                self.push_byte(byte.to_ascii_lowercase());
                gap = false;
            } else {
                gap = true;
            }
            after_lower = byte.is_ascii_lowercase() || byte.is_ascii_digit();
            at += 1;
        }
        if self.length == start {
            self.push(b"my_tool");
        }
    }
}

/// Converts an example for a schema to JSON.
pub fn to_value(value: &impl Serialize) -> Option<Value> {
    serde_json::to_value(value).ok()
}

/// Checks the type of a field.
pub const fn field<T: ArgField>() {}

/// Checks the type of a `range`.
pub const fn ranged<T: RangeArg>() {}

/// Checks the type of a `length`.
pub const fn measured<T: LengthArg>() {}

/// Checks the type of a `pattern`.
pub const fn patterned<T: PatternArg>() {}

/// Returns the type of a function.
pub const fn function_id<F: 'static>(_: &F) -> TypeId {
    TypeId::of::<F>()
}

/// Creates a call from a function's future. The generated code depends on the function's return type only.
pub fn call<'a, R: 'a>(
    future: Pin<Box<dyn Future<Output = R> + Send + 'a>>,
    convert: fn(R) -> Result<ToolOutput, ToolError>,
) -> BoxFuture<'a> {
    Box::pin(Call { future, convert })
}

/// Creates a preparation from a function's future.
pub fn prepared<'a, R: Ending>(future: impl Future<Output = R> + Send + 'a) -> Preparing<'a> {
    Box::pin(async move { future.await.end() })
}

/// Creates a service or tools from a function's future.
pub fn making<'a, R: 'a, T: 'a>(
    future: impl Future<Output = R> + Send + 'a,
    convert: fn(R) -> Result<T, ToolError>,
) -> MakingFuture<'a, T> {
    Box::pin(async move { convert(future.await) })
}

/// A hand-written equivalent of an `async` block, with a smaller state and less generated code.
struct Call<'a, R> {
    future: Pin<Box<dyn Future<Output = R> + Send + 'a>>,
    convert: fn(R) -> Result<ToolOutput, ToolError>,
}

impl<R> Future for Call<'_, R> {
    type Output = Result<ToolOutput, ToolError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        match self.future.as_mut().poll(task) {
            Poll::Ready(value) => Poll::Ready((self.convert)(value)),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Boxes the future of a function that takes services: see [`Sendable`] and [`Unsendable`].
pub struct Gate<T>(PhantomData<T>);

impl<T> Gate<T> {
    /// A gate for a list of services.
    pub const OPEN: Self = Self(PhantomData);
}

/// A list of services, as nested pairs.
pub trait AllServices {}

impl AllServices for () {}

impl<T: ?Sized + Service, R: AllServices> AllServices for (PhantomData<T>, R) {}

/// Used if all are services.
pub trait Sendable {
    /// Boxes the future.
    fn boxed<'a, R>(
        &self,
        future: impl Future<Output = R> + Send + 'a,
    ) -> Pin<Box<dyn Future<Output = R> + Send + 'a>> {
        Box::pin(future)
    }
}

impl<T: AllServices> Sendable for Gate<T> {}

/// Used if one is not a service, which is reported elsewhere.
pub trait Unsendable {
    /// Never called.
    fn boxed<'a, R>(&self, _: impl Future<Output = R> + 'a) -> Pin<Box<dyn Future<Output = R> + Send + 'a>> {
        unreachable!("a type that is no service does not compile")
    }
}

impl<T> Unsendable for &Gate<T> {}

/// Decodes a default that is written as JSON, in a field of an argument type.
///
/// # Panics
///
/// Panics if the JSON does not decode to the type.
pub fn decoded<T: ToolArg>(literal: Literal) -> T {
    T::decode(literal.to_value())
        .unwrap_or_else(|error| panic!("the default {} does not fit its type: {error}", literal.to_value()))
}

/// A function, which may have `#[tool]`.
#[diagnostic::on_unimplemented(
    message = "`tool_ref!` needs a function with `#[tool]`, and `{Self}` is no function",
    label = "not a function",
    note = "name the function without calling it: `tool_ref!(read)`, or `tool_ref!(files::read)`"
)]
pub trait ToolFunction<Arguments>: 'static {}

macro_rules! tool_functions {
    () => { tool_functions!(@impl); };
    ($first:ident $($rest:ident)*) => {
        tool_functions!(@impl $first $($rest)*);
        tool_functions!($($rest)*);
    };
    (@impl $($argument:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<F: Fn($($argument),*) -> R + 'static, R, $($argument),*> ToolFunction<($($argument,)*)> for F {}
    };
}

// The maximum number of arguments of a tool's function here; `#[args]` takes any number as one.
tool_functions!(A B C D E G H I J K L M N O P Q S T U V W X Y Z A1 B1 C1 D1 E1 G1 H1 I1);

/// Returns the tool of a function.
#[track_caller]
pub fn tool_of<F: ToolFunction<A>, A>(_: &F) -> Tool {
    let id = TypeId::of::<F>();
    match inventory::iter::<Linked>().find(|Linked(def)| def.function == Some(id)) {
        Some(Linked(def)) => Tool::new(def),
        None => panic!("`tool_ref!` needs a function with `#[tool]`, and `{}` has none", type_name::<F>()),
    }
}

/// Serialises a value for a schema if its type implements `Serialize`: see [`Computed`] and [`Unshown`].
pub struct Probe<T>(PhantomData<T>);

impl<T> Probe<T> {
    /// Creates a probe for the type of a function's value.
    pub const fn of(_: fn() -> T) -> Self {
        Self(PhantomData)
    }
}

/// Used if the type serialises.
pub trait Computed<T> {
    /// Returns the value.
    fn value(&self, make: fn() -> T) -> Option<Value>;
}

impl<T: Serialize> Computed<T> for Probe<T> {
    fn value(&self, make: fn() -> T) -> Option<Value> {
        serde_json::to_value(make()).ok()
    }
}

/// Used if the type does not serialise.
pub trait Unshown<T> {
    /// Returns `None`.
    fn value(&self, make: fn() -> T) -> Option<Value>;
}

impl<T> Unshown<T> for &Probe<T> {
    fn value(&self, _: fn() -> T) -> Option<Value> {
        None
    }
}
