//! Constructors that get something else than they take, and a fallible one whose `Result` is returned as if it were none.

use super::{Arguments, Fault, is_ident, is_punct, is_text};
use crate::check::Check;
use crate::source;
use proc_macro2::{Delimiter, Span, TokenTree};

const KIND: &str = "`ToolError::new` takes a kind and a text\nwrite `ToolError::failed(text)`, or `not_found`, `denied`, `unavailable` in place of `failed`";
const JSON: &str = "`ToolOutput::json` returns a `Result`, since not every value can be written as JSON\nreturn `Result<ToolOutput, ToolError>`, or the value itself as `Json(value)`";

/// Returns the fault of a call of a constructor at a place. `is_value` is true where the last expression is the value of a function that
/// returns a `ToolOutput`.
pub(super) fn fault(tokens: &[TokenTree], place: usize, name: &str, is_value: bool) -> Option<Fault> {
    let is_called = |constructor: &str| {
        is_punct(tokens, place + 1, ':')
            && is_punct(tokens, place + 2, ':')
            && is_ident(tokens, place + 3, constructor)
    };
    let (check, message) = match name {
        "ToolError" if is_called("new") => (Check::ErrorKind, KIND),
        "ToolOutput" if is_value && is_called("json") => (Check::OutputResult, JSON),
        _ => return None,
    };
    let Some(TokenTree::Group(group)) = tokens.get(place + 4) else { return None };
    let is_call = group.delimiter() == Delimiter::Parenthesis;
    let is_fault = match check {
        Check::ErrorKind => {
            let arguments: Vec<TokenTree> = group.stream().into_iter().collect();
            let first = arguments
                .iter()
                .position(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','));
            Arguments::of(group).are(|count| count == 1)
                || is_text(&arguments[..first.unwrap_or(arguments.len())])
        }
        _ => tokens.len() == place + 5 && begins_expression(tokens, place),
    };
    let span: Span = tokens[place].span();
    let is_of_toolkit = || source::takes_from_toolkit(span, name);
    (is_call && is_fault && is_of_toolkit()).then(|| Fault { check, span, message, name: String::new() })
}

fn begins_expression(tokens: &[TokenTree], place: usize) -> bool {
    match place.checked_sub(1).and_then(|before| tokens.get(before)) {
        None => true,
        Some(TokenTree::Punct(punct)) => punct.as_char() == ';',
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
        Some(_) => false,
    }
}
