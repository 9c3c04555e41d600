//! Parameters of the function of a factory or a service.

use crate::check::{Check, Errors};
use crate::tool::item::Function;
use crate::tool::wrapper::refuse_of_provider;
use crate::type_form::{is_unknown, last_segment, mentions_ident, mentions_impl, only_argument, reference};
use quote::ToTokens;
use syn::{FnArg, Type};

/// The kind of a parameter.
pub(super) enum Parameter {
    /// `&Caller`.
    Caller,
    /// `State<T>`, or `&State<T>`.
    Service(Type, bool),
    /// `Config<T>`, or `&Config<T>`.
    Config(Type, bool),
    /// Rejected.
    Broken,
}

pub(super) fn read(
    function: &Function,
    noun: &str,
    knows_caller: bool,
    errors: &mut Errors,
) -> Vec<Parameter> {
    let types = function.signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(&*typed.ty),
        // Reported with the signature.
        FnArg::Receiver(_) => None,
    });
    let mut parameters: Vec<Parameter> = Vec::new();
    for ty in types {
        if refuse_of_provider(ty, errors) {
            parameters.push(Parameter::Broken);
            continue;
        }
        let parameter = parameter(ty, knows_caller).unwrap_or_else(|| {
            let takes = match (knows_caller, is_caller(ty)) {
                (true, _) if is_context(ty) => {
                    "makes tools before any call, so there is no context yet; take `&Caller`\nthe function of each tool that it makes gets the context: `Tool::builder(name).build(|ctx, arguments| ..)`"
                }
                (false, _) if is_context(ty) => {
                    "is called once, before any call, so there is no context; remove it\nwhat a call needs of its context goes into the tool: take `ctx: &ToolContext` there, and pass it to a method of the service"
                }
                (true, _) => "takes `&Caller`, `State<T>` and `Config<T>` only",
                (false, true) => "is called once for all callers; take `State<T>` and `Config<T>` only",
                (false, false) => "takes `State<T>` and `Config<T>` only\nmake it a field of a struct with `#[toolkit::args]`, and take `Config<Settings>` of that: a section of the configuration",
            };
            let takes = match own_type(ty) {
                Some(name) if !is_caller(ty) && !is_context(ty) => {
                    let only = if knows_caller { "`&Caller`, `State<T>` and `Config<T>`" } else { "`State<T>` and `Config<T>`" };
                    format!(
                        "takes {only} only\ntake `Config<{name}>` for a section of the configuration, with `#[toolkit::args]` on `{name}`, or `State<{name}>` for another service"
                    )
                }
                _ => takes.to_owned(),
            };
            errors.push(Check::Taken, ty, format!("{noun} {takes}"));
            Parameter::Broken
        });
        if matches!(parameter, Parameter::Config(..))
            && parameters.iter().any(|other| matches!(other, Parameter::Config(..)))
        {
            errors.push(
                Check::TwoConfigs,
                ty,
                "a plugin has one section of the configuration; put both into one struct",
            );
        }
        parameters.push(parameter);
    }
    parameters
}

fn parameter(ty: &Type, knows_caller: bool) -> Option<Parameter> {
    let (inner, borrowed) = match ty {
        Type::Reference(reference) if reference.mutability.is_none() && reference.lifetime.is_none() => {
            (&*reference.elem, true)
        }
        other => (other, false),
    };
    if borrowed && knows_caller && is_caller(inner) {
        return Some(Parameter::Caller);
    }
    let owned = |ty: &&Type| {
        let tokens = ty.to_token_stream();
        mentions_impl(&tokens).is_none() && reference(&tokens).is_none()
    };
    let service = only_argument(inner, "State").filter(owned);
    let config = only_argument(inner, "Config").filter(owned);
    service
        .map(|ty| Parameter::Service(ty.clone(), borrowed))
        .or_else(|| config.map(|ty| Parameter::Config(ty.clone(), borrowed)))
}

/// Returns the name of a type that is probably one of the author's own, taken in any way.
fn own_type(ty: &Type) -> Option<String> {
    match ty {
        Type::Reference(reference) => own_type(&reference.elem),
        Type::Path(_) => last_segment(ty)
            .filter(|segment| segment.arguments.is_none() && is_unknown(ty))
            .map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

/// Returns true for `ToolContext`, taken in any way.
fn is_context(ty: &Type) -> bool {
    mentions_ident(&ty.to_token_stream(), "ToolContext").is_some()
}

/// Returns true for `Caller`, taken in any way.
fn is_caller(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => is_caller(&reference.elem),
        other => last_segment(other).is_some_and(|segment| segment.ident == "Caller"),
    }
}
