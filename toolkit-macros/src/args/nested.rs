//! Fields whose type may lack `#[toolkit::args]`.
//!
//! The derives mention the type of a field in many places, and the compiler reports each place in which it lacks a trait. So a
//! field whose type is one of the author's own is read, written and described by functions that compile with any type, and its
//! type is checked once.
//!
//! Serde's attributes for these functions are added after schemars has run: otherwise schemars would use them to write the
//! field's default, with code that needs serde as a dependency of the author's crate.

use super::{DERIVES, Helpers, derived, fields_of};
use crate::type_form::{last_segment, mentions_ident, option};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Field, Fields, GenericArgument, GenericParam, LitStr, Meta, PathArguments,
    Token, Type, Variant, parse_quote,
};

/// Types that have a type within, and are arguments if that is one.
const CONTAINERS: &[&str] = &[
    "Option",
    "Vec",
    "VecDeque",
    "LinkedList",
    "Box",
    "Rc",
    "Arc",
    "Cow",
    "HashMap",
    "BTreeMap",
    "HashSet",
    "BTreeSet",
    "BinaryHeap",
    "Reverse",
    "Saturating",
    "Wrapping",
];

/// Types of the language and `String`, which are arguments. All others are recognised by their traits, not by their names, which other types
/// may have as well.
const KNOWN: &[&str] = &[
    "bool", "char", "str", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "f32",
    "f64", "String",
];

/// Attributes of serde and schemars that change who reads a field, or a type as a whole.
const READ_ELSEWHERE: &[&str] = &[
    "with",
    "deserialize_with",
    "serialize_with",
    "schema_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "bound",
    "borrow",
    "getter",
    "remote",
    "from",
    "try_from",
    "into",
];

/// The form of a type, on which it depends how its fields are read.
pub(super) struct Form {
    /// The generic parameters, of which the functions of a type cannot know anything.
    generics: Vec<String>,
    /// The path of the type's functions.
    path: String,
    is_transparent: bool,
    /// True for an enum with its tag among the fields.
    is_tagged_within: bool,
}

/// Returns the form of a type if all derives come from the expansion and read its fields one by one, as far as its attributes tell.
pub(super) fn form(input: &DeriveInput) -> Option<Form> {
    if derived(&input.attrs).iter().any(|name| DERIVES.iter().any(|(derive, _)| name == derive)) {
        return None;
    }
    let variants = match &input.data {
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.attrs).collect(),
        _ => Vec::new(),
    };
    if input.attrs.iter().chain(variants).any(is_read_elsewhere) {
        return None;
    }
    let has = |word: &str| input.attrs.iter().any(|attribute| has_word(attribute, &[word]));
    let generics = input.generics.params.iter().map(|parameter| match parameter {
        GenericParam::Type(parameter) => parameter.ident.to_string(),
        GenericParam::Const(parameter) => parameter.ident.to_string(),
        GenericParam::Lifetime(parameter) => parameter.lifetime.ident.to_string(),
    });
    Some(Form {
        generics: generics.collect(),
        path: functions_path(input),
        is_transparent: has("transparent"),
        is_tagged_within: matches!(input.data, Data::Enum(_)) && has("tag") && !has("content"),
    })
}

