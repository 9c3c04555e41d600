//! The form of a file that is preserved while its content is replaced: the encoding, the byte order mark, the line
//! endings.

use crate::fs::diff::{MAX_LINES, count_lines, same_lines, split};
use crate::fs::text::{self, Decoded, Endings, Form};
use encoding_rs::UTF_8;
use std::borrow::Cow;

/// A content in the form to write.
#[derive(Debug)]
pub(super) struct NewContent {
    pub(super) bytes: Vec<u8>,
    pub(super) lines: usize,
    pub(super) form: Form,
    /// The name of the line endings.
    pub(super) endings: &'static str,
    /// Notes for the model on what was kept or could not be kept.
    pub(super) notes: Vec<String>,
}

impl NewContent {
    /// The content in the form of the file that it replaces.
    ///
    /// The byte order mark and the encoding are kept unless the content begins with a mark itself. Line endings are kept
    /// unless the content has a carriage return anywhere: then it is taken literally. A file with both kinds keeps them
    /// on unchanged lines, and new lines get the kind that most lines have.
    pub(super) fn new(old: Option<&[u8]>, content: &str) -> Self {
        let old = old.filter(|old| !old.is_empty()).and_then(text::decode);
        let (own_mark, text) = match content.strip_prefix('\u{feff}') {
            Some(text) => (true, text),
            None => (false, content),
        };
        let mut notes = Vec::new();
        let old = old.filter(|old| {
            let is_kept = form_is_certain(old) || text.is_ascii();
            if !is_kept {
                notes.push("the file was not valid UTF-8; it is in UTF-8 now".to_owned());
            }
            is_kept
        });
        let mut text = Cow::Borrowed(text);
        let mut form = Form { has_mark: own_mark, ..Form::PLAIN };
        if let Some(old) = &old {
            form = Form { has_mark: old.form.has_mark || own_mark, ..old.form };
            if !text.contains('\r') {
                text = with_endings_of(&old.text, text);
            }
            if matches!(text, Cow::Owned(_)) {
                notes.push(format!("line endings kept: {}", Endings::of(old.text.as_bytes()).name()));
            }
        }
        let lines = split(text.as_bytes()).len();
        let endings = Endings::of(text.as_bytes()).name();
        let bytes = form.encode(&text).unwrap_or_else(|| {
            notes.push(format!(
                "the file was in the encoding {}, which lacks some of these characters; it is in UTF-8 now",
                form.name()
            ));
            form = Form { has_mark: own_mark, ..Form::PLAIN };
            [form.mark(), text.as_bytes()].concat()
        });
        if form != Form::PLAIN && !own_mark {
            let mark = if form.has_mark { " with a byte order mark" } else { "" };
            notes.push(format!("encoding kept: {}{mark}", form.name()));
        }
        Self { bytes, lines, form, endings, notes }
    }
}

impl NewContent {
    /// The bytes as a person can read them.
    pub(super) fn readable(&self) -> Cow<'_, [u8]> {
        readable(&self.bytes, Some(self.form))
    }
}

/// Returns the content of a file in UTF-8, with its mark, if it is text in another encoding; else unchanged.
pub(super) fn readable(bytes: &[u8], form: Option<Form>) -> Cow<'_, [u8]> {
    let (form, text) = match form {
        Some(form) if form.encoding == UTF_8 => return Cow::Borrowed(bytes),
        Some(form) => (form, form.encoding.decode_without_bom_handling(&bytes[form.mark().len()..]).0),
        None => match text::decode(bytes) {
            Some(decoded) if decoded.form.encoding != UTF_8 => (decoded.form, decoded.text),
            _ => return Cow::Borrowed(bytes),
        },
    };
    let mark = if form.has_mark { "\u{feff}" } else { "" };
    Cow::Owned([mark, &text].concat().into_bytes())
}

/// Returns true if the form of a file is more than a guess from one stray byte.
fn form_is_certain(old: &Decoded<'_>) -> bool {
    if old.form.has_mark || old.form.encoding == UTF_8 {
        return true;
    }
    let mut before = ' ';
    let mut count = 0;
    let mut is_in_word = false;
    for character in old.text.chars() {
        if !character.is_ascii() {
            count += 1;
            is_in_word |= character.is_alphabetic() && before.is_ascii_alphabetic();
        }
        if count > 1 {
            return true;
        }
        before = character;
    }
    is_in_word
}

