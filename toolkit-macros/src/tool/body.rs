//! Mistakes in the body of a tool that the compiler reports without the way out, or not at all: how the context is called, what becomes of an
//! answer, a text as an error, and a change of a service.
//!
//! The body is not parsed. A name that the body binds again is not followed.

mod constructors;
mod guard;
mod question;
mod spawned;

use super::item::Function;
use crate::check::{Check, Errors};
use crate::source;
use crate::type_form::{last_segment, mentions_ident, only_argument};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::{FnArg, GenericArgument, Pat, PathArguments, ReturnType, Signature, Type};

/// Reports these mistakes. Returns true if the body has one, so that the compiler would report it as well.
pub(crate) fn check(signature: &Signature, body: &impl ToTokens, errors: &mut Errors) -> bool {
    let is_context = |ty: &Type| mentions_ident(&ty.to_token_stream(), "ToolContext").is_some();
    let is_service = |ty: &Type| only_argument(ty, "State").is_some();
    let scan = Scan {
        contexts: names(signature, is_context),
        services: names(signature, is_service),
        fails_with_tool_error: fails_with_tool_error(&signature.output),
        returns_output: returns_output(&signature.output),
        is_async: signature.asyncness.is_some(),
    };
    let is_plain = !scan.fails_with_tool_error && !returns_content(&signature.output) && !scan.is_async;
    let mut found = Found::default();
    if let Some(span) = question::without_result(signature, body.to_token_stream()) {
        let (check, name) = (Check::QuestionMark, String::new());
        found.faults.push(Fault { check, span, message: QUESTION_MARK, name });
    } else if scan.contexts.is_empty() && scan.services.is_empty() && is_plain {
        return false;
    }
    scan.stream(
        body.to_token_stream(),
        Place { around: Delimiter::None, is_last: true, is_nested: false },
        &mut found,
    );
    let faults: Vec<Fault> =
        found.faults.into_iter().filter(|fault| !found.bound.contains(&fault.name)).collect();
    for fault in &faults {
        errors.push_span(fault.check, fault.span, fault.message);
    }
    !faults.is_empty()
}

/// The same for a function with `#[tool]`.
pub(super) fn check_function(function: &Function, errors: &mut Errors) -> bool {
    function.body.as_ref().is_some_and(|body| check(&function.signature, body, errors))
}

/// The names of the parameters of a type.
fn names(signature: &Signature, is: impl Fn(&Type) -> bool) -> Vec<String> {
    let typed = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) if is(&typed.ty) => Some(&*typed.pat),
        _ => None,
    });
    let name = |pattern: &Pat| match pattern {
        Pat::Ident(name) => Some(name.ident.unraw().to_string()),
        _ => None,
    };
    typed.filter_map(name).collect()
}

/// Returns true for `Result<_, ToolError>`.
fn fails_with_tool_error(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else { return false };
    let Some(segment) = last_segment(ty).filter(|segment| segment.ident == "Result") else { return false };
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return false };
    matches!(arguments.args.iter().nth(1), Some(GenericArgument::Type(error))
        if last_segment(error).is_some_and(|segment| segment.ident == "ToolError"))
}

/// Returns true for `ToolOutput`.
fn returns_output(output: &ReturnType) -> bool {
    matches!(output, ReturnType::Type(_, ty) if last_segment(ty).is_some_and(|segment| segment.ident == "ToolOutput"))
}

/// Returns true for an output, or for pictures.
fn returns_content(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else { return false };
    let tokens = ty.to_token_stream();
    ["ToolOutput", "Image", "Content"].iter().any(|name| mentions_ident(&tokens, name).is_some())
}

/// The names and the kind of function that the mistakes rest on.
struct Scan {
    contexts: Vec<String>,
    services: Vec<String>,
    fails_with_tool_error: bool,
    returns_output: bool,
    is_async: bool,
}

/// Where tokens stand.
#[derive(Clone, Copy)]
struct Place {
    around: Delimiter,
    /// Their last expression is the value of the function.
    is_last: bool,
    /// They are in a function, a closure or an `async` block within it.
    is_nested: bool,
}

