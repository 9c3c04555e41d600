//! One request to a platform that sends messages, and its failures: whether it took effect, and whether to retry.

use super::{read, reason};
use crate::retry_after::{LONGEST_WAIT, retry_after};
use crate::secrets::{REDACTED, without_secret};
use reqwest::{RequestBuilder, StatusCode};
use std::time::Duration;

/// Maximum number of characters quoted from the reason of a failure.
const LONGEST_REASON: usize = 300;

/// A platform, as its failures name it.
#[derive(Debug, Clone, Copy)]
pub struct Platform {
    /// Its name.
    pub name: &'static str,
    /// The section of the configuration with its `baseUrl`.
    pub section: &'static str,
    /// The name of its API.
    pub api: &'static str,
    /// Advice if it is unknown whether a request took effect.
    pub maybe: &'static str,
    /// The sentence for a request that a limit refused.
    pub too_many: &'static str,
    /// Time to wait if it reports too many requests without a time to wait.
    pub pause: Duration,
    /// Maximum number of bytes of an answer.
    pub most: usize,
}

/// An answer, whatever its status, without the secret.
#[derive(Debug)]
pub struct PlatformAnswer {
    /// The status.
    pub status: StatusCode,
    /// The wait that `Retry-After` asks for.
    pub wait: Option<Duration>,
    /// The whole body.
    pub body: Vec<u8>,
}

/// A request without an answer that can be used. The message may contain text of the platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlatformFailure {
    /// The whole message.
    pub message: String,
    /// True if the time was over.
    pub timed_out: bool,
    /// The wait after which the same request may be sent again, zero if at once; `None` if it may have taken effect.
    pub retry: Option<Duration>,
}

impl PlatformFailure {
    const fn new(message: String) -> Self {
        Self { message, timed_out: false, retry: None }
    }
}

impl Platform {
    /// Sends a request, once, and reads the answer. `timeout` is that of the client, for messages.
    ///
    /// # Errors
    ///
    /// There is no whole answer of at most [`most`](Self::most) bytes. The message is without the URL and the secret.
    pub async fn exchange(
        &self,
        request: RequestBuilder,
        timeout: Duration,
        secret: &str,
    ) -> Result<PlatformAnswer, PlatformFailure> {
        self.answer(request, timeout, secret).await.map_err(|failure| PlatformFailure {
            message: if secret.is_empty() {
                failure.message
            } else {
                failure.message.replace(secret, REDACTED)
            },
            ..failure
        })
    }

    async fn answer(
        &self,
        request: RequestBuilder,
        timeout: Duration,
        secret: &str,
    ) -> Result<PlatformAnswer, PlatformFailure> {
        let response = request.send().await.map_err(|error| self.unsent(error, timeout))?;
        let (status, wait) = (response.status(), retry_after(response.headers()));
        match read(response, self.most).await {
            Ok(Some(body)) => Ok(PlatformAnswer { status, wait, body: without_secret(body, secret) }),
            Ok(None) => Err(self.unusable(status, wait, "it is too long")),
            Err(error) => Err(self.unread(error, timeout)),
        }
    }

    /// A request that did not go out whole, or that was not answered.
    fn unsent(&self, error: reqwest::Error, timeout: Duration) -> PlatformFailure {
        let Self { name, section, .. } = self;
        if error.is_connect() {
            let message =
                format!("{name} cannot be reached ({}). Nothing was sent; try again later", cut(error));
            return PlatformFailure { retry: Some(Duration::ZERO), ..PlatformFailure::new(message) };
        }
        if error.is_builder() {
            return PlatformFailure::new(format!(
                "`{section}.baseUrl` is not a URL that requests can be sent to. Nothing was sent"
            ));
        }
        self.unread(error, timeout)
    }

    /// An answer that did not come whole.
    fn unread(&self, error: reqwest::Error, timeout: Duration) -> PlatformFailure {
        let Self { name, maybe, .. } = self;
        if error.is_timeout() {
            let message = format!("{name} did not answer within {} seconds. {maybe}", timeout.as_secs());
            return PlatformFailure { timed_out: true, ..PlatformFailure::new(message) };
        }
        PlatformFailure::new(format!("the connection to {name} was lost ({}). {maybe}", cut(error)))
    }

    /// Returns the failure for an answer that is not in the form of the platform's API: it is, for example, from a proxy.
    pub fn unusable(&self, status: StatusCode, wait: Option<Duration>, what: &str) -> PlatformFailure {
        let Self { name, section, maybe, pause, .. } = self;
        let code = status.as_u16();
        // A proxy that answered so did not forward the request.
        if status == StatusCode::TOO_MANY_REQUESTS
            || status == StatusCode::SERVICE_UNAVAILABLE && wait.is_some()
        {
            return self.too_many(&format!("HTTP status {code}"), wait.unwrap_or(*pause));
        }
        if status.is_server_error() {
            // It may be the platform that did not answer in time, and has done it.
            return PlatformFailure::new(format!(
                "a server on the way to {name} has no answer of it (HTTP status {code}). {maybe}"
            ));
        }
        PlatformFailure::new(format!(
            "the server at `{section}.baseUrl` sent a response that cannot be read ({what}; HTTP status {code}). {maybe}"
        ))
    }

    /// Returns the failure for an answer that cannot be read as one of the platform's API.
    pub fn foreign(&self, answer: &PlatformAnswer) -> PlatformFailure {
        let api = self.api;
        self.unusable(answer.status, answer.wait, &format!("it is not a {api} response"))
    }

    /// Returns the failure for a request that a limit refused.
    pub fn too_many(&self, said: &str, pause: Duration) -> PlatformFailure {
        let (pause, Self { name, too_many, .. }) = (pause.min(LONGEST_WAIT), self);
        let message = format!("{name}: {said}. {too_many}; try again after {} seconds", pause.as_secs());
        PlatformFailure { retry: Some(pause), ..PlatformFailure::new(message) }
    }
}

/// The reason without the URL, which may contain a secret.
fn cut(error: reqwest::Error) -> String {
    reason(error).chars().take(LONGEST_REASON).collect()
}
