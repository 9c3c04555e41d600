//! Secrets taken out of text and JSON before anybody reads it: history, logs, events, errors.
//!
//! Three kinds are found:
//!
//! * **values** that the host names: the value of an environment variable, or any text. Also as they look in JSON, in
//!   a URL and in base64;
//! * **values of one call**: what a caller gave for a parameter marked `#[arg(secret)]`;
//! * **patterns** of keys and tokens of well-known services, JSON web tokens, private keys, passwords in URLs,
//!   authorization headers, and assignments such as `password=…` or `"api_key": "…"`.
//!
//! Patterns are a net with holes: what looks like any other word cannot be told from one. A secret that the host knows
//! should be named.

mod forms;
mod names;
mod patterns;
#[cfg(test)]
mod tests;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What stands where a secret stood.
#[doc(hidden)]
pub const REDACTED: &str = "[redacted]";

/// The fewest bytes of a value that is looked for: shorter ones stand in too many words.
const SHORTEST: usize = 4;

/// Takes secrets out of text and JSON. Cheap to clone.
///
/// ```
/// use toolkit::Redactor;
///
/// let redactor = Redactor::new().value("correct horse");
/// assert_eq!(redactor.redact("the word is correct horse"), "the word is [redacted]");
/// assert_eq!(redactor.redact("curl -H 'X-Api-Key: 0b4e1f7a9c'"), "curl -H 'X-Api-Key: [redacted]'");
/// ```
#[derive(Clone, Default)]
pub struct Redactor {
    named: Arc<Literals>,
    /// Those of one call.
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
        // It fails only for more than the memory of a machine holds; then the plain secrets are still found.
        let build = |forms: &[String]| {
            AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(forms).ok()
        };
        let finder = if forms.is_empty() { None } else { build(&forms).or_else(|| build(&secrets)) };
        Self { secrets, finder }
    }
}

impl Redactor {
    /// One that knows the patterns.
    pub fn new() -> Self {
        patterns::prepare();
        Self::default()
    }

    /// Also the value that an environment variable has now. One that is not set, or has less than 4 bytes, adds
    /// nothing.
    #[must_use]
    pub fn env(self, name: &str) -> Self {
        match std::env::var_os(name) {
            Some(secret) => self.value(secret.to_string_lossy()),
            None => self,
        }
    }

    /// Also this text, if it has at least 4 bytes.
    #[must_use]
    pub fn value(self, secret: impl AsRef<str>) -> Self {
        let secret = secret.as_ref();
        if secret.trim().len() < SHORTEST {
            return self;
        }
        let mut secrets = self.named.secrets.clone();
        secrets.push(secret.to_owned());
        Self { named: Arc::new(Literals::new(secrets)), ..self }
    }

    /// Also the secrets of one call, which stay out of those that are named.
    #[must_use]
    #[doc(hidden)]
    pub fn with_own(&self, mut secrets: Vec<String>) -> Self {
        secrets.retain(|secret| secret.trim().len() >= SHORTEST);
        if secrets.is_empty() {
            return self.clone();
        }
        Self { named: Arc::clone(&self.named), own: Some(Arc::new(Literals::new(secrets))) }
    }

    /// Also these, beside those of the call that it has.
    #[must_use]
    #[doc(hidden)]
    pub fn with_more(&self, mut secrets: Vec<String>) -> Self {
        secrets.extend(self.own.iter().flat_map(|own| own.secrets.iter().cloned()));
        self.with_own(secrets)
    }

    /// The text with `[redacted]` for each secret; borrowed where there is none.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact_to(text, text.len())
    }

    /// The first `limit` bytes of the text. A secret that stands across the limit is found all the same.
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

    /// Takes secrets out of all strings of a JSON value, its keys included, and what stands under a key such as
    /// `password`.
    pub fn redact_value(&self, value: &mut Value) {
        self.redact_value_to(value, usize::MAX);
    }

    /// The same, with each string cut to `limit` bytes.
    #[doc(hidden)]
    pub fn redact_value_to(&self, value: &mut Value, limit: usize) {
        match value {
            Value::String(text) => self.redact_string(text, limit),
            // A number can be a secret that is named, or one of the call.
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

    /// The same for the members of an object.
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

    /// Where the secrets stand, in order, apart from one another.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = self.find_values(text);
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
        let finders = [Some(&self.named), self.own.as_ref()];
        let finders = finders.into_iter().flatten().filter_map(|literals| literals.finder.as_ref());
        finders.flat_map(|finder| finder.find_iter(text).map(|found| found.range())).collect()
    }

    fn has_values(&self) -> bool {
        self.named.finder.is_some() || self.own.is_some()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("values", &self.named.secrets.len()).finish_non_exhaustive()
    }
}
