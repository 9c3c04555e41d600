//! Requests to the server, and the errors of a channel that their failures are.

use std::time::Duration;

use reqwest::header::AUTHORIZATION;
use reqwest::{Client, Method, RequestBuilder, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toolkit::config::Secret;
use toolkit::text::escape_line;
use toolkit_channel::{ReceiveError, SendError};
use toolkit_http::{Platform, PlatformFailure};

/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The pause if the server asks to wait, and does not say how long.
const PAUSE: Duration = Duration::from_secs(1);
/// The most characters of an error of the server that are shown.
const MAX_SHOWN: usize = 200;

/// The platform, as failures name it.
const POSTBOX: Platform = Platform {
    name: "Postbox",
    section: "channels.postbox.postbox",
    api: "Postbox",
    maybe: "It may have arrived",
    too_many: "Nothing was done",
    pause: PAUSE,
    most: 4 << 20,
};

/// A server, with the token of the account.
pub(crate) struct Server {
    client: Client,
    base: Url,
    token: Secret,
}

/// A request that did not succeed.
pub(crate) enum Failure {
    /// There is no answer of the platform. The failure states if the request can have had an effect.
    Unanswered(PlatformFailure),
    /// The platform answered with a status that is no success.
    Status {
        /// The status.
        status: u16,
        /// The time that the platform asks to wait.
        wait: Option<Duration>,
        /// The error of the platform.
        error: String,
    },
}

/// The body of an answer that is no success.
#[derive(Deserialize)]
struct ErrorBody {
    error: String,
}

impl Server {
    /// A server at a base URL. Nothing is sent.
    pub(crate) fn new(base_url: &str, token: Secret) -> Result<Self, String> {
        let base = Url::parse(base_url).map_err(|error| error.to_string())?;
        if !base.username().is_empty() || base.password().is_some() {
            return Err("it has a user name or password".to_owned());
        }
        let client = toolkit_http::client(TIMEOUT).build().map_err(toolkit_http::reason)?;
        Ok(Self { client, base, token })
    }

    /// A request for a path of segments, none of which can end the path. The token is in a header, and in no URL.
    pub(crate) fn request(&self, method: Method, path: &[&str], query: &[(&str, String)]) -> RequestBuilder {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let token = format!("Bearer {}", self.token.expose());
        self.client.request(method, url).header(AUTHORIZATION, token)
    }

    /// Sends a request once, and reads its answer. `wait` is the time that the server may take before it answers.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        wait: Duration,
    ) -> Result<T, Failure> {
        let timeout = TIMEOUT + wait;
        let answer = POSTBOX.exchange(request.timeout(timeout), timeout, self.token.expose()).await;
        let answer = answer.map_err(Failure::Unanswered)?;
        if answer.status.is_success() {
            return serde_json::from_slice(&answer.body)
                .map_err(|_| Failure::Unanswered(POSTBOX.foreign(&answer)));
        }
        match serde_json::from_slice(&answer.body) {
            Ok(ErrorBody { error }) => {
                // JSON can write the token with escapes, which are gone now.
                let error = error.replace(self.token.expose(), toolkit_http::REDACTED);
                Err(Failure::Status { status: answer.status.as_u16(), wait: answer.wait, error })
            }
            // A proxy answered, in a form of its own.
            Err(_) => Err(Failure::Unanswered(POSTBOX.foreign(&answer))),
        }
    }
}

fn said(status: u16, error: &str) -> String {
    let error: String = escape_line(error).chars().take(MAX_SHOWN).collect();
    format!("Postbox: {error} (HTTP status {status})")
}

/// A request that changes nothing can be repeated, whatever its failure.
impl From<Failure> for ReceiveError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unanswered(failure) => {
                let wait = failure.retry.filter(|wait| !wait.is_zero());
                Self::new(escape_line(&failure.message)).with_retry_after(wait)
            }
            Failure::Status { status, wait, error } => Self::new(said(status, &error)).with_retry_after(wait),
        }
    }
}

/// The error states if the message may have arrived.
impl From<Failure> for SendError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unanswered(failure) => {
                let reason = escape_line(&failure.message);
                match failure.retry {
                    // There was no connection.
                    Some(Duration::ZERO) => Self::not_sent(reason),
                    Some(wait) => Self::wait(reason, wait),
                    // The connection ended after the first byte, or nothing came in time.
                    None => Self::unknown(reason),
                }
            }
            Failure::Status { status, wait, error } => {
                let reason = said(status, &error);
                match status {
                    429 => Self::wait(reason, wait.unwrap_or(PAUSE)),
                    // The server may have stored it before it failed.
                    500.. => Self::unknown(reason),
                    _ => Self::refused(reason),
                }
            }
        }
    }
}
