//! Servers that speak as the documentation of each provider says. They share no code with the clients: a request is checked in the
//! provider's own form, and an answer is written in it.

pub(crate) mod anthropic;
pub(crate) mod chat;
pub(crate) mod gemini;
mod http;
pub(crate) mod responses;

pub(crate) use http::{End, Received, Reply, Server};

use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// An answer of a model, before a provider's form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    pub(crate) parts: Vec<SaidPart>,
    pub(crate) stop: SaidStop,
    /// Ids that calls of other answers had before.
    pub(crate) reused: BTreeSet<String>,
    /// Tokens of the request, those of them from a cache, tokens of the answer.
    pub(crate) usage: Option<(u64, u64, u64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SaidPart {
    Text(String),
    /// Reasoning, with a signature.
    Reasoning(String, String),
    /// Id, name and arguments.
    Call(String, String, String),
    /// A PNG in base64.
    Image(String),
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum SaidStop {
    #[default]
    End,
    Limit,
    Filter,
}

impl Said {
    pub(crate) fn text(text: &str) -> Self {
        Self { parts: vec![SaidPart::Text(text.to_owned())], ..Self::default() }
    }

    pub(crate) fn call(id: &str, name: &str, arguments: &str) -> Self {
        Self {
            parts: vec![SaidPart::Call(id.to_owned(), name.to_owned(), arguments.to_owned())],
            ..Self::default()
        }
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, SaidPart::Call(..)))
    }
}

/// The items that a server has sent in a conversation, and so expects back.
#[derive(Debug, Default)]
pub(crate) struct Issued {
    /// Reasoning by the id of the first call of the answer.
    pub(crate) reasoning: HashMap<String, Vec<(String, String)>>,
    pub(crate) signatures: BTreeSet<String>,
}

impl Issued {
    pub(crate) fn note(&mut self, said: &Said) {
        let mut reasoning = Vec::new();
        for part in &said.parts {
            match part {
                SaidPart::Reasoning(text, signature) => {
                    self.signatures.insert(signature.clone());
                    reasoning.push((text.clone(), signature.clone()));
                }
                SaidPart::Call(id, ..) if !said.reused.contains(id) => {
                    self.reasoning.entry(id.clone()).or_insert_with(|| reasoning.clone());
                }
                _ => {}
            }
        }
    }
}

/// Faults of a request, collected.
#[derive(Debug, Default)]
pub(crate) struct Faults(pub(crate) Vec<String>);

impl Faults {
    pub(crate) fn unless(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds {
            self.0.push(fault());
        }
    }
}

pub(crate) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'))
}

/// Returns true for a text that is a JSON object.
pub(crate) fn is_object(value: &Value) -> bool {
    value.as_str().is_some_and(|text| serde_json::from_str::<serde_json::Map<String, Value>>(text).is_ok())
}

pub(crate) fn str_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Base64 that is not empty.
pub(crate) fn is_base64(text: &str) -> bool {
    !text.is_empty() && data_encoding::BASE64.decode(text.as_bytes()).is_ok()
}

pub(crate) fn is_data_url(url: &str, kinds: &[&str]) -> bool {
    kinds.iter().any(|kind| url.strip_prefix(&format!("data:{kind};base64,")).is_some_and(is_base64))
}

pub(crate) const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// The lines of a server-sent event.
pub(crate) fn event(name: Option<&str>, data: &str) -> String {
    let name = name.map_or_else(String::new, |name| format!("event: {name}\n"));
    format!("{name}data: {data}\n\n")
}

/// A text in pieces of some bytes each, whole characters.
pub(crate) fn pieces(text: &str, bytes: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in text.chars() {
        if pieces.last().is_some_and(|last| last.len() >= bytes) {
            pieces.push(String::new());
        }
        pieces.last_mut().expect("there is one").push(c);
    }
    pieces
}
