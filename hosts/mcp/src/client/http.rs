//! A server at an address.

use super::failure::CONNECT_WITHIN;
use super::limited::Limited;
use super::post::Http;
use crate::settings::McpUrl;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::{Action, Attempt, Policy};
#[cfg(feature = "oauth")]
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::transport::{DynamicTransportError, StreamableHttpClientTransport};
use std::collections::HashMap;
use std::error::Error;
#[cfg(feature = "oauth")]
use std::sync::Arc;
#[cfg(feature = "oauth")]
use tokio_util::sync::CancellationToken;
use url::Url;

/// Maximum length of a URL path that is shown in errors, in bytes.
const LONGEST_PLAIN_PATH: usize = 24;

/// Creates a transport that authenticates only with the configured headers. Nothing is sent yet.
pub(super) fn transport(settings: &McpUrl) -> Result<StreamableHttpClientTransport<Limited<Http>>, String> {
    Ok(StreamableHttpClientTransport::with_client(Limited::new(client()?), config(settings)?))
}

/// Creates a transport that signs in if the server requires authentication, until `ended` is cancelled.
#[cfg(feature = "oauth")]
pub(super) fn signed_in(
    settings: &McpUrl,
    authority: Arc<super::oauth::Authority>,
    ended: CancellationToken,
) -> Result<StreamableHttpClientTransport<Limited<super::oauth::SignedIn>>, String> {
    let client = Limited::new(signing_in(authority, ended)?);
    Ok(StreamableHttpClientTransport::with_client(client, config(settings)?))
}

/// A client that signs in, until its connection has ended.
#[cfg(feature = "oauth")]
pub(super) fn signing_in(
    authority: Arc<super::oauth::Authority>,
    ended: CancellationToken,
) -> Result<super::oauth::SignedIn, String> {
    Ok(super::oauth::SignedIn::new(client()?, authority, ended))
}

/// Returns true if the settings provide the authentication: an `Authorization` header, or OAuth switched off.
#[cfg(feature = "oauth")]
pub(super) fn is_known(settings: &McpUrl) -> bool {
    !settings.oauth.enabled || settings.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"))
}

/// The headers that its settings name.
pub(super) fn headers(settings: &McpUrl) -> Result<HashMap<HeaderName, HeaderValue>, String> {
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
    Ok(headers)
}

fn config(settings: &McpUrl) -> Result<StreamableHttpClientTransportConfig, String> {
    let limit = settings.max_message_bytes;
    let mut config = StreamableHttpClientTransportConfig::with_uri(settings.url.as_str())
        .custom_headers(headers(settings)?)
        .max_sse_event_size(limit)
        .max_json_response_size(limit);
    config.allow_stateless = true;
    Ok(config)
}

// Clients have no provider of cryptography of their own, nor has then any other client of the program.
toolkit::at_start!(install_provider);

/// Installs the provider of cryptography, unless the program has chosen one.
fn install_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

pub(super) fn client() -> Result<Http, String> {
    install_provider();
    reqwest::Client::builder()
        .connect_timeout(CONNECT_WITHIN)
        .redirect(Policy::custom(redirect))
        .build()
        .map(Http::new)
        .map_err(|error| format!("requests to it cannot be made: {error}"))
}

/// Maximum number of redirects of one request.
const MAX_REDIRECTS: usize = 5;

/// A redirect that is not followed.
#[derive(Debug, thiserror::Error)]
#[error("it redirects to {to} (HTTP {status}), which is not followed: {why}")]
struct Redirected {
    to: String,
    status: u16,
    why: &'static str,
}

/// Follows a redirect that repeats the request, within its origin: the headers may hold secrets for this origin only.
fn redirect(attempt: Attempt<'_>) -> Action {
    let (from, to, status) = (attempt.previous().last(), attempt.url(), attempt.status().as_u16());
    let why = if from.is_none_or(|from| from.origin() != to.origin()) {
        "it is another origin; if that is the server's address, configure it"
    } else if !matches!(status, 307 | 308) {
        "the request would become another one; if that is the server's address, configure it"
    } else if attempt.previous().len() > MAX_REDIRECTS {
        "there were too many redirects"
    } else {
        return attempt.follow();
    };
    let to = shown_address(to.as_str());
    attempt.error(Redirected { to, status, why })
}

