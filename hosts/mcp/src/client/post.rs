//! The HTTP client below all others. rmcp's own is used for all but requests of the protocol: it discards the body of an answer with the
//! status 429 or 5xx, an answer in which one character cannot be read, and what a list says of tools that run only as tasks.

use super::events::events;
use super::execution;
use super::surrogates;
use futures_util::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::Sse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

type Failure = StreamableHttpError<reqwest::Error>;
type Posted = Result<StreamableHttpPostResponse, Failure>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

const SESSION: &str = "mcp-session-id";
/// Headers that settings cannot set.
const RESERVED: [&str; 3] = ["accept", SESSION, "last-event-id"];
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// Time limit for the body of an answer that is an error: what arrived by then is shown.
const ERROR_WITHIN: Duration = Duration::from_secs(5);
/// Maximum number of bytes of `Retry-After` that are shown.
const MAX_RETRY_AFTER: usize = 64;

/// An HTTP client.
#[derive(Clone, Debug)]
pub(super) struct Http(reqwest::Client);

impl Http {
    pub(super) fn new(client: reqwest::Client) -> Self {
        Self(client)
    }

    /// Sends a request of the protocol.
    async fn request(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        (session, token, headers): (Option<Arc<str>>, Option<String>, Headers),
        limits: StreamableHttpResponseLimits,
    ) -> Posted {
        let body = serde_json::to_vec(message).map_err(Failure::Deserialize)?;
        let mut request =
            self.0.post(uri).header(ACCEPT, format!("{EVENTS}, {JSON}")).header(CONTENT_TYPE, JSON);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            if RESERVED.contains(&name.as_str()) {
                return Err(Failure::ReservedHeaderConflict(name.to_string()));
            }
            request = request.header(name, value);
        }
        let has_session = session.is_some();
        if let Some(session) = session {
            request = request.header(SESSION, &*session);
        }
        let response = request.body(body).send().await?;
        let status = response.status();
        if let Some(refusal) = refusal(&response) {
            return Err(refusal);
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(Failure::SessionExpired);
        }
        let session = header(&response, SESSION);
        if !status.is_success() {
            return failed(response, message, session, has_session, limits).await;
        }
        if is_of(&response, EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(events(response, limits.max_sse_event_size), session));
        }
        if !is_of(&response, JSON) {
            let kind = response.headers().get(CONTENT_TYPE);
            let kind = kind.map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
            return Err(Failure::UnexpectedContentType(kind));
        }
        let max_size = limits.max_json_response_size;
        let body = Body::read(response, max_size).await?;
        if !body.is_whole {
            return Err(Failure::ResponseBodyTooLarge { max_size });
        }
        let message = parsed(&body.bytes).map_err(|error| {
            // The text of rmcp, which `failure` recognizes.
            let text = format!("could not parse JSON response as ServerJsonRpcMessage: {error}");
            Failure::UnexpectedServerResponse(text.into())
        })?;
        Ok(StreamableHttpPostResponse::Json(message, session))
    }
}

/// Parses a message. A lone surrogate in it becomes the replacement character.
fn parsed(bytes: &[u8]) -> serde_json::Result<ServerJsonRpcMessage> {
    let mut message = serde_json::from_slice(bytes).or_else(|error| match surrogates::replaced(bytes) {
        Some(repaired) => serde_json::from_slice(&repaired),
        None => Err(error),
    })?;
    execution::keep(&mut message, bytes);
    Ok(message)
}

/// Returns the error of an answer that demands authentication, or more of it.
fn refusal(response: &Response) -> Option<Failure> {
    let challenge = response.headers().get(WWW_AUTHENTICATE)?;
    if !matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return None;
    }
    let Ok(challenge) = challenge.to_str() else {
        return Some(Failure::UnexpectedServerResponse("invalid www-authenticate header value".into()));
    };
    Some(if response.status() == StatusCode::UNAUTHORIZED {
        Failure::AuthRequired(AuthRequiredError::new(challenge.to_owned()))
    } else {
        Failure::InsufficientScope(InsufficientScopeError::new(challenge.to_owned(), scope(challenge)))
    })
}

