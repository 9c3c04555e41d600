//! Constructors that get something else than they take, and a fallible one whose `Result` is returned as if it were none.

use super::{Arguments, Fault, is_ident, is_punct, is_text};
use crate::check::Check;
use crate::source;
use proc_macro2::{Delimiter, Group, TokenTree};

const KIND: &str = "`ToolError::new` takes a kind and a text\nwrite `ToolError::failed(text)`, or `not_found`, `denied`, `unavailable` in place of `failed`";
const ONE_ERROR: &str = "this constructor takes one text\nwrite `format!(..)` within it: `ToolError::failed(format!(\"no {name}\"))`";
const ONE_TEXT: &str = "this constructor takes one text\nwrite `format!(..)` within it: `ToolOutput::text(format!(\"{count} notes\"))`";
const DONE: &str = "`Progress::new` takes what is done\nwrite `Progress::new(done).with_total(all)`; `.with_message(text)` adds a text";
const LEVEL: &str =
    "`LogMessage::new` takes a level and a text\nwrite `LogMessage::new(LogLevel::Info, text)`";
const QUESTION: &str = "`Ask::new` takes the kind of the action and the question\nwrite `Ask::new(\"delete\", \"Delete the file?\")`: rules of the configuration name the kind";
const PICTURE: &str = "a picture is made of the bytes of its file and the media type\nwrite `Image::new(bytes, \"image/png\")`, or `Content::image` in place of `Image::new`";
const JSON: &str = "`ToolOutput::json` returns a `Result`, since not every value can be written as JSON\nreturn `Result<ToolOutput, ToolError>`, or the value itself as `Json(value)`";

/// A constructor that gets a wrong number of arguments.
struct Rule {
    ty: &'static str,
    functions: &'static [&'static str],
    is_wrong: fn(&Group) -> bool,
    message: &'static str,
}

const fn rule(
    ty: &'static str,
    functions: &'static [&'static str],
    is_wrong: fn(&Group) -> bool,
    message: &'static str,
) -> Rule {
    Rule { ty, functions, is_wrong, message }
}

const RULES: [Rule; 8] = [
    rule("ToolError", &["new"], is_without_kind, KIND),
    rule(
        "ToolError",
        &["failed", "not_found", "denied", "unavailable", "aborted", "invalid_arguments"],
        has_several,
        ONE_ERROR,
    ),
    rule("ToolOutput", &["text"], has_several, ONE_TEXT),
    rule("Progress", &["new"], has_several, DONE),
    rule("LogMessage", &["new"], has_one, LEVEL),
    rule("Ask", &["new"], has_one, QUESTION),
    rule("Image", &["new"], has_one, PICTURE),
    rule("Content", &["image"], has_one, PICTURE),
];

/// Returns the fault of a call of a constructor at a place. `is_value` is true where the last expression is the value of a function that
/// returns a `ToolOutput`.
pub(super) fn fault(tokens: &[TokenTree], place: usize, name: &str, is_value: bool) -> Option<Fault> {
    let is_path = is_punct(tokens, place + 1, ':') && is_punct(tokens, place + 2, ':');
    let Some(TokenTree::Group(arguments)) = tokens.get(place + 4).filter(|_| is_path) else { return None };
    if arguments.delimiter() != Delimiter::Parenthesis {
        return None;
    }
    let is_called = |function: &&str| is_ident(tokens, place + 3, function);
    let rule = RULES.iter().find(|rule| rule.ty == name && rule.functions.iter().any(is_called));
    let is_json = name == "ToolOutput" && is_called(&"json");
    let (check, message) = match rule {
        Some(rule) if (rule.is_wrong)(arguments) => (Check::ConstructorArguments, rule.message),
        None if is_json && is_value && tokens.len() == place + 5 && begins_expression(tokens, place) => {
            (Check::OutputResult, JSON)
        }
        _ => return None,
    };
    let span = tokens[place].span();
    source::takes_from_toolkit(span, name).then(|| Fault { check, span, message, name: String::new() })
}

fn is_without_kind(arguments: &Group) -> bool {
    let tokens: Vec<TokenTree> = arguments.stream().into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    let end = tokens.iter().position(is_comma).unwrap_or(tokens.len());
    has_one(arguments) || is_text(&tokens[..end])
}

fn has_one(arguments: &Group) -> bool {
    Arguments::of(arguments).are(|count| count == 1)
}

fn has_several(arguments: &Group) -> bool {
    Arguments::of(arguments).are(|count| count > 1)
}

fn begins_expression(tokens: &[TokenTree], place: usize) -> bool {
    match place.checked_sub(1).and_then(|before| tokens.get(before)) {
        None => true,
        Some(TokenTree::Punct(punct)) => punct.as_char() == ';',
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
        Some(_) => false,
    }
}
