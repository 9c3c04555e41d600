//! The kind of text in a file: its byte order mark, its encoding, its line endings.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use std::borrow::Cow;

/// Number of bytes examined to detect the kind of a file.
pub(crate) const SAMPLE_BYTES: usize = 64 * 1024;
/// Number of bytes examined at once when a whole file is examined.
// No test covers the number: it only affects speed, the result is the same.
const PART_BYTES: usize = 64 * 1024;
/// Inverse of the maximum share of control characters in text.
const ONE_CONTROL_IN: usize = 50;

/// Encoding of a text in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    /// The encoding.
    pub(crate) encoding: &'static Encoding,
    /// True if a byte order mark precedes the text.
    pub(crate) has_mark: bool,
}

/// The kind of a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text.
    Text(Form),
    /// UTF-8 text with some invalid bytes.
    Damaged,
    /// No text.
    Binary,
}

/// A text from whose form every byte can be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decoded<'a> {
    /// The text, without its byte order mark.
    pub(crate) text: Cow<'a, str>,
    /// Encoding of the original.
    pub(crate) form: Form,
}

impl Form {
    /// UTF-8 without a mark.
    pub(crate) const PLAIN: Self = Self { encoding: UTF_8, has_mark: false };

    /// The bytes of the mark.
    pub(crate) fn mark(self) -> &'static [u8] {
        match self.has_mark {
            false => b"",
            true if self.encoding == UTF_16LE => b"\xFF\xFE",
            true if self.encoding == UTF_16BE => b"\xFE\xFF",
            true => b"\xEF\xBB\xBF",
        }
    }

    /// Returns true if the bytes of line endings are those of ASCII, and have no other meaning.
    pub(crate) fn has_ascii_lines(self) -> bool {
        self.encoding != UTF_16LE && self.encoding != UTF_16BE
    }

    /// Encodes a text in this form, with the byte order mark. `None` if a character cannot be encoded.
    pub(crate) fn encode(self, text: &str) -> Option<Vec<u8>> {
        let mut bytes = self.mark().to_vec();
        if self.encoding == UTF_16LE {
            bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        } else if self.encoding == UTF_16BE {
            bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
        } else {
            let (encoded, _, is_lossy) = self.encoding.encode(text);
            if is_lossy {
                return None;
            }
            bytes.extend_from_slice(&encoded);
        }
        Some(bytes)
    }

    /// Returns its name for a person or a model.
    pub(crate) fn name(self) -> &'static str {
        self.encoding.name()
    }
}

/// Detects the kind of a file by its beginning. `is_whole` is true if that is the whole file.
pub(crate) fn kind(sample: &[u8], is_whole: bool) -> Kind {
    let form = |encoding, has_mark| Form { encoding, has_mark };
    if let Some((encoding, length)) = Encoding::for_bom(sample) {
        let form = form(encoding, true);
        let text = &sample[length..];
        // Text that begins with a NUL in UTF-16 is UTF-32, which is unsupported.
        let is_text = if form.has_ascii_lines() { !text.contains(&0) } else { !text.starts_with(&[0, 0]) };
        return match is_text {
            false => Kind::Binary,
            true if form.encoding == UTF_8 && !is_utf8(text, is_whole) => Kind::Damaged,
            true => Kind::Text(form),
        };
    }
    if memchr::memchr(0, sample).is_some() {
        return Kind::Binary;
    }
    let controls = sample.iter().filter(|byte| is_control(**byte)).count();
    if is_utf8(sample, is_whole) {
        // The output of programs contains a few; more indicate a binary format.
        return if controls * 4 > sample.len() { Kind::Binary } else { Kind::Text(Form::PLAIN) };
    }
    if controls * ONE_CONTROL_IN > sample.len() {
        return Kind::Binary;
    }
    let (mut good, mut bad) = (0, 0);
    for chunk in sample.utf8_chunks() {
        good += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    // Bytes of another encoding are hardly ever by chance a character of UTF-8.
    if good > bad {
        return Kind::Damaged;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, is_whole);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    // One of UTF-16 without a mark, or one that has no such byte, is a guess that cannot be right.
    let fits = encoding.is_ascii_compatible() && is_decodable(encoding, sample, is_whole);
    Kind::Text(form(if fits { encoding } else { encoding_rs::WINDOWS_1252 }, false))
}

/// Returns true if it is UTF-8 without a byte of zero. Both are looked for in one part after the other, while the processor has it.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        let end = bytes.len().min(at + PART_BYTES);
        let part = &bytes[at..end];
        if memchr::memchr(0, part).is_some() {
            return false;
        }
        at = match std::str::from_utf8(part) {
            Ok(_) => end,
            // A character may go on in the next part.
            Err(error) if error.error_len().is_none() && end < bytes.len() => at + error.valid_up_to(),
            Err(_) => return false,
        };
    }
    true
}

/// Decodes a whole file. `None` if it is not text, or if some of its bytes would be lost.
pub(crate) fn decode(bytes: &[u8]) -> Option<Decoded<'_>> {
    let Kind::Text(form) = kind(bytes, true) else { return None };
    let content = &bytes[form.mark().len()..];
    if form.encoding == UTF_8 {
        let text = std::str::from_utf8(content).ok()?;
        return Some(Decoded { text: Cow::Borrowed(text), form });
    }
    let text = form.encoding.decode_without_bom_handling_and_without_replacement(content)?;
    let decoded = Decoded { text, form };
    (form.encode(&decoded.text)? == bytes).then_some(decoded)
}

/// Number of line endings of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Endings {
    /// `\n` alone.
    pub(crate) lf: usize,
    /// `\r\n`.
    pub(crate) crlf: usize,
    /// `\r` alone, which ends no line here.
    pub(crate) cr: usize,
}

impl Endings {
    /// Counts the line endings of a text in UTF-8, or in another encoding with ASCII line endings.
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut endings = Self::default();
        for end in memchr::memchr_iter(b'\n', text) {
            match end.checked_sub(1).map(|before| text[before]) {
                Some(b'\r') => endings.crlf += 1,
                _ => endings.lf += 1,
            }
        }
        endings.cr = memchr::memchr_iter(b'\r', text).count() - endings.crlf;
        endings
    }

    /// Returns the most frequent line ending; `\n` if there is none.
    pub(crate) fn usual(self) -> &'static str {
        if self.crlf > self.lf { "\r\n" } else { "\n" }
    }

    /// Returns their name.
    pub(crate) fn name(self) -> &'static str {
        match (self.lf, self.crlf) {
            (0, 0) => "none",
            (_, 0) => "LF",
            (0, _) => "CRLF",
            _ => "mixed",
        }
    }
}

fn is_utf8(sample: &[u8], is_whole: bool) -> bool {
    match std::str::from_utf8(sample) {
        Ok(_) => true,
        // The sample may end within a character.
        Err(error) => !is_whole && error.error_len().is_none(),
    }
}

fn is_decodable(encoding: &'static Encoding, sample: &[u8], is_whole: bool) -> bool {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let Some(room) = decoder.max_utf8_buffer_length_without_replacement(sample.len()) else { return false };
    let mut text = vec![0; room];
    let (result, _, _) = decoder.decode_to_utf8_without_replacement(sample, &mut text, is_whole);
    result == encoding_rs::DecoderResult::InputEmpty
}

/// Returns true for bytes that do not occur in text: all control characters except those that move the cursor or set colours.
fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=6 | 14..=26 | 28..=31 | 127)
}

#[cfg(test)]
mod tests;
