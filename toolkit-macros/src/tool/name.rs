//! Valid names of tools, groups and permissions: literals are checked here, constants by the compiler.

use crate::check::{Check, Errors, is_disabled};
use crate::keys::{Text, as_list, listed, sentence};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{LitStr, parse_quote};

/// Applies the same rule as `toolkit::text::is_valid_name`, whose test covers this one by a compile-pass case.
fn is_valid_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

pub(super) fn check_name(name: &Text, errors: &mut Errors) {
    if let Text::Literal(literal) = name {
        check_word(Check::Name, "tool", literal, errors);
    }
}

/// Lets the compiler check a constant that is a name, and names it.
pub(super) fn bind(value: Text, what: &str, assertions: &mut TokenStream) -> Text {
    let span = value.span();
    let value = bind_text(value, what, assertions);
    if let (Text::Expression(name), false) = (&value, is_disabled(Check::ConstantName)) {
        let what = if what == "NAME" { "tool" } else { "permission" };
        assertions.extend(quote_spanned!(span=> const _: () = __toolkit::check_name(#what, #name);));
    }
    value
}

/// Lets the compiler check that a constant is a text, and names it, so that one of a wrong type is one error.
pub(super) fn bind_text(value: Text, what: &str, assertions: &mut TokenStream) -> Text {
    let Text::Expression(value) = value else { return value };
    let span = value.span();
    let name = Ident::new(&format!("__TOOLKIT_{what}"), Span::call_site());
    let text = quote_spanned!(span=> __toolkit::Constant(#value).text());
    assertions.extend(quote!(const #name: &str = { use __toolkit::OtherConstant as _; #text };));
    Text::Expression(parse_quote!(#name))
}

pub(super) fn check_word(check: Check, what: &str, word: &LitStr, errors: &mut Errors) {
    let text = word.value();
    if !is_valid_name(&text) {
        errors.push(check, word, format!("{}\n{LEGAL}", bad_word(what, &text)));
    }
}

/// Checks the names of a key that takes one name or a list of them: `group = ["text", "search"]`.
pub(super) fn check_words(check: Check, what: &str, key: &str, words: &[LitStr], errors: &mut Errors) {
    for word in words {
        let text = word.value();
        let has_comma = text.contains(',');
        let parts = listed(&text).filter(|parts| has_comma || parts.iter().all(|part| is_valid_name(part)));
        let Some(parts) = parts else {
            check_word(check, what, word, errors);
            continue;
        };
        let list = as_list(parts.iter().map(|part| legal(part)));
        let list = if words.len() == 1 { format!("{key} = [{list}]") } else { list };
        let fault = format!("`{text}` cannot name a {what}");
        let advice = if has_comma {
            format!("write `{list}`")
        } else {
            format!("`{}` would do, or `{list}` for {}", legal(&text), parts.len())
        };
        errors.push(check, word, sentence(&fault, &advice));
    }
}

/// Checks a kind of permission: none is named like a decision of the configuration.
pub(super) fn check_permission(kind: &LitStr, errors: &mut Errors) {
    let decision = kind.value();
    let advice = match decision.as_str() {
        "allow" => {
            "a tool that may run without approval is `auto_execute`, or `read_only` if it changes nothing"
        }
        "ask" => {
            "remove the key: a tool needs approval before it runs, unless it is `read_only` or `auto_execute`"
        }
        "deny" => {
            "remove the key, and deny the tool by its name in the section `permission` of the configuration"
        }
        _ => return check_word(Check::Permission, "permission", kind, errors),
    };
    let fault = format!(
        "`permission` takes the kind of an action, such as `\"edit\"`, and `{decision}` is a decision"
    );
    errors.push(Check::Permission, kind, format!("{fault}\n{advice}"));
}

/// Ids of plugins and channels are written as cargo writes names.
pub(crate) fn check_id(check: Check, what: &str, id: &LitStr, errors: &mut Errors) {
    let text = id.value();
    if !is_valid_name(&text.replace('-', "_")) {
        let message = if text.is_empty() || text.len() > 64 {
            bad_word(what, &text)
        } else {
            format!("`{text}` is no id of a {what}; `{}` would do", legal(&text))
        };
        let is_for_people = what == "plugin" && text.contains([' ', '.']);
        let for_people = if is_for_people { "\na name for people goes into `title`" } else { "" };
        errors.push(check, id, format!("{message}\n{LEGAL_ID}{for_people}"));
    }
}

pub(super) fn check_own_name(name: &LitStr, errors: &mut Errors) {
    let text = name.value();
    if !is_valid_name(&text) {
        let advice = format!("write `#[tool(name = \"{}\")]`, or rename it", legal(&text));
        errors.push(
            Check::Name,
            name,
            format!("the name of this function cannot name a tool\n{advice}; {LEGAL}"),
        );
    }
}

const LEGAL: &str =
    "names are a lower-case letter, then lower-case letters, digits or `_`, at most 64 in all";

const LEGAL_ID: &str =
    "ids are a lower-case letter, then lower-case letters, digits, `-` or `_`, at most 64 in all";

fn bad_word(what: &str, text: &str) -> String {
    if text.is_empty() {
        return format!("the name of a {what} cannot be empty; `{}` would do", example(what));
    }
    if text.len() > 64 {
        let (length, legal) = (text.len(), legal(text));
        return format!(
            "the name of a {what} has 64 bytes at most, and this one {length}\n`{legal}` would do"
        );
    }
    let separator = if text.len() > 32 { "\n" } else { "; " };
    format!("`{text}` cannot name a {what}{separator}`{}` would do", legal(text))
}

fn example(what: &str) -> &'static str {
    match what {
        "group" => "fs",
        "permission" => "edit",
        "channel" => "telegram",
        "plugin" => "acme",
        _ => "read_file",
    }
}

/// The nearest legal name.
fn legal(text: &str) -> String {
    let mut name = String::new();
    let mut previous_lower = false;
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && previous_lower {
                name.push('_');
            }
            previous_lower = !c.is_ascii_uppercase();
            name.push(c.to_ascii_lowercase());
        } else {
            if !name.ends_with('_') {
                name.push('_');
            }
            previous_lower = false;
        }
    }
    let name: String = name
        .trim_matches('_')
        .trim_start_matches(|c: char| c.is_ascii_digit() || c == '_')
        .chars()
        .take(64)
        .collect();
    if name.is_empty() { "my_tool".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_names_are_proposed() {
        for (given, proposed) in [
            ("ReadFile", "read_file"),
            ("read-file", "read_file"),
            ("READ", "read"),
            ("2read", "read"),
            ("_read_", "read"),
            ("é", "my_tool"),
            ("HTTPGet2", "httpget2"),
        ] {
            assert_eq!(legal(given), proposed, "{given}");
            assert!(is_valid_name(&legal(given)));
        }
    }
}
