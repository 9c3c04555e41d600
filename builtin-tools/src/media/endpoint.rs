//! Endpoints with the HTTP API of OpenAI: requests, answers, and errors without the key.

use super::form::Form;
use super::marker;
use super::meter::Expected;
use crate::config::{MediaPrice, MediaProvider};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, StatusCode, Url};
use serde_json::Value;
use std::fmt;
use std::pin::pin;
use std::time::{Duration, Instant};
use toolkit::prelude::*;
use toolkit::{
    Ask, ToolErrorKind, config::Secret, events::Progress, metering::EndpointMeter, output::Retry,
    text::escape_line,
};

/// Maximum number of characters of an endpoint's error message.
const MAX_SAID_CHARS: usize = 500;
/// Wait before the next request to a busy endpoint that states none.
const PAUSE: Duration = Duration::from_secs(5);
/// Interval of the progress of a request.
const INTERVAL: Duration = Duration::from_secs(5);

/// A configured endpoint.
pub(super) struct Endpoint {
    /// Its name in texts.
    pub(super) name: String,
    /// The section of the configuration that it stands in.
    section: &'static str,
    base_url: String,
    key: Option<Secret>,
    model: Option<String>,
    price: Option<MediaPrice>,
    client: Client,
    timeout: Duration,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The body of a request.
pub(super) enum Body {
    Json(Value),
    Form(Form),
}

/// An answer of success.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) media_type: String,
    pub(super) body: Vec<u8>,
}

/// A request that failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: ToolError,
    /// True if the endpoint did nothing, so that another one may be asked.
    pub(super) was_refused: bool,
}

impl Endpoint {
    /// Creates the endpoint of a section's entry.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the key has characters that no key has.
    pub(super) fn new(
        section: &'static str,
        provider: &MediaProvider,
        timeout: Duration,
    ) -> Result<Self, ToolError> {
        let mut headers = HeaderMap::new();
        if let Some(key) = &provider.api_key {
            let Some(value) = bearer(key) else {
                return Err(ToolError::unavailable(format!(
                    "an `apiKey` of `{section}` is not valid: it has characters that no key has; a person has to check it"
                )));
            };
            headers.insert(AUTHORIZATION, value);
        }
        let client = toolkit_http::client(timeout).default_headers(headers).build();
        let client = client.map_err(|error| {
            ToolError::unavailable(format!("requests to the endpoint cannot be made: {error}"))
        })?;
        let base_url = provider.base_url.trim_end_matches('/').to_owned();
        let host = base_url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        let name =
            provider.name.clone().unwrap_or_else(|| host.rsplit('@').next().unwrap_or(host).to_owned());
        Ok(Self {
            name,
            section,
            base_url,
            key: provider.api_key.clone().filter(|key| !key.expose().is_empty()),
            model: provider.model.clone(),
            price: provider.price,
            client,
            timeout,
        })
    }

    /// Returns the maximum duration of a request.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the configured model, or the usual one.
    pub(super) fn model<'a>(&'a self, usual: &'a str) -> &'a str {
        self.model.as_deref().unwrap_or(usual)
    }

    /// Sends a request, once, and returns an answer of success of at most `most` bytes. Dropping the future ends the connection.
    ///
    /// The meter of the host counts what the request is expected to use, or what the answer reports.
    pub(super) async fn post(
        &self,
        ctx: &ToolContext,
        path: &str,
        body: Body,
        expected: Expected,
        most: usize,
    ) -> Result<Answer, Failure> {
        let tool = self.section.strip_prefix("tools.").unwrap_or(self.section);
        let open = match ctx.service::<dyn EndpointMeter>() {
            Some(meter) => {
                let request = expected.reserved(tool, &self.name, self.price.as_ref());
                let open = meter.begin(ctx.caller(), &request).await;
                Some(open.map_err(|error| Failure { error, was_refused: false })?)
            }
            None => None,
        };
        let mut is_charged = true;
        let sent = self.send(path, body, most, &mut is_charged).await;
        match (open, &sent) {
            (Some(open), Ok(answer)) => {
                let used = expected.reported(&answer.body, tool, &self.name, self.price.as_ref());
                open.end(Some(used));
            }
            (Some(open), Err(failure)) if failure.was_refused || !is_charged => open.end(None),
            // Dropped, it counts as expected.
            _ => {}
        }
        // A server may repeat what it got.
        sent.map_err(|failure| {
            let message = self.said(failure.error.message());
            Failure { error: failure.error.with_message(message), ..failure }
        })
    }

    /// Returns a text of the endpoint as it may be shown: without the key, and without the marker of files.
    pub(super) fn said(&self, text: &str) -> String {
        marker::removed(&self.without_key(text))
    }

    fn without_key(&self, text: &str) -> String {
        match &self.key {
            Some(key) => text.replace(key.expose(), toolkit_http::REDACTED),
            None => text.to_owned(),
        }
    }

