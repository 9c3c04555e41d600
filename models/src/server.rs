//! The server of a model: its address, its key, and one request to it.

use crate::error::ModelError;
use crate::fault::{ServerError, bounded};
use crate::message::AssistantMessage;
use crate::settings::{ModelSettings, Provider};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use toolkit_http::REDACTED;
use url::{Host, Url};

/// The most bytes that are read of the body of a failure: 64 KiB.
const MAX_FAILURE_BYTES: usize = 64 << 10;
/// The most bytes of a list of models: 4 MiB.
const MAX_LIST_BYTES: usize = 4 << 20;
/// The version of Anthropic's interface.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The server of a model.
pub(crate) struct Server {
    /// The configured name of the model.
    name: String,
    provider: Provider,
    client: Client,
    /// The address, without a slash at the end.
    base: String,
    url: Url,
    headers: HeaderMap,
    secrets: Vec<String>,
    idle: Duration,
    model: OnceCell<String>,
    configured: Option<String>,
}

/// An answer of the server.
pub(crate) enum Received {
    /// An answer of the model.
    Answer(Response),
    /// A failure.
    Failure { told: ServerError, status: StatusCode, headers: HeaderMap },
}

impl Server {
    pub(crate) fn new(name: &str, settings: &ModelSettings) -> Result<Self, ModelError> {
        let wrong = |message: String| ModelError::Configuration {
            message: format!("model `{name}` cannot be used: {message}"),
        };
        let provider = match (settings.provider, &settings.base_url) {
            (Some(provider), _) => provider,
            (None, Some(_)) => Provider::OpenAiChat,
            (None, None) => {
                return Err(wrong(format!(
                    "it has neither `baseUrl` nor `provider`; set `models.{name}.baseUrl` for a local server (such as \
                     \"http://127.0.0.1:8080/v1\"), or `models.{name}.provider`, `model` and `apiKey`"
                )));
            }
        };
        if settings.base_url.is_none() && settings.model.is_none() {
            return Err(wrong(format!("it names no model of the provider; set `models.{name}.model`")));
        }
        if settings.base_url.is_none() && settings.api_key.is_none() && settings.headers.is_empty() {
            let variable = provider.usual_variable();
            return Err(wrong(format!(
                "the provider wants a key; set `models.{name}.apiKey` to \"${{env:{variable}}}\" or {{ file: \"…\" }}"
            )));
        }
        if provider == Provider::Gemini && settings.model.is_none() {
            return Err(wrong(format!("its address holds the model; set `models.{name}.model`")));
        }
        let base =
            settings.base_url.as_deref().unwrap_or(provider.base_url()).trim_end_matches('/').to_owned();
        let no_address = || {
            wrong(format!(
                "`models.{name}.baseUrl` is not a URL; set it to one like \"http://127.0.0.1:8080/v1\""
            ))
        };
        let url = Url::parse(&base).map_err(|_| no_address())?;
        if !url.has_host() || !matches!(url.scheme(), "http" | "https") {
            return Err(no_address());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(format!(
                "`models.{name}.baseUrl` holds a password; set `models.{name}.apiKey` or `headers` instead"
            )));
        }
        let (headers, secrets) = headers(provider, settings).map_err(wrong)?;
        let mut builder =
            toolkit_http::streaming_client(Duration::from_secs(settings.connect_timeout_seconds));
        // No proxy reaches a server of this machine.
        if is_local(&url) {
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|error| wrong(format!("no requests can be made ({})", toolkit_http::reason(error))))?;
        Ok(Self {
            name: name.to_owned(),
            provider,
            client,
            base,
            url,
            headers,
            secrets,
            idle: Duration::from_secs(settings.idle_timeout_seconds),
            model: OnceCell::new(),
            configured: settings.model.clone(),
        })
    }

    pub(crate) fn provider(&self) -> Provider {
        self.provider
    }

    /// Returns true if the server is OpenAI's own, or speaks exactly like it.
    pub(crate) fn is_openai(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        host == "api.openai.com" || host.ends_with(".openai.com") || host.ends_with(".azure.com")
    }

    /// The model, as the server names it.
    pub(crate) async fn model(&self) -> Result<String, ModelError> {
        match &self.configured {
            Some(model) => Ok(model.clone()),
            None => self.model.get_or_try_init(|| self.first_model()).await.cloned(),
        }
    }

    /// The first model that the server lists.
    async fn first_model(&self) -> Result<String, ModelError> {
        let unlisted = |why: &str| ModelError::Configuration {
            message: format!(
                "model `{}` cannot be used: the server lists no models ({why}); set `models.{0}.model`",
                self.name
            ),
        };
        let request = self.client.get(format!("{}/models", self.base)).headers(self.headers.clone());
        let response = self.begin(request).await?;
        let status = response.status();
        let headers = response.headers().clone();
        let body = timeout(self.idle, toolkit_http::read(response, MAX_LIST_BYTES)).await;
        let body =
            body.map_err(|_| self.timeout())?.map_err(|error| self.connect(error))?.unwrap_or_default();
        if matches!(status.as_u16(), 401 | 403 | 429 | 500..) {
            return Err(self.without_secrets(ServerError::of(&body).into_error(&self.name, status, &headers)));
        }
        if !status.is_success() {
            return Err(unlisted(&format!("status {}", status.as_u16())));
        }
        let list: Value = serde_json::from_slice(&body).map_err(|_| unlisted("its answer is not JSON"))?;
        let models = list.get("data").or_else(|| list.get("models")).unwrap_or(&list);
        let first = models
            .get(0)
            .and_then(|model| model.get("id").or_else(|| model.get("name")))
            .and_then(Value::as_str);
        first.map(str::to_owned).ok_or_else(|| unlisted("its list is empty"))
    }

    /// Sends a request, and waits for the beginning of its answer.
    pub(crate) async fn send(&self, model: &str, body: &Value) -> Result<Received, ModelError> {
        let request = self.client.post(self.endpoint(model)).headers(self.headers.clone());
        let request = request.header(CONTENT_TYPE, "application/json").header(ACCEPT, "text/event-stream");
        let response = self.begin(request.body(body.to_string())).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(Received::Answer(response));
        }
        let headers = response.headers().clone();
        let body = timeout(self.idle, failure(response)).await.unwrap_or_default();
        let mut told = ServerError::of(&body);
        told.message = self.redacted(&told.message);
        Ok(Received::Failure { told, status, headers })
    }

    fn endpoint(&self, model: &str) -> String {
        let base = &self.base;
        match self.provider {
            Provider::OpenAiChat => format!("{base}/chat/completions"),
            Provider::OpenAiResponses => format!("{base}/responses"),
            Provider::Anthropic if base.ends_with("/v1") => format!("{base}/messages"),
            Provider::Anthropic => format!("{base}/v1/messages"),
            Provider::Gemini => {
                let model = model.strip_prefix("models/").unwrap_or(model);
                let path =
                    model.replace('%', "%25").replace('?', "%3F").replace('#', "%23").replace(' ', "%20");
                format!("{base}/models/{path}:streamGenerateContent?alt=sse")
            }
        }
    }

    async fn begin(&self, request: RequestBuilder) -> Result<Response, ModelError> {
        match timeout(self.idle, request.send()).await {
            Err(_) => Err(self.timeout()),
            Ok(Err(error)) => Err(self.connect(error)),
            Ok(Ok(response)) => Ok(response),
        }
    }

    fn timeout(&self) -> ModelError {
        let partial = Box::<AssistantMessage>::default();
        ModelError::Timeout { model: self.name.clone(), after: self.idle, partial }
    }

    fn connect(&self, error: reqwest::Error) -> ModelError {
        let reason = if error.is_timeout() && error.is_connect() {
            "no connection in time".to_owned()
        } else {
            self.redacted(&bounded(&toolkit_http::reason(error)))
        };
        ModelError::Connect {
            model: self.name.clone(),
            place: self.url.origin().ascii_serialization(),
            reason,
        }
    }

    /// A server may repeat what it got, in whatever message.
    pub(crate) fn without_secrets(&self, mut error: ModelError) -> ModelError {
        let (ModelError::RateLimited { message, .. }
        | ModelError::Quota { message, .. }
        | ModelError::ContextTooLong { message, .. }
        | ModelError::Refused { message, .. }
        | ModelError::Unauthorized { message, .. }
        | ModelError::Status { message, .. }
        | ModelError::Stream { message, .. }
        | ModelError::Format { message, .. }) = &mut error
        else {
            return error;
        };
        *message = self.redacted(message);
        error
    }

    fn redacted(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), REDACTED))
    }
}

