//! Checks of the signature of a tool's function, apart from its parameters: one function a rule.

use super::item::Function;
use crate::check::{Check, Errors};
use crate::keys::sentence;
use crate::source;
use crate::type_form::{borrow, last_segment, mentions_ident, mentions_impl, named_lifetimes, without_group};
use crate::type_repair::{arguments, has_undeclared, lifetimes, misplaced_unsized, shown};
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{FnArg, GenericParam, ReturnType, Safety, Type};

/// Flaws that the later steps must know, so that one mistake results in one error.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Flaws {
    /// An error that rustc reports again, so that only a stub can be emitted.
    pub(crate) needs_stub: bool,
    /// Something that rustc rejects outside of methods.
    pub(crate) is_method: bool,
    /// The return type has lifetimes that rustc reports too.
    pub(crate) bad_lifetimes: bool,
    /// The return type is one that rustc rejects as well.
    pub(crate) invalid_return: bool,
    /// The return type cannot be checked.
    pub(crate) bad_return: bool,
    /// The function is in an `impl` or `trait`, which allows no assertions.
    pub(crate) associated: bool,
    /// Names that mean something within the function only.
    pub(crate) generics: Vec<String>,
}

/// Words with which errors describe the function.
pub(crate) struct Wording {
    /// The noun with its article: "a tool".
    pub(crate) noun: &'static str,
    pub(crate) called_by: &'static str,
    /// Reason for which it has no generic parameters.
    pub(crate) one: &'static str,
    /// Reason for which it needs no lifetimes.
    pub(crate) no_lifetimes: &'static str,
    /// The alternative to a method.
    pub(crate) without_self: &'static str,
    /// The alternative to a member of an `impl` block.
    pub(crate) without_impl: &'static str,
    /// The alternative to a function of a trait.
    pub(crate) without_trait: &'static str,
    /// The items of the fixed list that it takes.
    pub(crate) many: &'static str,
    /// The alternative to returning a borrowed value.
    pub(crate) owned: &'static str,
}

pub(crate) fn check(function: &Function, wording: &Wording, errors: &mut Errors) -> Flaws {
    let mut flaws = Flaws::default();
    check_body(function, wording, &mut flaws, errors);
    check_receiver(function, wording, &mut flaws, errors);
    check_self_type(function, wording, &mut flaws, errors);
    check_generics(function, wording, &mut flaws, errors);
    check_safety(function, wording, errors);
    check_variadic(function, wording, &mut flaws, errors);
    check_abi(function, wording, errors);
    check_const(function, wording, &mut flaws, errors);
    check_return(function, wording, &mut flaws, errors);
    flaws
}

/// Reports a function in an `impl` block or a trait, which can stand there without `self`.
pub(crate) fn check_place(function: &Function, wording: &Wording, flaws: &mut Flaws, errors: &mut Errors) {
    if flaws.associated {
        return;
    }
    let Some(block) = source::member_of(Span::call_site()) else { return };
    flaws.associated = true;
    let message = if block == "trait" {
        format!("{} cannot be a function of a trait; {}", wording.noun, wording.without_trait)
    } else {
        format!("{} cannot stand alone in an `impl` block; {}", wording.noun, wording.without_impl)
    };
    errors.push(Check::Receiver, &function.signature.ident, message);
}

fn check_body(function: &Function, wording: &Wording, flaws: &mut Flaws, errors: &mut Errors) {
    if function.body.is_none() {
        flaws.associated = true;
        // A method has more against it.
        if function.signature.inputs.iter().any(|input| matches!(input, FnArg::Receiver(_))) {
            return;
        }
        errors.push(
            Check::NoBody,
            &function.signature.ident,
            format!("{} needs a body; a trait only declares one", wording.noun),
        );
    }
}

