//! A server at an address.

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use std::collections::HashMap;
use std::time::Duration;
use toolkit::McpUrl;

/// How long a connection may take to come about.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// The most bytes of one answer.
const LARGEST: usize = 16 << 20;

/// What speaks to it. Nothing is sent yet.
pub(super) fn transport(settings: &McpUrl) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
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
    let unusable = |error: &dyn std::fmt::Display| format!("requests to it cannot be made: {error}");
    // Who has decided on one before keeps it.
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    let client = reqwest::Client::builder()
        .connect_timeout(CONNECT_WITHIN)
        // What stands in the headers is for this address alone.
        .redirect(Policy::none())
        .build()
        .map_err(|error| unusable(&error))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(settings.url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(LARGEST)
        .max_json_response_size(LARGEST);
    config.allow_stateless = true;
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
