//! The item that the attribute is on. The body is not parsed: parsing costs time, and a body that is being typed must
//! not hide the tool.

use crate::check::{Check, Errors};
use crate::half_typed;
use crate::type_form::ungroup;
use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Item, ReturnType, Signature, Token, Visibility};

/// A function with its unparsed body.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    pub(crate) body: Option<TokenStream>,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        if input.parse::<Option<Token![;]>>()?.is_some() {
            return Ok(Self { attributes, visibility, signature, body: None });
        }
        let body = match input.parse()? {
            TokenTree::Group(group) => TokenTree::Group(group).into(),
            other => return Err(syn::Error::new(other.span(), "expected the body of the function")),
        };
        Ok(Self { attributes, visibility, signature, body: Some(body) })
    }
}

/// Parses the function, or reports the item that is there instead.
pub(crate) fn parse(item: &TokenStream, attribute: &str, errors: &mut Errors) -> Option<Function> {
    match syn::parse2::<Function>(item.clone()) {
        Ok(mut function) => {
            ungroup_types(&mut function.signature);
            Some(function)
        }
        Err(error) => {
            match other_item(item.clone()) {
                Some((what, span)) => {
                    let advice = if attribute == "tool" { advice(what) } else { "" };
                    let message = format!("`#[{attribute}]` goes on a function, not on {what}{advice}");
                    errors.push_span(Check::NotAFunction, span, message);
                }
                // rustc's own error is sufficient.
                None if half_typed::is_rejected(item.clone()) => {}
                None => errors.push_syntax(error),
            }
            None
        }
    }
}

/// Makes types that a `macro_rules!` passes on, or that are in parentheses, like those that are written out.
fn ungroup_types(signature: &mut Signature) {
    for input in &mut signature.inputs {
        if let FnArg::Typed(typed) = input {
            ungroup(&mut typed.ty);
        }
    }
    if let ReturnType::Type(_, ty) = &mut signature.output {
        ungroup(ty);
    }
}

pub(super) fn second_tool(function: &mut Function, errors: &mut Errors) {
    function.attributes.retain(|attribute| {
        let is_tool = attribute.path().segments.last().is_some_and(|segment| segment.ident == "tool");
        if is_tool {
            errors.push(
                Check::TwoTools,
                attribute,
                "a function is one tool; put everything in one `#[tool(..)]`",
            );
        }
        !is_tool
    });
}

/// Returns the attribute that was probably meant, for an item with `#[tool]`.
fn advice(what: &str) -> &'static str {
    match what {
        "an `impl` block" => {
            "\nput `#[toolkit::tools]` on the block, and `#[tool]` on each method that becomes a tool"
        }
        "a struct" | "an enum" => {
            "\na type of arguments takes `#[toolkit::args]`; its methods become tools by `#[toolkit::tools]`"
        }
        "a module" => "\nput it on each function of the module that becomes a tool",
        "a trait" => "\nput `#[toolkit::tools]` on an `impl` block of a type that has the methods",
        _ => "",
    }
}

/// Reports attributes that make something else of a function than a tool.
pub(super) fn other_macros(function: &mut Function, errors: &mut Errors) {
    function.attributes.retain(|attribute| {
        let path: Vec<String> =
            attribute.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
        let message = match path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["test"] | ["tokio" | "async_std" | "test_log", "test"] => {
                "a tool is not a test\ncall the tool in a test of its own: `tool_ref!` and `TestToolbox` help"
            }
            ["tokio" | "async_std" | "actix_web", "main"] => {
                "the host runs a tool, so it needs no runtime of its own\nremove the attribute"
            }
            _ => return true,
        };
        errors.push(Check::OtherMacro, attribute, message);
        false
    });
}

fn other_item(item: TokenStream) -> Option<(&'static str, proc_macro2::Span)> {
    Some(match syn::parse2::<Item>(item).ok()? {
        Item::Struct(item) => ("a struct", item.struct_token.span()),
        Item::Enum(item) => ("an enum", item.enum_token.span()),
        Item::Union(item) => ("a union", item.union_token.span()),
        Item::Impl(item) => ("an `impl` block", item.impl_token.span()),
        Item::Trait(item) => ("a trait", item.trait_token.span()),
        Item::Mod(item) => ("a module", item.mod_token.span()),
        Item::Const(item) => ("a constant", item.const_token.span()),
        Item::Static(item) => ("a static", item.static_token.span()),
        Item::Type(item) => ("a type alias", item.type_token.span()),
        Item::Use(item) => ("a `use`", item.use_token.span()),
        Item::Macro(item) => ("a macro call", item.mac.path.span()),
        Item::ExternCrate(item) => ("an `extern crate`", item.extern_token.span()),
        Item::ForeignMod(item) => ("an `extern` block", item.abi.extern_token.span()),
        _ => return None,
    })
}
