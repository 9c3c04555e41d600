//! The operator `?` in a function that returns no `Result`.

use super::{is_body, is_ident, is_punct};
use crate::rules::Kind;
use crate::type_form::{kind, last_segment, without_group};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::{ReturnType, Signature, Type};

/// Types of the prelude and of the standard library, beside numbers and texts, that are no `Result` and no `Option`.
const VALUES: [&str; 8] = ["Vec", "Json", "ToolOutput", "Image", "Content", "HashMap", "BTreeMap", "Value"];

/// Macros whose arguments are expressions of the function.
const OF_EXPRESSIONS: [&str; 9] =
    ["vec", "format", "json", "println", "eprintln", "write", "writeln", "assert", "assert_eq"];

/// Returns the place of the first `?` of a body, if the function certainly returns what `?` cannot return.
pub(super) fn without_result(signature: &Signature, body: TokenStream) -> Option<Span> {
    if is_value(&signature.output) { first(body) } else { None }
}

fn is_value(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else { return true };
    match without_group(ty) {
        Type::Tuple(_) | Type::Reference(_) => true,
        ty => {
            let is_named = |name: &&str| last_segment(ty).is_some_and(|segment| segment.ident == name);
            !matches!(kind(ty), Kind::Unknown | Kind::List) || VALUES.iter().any(is_named)
        }
    }
}

/// Returns the place of the first `?` that is not within a closure, an `async` block or another function.
fn first(tokens: TokenStream) -> Option<Span> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let has_other = |place: usize| is_ident(&tokens, place, "fn") || is_punct(&tokens, place, '$');
    if (0..tokens.len()).any(has_other) {
        return None;
    }
    for (place, token) in tokens.iter().enumerate() {
        match token {
            // The rest belongs to a closure without a block, or to a pattern.
            TokenTree::Punct(sign) if sign.as_char() == '|' => return None,
            TokenTree::Punct(sign) if sign.as_char() == '?' && ends_value(&tokens, place) => {
                return Some(sign.span());
            }
            TokenTree::Group(_) if is_of_macro(&tokens, place) => {}
            TokenTree::Group(group) if group.delimiter() != Delimiter::Brace || !is_body(&tokens, place) => {
                if let Some(found) = first(group.stream()) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns true for what is given to a macro that may do anything with it, such as make a stream whose own `?` it is.
fn is_of_macro(tokens: &[TokenTree], place: usize) -> bool {
    let name = place.checked_sub(2).filter(|_| is_punct(tokens, place - 1, '!'));
    let Some(TokenTree::Ident(name)) = name.and_then(|name| tokens.get(name)) else { return false };
    !OF_EXPRESSIONS.iter().any(|known| name == known)
}

/// Returns true if an expression ends before a place. A `?` of a type, as in `?Sized`, has none before it.
fn ends_value(tokens: &[TokenTree], place: usize) -> bool {
    matches!(
        place.checked_sub(1).and_then(|before| tokens.get(before)),
        Some(TokenTree::Ident(_) | TokenTree::Group(_) | TokenTree::Literal(_))
    ) || is_punct(tokens, place.wrapping_sub(1), '?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_mark_of_a_macro_of_others_is_its_own() {
        for body in [
            "let s = try_stream! { yield a()?; };",
            "html! { input checked[x]? }",
            "let x = a::try_it!(b()?);",
            "let f = || b()?;",
        ] {
            assert!(first(body.parse().unwrap()).is_none(), "{body}");
        }
        for body in ["vec![b()?]", "let x = format!(\"{}\", b()?);", "if a() { b()? }"] {
            assert!(first(body.parse().unwrap()).is_some(), "{body}");
        }
    }
}
