//! Messages for failed connections and requests: for people, without type names.

use super::unreadable;
use rmcp::model::{ErrorData, ProtocolVersion};
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::streamable_http_client::{SseError, StreamableHttpError};
use rustls::CertificateError;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;

/// Time limit for a connection to be established.
pub(super) const CONNECT_WITHIN: Duration = Duration::from_secs(10);

type HttpError = StreamableHttpError<reqwest::Error>;
type Cause<'a> = &'a (dyn Error + 'static);

/// Maximum number of characters quoted from a server's text.
const MAX_CHARS: usize = 500;

/// Returns the reason for which a connection could not be established.
pub(super) fn of_beginning(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended before it answered".to_owned(),
        ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
            "its first answer is not a response to `initialize`".to_owned()
        }
        ClientInitializeError::ConflictInitResponseId(expected, got)
        | ClientInitializeError::UncorrelatedErrorResponse { expected, received: got } => {
            format!("its first answer is to request {got}, but {expected} was sent")
        }
        ClientInitializeError::JsonRpcError(error) => of_protocol(error),
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let versions: Vec<&str> = server_supported.iter().map(ProtocolVersion::as_str).collect();
            format!("none of its protocol versions is supported: {}", versions.join(", "))
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_beginning(fallback),
        ClientInitializeError::TransportError { error, .. } => of_cause(&*error.error),
        other => shortened(&other.to_string()),
    }
}

/// Returns true if the server takes no messages at its address: it may be one that only has an event stream there.
pub(super) fn is_refused(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => is_refused(fallback),
        // The library's message for a body that is not JSON.
        ClientInitializeError::JsonRpcError(error) => {
            error.message.starts_with("server/discover rejected with HTTP 4")
        }
        ClientInitializeError::TransportError { error, .. } => {
            let mut next: Option<Cause<'_>> = Some(&*error.error);
            while let Some(error) = next {
                match error.downcast_ref::<HttpError>() {
                    // A limit of requests says nothing about the address.
                    Some(StreamableHttpError::UnexpectedServerResponse(text)) => {
                        return text.starts_with("HTTP 4") && !text.starts_with("HTTP 429");
                    }
                    Some(StreamableHttpError::UnexpectedContentType(_)) => return true,
                    _ => next = inner(error),
                }
            }
            false
        }
        _ => false,
    }
}

/// Returns the reason for which a request failed.
pub(super) fn of_request(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => of_protocol(error),
        ServiceError::TransportSend(error) => of_cause(&*error.error),
        ServiceError::TransportClosed => "the connection ended".to_owned(),
        ServiceError::UnexpectedResponse => "it answers with something else".to_owned(),
        ServiceError::SubscriptionLagged { .. } => "it tells more than can be read".to_owned(),
        ServiceError::Timeout { timeout } => format!("timed out after {} s", timeout.as_secs()),
        other => shortened(&other.to_string()),
    }
}

/// Returns the message of a server's error.
fn of_protocol(error: &ErrorData) -> String {
    match unreadable::reason(error) {
        Some(why) => format!("the answer {why}"),
        None => format!("it refuses: {} (code {})", shortened(&error.message), error.code.0),
    }
}

/// Returns the cause behind an error of a transport.
pub(super) fn of_cause(error: Cause<'_>) -> String {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(words) = known(error) {
            return words;
        }
        next = inner(error);
    }
    shortened(&last(error).to_string())
}

/// Returns the cause of an error. `io::Error::source` skips the error inside it.
fn inner(error: Cause<'_>) -> Option<Cause<'_>> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(held) => Some(held),
        None => error.source(),
    }
}

fn last(error: Cause<'_>) -> Cause<'_> {
    let mut last = error;
    while let Some(next) = inner(last) {
        last = next;
    }
    last
}

fn known(error: Cause<'_>) -> Option<String> {
    if let Some(error) = error.downcast_ref::<HttpError>() {
        return of_http(error);
    }
    if let Some(error) = error.downcast_ref::<reqwest::Error>() {
        return of_reqwest(error);
    }
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(of_tls(error));
    }
    error.downcast_ref::<io::Error>().and_then(of_io)
}

fn of_http(error: &HttpError) -> Option<String> {
    Some(match error {
        StreamableHttpError::Client(error) => return of_reqwest(error).or_else(|| Some(of_cause(error))),
        StreamableHttpError::HttpStatus(error) => status(error.status),
        StreamableHttpError::SessionExpired => "it has forgotten the session".to_owned(),
        StreamableHttpError::UnexpectedEndOfStream | StreamableHttpError::TransportChannelClosed => {
            "the connection ended".to_owned()
        }
        StreamableHttpError::ServerDoesNotSupportSse => "it offers no event stream".to_owned(),
        StreamableHttpError::MissingSessionIdInResponse => "it opens no session".to_owned(),
        StreamableHttpError::SessionRecoveryTimeout => "it did not renew the session in time".to_owned(),
        StreamableHttpError::ReinitializationFailed(error) => of_protocol(error),
        StreamableHttpError::ControlRequestTimeout => "it took no message in time".to_owned(),
        StreamableHttpError::UnexpectedServerResponse(text) if unread(error).is_none() => {
            // `HTTP 404 Not Found: body`
            shortened(text.trim_end().trim_end_matches(':'))
        }
        other => format!("the answer {}", unread(other)?),
    })
}