    /// Returns the address of a file that the endpoint names, if it is on the endpoint's own origin; an address without a host is.
    pub(super) fn own_address(&self, address: &str) -> Option<Url> {
        let base = Url::parse(&self.base_url).ok()?;
        base.join(address).ok().filter(|joined| joined.origin() == base.origin())
    }

    /// Returns the header with the key, for requests to the endpoint's own origin alone.
    pub(super) fn credential(&self) -> Option<HeaderValue> {
        bearer(self.key.as_ref()?)
    }

    /// Sends a request. `is_charged` is false then if the endpoint answered that it does not take the request.
    async fn send(
        &self,
        path: &str,
        body: Body,
        most: usize,
        is_charged: &mut bool,
    ) -> Result<Answer, Failure> {
        let request = self.client.post(format!("{}/{path}", self.base_url));
        let request = match body {
            Body::Json(value) => request.header(CONTENT_TYPE, "application/json").body(value.to_string()),
            Body::Form(form) => {
                let (media_type, bytes) = form.finish();
                request.header(CONTENT_TYPE, media_type).body(bytes)
            }
        };
        let response = request.send().await.map_err(|error| self.unsent(error))?;
        let status = response.status();
        let wait = toolkit_http::retry_after(response.headers());
        let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = media_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
        let media_type = media_type.to_ascii_lowercase();
        let most = if status.is_success() { most } else { 64 << 10 };
        let read = toolkit_http::read(response, most).await;
        if !status.is_success() {
            *is_charged = status.is_server_error();
            let said = read.ok().flatten().unwrap_or_default();
            return Err(self.refused(status, &said, wait));
        }
        match read {
            Ok(Some(body)) => Ok(Answer { media_type, body }),
            Ok(None) => Err(self.unusable(&format!("it has more than {most} bytes"))),
            Err(error) => Err(self.broken(&toolkit_http::reason(error))),
        }
    }

    /// Returns the failure for a successful answer that does not have the documented form.
    pub(super) fn unusable(&self, why: &str) -> Failure {
        let why = self.said(why);
        let error = ToolError::failed(format!(
            "{} gave an answer that cannot be used: {why}; it may have been charged, so it is not asked again. A person has to check \
             `{}`",
            self.name, self.section
        ));
        Failure { error, was_refused: false }
    }

    /// Returns the failure for an answer that ended early.
    fn broken(&self, reason: &str) -> Failure {
        let error = ToolError::failed(format!(
            "the answer of {} ended early ({reason}); it may have been charged, so it is not asked again. Call again only if that is \
             worth it",
            self.name
        ));
        Failure { error, was_refused: false }
    }

    /// Returns the failure for a request without an answer.
    fn unsent(&self, error: reqwest::Error) -> Failure {
        let (name, section) = (&self.name, self.section);
        if error.is_builder() {
            let message = format!("a `baseUrl` of `{section}` is not a URL that requests can be sent to");
            return Failure { error: ToolError::unavailable(message), was_refused: true };
        }
        if error.is_connect() {
            let reason = toolkit_http::reason(error);
            let message = format!(
                "{name} cannot be reached ({reason}); try again later, or let a person check `{section}`"
            );
            let error = ToolError::unavailable(message).with_retry(Retry::Now);
            return Failure { error, was_refused: true };
        }
        if error.is_timeout() {
            let message = format!(
                "{name} did not answer within {} seconds (`{section}.timeoutSeconds`); it may have been charged, so it is not asked again. \
                 Call again only if that is worth it",
                self.timeout.as_secs()
            );
            return Failure { error: ToolError::new(ToolErrorKind::TimedOut, message), was_refused: false };
        }
        self.broken(&toolkit_http::reason(error))
    }

