//! Where answers go.

use serde::{Deserialize, Serialize};

/// The channel of the gateway's own clients: the command line and the console.
pub const LOCAL_CHANNEL: &str = "local";

/// Where something goes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Target {
    /// The channel, such as `telegram`.
    pub channel: String,
    /// The account of it that sends.
    pub account: String,
    /// The conversation there, with its thread: what is sent to one arrives in order.
    pub conversation: String,
}

impl Target {
    /// A conversation of an account of a channel.
    pub fn new(
        channel: impl Into<String>,
        account: impl Into<String>,
        conversation: impl Into<String>,
    ) -> Self {
        Self { channel: channel.into(), account: account.into(), conversation: conversation.into() }
    }
}
