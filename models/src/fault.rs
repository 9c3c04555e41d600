//! Failures, as servers state them.

use crate::error::ModelError;
use crate::message::AssistantMessage;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::Duration;
use toolkit::{dialects::CallFormatError, text::escape_line};

/// The most characters of a server's message that are repeated.
const MAX_MESSAGE_CHARS: usize = 500;

/// Why an answer cannot be read to its end.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The provider says that it failed.
    Provider(String),
    /// The provider does not answer such a request.
    Blocked(String),
    /// It is not in the provider's format.
    Format(String),
    /// It ended too early.
    Ended(String),
}

impl From<CallFormatError> for Fault {
    fn from(error: CallFormatError) -> Self {
        match error {
            CallFormatError::Provider { message } => Self::Provider(message),
            error @ CallFormatError::CutOff { .. } => Self::Ended(error.to_string()),
            error => Self::Format(error.to_string()),
        }
    }
}

impl Fault {
    pub(crate) fn into_error(self, model: &str, partial: AssistantMessage) -> ModelError {
        let model = model.to_owned();
        let partial = Box::new(partial);
        match self {
            Self::Blocked(message) => ModelError::Refused { model, message: bounded(&message) },
            Self::Format(message) => ModelError::Format { model, message: bounded(&message), partial },
            Self::Ended(message) => ModelError::Stream { model, message: bounded(&message), partial },
            Self::Provider(message) => {
                let message = bounded(&message);
                match kind(None, &message, &message) {
                    Kind::Context => ModelError::ContextTooLong { model, message },
                    Kind::Quota => ModelError::Quota { model, message },
                    _ => ModelError::Stream { model, message, partial },
                }
            }
        }
    }
}

/// A server's description of a failure.
#[derive(Debug, Default)]
pub(crate) struct ServerError {
    pub(crate) message: String,
    /// Words for the kind of failure.
    code: String,
    /// The wait that it asks for.
    wait: Option<Duration>,
}

impl ServerError {
    /// Reads the body of an answer in the forms that are met.
    pub(crate) fn of(body: &[u8]) -> Self {
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            let text = String::from_utf8_lossy(body);
            let text = text.trim();
            let is_page = text.starts_with('<') || text.is_empty();
            let message = if is_page { "without a reason".to_owned() } else { bounded(text) };
            return Self { message, ..Self::default() };
        };
        // Gemini puts the error into a list where it streams.
        let value = value.get(0).unwrap_or(&value);
        let error = value.get("error").unwrap_or(value);
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let message = ["message", "msg", "detail", "error"]
            .iter()
            .find_map(|key| error.get(*key).and_then(text))
            .or_else(|| text(error))
            .or_else(|| value.get("message").and_then(text))
            .or_else(|| Some(error.get("detail").or_else(|| value.get("detail"))?.to_string()))
            .unwrap_or_else(|| "without a reason".to_owned());
        let codes =
            ["code", "type", "status"].iter().filter_map(|key| error.get(*key)).map(|code| match code {
                Value::String(code) => code.clone(),
                code => code.to_string(),
            });
        let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
        let reasons = details.clone().filter_map(|detail| detail["reason"].as_str().map(str::to_owned));
        let code = codes.chain(reasons).collect::<Vec<_>>().join(" ");
        let delay = details.filter_map(|detail| detail["retryDelay"].as_str()).find_map(|delay| {
            let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
            Duration::try_from_secs_f64(seconds).ok()
        });
        Self { message: bounded(&message), code, wait: delay }
    }

    pub(crate) fn into_error(self, model: &str, status: StatusCode, headers: &HeaderMap) -> ModelError {
        let retry_after = wait(headers).or(self.wait);
        let message = self.message;
        let model = model.to_owned();
        match kind(Some(status.as_u16()), &self.code, &message) {
            Kind::Context => ModelError::ContextTooLong { model, message },
            Kind::Quota => ModelError::Quota { model, message },
            Kind::Key => ModelError::Unauthorized { model, message },
            Kind::Refused => ModelError::Refused { model, message },
            Kind::Rate => ModelError::RateLimited { model, message, retry_after },
            Kind::Other => ModelError::Status { model, status: status.as_u16(), message, retry_after },
        }
    }
}

enum Kind {
    Context,
    Quota,
    Key,
    Refused,
    Rate,
    Other,
}

fn kind(status: Option<u16>, code: &str, message: &str) -> Kind {
    let code = code.to_lowercase();
    let message = message.to_lowercase();
    let is_code = |codes: &[&str]| codes.iter().any(|known| code.contains(known));
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let is_of_request = matches!(status, None | Some(400 | 413 | 422 | 500));
    let of_context = [
        "context length",
        "context window",
        "context size",
        "maximum context",
        "context_length",
        "prompt is too long",
        "input is too long",
        "input token count",
        "maximum number of tokens",
        "input length and `max_tokens` exceed",
        "too many tokens",
        "longer than the model",
    ];
    let of_quota =
        ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"];
    if is_code(&["context_length_exceeded", "exceed_context_size"])
        || is_of_request && says(&of_context)
        || status == Some(413)
    {
        Kind::Context
    } else if status == Some(402)
        || is_code(&of_quota)
        || is_of_request && says(&["credit balance is too low", "insufficient balance"])
    {
        Kind::Quota
    } else if matches!(status, Some(401 | 403))
        || is_code(&["api_key_invalid"])
        || status == Some(400) && says(&["api key not valid"])
    {
        Kind::Key
    } else if is_of_request && is_code(&["content_filter", "content_policy_violation"]) {
        Kind::Refused
    } else if status == Some(429) {
        Kind::Rate
    } else {
        Kind::Other
    }
}

