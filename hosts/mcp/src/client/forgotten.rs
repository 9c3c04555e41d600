//! Refusals that mean that a server does not know the session any more: a new one is begun, and the request is sent once more.
//!
//! rmcp begins a new session after the error `SessionExpired`, which it returns for 404 alone. Other servers refuse with 400 and a text.

use super::failure::{self, shortened};
use rmcp::model::{RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{StreamableHttpError, StreamableHttpPostResponse};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

type Failure = StreamableHttpError<reqwest::Error>;
type Posted = Result<StreamableHttpPostResponse, Failure>;

/// Maximum number of refused requests that are remembered.
const MAX_REFUSED: usize = 64;

/// The refusals of one connection.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The cause for which a new session is begun, until there is one.
    cause: Option<String>,
    /// The requests that were refused, of which each is sent once more.
    refused: VecDeque<RequestId>,
}

impl Refusals {
    /// Converts the answer to a request of a session to the error that begins a new one, if it means that the server does not know the
    /// session, and the request was not refused before.
    pub(super) fn of_session(&self, answer: Posted, id: Option<&RequestId>) -> Posted {
        // Without an id it is a notification, which is not sent again.
        let (Some(cause), Some(id)) = (cause(&answer, id), id) else { return answer };
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.refused.contains(id) {
            return answer;
        }
        if state.refused.len() >= MAX_REFUSED {
            state.refused.pop_front();
        }
        state.refused.push_back(id.clone());
        tracing::debug!("a new session is begun: {cause}");
        state.cause = Some(cause);
        Err(Failure::SessionExpired)
    }

    /// Adds the cause for which a new session is begun to the answer to its `initialize`, if that fails.
    pub(super) fn of_beginning(&self, answer: Posted) -> Posted {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(cause) = state.cause.take() else { return answer };
        match answer {
            Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(mut error), session)) => {
                error.error.message = format!("{} ({})", error.error.message, lost(&cause)).into();
                Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), session))
            }
            // They say what the person can do.
            Err(error @ (Failure::AuthRequired(_) | Failure::InsufficientScope(_))) => Err(error),
            Err(error) => {
                let text = format!("{} ({})", failure::of_cause(&error), lost(&cause));
                Err(Failure::UnexpectedServerResponse(text.into()))
            }
            answer => answer,
        }
    }
}

fn lost(cause: &str) -> String {
    format!("a new session was needed, because it refused the last one: {cause}")
}

/// Returns the text of an answer that refuses the session.
fn cause(answer: &Posted, id: Option<&RequestId>) -> Option<String> {
    match answer {
        Err(Failure::SessionExpired) => Some("HTTP 404 Not Found".to_owned()),
        Err(Failure::UnexpectedServerResponse(text)) => {
            // `HTTP 400 Bad Request: body`. 401, 403 and 429 are about the client, and not about its session.
            let status = text.strip_prefix("HTTP ")?;
            let is_refusal =
                status.starts_with('4') && !["401", "403", "429"].iter().any(|code| status.starts_with(code));
            (is_refusal && names_session(text)).then(|| shortened(text))
        }
        // A transport that refuses a request does not know its id. The answer of a tool or method has it.
        Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), _))
            if error.id.is_none() || error.id.as_ref() != id =>
        {
            let message = &error.error.message;
            names_session(message).then(|| shortened(message))
        }
        _ => None,
    }
}

/// Returns true if a text says that a session does not exist.
fn names_session(text: &str) -> bool {
    let text = text.to_lowercase();
    let is_unknown = [
        "not found",
        "no valid",
        "invalid",
        "unknown",
        "expired",
        "terminated",
        "not exist",
        "no such",
        "no longer",
    ]
    .iter()
    .any(|words| text.contains(words));
    text.contains("session") && is_unknown || text.contains("server not initialized")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ErrorData;

    #[test]
    fn a_refused_session_is_recognized_by_the_texts_of_servers() {
        for (text, expected) in [
            ("HTTP 400 Bad Request: Bad Request: No valid session ID provided", true),
            ("HTTP 400 Bad Request: Invalid or expired session ID", true),
            ("HTTP 400 Bad Request: Bad Request: Server not initialized", true),
            ("HTTP 410 Gone: session terminated", true),
            ("HTTP 400 Bad Request: Unknown Session", true),
            ("HTTP 400 Bad Request: Mcp-Session-Id header is required", false),
            ("HTTP 400 Bad Request: the date is invalid", false),
            ("HTTP 401 Unauthorized: invalid session cookie", false),
            ("HTTP 403 Forbidden: your session has expired", false),
            ("HTTP 429 Too Many Requests: no such session", false),
            ("HTTP 503 Service Unavailable: unknown session", false),
            ("HTTP 400 Bad Request", false),
        ] {
            let answer = Err(Failure::UnexpectedServerResponse(text.into()));
            assert_eq!(cause(&answer, None).is_some(), expected, "{text}");
        }
        let own = RequestId::Number(7);
        for (message, id, expected) in [
            ("Bad Request: No valid session ID provided", None, true),
            ("Session not found", Some(RequestId::String("server-error".into())), true),
            // A tool's own session.
            ("session not found", Some(own.clone()), false),
            ("Parse error", None, false),
        ] {
            let error = ErrorData::invalid_request(message, None);
            let message = ServerJsonRpcMessage::error(error, id.clone());
            let answer = Ok(StreamableHttpPostResponse::Json(message, None));
            assert_eq!(cause(&answer, Some(&own)).is_some(), expected, "{id:?}");
        }
    }
}
