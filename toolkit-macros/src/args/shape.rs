//! The shape of an argument type in JSON, as far as its attributes tell: what checks at compile time know of it.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Expr, ExprLit, Fields, Lit, Meta, Token};

/// Returns the constant of `ArgsType`.
pub(super) fn shape(input: &DeriveInput, private: &TokenStream) -> TokenStream {
    let shape = if is_read_otherwise(&input.attrs) { None } else { of_data(input) };
    let shape = shape.unwrap_or_else(|| quote!(Other));
    quote!(const SHAPE: #private::ArgsShape = #private::ArgsShape::#shape;)
}

fn of_data(input: &DeriveInput) -> Option<TokenStream> {
    match &input.data {
        Data::Struct(data) => Some(match &data.fields {
            Fields::Named(_) => quote!(Fields),
            Fields::Unnamed(fields) if fields.unnamed.len() > 1 => quote!(Tuple),
            // It is read as the type within.
            Fields::Unnamed(_) => return None,
            Fields::Unit => quote!(Unit),
        }),
        Data::Enum(data) => {
            let rule = renaming(&input.attrs)?;
            let mut names = Vec::new();
            for variant in &data.variants {
                if !variant.fields.is_empty() {
                    return None;
                }
                let name = variant.ident.unraw().to_string();
                names.push(match own_name(&variant.attrs)? {
                    Some(own) => own,
                    None => renamed(&name, rule.as_deref())?,
                });
            }
            Some(quote!(Names(&[#(#names),*])))
        }
        Data::Union(_) => None,
    }
}

/// Returns true if a type is not read as it is written.
fn is_read_otherwise(attributes: &[Attribute]) -> bool {
    const OTHERS: [&str; 8] =
        ["from", "try_from", "transparent", "untagged", "tag", "remote", "with", "schema_with"];
    attributes.iter().filter(|attribute| is_theirs(attribute)).any(|attribute| match &attribute.meta {
        Meta::List(list) => list.tokens.clone().into_iter().any(
            |token| matches!(&token, TokenTree::Ident(ident) if OTHERS.iter().any(|other| ident == other)),
        ),
        _ => true,
    })
}

fn is_theirs(attribute: &Attribute) -> bool {
    attribute.path().is_ident("serde") || attribute.path().is_ident("schemars")
}

/// Returns the rule that gives variants their names, or `None` if it cannot be told.
#[expect(clippy::option_option, reason = "an unknown rule is not the same as no rule")]
fn renaming(attributes: &[Attribute]) -> Option<Option<String>> {
    text_of(attributes, "rename_all")
}

/// Returns the name that a variant is given, or `None` if it cannot be told.
#[expect(clippy::option_option, reason = "an unknown name is not the same as no name")]
fn own_name(attributes: &[Attribute]) -> Option<Option<String>> {
    let is_skipped = |meta: &Meta| {
        ["skip", "skip_deserializing", "with", "deserialize_with", "alias", "other"]
            .iter()
            .any(|key| meta.path().is_ident(key))
    };
    if metas(attributes)?.iter().any(is_skipped) {
        return None;
    }
    text_of(attributes, "rename")
}

#[expect(clippy::option_option, reason = "an unknown value is not the same as none")]
fn text_of(attributes: &[Attribute], key: &str) -> Option<Option<String>> {
    let metas = metas(attributes)?;
    let mut found = None;
    for meta in metas.iter().filter(|meta| meta.path().is_ident(key)) {
        let Meta::NameValue(value) = meta else { return None };
        let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &value.value else { return None };
        found = Some(text.value());
    }
    Some(found)
}

fn metas(attributes: &[Attribute]) -> Option<Vec<Meta>> {
    let mut all = Vec::new();
    for attribute in attributes.iter().filter(|attribute| is_theirs(attribute)) {
        let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
        all.extend(attribute.parse_args_with(parse).ok()?);
    }
    Some(all)
}

/// Returns a variant's name by a rule of serde; `None` for an unknown rule.
fn renamed(name: &str, rule: Option<&str>) -> Option<String> {
    let words = || {
        let mut words = String::new();
        for (place, c) in name.char_indices() {
            if place > 0 && c.is_uppercase() {
                words.push('_');
            }
            words.push(c.to_ascii_lowercase());
        }
        words
    };
    Some(match rule {
        None | Some("PascalCase") => name.to_owned(),
        Some("lowercase") => name.to_ascii_lowercase(),
        Some("UPPERCASE") => name.to_ascii_uppercase(),
        Some("camelCase") => name.get(..1)?.to_ascii_lowercase() + &name[1..],
        Some("snake_case") => words(),
        Some("SCREAMING_SNAKE_CASE") => words().to_ascii_uppercase(),
        Some("kebab-case") => words().replace('_', "-"),
        Some("SCREAMING-KEBAB-CASE") => words().to_ascii_uppercase().replace('_', "-"),
        Some(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        let private = quote!(p);
        for (input, expected) in [
            ("struct A { a: u8 }", "Fields"),
            ("struct A(u8, u8);", "Tuple"),
            ("struct A(u8);", "Other"),
            ("struct A;", "Unit"),
            ("#[serde(try_from = \"String\")] struct A { a: u8 }", "Other"),
            ("enum A { One, r#Two }", "Names (& [\"One\" , \"Two\"])"),
            (
                "#[serde(rename_all = \"snake_case\")] enum A { OneTwo, #[serde(rename = \"3\")] Three }",
                "Names (& [\"one_two\" , \"3\"])",
            ),
            ("#[serde(rename_all = \"SCREAMING-KEBAB-CASE\")] enum A { OneTwo }", "Names (& [\"ONE-TWO\"])"),
            ("#[serde(rename_all = \"camelCase\")] enum A { OneTwo }", "Names (& [\"oneTwo\"])"),
            ("#[serde(rename_all(serialize = \"camelCase\"))] enum A { OneTwo }", "Other"),
            ("enum A { One, #[serde(skip)] Two }", "Other"),
            ("enum A { One, Two(u8) }", "Other"),
            ("#[serde(untagged)] enum A { One }", "Other"),
        ] {
            let parsed: DeriveInput = syn::parse_str(input).unwrap();
            let told = shape(&parsed, &private).to_string();
            assert_eq!(
                told,
                format!("const SHAPE : p :: ArgsShape = p :: ArgsShape :: {expected} ;"),
                "{input}"
            );
        }
    }
}
