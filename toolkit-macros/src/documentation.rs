//! Doc comments: the part that a model reads, and the section that rustdoc gains.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of doc comments, without the indentation that they share.
pub(crate) fn text(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes
        .iter()
        .filter_map(line)
        .flat_map(|text| text.split('\n').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let indent = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    let lines: Vec<&str> = lines.iter().map(|line| line.get(indent..).unwrap_or("").trim_end()).collect();
    lines.join("\n").trim().to_owned()
}

/// Returns a doc comment up to its first heading: the text after it is for people.
pub(crate) fn description(attributes: &[Attribute]) -> String {
    let text = text(attributes);
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

/// The literal text of one `#[doc = "…"]`.
fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else { return None };
    match &meta.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if meta.path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
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
        assert_eq!(description(&attributes), "Reads a file.\n\n```sh\n# no heading\n```\n#hashtag stays");
    }

    #[test]
    fn block_comments_lose_their_indentation() {
        let attributes: Vec<Attribute> = vec![parse_quote!(#[doc = "\n    One.\n      Two.\n    "])];
        assert_eq!(text(&attributes), "One.\n  Two.");
    }
}
