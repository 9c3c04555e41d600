//! The half of a channel that sends.

use std::pin::Pin;
use std::time::Duration;

use crate::store::Delivery;

/// The future of sending: the platform's own id of what arrived, if it has one.
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<Option<String>, SendError>> + Send + 'a>>;

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

    /// It was refused for good.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into() }
    }

    /// Nobody knows whether it arrived.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::Unknown { reason: reason.into() }
    }
}

/// Sends for one account of a channel.
pub trait SendChannel: Send + Sync + 'static {
    /// The channel, such as `telegram`.
    fn channel(&self) -> &str;

    /// The account that sends.
    fn account(&self) -> &str;

    /// True if the platform sends what has the same [key](Delivery::key) once, however often it is handed over.
    fn has_idempotency_keys(&self) -> bool;

    /// Sends one part. It is called for one part of a conversation at a time, in order; for different conversations at the same time. It
    /// bounds its own time. A future that panics or is dropped counts as [`SendError::Unknown`].
    fn send<'a>(&'a self, delivery: &'a Delivery) -> Sending<'a>;
}