#[derive(Default)]
struct Found {
    faults: Vec<Fault>,
    /// Names that the body gives to values of its own.
    bound: HashSet<String>,
    /// Names of what `ctx.ask(..).await` returned.
    answers: HashSet<String>,
}

struct Fault {
    check: Check,
    span: Span,
    message: &'static str,
    /// The parameter whose name the fault rests on.
    name: String,
}

const ASK: &str = "a context asks with an `Ask`\nwrite `.ask(Ask::new(\"delete\", \"Delete the file?\")).await?`: the kind of the action for rules, and the question";
const ANSWER: &str = "an answer of no is an error, not a `bool`\nwrite `ctx.ask(..).await?;`, which ends the call with it; what comes after was allowed";
const UNREAD: &str = "an answer of no is an error that nothing reads here, so that the tool would go on\nwrite `ctx.ask(..).await?;`";
const PROGRESS: &str = "`progress` takes one value\nwrite `.progress(Progress::new(done).with_total(all).with_message(\"..\"))`; `Progress` is in `toolkit::events`";
const OUTPUT: &str = "`output` takes nothing, it returns the stream\nwrite `ctx.output().write_all(text.as_bytes()).await?` for the model, or `ctx.partial(text)` for who watches the call";
const LOG: &str = "`log` takes one message\nwrite `.log(LogMessage::new(LogLevel::Info, text))`; both names are in `toolkit::events`";
const CALL: &str =
    "`call` takes the tool's name and its arguments\nwrite `ctx.call(\"name\", json!({ .. })).await?`";
const TEXT: &str = "the text of a `ToolOutput` is `to_text`\nwrite `ctx.call(..).await?.to_text()`";
const ERROR: &str = "a text is no `ToolError` by itself\nwrite `ToolError::failed(text)`, or `not_found`, `denied`, `unavailable` in place of `failed`";
const CHANGE: &str = "all calls share a service, so none can change it\nkeep what changes behind a `Mutex` or an atomic, in the service's type";

const QUESTION_MARK: &str = "`?` ends the function with an error, so that it returns a `Result`\nwrite `-> Result<T, ToolError>` with the type that stands there as `T`, and `Ok(..)` around the value at the end";
const SPAWN: &str = "the context is borrowed for the call, and a task may outlive it\nwrite `let ctx = ctx.clone();` before the task, which moves that; a clone costs little";
const GUARD: &str = "the guard of this lock is held over an `.await`, and a call may go on in another thread there\nend it in a block of its own before the `.await`, or use the lock of `tokio::sync`";