/// Returns the reason for which a request was refused if it lacked authentication; the text follows the name of the server, and is not
/// escaped.
pub(super) fn challenge(error: &DynamicTransportError, server: &str) -> Option<String> {
    refusal(&*error.error, server)
}

/// Like [`challenge`], for an error of any kind.
pub(super) fn refusal(error: &(dyn Error + 'static), server: &str) -> Option<String> {
    let mut next = Some(error);
    while let Some(error) = next {
        match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::AuthRequired(_)) => return Some(unknown(server)),
            Some(StreamableHttpError::InsufficientScope(error)) => {
                // The scope comes from the server, and the user may run this command line.
                let is_plain =
                    |scope: &&str| scope.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:/".contains(c));
                let scopes = error.required_scope.as_deref().unwrap_or_default().split_whitespace();
                let scopes =
                    scopes.filter(is_plain).fold(String::new(), |told, scope| told + " --scope " + scope);
                return Some(format!(
                    "requires more scopes than it granted; a person can sign in for them with `toolkit mcp login {server}{scopes}`"
                ));
            }
            #[cfg(feature = "oauth")]
            Some(StreamableHttpError::Auth(error @ AuthError::TokenRefreshFailed(_))) => {
                return Some(format!(
                    "cannot be signed in to: {error}. `toolkit mcp login {server}` signs in again"
                ));
            }
            #[cfg(feature = "oauth")]
            Some(StreamableHttpError::Auth(error)) => {
                return Some(format!("cannot be signed in to: {error}"));
            }
            _ => next = error.source(),
        }
    }
    None
}

/// Returns a text without the path, query and credentials of a URL, which may contain secrets.
pub(super) fn without_address(text: &str, address: &str) -> String {
    let Ok(parsed) = Url::parse(address) else { return text.replace(address, "its address") };
    let shown = shown(&parsed);
    let mut without = text.replace(address, &shown).replace(parsed.as_str(), &shown);
    // The URL in the form of libraries that remove the credentials.
    let mut anonymous = parsed.clone();
    let _ = anonymous.set_username("");
    let _ = anonymous.set_password(None);
    without = without.replace(anonymous.as_str(), &shown);
    for secret in
        [parsed.query(), parsed.password()].into_iter().flatten().filter(|secret| !secret.is_empty())
    {
        without = without.replace(secret, "[redacted]");
    }
    let path = parsed.path();
    // A short path contains no key.
    if path.len() > LONGEST_PLAIN_PATH { without.replace(path, "/[redacted]") } else { without }
}

/// Returns a URL for people: without its query and credentials, and without a path that may contain a key.
fn shown(address: &Url) -> String {
    let path = if address.path().len() > LONGEST_PLAIN_PATH { "/[redacted]" } else { address.path() };
    format!("{}{}", address.origin().ascii_serialization(), path)
}

/// Returns a URL in the form for people, if it is valid.
pub(super) fn shown_address(address: &str) -> String {
    Url::parse(address).map_or_else(|_| "its address".to_owned(), |address| shown(&address))
}

/// Returns the hint for a server that requires authentication.
pub(super) fn unknown(server: &str) -> String {
    format!(
        "requires authentication: sign in with `toolkit mcp login {server}`, or give it a header `Authorization` in its `headers`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_addresses_are_not_told() {
        for address in [
            "https://api.example/mcp?api_key=SECRETKEY",
            "https://user:SECRETKEY@api.example/mcp",
            "https://api.example/hooks/SECRETKEY/of/a/long/path/mcp",
        ] {
            let normal = Url::parse(address).unwrap();
            let mut anonymous = normal.clone();
            let _ = anonymous.set_username("");
            let _ = anonymous.set_password(None);
            for told in [address, normal.as_str(), anonymous.as_str(), &address["https://".len()..]] {
                let text = without_address(&format!("error sending request for url ({told})"), address);
                assert!(!text.contains("SECRETKEY") && text.contains("api.example"), "{told}: {text}");
            }
        }
        let plain = without_address("error for url (http://127.0.0.1:9/mcp)", "http://127.0.0.1:9/mcp");
        assert_eq!(plain, "error for url (http://127.0.0.1:9/mcp)");
    }
}