/// Returns the reason for which the answer to an HTTP request cannot be read, if one arrived; the text follows "the
/// answer".
pub(super) fn unread(error: &HttpError) -> Option<String> {
    Some(match error {
        StreamableHttpError::ResponseBodyTooLarge { max_size } => unreadable::too_long(*max_size),
        StreamableHttpError::UnexpectedContentType(kind) => {
            let kind =
                kind.as_deref().map_or("without a type".to_owned(), |kind| format!("of type {kind:?}"));
            shortened(&format!("is {kind}, and neither JSON nor an event stream"))
        }
        StreamableHttpError::Deserialize(error) => of_json(&error.to_string()),
        StreamableHttpError::UnexpectedServerResponse(text) => {
            let error = text.strip_prefix("could not parse JSON response as ServerJsonRpcMessage: ")?;
            // The rest is the beginning of the body.
            of_json(error)
        }
        StreamableHttpError::Sse(error) => unread_event(error).unwrap_or_else(|| "breaks off".to_owned()),
        _ => return None,
    })
}

/// Returns the reason for which an event of a stream cannot be read, unless the stream ends early.
pub(super) fn unread_event(error: &SseError) -> Option<String> {
    match error {
        SseError::Body(error) => {
            // The type of this error is private.
            let text = error.to_string();
            let (_, rest) = text.split_once("exceeded the maximum size of ")?;
            Some(unreadable::too_long(rest.split(' ').next()?.parse().ok()?))
        }
        SseError::Utf8Parse(_) => Some("is not valid UTF-8".to_owned()),
        _ => Some("is not an event stream".to_owned()),
    }
}

fn of_json(error: &str) -> String {
    if error.starts_with("recursion limit exceeded") {
        return unreadable::too_deep();
    }
    if error.starts_with("unrecognized") || error.starts_with("data did not match") {
        return "is not a message of JSON-RPC".to_owned();
    }
    "is not valid JSON".to_owned()
}

fn of_reqwest(error: &reqwest::Error) -> Option<String> {
    if error.is_timeout() {
        return Some(format!("timed out after {} s", CONNECT_WITHIN.as_secs()));
    }
    if error.is_dns() {
        return Some("name not found".to_owned());
    }
    error.status().map(|code| status(code.as_u16()))
}

fn status(code: u16) -> String {
    let known = http::StatusCode::from_u16(code).ok().and_then(|code| code.canonical_reason());
    known.map_or_else(|| format!("HTTP {code}"), |reason| format!("HTTP {code} {reason}"))
}

fn of_tls(error: &rustls::Error) -> String {
    let rustls::Error::InvalidCertificate(certificate) = error else {
        return shortened(&format!("TLS failed: {error}"));
    };
    let why = match certificate {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "it is not valid yet",
        CertificateError::Revoked => "it was revoked",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is one for another name"
        }
        CertificateError::UnknownIssuer => "its issuer is not known here",
        CertificateError::BadSignature => "its signature is wrong",
        _ => "it is not valid",
    };
    format!("certificate not trusted: {why}")
}

fn of_io(error: &io::Error) -> Option<String> {
    let words = match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused",
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof => "connection closed",
        ErrorKind::HostUnreachable => "host not reachable",
        ErrorKind::NetworkUnreachable => "network not reachable",
        ErrorKind::TimedOut => "timed out",
        ErrorKind::PermissionDenied => "the system does not permit the connection",
        _ => return None,
    };
    Some(words.to_owned())
}

/// Returns a text without what is too long to be quoted.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::transport::streamable_http_client::HttpStatusError;

    #[derive(Debug, thiserror::Error)]
    #[error("Transport fatal {0}")]
    struct Around(#[source] io::Error);

    #[test]
    fn causes_are_words() {
        let io = |kind| io::Error::from(kind);
        let tls = |error| io::Error::other(rustls::Error::InvalidCertificate(error));
        for (error, expected) in [
            (io(ErrorKind::ConnectionRefused), "connection refused"),
            (io(ErrorKind::ConnectionReset), "connection closed"),
            (tls(CertificateError::UnknownIssuer), "certificate not trusted: its issuer is not known here"),
            (tls(CertificateError::Expired), "certificate not trusted: it has expired"),
            (tls(CertificateError::NotValidForName), "certificate not trusted: it is one for another name"),
            (io::Error::other("the innermost"), "the innermost"),
        ] {
            assert_eq!(of_cause(&Around(error)), expected);
        }
        for (error, expected) in [
            (HttpError::HttpStatus(HttpStatusError::new(503, None)), "HTTP 503 Service Unavailable"),
            (
                HttpError::ResponseBodyTooLarge { max_size: 9 },
                "the answer has more than 9 bytes, the limit for one message",
            ),
            (
                HttpError::UnexpectedContentType(Some("text/html".to_owned())),
                "the answer is of type \"text/html\", and neither JSON nor an event stream",
            ),
            (
                HttpError::UnexpectedServerResponse(
                    "could not parse JSON response as ServerJsonRpcMessage: expected value at line 1 column 1: <html>".into(),
                ),
                "the answer is not valid JSON",
            ),
            (HttpError::UnexpectedServerResponse("HTTP 404 Not Found: no".into()), "HTTP 404 Not Found: no"),
        ] {
            assert_eq!(of_cause(&error), expected);
        }
    }
}
