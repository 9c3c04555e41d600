//! Keys that are written in the form of another attribute, or of another language, and how they are written here.

use super::{Form, Given, Key, NestedMeta, foreign};
use crate::check::{Check, Errors};
use crate::fragments::flat;
use proc_macro2::{Spacing, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Expr, ExprLit, Lit, Meta, Path};

/// Joins a fault and the way out: in one line, if that is short enough for a headline.
pub(crate) fn sentence(fault: &str, advice: &str) -> String {
    let first = advice.lines().next().unwrap_or_default();
    let is_short = fault.chars().count() + first.chars().count() + 2 <= 100;
    format!("{fault}{}{advice}", if is_short { "; " } else { "\n" })
}

/// Returns the parts of a text that lists several, separated by commas or spaces.
pub(crate) fn listed(text: &str) -> Option<Vec<&str>> {
    let parts = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|part| !part.is_empty());
    Some(parts.collect::<Vec<&str>>()).filter(|parts| parts.len() > 1)
}

/// Returns the items of a list of strings, as they are written.
pub(crate) fn as_list<T: std::fmt::Debug>(parts: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = parts.into_iter().map(|part| format!("{part:?}")).collect();
    items.join(", ")
}

/// Reports a list of keys that does not parse: by the first key that is written in another way, or else as the parser does.
pub(super) fn report(
    tokens: TokenStream,
    error: syn::Error,
    attribute: &str,
    keys: &[Key],
    errors: &mut Errors,
) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    let fault = tokens.split(is_comma).find_map(|entry| fault(entry, attribute, keys));
    match fault {
        Some((place, message)) => errors.push(Check::Syntax, &place, message),
        None => errors.push_syntax(error),
    }
}

