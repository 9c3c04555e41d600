//! The macros of the `toolkit` crate, which documents them and must be depended on instead of this one.

#![cfg_attr(not(feature = "patterns"), allow(dead_code, reason = "one check needs the engine of patterns"))]

use proc_macro::TokenStream;

mod args;
mod check;
mod checked_literals;
mod dependency;
mod documentation;
mod foreign_macros;
mod fragments;
mod half_typed;
mod keys;
mod link;
mod methods;
mod methods_within;
mod plugin;
mod provider;
mod rules;
mod source;
#[cfg(test)]
mod tests;
mod tool;
mod type_form;
mod type_repair;

/// See `toolkit::tool`.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(attribute.into(), &item.into()).into()
}

/// See `toolkit::args`.
#[proc_macro_attribute]
pub fn args(attribute: TokenStream, item: TokenStream) -> TokenStream {
    args::expand(attribute.into(), &item.into()).into()
}

/// See `toolkit::tools`.
#[proc_macro_attribute]
pub fn tools(attribute: TokenStream, item: TokenStream) -> TokenStream {
    methods::expand(attribute.into(), &item.into()).into()
}

/// Implementation of the attribute that `#[toolkit::args]` puts on a type with fields of the author's own types.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn read_fields(attribute: TokenStream, item: TokenStream) -> TokenStream {
    args::nested::read_fields(&attribute.into(), item.into()).into()
}

/// Implementation of `toolkit::link!`.
#[doc(hidden)]
#[proc_macro]
pub fn link(input: TokenStream) -> TokenStream {
    link::expand(input.into()).into()
}

/// See `toolkit::tool_factory`.
#[proc_macro_attribute]
pub fn tool_factory(attribute: TokenStream, item: TokenStream) -> TokenStream {
    provider::factory(attribute.into(), &item.into()).into()
}

/// See `toolkit::service`.
#[proc_macro_attribute]
pub fn service(attribute: TokenStream, item: TokenStream) -> TokenStream {
    provider::service(attribute.into(), &item.into()).into()
}

/// Implementation of `toolkit::plugin!`.
#[doc(hidden)]
#[proc_macro]
pub fn plugin(input: TokenStream) -> TokenStream {
    plugin::expand(input.into()).into()
}

// Names that other frameworks have.

macro_rules! foreign {
    ($($name:ident: $function:ident),*) => {$(
        #[doc(hidden)]
        #[proc_macro_attribute]
        pub fn $name(_: TokenStream, item: TokenStream) -> TokenStream {
            foreign_macros::$function(stringify!($name), &item.into()).into()
        }
    )*};
}

foreign!(tool_router: router, tool_handler: router, tool_impl: router, toolset: router);
foreign!(tool_args: arguments, arguments: arguments, params: arguments, parameters: arguments, input: arguments);

/// An attribute of serde that stands above what brings its derives, in a module with the prelude.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn serde(_: TokenStream, item: TokenStream) -> TokenStream {
    foreign_macros::above("serde", &item.into()).into()
}

macro_rules! derived {
    ($($name:ident: $function:ident),*) => {$(
        #[doc(hidden)]
        #[proc_macro_derive($name, attributes(arg, args, tool))]
        pub fn $function(item: TokenStream) -> TokenStream {
            foreign_macros::derived(stringify!($name), item.into()).into()
        }
    )*};
}

derived!(
    ToolArgs: derive_tool_args,
    ToolArg: derive_tool_arg,
    ToolInput: derive_tool_input,
    ToolParams: derive_tool_params,
    ToolSchema: derive_tool_schema,
    Tool: derive_tool,
    Args: derive_args
);
