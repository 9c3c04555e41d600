//! Bodies: decompressed, within a limit.

use crate::FetchError;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use std::io::{self, Write};

/// The accepted encodings in requests.
pub(crate) const ACCEPT_ENCODING: &str = "gzip, deflate";

/// A body that is being received.
pub(crate) enum Body {
    Plain(Limited),
    Gzip(Box<MultiGzDecoder<Limited>>),
    /// `deflate` is zlib by the standard, and raw deflate from some servers; the first byte decides.
    DeflateUnknown(Limited),
    Zlib(Box<ZlibDecoder<Limited>>),
    Deflate(Box<DeflateDecoder<Limited>>),
}

/// A buffer of limited size.
#[derive(Debug)]
pub(crate) struct Limited {
    bytes: Vec<u8>,
    limit: usize,
    is_full: bool,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.limit {
            self.is_full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Body {
    /// A body with the encoding that the headers name.
    pub(crate) fn new(headers: &HeaderMap, limit: usize) -> Result<Self, FetchError> {
        let into = Limited { bytes: Vec::new(), limit, is_full: false };
        let names = headers
            .get_all(CONTENT_ENCODING)
            .iter()
            .flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        let names = names.map(|name| String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase());
        let names: Vec<String> = names.filter(|name| !name.is_empty() && name != "identity").collect();
        match &*names {
            [] => Ok(Self::Plain(into)),
            [name] if name == "gzip" || name == "x-gzip" => {
                Ok(Self::Gzip(Box::new(MultiGzDecoder::new(into))))
            }
            [name] if name == "deflate" => Ok(Self::DeflateUnknown(into)),
            // Several encodings, one over the other, are how bombs are made.
            names => Err(FetchError::Encoding(names.join(", ").chars().take(100).collect())),
        }
    }

    /// Adds a piece.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        if let (Self::DeflateUnknown(into), Some(first)) = (&mut *self, bytes.first()) {
            let into = std::mem::replace(into, Limited { bytes: Vec::new(), limit: 0, is_full: false });
            // The lower half of zlib's first byte is the method, 8.
            *self = if first & 0x0f == 8 {
                Self::Zlib(Box::new(ZlibDecoder::new(into)))
            } else {
                Self::Deflate(Box::new(DeflateDecoder::new(into)))
            };
        }
        let written = match self {
            Self::Plain(into) => into.write_all(bytes),
            Self::Gzip(decoder) => decoder.write_all(bytes),
            Self::Zlib(decoder) => decoder.write_all(bytes),
            Self::Deflate(decoder) => decoder.write_all(bytes),
            Self::DeflateUnknown(_) => Ok(()),
        };
        written.map_err(|_| self.fault())
    }

    /// The whole.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, FetchError> {
        let finished = match &mut self {
            Self::Plain(_) | Self::DeflateUnknown(_) => Ok(()),
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Zlib(decoder) => decoder.try_finish(),
            Self::Deflate(decoder) => decoder.try_finish(),
        };
        if finished.is_err() {
            return Err(self.fault());
        }
        let into = self.limited();
        Ok(std::mem::take(&mut into.bytes))
    }

    /// The reason of a failed write: a limit, or data that is damaged.
    fn fault(&mut self) -> FetchError {
        let compressed = !matches!(self, Self::Plain(_));
        let into = self.limited();
        if into.is_full {
            FetchError::BodyTooLarge { limit: into.limit, compressed }
        } else {
            FetchError::Decompression
        }
    }

    fn limited(&mut self) -> &mut Limited {
        match self {
            Self::Plain(into) | Self::DeflateUnknown(into) => into,
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zlib(decoder) => decoder.get_mut(),
            Self::Deflate(decoder) => decoder.get_mut(),
        }
    }
}