/// Returns the place and the message for an entry in another form.
fn fault(entry: &[TokenTree], attribute: &str, keys: &[Key]) -> Option<(TokenStream, String)> {
    let takes_fields = attribute.ends_with('!');
    let find = |name: &str| keys.iter().find(|key| key.name == name);
    match entry {
        [TokenTree::Punct(not), TokenTree::Ident(name), ..] if not.as_char() == '!' => {
            let right = match find(&name.to_string()) {
                Some(key) if key.form != Form::Flag => key.example.to_owned(),
                _ => format!("{name} = false"),
            };
            Some((
                quote!(#not #name),
                sentence(&format!("`!{name}` is not written like this"), &format!("write `{right}`")),
            ))
        }
        [TokenTree::Ident(first), TokenTree::Punct(hyphen), TokenTree::Ident(second), ..]
            if hyphen.as_char() == '-' =>
        {
            let name = format!("{first}_{second}");
            let right = find(&name).map_or(name.as_str(), |key| key.example);
            let (fault, advice) =
                (format!("`{first}-{second}` is not written like this"), format!("write `{right}`"));
            Some((quote!(#first #hyphen #second), sentence(&fault, &advice)))
        }
        [TokenTree::Ident(name), TokenTree::Group(value)] if takes_fields => {
            let key = find(&name.to_string())?;
            let right =
                shown(&value.stream()).map_or(key.example.to_owned(), |value| format!("{name}: {value}"));
            let advice = format!("write `{right}`");
            Some((quote!(#name), sentence(&format!("`{name}` is not written like this"), &advice)))
        }
        [TokenTree::Literal(literal)] if takes_fields => {
            let right = keys[0].example;
            Some((quote!(#literal), format!("a value without a key; write `{right}`")))
        }
        [TokenTree::Ident(name), TokenTree::Punct(punct), value @ ..] => {
            let (wrong, right) = if takes_fields { ('=', ": ") } else { (':', " = ") };
            if punct.as_char() != wrong || punct.spacing() == Spacing::Joint || value.is_empty() {
                return None;
            }
            let key = find(&name.to_string());
            if let (None, Some(advice)) = (key, foreign::advice(attribute, &name.to_string())) {
                return Some((quote!(#name), sentence(&format!("unknown key `{name}`"), advice)));
            }
            let value: TokenStream = value.iter().cloned().collect();
            let right = match (shown(&value), key) {
                (Some(value), Some(key)) if key.form == Form::List => format!("{name}({value})"),
                (Some(value), _) => format!("{name}{right}{value}"),
                (None, Some(key)) => key.example.to_owned(),
                (None, None) => format!("{name}{right}…"),
            };
            let (between, right) = (if takes_fields { " = " } else { ": " }, format!("write `{right}`"));
            Some((
                quote!(#name #punct),
                sentence(&format!("`{name}{between}…` is not written like this"), &right),
            ))
        }
        _ => None,
    }
}

/// Returns a key with its value, in its own form, or an example of it.
pub(super) fn rewritten(key: &Key, given: &Given) -> String {
    let takes_value = matches!(key.form, Form::Value | Form::FlagOrValue | Form::ListOrValue);
    let value = match given {
        Given::List(list) if takes_value && syn::parse2::<Expr>(list.clone()).is_ok() => {
            // A value of another kind would be the next mistake.
            let is_text = |text: &str| text.starts_with(['"', '[']);
            let takes_text = key.example.split_once(" = ").is_some_and(|(_, example)| is_text(example));
            shown(list)
                .filter(|value| !takes_text || is_text(value))
                .map(|value| format!("{} = {value}", key.name))
        }
        Given::List(list) if ["group", "alias"].contains(&key.name) => {
            shown(list).map(|value| format!("{} = [{value}]", key.name))
        }
        Given::Value(value) if key.form == Form::List => {
            let value = match value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                    text.parse::<TokenStream>().ok().filter(is_bounds).and_then(|value| shown(&value))
                }
                _ => Some(value.to_token_stream()).filter(is_bounds).and_then(|value| shown(&value)),
            };
            value.map(|value| format!("{}({value})", key.name))
        }
        _ => None,
    };
    value.unwrap_or_else(|| key.example.to_owned())
}

/// Returns true for a range or a number.
fn is_bounds(tokens: &TokenStream) -> bool {
    matches!(
        syn::parse2::<Expr>(tokens.clone()),
        Ok(Expr::Range(_) | Expr::Lit(ExprLit { lit: Lit::Int(_) | Lit::Float(_), .. }))
    )
}

/// Returns the range that the words of another crate mean: `1, 5`, `min = 1, max = 5`, `"1..5"`.
pub(crate) fn as_range(tokens: &TokenStream) -> Option<String> {
    let metas = NestedMeta::parse_meta_list(tokens.clone()).ok()?;
    let (mut least, mut greatest) = (None, None);
    for meta in &metas {
        match meta {
            NestedMeta::Lit(Lit::Str(text)) if metas.len() == 1 => {
                return text.parse::<TokenStream>().ok().filter(is_bounds).and_then(|range| shown(&range));
            }
            NestedMeta::Lit(number @ (Lit::Int(_) | Lit::Float(_))) if metas.len() == 2 => {
                let end = if least.is_none() { &mut least } else { &mut greatest };
                *end = Some(number.to_token_stream().to_string());
            }
            NestedMeta::Meta(Meta::NameValue(meta)) => {
                let end = match meta.path.get_ident()?.to_string().as_str() {
                    "min" | "minimum" | "from" | "start" | "ge" | "gte" => &mut least,
                    "max" | "maximum" | "to" | "end" | "le" | "lte" => &mut greatest,
                    "equal" => return shown(&meta.value.to_token_stream()),
                    _ => return None,
                };
                *end = shown(&meta.value.to_token_stream());
            }
            _ => return None,
        }
    }
    match (least, greatest) {
        (Some(least), Some(greatest)) => Some(format!("{least}..={greatest}")),
        (Some(least), None) => Some(format!("{least}..")),
        (None, Some(greatest)) => Some(format!("..={greatest}")),
        (None, None) => None,
    }
}

/// Returns true for a field that is only a name: it is read as a key whose value is the variable of this name.
pub(super) fn is_alone(key: &Path, given: &Given) -> bool {
    matches!(given, Given::Value(Expr::Path(value)) if value.path.get_ident() == key.get_ident() && key.get_ident().is_some())
}

/// Returns the message for a value without a key.
pub(super) fn stray(literal: &Lit, attribute: &str, keys: &[Key]) -> String {
    let text = match literal {
        Lit::Str(text) => Some(text.value()),
        _ => None,
    };
    if attribute == "arg" && text.is_some() {
        return "a text without a key; write a doc comment above the argument, `/// …`".to_owned();
    }
    let key = match text {
        Some(text) if text.contains([' ', '.']) => "description",
        Some(_) => "name",
        None => "",
    };
    let value = shown(&literal.to_token_stream()).filter(|_| keys.iter().any(|known| known.name == key));
    match value {
        Some(value) => format!("a value without a key; write `{key} = {value}`"),
        // No other key takes a literal.
        None if keys[0].name == "crate" => format!("`{attribute}` takes no value; remove it"),
        None => format!("a value without a key; write `{}`", keys[0].example),
    }
}

/// Returns the message for `#[arg]` and `#[arg = value]`.
pub(crate) fn arg_without_list(meta: &Meta) -> String {
    match meta {
        Meta::NameValue(meta) => {
            if let Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) = &meta.value {
                return "`#[arg = ..]` is not written like this; write a doc comment above it, `/// …`"
                    .to_owned();
            }
            let value = shown(&meta.value.to_token_stream()).unwrap_or_else(|| "10".to_owned());
            format!("`#[arg = ..]` is not written like this; write `#[arg(default = {value})]`")
        }
        _ => "`#[arg]` says nothing; write for instance `#[arg(default)]`".to_owned(),
    }
}

/// Returns short tokens as a person writes them.
pub(crate) fn shown(tokens: &TokenStream) -> Option<String> {
    let text = flat(tokens).to_string();
    let text = if text.contains('"') { text } else { text.replace(' ', "") };
    (text.chars().count() <= 40 && !text.contains(['\n', '{'])).then_some(text)
}

/// Returns true for an expression that certainly makes a `String`.
pub(super) fn is_made_at_run_time(value: &Expr) -> bool {
    const MACROS: [&str; 4] = ["format", "vec", "format_args", "json"];
    const METHODS: [&str; 8] =
        ["to_string", "to_owned", "into", "to_uppercase", "to_lowercase", "replace", "join", "repeat"];
    match value {
        Expr::Macro(call) => {
            call.mac.path.segments.last().is_some_and(|last| MACROS.iter().any(|name| last.ident == name))
        }
        Expr::MethodCall(call) => {
            METHODS.iter().any(|name| call.method == name) || is_made_at_run_time(&call.receiver)
        }
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => path.path.segments.iter().any(|segment| segment.ident == "String"),
            _ => false,
        },
        Expr::Reference(reference) => is_made_at_run_time(&reference.expr),
        Expr::Binary(binary) => is_made_at_run_time(&binary.left),
        Expr::Paren(paren) => is_made_at_run_time(&paren.expr),
        Expr::Group(group) => is_made_at_run_time(&group.expr),
        _ => false,
    }
}
