//! `pattern`: checked by the code that is used at run time, the ECMA-262 translation and the engine of `jsonschema`.

use crate::check::{Check, Errors};
use fancy_regex::Regex;
use syn::LitStr;

pub(super) fn check(pattern: &LitStr, errors: &mut Errors) -> bool {
    let text = pattern.value();
    let problem = if text.is_empty() {
        "an empty pattern matches everything; leave it out".to_owned()
    } else if !jsonschema_regex::is_valid_ecma_regex(&text) {
        match Regex::new(&text).err() {
            Some(error) => format!("this pattern is no ECMA-262 regular expression\n{error}"),
            None => "this pattern is no ECMA-262 regular expression, which JSON Schema uses".to_owned(),
        }
    } else {
        match compile(&text) {
            Some(_) => return true,
            None => "the regular expression engine does not support this pattern".to_owned(),
        }
    };
    errors.push(Check::Regex, pattern, problem);
    false
}

pub(super) fn compile(pattern: &str) -> Option<Regex> {
    let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
    Regex::new(&translated).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, legal) in [
            ("^[a-z]+$", true),
            (r"^\d{4}-\d{2}$", true),
            (r"^(?=.*a).+$", true),
            (r"^(a)\1$", true),
            (r"\p{L}", true),
            ("[a-", false),
            ("(", false),
            ("a{2,1}", false),
            ("*", false),
            ("", false),
        ] {
            let mut errors = Errors::default();
            let literal = LitStr::new(pattern, proc_macro2::Span::call_site());
            assert_eq!(check(&literal, &mut errors), legal, "{pattern}");
            assert_eq!(errors.is_empty(), legal, "{pattern}");
        }
    }
}
