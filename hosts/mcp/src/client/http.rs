//! A server at an address.

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::transport::{DynamicTransportError, StreamableHttpClientTransport};
use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;
use toolkit::{McpUrl, escape_line};

/// How long a connection may take to come about.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// The most bytes of one answer.
const LARGEST: usize = 16 << 20;

/// What speaks to it with what its settings say alone. Nothing is sent yet.
pub(super) fn transport(settings: &McpUrl) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    Ok(StreamableHttpClientTransport::with_client(client()?, config(settings)?))
}

/// What speaks to it, and signs in where it wants to know who asks.
#[cfg(feature = "oauth")]
pub(super) async fn signed_in(
    settings: &McpUrl,
    authority: super::oauth::Authority,
) -> Result<StreamableHttpClientTransport<super::oauth::SignedIn>, String> {
    let config = config(settings)?;
    let client = authority.client(client()?).await?;
    let client = super::oauth::SignedIn::new(client, authority);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Whether its settings say who asks.
#[cfg(feature = "oauth")]
pub(super) fn is_known(settings: &McpUrl) -> bool {
    !settings.oauth.enabled || settings.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"))
}

fn config(settings: &McpUrl) -> Result<StreamableHttpClientTransportConfig, String> {
    let mut headers = HashMap::new();
    for (name, value) in &settings.headers {
        let wrong = |what: &str| format!("its header {name:?} cannot be sent: {what}");
        let name =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("that is no name of a header"))?;
        let mut value =
            HeaderValue::from_str(value.expose()).map_err(|_| wrong("the value is not one of a header"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let mut config = StreamableHttpClientTransportConfig::with_uri(settings.url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(LARGEST)
        .max_json_response_size(LARGEST);
    config.allow_stateless = true;
    Ok(config)
}

fn client() -> Result<reqwest::Client, String> {
    // Who has decided on one before keeps it.
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    reqwest::Client::builder()
        .connect_timeout(CONNECT_WITHIN)
        // What stands in the headers is for this address alone.
        .redirect(Policy::none())
        .build()
        .map_err(|error| format!("requests to it cannot be made: {error}"))
}

/// What a request was refused for, where that was for want of knowing who asks; in words that go after the name of the server.
pub(super) fn challenge(error: &DynamicTransportError, server: &str) -> Option<String> {
    let mut next: Option<&(dyn Error + 'static)> = Some(&*error.error);
    while let Some(error) = next {
        match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::AuthRequired(_)) => return Some(unknown(server)),
            Some(StreamableHttpError::InsufficientScope(error)) => {
                let scopes = error.required_scope.as_deref().unwrap_or_default().split_whitespace();
                let scopes = scopes.fold(String::new(), |told, scope| told + " --scope " + scope);
                let text = format!(
                    "wants leave for more than it gave; a person can sign in for that with `toolkit mcp login {server}{scopes}`"
                );
                return Some(escape_line(&text).into_owned());
            }
            #[cfg(feature = "oauth")]
            Some(StreamableHttpError::Auth(error)) => {
                let text = format!("cannot be signed in to: {error}");
                return Some(escape_line(&text).into_owned());
            }
            _ => next = error.source(),
        }
    }
    None
}

/// What to do where it wants to know who asks.
pub(super) fn unknown(server: &str) -> String {
    let text = format!(
        "wants to know who asks: sign in with `toolkit mcp login {server}`, or give it a header `Authorization` in its `headers`"
    );
    escape_line(&text).into_owned()
}
