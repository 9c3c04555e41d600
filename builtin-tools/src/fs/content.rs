//! Conversion of a file's content to UTF-8 text from any encoding, and back.

use super::text::{self, Form, Kind};
use encoding_rs::UTF_8;
use std::borrow::Cow;
use toolkit::prelude::*;

/// The content of a file, in UTF-8 but for bytes that are no text in a file of it.
#[derive(Debug, Clone)]
pub(super) struct Content<'a> {
    /// The whole file, if it is UTF-8; otherwise the text without the byte order mark.
    pub(super) bytes: Cow<'a, [u8]>,
    /// Encoding, if it is not UTF-8.
    form: Option<Form>,
}

impl<'a> Content<'a> {
    /// Decodes the content of the file shown as `path`.
    ///
    /// # Errors
    ///
    /// If it is not text, or a change could not preserve the other bytes.
    pub(super) fn of(bytes: &'a [u8], path: &str) -> Result<Self, ToolError> {
        let as_it_is = Self { bytes: Cow::Borrowed(bytes), form: None };
        if text::is_plain(bytes) {
            return Ok(as_it_is);
        }
        match text::kind(bytes, true) {
            Kind::Binary => {
                Err(ToolError::failed(format!("{path} is a binary file, and this tool changes text")))
            }
            Kind::Damaged => Ok(as_it_is),
            Kind::Text(form) if form.encoding == UTF_8 => Ok(as_it_is),
            Kind::Text(form) => match text::decode(bytes) {
                Some(decoded) => {
                    let bytes = Cow::Owned(decoded.text.into_owned().into_bytes());
                    Ok(Self { bytes, form: Some(decoded.form) })
                }
                None => Err(ToolError::failed(format!(
                    "{path} seems to be written in {}, but has bytes that are not valid in it; a change would lose them",
                    form.name()
                ))),
            },
        }
    }

    /// Takes the bytes unchanged, without examining them.
    pub(super) fn verbatim(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { bytes: bytes.into(), form: None }
    }

    /// Converts the content to text, unless it is text already.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub(super) fn into_text(self, path: &str) -> Result<Self, ToolError> {
        match self {
            Self { bytes: Cow::Borrowed(bytes), form: None } => Self::of(bytes, path),
            text => Ok(text),
        }
    }

    /// Another content of the same kind.
    pub(super) fn with_bytes(self, bytes: Vec<u8>) -> Self {
        Self { bytes: Cow::Owned(bytes), form: self.form }
    }

    /// Converts the content to the form it has in the file.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub(super) fn into_file(self, path: &str) -> Result<Vec<u8>, ToolError> {
        let Self { bytes, form } = self;
        Self { bytes: Cow::Borrowed(&[]), form }.encode(bytes.into_owned(), path)
    }

    /// Decodes another content of the same file with the same encoding, if possible: detection in a short text may find
    /// another one.
    pub(super) fn decode_alike<'b>(&self, other: &'b [u8]) -> Cow<'b, [u8]> {
        match self.form {
            Some(form) if std::str::from_utf8(other).is_err() => {
                let text = other.strip_prefix(form.mark()).unwrap_or(other);
                Cow::Owned(form.encoding.decode_without_bom_handling(text).0.into_owned().into_bytes())
            }
            _ => Content::of(other, "").map_or(Cow::Borrowed(other), |content| content.bytes),
        }
    }

    /// Returns true if the file has other bytes than its text.
    pub(super) fn is_encoded(&self) -> bool {
        self.form.is_some()
    }

    /// Encodes a changed content in the file's encoding.
    ///
    /// # Errors
    ///
    /// If the file's encoding lacks a character.
    pub(super) fn encode(&self, changed: Vec<u8>, path: &str) -> Result<Vec<u8>, ToolError> {
        let Some(form) = self.form else { return Ok(changed) };
        let text = std::str::from_utf8(&changed).ok();
        text.and_then(|text| form.encode(text)).ok_or_else(|| {
            ToolError::failed(format!(
                "{path} is written in {}, which lacks a character of the new text; use other characters, or ask the \
                 person whether to rewrite the file in UTF-8",
                form.name()
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::WINDOWS_1252;

    #[test]
    fn other_encodings_come_back_and_stay() {
        let utf16 = Form { encoding: encoding_rs::UTF_16LE, has_mark: true }.encode("größe\r\n").unwrap();
        let latin = WINDOWS_1252.encode("größe\r\n").0.into_owned();
        for bytes in [utf16, latin] {
            let content = Content::of(&bytes, "x").unwrap();
            assert_eq!(&*content.bytes, "größe\r\n".as_bytes());
            assert_eq!(content.encode(content.bytes.to_vec(), "x").unwrap(), bytes);
        }
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        let latin = WINDOWS_1252.encode("größe").0.into_owned();
        let content = Content::of(&latin, "x").unwrap();
        let error = content.encode("größe→".into(), "x").unwrap_err().to_string();
        assert!(error.contains("x is written in windows-1252"), "{error}");
        let error = Content::of(b"a\0b", "x").err().unwrap().to_string();
        assert!(error.contains("binary file"), "{error}");
    }
}