impl Scan {
    fn stream(&self, tokens: TokenStream, at: Place, found: &mut Found) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_end = |place: &usize| is_punct(&tokens, *place, ';');
        let last = (0..tokens.len()).rev().find(is_end).map_or(0, |end| end + 1);
        let has_function = (0..tokens.len()).any(|place| is_ident(&tokens, place, "fn"));
        for (place, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(name) => self.name(&tokens, place, name, at, found),
                TokenTree::Group(group) => {
                    let moved = spawned::moved(&tokens, place, group, &self.contexts);
                    found.faults.extend(moved.map(|(span, name)| Fault {
                        check: Check::SpawnedContext,
                        span,
                        message: SPAWN,
                        name,
                    }));
                    self.pattern(&tokens, place, group, found);
                    self.error(
                        &tokens,
                        place,
                        group,
                        Place { is_last: at.is_last && place >= last, ..at },
                        found,
                    );
                    let is_block = group.delimiter() == Delimiter::Brace;
                    let is_nested = is_block && (has_function || is_body(&tokens, place));
                    let within = Place {
                        around: group.delimiter(),
                        is_last: at.is_last && is_block && !is_nested && place >= last,
                        is_nested: at.is_nested || is_nested,
                    };
                    self.stream(group.stream(), within, found);
                }
                _ => {}
            }
        }
    }

    fn name(&self, tokens: &[TokenTree], place: usize, ident: &Ident, at: Place, found: &mut Found) {
        if ident == "let" && self.is_async && !at.is_nested {
            check_guard(tokens, place, found);
        }
        let name = ident.unraw().to_string();
        let is_value = self.returns_output && at.is_last && !at.is_nested;
        found.faults.extend(constructors::fault(tokens, place, &name, is_value));
        if found.answers.contains(&name) && is_condition(tokens, place, place + 1) {
            found.faults.push(Fault {
                check: Check::AskAnswer,
                span: ident.span(),
                message: ANSWER,
                name: String::new(),
            });
        }
        let is_context = self.contexts.contains(&name);
        if !is_context && !self.services.contains(&name) || is_punct(tokens, place.wrapping_sub(1), '.') {
            return;
        }
        if binds(tokens, place) {
            found.bound.insert(name);
        } else if is_context {
            check_context(tokens, place, name, at.around, found);
        } else if let Some(span) = changed_field(tokens, place) {
            found.faults.push(Fault { check: Check::ServiceChange, span, message: CHANGE, name });
        }
    }

    /// Remembers the names of a pattern, as in `Some(ctx) =>` and `|(ctx, _)|`.
    fn pattern(&self, tokens: &[TokenTree], place: usize, group: &Group, found: &mut Found) {
        if ends_pattern(tokens, place + 1) {
            let known = self.contexts.iter().chain(&self.services);
            found.bound.extend(known.filter(|name| mentions_ident(&group.stream(), name).is_some()).cloned());
        }
    }

    /// Reports a text within an `Err(..)` that the function returns.
    fn error(&self, tokens: &[TokenTree], place: usize, group: &Group, at: Place, found: &mut Found) {
        if !self.fails_with_tool_error
            || group.delimiter() != Delimiter::Parenthesis
            || !is_ident(tokens, place.wrapping_sub(1), "Err")
        {
            return;
        }
        let before = place.wrapping_sub(2);
        let is_returned = is_ident(tokens, before, "return") && !at.is_nested;
        let begins = match tokens.get(before) {
            None => at.around == Delimiter::Brace,
            Some(TokenTree::Punct(punct)) => punct.as_char() == ';' || punct.as_char() == '>',
            Some(TokenTree::Group(block)) => block.delimiter() == Delimiter::Brace,
            Some(_) => false,
        };
        let ends = tokens.get(place + 1).is_none() || is_punct(tokens, place + 1, ',');
        if (is_returned || at.is_last && begins && ends)
            && let Some(span) = text_as_error(group)
        {
            found.faults.push(Fault { check: Check::TextAsError, span, message: ERROR, name: String::new() });
        }
    }
}

/// Checks `ctx.method(..)`, and what becomes of its value.
fn check_context(tokens: &[TokenTree], place: usize, name: String, around: Delimiter, found: &mut Found) {
    let (true, Some(TokenTree::Ident(method)), Some(TokenTree::Group(group))) =
        (is_punct(tokens, place + 1, '.'), tokens.get(place + 2), tokens.get(place + 3))
    else {
        return;
    };
    if group.delimiter() != Delimiter::Parenthesis {
        return;
    }
    let (arguments, method_name) = (Arguments::of(group), method.to_string());
    let message = match method_name.as_str() {
        "ask" if arguments.are(|count| count > 1) || arguments.is_text => ASK,
        "progress" if arguments.are(|count| count > 1) || arguments.is_text => PROGRESS,
        "output" if arguments.are(|count| count > 0) => OUTPUT,
        "log" if arguments.are(|count| count > 1) => LOG,
        "call" if arguments.are(|count| count == 1) => CALL,
        "call" if is_text_of_output(&tokens[place + 4..]) => TEXT,
        "ask" => {
            let answer = answer(tokens, place, around, found);
            if let Some(message) = answer {
                found.faults.push(Fault { check: Check::AskAnswer, span: method.span(), message, name });
            }
            return;
        }
        _ => return,
    };
    found.faults.push(Fault { check: Check::ContextCall, span: method.span(), message, name });
}

/// Returns true for `.await?.text()`.
fn is_text_of_output(tokens: &[TokenTree]) -> bool {
    let is_read = is_punct(tokens, 0, '.')
        && is_ident(tokens, 1, "await")
        && is_punct(tokens, 2, '?')
        && is_punct(tokens, 3, '.')
        && is_ident(tokens, 4, "text");
    is_read && matches!(tokens.get(5), Some(TokenTree::Group(group)) if group.stream().is_empty())
}