fn check_receiver(function: &Function, wording: &Wording, flaws: &mut Flaws, errors: &mut Errors) {
    for input in &function.signature.inputs {
        if let FnArg::Receiver(receiver) = input {
            flaws.is_method = true;
            flaws.associated = true;
            let message = if function.body.is_none() {
                format!("a method of a trait cannot be {}; take the method of an `impl` block", wording.noun)
            } else {
                format!("{} takes no `self`; {}", wording.noun, wording.without_self)
            };
            errors.push(Check::Receiver, receiver, message);
        }
    }
}

/// Checks for `Self` outside of a method, where it is not a type.
fn check_self_type(function: &Function, wording: &Wording, flaws: &mut Flaws, errors: &mut Errors) {
    if flaws.associated {
        return;
    }
    let types = function.signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(&*typed.ty),
        FnArg::Receiver(_) => None,
    });
    let output = match &function.signature.output {
        ReturnType::Type(_, output) => Some(&**output),
        ReturnType::Default => None,
    };
    for ty in types.chain(output) {
        if let Some(span) = mentions_ident(&ty.to_token_stream(), "Self") {
            flaws.is_method = true;
            flaws.associated = true;
            errors.push_span(
                Check::SelfType,
                span,
                format!("{} is no method, so `Self` means nothing here; name the type", wording.noun),
            );
        }
    }
}

fn check_generics(function: &Function, wording: &Wording, flaws: &mut Flaws, errors: &mut Errors) {
    let generics = &function.signature.generics;
    let names = generics.params.iter().map(|param| match param {
        GenericParam::Type(param) => param.ident.to_string(),
        GenericParam::Const(param) => param.ident.to_string(),
        GenericParam::Lifetime(param) => param.lifetime.ident.to_string(),
    });
    flaws.generics.extend(names);
    let (place, what) = match (generics.params.first(), &generics.where_clause) {
        (Some(GenericParam::Lifetime(_)), _) => {
            (generics.params.to_token_stream(), format!("lifetimes; {}", wording.no_lifetimes))
        }
        (Some(_), _) => (generics.params.to_token_stream(), "generic parameters; name the types".to_owned()),
        (None, Some(clause)) => (clause.to_token_stream(), "`where` clause; name the types".to_owned()),
        (None, None) => return,
    };
    errors.push(Check::Generics, &place, format!("{} is {}, without {what}", wording.noun, wording.one));
}

fn check_safety(function: &Function, wording: &Wording, errors: &mut Errors) {
    // Variadic functions are by necessity: that is one mistake.
    if let (Safety::Unsafe(token), None) = (&function.signature.safety, &function.signature.variadic) {
        errors.push(
            Check::Unsafe,
            token,
            format!("{} is called by {} and cannot be `unsafe`", wording.noun, wording.called_by),
        );
    }
}

fn check_variadic(function: &Function, wording: &Wording, flaws: &mut Flaws, errors: &mut Errors) {
    if let Some(variadic) = &function.signature.variadic {
        flaws.needs_stub = true;
        errors.push(
            Check::Variadic,
            variadic,
            format!("{} has a fixed list of {}", wording.noun, wording.many),
        );
    }
}

fn check_abi(function: &Function, wording: &Wording, errors: &mut Errors) {
    // Here too.
    if let (Some(abi), None) = (&function.signature.abi, &function.signature.variadic) {
        errors.push(Check::Abi, abi, format!("{} is a plain Rust function, without `extern`", wording.noun));
    }
}

fn check_const(function: &Function, wording: &Wording, flaws: &mut Flaws, errors: &mut Errors) {
    if let Some(token) = &function.signature.constness {
        flaws.needs_stub |= function.signature.asyncness.is_some();
        errors.push(
            Check::Constness,
            token,
            format!("{} runs when it is called and cannot be `const`", wording.noun),
        );
    }
}

