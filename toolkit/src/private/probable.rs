//! Descriptions of parameters and results whose type's name makes a certain mistake probable. They accept what [`arg`](super::arg) and
//! [`output`](super::output) accept; only the message for all other types differs. They are written out, since the compiler would show a macro beside each error.

use super::{Output, output};
use toolkit_core::arg::ToolArg;
use toolkit_core::output::IntoToolOutput;
use toolkit_core::parameter::{Arg, arg, optional};

/// Functions for a parameter of a wrapper that shares a value, such as `Arc`.
pub mod shared {
    use super::{Arg, ToolArg};

    /// An argument type.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be a tool's argument",
        label = "a service is `State<T>`",
        note = "to get a service, take `State<T>`, which shares it already; the host provides it with `Builder::service`",
        note = "an argument is taken by value, without a wrapper"
    )]
    pub trait SharedArgument: ToolArg {}

    #[diagnostic::do_not_recommend]
    impl<T: ToolArg> SharedArgument for T {}

    /// Creates a required parameter.
    pub const fn arg<T: SharedArgument>(name: &'static str, description: &'static str) -> Arg<T> {
        super::arg::<T>(name, description)
    }

    /// Creates a parameter that is `None` if the argument is absent.
    pub const fn optional<T: SharedArgument>(
        name: &'static str,
        description: &'static str,
    ) -> Arg<Option<T>> {
        super::optional::<T>(name, description)
    }
}

/// Functions for a parameter of a type named `Json`.
pub mod json {
    use super::{Arg, ToolArg};

    /// An argument type.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be a tool's argument",
        label = "`Json` is for what a tool returns",
        note = "take `T` itself, with `#[toolkit::args]` on a type of your own, or `serde_json::Value` for any JSON"
    )]
    pub trait JsonArgument: ToolArg {}

    #[diagnostic::do_not_recommend]
    impl<T: ToolArg> JsonArgument for T {}

    /// Creates a required parameter.
    pub const fn arg<T: JsonArgument>(name: &'static str, description: &'static str) -> Arg<T> {
        super::arg::<T>(name, description)
    }

    /// Creates a parameter that is `None` if the argument is absent.
    pub const fn optional<T: JsonArgument>(name: &'static str, description: &'static str) -> Arg<Option<T>> {
        super::optional::<T>(name, description)
    }
}

/// Functions for a parameter of a type named `Parameters`, as other libraries have.
pub mod parameters {
    use super::{Arg, ToolArg};

    /// An argument type.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be a tool's argument",
        label = "take the struct within it, without a wrapper: `#[args] query: Query`",
        note = "put `#[toolkit::args]` on the struct, or make each field a parameter of the function"
    )]
    pub trait ParametersArgument: ToolArg {}

    #[diagnostic::do_not_recommend]
    impl<T: ToolArg> ParametersArgument for T {}

    /// Creates a required parameter.
    pub const fn arg<T: ParametersArgument>(name: &'static str, description: &'static str) -> Arg<T> {
        super::arg::<T>(name, description)
    }

    /// Creates a parameter that is `None` if the argument is absent.
    pub const fn optional<T: ParametersArgument>(
        name: &'static str,
        description: &'static str,
    ) -> Arg<Option<T>> {
        super::optional::<T>(name, description)
    }
}

/// Functions for a parameter of a type named `Caller`.
pub mod caller {
    use super::{Arg, ToolArg};

    /// An argument type.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be a tool's argument",
        label = "not an argument type",
        note = "the context knows the caller of a tool: take `ctx: &ToolContext` and call `ctx.caller()`"
    )]
    pub trait CallerArgument: ToolArg {}

    #[diagnostic::do_not_recommend]
    impl<T: ToolArg> CallerArgument for T {}

    /// Creates a required parameter.
    pub const fn arg<T: CallerArgument>(name: &'static str, description: &'static str) -> Arg<T> {
        super::arg::<T>(name, description)
    }

    /// Creates a parameter that is `None` if the argument is absent.
    pub const fn optional<T: CallerArgument>(
        name: &'static str,
        description: &'static str,
    ) -> Arg<Option<T>> {
        super::optional::<T>(name, description)
    }
}

/// Functions for a parameter of a type named like a context.
pub mod context {
    use super::{Arg, ToolArg};

    /// An argument type.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be a tool's argument",
        label = "not an argument type",
        note = "the context of a call is `&ToolContext`, by this name",
        note = "an argument is read from JSON: on a type of your own, put `#[toolkit::args]`, also on the types within it",
        note = "to get a service instead of an argument, take `State<T>`"
    )]
    pub trait ContextArgument: ToolArg {}

    #[diagnostic::do_not_recommend]
    impl<T: ToolArg> ContextArgument for T {}

    /// Creates a required parameter.
    pub const fn arg<T: ContextArgument>(name: &'static str, description: &'static str) -> Arg<T> {
        super::arg::<T>(name, description)
    }

    /// Creates a parameter that is `None` if the argument is absent.
    pub const fn optional<T: ContextArgument>(
        name: &'static str,
        description: &'static str,
    ) -> Arg<Option<T>> {
        super::optional::<T>(name, description)
    }
}

/// A return type.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "return the content itself: a `String`, a `Json<T>` or a `ToolOutput`",
    note = "the runtime makes the result of MCP from it; an error is `Err(ToolError::failed(\"what is wrong\"))`"
)]
pub trait ResultOfMcp: IntoToolOutput {}

#[diagnostic::do_not_recommend]
impl<T: IntoToolOutput> ResultOfMcp for T {}

/// Checks a return type that is named like the result of a call in MCP, or a `Result` of one.
pub const fn result_of_mcp<R: ResultOfMcp>() -> Output<R> {
    output::<R>()
}
