//! Error messages of failed requests: whether the message was sent, and whether to retry.

use reqwest::StatusCode;
use serde::Deserialize;
use std::time::Duration;
use toolkit::{ToolError, ToolErrorKind, output::Retry, text::escape_line};
use toolkit_http::LONGEST_WAIT;

/// Maximum number of characters quoted from Telegram's error.
const LONGEST_DESCRIPTION: usize = 300;
/// Time to wait if Telegram reports too many requests without a time to wait.
const PAUSE: Duration = Duration::from_secs(1);
/// Advice if it is unknown whether the request took effect.
const MAYBE: &str = "It may have been done anyway: check the chat, or ask, before you try again";

/// Hints for handling a failed request.
#[derive(Default, Deserialize)]
pub(crate) struct Parameters {
    pub(crate) retry_after: Option<u64>,
    pub(crate) migrate_to_chat_id: Option<i64>,
}

/// A request that did not go out whole, or that was not answered.
pub(crate) fn of_sending(error: reqwest::Error, timeout: Duration) -> ToolError {
    if error.is_connect() {
        let message =
            format!("Telegram cannot be reached ({}). Nothing was sent; try again later", reason(error));
        return ToolError::unavailable(message).with_retry(Retry::Now);
    }
    if error.is_builder() {
        return ToolError::unavailable(
            "`plugins.telegram.baseUrl` is not a URL that requests can be sent to. Nothing was sent",
        );
    }
    of_reading(error, timeout)
}

/// An answer that did not come whole.
pub(crate) fn of_reading(error: reqwest::Error, timeout: Duration) -> ToolError {
    if error.is_timeout() {
        let message = format!("Telegram did not answer within {} seconds. {MAYBE}", timeout.as_secs());
        return ToolError::new(ToolErrorKind::TimedOut, message);
    }
    ToolError::unavailable(format!("the connection to Telegram was lost ({}). {MAYBE}", reason(error)))
}

/// Converts an answer that is not from the Bot API, but, for example, from a proxy.
pub(crate) fn of_answer(status: StatusCode, wait: Option<Duration>, what: &str) -> ToolError {
    let code = status.as_u16();
    // A proxy that answered so did not forward the request.
    if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE && wait.is_some()
    {
        return too_many(&format!("HTTP status {code}"), wait.unwrap_or(PAUSE));
    }
    if status.is_server_error() {
        // It may be Telegram that did not answer in time, and has done it.
        return ToolError::unavailable(format!(
            "a server on the way to Telegram has no answer of it (HTTP status {code}). {MAYBE}"
        ));
    }
    ToolError::unavailable(format!(
        "the server at `plugins.telegram.baseUrl` sent a response that cannot be read ({what}; HTTP status {code}). {MAYBE}"
    ))
}

/// Converts an error of the Bot API. Its codes are those of HTTP; only the text has the details.
pub(crate) fn of_api(
    code: i64,
    description: &str,
    parameters: &Parameters,
    wait: Option<Duration>,
) -> ToolError {
    let said: String = escape_line(description).chars().take(LONGEST_DESCRIPTION).collect();
    let said = if said.is_empty() { format!("error {code}") } else { said };
    if let Some(chat) = parameters.migrate_to_chat_id {
        let message = format!(
            "Telegram: {said}. The group has become a supergroup with another id. Nothing was done; call again with \
             `chat_id` \"{chat}\""
        );
        return ToolError::failed(message).with_metadata("migrateToChatId", chat);
    }
    if let Some(seconds) = parameters.retry_after {
        return too_many(&said, Duration::from_secs(seconds));
    }
    let text = description.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    let (kind, advice) = match code {
        429 | 420 => return too_many(&said, wait.unwrap_or(PAUSE)),
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

fn too_many(said: &str, pause: Duration) -> ToolError {
    let pause = pause.min(LONGEST_WAIT);
    let message = format!(
        "Telegram: {said}. Too much was sent there. Nothing was done; try again after {} seconds",
        pause.as_secs()
    );
    ToolError::unavailable(message).with_retry(Retry::After(pause))
}

/// Returns the reason without the URL, which contains the token.
fn reason(error: reqwest::Error) -> String {
    escape_line(&toolkit_http::reason(error)).chars().take(LONGEST_DESCRIPTION).collect()
}
