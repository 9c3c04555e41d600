//! Doc comments: the part that a model reads, and the section that rustdoc gains.

use crate::keys::{Text, without_group};
use proc_macro2::{Ident, Span};
use quote::{quote, quote_spanned};
use std::path::Path;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, parse_quote};

/// A line of a doc comment, or an expression that only the compiler can evaluate, as in `#[doc = include_str!("…")]`.
enum Part {
    Line(String),
    Expression(Expr),
}

/// Returns the text of doc comments, without the indentation that their lines share.
pub(crate) fn text(attributes: &[Attribute]) -> Text {
    text_of(attributes, str::to_owned, "trimmed")
}

/// Returns a doc comment up to its first heading: the text after it is for people.
pub(crate) fn description(attributes: &[Attribute]) -> Text {
    text_of(attributes, until_heading, "until_heading")
}

/// Cuts the text with `cut`, or has the compiler cut it with the function `later` of the runtime, if an attribute has an expression.
fn text_of(attributes: &[Attribute], cut: impl Fn(&str) -> String, later: &str) -> Text {
    let parts = parts(attributes);
    let Some(expression) = parts.iter().find_map(|part| match part {
        Part::Expression(expression) => Some(expression),
        Part::Line(_) => None,
    }) else {
        let lines: Vec<&str> = parts.iter().filter_map(Part::line).collect();
        return Text::Literal(LitStr::new(&cut(lines.join("\n").trim()), Span::call_site()));
    };
    let span = expression.span();
    let texts = parts.iter().map(|part| match part {
        Part::Line(line) => quote!(#line, "\n"),
        Part::Expression(expression) => quote!(#expression, "\n"),
    });
    let later = Ident::new(later, span);
    let call = quote_spanned!(span=> __toolkit::#later(::core::concat!(#(#texts),*)));
    Text::Expression(parse_quote!(#call))
}

fn parts(attributes: &[Attribute]) -> Vec<Part> {
    let mut parts = Vec::new();
    for value in attributes.iter().filter_map(value) {
        match value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                parts.extend(text.value().split('\n').map(|line| Part::Line(line.to_owned())));
            }
            other => parts.push(Part::Expression(other.clone())),
        }
    }
    let lines = parts.iter().filter_map(Part::line).filter(|line| !line.trim().is_empty());
    let indent = lines.map(|line| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or(0);
    for part in &mut parts {
        if let Part::Line(line) = part {
            *line = line.get(indent..).unwrap_or("").trim_end().to_owned();
        }
    }
    parts
}

impl Part {
    fn line(&self) -> Option<&str> {
        match self {
            Self::Line(line) => Some(line),
            Self::Expression(_) => None,
        }
    }
}

/// The function with this name in `toolkit::__private` does the same at compile time.
fn until_heading(text: &str) -> String {
    let mut kept = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if !in_code && is_heading(line) {
            break;
        }
        kept.push(line);
    }
    kept.join("\n").trim().to_owned()
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with(' '))
}

/// Returns the attribute with the heading that a doc comment begins with, and the title in it.
pub(crate) fn heading_at_the_beginning(attributes: &[Attribute]) -> Option<(&Attribute, String)> {
    let (attribute, text) = attributes.iter().find_map(|attribute| match value(attribute)? {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            Some((attribute, text.value())).filter(|(_, text)| !text.trim().is_empty())
        }
        _ => Some((attribute, String::new())),
    })?;
    let line = text.trim().lines().next().filter(|line| is_heading(line))?;
    Some((attribute, line.trim_start_matches('#').trim().to_owned()))
}

/// Returns true for the heading of a section that rustdoc comments have by custom.
pub(crate) fn is_section(title: &str) -> bool {
    let sections = [
        "argument",
        "arg",
        "parameter",
        "param",
        "error",
        "example",
        "panic",
        "return",
        "safety",
        "detail",
        "note",
    ];
    let title = title.trim_end_matches(':').to_ascii_lowercase();
    sections.iter().any(|section| title.strip_prefix(section).is_some_and(|rest| ["", "s"].contains(&rest)))
}

/// Returns the line of a doc comment that is the heading of a section on the arguments.
pub(crate) fn heading_of_arguments(attributes: &[Attribute]) -> Option<&Attribute> {
    let mut in_code = false;
    attributes.iter().find(|attribute| {
        let Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) = value(attribute) else { return false };
        text.value().lines().map(str::trim).any(|line| {
            in_code ^= line.starts_with("```");
            let title = line.trim_start_matches('#').trim().trim_end_matches(':').to_ascii_lowercase();
            !in_code && is_heading(line) && ["arguments", "args", "parameters", "params"].contains(&&*title)
        })
    })
}