fn check_guard(tokens: &[TokenTree], place: usize, found: &mut Found) {
    let Some((span, ty)) = guard::held(tokens, place) else { return };
    // Within a unit test there is no file, and the lock is that of the standard library.
    if !proc_macro::is_available() || source::takes_from_std_sync(span, ty) {
        found.faults.push(Fault { check: Check::GuardOverAwait, span, message: GUARD, name: String::new() });
    }
}

/// Returns what is wrong with the use of the answer to `ctx.ask(..)`, which begins at a place.
fn answer(tokens: &[TokenTree], place: usize, around: Delimiter, found: &mut Found) -> Option<&'static str> {
    let mut end = place + 4;
    let is_awaited = is_punct(tokens, end, '.') && is_ident(tokens, end + 1, "await");
    if is_awaited {
        end += 2;
    }
    let is_propagated = is_awaited && is_punct(tokens, end, '?');
    if is_propagated {
        end += 1;
    }
    if is_awaited && is_condition(tokens, place, end) {
        return Some(ANSWER);
    }
    let is_first = match place.checked_sub(1).and_then(|before| tokens.get(before)) {
        None => around == Delimiter::Brace,
        Some(TokenTree::Punct(punct)) => punct.as_char() == ';',
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
        Some(_) => false,
    };
    if is_first && !is_propagated && is_punct(tokens, end, ';') {
        return Some(UNREAD);
    }
    if is_ident(tokens, place.wrapping_sub(1), "match")
        && let Some(TokenTree::Group(arms)) = tokens.get(end)
        && matches!(arms.stream().into_iter().next(), Some(TokenTree::Ident(first)) if first == "Answer" || first == "true" || first == "false")
    {
        return Some(ANSWER);
    }
    // `let allowed = ctx.ask(..).await?;`
    if is_awaited
        && is_punct(tokens, end, ';')
        && is_punct(tokens, place.wrapping_sub(1), '=')
        && is_ident(tokens, place.wrapping_sub(3), "let")
        && let Some(TokenTree::Ident(name)) = tokens.get(place - 2)
    {
        found.answers.insert(name.to_string());
    }
    None
}

/// The arguments of a call.
struct Arguments {
    /// Their number, unless a comma may stand within one of them.
    count: Option<usize>,
    /// The only argument is a text that is written there.
    is_text: bool,
}

impl Arguments {
    fn of(group: &Group) -> Self {
        let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
        let is =
            |token: &TokenTree, sign| matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign);
        let commas = tokens.iter().filter(|token| is(token, ',')).count();
        let trailing = tokens.last().is_some_and(|token| is(token, ','));
        // Commas within the parameters of a type or of a closure.
        let is_unclear = tokens.iter().any(|token| is(token, '<') || is(token, '|'));
        let count = if tokens.is_empty() { 0 } else { commas + 1 - usize::from(trailing) };
        let count = (!is_unclear).then_some(count);
        Self { count, is_text: is_text(&tokens) }
    }

    fn are(&self, of: impl Fn(usize) -> bool) -> bool {
        self.count.is_some_and(of)
    }
}

/// Returns true for `"text"` and for `format!("..")`, with `&` before it, or `.to_string()` and the like after it.
fn is_text(tokens: &[TokenTree]) -> bool {
    let tokens = if is_punct(tokens, 0, '&') { &tokens[1..] } else { tokens };
    let rest = match tokens {
        [TokenTree::Literal(literal), rest @ ..] if is_string(literal) => rest,
        [TokenTree::Ident(name), TokenTree::Punct(mark), TokenTree::Group(_), rest @ ..]
            if name == "format" && mark.as_char() == '!' =>
        {
            rest
        }
        _ => return false,
    };
    match rest {
        [] => true,
        [TokenTree::Punct(dot), TokenTree::Ident(method), TokenTree::Group(group)] => {
            let keeps_text = ["to_string", "to_owned", "into"].iter().any(|name| method == name);
            dot.as_char() == '.' && keeps_text && group.stream().is_empty()
        }
        _ => false,
    }
}

