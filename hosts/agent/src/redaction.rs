//! Removal of the configuration's secrets, such as the key of a model, from transcripts, events and accounts: a server may repeat a
//! key in an answer, and a tool may read one.

use serde::Serialize;
use serde::de::DeserializeOwned;
use toolkit::text::Redactor;

/// Returns a value without named secrets; `None` if it has none.
pub(crate) fn without_secrets<T: Serialize + DeserializeOwned>(redactor: &Redactor, value: &T) -> Option<T> {
    if !redactor.has_named() {
        return None;
    }
    let text = serde_json::to_string(value).ok()?;
    if !redactor.finds_named(&text) {
        return None;
    }
    let mut json = serde_json::from_str(&text).ok()?;
    redactor.redact_named(&mut json);
    serde_json::from_value(json).ok()
}

/// Redacts a text that comes in pieces, a secret that crosses pieces included.
#[derive(Debug, Default)]
pub(crate) struct StreamRedaction {
    /// The end of the text so far, if it may be the beginning of a secret.
    held: String,
}

impl StreamRedaction {
    /// Takes a piece, and returns the text that can be shown now.
    pub(crate) fn push(&mut self, redactor: &Redactor, piece: String) -> String {
        if !redactor.has_named() {
            return piece;
        }
        let mut text = std::mem::take(&mut self.held);
        text.push_str(&piece);
        let mut text = serde_json::Value::String(text);
        redactor.redact_named(&mut text);
        let serde_json::Value::String(mut text) = text else { return String::new() };
        let begun = redactor.begun_named(&text);
        self.held = text.split_off(text.len() - begun);
        text
    }

    /// Returns the rest at the end of the text.
    pub(crate) fn end(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_pieces_is_never_shown() {
        let redactor = Redactor::new().value("sk-123456");
        let text = "the key is sk-123456, not sk-12 nor s";
        for size in 1..text.len() {
            let mut stream = StreamRedaction::default();
            let pieces = text.as_bytes().chunks(size).map(|piece| String::from_utf8(piece.to_vec()).unwrap());
            let mut shown: String = pieces.map(|piece| stream.push(&redactor, piece)).collect();
            shown.push_str(&stream.end());
            assert_eq!(shown, "the key is [redacted], not sk-12 nor s", "{size}");
        }
    }

    #[test]
    fn a_value_without_secrets_is_left_alone() {
        let redactor = Redactor::new().value("sk-\"123");
        let with = vec!["a sk-\"123".to_owned(), "b".to_owned()];
        assert_eq!(without_secrets(&redactor, &with), Some(vec!["a [redacted]".to_owned(), "b".to_owned()]));
        assert_eq!(without_secrets(&redactor, &vec!["a".to_owned()]), None);
        assert_eq!(without_secrets(&Redactor::new(), &with), None);
    }
}
