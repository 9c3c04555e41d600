//! Attributes of other crates on a parameter or a field, and the `#[arg(..)]` that does the same.

use super::written::{as_range, sentence, shown};
use super::{ARG, Given, NestedMeta, fits, foreign, name_of, nearest, without_group};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Path};

/// A key that is read as one of `#[arg(..)]`.
enum Translated {
    Key(String),
    /// An end of `range` or `length`: the key, the lower or the upper end, and the value.
    End(&'static str, bool, String),
}

/// Returns the message for an unknown attribute on `what`, such as "a parameter", which takes the attributes in `takes`.
pub(crate) fn unknown_attribute(
    attribute: &Attribute,
    what: &str,
    takes: &[&'static str],
    rest: &'static str,
) -> String {
    let name = name_of(attribute.path());
    let fault = format!("unknown attribute `{name}` on {what}");
    if let Some(near) = nearest(&name, takes.iter().copied()) {
        return format!("{fault}; did you mean `{near}`?");
    }
    let own = match attribute.meta.clone() {
        Meta::Path(path) => (path, Given::Flag),
        Meta::NameValue(meta) => (meta.path, Given::Value(without_group(&meta.value).clone())),
        Meta::List(meta) => (meta.path, Given::List(meta.tokens)),
    };
    // `#[default(5)]`, or else the keys in `#[serde(default)]`.
    let keys = if ARG.iter().any(|key| key.name == name) { vec![own] } else { keys_of(&attribute.meta) };
    let advice = match translated(&name, &keys) {
        Some(arg) => format!("write `#[arg({arg})]`"),
        None => keys
            .iter()
            .find_map(|(path, _)| foreign::advice("arg", &name_of(path)))
            .or_else(|| foreign::advice("arg", &name))
            .unwrap_or(rest)
            .to_owned(),
    };
    sentence(&fault, &advice)
}

/// Returns the keys in an attribute's list.
fn keys_of(meta: &Meta) -> Vec<(Path, Given)> {
    let Meta::List(list) = meta else { return Vec::new() };
    let metas = NestedMeta::parse_meta_list(list.tokens.clone()).unwrap_or_default();
    metas
        .into_iter()
        .filter_map(|meta| match meta {
            NestedMeta::Meta(Meta::Path(path)) => Some((path, Given::Flag)),
            NestedMeta::Meta(Meta::NameValue(meta)) => Some((meta.path, Given::Value(meta.value))),
            NestedMeta::Meta(Meta::List(meta)) => Some((meta.path, Given::List(meta.tokens))),
            _ => None,
        })
        .collect()
}

/// Returns the content of the `#[arg(..)]` that says the same as all keys of an attribute.
fn translated(attribute: &str, keys: &[(Path, Given)]) -> Option<String> {
    let (mut content, mut ends) = (Vec::new(), Vec::new());
    for (path, given) in keys {
        match one(attribute, &name_of(path), given) {
            Some(Translated::Key(key)) => content.push(key),
            Some(Translated::End(key, is_upper, value)) => ends.push((key, is_upper, value)),
            // Options of a command line are made without it.
            None if ["long", "short"].iter().any(|key| path.is_ident(key)) => {}
            None => return None,
        }
    }
    for key in ["range", "length"] {
        let end = |upper: bool| {
            let found = ends.iter().find(|(of, is_upper, _)| *of == key && *is_upper == upper);
            found.map(|(_, _, value)| value.as_str()).unwrap_or_default()
        };
        let (least, greatest) = (end(false), end(true));
        if !least.is_empty() || !greatest.is_empty() {
            let dots = if greatest.is_empty() { ".." } else { "..=" };
            content.push(format!("{key}({least}{dots}{greatest})"));
        }
    }
    (!content.is_empty()).then(|| content.join(", "))
}

fn one(attribute: &str, key: &str, given: &Given) -> Option<Translated> {
    let value = match given {
        Given::Value(value) => shown(&value.to_token_stream()),
        Given::List(list) => shown(list),
        Given::Flag => None,
    };
    let end = |key: &'static str, is_upper: bool| Some(Translated::End(key, is_upper, value.clone()?));
    let key = match (key, given) {
        // Serde names a function.
        ("default", Given::Value(Expr::Lit(ExprLit { lit: Lit::Str(path), .. }))) if attribute == "serde" => {
            format!("default = {}()", path.value())
        }
        ("default_value" | "default_value_t", Given::Value(_)) => format!("default = {}", value?),
        ("range" | "length", Given::List(list)) => format!("{key}({})", as_range(list).or(value)?),
        ("regex" | "pattern", given) => format!("pattern = {}", pattern(given)?),
        ("min" | "minimum" | "ge" | "gte", Given::Value(_)) => return end("range", false),
        ("max" | "maximum" | "le" | "lte", Given::Value(_)) => return end("range", true),
        ("min_length" | "min_items", Given::Value(_)) => return end("length", false),
        ("max_length" | "max_items", Given::Value(_)) => return end("length", true),
        _ => {
            let known = ARG.iter().find(|known| known.name == key)?;
            match given {
                given if !fits(known.form, given) => super::written::rewritten(known, given),
                Given::Flag => key.to_owned(),
                Given::Value(_) => format!("{key} = {}", value?),
                Given::List(_) => format!("{key}({})", value?),
            }
        }
    };
    Some(Translated::Key(key))
}

/// Returns the literal in `regex = "…"`, `regex("…")` or `regex(pattern = "…")`.
fn pattern(given: &Given) -> Option<String> {
    let of = |value: &TokenStream| shown(value).filter(|value| value.starts_with(['"', 'r']));
    match given {
        Given::Value(value) => of(&value.to_token_stream()),
        Given::List(list) => of(list).or_else(|| {
            let metas = NestedMeta::parse_meta_list(list.clone()).ok()?;
            match metas.first()? {
                NestedMeta::Meta(Meta::NameValue(meta)) => of(&meta.value.to_token_stream()),
                _ => None,
            }
        }),
        Given::Flag => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn attributes_of_other_crates() {
        let cases: [(Attribute, &str); 16] = [
            (parse_quote!(#[serde(default, rename = "a")]), "write `#[arg(default, rename = \"a\")]`"),
            (parse_quote!(#[serde(default = "five")]), "write `#[arg(default = five())]`"),
            (
                parse_quote!(#[serde(flatten)]),
                "take all arguments as one struct, with `#[args]`\na field of the struct takes `#[serde(flatten)]`",
            ),
            (parse_quote!(#[schemars(range(min = 1, max = 5))]), "write `#[arg(range(1..=5))]`"),
            (parse_quote!(#[schemars(regex(pattern = "^a$"))]), "write `#[arg(pattern = \"^a$\")]`"),
            (parse_quote!(#[schemars(description = "x")]), "write a doc comment above it, `/// …`"),
            (parse_quote!(#[validate(length(min = 1))]), "write `#[arg(length(1..))]`"),
            (parse_quote!(#[garde(range(max = 5))]), "write `#[arg(range(..=5))]`"),
            (parse_quote!(#[schema(minimum = 1, maximum = 5)]), "write `#[arg(range(1..=5))]`"),
            (
                parse_quote!(#[schema(max_length = 5, example = "a")]),
                "write `#[arg(example = \"a\", length(..=5))]`",
            ),
            (parse_quote!(#[clap(long, default_value = "a")]), "write `#[arg(default = \"a\")]`"),
            (parse_quote!(#[default]), "write `#[arg(default)]`"),
            (parse_quote!(#[default(5)]), "write `#[arg(default = 5)]`"),
            (parse_quote!(#[range(min = 1)]), "write `#[arg(range(1..))]`"),
            (parse_quote!(#[description = "x"]), "write a doc comment above it, `/// …`"),
            (parse_quote!(#[llm(x)]), "rest"),
        ];
        for (attribute, advice) in cases {
            let message = unknown_attribute(&attribute, "a parameter", &["arg", "args"], "rest");
            let shown = attribute.to_token_stream().to_string();
            assert!(message.ends_with(advice), "{shown}: {message}");
        }
    }
}
