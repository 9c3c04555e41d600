//! The parameters of a tool's function: the context, services, and arguments with their rules.

use super::item::Function;
use super::signature::Flaws;
use super::wrapper::{self, instead_of_reference};
use crate::check::{Check, Errors};
use crate::documentation;
use crate::keys::{Text, arg_without_list, unknown_attribute};
use crate::rules::{Around, Default_, Rules, TypeForm};
use crate::source;
use crate::type_form::{
    self, Held, WIDE_INTEGER, held, last_segment, mentions_ident, mentions_impl, named_lifetimes,
    only_argument, option, reference, wide_integer, without_group,
};
use crate::type_repair::{self, lacks_arguments, misplaced_unsized};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, LitStr, Meta, Pat, PatTupleStruct, PatType, Type, parse_quote};

/// The kind of a parameter.
pub(super) enum Parameter {
    /// `&ToolContext`.
    Context,
    /// `State<T>` or `&State<T>`.
    Service(Service),
    /// `Config<T>` or `&Config<T>`.
    Config(Service),
    /// A single argument.
    Argument(Box<Argument>),
    /// `#[args]`: all arguments in one struct.
    Whole(Type),
    /// Rejected: no further errors are reported for it.
    Broken,
}

/// A service, or a configuration.
pub(super) struct Service {
    /// The `T`.
    pub(super) ty: Type,
    /// True if the function borrows it.
    pub(super) borrowed: bool,
}

/// An argument.
pub(super) struct Argument {
    pub(super) name: LitStr,
    pub(super) description: Text,
    /// The type, without `Option`.
    pub(super) ty: Type,
    pub(super) is_option: bool,
    pub(super) held: Held,
    pub(super) rules: Rules,
}

