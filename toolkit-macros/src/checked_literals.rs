//! Checks of literals that need the type itself: the expansion makes the compiler run them.

use crate::check::{Check, is_disabled};
use crate::rules::{Default_, Kind, Literal, Rules};
use crate::type_form::{kind, last_segment, only_argument, respan};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Type};

/// Returns the checks of a literal default and example of a type that is known only to the compiler, or a list of such.
pub(crate) fn checks(ty: &Type, rules: &Rules) -> TokenStream {
    let default = match &rules.default {
        Some(Default_::Value(value, _)) => Some(("default", &**value)),
        _ => None,
    };
    let example = rules.example.as_ref().map(|value| ("example", value));
    default.into_iter().chain(example).map(|(key, value)| check(ty, key, value)).collect()
}

fn check(ty: &Type, key: &str, value: &Expr) -> TokenStream {
    match (Literal::of(value), only_argument(ty, "Vec"), value) {
        (Some(Literal::List(_)), Some(item), Expr::Array(list)) => {
            list.elems.iter().map(|value| check(item, key, value)).collect()
        }
        (Some(Literal::List(_)) | None, ..) => TokenStream::new(),
        (Some(literal), ..) => check_one(ty, key, value, &literal),
    }
}

fn check_one(ty: &Type, key: &str, value: &Expr, literal: &Literal) -> TokenStream {
    // Of these, the macro itself knows the literals.
    if kind(ty) != Kind::Unknown {
        return TokenStream::new();
    }
    let Some(segment) = last_segment(ty) else { return TokenStream::new() };
    let (literal, span, ty) = (literal.to_tokens(), value.span(), ty.to_token_stream());
    let name = segment.ident.to_string();
    let (check, call) = if name.ends_with("Duration") {
        let is_duration = respan(quote!(__toolkit::IsDuration::<#ty>::IS), span);
        let call = quote_spanned!(span=> __toolkit::check_duration(#is_duration, #key, #literal));
        (Check::DurationLiteral, quote!(use __toolkit::IsOther as _; #call))
    } else {
        let shape = respan(quote!(__toolkit::ShapeOf::<#ty>::SHAPE), span);
        let call = quote_spanned!(span=> __toolkit::check_literal(#shape, #key, #literal));
        (Check::VariantLiteral, quote!(use __toolkit::OtherShape as _; #call))
    };
    if is_disabled(check) { TokenStream::new() } else { quote!(const _: () = { #call };) }
}

/// Returns the checks that the keys of all maps in a type are strings in JSON.
pub(crate) fn key_checks(ty: &Type) -> TokenStream {
    let mut checks = TokenStream::new();
    let Some(segment) = last_segment(ty) else { return checks };
    let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return checks };
    let types: Vec<&Type> = arguments
        .args
        .iter()
        .filter_map(|argument| match argument {
            syn::GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
        .collect();
    let is_map = segment.ident == "HashMap" || segment.ident == "BTreeMap";
    if let (true, Some(key)) = (is_map, types.first())
        && last_segment(key).is_some_and(|segment| segment.ident != "String")
        && !is_disabled(Check::MapKey)
    {
        let span = key.span();
        let shape = respan(quote!(__toolkit::ShapeOf::<#key>::SHAPE), span);
        let call = quote_spanned!(span=> __toolkit::check_key(#shape));
        checks.extend(quote!(const _: () = { use __toolkit::OtherShape as _; #call };));
    }
    checks.extend(types.into_iter().map(key_checks));
    checks
}
