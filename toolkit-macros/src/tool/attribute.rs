//! The keys of `#[tool(..)]`.

use super::item::Function;
use super::name::{bind, bind_text, check_id, check_name, check_own_name, check_permission, check_words};
use super::parameter::Parameter;
use crate::check::{Check, Errors};
use crate::dependency;
use crate::documentation;
use crate::keys::{self, Entry, Form, Given, Key, Text};
use crate::type_form::mentions_ident;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::time::Duration;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, ExprPath, FnArg, Lit, LitStr, Pat, parse_quote};

const TRUNCATE_KEYS: &[Key] = &[
    Key { name: "max_lines", form: Form::Value, example: "max_lines = 2000" },
    Key { name: "max_bytes", form: Form::Value, example: "max_bytes = 51200" },
    Key { name: "keep", form: Form::Value, example: "keep = \"tail\"" },
];

/// The parsed `#[tool(..)]`.
pub(super) struct Options {
    /// The path of the `toolkit` crate.
    pub(super) toolkit: TokenStream,
    pub(super) name: Text,
    pub(super) description: Text,
    /// The description as it is written.
    pub(super) written: Text,
    /// True if only the attribute has the description, so that the function has no docs.
    pub(super) undocumented: bool,
    /// The other fields of the descriptor, `name: value,` each.
    pub(super) fields: TokenStream,
    /// Checks that only the compiler can make.
    pub(super) assertions: TokenStream,
    /// The key by which the tool asks for approval itself.
    asks: Option<(&'static str, Span)>,
    /// The method that the function calls, by which `tool_ref!` finds the tool.
    pub(super) method: Option<ExprPath>,
}

pub(super) fn parse(tokens: TokenStream, function: &Function, errors: &mut Errors) -> Options {
    let is_described = keys::is_described(&tokens);
    let entries = keys::parse(tokens, "tool", keys::TOOL, errors);
    let find = |key: &str| entries.iter().find(|entry| entry.key == key);
    let mut fields = TokenStream::new();
    let mut assertions = TokenStream::new();
    let name = match find("name") {
        Some(entry) => match &entry.given {
            Given::Value(Expr::Path(path)) if path.path.is_ident(&function.signature.ident) => {
                let name = function.signature.ident.unraw().to_string();
                let message = format!(
                    "`name` takes a string or a constant, not the function\nwrite `name = \"{name}\"`, or leave it out: the name is the function's"
                );
                errors.push(Check::WrongValue, path, message);
                None
            }
            _ => entry.text(errors).inspect(|name| check_name(name, errors)),
        },
        None => None,
    };
    // A constant is named once, so that one of a wrong type is one error.
    let name = name.map(|name| bind(name, "NAME", &mut assertions));
    let name = name.unwrap_or_else(|| {
        let ident = &function.signature.ident;
        let name = LitStr::new(&ident.unraw().to_string(), ident.span());
        if find("name").is_none() {
            check_own_name(&name, errors);
        }
        Text::Literal(name)
    });
    let (description, undocumented) = description(find("description"), function, is_described, errors);
    let description = match (description, find("description")) {
        // It is named once, so that a file that is missing is one error.
        (Text::Expression(text), None) => {
            let check = quote_spanned!(text.span()=> __toolkit::check_described(__TOOLKIT_DESCRIPTION));
            assertions.extend(quote!(const __TOOLKIT_DESCRIPTION: &str = #text; const _: () = #check;));
            Text::Expression(parse_quote!(__TOOLKIT_DESCRIPTION))
        }
        (description, _) => description,
    };
    let written = description.clone();
    let description = match find("description") {
        Some(_) => bind_text(description, "DESCRIPTION", &mut assertions),
        None => description,
    };
    for entry in &entries {
        if let Some(field) = field(entry, &name, &mut assertions, errors) {
            fields.extend(field);
        }
    }
    let is = |key: &str, errors: &mut Errors| find(key).and_then(|entry| entry.flag(errors)) == Some(true);
    let mut ignored = Errors::default();
    if is("read_only", &mut ignored)
        && let Some(entry) = find("destructive").filter(|_| is("destructive", &mut ignored))
    {
        errors.push_span(
            Check::Contradiction,
            entry.span,
            "a tool that is `read_only` cannot be `destructive`\nremove `read_only` if the tool changes anything, and `destructive` if it only reads",
        );
    }
    let asks = ["asks", "always_asks"].into_iter().find(|key| is(key, &mut ignored));
    let asks = asks.and_then(find).map(|entry| (entry.key, entry.span));
    let toolkit = find("crate").and_then(|entry| entry.crate_path(errors));
    Options {
        toolkit: toolkit.map_or_else(dependency::toolkit, |path| path.to_token_stream()),
        name,
        description,
        written,
        undocumented,
        fields,
        assertions,
        asks,
        method: find(keys::METHOD).and_then(|entry| entry.path(errors)),
    }
}

impl Options {
    /// Checks that a tool which asks has the context that it asks through: without approval before it runs, nothing would ask.
    pub(super) fn check_asks(&self, function: &Function, parameters: &[Parameter], errors: &mut Errors) {
        let can_ask =
            parameters.iter().any(|parameter| matches!(parameter, Parameter::Context | Parameter::Broken));
        let Some((key, span)) = self.asks else { return };
        if can_ask && !uses_context(function) {
            errors.push_span(
                Check::AsksWithoutContext,
                span,
                format!(
                    "a tool that `{key}` never uses its context, so that nothing asks\ncall `ctx.ask(..)` before it acts, or remove the key: a plain tool needs approval"
                ),
            );
        }
        if !can_ask {
            errors.push_span(
                Check::AsksWithoutContext,
                span,
                format!(
                    "a tool that `{key}` asks through its context; take `ctx: &ToolContext` and call `ctx.ask(..)`\nto have each call approved before it runs, remove the key: a plain tool needs approval"
                ),
            );
        }
    }
}

/// Returns true if the body of a function names its context, or if that cannot be told.
fn uses_context(function: &Function) -> bool {
    let Some(body) = &function.body else { return true };
    let name = function.signature.inputs.iter().find_map(|input| match input {
        FnArg::Typed(typed) if mentions_ident(&typed.ty.to_token_stream(), "ToolContext").is_some() => {
            Some(&*typed.pat)
        }
        _ => None,
    });
    match name {
        Some(Pat::Ident(name)) => mentions_ident(body, &name.ident.to_string()).is_some(),
        Some(Pat::Wild(_)) => false,
        _ => true,
    }
}

/// Returns the descriptor's field for a simple key.
fn field(
    entry: &Entry,
    name: &Text,
    assertions: &mut TokenStream,
    errors: &mut Errors,
) -> Option<TokenStream> {
    let flag = |errors: &mut Errors| entry.flag(errors);
    Some(match entry.key {
        "group" => {
            let groups = entry.texts(errors);
            check_words(Check::Group, "group", entry.key, &groups, errors);
            quote!(groups: &[#(#groups),*],)
        }
        "title" | "icon" | "deprecated" => text_field(entry, assertions, errors)?,
        "read_only" => flag(errors).map(|value| quote!(read_only: #value,))?,
        "destructive" => flag(errors).map(|value| quote!(destructive: __toolkit::Some(#value),))?,
        "idempotent" => flag(errors).map(|value| quote!(idempotent: #value,))?,
        "open_world" => flag(errors).map(|value| quote!(open_world: __toolkit::Some(#value),))?,
        "optional" => flag(errors).map(|value| quote!(optional: #value,))?,
        "enabled" => flag(errors).map(|value| quote!(enabled: #value,))?,
        "auto_execute" => flag(errors).map(|value| quote!(auto_execute: #value,))?,
        "asks" => flag(errors).map(|value| quote!(asks: #value,))?,
        "always_asks" => flag(errors).map(|value| quote!(always_asks: #value,))?,
        "channel" => {
            if let Given::Value(value @ (Expr::Array(_) | Expr::Tuple(_) | Expr::Reference(_))) = &entry.given
            {
                let message = "a tool belongs to one channel, written `channel = \"telegram\"`\nfor some channels, leave it out and deny the tool in \
                               the others: `channels.<name>.tools.deny` in the configuration";
                errors.push(Check::WrongValue, value, message);
                return None;
            }
            let channel = entry.literal(errors)?;
            check_id(Check::Channel, "channel", &channel, errors);
            quote!(channel: __toolkit::Some(#channel),)
        }
        "prepare" => {
            let path = entry.path(errors)?;
            let prepare = prepare(&path);
            quote!(prepare: __toolkit::Some(#prepare),)
        }
        "permission" => {
            let kind = entry.text(errors)?;
            match &kind {
                Text::Literal(literal) => check_permission(literal, errors),
                Text::Expression(_) => {}
            }
            let kind = bind(kind, "PERMISSION", assertions);
            quote!(permission: __toolkit::Some(#kind),)
        }
        "timeout" => {
            let text = entry.literal(errors)?;
            let duration = duration(&text, errors)?;
            let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
            quote!(timeout: __toolkit::Some(__toolkit::Duration::new(#seconds, #nanos)),)
        }
        "concurrency" => {
            let limit = entry.limit("no limit", errors)?;
            let Ok(limit) = u32::try_from(limit) else {
                if let Given::Value(value) = &entry.given {
                    errors.push(Check::WrongValue, value, format!("`concurrency` is at most {}", u32::MAX));
                }
                return None;
            };
            quote!(concurrency: __toolkit::Some(#limit),)
        }
        "truncate" => {
            let truncate = truncate(entry, errors)?;
            quote!(truncate: __toolkit::Some(#truncate),)
        }
        "alias" => {
            let aliases = entry.texts(errors);
            check_words(Check::Name, "tool", entry.key, &aliases, errors);
            for (place, alias) in aliases.iter().enumerate() {
                let again = aliases[..place].iter().any(|other| other.value() == alias.value());
                if again || name.literal() == Some(alias.value()) {
                    errors.push(
                        Check::AliasTwice,
                        alias,
                        format!("the tool already has the name `{}`", alias.value()),
                    );
                }
            }
            quote!(aliases: &[#(#aliases),*],)
        }
        "format_error" => {
            let path = entry.path(errors)?;
            let span = path.span();
            let invalid = Ident::new("invalid", Span::mixed_site());
            let words = quote_spanned!(span=> __toolkit::formatted(&#path, #invalid));
            quote! {
                format_error: __toolkit::Some({
                    fn __toolkit_words(#invalid: &__toolkit::InvalidArguments) -> __toolkit::String { #words }
                    __toolkit_words
                }),
            }
        }
        _ => return None,
    })
}

/// Wraps a function whose future has its own type in one of the common type.
fn prepare(path: &ExprPath) -> TokenStream {
    let span = path.span();
    let (caller, preparation) =
        (Ident::new("caller", Span::mixed_site()), Ident::new("preparation", Span::mixed_site()));
    // Only the call has the path's span, so that type errors are reported there.
    let call = quote_spanned!(span=> __toolkit::Prepares::prepare(&#path, #caller, #preparation));
    let prepared = quote_spanned!(span=> __toolkit::prepared(#call));
    quote! {{
        fn __toolkit_prepare<'a>(
            #caller: &'a __toolkit::Caller,
            #preparation: &'a mut __toolkit::Preparation,
        ) -> __toolkit::Preparing<'a> {
            #prepared
        }
        __toolkit_prepare
    }}
}

fn text_field(entry: &Entry, assertions: &mut TokenStream, errors: &mut Errors) -> Option<TokenStream> {
    let text = entry.filled_text(errors)?;
    let text = bind_text(text, &entry.key.to_uppercase(), assertions);
    let field = Ident::new(entry.key, Span::call_site());
    Some(quote!(#field: __toolkit::Some(#text),))
}

/// Returns the description, and whether only the attribute has it. `is_described` is true if the attribute has it under another key.
fn description(
    entry: Option<&Entry>,
    function: &Function,
    is_described: bool,
    errors: &mut Errors,
) -> (Text, bool) {
    let docs = documentation::description(&function.attributes);
    let is_undocumented = docs.literal().is_some_and(|text| text.is_empty());
    match entry {
        // The description may be in what does not parse, or has another key.
        None if is_undocumented && (errors.has(Check::Syntax) || errors.has(Check::StrayLiteral)) => {
            (docs, true)
        }
        None if is_undocumented && is_described => (docs, true),
        None if is_undocumented => {
            undescribed(function, errors);
            (docs, true)
        }
        None => (docs, false),
        Some(entry) => {
            let Some(text) = entry.text(errors) else { return (docs, is_undocumented) };
            if !is_undocumented {
                errors.push_span(
                    Check::DescriptionTwice,
                    entry.span,
                    "the tool is described twice\nkeep the doc comment, or put it under a heading such as `# Details`",
                );
            } else if text.literal().is_some_and(|text| text.trim().is_empty()) {
                errors.push(
                    Check::EmptyText,
                    &text,
                    "`description` is empty; tell a model what the tool does",
                );
            }
            let undocumented = !function.attributes.iter().any(documentation::is_doc);
            (text, undocumented)
        }
    }
}

/// Reports that a function has no description: nothing is written, or all of it is below a heading.
fn undescribed(function: &Function, errors: &mut Errors) {
    let ident = &function.signature.ident;
    let name = ident.unraw();
    if let Some((heading, title)) = documentation::heading_at_the_beginning(&function.attributes) {
        let advice = if title.is_empty() || documentation::is_section(&title) {
            "begin with what the tool does".to_owned()
        } else {
            format!("begin with what the tool does, and write `title = {title:?}` for a title")
        };
        let fault = format!("the doc comment of the tool `{name}` begins with a heading");
        let message = format!("{fault}\na description ends at the first heading: {advice}");
        errors.push(Check::Description, heading, message);
    } else {
        let advice = "write a doc comment that tells a model what it does";
        errors.push(Check::Description, ident, format!("the tool `{name}` has no description\n{advice}"));
    }
}

fn duration(text: &LitStr, errors: &mut Errors) -> Option<Duration> {
    let value = text.value();
    let split = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (number, unit) = value.split_at(split);
    let number: Option<u64> = number.parse().ok();
    let duration = match (number, unit.trim()) {
        (Some(number), "ms") => Some(Duration::from_millis(number)),
        (Some(number), "s") => Some(Duration::from_secs(number)),
        (Some(number), "m" | "min") => number.checked_mul(60).map(Duration::from_secs),
        (Some(number), "h") => number.checked_mul(3600).map(Duration::from_secs),
        _ => None,
    };
    match duration {
        None => errors.push(
            Check::Duration,
            text,
            format!("`{value}` is no duration; write a whole number with `ms`, `s`, `m` or `h`"),
        ),
        Some(Duration::ZERO) => {
            errors.push(Check::ZeroLimit, text, "a timeout of nothing; leave it out for the host's default");
            return None;
        }
        Some(_) => {}
    }
    duration
}

fn truncate(entry: &Entry, errors: &mut Errors) -> Option<TokenStream> {
    let Given::List(list) = &entry.given else {
        let Given::Value(value) = &entry.given else { return None };
        if matches!(value, Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if text.value() == "off") {
            return Some(quote!(__toolkit::Truncate::Off));
        }
        errors.push(
            Check::WrongValue,
            value,
            "`truncate` takes `\"off\"`, or limits: `truncate(max_lines = 100)`",
        );
        return None;
    };
    if list.is_empty() {
        errors.push_span(
            Check::WrongForm,
            entry.span,
            "`truncate()` says nothing; write `truncate(max_lines = 100)` or `truncate = \"off\"`",
        );
        return None;
    }
    let (mut lines, mut bytes, mut keep) = (quote!(__toolkit::None), quote!(__toolkit::None), quote!(Head));
    for entry in keys::parse(list.clone(), "truncate", TRUNCATE_KEYS, errors) {
        match entry.key {
            "max_lines" => {
                if let Some(limit) = entry.limit("the host's limit", errors) {
                    lines = quote!(__toolkit::Some(#limit));
                }
            }
            "max_bytes" => {
                if let Some(limit) = entry.limit("the host's limit", errors) {
                    bytes = quote!(__toolkit::Some(#limit));
                }
            }
            _ => {
                if let Some(text) = entry.literal(errors) {
                    keep = match text.value().as_str() {
                        "head" => quote!(Head),
                        "tail" => quote!(Tail),
                        "ends" => quote!(Ends),
                        _ => {
                            errors.push(
                                Check::WrongValue,
                                &text,
                                "`keep` takes `\"head\"`, `\"tail\"` or `\"ends\"`",
                            );
                            continue;
                        }
                    };
                }
            }
        }
    }
    Some(
        quote!(__toolkit::Truncate::Limits { max_lines: #lines, max_bytes: #bytes, keep: __toolkit::Keep::#keep }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, expected) in [
            ("30s", Some(Duration::from_secs(30))),
            ("250ms", Some(Duration::from_millis(250))),
            ("2m", Some(Duration::from_mins(2))),
            ("1h", Some(Duration::from_hours(1))),
            ("30", None),
            ("s", None),
            ("-1s", None),
            ("1.5s", None),
            ("0s", None),
            ("99999999999999999999s", None),
        ] {
            let literal = LitStr::new(text, proc_macro2::Span::call_site());
            assert_eq!(duration(&literal, &mut Errors::default()), expected, "{text}");
        }
    }
}
