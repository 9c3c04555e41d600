//! Patterns: ECMA-262 regular expressions.

use fancy_regex::Regex;
use jsonschema_regex::{PatternAnalysis, analyze_pattern, contains_ecma_whitespace, to_rust_regex};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(super) enum Pattern {
    Prefix(String),
    OneOf(Vec<String>),
    NoWhitespace,
    Regex(Box<Regex>),
}

impl Pattern {
    /// Compiles a pattern; `None` if it is not valid.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        Some(match analyze_pattern(pattern) {
            Some(PatternAnalysis::Prefix(prefix)) => Self::Prefix(prefix.into_owned()),
            Some(PatternAnalysis::Exact(exact)) => Self::OneOf(vec![exact.into_owned()]),
            Some(PatternAnalysis::Alternation(alternatives)) => Self::OneOf(alternatives),
            Some(PatternAnalysis::NoWhitespace) => Self::NoWhitespace,
            None => Self::Regex(Box::new(Regex::new(&to_rust_regex(pattern).ok()?).ok()?)),
        })
    }

    /// Returns true if the pattern matches; `None` if the search was given up, because it took too many steps.
    pub(super) fn is_match(&self, text: &str) -> Option<bool> {
        match self {
            Self::Prefix(prefix) => Some(text.starts_with(prefix)),
            Self::OneOf(alternatives) => Some(alternatives.iter().any(|alternative| alternative == text)),
            Self::NoWhitespace => Some(!contains_ecma_whitespace(text)),
            // The engine below panics on some patterns: https://github.com/rust-lang/regex/issues/1344.
            Self::Regex(regex) => catch_unwind(AssertUnwindSafe(|| regex.is_match(text))).ok()?.ok(),
        }
    }
}
