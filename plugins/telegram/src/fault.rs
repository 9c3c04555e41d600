//! Error messages of failed requests: whether the message was sent, and whether to retry.

use crate::request::{ApiError, Failure};
use std::time::Duration;
use toolkit::{ToolError, ToolErrorKind, output::Retry, text::escape_line};
use toolkit_http::{Platform, PlatformFailure};

/// Advice if it is unknown whether the request took effect.
const MAYBE: &str = "It may have been done anyway: check the chat, or ask, before you try again";

/// Telegram, as failures of requests name it.
pub(crate) const PLATFORM: Platform = Platform {
    name: "Telegram",
    section: "plugins.telegram",
    api: "Bot API",
    maybe: MAYBE,
    too_many: "Too much was sent there. Nothing was done",
    pause: Duration::from_secs(1),
    most: 1 << 20,
};

/// Converts a failed request.
pub(crate) fn of(failure: &Failure) -> ToolError {
    match failure {
        Failure::Unanswered { failure, .. } => of_request(failure),
        Failure::Error(error) => of_api(error),
    }
}

/// Converts a request without an answer that can be used.
fn of_request(failure: &PlatformFailure) -> ToolError {
    let kind = if failure.timed_out { ToolErrorKind::TimedOut } else { ToolErrorKind::Unavailable };
    let retry = match failure.retry {
        Some(Duration::ZERO) => Retry::Now,
        Some(wait) => Retry::After(wait),
        None => return ToolError::new(kind, escape_line(&failure.message)),
    };
    ToolError::new(kind, escape_line(&failure.message)).with_retry(retry)
}

/// Converts an error of the Bot API. Its codes are those of HTTP; only the text has the details.
fn of_api(error: &ApiError) -> ToolError {
    let ApiError { code, description, parameters, wait } = error;
    let (code, said) = (*code, error.said());
    if let Some(chat) = parameters.migrate_to_chat_id {
        let message = format!(
            "Telegram: {said}. The group has become a supergroup with another id. Nothing was done; call again with \
             `chat_id` \"{chat}\""
        );
        return ToolError::failed(message).with_metadata("migrateToChatId", chat);
    }
    if let Some(seconds) = parameters.retry_after {
        return of_request(&PLATFORM.too_many(&said, Duration::from_secs(seconds)));
    }
    let text = description.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    let (kind, advice) = match code {
        429 | 420 => return of_request(&PLATFORM.too_many(&said, wait.unwrap_or(PLATFORM.pause))),
        // A token that does not exist is a path that does not exist.
        401 | 404 => (
            ToolErrorKind::Unavailable,
            "The bot is not known there: a person has to look at `plugins.telegram.token`",
        ),
        403 => (ToolErrorKind::Denied, "The bot may not write there; go on without it, and say why"),
        _ if has(&[
            "not enough rights",
            "chat_admin_required",
            "need administrator rights",
            "have no rights",
        ]) =>
        {
            (
                ToolErrorKind::Denied,
                "A person has to give the bot that right in the chat; go on without it, and say why",
            )
        }
        _ if has(&["not found", "message_id_invalid", "peer_id_invalid"]) => {
            (ToolErrorKind::NotFound, "Look at the ids, and whether the bot is a member of the chat")
        }
        500.. => (ToolErrorKind::Unavailable, MAYBE),
        _ => (ToolErrorKind::Failed, "Nothing was done"),
    };
    ToolError::new(kind, format!("Telegram: {said}. {advice}"))
}
