//! Files.

/// A file that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl File {
    /// A file.
    pub fn new(name: &str, media_type: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.to_owned(), media_type: media_type.to_owned(), bytes: bytes.into() }
    }
}
