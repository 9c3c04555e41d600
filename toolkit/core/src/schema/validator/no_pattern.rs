//! Patterns without the feature `runtime`: none compiles, and nothing validates by them.

/// A pattern, of which there is none.
pub(super) enum Pattern {}

impl Pattern {
    /// Returns `None`.
    pub(super) fn new(_: &str) -> Option<Self> {
        None
    }

    /// Never called.
    pub(super) fn is_match(&self, _: &str) -> Option<bool> {
        match *self {}
    }
}