/// The wait that a server asks for.
fn wait(headers: &HeaderMap) -> Option<Duration> {
    let milliseconds =
        headers.get("retry-after-ms").and_then(|value| value.to_str().ok()?.trim().parse::<f64>().ok());
    let precise =
        milliseconds.and_then(|milliseconds| Duration::try_from_secs_f64(milliseconds / 1000.0).ok());
    precise.or_else(|| toolkit_http::retry_after(headers))
}

pub(crate) fn bounded(text: &str) -> String {
    let mut chars = escape_line(text).chars().collect::<Vec<_>>();
    if chars.len() > MAX_MESSAGE_CHARS {
        chars.truncate(MAX_MESSAGE_CHARS);
        chars.push('…');
    }
    chars.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error(status: u16, body: &Value) -> ModelError {
        let status = StatusCode::from_u16(status).unwrap();
        ServerError::of(body.to_string().as_bytes()).into_error("m", status, &HeaderMap::new())
    }

    #[test]
    fn failures_are_told_apart_by_the_words_of_each_provider() {
        let openai = |message: &str, kind: &str, code: Value| json!({"error": {"message": message, "type": kind, "code": code}});
        let anthropic =
            |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
        for (status, body, expected) in [
            (
                400,
                openai(
                    "This model's maximum context length is 8192 tokens",
                    "invalid_request_error",
                    "context_length_exceeded".into(),
                ),
                "context",
            ),
            (
                400,
                anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
                "context",
            ),
            (413, anthropic("request_too_large", "Request exceeds the maximum size"), "context"),
            (
                400,
                json!({"error": {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error"}}),
                "context",
            ),
            (
                400,
                json!([{"error": {"code": 400, "message": "The input token count (2000000) exceeds the maximum number of tokens allowed", "status": "INVALID_ARGUMENT"}}]),
                "context",
            ),
            (
                429,
                openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota".into()),
                "quota",
            ),
            (
                400,
                anthropic(
                    "invalid_request_error",
                    "Your credit balance is too low to access the Anthropic API.",
                ),
                "quota",
            ),
            (402, json!({"error": {"message": "Insufficient credits", "code": 402}}), "quota"),
            (
                401,
                openai("Incorrect API key provided", "invalid_request_error", "invalid_api_key".into()),
                "key",
            ),
            (
                400,
                json!({"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}),
                "key",
            ),
            (400, openai("The response was filtered", "", "content_filter".into()), "refused"),
            (
                429,
                openai(
                    "Rate limit reached for requests: too many tokens per minute",
                    "requests",
                    "rate_limit_exceeded".into(),
                ),
                "rate",
            ),
            (529, anthropic("overloaded_error", "Overloaded"), "status"),
            (404, json!({"error": "model 'x' not found"}), "status"),
            (422, json!({"detail": [{"loc": ["body"], "msg": "field required"}]}), "status"),
            (503, json!("upstream"), "status"),
        ] {
            let error = error(status, &body);
            let kind = match &error {
                ModelError::ContextTooLong { .. } => "context",
                ModelError::Quota { .. } => "quota",
                ModelError::Unauthorized { .. } => "key",
                ModelError::Refused { .. } => "refused",
                ModelError::RateLimited { .. } => "rate",
                ModelError::Status { .. } => "status",
                other => panic!("{other:?}"),
            };
            assert_eq!(kind, expected, "{status} {body}: {error}");
            assert!(!error.to_string().contains("without a reason"), "{error}");
        }
    }

    #[test]
    fn a_wait_is_read_wherever_it_stands() {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", "7".parse().unwrap());
        assert_eq!(wait(&headers), Some(Duration::from_secs(7)));
        headers.insert("retry-after-ms", "250".parse().unwrap());
        assert_eq!(wait(&headers), Some(Duration::from_millis(250)));
        let body = json!({"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED",
            "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"}]}});
        assert_eq!(error(429, &body).retry_after(), Some(Duration::from_millis(1500)));
        for delay in ["-1s", "NaNs", "infs", "soon", ""] {
            let body = json!({"error": {"message": "quota", "details": [{"retryDelay": delay}]}});
            assert_eq!(error(429, &body).retry_after(), None, "{delay}");
        }
    }

    #[test]
    fn what_is_no_json_is_shown_in_one_line_or_not_at_all() {
        assert_eq!(ServerError::of(b"bad\ngateway").message, "bad\\u{a}gateway");
        assert_eq!(ServerError::of(b"<html>").message, "without a reason");
        assert_eq!(
            ServerError::of("é".repeat(2000).as_bytes()).message.chars().count(),
            MAX_MESSAGE_CHARS + 1
        );
    }
}
