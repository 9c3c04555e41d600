//! Fragments that a `macro_rules!` passes on, in groups without delimiters.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Returns the same tokens without the invisible groups of a `macro_rules!`, to show them.
pub(crate) fn flat(tokens: &TokenStream) -> TokenStream {
    tokens
        .clone()
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => flat(&group.stream()),
            other => other.into(),
        })
        .collect()
}

/// Returns the tokens that the caller of a `macro_rules!` wrote, if there are any, as the place of an error.
pub(crate) fn of_caller(tokens: &TokenStream) -> TokenStream {
    let fragment = tokens.clone().into_iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => Some(flat(&group.stream())),
        _ => None,
    });
    fragment.unwrap_or_else(|| tokens.clone())
}
