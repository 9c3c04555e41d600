//! Limits of markup.

/// The limits of a part's markup, beside those of its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The most bytes in all.
    pub bytes: usize,
    /// The most bytes of tags.
    pub tag_bytes: usize,
    /// The most elements.
    pub elements: usize,
}
