//! Redacts secrets in text and JSON before it gets into history, logs, events or errors.
//!
//! Three kinds of secrets are found:
//!
//! * **values** that the host names: the value of an environment variable, or any text, also in the form they have in
//!   JSON, in a URL and in base64;
//! * **values of one call**: arguments for a parameter marked `#[arg(secret)]`;
//! * **patterns** of keys and tokens of well-known services, JSON web tokens, private keys, passwords in URLs,
//!   authorization headers, and assignments such as `password=…` or `"api_key": "…"`.
//!
//! Without the feature `runtime` there are no patterns: then there is no host either, which would write anything.
//!
//! Patterns are incomplete: a secret that looks like an ordinary word cannot be recognised. Secrets that the host knows
//! should be named.

mod forms;
mod names;
#[cfg(feature = "runtime")]
mod patterns;
#[cfg(all(test, feature = "runtime"))]
mod tests;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

/// The text that replaces a secret.
#[doc(hidden)]
pub const REDACTED: &str = "[redacted]";

/// The minimum length in bytes of a value that is searched for: shorter values occur in too many words.
const SHORTEST: usize = 4;

/// Redacts secrets in text and JSON. Cheap to clone.
///
/// ```
/// use toolkit::text::Redactor;
///
/// let redactor = Redactor::new().value("correct horse");
/// assert_eq!(redactor.redact("the word is correct horse"), "the word is [redacted]");
/// assert_eq!(redactor.redact("curl -H 'X-Api-Key: 0b4e1f7a9c'"), "curl -H 'X-Api-Key: [redacted]'");
/// ```
#[derive(Clone, Default)]
pub struct Redactor {
    /// The secrets that the host named; shared by clones, so that [`learn`](Self::learn) reaches all of them.
    named: Arc<RwLock<Arc<Literals>>>,
    /// The secrets of one call.
    own: Option<Arc<Literals>>,
}

#[derive(Default)]
struct Literals {
    secrets: Vec<String>,
    finder: Option<AhoCorasick>,
}

impl Literals {
    fn new(secrets: Vec<String>) -> Self {
        let mut forms: Vec<String> = secrets.iter().flat_map(|secret| forms::of(secret)).collect();
        forms.sort_unstable();
        forms.dedup();
        // Building fails only if the memory is too small; the literal secrets are found then, but not their encoded
        // forms.
        let build = |forms: &[String]| {
            AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(forms).ok()
        };
        let finder = if forms.is_empty() { None } else { build(&forms).or_else(|| build(&secrets)) };
        Self { secrets, finder }
    }
}

impl Redactor {
    /// Creates a redactor with the built-in patterns.
    pub fn new() -> Self {
        #[cfg(feature = "runtime")]
        patterns::prepare();
        Self::default()
    }

    /// Adds the current value of an environment variable. Does nothing if the variable is not set or has less than 4
    /// bytes.
    #[must_use]
    pub fn env(self, name: &str) -> Self {
        match std::env::var_os(name) {
            Some(secret) => self.value(secret.to_string_lossy()),
            None => self,
        }
    }

    /// Adds this text, if it has at least 4 bytes.
    #[must_use]
    pub fn value(self, secret: impl AsRef<str>) -> Self {
        let secret = secret.as_ref();
        if secret.trim().len() < SHORTEST {
            return self;
        }
        let mut secrets = self.named().secrets.clone();
        secrets.push(secret.to_owned());
        Self { named: Arc::new(RwLock::new(Arc::new(Literals::new(secrets)))), ..self }
    }

    /// Adds secrets to this redactor and to all its clones, whatever has them: histories, events, running calls.
    #[doc(hidden)]
    pub fn learn(&self, secrets: impl IntoIterator<Item = impl Into<String>>) {
        let mut named = self.named.write().unwrap_or_else(PoisonError::into_inner);
        let new = secrets.into_iter().map(Into::into);
        let new: Vec<String> = new
            .filter(|secret: &String| secret.trim().len() >= SHORTEST && !named.secrets.contains(secret))
            .collect();
        if !new.is_empty() {
            *named = Arc::new(Literals::new(named.secrets.iter().cloned().chain(new).collect()));
        }
    }