/// Returns true for an address of this machine.
fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The headers of each request, and the secrets in them.
fn headers(provider: Provider, settings: &ModelSettings) -> Result<(HeaderMap, Vec<String>), String> {
    let mut headers = HeaderMap::new();
    let mut secrets = Vec::new();
    if provider == Provider::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    if let Some(key) = &settings.api_key {
        let key = key.expose();
        // A key in a header is plain text without spaces; the error must not show another one.
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(
                "`apiKey` is not a valid key: it is empty or has invalid characters; set it again".to_owned()
            );
        }
        let (name, value) = match provider {
            Provider::OpenAiChat | Provider::OpenAiResponses => (AUTHORIZATION, format!("Bearer {key}")),
            Provider::Anthropic => (HeaderName::from_static("x-api-key"), key.to_owned()),
            Provider::Gemini => (HeaderName::from_static("x-goog-api-key"), key.to_owned()),
        };
        headers.insert(name, sensitive(&value).ok_or("`apiKey` cannot be sent; set it again")?);
        secrets.push(key.to_owned());
    }
    for (name, value) in &settings.headers {
        let shown = toolkit::text::escape_line(name);
        let parsed = HeaderName::try_from(name.as_str())
            .map_err(|_| format!("`headers` has the invalid header name `{shown}`"))?;
        let value = value.expose();
        headers.insert(
            parsed,
            sensitive(value)
                .ok_or_else(|| format!("the header `{shown}` has a value that cannot be sent"))?,
        );
        if !value.is_empty() {
            secrets.push(value.to_owned());
        }
    }
    // A secret that is a part of another is replaced after it.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    Ok((headers, secrets))
}

fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The beginning of the body of a failure.
async fn failure(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_FAILURE_BYTES {
            body.truncate(MAX_FAILURE_BYTES);
            break;
        }
    }
    body
}
