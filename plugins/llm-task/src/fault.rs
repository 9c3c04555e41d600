//! Error messages of failed requests.

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use toolkit::{ToolError, ToolErrorKind, output::Retry, text::escape_line};

/// Maximum number of characters quoted from an endpoint's or a model's error.
const LONGEST_MESSAGE: usize = 500;
/// Time to wait if an endpoint is busy without a time to wait.
const PAUSE: Duration = Duration::from_secs(5);

/// The error in a response, in the common forms.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum ErrorBody {
    Error { error: ErrorDetails },
    Text { error: String },
    Message { message: String },
    Nothing {},
}

#[derive(Deserialize)]
pub(crate) struct ErrorDetails {
    message: String,
    #[serde(default)]
    code: Value,
    #[serde(default, rename = "type")]
    kind: Value,
}

impl ErrorDetails {
    /// Returns true if the error is about the account's quota or billing: waiting does not help.
    fn is_of_account(&self) -> bool {
        let about = ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"];
        [&self.code, &self.kind].iter().any(|said| said.as_str().is_some_and(|said| about.contains(&said)))
    }
}

/// Converts a request without a complete answer to an error. A task may be retried, since an answer is its only effect.
pub(crate) fn of_sending(error: reqwest::Error, timeout: Duration) -> ToolError {
    if error.is_builder() {
        return ToolError::unavailable(
            "`plugins.llm-task.baseUrl` is not a URL that requests can be sent to",
        );
    }
    if error.is_timeout() && !error.is_connect() {
        let message = format!(
            "the model did not answer within {} seconds (plugins.llm-task.timeoutSeconds); give it a smaller task",
            timeout.as_secs()
        );
        return ToolError::new(ToolErrorKind::TimedOut, message).with_retry(Retry::Now);
    }
    let reason = bounded(&toolkit_http::reason(error));
    let message = format!("the model cannot be reached ({reason}); try again later");
    ToolError::unavailable(message).with_retry(Retry::Now)
}

/// Converts an answer that is not from Chat Completions to an error.
pub(crate) fn of_answer(status: StatusCode, what: &str) -> ToolError {
    ToolError::unavailable(format!(
        "the server at `plugins.llm-task.baseUrl` sent a response that cannot be read ({what}; HTTP status {})",
        status.as_u16()
    ))
}

/// Converts an error of the endpoint.
pub(crate) fn of_status(status: StatusCode, told: &ErrorBody, wait: Option<Duration>) -> ToolError {
    let said = match told {
        ErrorBody::Error { error } => bounded(&error.message),
        ErrorBody::Text { error: text } | ErrorBody::Message { message: text } => bounded(text),
        ErrorBody::Nothing {} => "it gives no reason".to_owned(),
    };
    let code = status.as_u16();
    let is_of_account =
        code == 402 || matches!(told, ErrorBody::Error { error } if code == 429 && error.is_of_account());
    let told = format!("the model's endpoint answered {code}: {said}");
    match code {
        _ if is_of_account => ToolError::unavailable(format!(
            "{told}. A person has to look at the account there; waiting does not help"
        )),
        401 | 403 => {
            ToolError::unavailable(format!("{told}. A person has to look at `plugins.llm-task.apiKey`"))
        }
        404 => ToolError::unavailable(format!(
            "{told}. A person has to look at `plugins.llm-task.baseUrl` and `plugins.llm-task.model`"
        )),
        413 => ToolError::failed(format!("{told}. Give it a smaller task")),
        400 | 422 => ToolError::failed(format!(
            "{told}. Where it is about the schema, simplify that; an endpoint that knows no schemas needs \
             `plugins.llm-task.responseFormat`"
        )),
        429 | 500.. => {
            let wait = wait.unwrap_or(PAUSE);
            let message = format!("{told}. Try again after {} seconds", wait.as_secs());
            ToolError::unavailable(message).with_retry(Retry::After(wait))
        }
        _ => ToolError::failed(told),
    }
}

/// Returns the error for a task that the model refuses.
pub(crate) fn refused(why: &str) -> ToolError {
    ToolError::failed(format!("the model refused the task: {}", bounded(why)))
}

fn bounded(text: &str) -> String {
    escape_line(text).chars().take(LONGEST_MESSAGE).collect()
}