    fn named(&self) -> Arc<Literals> {
        Arc::clone(&self.named.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds the secrets of one call, kept apart from the named secrets.
    #[must_use]
    #[doc(hidden)]
    pub fn with_own(&self, mut secrets: Vec<String>) -> Self {
        secrets.retain(|secret| secret.trim().len() >= SHORTEST);
        if secrets.is_empty() {
            return self.clone();
        }
        Self { named: Arc::clone(&self.named), own: Some(Arc::new(Literals::new(secrets))) }
    }

    /// Adds secrets to those of the call.
    #[must_use]
    #[doc(hidden)]
    pub fn with_more(&self, mut secrets: Vec<String>) -> Self {
        secrets.extend(self.own.iter().flat_map(|own| own.secrets.iter().cloned()));
        self.with_own(secrets)
    }

    /// Returns the text with `[redacted]` for each secret; borrowed if there is none.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact_to(text, text.len())
    }

    /// Returns the first `limit` bytes of the redacted text. A secret that crosses the limit is found too.
    #[doc(hidden)]
    pub fn redact_to<'a>(&self, text: &'a str, limit: usize) -> Cow<'a, str> {
        let limit = text.floor_char_boundary(limit);
        let secrets = self.find(text);
        if secrets.is_empty() {
            return Cow::Borrowed(&text[..limit]);
        }
        let mut redacted = String::with_capacity(limit);
        let mut from = 0;
        for secret in secrets {
            if secret.start >= limit {
                break;
            }
            redacted.push_str(&text[from..secret.start]);
            redacted.push_str(REDACTED);
            from = secret.end;
        }
        redacted.push_str(text.get(from..limit).unwrap_or_default());
        Cow::Owned(redacted)
    }

    /// Redacts secrets in all strings of a JSON value, including its keys, and the values of keys such as `password`.
    pub fn redact_value(&self, value: &mut Value) {
        self.redact_value_to(value, usize::MAX);
    }

    /// Redacts the value, with each string cut to `limit` bytes.
    #[doc(hidden)]
    pub fn redact_value_to(&self, value: &mut Value, limit: usize) {
        match value {
            Value::String(text) => self.redact_string(text, limit),
            // A number can be a named secret, or a secret of the call.
            Value::Number(number) => {
                if let (true, text) = (self.has_values(), number.to_string())
                    && !self.find_values(&text).is_empty()
                {
                    *value = REDACTED.into();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value_to(item, limit)),
            Value::Object(members) => self.redact_members(members, limit),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Redacts the members of an object, with each string cut to `limit` bytes.
    #[doc(hidden)]
    pub fn redact_members(&self, members: &mut Map<String, Value>, limit: usize) {
        for (name, member) in members.iter_mut() {
            if names::keeps_secret(name, member) {
                *member = REDACTED.into();
            } else {
                self.redact_value_to(member, limit);
            }
        }
        if members.keys().any(|name| !self.find(name).is_empty()) {
            *members = std::mem::take(members)
                .into_iter()
                .map(|(name, member)| (self.redact(&name).into_owned(), member))
                .collect();
        }
    }

    #[doc(hidden)]
    pub fn redact_string(&self, text: &mut String, limit: usize) {
        if let Cow::Owned(redacted) = self.redact_to(text, limit) {
            *text = redacted;
        } else {
            text.truncate(text.floor_char_boundary(limit));
        }
    }

    /// Returns the ranges of the secrets, in order and without overlaps.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = self.find_values(text);
        #[cfg(feature = "runtime")]
        patterns::find(text, &mut found);
        if found.len() > 1 {
            found.sort_unstable_by_key(|secret| secret.start);
            let mut apart: Vec<Range<usize>> = Vec::with_capacity(found.len());
            for secret in found {
                match apart.last_mut() {
                    Some(last) if secret.start <= last.end => last.end = last.end.max(secret.end),
                    _ => apart.push(secret),
                }
            }
            return apart;
        }
        found
    }

    fn find_values(&self, text: &str) -> Vec<Range<usize>> {
        let named = self.named();
        let finders = [Some(&named), self.own.as_ref()];
        let finders = finders.into_iter().flatten().filter_map(|literals| literals.finder.as_ref());
        finders.flat_map(|finder| finder.find_iter(text).map(|found| found.range())).collect()
    }

    /// Returns true if there are named secrets.
    #[doc(hidden)]
    pub fn has_named(&self) -> bool {
        self.has_values()
    }

    /// Returns true if a named secret is in the text.
    #[doc(hidden)]
    pub fn finds_named(&self, text: &str) -> bool {
        !self.find_values(text).is_empty()
    }

    /// Redacts named secrets alone, in all strings and keys of a JSON value.
    #[doc(hidden)]
    pub fn redact_named(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(redacted) = self.without_named(text) {
                    *text = redacted;
                }
            }
            Value::Number(number) => {
                if self.finds_named(&number.to_string()) {
                    *value = REDACTED.into();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_named(item)),
            Value::Object(members) => {
                members.values_mut().for_each(|member| self.redact_named(member));
                if members.keys().any(|name| self.finds_named(name)) {
                    let named = std::mem::take(members).into_iter();
                    *members = named
                        .map(|(name, member)| (self.without_named(&name).unwrap_or(name), member))
                        .collect();
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Returns the text without named secrets, if there is one in it.
    fn without_named(&self, text: &str) -> Option<String> {
        let mut found = self.find_values(text);
        if found.is_empty() {
            return None;
        }
        found.sort_unstable_by_key(|secret| secret.start);
        let (mut redacted, mut from) = (String::with_capacity(text.len()), 0);
        for secret in found {
            if secret.start >= from {
                redacted.push_str(&text[from..secret.start]);
                redacted.push_str(REDACTED);
            }
            from = from.max(secret.end);
        }
        redacted.push_str(&text[from..]);
        Some(redacted)
    }

    /// Returns how many bytes at the end of the text may be the beginning of a named secret.
    #[doc(hidden)]
    pub fn begun_named(&self, text: &str) -> usize {
        let named = self.named();
        let secrets = std::iter::once(&named).chain(&self.own).flat_map(|literals| &literals.secrets);
        let begun = secrets.flat_map(|secret| {
            let ends = secret.char_indices().map(|(end, _)| end).skip(1);
            ends.filter(|end| text.ends_with(&secret[..*end]))
        });
        begun.max().unwrap_or(0)
    }

    fn has_values(&self) -> bool {
        self.named().finder.is_some() || self.own.is_some()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("values", &self.named().secrets.len()).finish_non_exhaustive()
    }
}
