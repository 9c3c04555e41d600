//! Errors of receiving and of sending.

use std::time::Duration;

/// Why something did not arrive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// It was certainly not sent, and may be tried again: the connection could not be made, or the platform asks to wait.
    #[error("not sent: {reason}")]
    NotSent {
        /// Why.
        reason: String,
        /// The time that the platform asks to wait.
        retry_after: Option<Duration>,
    },
    /// The platform refuses the markup of the text: it is sent once more as plain text.
    #[error("the platform refuses the markup: {reason}")]
    Markup {
        /// Why.
        reason: String,
    },
    /// The conversation has another id from now on, such as a group of Telegram that became a supergroup. It was not sent.
    #[error("the conversation is now `{to}`")]
    Moved {
        /// The new id of the peer.
        to: String,
    },
    /// The platform refused it for good.
    #[error("refused: {reason}")]
    Refused {
        /// Why.
        reason: String,
    },
    /// Nobody knows: the connection ended after the first byte had left. Where the platform has idempotency keys, it is sent again.
    #[error("perhaps sent: {reason}")]
    Unknown {
        /// Why.
        reason: String,
    },
}

impl SendError {
    /// It was certainly not sent.
    pub fn not_sent(reason: impl Into<String>) -> Self {
        Self::NotSent { reason: reason.into(), retry_after: None }
    }

    /// It was certainly not sent, and the platform asks to wait.
    pub fn wait(reason: impl Into<String>, retry_after: Duration) -> Self {
        Self::NotSent { reason: reason.into(), retry_after: Some(retry_after) }
    }

    /// It was refused for good.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into() }
    }

    /// Nobody knows whether it arrived.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::Unknown { reason: reason.into() }
    }
}

/// Why nothing could be received. It is tried again for ever, with pauses that grow, and the health of the channel says so meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct ReceiveError {
    /// Why, without any secret.
    pub reason: String,
    /// The time that the platform asks to wait.
    pub retry_after: Option<Duration>,
}

impl ReceiveError {
    /// The reason, without any secret.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), retry_after: None }
    }

    /// Sets the time that the platform asks to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }
}
