//! Requests of a bot to the Bot API, and their failures.

use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use toolkit::config::Secret;
use toolkit::text::escape_line;
use toolkit_http::{Platform, PlatformAnswer, PlatformFailure, REDACTED};

/// Maximum number of characters quoted from Telegram's error.
const MAX_DESCRIPTION: usize = 300;
/// The longest time that a connection is kept without a request: shorter than Telegram keeps it. A request on a connection that the
/// server has just closed would fail without anybody knowing whether it arrived.
const MAX_IDLE: Duration = Duration::from_secs(30);
/// The slowest transfer that is waited for, in bytes per second.
const MIN_BYTES_PER_SECOND: u64 = 32 << 10;

/// A bot on a server of the Bot API.
pub(crate) struct Bot {
    client: Client,
    base_url: String,
    token: Secret,
    timeout: Duration,
}

/// The body of a request.
pub(crate) struct Payload {
    /// Its media type.
    pub(crate) content_type: String,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

impl Payload {
    /// A body of JSON.
    pub(crate) fn json(body: &impl Serialize) -> serde_json::Result<Self> {
        Ok(Self { content_type: "application/json".to_owned(), bytes: serde_json::to_vec(body)? })
    }
}

/// A request that did not succeed. Its texts are without the token.
#[derive(Debug)]
pub(crate) enum Failure {
    /// There is no answer of the Bot API.
    Unanswered {
        /// The failure.
        failure: PlatformFailure,
        /// The status of an answer that is not in the form of the Bot API.
        status: Option<StatusCode>,
    },
    /// The Bot API answered with an error.
    Error(ApiError),
}

/// An error of the Bot API.
#[derive(Debug)]
pub(crate) struct ApiError {
    /// Its code, which is one of HTTP.
    pub(crate) code: i64,
    /// Its description.
    pub(crate) description: String,
    /// Its parameters.
    pub(crate) parameters: Parameters,
    /// The wait that the header `Retry-After` asks for.
    pub(crate) wait: Option<Duration>,
}

impl ApiError {
    /// Returns the description on one line, cut to a length that can be shown.
    pub(crate) fn said(&self) -> String {
        let said: String = escape_line(&self.description).chars().take(MAX_DESCRIPTION).collect();
        if said.is_empty() { format!("error {}", self.code) } else { said }
    }
}

/// Hints for handling a failed request.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Parameters {
    pub(crate) retry_after: Option<u64>,
    pub(crate) migrate_to_chat_id: Option<i64>,
}

/// The envelope of every answer of the Bot API.
#[derive(Deserialize)]
struct Envelope<R> {
    ok: bool,
    result: Option<R>,
    error_code: Option<i64>,
    description: Option<String>,
    parameters: Option<Parameters>,
}

impl Bot {
    /// A bot by its token. Nothing is sent.
    ///
    /// # Errors
    ///
    /// The client cannot be made.
    pub(crate) fn new(token: Secret, base_url: &str, timeout: Duration) -> reqwest::Result<Self> {
        let client = toolkit_http::client(timeout).pool_idle_timeout(MAX_IDLE).build()?;
        Ok(Self { client, base_url: base_url.trim_end_matches('/').to_owned(), token, timeout })
    }

    /// Returns the bot's id, with which its token begins.
    pub(crate) fn id(&self) -> i64 {
        self.token.expose().split(':').next().and_then(|id| id.parse().ok()).unwrap_or_default()
    }

    /// The base URL.
    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The timeout of a request.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the timeout of a request that moves this number of bytes.
    pub(crate) fn transfer_timeout(&self, bytes: u64) -> Duration {
        self.timeout + Duration::from_secs(bytes / MIN_BYTES_PER_SECOND)
    }

    /// Calls a method once.
    pub(crate) async fn call<R: DeserializeOwned>(
        &self,
        platform: &Platform,
        method: &str,
        payload: Payload,
        timeout: Duration,
    ) -> Result<R, Failure> {
        self.try_call(platform, method, payload, timeout).await.map_err(|failure| self.without_token(failure))
    }

    async fn try_call<R: DeserializeOwned>(
        &self,
        platform: &Platform,
        method: &str,
        payload: Payload,
        timeout: Duration,
    ) -> Result<R, Failure> {
        let url = format!("{}/bot{}/{method}", self.base_url, self.token.expose());
        let request = self.client.post(url).header(CONTENT_TYPE, payload.content_type).timeout(timeout);
        let answer = platform.exchange(request.body(payload.bytes), timeout, self.token.expose()).await;
        let answer = answer.map_err(|failure| Failure::Unanswered { failure, status: None })?;
        let envelope: Envelope<R> = serde_json::from_slice(&answer.body).map_err(|_| {
            Failure::Unanswered { failure: platform.foreign(&answer), status: Some(answer.status) }
        })?;
        let PlatformAnswer { status, wait, .. } = answer;
        match envelope {
            Envelope { ok: true, result: Some(result), .. } => Ok(result),
            Envelope { ok: true, .. } => Err(Failure::Unanswered {
                failure: platform.unusable(status, wait, "it has no result"),
                status: Some(status),
            }),
            Envelope { error_code, description, parameters, .. } => Err(Failure::Error(ApiError {
                code: error_code.unwrap_or_else(|| status.as_u16().into()),
                description: description.unwrap_or_default(),
                parameters: parameters.unwrap_or_default(),
                wait,
            })),
        }
    }

    /// Returns a request for a file, by the path that the Bot API gave; `None` if that is no path below the address of the bot's files.
    pub(crate) fn file(&self, path: &str) -> Option<reqwest::RequestBuilder> {
        let segments: Vec<&str> = path.split('/').collect();
        if segments.iter().any(|segment| matches!(*segment, "" | "." | "..")) {
            return None;
        }
        let mut url = Url::parse(&self.base_url).ok()?;
        // Each is encoded, so that none can end the path.
        url.path_segments_mut()
            .ok()?
            .extend(["file".to_owned(), format!("bot{}", self.token.expose())])
            .extend(segments);
        Some(self.client.get(url))
    }

    /// Removes the token from the texts of a failure, even where a server wrote it with escapes of JSON.
    fn without_token(&self, failure: Failure) -> Failure {
        let clean = |text: &str| text.replace(self.token.expose(), REDACTED);
        match failure {
            Failure::Unanswered { failure, status } => {
                let message = clean(&failure.message);
                Failure::Unanswered { failure: PlatformFailure { message, ..failure }, status }
            }
            Failure::Error(error) => {
                let description = clean(&error.description);
                Failure::Error(ApiError { description, ..error })
            }
        }
    }
}

/// Returns true if a text has the form of a token of a bot.
pub(crate) fn is_token(text: &str) -> bool {
    let is_of_secret = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    text.len() <= 128
        && text.split_once(':').is_some_and(|(id, secret)| {
            !id.is_empty()
                && id.bytes().all(|byte| byte.is_ascii_digit())
                && !secret.is_empty()
                && secret.chars().all(is_of_secret)
        })
}