/// A text of which each line ends with `\n`, with the line endings of another.
fn with_endings_of<'a>(old: &str, text: Cow<'a, str>) -> Cow<'a, str> {
    let endings = Endings::of(old.as_bytes());
    if endings.crlf == 0 || text.is_empty() {
        return text;
    }
    if endings.lf == 0 {
        return Cow::Owned(text.replace('\n', "\r\n"));
    }
    let usual = endings.usual().as_bytes();
    // With too many lines no list is built; then all get the usual ending.
    let old = if count_lines(old.as_bytes()) > MAX_LINES { "" } else { old };
    let (old, new) = (split(old.as_bytes()), split(text.as_bytes()));
    let mut ends: Vec<&[u8]> = vec![usual; new.len()];
    for (from, to) in same_lines(&old, &new, without_ending) {
        for (from, to) in from.zip(to) {
            if old[from].ends_with(b"\n") {
                ends[to] = &old[from][without_ending(old[from]).len()..];
            }
        }
    }
    let mut bytes = Vec::with_capacity(text.len() + new.len());
    for (line, end) in new.iter().zip(ends) {
        bytes.extend_from_slice(without_ending(line));
        if line.ends_with(b"\n") {
            bytes.extend_from_slice(end);
        }
    }
    String::from_utf8(bytes).map_or(text, Cow::Owned)
}

fn without_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{UTF_16LE, WINDOWS_1252};

    fn utf_16(text: &str) -> Vec<u8> {
        Form { encoding: UTF_16LE, has_mark: true }.encode(text).unwrap()
    }

    #[test]
    fn what_is_kept() {
        let latin = WINDOWS_1252.encode("über größer\n").0.into_owned();
        for (old, content, expected) in [
            (&b"a\n"[..], "b\n", &b"b\n"[..]),
            (b"a\r\n", "b\nc\n", b"b\r\nc\r\n"),
            (b"a\r\n", "b\nc", b"b\r\nc"),
            // The new content has its own endings.
            (b"a\r\n", "b\r\nc\n", b"b\r\nc\n"),
            (b"a\n", "b\r\n", b"b\r\n"),
            // Lines that stay keep theirs, new ones get that of most.
            (b"a\r\nb\nc\r\n", "a\nb\nx\nc\n", b"a\r\nb\nx\r\nc\r\n"),
            (b"a\r\nb\n", "b\nx\na\n", b"b\nx\na\n"),
            (b"\xEF\xBB\xBFa\n", "b\n", b"\xEF\xBB\xBFb\n"),
            (b"\xEF\xBB\xBFa\n", "\u{feff}b\n", b"\xEF\xBB\xBFb\n"),
            (b"a\n", "\u{feff}b\n", b"\xEF\xBB\xBFb\n"),
            (b"", "b\n", b"b\n"),
            (b"\xEF\xBB\xBFa\r\n", "", b"\xEF\xBB\xBF"),
            (&utf_16("a\r\n"), "b\n", &utf_16("b\r\n")),
            (&utf_16("a\n"), "\u{feff}b\n", &utf_16("b\n")),
            (&latin, "ä\n", b"\xE4\n"),
            (&latin, "日\n", "日\n".as_bytes()),
            (b"caf\xE9\n", "ä\n", b"\xE4\n"),
            // One stray byte is no evidence of an encoding.
            (b"some text \xFF\r\n", "ä\n", "ä\n".as_bytes()),
            // No text: there is nothing to keep.
            (b"a\0\r\n", "b\n", b"b\n"),
        ] {
            let kept = NewContent::new(Some(old), content);
            assert_eq!(kept.bytes, expected, "{old:?} {content:?}");
        }
        assert_eq!(NewContent::new(None, "a\nb").bytes, b"a\nb");
    }

    #[test]
    fn it_says_what_was_kept() {
        for (old, content, expected) in [
            (&b"a\n"[..], "b\n", &[][..]),
            (b"a\r\n", "b\n", &["line endings kept: CRLF"]),
            (b"\xEF\xBB\xBFa\n", "b\n", &["encoding kept: UTF-8 with a byte order mark"]),
            (
                b"\xE4 \xF6\n",
                "\u{65e5}\n",
                &[
                    "the file was in the encoding windows-1252, which lacks some of these characters; it is in UTF-8 now",
                ],
            ),
        ] {
            assert_eq!(NewContent::new(Some(old), content).notes, expected, "{old:?}");
        }
    }
}