    /// Returns the failure for an answer with an error status.
    fn refused(&self, status: StatusCode, said: &[u8], wait: Option<Duration>) -> Failure {
        // Before the message is cut, which could leave a part of the key.
        let (told, code) = told(self.without_key(&String::from_utf8_lossy(said)).as_bytes());
        let (name, section) = (&self.name, self.section);
        let said = if told.is_empty() { "it gives no reason".to_owned() } else { told };
        let told = format!("{name} answered {}: {said}", status.as_u16());
        // Its last sentence may have its own end.
        let stop = if told.ends_with(['.', '!', '?', '…', '。']) { "" } else { "." };
        let told = format!("{told}{stop}");
        let is_of_account = matches!(
            code.as_deref(),
            Some("insufficient_quota" | "billing_hard_limit_reached" | "billing_not_active")
        );
        let is_policy = matches!(
            code.as_deref(),
            Some("content_policy_violation" | "moderation_blocked" | "content_filter")
        );
        let (error, was_refused) = match status.as_u16() {
            402 => (account(&told), true),
            429 if is_of_account => (account(&told), true),
            _ if is_policy => (
                ToolError::failed(format!("{told} Its rules do not allow this; ask for something else")),
                false,
            ),
            401 | 403 => (
                ToolError::unavailable(format!("{told} A person has to check the `apiKey` in `{section}`")),
                true,
            ),
            404 | 405 => (
                ToolError::unavailable(format!(
                    "{told} A person has to check `baseUrl` and `model` in `{section}`"
                )),
                true,
            ),
            300..=399 => (
                ToolError::unavailable(format!(
                    "{told} Redirects are not followed: a person has to set `baseUrl` in `{section}` to the final address"
                )),
                true,
            ),
            413 => (ToolError::failed(format!("{told} Give it less")), false),
            429 | 503 => {
                let wait = wait.unwrap_or(PAUSE);
                let message = format!("{told} Try again after {} seconds", wait.as_secs());
                (ToolError::unavailable(message).with_retry(Retry::After(wait)), true)
            }
            500.. => {
                let error = ToolError::unavailable(format!(
                    "{told} It may have been charged, so it is not asked again. Call again only if that is worth it"
                ));
                // No advice to retry for a host that would do so by itself.
                (error, false)
            }
            _ => (ToolError::failed(told), false),
        };
        Failure { error, was_refused }
    }
}

/// The header with a key; `None` if it has characters that no key has.
fn bearer(key: &Secret) -> Option<HeaderValue> {
    let is_key = key.expose().bytes().all(|byte| byte.is_ascii_graphic());
    let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose())).ok().filter(|_| is_key)?;
    value.set_sensitive(true);
    Some(value)
}

fn account(told: &str) -> ToolError {
    ToolError::unavailable(format!("{told} A person has to check the account there; waiting does not help"))
}

/// Returns the message of an error answer, on one line, and its code.
fn told(body: &[u8]) -> (String, Option<String>) {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = value.get("error").unwrap_or(&value);
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let message = error.as_str().map(str::to_owned).or_else(|| text(error, "message"));
    let code = text(error, "code").or_else(|| text(error, "type"));
    // HTML is left out.
    let message = message.unwrap_or_else(|| match body.first() {
        Some(b'<' | b'{' | b'[') | None => String::new(),
        Some(_) => String::from_utf8_lossy(body).into_owned(),
    });
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    (escape_line(&line).chars().take(MAX_SAID_CHARS).collect(), code)
}

/// Names of endpoints, for a question.
pub(super) fn names(endpoints: &[Endpoint]) -> String {
    endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect::<Vec<_>>().join(" or else ")
}

/// A question before a request to endpoints. Rules match the name of each, so that none is used that they do not allow.
pub(super) fn ask(kind: &'static str, title: String, endpoints: &[Endpoint]) -> Ask {
    endpoints.iter().fold(Ask::new(kind, title), |ask, endpoint| ask.with_pattern(&endpoint.name))
}

/// Endpoints in turn, until one does not refuse the request.
pub(super) struct Turns<'a> {
    rest: std::slice::Iter<'a, Endpoint>,
    /// The endpoint that is being asked.
    current: Option<&'a Endpoint>,
    began: Instant,
    /// The refusals so far, a line each.
    refusals: String,
}

impl<'a> Turns<'a> {
    pub(super) fn new(endpoints: &'a [Endpoint]) -> Self {
        Self { rest: endpoints.iter(), current: None, began: Instant::now(), refusals: String::new() }
    }

    /// Returns the next endpoint to ask.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub(super) fn next(&mut self) -> Result<&'a Endpoint, ToolError> {
        self.current = self.rest.next();
        self.current.ok_or_else(|| ToolError::unavailable("no endpoint is configured"))
    }

    /// Waits for a request to the current endpoint, and reports progress meanwhile: the seconds since the first request.
    pub(super) async fn wait<T>(&self, ctx: &ToolContext, request: impl Future<Output = T>) -> T {
        let name = self.current.map(|endpoint| endpoint.name.as_str()).unwrap_or_default();
        let mut request = pin!(request);
        loop {
            if ctx.is_watched() {
                let progress = Progress::new(self.began.elapsed().as_secs_f64());
                ctx.progress(progress.with_message(format!("waiting for {name}")));
            }
            if let Ok(result) = tokio::time::timeout(INTERVAL, &mut request).await {
                return result;
            }
        }
    }

    /// Records a failure, after which the next endpoint may be asked.
    ///
    /// # Errors
    ///
    /// The failure with all earlier ones, if no other endpoint may be asked.
    pub(super) fn failed(&mut self, failure: Failure) -> Result<(), ToolError> {
        let Failure { error, was_refused } = failure;
        let message = format!("{}{}", self.refusals, error.message());
        if was_refused && self.rest.len() > 0 {
            self.refusals = message + "\n";
            return Ok(());
        }
        Err(error.with_message(message))
    }
}