/// Returns the scope in a challenge.
fn scope(challenge: &str) -> Option<String> {
    let at = challenge.to_ascii_lowercase().find("scope=")?;
    let value = challenge.get(at + "scope=".len()..)?;
    let scope = match value.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?.0,
        None => value.split([',', ';', ' ', '\t']).next()?,
    };
    (!scope.is_empty()).then(|| scope.to_owned())
}

/// Converts an answer that is no success: an error of the protocol in its body is the answer, and else the text of its body is shown.
async fn failed(
    response: Response,
    request: &ClientJsonRpcMessage,
    session: Option<String>,
    has_session: bool,
    limits: StreamableHttpResponseLimits,
) -> Posted {
    let status = response.status();
    let is_about_client = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let may_have_error = is_of(&response, JSON) && !is_about_client;
    let retry_after = header(&response, RETRY_AFTER.as_str()).filter(|after| after.len() <= MAX_RETRY_AFTER);
    let most = if may_have_error { limits.max_json_response_size } else { limits.max_error_response_size };
    let body = Body::read_in_time(response, most, ERROR_WITHIN).await;
    let error = may_have_error.then(|| parsed(&body.bytes).ok()).flatten();
    let error = error.filter(|message| matches!(message, JsonRpcMessage::Error(_)));
    let text = String::from_utf8_lossy(&body.bytes[..body.bytes.len().min(limits.max_error_response_size)]);
    // An older server does not know this request. A limit of requests says nothing about that.
    if let JsonRpcMessage::Request(request) = request
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && status.is_client_error()
        && !(has_session || is_about_client || status == StatusCode::TOO_MANY_REQUESTS)
    {
        let error = match error {
            Some(JsonRpcMessage::Error(error)) => error.error,
            // The text of rmcp, which `failure` recognizes.
            _ => {
                let text = format!("server/discover rejected with HTTP {status}: {text}");
                ErrorData::invalid_request(text, None)
            }
        };
        let message = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(message, None));
    }
    if let Some(error) = error.filter(|_| status != StatusCode::TOO_MANY_REQUESTS) {
        return Ok(StreamableHttpPostResponse::Json(error, session));
    }
    let text: Vec<&str> = text.split_whitespace().collect();
    let retry_after = retry_after.map_or_else(String::new, |after| format!(" (Retry-After: {after})"));
    let text = format!("HTTP {status}{retry_after}: {}", text.join(" "));
    Err(Failure::UnexpectedServerResponse(text.into()))
}

fn header(response: &Response, name: &str) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

/// Returns true if an answer is of a media type, whatever its parameters.
fn is_of(response: &Response, kind: &str) -> bool {
    let stated = response.headers().get(CONTENT_TYPE).and_then(|stated| stated.to_str().ok());
    stated
        .and_then(|stated| stated.split(';').next())
        .is_some_and(|own| own.trim().eq_ignore_ascii_case(kind))
}

/// The body of an answer, up to a limit.
#[derive(Debug, Default)]
struct Body {
    bytes: Vec<u8>,
    /// False if the answer has more bytes.
    is_whole: bool,
}

impl Body {
    async fn read(response: Response, most: usize) -> Result<Self, reqwest::Error> {
        let mut body = Self::default();
        body.fill(response, most).await?;
        Ok(body)
    }

    /// Reads what arrives in a time, without an error.
    async fn read_in_time(response: Response, most: usize, time: Duration) -> Self {
        let mut body = Self::default();
        let _ = tokio::time::timeout(time, body.fill(response, most)).await;
        body
    }

    async fn fill(&mut self, mut response: Response, most: usize) -> Result<(), reqwest::Error> {
        while let Some(chunk) = response.chunk().await? {
            let room = most - self.bytes.len();
            self.bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                return Ok(());
            }
        }
        self.is_whole = true;
        Ok(())
    }
}

impl StreamableHttpClient for Http {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Posted {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, token, headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Posted {
        if matches!(message, JsonRpcMessage::Request(_)) {
            return self.request(&uri, &message, (session, token, headers), limits).await;
        }
        self.0.post_message_with_response_limits(uri, message, session, token, headers, limits).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        self.0.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failure> {
        self.0.get_stream(uri, session, last_event, token, headers).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
        max_sse_event_size: usize,
    ) -> Result<Events, Failure> {
        let most = max_sse_event_size;
        self.0.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, most).await
    }
}
