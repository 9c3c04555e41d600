//! Attributes of serde on the fields and variants of an argument type, as far as they meet those of this crate.

use crate::check::{Check, Errors};
use crate::rules::{Kind, Rules};
use crate::type_form::{kind, without_group};
use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Field, Lit, LitStr, Meta, Path, Token, Type, Variant, parse_quote};

/// Reads the attributes of serde on a field: an alias becomes one of the argument, and a key that `#[arg]` has as well is an error.
pub(super) fn of_field(field: &mut Field, rules: &mut Rules, errors: &mut Errors) {
    for meta in all_metas(&field.attrs, "schemars") {
        let key = ["range", "length", "regex"].into_iter().find(|key| meta.path().is_ident(key));
        if let Some(key) = key.filter(|_| !rules.constraints.is_empty()) {
            let message =
                format!("`{key}` is given by schemars beside a rule of `#[arg]`\nkeep the one of `#[arg]`");
            errors.push_span(Check::SerdeTwice, meta.path().span(), message);
        }
    }
    for meta in metas(&field.attrs) {
        let span = meta.path().span();
        if meta.path().is_ident("with") && !names_form(field) {
            let message = "`with` reads and writes another form, which the schema has to show\nadd it as a type, for instance `#[schemars(with = \"String\")]`";
            errors.push_span(Check::SerdeWith, span, message);
            // Otherwise schemars takes serde's functions for a type, which is an error of its own.
            field.attrs.push(parse_quote!(#[schemars(with = "bool")]));
        } else if meta.path().is_ident("default") && rules.default.is_some() {
            twice(span, "default", "it shows the default to the model, too", errors);
        } else if meta.path().is_ident("rename") && rules.rename.is_some() {
            twice(span, "rename", "it checks the name, too", errors);
        } else if meta.path().is_ident("alias")
            && let Some(alias) = text(&meta)
        {
            rules.aliases.push(alias);
        }
    }
}

/// Takes `default` without a value out of the attributes of serde, and returns its place: the function of the expansion that makes the
/// default of a type reports a type without one once.
pub(super) fn take_default(attributes: &mut Vec<Attribute>) -> Option<Span> {
    let mut found = None;
    attributes.retain_mut(|attribute| {
        let keys = metas(std::slice::from_ref(attribute));
        let Some(key) = keys.iter().find(|key| matches!(key, Meta::Path(path) if path.is_ident("default")))
        else {
            return true;
        };
        found = Some(key.span());
        let kept: Punctuated<&Meta, Token![,]> =
            keys.iter().filter(|key| !matches!(key, Meta::Path(path) if path.is_ident("default"))).collect();
        if !kept.is_empty() {
            *attribute = parse_quote!(#[serde(#kept)]);
        }
        !kept.is_empty()
    });
    found
}

/// Returns true if schemars is told the form of a field.
fn names_form(field: &Field) -> bool {
    let all = all_metas(&field.attrs, "schemars");
    all.iter().any(|meta| meta.path().is_ident("with") || meta.path().is_ident("schema_with"))
}

fn twice(span: Span, key: &str, why: &str, errors: &mut Errors) {
    let message = format!("`{key}` is given by serde and by `#[arg]`\nkeep the one of `#[arg]`: {why}");
    errors.push_span(Check::SerdeTwice, span, message);
}

/// Reports a variant that serde cannot read: with the tag among its fields, a variant holds an object.
pub(super) fn of_tagged_variant(input: &[Attribute], variant: &Variant, errors: &mut Errors) {
    let keys = metas(input);
    let has = |key: &str| keys.iter().any(|meta| meta.path().is_ident(key));
    let mut fields = variant.fields.iter();
    let (Some(field), None) = (fields.next(), fields.next()) else { return };
    let is_object = match without_group(&field.ty) {
        Type::Tuple(_) | Type::Array(_) => false,
        ty => kind(ty) == Kind::Unknown,
    };
    if has("tag") && !has("content") && field.ident.is_none() && !is_object {
        let message = format!(
            "the fields of a variant stand beside its tag, so that it needs names for them\nwrite `{} {{ value: … }}`, or add `content = \"value\"` to the tag",
            variant.ident
        );
        errors.push(Check::TaggedVariant, &field.ty, message);
    }
}

/// Returns true if a field is not read, and has no value of its own then.
pub(super) fn is_skipped(field: &Field) -> bool {
    let keys = metas(&field.attrs);
    let has = |key: &str| keys.iter().any(|meta| meta.path().is_ident(key));
    (has("skip") || has("skip_deserializing")) && !has("default")
}

/// Reports `#[arg]` on a variant.
pub(super) fn take_arg(variant: &mut Variant, errors: &mut Errors) {
    variant.attrs.retain(|attribute| {
        let is_arg = attribute.path().is_ident("arg");
        if is_arg {
            let message =
                "`#[arg]` goes on a field\na variant gets another name by `#[serde(rename = \"name\")]`";
            errors.push(Check::ArgOnVariant, attribute, message);
        }
        !is_arg
    });
}

/// Reports the attributes of serde on a variant that have no effect, because arguments are checked by their schema first.
pub(super) fn of_variant(variant: &Variant, errors: &mut Errors) {
    for meta in metas(&variant.attrs) {
        let (key, advice) = if meta.path().is_ident("alias") {
            ("alias", "a call with another name of a variant is refused; remove it, or add a variant")
        } else if meta.path().is_ident("other") {
            ("other", "a call with another value is refused; remove it, or take a `String`")
        } else {
            continue;
        };
        let message = format!("`{key}` has no effect, because the schema lists the variants\n{advice}");
        errors.push_span(Check::SerdeWithoutEffect, meta.path().span(), message);
    }
}

/// Reports and removes the attributes of serde and schemars that stand above `#[toolkit::args]`, where nothing gives them a meaning. The
/// compiler reports them as well, without the way out.
pub(super) fn take_above(attributes: &mut Vec<Attribute>, errors: &mut Errors) {
    attributes.retain(|attribute| {
        let name = ["serde", "schemars"].into_iter().find(|name| attribute.path().is_ident(name));
        let above = name.filter(|_| is_above(attribute.span()));
        if let Some(name) = above {
            let message = format!("put `#[{name}(..)]` below `#[toolkit::args]`, which brings its derives");
            errors.push(Check::Syntax, attribute, message);
        }
        above.is_none()
    });
}

/// Returns true if a span ends just above the attribute macro. A fragment of a `macro_rules!` can come from any other place.
fn is_above(span: Span) -> bool {
    // Within a unit test there is no compiler that knows.
    if !proc_macro::is_available() {
        return false;
    }
    let (end, macro_start) = (span.unwrap().end(), Span::call_site().unwrap().start());
    let is_before = (end.line(), end.column()) <= (macro_start.line(), macro_start.column());
    is_before && macro_start.line() - end.line() <= 2 && end.file() == macro_start.file()
}

/// Removes the derives of serde and schemars that the expansion adds itself, so that it can choose how fields are read.
pub(super) fn take_derives(attributes: &mut Vec<Attribute>) {
    attributes.retain_mut(|attribute| {
        if !attribute.path().is_ident("derive") {
            return true;
        }
        let parse = Punctuated::<Path, Token![,]>::parse_terminated;
        let Ok(paths) = attribute.parse_args_with(parse) else { return true };
        let kept: Punctuated<Path, Token![,]> =
            paths.iter().filter(|path| !is_own_derive(path)).cloned().collect();
        if kept.len() < paths.len() {
            *attribute = parse_quote!(#[derive(#kept)]);
        }
        !kept.is_empty()
    });
}

fn is_own_derive(path: &Path) -> bool {
    let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    matches!(
        names.as_slice(),
        ["Deserialize" | "Serialize" | "JsonSchema"]
            | ["serde", "Deserialize" | "Serialize"]
            | ["schemars", "JsonSchema"]
    )
}

/// The keys of all `#[serde(..)]`.
fn metas(attributes: &[Attribute]) -> Vec<Meta> {
    all_metas(attributes, "serde")
}

fn all_metas(attributes: &[Attribute], name: &str) -> Vec<Meta> {
    let own = attributes.iter().filter(|attribute| attribute.path().is_ident(name));
    let lists = own.filter_map(|attribute| {
        attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()
    });
    lists.flatten().collect()
}

fn text(meta: &Meta) -> Option<LitStr> {
    let Meta::NameValue(meta) = meta else { return None };
    match &meta.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        _ => None,
    }
}