impl Argument {
    /// The function of the runtime that makes its descriptor.
    pub(super) fn make(&self) -> TokenStream {
        let make = Ident::new(if self.is_option { "optional" } else { "arg" }, Span::call_site());
        match wrapper::suspicion(&self.ty) {
            Some(module) => quote!(#module::#make),
            None => quote!(#make),
        }
    }
}

/// The parsed attributes of one parameter.
struct Attributes {
    description: Text,
    arg: TokenStream,
    arg_span: Option<Span>,
    args_span: Option<Span>,
}

/// Reads the parameters and takes their attributes off the function.
pub(super) fn take(function: &mut Function, flaws: &mut Flaws, errors: &mut Errors) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    let mut around = Around::parameters(&function.signature);
    for input in &mut function.signature.inputs {
        match input {
            FnArg::Receiver(receiver) => receiver.attrs.clear(),
            FnArg::Typed(typed) => {
                let attributes = take_attributes(&mut typed.attrs, errors);
                around.own = match &*typed.pat {
                    Pat::Ident(pattern) => Some(pattern.ident.unraw().to_string()),
                    _ => None,
                };
                let count = errors.count();
                parameters.push(parameter(typed, attributes, &around, flaws, errors));
                if errors.count() > count {
                    repair(&mut typed.ty, flaws);
                }
            }
        }
    }
    check_contexts(function, &parameters, errors);
    check_configs(function, &parameters, errors);
    check_whole(function, &parameters, errors);
    parameters
}

/// Changes the type of a rejected parameter where rustc would report it too.
fn repair(ty: &mut Type, flaws: &mut Flaws) {
    let tokens = ty.to_token_stream();
    if is_unsized(ty) {
        *ty = parse_quote!(&(#tokens));
    } else if misplaced_unsized(ty).is_some() || lacks_arguments(ty) || wrapper::has_several(ty).is_some() {
        *ty = type_repair::any();
        flaws.needs_stub = true;
    } else if type_repair::has_undeclared(&tokens, &flaws.generics)
        && let Ok(repaired) = syn::parse2(type_repair::with_anonymous(tokens, &flaws.generics))
    {
        *ty = repaired;
    }
}

fn take_attributes(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Attributes {
    let mut found = Attributes {
        description: documentation::text(attributes),
        arg: TokenStream::new(),
        arg_span: None,
        args_span: None,
    };
    attributes.retain(|attribute| {
        let name = attribute.path().to_token_stream().to_string().replace(' ', "");
        match name.as_str() {
            "doc" => {}
            "arg" => match &attribute.meta {
                Meta::List(list) => {
                    let (before, more) = (&found.arg, &list.tokens);
                    found.arg = if before.is_empty() { more.clone() } else { quote!(#before, #more) };
                    found.arg_span = Some(attribute.path().span());
                }
                other => errors.push(Check::WrongForm, attribute, arg_without_list(other)),
            },
            "args" => match &attribute.meta {
                Meta::Path(path) => found.args_span = Some(path.span()),
                _ => errors.push(
                    Check::ArgsForm,
                    attribute,
                    "`#[args]` stands alone; rules go on the fields of the struct",
                ),
            },
            "cfg" | "cfg_attr" => errors.push(
                Check::ParameterCfg,
                attribute,
                "a parameter cannot be conditional; write two functions, each under its `#[cfg]`",
            ),
            "allow" | "warn" | "deny" | "forbid" | "expect" => return true,
            _ => {
                let rest = "it takes docs, `#[arg(..)]` or `#[args]`";
                let message = unknown_attribute(attribute, "a parameter", &["arg", "args"], rest);
                errors.push(Check::ParameterAttribute, attribute, message);
            }
        }
        false
    });
    found
}

fn parameter(
    typed: &PatType,
    attributes: Attributes,
    around: &Around,
    flaws: &Flaws,
    errors: &mut Errors,
) -> Parameter {
    let ty = &*typed.ty;
    if let Some(special) = context_or_service(ty, flaws, errors) {
        if let Some(span) = attributes.arg_span.or(attributes.args_span) {
            errors.push_span(
                Check::ArgOnService,
                span,
                "this parameter is no argument: a model never sees it",
            );
        }
        return special;
    }
    if let Some(span) = wide_integer(&ty.to_token_stream()) {
        errors.push_span(Check::WideInteger, span, WIDE_INTEGER);
        return Parameter::Broken;
    }
    if let Some(message) = never_an_argument(ty, attributes.args_span.is_some()) {
        errors.push(Check::NeverArgument, ty, message);
        return Parameter::Broken;
    }
    if let Some(found) = misplaced_unsized(ty) {
        let check = if found.owned.is_some() { Check::Reference } else { Check::TraitObject };
        errors.push(check, found.ty, found.message(is_unsized(ty) || found.owned.is_none()));
        return Parameter::Broken;
    }
    if let Some(span) =
        mentions_ident(&ty.to_token_stream(), "dyn").filter(|_| !matches!(ty, Type::Reference(_)))
    {
        errors.push_span(
            Check::TraitObject,
            span,
            "a trait object cannot be an argument; take `State<dyn Trait>` for a service",
        );
        return Parameter::Broken;
    }
    if let (Some(_), Type::Reference(reference)) = (attributes.args_span, ty) {
        let message = "all arguments are taken by value; leave the `&` out";
        errors.push(Check::Reference, &reference.and_token, message);
        return Parameter::Broken;
    }
    let legal_type = check_type(ty, flaws, errors);
    if attributes.args_span.is_some() {
        if let Some(span) = attributes.arg_span {
            errors.push_span(
                Check::ArgsForm,
                span,
                "`#[arg]` beside `#[args]`; rules go on the fields of the struct",
            );
        }
        if let Some(segment) = last_segment(ty).filter(|segment| {
            legal_type && source::has_arg_without_args(segment.ident.span(), &segment.ident.to_string())
        }) {
            let message = format!(
                "the fields of this struct have `#[arg(..)]`, which only `#[toolkit::args]` reads\nput `#[toolkit::args]` on `{}`, in place of the derives of serde and schemars",
                segment.ident
            );
            errors.push(Check::ArgsForm, ty, message);
            return Parameter::Broken;
        }
        return if legal_type { Parameter::Whole(ty.clone()) } else { Parameter::Broken };
    }
    let mut rules = Rules::parse(attributes.arg, around, errors);
    let Some(name) = name(&typed.pat, &rules, errors) else { return Parameter::Broken };
    if !legal_type {
        return Parameter::Broken;
    }
    let inner = option(ty);
    let Some(held) = held(inner.unwrap_or(ty)) else { return Parameter::Broken };
    if let (Some(_), Some(Default_::OfType(span) | Default_::Value(_, span))) = (inner, &rules.default) {
        errors.push_span(
            Check::DefaultOnOption,
            *span,
            "an `Option` is `None` when it is absent; take the plain type to give it a default",
        );
        rules.default = None;
    }
    let inner = inner.unwrap_or(ty);
    let type_name = inner.to_token_stream().to_string().replace(' ', "");
    rules.check_values(TypeForm { name: &type_name, kind: held.kind, item: held.item }, errors);
    Parameter::Argument(Box::new(Argument {
        name,
        description: attributes.description,
        is_option: option(ty).is_some(),
        ty: inner.clone(),
        held,
        rules,
    }))
}

/// Returns what to take in place of a type that JSON can hold in a form that no model would send.
fn never_an_argument(ty: &Type, is_whole: bool) -> Option<&'static str> {
    let name = last_segment(option(ty).unwrap_or(ty))?.ident.to_string();
    if is_whole && option(ty).is_some() {
        return Some(
            "all arguments are one object, which is always there\ntake the struct, and make its fields an `Option`",
        );
    }
    match name.as_str() {
        "Result" => Some("a `Result` cannot be an argument; take the value, or an `Option` of it"),
        "SystemTime" => Some(
            "a `SystemTime` cannot be an argument\ntake a `chrono::DateTime<Utc>` (feature `chrono`), or a `String`",
        ),
        _ => None,
    }
}

fn context_or_service(ty: &Type, flaws: &Flaws, errors: &mut Errors) -> Option<Parameter> {
    if let Some(special) = context(ty, flaws, errors) {
        return Some(special);
    }
    if wrapper::refuse(ty, errors) {
        return Some(Parameter::Broken);
    }
    let (state, borrowed) = match ty {
        Type::Reference(reference) if reference.mutability.is_none() && reference.lifetime.is_none() => {
            (&*reference.elem, true)
        }
        other => (other, false),
    };
    let wrapper = ["State", "Config"].into_iter().find(|name| only_argument(state, name).is_some())?;
    let ty = only_argument(state, wrapper)?;
    let make = if wrapper == "Config" { Parameter::Config } else { Parameter::Service };
    let is_known = !wrapper::refuse_within(wrapper, ty, errors) && check_type(ty, flaws, errors);
    Some(if is_known { make(Service { ty: ty.clone(), borrowed }) } else { Parameter::Broken })
}

fn context(ty: &Type, flaws: &Flaws, errors: &mut Errors) -> Option<Parameter> {
    let is_context = |ty: &Type| last_segment(ty).is_some_and(|segment| segment.ident == "ToolContext");
    if is_context(ty) {
        errors.push(Check::ContextByValue, ty, "the context is borrowed; take `&ToolContext`");
        return Some(Parameter::Broken);
    }
    if let Type::Reference(reference) = ty
        && is_context(&reference.elem)
    {
        if let Some(token) = &reference.mutability {
            errors.push(Check::MutableReference, token, "the context is shared; take `&ToolContext`");
            return Some(Parameter::Broken);
        }
        if let Some(lifetime) = &reference.lifetime {
            if !flaws.generics.iter().any(|name| lifetime.ident == name) {
                errors.push(
                    Check::Lifetime,
                    lifetime,
                    "the context lives as long as the call; take `&ToolContext`",
                );
            }
            return Some(Parameter::Broken);
        }
        return Some(Parameter::Context);
    }
    None
}

/// Returns true if the type can be checked further; otherwise reports the reason, unless it is reported already.
fn check_type(ty: &Type, flaws: &Flaws, errors: &mut Errors) -> bool {
    let tokens = ty.to_token_stream();
    if let Some(span) = mentions_impl(&tokens) {
        errors.push_span(
            Check::ImplTrait,
            span,
            "an argument needs a type with a name; `impl Trait` has none\nwrite the type, such as `&str`, `String` or `Vec<String>`",
        );
        return false;
    }
    // These are reported at the signature already.
    if mentions_ident(&tokens, "Self").is_some()
        || flaws.generics.iter().any(|name| mentions_ident(&tokens, name).is_some())
    {
        return false;
    }
    let lifetimes = named_lifetimes(&tokens);
    if lifetimes.iter().any(|(name, _)| flaws.generics.contains(name)) {
        return false;
    }
    let inner = option(ty).unwrap_or(ty);
    if let Type::Reference(reference) = inner {
        if let Some(token) = &reference.mutability {
            errors.push(
                Check::MutableReference,
                token,
                "an argument belongs to the tool; take it by value, as `mut` if need be",
            );
            return false;
        }
        if let Some(lifetime) = &reference.lifetime {
            errors.push(
                Check::Lifetime,
                lifetime,
                "an argument lives as long as the call; leave the lifetime out",
            );
            return false;
        }
        if held(inner).is_none() {
            errors.push(
                Check::Reference,
                inner,
                format!("this reference cannot be an argument; {}", instead_of_reference(&reference.elem)),
            );
            return false;
        }
        return true;
    }
    // The lifetime of a type of the author's own is an error where the type is declared, or where it lacks `#[toolkit::args]`.
    let is_own = reference(&tokens).is_none()
        && type_form::is_unknown(inner)
        && last_segment(inner).is_none_or(|segment| segment.ident != "Cow");
    if let Some((_, span)) =
        lifetimes.into_iter().find(|(name, _)| name != "static" && !(is_own && name == "_"))
    {
        errors.push_span(
            Check::Lifetime,
            span,
            "an argument owns its content; use an owned type such as `String`",
        );
        return false;
    }
    if let Some(place) = reference(&tokens) {
        errors.push_span(
            Check::Reference,
            place,
            "a reference within a type cannot be an argument; use an owned type\nwrite `Vec<String>` or `&[String]` for `Vec<&str>`",
        );
        return false;
    }
    true
}

fn is_unsized(ty: &Type) -> bool {
    misplaced_unsized(ty).is_some_and(|found| std::ptr::eq(found.ty, without_group(ty)))
}

fn name(pattern: &Pat, rules: &Rules, errors: &mut Errors) -> Option<LitStr> {
    let ident = match pattern {
        Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => &pattern.ident,
        Pat::Wild(_) => {
            errors.push(
                Check::Pattern,
                pattern,
                "an argument needs a name that a model can use, and `_` is none",
            );
            return None;
        }
        // As handlers of other crates take them: `Parameters(query): Parameters<Query>`.
        Pat::TupleStruct(PatTupleStruct { path, .. })
            if ["Parameters", "Json"]
                .iter()
                .any(|name| path.segments.last().is_some_and(|last| last.ident == name)) =>
        {
            errors.push(
                Check::Pattern,
                pattern,
                "take all arguments as one struct, without a wrapper: `#[args] query: Query`",
            );
            return None;
        }
        _ => {
            errors.push(
                Check::Pattern,
                pattern,
                "an argument needs a name; take it apart within the function",
            );
            return None;
        }
    };
    if let Some(rename) = &rules.rename {
        return Some(rename.clone());
    }
    let name = LitStr::new(&ident.unraw().to_string(), ident.span());
    if !name.value().is_ascii() {
        errors.push(
            Check::ArgumentName,
            ident,
            format!(
                "`{}` cannot name an argument\ngive it another name with `#[arg(rename = \"…\")]`",
                name.value()
            ),
        );
        return None;
    }
    // The parameter counts as named, so that nothing else is reported for it.
    let value = name.value();
    let plain = value.trim_start_matches('_');
    if plain.len() < value.len() && !plain.is_empty() {
        errors.push(
            Check::ArgumentName,
            ident,
            format!(
                "a model would see the argument `{value}` with its underscore\nname it `{plain}`, or add `#[arg(rename = \"{plain}\")]`"
            ),
        );
    }
    Some(name)
}

fn check_contexts(function: &Function, parameters: &[Parameter], errors: &mut Errors) {
    let mut contexts = typed(function)
        .zip(parameters)
        .filter(|(_, parameter)| matches!(parameter, Parameter::Context))
        .map(|(typed, _)| typed);
    contexts.next();
    for second in contexts {
        errors.push(Check::TwoContexts, &second.ty, "there is one context; take it once");
    }
}

fn check_configs(function: &Function, parameters: &[Parameter], errors: &mut Errors) {
    let configs = typed(function)
        .zip(parameters)
        .filter(|(_, parameter)| matches!(parameter, Parameter::Config(_)))
        .map(|(typed, _)| typed);
    for second in configs.skip(1) {
        errors.push(
            Check::TwoConfigs,
            &second.ty,
            "a tool has one section of the configuration; put both into one struct",
        );
    }
}

fn check_whole(function: &Function, parameters: &[Parameter], errors: &mut Errors) {
    let mut wholes = typed(function)
        .zip(parameters)
        .filter(|(_, parameter)| matches!(parameter, Parameter::Whole(_)))
        .map(|(typed, _)| typed);
    if wholes.next().is_none() {
        return;
    }
    for second in wholes {
        errors.push(Check::TwoArgs, &second.pat, "there is one set of arguments; put both into one struct");
    }
    for (typed, parameter) in typed(function).zip(parameters) {
        if matches!(parameter, Parameter::Argument(_)) {
            errors.push(
                Check::ArgsBeside,
                &typed.pat,
                "`#[args]` takes all arguments; make this one a field of its struct",
            );
        }
    }
}

fn typed(function: &Function) -> impl Iterator<Item = &PatType> {
    function.signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    })
}

/// No two arguments may answer to one name.
pub(super) fn check_names(parameters: &[Parameter], errors: &mut Errors) {
    let mut taken: HashMap<String, &Argument> = HashMap::new();
    let arguments = || {
        parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(&**argument),
            _ => None,
        })
    };
    let names = arguments().map(|argument| (&argument.name, argument));
    let aliases =
        arguments().flat_map(|argument| argument.rules.aliases.iter().map(move |alias| (alias, argument)));
    for (name, argument) in names.chain(aliases) {
        if let Some(other) = taken.insert(name.value(), argument) {
            let whose = if std::ptr::eq(other, argument) { "this" } else { "another" };
            errors.push(
                Check::ArgumentTwice,
                name,
                format!("{whose} argument is named `{}` already: {}", name.value(), way_out(whose)),
            );
        }
    }
}

/// The way out of a name that is taken.
fn way_out(whose: &str) -> &'static str {
    if whose == "this" { "leave the alias out" } else { "take another name, or leave the alias out" }
}

/// Reports a section on the arguments in the doc comment of a function that describes them nowhere else: a model does not read it.
pub(super) fn check_section(function: &Function, parameters: &[Parameter], errors: &mut Errors) {
    let is_undocumented = |parameter: &Parameter| match parameter {
        Parameter::Argument(argument) => argument.description.literal().is_some_and(|text| text.is_empty()),
        _ => false,
    };
    if let Some(heading) = documentation::heading_of_arguments(&function.attributes)
        && parameters.iter().any(is_undocumented)
    {
        errors.push(
            Check::Description,
            heading,
            "a model does not read this section of the doc comment\ndescribe each argument at its parameter: `/// The number of the note.` above `id: u32`",
        );
    }
}