/// Returns the value of `#[doc = …]`.
fn value(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => Some(without_group(&meta.value)),
        _ => None,
    }
}

/// Returns true for a doc attribute that includes a file which does not exist. rustc reports it for each attribute, and for the
/// description.
pub(crate) fn includes_nothing(attribute: &Attribute) -> bool {
    value(attribute).is_some_and(is_missing_file)
}

/// Returns true for an `include_str!` of a file that does not exist.
pub(crate) fn is_missing_file(value: &Expr) -> bool {
    let Expr::Macro(call) = value else { return false };
    let is_include = call.mac.path.segments.last().is_some_and(|last| last.ident == "include_str");
    let Ok(path) = syn::parse2::<LitStr>(call.mac.tokens.clone()) else { return false };
    // Within a unit test there is no compiler that knows the file.
    if !is_include || !proc_macro::is_available() {
        return false;
    }
    let Some(source) = path.span().unwrap().local_file() else { return false };
    let directory = source.parent().map(Path::to_path_buf).unwrap_or_default();
    !directory.join(path.value()).exists()
}

/// Returns true if an attribute is a doc comment.
pub(crate) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

/// The section on a function's arguments, for rustdoc.
pub(crate) fn arguments_section<'a>(arguments: impl Iterator<Item = (&'a str, &'a str)>) -> Option<String> {
    let lines: Vec<String> = arguments
        .map(|(name, description)| match description {
            "" => format!("* `{name}`"),
            text => format!("* `{name}`: {}", text.replace('\n', "\n  ")),
        })
        .collect();
    (!lines.is_empty()).then(|| format!("\n# Arguments\n\n{}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::ToTokens as _;
    use syn::parse_quote;

    #[test]
    fn a_description_ends_at_the_first_heading() {
        let attributes: Vec<Attribute> = vec![
            parse_quote!(#[doc = " Reads a file."]),
            parse_quote!(#[doc = ""]),
            parse_quote!(#[doc = " ```sh"]),
            parse_quote!(#[doc = " # no heading"]),
            parse_quote!(#[doc = " ```"]),
            parse_quote!(#[doc = " #hashtag stays"]),
            parse_quote!(#[doc = " # Errors"]),
            parse_quote!(#[doc = " For people."]),
        ];
        assert_eq!(
            description(&attributes).literal().unwrap(),
            "Reads a file.\n\n```sh\n# no heading\n```\n#hashtag stays"
        );
    }

    #[test]
    fn an_expression_is_left_to_the_compiler() {
        let attributes: Vec<Attribute> =
            vec![parse_quote!(#[doc = " Reads."]), parse_quote!(#[doc = include_str!("more.md")])];
        let found = text(&attributes).to_token_stream().to_string().replace(' ', "");
        assert_eq!(
            found,
            r#"__toolkit::trimmed(::core::concat!("Reads.","\n",include_str!("more.md"),"\n"))"#
        );
    }

    #[test]
    fn block_comments_lose_their_indentation() {
        let attributes: Vec<Attribute> = vec![parse_quote!(#[doc = "\n    One.\n      Two.\n    "])];
        assert_eq!(text(&attributes).literal().unwrap(), "One.\n  Two.");
    }
}