fn is_string(literal: &proc_macro2::Literal) -> bool {
    let text = literal.to_string();
    text.starts_with('"') || text.starts_with("r\"") || text.starts_with("r#")
}

/// Returns true if the block at a place is the body of a closure or an `async` block.
fn is_body(tokens: &[TokenTree], place: usize) -> bool {
    let before = place.wrapping_sub(1);
    let start = (0..place).rev().find(|place| is_punct(tokens, *place, ';')).unwrap_or(0);
    let has_type =
        (start..place).any(|place| is_punct(tokens, place, '-') && is_punct(tokens, place + 1, '>'));
    has_type
        || is_punct(tokens, before, '|')
        || is_ident(tokens, before, "async")
        || is_ident(tokens, before, "move")
}

/// Returns the place of a text within `Err(..)`.
fn text_as_error(group: &Group) -> Option<Span> {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    is_text(&tokens).then(|| tokens[0].span())
}

/// Returns true if the expression between two places is the condition of an `if`, or a part of one.
fn is_condition(tokens: &[TokenTree], start: usize, end: usize) -> bool {
    let is_negated = is_punct(tokens, start.wrapping_sub(1), '!');
    let before = if is_negated { start.wrapping_sub(2) } else { start.wrapping_sub(1) };
    let is_first = is_ident(tokens, before, "if") || is_ident(tokens, before, "while");
    let is_joined = |place: usize| is_punct(tokens, place, '&') || is_punct(tokens, place, '|');
    let is_last =
        matches!(tokens.get(end), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace);
    let is_double = is_joined(end) && is_joined(end + 1);
    (is_first || is_negated) && (is_last || is_double)
}

/// Returns the place of a field that `state.field = ..` or `state.field += ..` changes.
fn changed_field(tokens: &[TokenTree], place: usize) -> Option<Span> {
    let is_statement = match place.checked_sub(1).and_then(|before| tokens.get(before)) {
        None => true,
        Some(TokenTree::Punct(punct)) => punct.as_char() == ';',
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
        Some(_) => false,
    };
    let mut end = place + 1;
    while is_punct(tokens, end, '.') && matches!(tokens.get(end + 1), Some(TokenTree::Ident(_))) {
        end += 2;
    }
    if !is_statement || end == place + 1 {
        return None;
    }
    let operator = ['+', '-', '*', '/', '%', '|', '&', '^'].iter().any(|sign| is_punct(tokens, end, *sign));
    let equals = if operator { end + 1 } else { end };
    let is_change = is_punct(tokens, equals, '=')
        && !is_punct(tokens, equals + 1, '=')
        && !is_punct(tokens, equals + 1, '>');
    is_change.then(|| tokens[place].span())
}

/// Returns true if a name at a place is that of a new value.
fn binds(tokens: &[TokenTree], place: usize) -> bool {
    let before = place.wrapping_sub(1);
    let is_declared = ["let", "mut", "ref", "for", "fn"].iter().any(|word| is_ident(tokens, before, word));
    is_declared
        || is_punct(tokens, before, '|') && !is_punct(tokens, before.wrapping_sub(1), '|')
        || is_punct(tokens, place + 1, ':') && !is_punct(tokens, place + 2, ':')
        || is_punct(tokens, place + 1, '@')
        || ends_pattern(tokens, place + 1)
}

/// Returns true if what is before a place is the end of a pattern: `=`, `=>` or `|` comes after it.
fn ends_pattern(tokens: &[TokenTree], place: usize) -> bool {
    let is_double = is_punct(tokens, place + 1, '=') || is_punct(tokens, place + 1, '|');
    (is_punct(tokens, place, '=') || is_punct(tokens, place, '|')) && !is_double
        || is_ident(tokens, place, "in")
}

fn is_punct(tokens: &[TokenTree], place: usize, sign: char) -> bool {
    matches!(tokens.get(place), Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

fn is_ident(tokens: &[TokenTree], place: usize, name: &str) -> bool {
    matches!(tokens.get(place), Some(TokenTree::Ident(ident)) if ident == name)
}
