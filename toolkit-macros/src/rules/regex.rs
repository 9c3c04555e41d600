//! `pattern`: checked by the code that is used at run time, the ECMA-262 translation and the engine of `jsonschema`.

use super::{Constraint, Kind, Literal, TypeForm};
use crate::check::{Check, Errors};
use crate::keys::{Entry, Text};
#[cfg(feature = "patterns")]
use fancy_regex::Regex;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::LitStr;

struct Pattern(LitStr);

/// Reads `pattern = ".."`.
pub(super) fn pattern(entry: &Entry, errors: &mut Errors) -> Option<Box<dyn Constraint>> {
    match entry.text(errors)? {
        Text::Literal(pattern) => check(&pattern, errors).then(|| Box::new(Pattern(pattern)) as _),
        Text::Expression(other) => {
            entry.wrong(&other, "a string literal, so that it can be checked here", errors);
            None
        }
    }
}

impl Constraint for Pattern {
    fn keywords(&self) -> &'static [&'static str] {
        &["pattern"]
    }

    fn type_check(&self) -> (Check, &'static str, Span) {
        (Check::PatternType, "patterned", self.0.span())
    }

    fn rules(&self, _: Kind) -> Vec<TokenStream> {
        let pattern = &self.0;
        vec![quote!(__toolkit::Rule::Pattern(#pattern))]
    }

    fn attributes(&self, _: Kind, _: &TokenStream) -> TokenStream {
        let pattern = &self.0;
        quote!(#[schemars(extend("pattern" = #pattern))])
    }

    fn type_fault(&self, _: TypeForm<'_>) -> Option<(TokenStream, String)> {
        None
    }

    fn fault(&self, key: &str, value: &Literal) -> Option<String> {
        let Literal::Str(text) = value else { return None };
        let matches = is_match(&self.0.value(), text)?;
        (!matches).then(|| format!("this {key} does not match the pattern"))
    }
}

#[cfg(feature = "patterns")]
fn check(pattern: &LitStr, errors: &mut Errors) -> bool {
    let text = pattern.value();
    let problem = if text.is_empty() {
        "an empty pattern matches everything; leave it out".to_owned()
    } else if !jsonschema_regex::is_valid_ecma_regex(&text) {
        match Regex::new(&text).err() {
            Some(error) => match unclosed(&text) {
                Some((place, open)) => format!(
                    "the `{open}` of this pattern at character {place} is not closed\nclose it, or write `\\{open}` for the character itself"
                ),
                None => format!("this pattern is no ECMA-262 regular expression\n{error}"),
            },
            None => format!(
                "this pattern is no ECMA-262 regular expression, which JSON Schema uses{}",
                reason(&text)
            ),
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

/// Returns the first group or class of a pattern that is not closed, and its place, counted from 1.
#[cfg(feature = "patterns")]
fn unclosed(pattern: &str) -> Option<(usize, char)> {
    let (mut groups, mut class, mut escaped) = (Vec::new(), None, false);
    for (place, character) in pattern.chars().enumerate() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' => class = None,
            '[' if class.is_none() => class = Some(place + 1),
            '(' if class.is_none() => groups.push(place + 1),
            ')' if class.is_none() => drop(groups.pop()),
            _ => {}
        }
    }
    class.map(|place| (place, '[')).or_else(|| groups.first().map(|place| (*place, '(')))
}

/// Returns the part of a pattern that other engines have and ECMA-262 has not, with what to write instead.
#[cfg(feature = "patterns")]
fn reason(pattern: &str) -> String {
    const PARTS: [(&str, &str); 12] = [
        ("(?i", "has no flags within: write both cases, as in `[aA]`"),
        ("(?s", "has no flags within: write `[^]` for any character"),
        ("(?m", "has no flags within"),
        ("(?x", "has no flags within"),
        ("(?u", "has no flags within"),
        ("(?-", "has no flags within"),
        ("(?P<", "writes a named group as `(?<name>…)`"),
        ("[:", "has no POSIX classes: write `[A-Za-z]`, `\\d` or `\\p{L}`"),
        ("\\A", "writes the beginning as `^`"),
        ("\\z", "writes the end as `$`"),
        ("\\Z", "writes the end as `$`"),
        ("(?>", "has no atomic groups"),
    ];
    let found = PARTS.iter().find(|(part, _)| pattern.contains(part));
    let possessive = ["++", "*+", "?+", "}+"].into_iter().find(|part| pattern.contains(part));
    match (found, possessive) {
        (Some((part, advice)), _) => format!("\nnot `{part}`: it {advice}"),
        (None, Some(part)) => format!("\nnot `{part}`: it has no possessive quantifiers"),
        (None, None) => String::new(),
    }
}

#[cfg(feature = "patterns")]
fn is_match(pattern: &str, text: &str) -> Option<bool> {
    compile(pattern)?.is_match(text).ok()
}

/// Accepts every pattern: it is checked where the crate is compiled for a host, or for its tests.
#[cfg(not(feature = "patterns"))]
fn check(_: &LitStr, _: &mut Errors) -> bool {
    true
}

#[cfg(not(feature = "patterns"))]
fn is_match(_: &str, _: &str) -> Option<bool> {
    None
}

#[cfg(feature = "patterns")]
fn compile(pattern: &str) -> Option<Regex> {
    let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
    Regex::new(&translated).ok()
}

#[cfg(all(test, feature = "patterns"))]
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
