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
