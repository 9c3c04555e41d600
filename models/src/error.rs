//! Failures of requests to a model.

use crate::message::AssistantMessage;
use std::time::Duration;

/// Why a request got no whole answer. No message holds a key.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No such model is configured, or its configuration cannot be used.
    #[error("{message}")]
    Configuration {
        /// The whole message.
        message: String,
    },
    /// The request cannot be made: it asks for something that the provider cannot be told.
    #[error("request to model `{model}` failed: {message}")]
    Request {
        /// The configured name.
        model: String,
        /// Why, and what to do.
        message: String,
    },
    /// No connection, or it ended before an answer began.
    #[error(
        "request to model `{model}` failed: no connection to {place} ({reason}); check that the server runs and `models.{model}.baseUrl`"
    )]
    Connect {
        /// The configured name.
        model: String,
        /// Scheme, host and port.
        place: String,
        /// Why.
        reason: String,
    },
    /// Nothing arrived for too long.
    #[error(
        "request to model `{model}` failed: nothing arrived for {} seconds; try again, or raise `models.{model}.idleTimeoutSeconds`",
        after.as_secs()
    )]
    Timeout {
        /// The configured name.
        model: String,
        /// How long nothing arrived.
        after: Duration,
        /// The part of the answer that had arrived.
        partial: Box<AssistantMessage>,
    },
    /// Too many requests.
    #[error(
        "request to model `{model}` failed: too many requests ({message}); {}",
        match retry_after { Some(wait) => format!("try again after {} seconds", wait.as_secs()), None => "try again later".to_owned() }
    )]
    RateLimited {
        /// The configured name.
        model: String,
        /// The provider's message.
        message: String,
        /// The wait that the provider asks for.
        retry_after: Option<Duration>,
    },
    /// The account has no credit, or its quota is used up.
    #[error(
        "request to model `{model}` failed: the account has no credit or quota left ({message}); check the account at the provider"
    )]
    Quota {
        /// The configured name.
        model: String,
        /// The provider's message.
        message: String,
    },
    /// The conversation does not fit the context window.
    #[error(
        "request to model `{model}` failed: the conversation is longer than the context window ({message}); shorten it"
    )]
    ContextTooLong {
        /// The configured name.
        model: String,
        /// The provider's message.
        message: String,
    },
    /// The provider does not answer such a request.
    #[error("request to model `{model}` failed: the provider refused it ({message}); change the request")]
    Refused {
        /// The configured name.
        model: String,
        /// The provider's message.
        message: String,
    },
    /// The key is missing or wrong.
    #[error(
        "request to model `{model}` failed: the provider did not accept the key ({message}); check `models.{model}.apiKey`"
    )]
    Unauthorized {
        /// The configured name.
        model: String,
        /// The provider's message.
        message: String,
    },
    /// Another failure that the provider states by a status code.
    #[error("request to model `{model}` failed: status {status} ({message}); {}", advice(*status, model))]
    Status {
        /// The configured name.
        model: String,
        /// The status code of HTTP.
        status: u16,
        /// The provider's message.
        message: String,
        /// The wait that the provider asks for.
        retry_after: Option<Duration>,
    },
    /// The answer broke off, or the provider failed in the middle of it. How many tokens it took is unknown.
    #[error("answer of model `{model}` broke off: {message}; ask again")]
    Stream {
        /// The configured name.
        model: String,
        /// Why.
        message: String,
        /// The part of the answer that had arrived, without tool calls that were not whole.
        partial: Box<AssistantMessage>,
    },
    /// The answer is not in the provider's format.
    #[error(
        "answer of model `{model}` cannot be read: {message}; check `models.{model}.provider` and `models.{model}.baseUrl`"
    )]
    Format {
        /// The configured name.
        model: String,
        /// The reason.
        message: String,
        /// The part of the answer that had arrived.
        partial: Box<AssistantMessage>,
    },
    /// The request was not sent, since a budget does not allow it.
    #[error("request to model `{model}` was not sent: {exceeded}")]
    Budget {
        /// The configured name.
        model: String,
        /// The budget, and by how much the request would pass it.
        exceeded: Box<crate::exceeded::BudgetExceeded>,
    },
    /// The request was cancelled.
    #[error("request was cancelled")]
    Cancelled {
        /// The part of the answer that had arrived.
        partial: Box<AssistantMessage>,
    },
}

fn advice(status: u16, model: &str) -> String {
    match status {
        404 => format!("check `models.{model}.model` and `models.{model}.baseUrl`"),
        300..=399 => format!("set `models.{model}.baseUrl` to the address that it moved to"),
        400 | 422 => "the provider does not take the request".to_owned(),
        413 => "shorten the conversation".to_owned(),
        _ => "try again later".to_owned(),
    }
}

impl ModelError {
    /// Returns true if the same request may succeed later: it met no connection, a limit of requests, or a failure of the server.
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Timeout { .. } | Self::RateLimited { .. } | Self::Stream { .. } => {
                true
            }
            Self::Status { status, .. } => matches!(*status, 408 | 409 | 425 | 500..),
            _ => false,
        }
    }

    /// Returns true if another model may succeed: all failures but those of the request itself.
    pub const fn is_of_this_model(&self) -> bool {
        match self {
            Self::Status { status, .. } => !matches!(*status, 400 | 413 | 422),
            Self::Request { .. } | Self::Budget { .. } | Self::Cancelled { .. } => false,
            _ => true,
        }
    }

    /// Returns the wait that the provider asks for.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Returns the part of an answer that had arrived, if there is one. Its tool calls are whole, and must not be run.
    pub fn partial(&self) -> Option<&AssistantMessage> {
        match self {
            Self::Timeout { partial, .. }
            | Self::Stream { partial, .. }
            | Self::Format { partial, .. }
            | Self::Cancelled { partial } => {
                Some(partial).filter(|partial| !partial.is_empty()).map(|partial| &**partial)
            }
            _ => None,
        }
    }
}
