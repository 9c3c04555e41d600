//! The abilities of a platform, and its limits.

use serde::Serialize;

/// The abilities of a platform.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub struct Capabilities {
    /// Texts can be edited.
    pub edit: bool,
    /// Messages can be deleted.
    pub delete: bool,
    /// Messages can get an emoji.
    pub react: bool,
    /// Polls can be sent.
    pub poll: bool,
    /// Buttons can be sent.
    pub buttons: bool,
    /// Files can be sent.
    pub media: bool,
    /// It can show that somebody writes.
    pub typing: bool,
    /// Messages can reply to others.
    pub reply: bool,
    /// Messages can be sent without a sound.
    pub silent: bool,
    /// The platform sends what has the same key once, however often it is handed over.
    pub idempotency_keys: bool,
}

/// The limits of a platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Limits {
    /// The longest text, in units.
    pub text: usize,
    /// The longest caption, in units.
    pub caption: usize,
    /// The most options of a poll.
    pub poll_options: usize,
    /// The most bytes of a button's data.
    pub button_data: usize,
    /// The most bytes of a file that is sent.
    pub media_out: u64,
    /// The most bytes of a file that is fetched.
    pub media_in: u64,
}

impl Limits {
    /// The limits of texts and captions. The others are small: 10 options, 64 bytes, 5 MiB for a file.
    pub const fn new(text: usize, caption: usize) -> Self {
        Self { text, caption, poll_options: 10, button_data: 64, media_out: 5 << 20, media_in: 5 << 20 }
    }
}
