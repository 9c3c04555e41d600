//! The units in which platforms count.

/// A unit of length of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// UTF-16 code units, as Telegram counts.
    Utf16,
    /// Unicode scalar values.
    Chars,
    /// Bytes of UTF-8.
    Bytes,
}

impl Unit {
    /// Counts the units of a text.
    pub fn count(self, text: &str) -> usize {
        match self {
            Self::Utf16 => text.chars().map(char::len_utf16).sum(),
            Self::Chars => text.chars().count(),
            Self::Bytes => text.len(),
        }
    }
}
