//! Bodies of the type `multipart/form-data`.

use crate::request::Payload;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};

/// A form with fields and files.
pub(super) struct Form {
    boundary: String,
    bytes: Vec<u8>,
}

impl Form {
    /// A form for a file. Its boundary is random, so that no file can contain it on purpose.
    pub(super) fn new(file: &[u8]) -> Self {
        Self { boundary: boundary(), bytes: Vec::with_capacity(file.len() + 4096) }
    }

    /// Adds a text.
    pub(super) fn field(&mut self, name: &str, text: &str) {
        self.begin(&format!("form-data; name=\"{name}\""), None);
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// Adds a file. A name or type that could end its header is changed.
    pub(super) fn file(&mut self, name: &str, file_name: &str, media_type: &str, bytes: &[u8]) {
        let file_name = if file_name.is_empty() { "file" } else { file_name };
        let file_name = quoted(file_name);
        let media_type = if is_media_type(media_type) { media_type } else { "application/octet-stream" };
        self.begin(&format!("form-data; name=\"{name}\"; filename=\"{file_name}\""), Some(media_type));
        self.bytes.extend_from_slice(bytes);
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// Returns the body.
    pub(super) fn finish(mut self) -> Payload {
        self.bytes.extend_from_slice(format!("--{}--\r\n", self.boundary).as_bytes());
        Payload {
            content_type: format!("multipart/form-data; boundary={}", self.boundary),
            bytes: self.bytes,
        }
    }

    fn begin(&mut self, disposition: &str, media_type: Option<&str>) {
        let mut head = format!("--{}\r\ncontent-disposition: {disposition}\r\n", self.boundary);
        if let Some(media_type) = media_type {
            head.extend(["content-type: ", media_type, "\r\n"]);
        }
        head.push_str("\r\n");
        self.bytes.extend_from_slice(head.as_bytes());
    }
}

/// Each hasher of the standard library has keys of its own from the system's randomness.
fn boundary() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("toolkit-{:016x}{:016x}", half(), half())
}

/// Returns a name as it stands between quotes, in the way of browsers.
fn quoted(name: &str) -> String {
    let mut quoted = String::with_capacity(name.len());
    for char in name.chars() {
        match char {
            '"' => quoted.push_str("%22"),
            '\\' | '/' => quoted.push('_'),
            char if char.is_control() => quoted.push('_'),
            char => quoted.push(char),
        }
    }
    quoted
}

fn is_media_type(text: &str) -> bool {
    let is_allowed = |char: char| {
        char.is_ascii_alphanumeric() || matches!(char, '/' | '-' | '+' | '.' | '_' | ';' | '=' | ' ')
    };
    text.contains('/') && text.len() <= 200 && text.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_or_type_ends_its_header() {
        let mut form = Form::new(b"bytes");
        form.field("chat_id", "5");
        form.file("photo", "a\"b\r\nx: y\\../ä.png", "image/png\r\nx: y", b"--bytes--");
        let boundary = form.boundary.clone();
        let payload = form.finish();
        let expected = format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"chat_id\"\r\n\r\n5\r\n--{boundary}\r\n\
             content-disposition: form-data; name=\"photo\"; filename=\"a%22b__x: y_.._ä.png\"\r\n\
             content-type: application/octet-stream\r\n\r\n--bytes--\r\n--{boundary}--\r\n"
        );
        assert_eq!(String::from_utf8(payload.bytes).unwrap(), expected);
        assert_eq!(payload.content_type, format!("multipart/form-data; boundary={boundary}"));
        assert_ne!(boundary, super::boundary());
    }
}
