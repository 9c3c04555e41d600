//! Types of fields that no argument can have.

use super::nested::is_read_elsewhere;
use crate::check::{Check, Errors};
use crate::type_form::{
    WIDE_INTEGER, last_segment, mentions_impl, named_lifetimes, reference, wide_integer, without_group,
};
use crate::type_repair::{arguments, misplaced_unsized, shown, with_static};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Data, Field, Type, parse_quote};

/// Reports a type that no field of an argument type can have. Returns the type to put in its place, if rustc reports it as well.
pub(super) fn check(field: &Field, has_lifetimes: bool, errors: &mut Errors) -> Option<Type> {
    let tokens = field.ty.to_token_stream();
    if let Some(span) = wide_integer(&tokens) {
        errors.push_span(Check::WideInteger, span, WIDE_INTEGER);
        return None;
    }
    if let Some(span) = mentions_impl(&tokens) {
        let message = "an argument needs a type with a name; `impl Trait` has none";
        errors.push_span(Check::ImplTrait, span, message);
        return Some(parse_quote!(()));
    }
    if let Some(span) = reference(&tokens).filter(|_| !has_lifetimes) {
        let message = "an argument type owns its content; use a `String` or a `Vec`";
        errors.push_span(Check::Reference, span, message);
        // A function that uses the field compiles.
        return syn::parse2(with_static(tokens, &[])).ok();
    }
    if field.attrs.iter().any(is_read_elsewhere) {
        return None;
    }
    // The last field of a struct can be unsized, but no value can be read into it.
    let found = misplaced_unsized(&field.ty)?;
    let check = if found.owned.is_some() { Check::Reference } else { Check::TraitObject };
    errors.push(check, found.ty, found.message(false));
    // The type is still used, so that its import is.
    let ty = found.ty;
    Some(parse_quote!(::core::marker::PhantomData<#ty>))
}

/// Returns the owned type to write for each type that borrows in a field: "`String` for `&'a str`".
pub(super) fn owned_types(data: &Data) -> Vec<String> {
    let fields: Vec<&Field> = match data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    let mut found: Vec<String> = Vec::new();
    for field in fields {
        let Some((borrowed, owned)) = borrowed(&field.ty) else { continue };
        let advice = format!("`{owned}` for `{}`", shown(borrowed));
        if !found.contains(&advice) {
            found.push(advice);
        }
    }
    found
}

/// Returns the first type that borrows within a type, and the owned one.
fn borrowed(ty: &Type) -> Option<(&Type, String)> {
    let ty = without_group(ty);
    if let Type::Reference(reference) = ty {
        return Some((ty, owned(&reference.elem)));
    }
    let segment = last_segment(ty)?;
    let arguments = arguments(segment);
    match arguments.first() {
        Some(inner) if segment.ident == "Cow" => Some((ty, owned(inner))),
        _ => arguments.into_iter().find_map(borrowed),
    }
}

/// Returns the owned form of a type behind a reference.
fn owned(ty: &Type) -> String {
    let ty = without_group(ty);
    if let Type::Slice(slice) = ty {
        return format!("Vec<{}>", owned(&slice.elem));
    }
    if let Type::Reference(reference) = ty {
        return owned(&reference.elem);
    }
    match last_segment(ty).map(|segment| segment.ident.to_string()).as_deref() {
        Some("str") => "String".to_owned(),
        Some("Path") => "PathBuf".to_owned(),
        _ => shown(ty),
    }
}

/// Makes the derives skip a field of a refused type that borrows, since their errors would repeat that of the type.
pub(super) fn leave_unread(field: &mut Field, toolkit: &TokenStream) {
    let tokens = field.ty.to_token_stream();
    if reference(&tokens).is_none() && named_lifetimes(&tokens).is_empty() {
        return;
    }
    field.attrs.retain(|attribute| !is_of_derive(attribute));
    let path = format!("{}::__private::unread", toolkit.to_string().replace(' ', ""));
    field.attrs.push(parse_quote!(#[serde(skip, default = #path)]));
}

fn is_of_derive(attribute: &Attribute) -> bool {
    ["serde", "schemars"].iter().any(|name| attribute.path().is_ident(name))
}
