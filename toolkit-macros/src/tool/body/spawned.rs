//! The borrowed context in a task that is spawned, or in a thread.

use super::{is_ident, is_punct};
use crate::type_form::mentions_ident;
use proc_macro2::{Delimiter, Group, Span, TokenTree};

/// Modules with a function that needs what it runs to be `'static`.
const MODULES: [&str; 3] = ["tokio", "task", "thread"];
const FUNCTIONS: [&str; 3] = ["spawn", "spawn_blocking", "spawn_local"];

/// Returns the place and the name of a context that is used in `tokio::spawn(async move { .. })` or the like, if its arguments are at a place.
pub(super) fn moved(
    tokens: &[TokenTree],
    place: usize,
    arguments: &Group,
    contexts: &[String],
) -> Option<(Span, String)> {
    let function =
        place.checked_sub(1).filter(|at| FUNCTIONS.iter().any(|name| is_ident(tokens, *at, name)))?;
    let is_path =
        is_punct(tokens, function.wrapping_sub(1), ':') && is_punct(tokens, function.wrapping_sub(2), ':');
    let module = function.wrapping_sub(3);
    let is_static = is_path && MODULES.iter().any(|name| is_ident(tokens, module, name));
    if arguments.delimiter() != Delimiter::Parenthesis || !is_static {
        return None;
    }
    let within: Vec<TokenTree> = arguments.stream().into_iter().collect();
    let begins = is_ident(&within, 0, "async") || is_ident(&within, 0, "move") || is_punct(&within, 0, '|');
    let body = within.iter().rev().find_map(|token| match token {
        TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => Some(body.stream()),
        _ => None,
    })?;
    let name = contexts.iter().find(|name| mentions_ident(&body, name).is_some()).filter(|_| begins)?;
    let span = mentions_ident(&body, name)?;
    Some((span, name.clone()))
}
