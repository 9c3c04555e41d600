//! Error messages of failed requests: whether the message was sent, and whether to retry.

use reqwest::StatusCode;
use serde::Deserialize;
use std::time::Duration;
use toolkit::{ToolError, ToolErrorKind, output::Retry, text::escape_line};
use toolkit_http::{Platform, PlatformFailure};

/// Maximum number of characters quoted from the Graph API's error.
const LONGEST_MESSAGE: usize = 300;
/// Advice if it is unknown whether the message was sent.
const MAYBE: &str = "It may have been sent anyway: check the conversation, or ask, before you send it again";

/// WhatsApp, as failures of requests name it.
pub(crate) const PLATFORM: Platform = Platform {
    name: "WhatsApp",
    section: "plugins.whatsapp",
    api: "Cloud API",
    maybe: MAYBE,
    too_many: "Nothing was sent",
    pause: Duration::from_mins(1),
    most: 1 << 20,
};

/// The contents of the Graph API's error object.
#[derive(Default, Deserialize)]
pub(crate) struct GraphError {
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
    pub(crate) error_data: Option<ErrorData>,
    pub(crate) fbtrace_id: Option<String>,
}

#[derive(Default, Deserialize)]
pub(crate) struct ErrorData {
    pub(crate) details: Option<String>,
}

/// Converts a request without an answer that can be used.
pub(crate) fn of_request(failure: &PlatformFailure) -> ToolError {
    let kind = if failure.timed_out { ToolErrorKind::TimedOut } else { ToolErrorKind::Unavailable };
    let retry = match failure.retry {
        Some(Duration::ZERO) => Retry::Now,
        Some(wait) => Retry::After(wait),
        None => return ToolError::new(kind, escape_line(&failure.message)),
    };
    ToolError::new(kind, escape_line(&failure.message)).with_retry(retry)
}

/// The meaning of an error code.
enum Means {
    /// An error with this advice as the only remedy.
    Is(ToolErrorKind, &'static str),
    /// A limit was exceeded: retry after this time, unless the answer states another.
    TooMuch(Duration),
}

const ACCOUNT: &str = "A person has to look at the business account in the WhatsApp Manager";
const TOKEN: &str = "A person has to renew `plugins.whatsapp.token`";
const GO_ON: &str = "Go on without it, and say why";

/// Returns the meaning of a documented code; the HTTP status is only a hint, since it may change by the documentation.
fn means(code: i64, status: StatusCode) -> Means {
    use Means::{Is, TooMuch};
    use ToolErrorKind::{Denied, Failed, InvalidArguments, NotFound, Unavailable};
    match code {
        0 | 190 => Is(Unavailable, TOKEN),
        3 | 10 | 200..=299 => Is(Denied, "A person has to give the token that permission"),
        33 => Is(Unavailable, "A person has to look at `plugins.whatsapp.phoneNumberId`"),
        // Of the app and of the account they count by the hour, of a number by the second, of a pair one in 6 seconds.
        4 | 80_007 | 133_016 => TooMuch(Duration::from_mins(1)),
        130_429 => TooMuch(Duration::from_secs(1)),
        131_056 => TooMuch(Duration::from_secs(6)),
        // An unknown error of a server that may have accepted the message.
        1 if status.is_server_error() => Is(Unavailable, MAYBE),
        1 | 2 | 131_000 | 131_016 | 131_057 | 133_004 => TooMuch(Duration::from_secs(30)),
        100 | 131_008 | 131_009 => Is(InvalidArguments, "Nothing was sent; put that right"),
        131_021 => Is(InvalidArguments, "Nothing was sent: that is the number that sends"),
        131_026 => Is(
            NotFound,
            "Nothing was sent: the number is perhaps not on WhatsApp, or takes no messages from businesses",
        ),
        131_030 => Is(Denied, "A person has to add the number to those that a test number may write to"),
        131_047 => Is(
            Denied,
            "More than 24 hours have passed since the person wrote: until they write again, only a template can be sent",
        ),
        130_472 | 131_048 | 131_049 | 131_050 => Is(Denied, GO_ON),
        368 | 130_497 | 131_031 | 131_042 | 131_045 | 133_010 => Is(Unavailable, ACCOUNT),
        _ => match status.as_u16() {
            401 => Is(Unavailable, TOKEN),
            403 => Is(Denied, GO_ON),
            404 => Is(NotFound, "Nothing was sent"),
            429 => TooMuch(PLATFORM.pause),
            500.. => Is(Unavailable, MAYBE),
            _ => Is(Failed, "Nothing was sent"),
        },
    }
}

/// Converts an error of the Graph API.
pub(crate) fn of_graph(status: StatusCode, error: &GraphError, wait: Option<Duration>) -> ToolError {
    let mut said = error.message.clone();
    if let Some(details) = error.error_data.as_ref().and_then(|data| data.details.as_deref()) {
        said = format!("{said}: {details}");
    }
    let said: String = escape_line(&said).chars().take(LONGEST_MESSAGE).collect();
    let told = match means(error.code, status) {
        Means::Is(kind, advice) => ToolError::new(kind, format!("WhatsApp: {said}. {advice}")),
        Means::TooMuch(usual) => of_request(&PLATFORM.too_many(&said, wait.unwrap_or(usual))),
    };
    // By it the platform's support finds the request.
    let trace: Option<String> =
        error.fbtrace_id.as_deref().map(|trace| escape_line(trace).chars().take(64).collect());
    let told = told.with_metadata("code", error.code);
    trace.into_iter().fold(told, |told, trace| told.with_metadata("fbtraceId", trace))
}