fn check_return(function: &Function, wording: &Wording, flaws: &mut Flaws, errors: &mut Errors) {
    let ReturnType::Type(_, output) = &function.signature.output else { return };
    let tokens = output.to_token_stream();
    let count = errors.count();
    check_returned(function, wording, output, flaws, errors);
    // With one lifetime among the parameters, the returned references have that.
    let elided: usize =
        function.signature.inputs.iter().map(|input| lifetimes(&input.to_token_stream())).sum();
    if errors.count() > count
        && (has_undeclared(&tokens, &flaws.generics) || borrow(&tokens).is_some() && elided != 1)
    {
        flaws.bad_lifetimes = true;
        flaws.needs_stub = true;
    }
}

fn check_returned(
    function: &Function,
    wording: &Wording,
    output: &Type,
    flaws: &mut Flaws,
    errors: &mut Errors,
) {
    let tokens = output.to_token_stream();
    if let Some(found) = misplaced_unsized(output) {
        flaws.bad_return = true;
        flaws.invalid_return = true;
        flaws.needs_stub = true;
        let fault = found.returned();
        errors.push(Check::ReturnBorrow, found.ty, fault);
    } else if let Some(result) = generic_result_of_a_call(output) {
        flaws.bad_return = true;
        flaws.invalid_return = true;
        flaws.needs_stub = true;
        let fault = "`ToolResult` is the result of a call, without type parameters";
        errors.push(Check::ReturnResult, output, sentence(fault, &format!("write `{result}`")));
    } else if let Some(span) = mentions_impl(&tokens) {
        flaws.bad_return = true;
        let advice = match tokens.to_string() {
            text if text.contains("Future") => "write an `async fn`",
            text if text.contains("Iterator") || text.contains("Stream") => {
                "collect it, and return a `Vec<T>`"
            }
            _ => "name the type",
        };
        errors.push_span(
            Check::ReturnImpl,
            span,
            format!("what {} returns must have a name; {advice}", wording.noun),
        );
    } else if let (Some(span), None) = (mentions_ident(&tokens, "Future"), &function.signature.asyncness) {
        flaws.bad_return = true;
        let message = format!("{} does not return its future; write an `async fn`", wording.noun);
        errors.push_span(Check::ReturnImpl, span, message);
    } else if is_generic(&tokens, &flaws.generics) {
        flaws.bad_return = true;
    } else if matches!(output, Type::Reference(_)) && borrow(&tokens).is_some() {
        flaws.bad_return = true;
        errors.push(
            Check::ReturnBorrow,
            output,
            format!("what {} returns must own its content; {}", wording.noun, wording.owned),
        );
    } else if let Some(span) = borrowed(&tokens) {
        flaws.bad_return = true;
        errors.push_span(
            Check::ReturnBorrow,
            span,
            format!(
                "what {} returns must own its content; {}",
                wording.noun,
                wording.owned.replace("return", "use")
            ),
        );
    }
}

/// Returns the `Result` to write instead of the runtime's `ToolResult` with type parameters, as an alias of `Result` has them.
fn generic_result_of_a_call(output: &Type) -> Option<String> {
    let Type::Path(path) = without_group(output) else { return None };
    let segment = last_segment(output).filter(|segment| segment.ident == "ToolResult")?;
    let mut parameters: Vec<String> = arguments(segment).into_iter().map(shown).collect();
    let first = path.path.segments.first()?;
    let is_own = match path.path.segments.len() {
        1 => source::takes_from_toolkit(first.ident.span(), "ToolResult"),
        _ => first.ident == "toolkit",
    };
    if parameters.len() == 1 {
        parameters.push("ToolError".to_owned());
    }
    (is_own && parameters.len() == 2).then(|| format!("Result<{}>", parameters.join(", ")))
}

fn is_generic(tokens: &TokenStream, generics: &[String]) -> bool {
    generics.iter().any(|name| mentions_ident(tokens, name).is_some())
        || named_lifetimes(tokens).iter().any(|(name, _)| generics.contains(name))
}

/// A reference or lifetime that is not `'static`.
fn borrowed(tokens: &TokenStream) -> Option<Span> {
    borrow(tokens).or_else(|| {
        named_lifetimes(tokens).into_iter().find(|(name, _)| name != "static").map(|(_, span)| span)
    })
}
