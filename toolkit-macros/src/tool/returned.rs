//! The check of a function's return type, which the compiler does: the expansion names each type where an error of it is reported.

use super::item::Function;
use crate::rules::Kind;
use crate::type_form::{is_unknown, kind, last_segment, only_argument, option, without_group};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, ReturnType, Type};

/// The check of a return type.
///
/// For an unknown type inside another type of a function signature, the compiler proposes a type parameter. So if the outer type
/// certainly exists, the check is a function in the tool's place: then both errors are identical, and reported once.
pub(super) fn output_witness(function: &Function) -> TokenStream {
    let (ty, checked) = match &function.signature.output {
        ReturnType::Default => (quote!(()), quote!(__toolkit::output::<()>())),
        ReturnType::Type(_, ty) => (ty.to_token_stream(), output_check(ty)),
    };
    if is_checked_in_function(&function.signature.output) {
        let name = Ident::new("__toolkit_output", function.signature.ident.span());
        return quote!(const fn #name() -> __toolkit::Output<#ty> { #checked });
    }
    quote!(const __TOOLKIT_OUTPUT: __toolkit::Output<#ty> = { #checked };)
}

/// Returns the item that [`output_witness`] created.
pub(super) fn checked_output(function: &Function) -> TokenStream {
    if is_checked_in_function(&function.signature.output) {
        quote!(__toolkit_output())
    } else {
        quote!(__TOOLKIT_OUTPUT)
    }
}

fn is_checked_in_function(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else { return false };
    last_segment(ty)
        .is_some_and(|segment| ["Result", "Vec", "Option"].iter().any(|name| segment.ident == name))
}

/// Chooses the conversion in the expansion only for a type with an error that no trait can cover, since that costs a little more
/// to compile.
fn output_check(ty: &Type) -> TokenStream {
    let span = ty.span();
    let choose = |check: TokenStream| {
        quote_spanned! {span=>
            use __toolkit::ReturnedElse as _;
            __toolkit::Returned::<#ty>::ERRORS.#check()
        }
    };
    if is_of_mcp(ty) {
        return quote_spanned!(span=> __toolkit::result_of_mcp::<#ty>());
    }
    if let Some((held, rule)) = held(value_and_error(ty).map_or(ty, |(value, _)| value)) {
        return held_check(ty, held, rule);
    }
    let Some((value, error)) = value_and_error(ty) else {
        return if may_be_result(ty) {
            choose(quote_spanned!(span=> output::<#ty>))
        } else {
            quote!(__toolkit::output::<#ty>())
        };
    };
    if is_tool_error(error) {
        return quote!(__toolkit::fallible::<#value, #error>());
    }
    choose(quote_spanned!(error.span()=> fallible::<#value, #error>))
}

/// Checks the type within a return type, so that a fault of it is reported where it stands.
fn held_check(ty: &Type, held: &Type, rule: &str) -> TokenStream {
    let rule = Ident::new(rule, Span::call_site());
    let (value, error) = value_and_error(ty).map_or((ty, None), |(value, error)| (value, Some(error)));
    let value_check = quote_spanned!(held.span()=> value::<#value, #held>);
    let output = match error {
        None => quote!(__toolkit::output_of(value)),
        Some(error) if is_tool_error(error) => quote!(__toolkit::fallible_of::<#error, _>(value)),
        Some(error) => {
            let check = quote_spanned!(error.span()=> fallible_of::<#error, _>);
            quote!({ use __toolkit::ReturnedElse as _; __toolkit::Returned::<#ty>::ERRORS.#check(value) })
        }
    };
    quote! {
        use __toolkit::{HeldElse as _, ReturnsElse as _};
        let marker = __toolkit::Returns::<#value>::FIT.or(__toolkit::Held::<#held>::#rule);
        let value = marker.#value_check();
        marker.finish(#output)
    }
}

/// Returns the type of unknown name within containers, and the constant of the runtime that tells if it is at fault.
fn held(ty: &Type) -> Option<(&Type, &'static str)> {
    if let Some(inner) = option(ty) {
        return held(inner).or_else(|| is_unknown(inner).then_some((inner, "OUTPUT")));
    }
    let inner =
        ["Vec", "Json"].iter().find_map(|name| only_argument(ty, name)).or_else(|| value_of_map(ty))?;
    // A list of these is no JSON.
    let is_json =
        last_segment(inner).is_none_or(|segment| segment.ident != "Content" && segment.ident != "Image");
    held_json(inner).filter(|_| is_json).map(|held| (held, "JSON"))
}

/// Returns the first type of unknown name in a type that is written as JSON.
fn held_json(ty: &Type) -> Option<&Type> {
    if let Type::Tuple(tuple) = without_group(ty) {
        return tuple.elems.iter().find_map(held_json);
    }
    let inner = option(ty)
        .or_else(|| ["Vec", "Box", "HashSet", "BTreeSet"].iter().find_map(|name| only_argument(ty, name)))
        .or_else(|| value_of_map(ty));
    match inner {
        Some(inner) => held_json(inner),
        None => is_unknown(ty).then_some(ty),
    }
}

/// The `T` of a map from `String` to `T`.
fn value_of_map(ty: &Type) -> Option<&Type> {
    let segment =
        last_segment(ty).filter(|segment| segment.ident == "HashMap" || segment.ident == "BTreeMap")?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    let mut arguments = arguments.args.iter();
    match (arguments.next()?, arguments.next()?, arguments.next()) {
        (GenericArgument::Type(_), GenericArgument::Type(value), None) => Some(value),
        _ => None,
    }
}

/// Returns true for `CallToolResult`, and for a `Result` of it with an error of MCP, by their names.
fn is_of_mcp(ty: &Type) -> bool {
    let is_named = |ty: &Type, names: &[&str]| {
        last_segment(ty).is_some_and(|segment| names.iter().any(|name| segment.ident == name))
    };
    let (value, error) = value_and_error(ty).map_or((ty, None), |(value, error)| (value, Some(error)));
    is_named(value, &["CallToolResult"])
        && error.is_none_or(|error| is_named(error, &["McpError", "ErrorData", "RmcpError", "ToolError"]))
}

fn is_tool_error(error: &Type) -> bool {
    last_segment(error).is_some_and(|segment| segment.ident == "ToolError")
}

/// Returns the parts of a `Result` of the standard library, as far as the path shows.
fn value_and_error(ty: &Type) -> Option<(&Type, &Type)> {
    let Type::Path(path) = ty else { return None };
    let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if !matches!(names.as_slice(), ["Result"] | ["std" | "core", "result", "Result"]) {
        return None;
    }
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else { return None };
    let mut arguments = arguments.args.iter();
    match (arguments.next()?, arguments.next()?, arguments.next()) {
        (GenericArgument::Type(value), GenericArgument::Type(error), None) => Some((value, error)),
        _ => None,
    }
}

/// Returns true if a type may be an alias of `Result`, as far as its name shows.
fn may_be_result(ty: &Type) -> bool {
    const OTHERS: [&str; 8] =
        ["Option", "Json", "Image", "Content", "ToolOutput", "HashMap", "BTreeMap", "Value"];
    last_segment(ty).is_some_and(|segment| {
        kind(ty) == Kind::Unknown && !OTHERS.iter().any(|other| segment.ident == other)
    })
}