/// Returns the path of a type's own functions.
pub(super) fn functions_path(input: &DeriveInput) -> String {
    let (name, (_, generics, _)) = (&input.ident, input.generics.split_for_impl());
    let generics = generics.as_turbofish();
    quote!(#name #generics).to_string().replace(' ', "")
}

/// Adds functions of the expansion that read and write the field, if its type is one of the author's own. Returns true if it
/// is.
pub(super) fn rewrite(
    field: &mut Field,
    place: usize,
    type_name: &Ident,
    form: &Form,
    helpers: &mut Helpers,
) -> bool {
    let mut own = Vec::new();
    add_own_types(&field.ty, type_name, &mut own);
    let tokens = field.ty.to_token_stream();
    let is_generic = form.generics.iter().any(|name| mentions_ident(&tokens, name).is_some());
    if own.is_empty() || is_generic || field.attrs.iter().any(is_read_elsewhere) {
        return false;
    }
    let is_flat = field.attrs.iter().any(|attribute| has_word(attribute, &["flatten"]));
    // Whether such a type is optional is known from the type itself.
    if (is_flat || form.is_transparent) && option(&field.ty).is_some() {
        return false;
    }
    // The fields of these become fields of the type, so that a reference to their schema is of no use.
    let describe = if is_flat || form.is_tagged_within && field.ident.is_none() {
        format_ident!("schema_itself")
    } else {
        format_ident!("schema")
    };
    for ty in own {
        let span = ty.span();
        let check = quote_spanned!(span=> __toolkit::field::<#ty>());
        // The item has no place: at that of the type, the compiler would propose a type parameter for an unknown one.
        helpers.checks.extend(quote!(const _: () = #check;));
    }
    let toolkit = &helpers.toolkit;
    let private = quote!(#toolkit::__private);
    let ty = &field.ty;
    let [read, write, schema] =
        ["read", "write", "schema"].map(|what| format_ident!("__toolkit_{what}_{place}"));
    helpers.functions.extend(quote! {
        fn #read<'de, D: #private::serde::Deserializer<'de>>(from: D) -> #private::Result<#ty, D::Error> {
            use #private::{FieldType as _, OtherType as _};
            (&#private::FieldOf::<#ty>::NEW).read(from)
        }
        fn #write<S: #private::serde::Serializer>(value: &#ty, to: S) -> #private::Result<S::Ok, S::Error> {
            use #private::{FieldType as _, OtherType as _};
            (&#private::FieldOf::<#ty>::NEW).write(value, to)
        }
        fn #schema(generator: &mut #private::schemars::SchemaGenerator) -> #private::schemars::Schema {
            use #private::{FieldType as _, OtherType as _};
            (&#private::FieldOf::<#ty>::NEW).#describe(generator)
        }
    });
    let [read, write, schema] = [read, write, schema].map(|function| format!("{}::{function}", form.path));
    // Serde takes an `Option` for optional only where it reads it itself.
    let has_default = field.attrs.iter().any(|attribute| has_word(attribute, &["default"]));
    let default = (option(ty).is_some() && !has_default).then(|| quote!(#[serde(default)]));
    let attributes = quote! {
        #[toolkit_read(#read, #write)]
        #[schemars(schema_with = #schema)]
        #default
    };
    let attributes = syn::parse::Parser::parse2(Attribute::parse_outer, attributes);
    field.attrs.extend(attributes.expect("the attributes are written above"));
    true
}

/// `#[read_fields([::toolkit])]`: adds the derives of serde to a type whose fields have `#[toolkit_read(..)]`, which names the
/// functions that read and write them.
pub(crate) fn read_fields(toolkit: &TokenStream, item: TokenStream) -> TokenStream {
    let Ok(mut input) = syn::parse2::<DeriveInput>(item.clone()) else { return item };
    // Schemars has read its attributes, which are unknown to the compiler now.
    let is_read = |attribute: &Attribute| attribute.path().is_ident("schemars");
    input.attrs.retain(|attribute| !is_read(attribute));
    if let Data::Enum(data) = &mut input.data {
        data.variants.iter_mut().for_each(|variant| variant.attrs.retain(|attribute| !is_read(attribute)));
    }
    for (_, field) in fields_of(&mut input.data) {
        field.attrs.retain(|attribute| !is_read(attribute));
        for attribute in &mut field.attrs {
            if let (true, Ok(functions)) = (
                attribute.path().is_ident("toolkit_read"),
                attribute.parse_args_with(Punctuated::<LitStr, Token![,]>::parse_terminated),
            ) {
                let mut functions = functions.iter();
                let (read, write) = (functions.next(), functions.next());
                *attribute = parse_quote!(#[serde(deserialize_with = #read, serialize_with = #write)]);
            }
        }
    }
    if input.attrs.iter().any(|attribute| has_word(attribute, &["content"]))
        && let Data::Enum(data) = &mut input.data
    {
        data.variants.iter_mut().for_each(read_by_variant);
    }
    let toolkit: TokenStream = toolkit
        .clone()
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Group(group) => group.stream(),
            other => other.into(),
        })
        .collect();
    quote! {
        #[derive(#toolkit::__private::serde::Deserialize, #toolkit::__private::serde::Serialize)]
        #input
    }
}

/// Moves the functions of the only field of a variant to the variant: for a variant with a tag beside its content, serde uses the traits of
/// the field's type as well.
fn read_by_variant(variant: &mut Variant) {
    let Fields::Unnamed(fields) = &mut variant.fields else { return };
    let mut fields = fields.unnamed.iter_mut();
    // An option without content is `None`, which serde knows from the type.
    if let (Some(field), None) = (fields.next(), fields.next())
        && option(&field.ty).is_none()
    {
        let functions = field.attrs.extract_if(.., |attribute| has_word(attribute, &["deserialize_with"]));
        variant.attrs.extend(functions);
    }
}

/// Adds the types within a type that may lack `#[toolkit::args]`: named types that are not among the usual ones.
fn add_own_types<'a>(ty: &'a Type, type_name: &Ident, own: &mut Vec<&'a Type>) {
    match ty {
        Type::Array(array) => add_own_types(&array.elem, type_name, own),
        Type::Group(group) => add_own_types(&group.elem, type_name, own),
        Type::Paren(paren) => add_own_types(&paren.elem, type_name, own),
        Type::Tuple(tuple) => tuple.elems.iter().for_each(|ty| add_own_types(ty, type_name, own)),
        Type::Path(_) => {
            let Some(segment) = last_segment(ty) else { return };
            let is_one_of = |names: &[&str]| names.iter().any(|name| segment.ident == name);
            match &segment.arguments {
                PathArguments::AngleBracketed(arguments) if is_one_of(CONTAINERS) => {
                    let types = arguments.args.iter().filter_map(|argument| match argument {
                        GenericArgument::Type(ty) => Some(ty),
                        _ => None,
                    });
                    // Only the compiler knows whether a trait's objects can be read.
                    if types.clone().any(|ty| matches!(ty, Type::TraitObject(_))) {
                        own.push(ty);
                        return;
                    }
                    // The third one of a map is how it hashes.
                    types.take(2).for_each(|ty| add_own_types(ty, type_name, own));
                }
                // A recursive type has the attribute, since it is on this item.
                _ if is_one_of(KNOWN) || mentions_self(ty, type_name) => {}
                _ => own.push(ty),
            }
        }
        _ => {}
    }
}

fn mentions_self(ty: &Type, type_name: &Ident) -> bool {
    let tokens = ty.to_token_stream();
    mentions_ident(&tokens, "Self").is_some() || mentions_ident(&tokens, &type_name.to_string()).is_some()
}

pub(super) fn is_read_elsewhere(attribute: &Attribute) -> bool {
    has_word(attribute, READ_ELSEWHERE)
}

/// Returns true if an attribute of serde or schemars has one of these keys.
fn has_word(attribute: &Attribute, words: &[&str]) -> bool {
    let is_theirs = attribute.path().is_ident("serde") || attribute.path().is_ident("schemars");
    match &attribute.meta {
        Meta::List(list) if is_theirs => list
            .tokens
            .clone()
            .into_iter()
            .any(|token: TokenTree| matches!(&token, TokenTree::Ident(ident) if words.iter().any(|word| ident == word))),
        _ => false,
    }
}
