//! Failures of requests, as a channel states them.

use crate::request::{ApiError, Failure, Payload};
use reqwest::StatusCode;
use serde_json::Value;
use std::time::Duration;
use toolkit::text::escape_line;
use toolkit_channel::{ReceiveError, SendError};
use toolkit_http::{LONGEST_WAIT, Platform};

/// Maximum number of bytes of the answer to a request that sends.
const MAX_ANSWER: usize = 1 << 20;
/// Maximum number of bytes of an answer with updates: a hundred, each with a message of many entities that replies to another one.
const MAX_UPDATES: usize = 32 << 20;

/// Telegram, as failures of requests that send name it.
pub(super) const SENDING: Platform = Platform {
    name: "Telegram",
    section: "channels.telegram.telegram",
    api: "Bot API",
    maybe: "It may have arrived",
    too_many: "Nothing was sent",
    pause: Duration::from_secs(1),
    most: MAX_ANSWER,
};

/// Telegram, as failures of requests that change nothing name it.
pub(super) const RECEIVING: Platform = Platform {
    maybe: "No message is lost by this",
    too_many: "No message is lost by this",
    most: MAX_UPDATES,
    ..SENDING
};

/// Returns a body of JSON for a request that changes nothing.
pub(super) fn json(body: &Value) -> Result<Payload, ReceiveError> {
    Payload::json(body).map_err(|error| ReceiveError::new(format!("the request cannot be written: {error}")))
}

/// Converts the failure of a request that changes nothing.
pub(super) fn receive(failure: Failure) -> ReceiveError {
    let error = match failure {
        Failure::Unanswered { failure, .. } => {
            let wait = failure.retry.filter(|wait| !wait.is_zero());
            return ReceiveError::new(escape_line(&failure.message)).with_retry_after(wait);
        }
        Failure::Error(error) => error,
    };
    let (said, wait) = (error.said(), wait(&error));
    let reason = match error.code {
        401 | 404 => {
            format!("Telegram does not know the bot ({said}): set its token in `channels.telegram.telegram`")
        }
        409 => format!(
            "another program receives the messages of this bot, or a webhook is set for it ({said}): end the other program, \
             or remove the webhook with `deleteWebhook`"
        ),
        429 | 420 => format!("Telegram asks to wait ({said})"),
        500.. => format!("Telegram has a fault of its own ({said})"),
        _ => format!("Telegram refuses the request ({said})"),
    };
    ReceiveError::new(reason).with_retry_after(wait)
}

/// Converts the failure of a request that sends. `has_markup` states if the request had markup, which Telegram may refuse.
pub(super) fn send(failure: Failure, has_markup: bool) -> SendError {
    let error = match failure {
        Failure::Unanswered { failure, status } => {
            let reason = escape_line(&failure.message);
            return match failure.retry {
                Some(Duration::ZERO) => SendError::not_sent(reason),
                Some(wait) => SendError::wait(reason, wait),
                // It was not forwarded to Telegram.
                None if status.is_some_and(is_refusal) => SendError::refused(reason),
                None => SendError::unknown(reason),
            };
        }
        Failure::Error(error) => error,
    };
    let said = error.said();
    if let Some(chat) = error.parameters.migrate_to_chat_id {
        return SendError::Moved { to: chat.to_string() };
    }
    match error.code {
        429 | 420 => {
            SendError::wait(format!("Telegram asks to wait ({said})"), wait(&error).unwrap_or(SENDING.pause))
        }
        500.. => SendError::unknown(format!("Telegram has a fault of its own ({said})")),
        401 | 404 => SendError::refused(format!(
            "Telegram does not know the bot ({said}): set its token in `channels.telegram.telegram`"
        )),
        400 if has_markup && is_about_markup(&error.description) => SendError::Markup { reason: said },
        _ => SendError::refused(format!("Telegram: {said}")),
    }
}

fn is_refusal(status: StatusCode) -> bool {
    status.is_redirection() || status.is_client_error()
}

/// Returns the time that Telegram asks to wait.
fn wait(error: &ApiError) -> Option<Duration> {
    let asked = error.parameters.retry_after.map(|seconds| Duration::from_secs(seconds.max(1)));
    asked.or(error.wait).map(|wait| wait.min(LONGEST_WAIT))
}

fn is_about_markup(description: &str) -> bool {
    let text = description.to_lowercase();
    ["can't parse entities", "entity_", "entities_"].iter().any(|part| text.contains(part))
}
