//! `#[tool]`: parse, check, expand. Every step adds to one list of errors; the function becomes a tool only if it is
//! empty at the end.

mod attribute;
pub(crate) mod body;
pub(crate) mod expand;
pub(crate) mod item;
pub(crate) mod name;
mod parameter;
mod provided;
mod returned;
pub(crate) mod signature;
pub(crate) mod stub;
pub(crate) mod wrapper;

use crate::check::{Check, Errors};
use crate::methods_within;
use crate::type_form::{WIDE_INTEGER, wide_integer};
use item::Function;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use signature::{Flaws, Wording};
use syn::ReturnType;

/// Wording of error messages about tools.
const TOOL: Wording = Wording {
    noun: "a tool",
    called_by: "a model",
    one: "one function for one schema",
    no_lifetimes: "`&str`, `&Path` and `&[T]` need none",
    without_self: "put `#[toolkit::tools]` on the `impl` block, or take `State<T>`",
    without_impl: "put `#[toolkit::tools]` on the block",
    without_trait: "take that of an `impl` block",
    many: "arguments; take a `Vec<T>` for many",
    owned: "return a `String`",
};

pub(crate) fn expand(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(mut function) = item::parse(item, "tool", &mut errors) else {
        let (errors, item) = (errors.into_tokens(), methods_within::without_tools(item));
        return quote!(#errors #item);
    };
    item::second_tool(&mut function, &mut errors);
    item::other_macros(&mut function, &mut errors);
    let options = attribute::parse(attribute, &function, &mut errors);
    let mut flaws = signature::check(&function, &TOOL, &mut errors);
    // The function that `#[toolkit::tools]` makes has the place of its method.
    if options.method.is_none() {
        signature::check_place(&function, &TOOL, &mut flaws, &mut errors);
    }
    check_returned_integers(&function, &mut flaws, &mut errors);
    let parameters = parameter::take(&mut function, &mut flaws, &mut errors);
    parameter::check_names(&parameters, &mut errors);
    parameter::check_section(&function, &parameters, &mut errors);
    options.check_asks(&function, &parameters, &mut errors);
    flaws.needs_stub |= body::check_function(&function, &mut errors);
    // A parameter rejected without an error here is one that rustc reports in the function itself.
    let is_broken = parameters.iter().any(|parameter| matches!(parameter, parameter::Parameter::Broken));
    if errors.is_empty() && !is_broken {
        return expand::tool(&function, &options, &parameters);
    }
    let toolkit = &options.toolkit;
    let errors = errors.into_tokens();
    let function_or_stub = stub::function(&function, &flaws);
    let assertions = expand::assertions(&function, toolkit, &parameters, &flaws);
    quote!(#errors #function_or_stub #assertions)
}

/// Checks the integers in the return type, since the returned value becomes JSON as the arguments do.
fn check_returned_integers(function: &Function, flaws: &mut Flaws, errors: &mut Errors) {
    let ReturnType::Type(_, output) = &function.signature.output else { return };
    if let (Some(span), false) = (wide_integer(&output.to_token_stream()), flaws.bad_return) {
        flaws.bad_return = true;
        errors.push_span(Check::WideInteger, span, WIDE_INTEGER);
    }
}
