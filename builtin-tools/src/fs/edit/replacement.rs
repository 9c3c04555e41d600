//! A replacement, as a call of `edit` gives it.

/// A text and its replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replacement<'a> {
    /// The old text.
    pub(crate) old: &'a str,
    /// The new text.
    pub(crate) new: &'a str,
    /// True if all matches are replaced.
    pub(crate) all: bool,
}
