//! The bytes of a text file as UTF-8, from any encoding.

use crate::fs::text::Form;
use encoding_rs::{CoderResult, Decoder};
use std::io::{self, BufRead, Read};

/// Number of bytes per read.
pub(super) const BUFFER_BYTES: usize = 256 * 1024;
/// Number of bytes decoded at once.
const DECODED_AT_ONCE: usize = 64 * 1024;

/// A text file from its beginning, without its byte order mark.
pub(super) enum Source<R> {
    /// UTF-8, or nearly so.
    Plain(R),
    /// A file in another encoding.
    Decoded(Box<Decoding<R>>),
}

impl<R: BufRead> Source<R> {
    /// Creates a source for the rest of the file.
    pub(super) fn new(mut file: R, form: Form) -> Self {
        file.consume(form.mark().len());
        if form.encoding == encoding_rs::UTF_8 {
            return Self::Plain(file);
        }
        Self::Decoded(Box::new(Decoding::new(file, form.encoding.new_decoder_without_bom_handling())))
    }

    /// Returns true if the file contained data that is invalid in its encoding; for UTF-8, each line records it.
    pub(super) fn has_errors(&self) -> bool {
        matches!(self, Self::Decoded(decoding) if decoding.has_errors)
    }
}

impl<R: BufRead> Read for Source<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Plain(file) => file.fill_buf(),
            Self::Decoded(decoding) => decoding.fill_buf(),
        }
    }

    fn consume(&mut self, count: usize) {
        match self {
            Self::Plain(file) => file.consume(count),
            Self::Decoded(decoding) => decoding.consume(count),
        }
    }
}

/// Decodes while reading.
pub(super) struct Decoding<R> {
    from: R,
    decoder: Decoder,
    text: Vec<u8>,
    /// The start of the part of `text` that is still to be read.
    start: usize,
    end: usize,
    is_over: bool,
    has_errors: bool,
}

impl<R: BufRead> Decoding<R> {
    pub(super) fn new(from: R, decoder: Decoder) -> Self {
        let text = vec![0; DECODED_AT_ONCE];
        Self { from, decoder, text, start: 0, end: 0, is_over: false, has_errors: false }
    }

    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.start == self.end && !self.is_over {
            let bytes = self.from.fill_buf()?;
            let is_last = bytes.is_empty();
            let (result, used, written, has_errors) =
                self.decoder.decode_to_utf8(bytes, &mut self.text, is_last);
            self.from.consume(used);
            self.has_errors |= has_errors;
            (self.start, self.end) = (0, written);
            self.is_over = is_last && result == CoderResult::InputEmpty;
        }
        Ok(&self.text[self.start..self.end])
    }

    fn consume(&mut self, count: usize) {
        self.start += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{UTF_16LE, WINDOWS_1252};
    use std::io::BufReader;

    #[test]
    fn what_is_decoded_does_not_depend_on_the_buffer() {
        let text = "one 🦀\r\ntwo äöü\n".repeat(10);
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for capacity in 1..20 {
            let from = BufReader::with_capacity(capacity, &*bytes);
            let mut decoding = Decoding::new(from, UTF_16LE.new_decoder_without_bom_handling());
            let mut read = Vec::new();
            loop {
                let part = decoding.fill_buf().unwrap().to_vec();
                if part.is_empty() {
                    break;
                }
                decoding.consume(part.len());
                read.extend(part);
            }
            assert_eq!(String::from_utf8(read).unwrap(), text, "{capacity}");
            assert!(!decoding.has_errors);
        }
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        for (encoding, bytes, expected, has_errors) in [
            (UTF_16LE, &b"a\0b"[..], "a\u{FFFD}", true),
            (UTF_16LE, b"a\0\x3d\xd8", "a\u{FFFD}", true),
            (WINDOWS_1252, b"caf\xe9", "café", false),
        ] {
            let mut decoding = Decoding::new(bytes, encoding.new_decoder_without_bom_handling());
            let mut read = Vec::new();
            while let Ok(part @ [_, ..]) = decoding.fill_buf() {
                read.extend_from_slice(part);
                let count = part.len();
                decoding.consume(count);
            }
            assert_eq!(
                (String::from_utf8(read).unwrap().as_str(), decoding.has_errors),
                (expected, has_errors)
            );
        }
    }
}
