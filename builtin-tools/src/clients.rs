//! Guarded clients for tools that fetch an address of a model or a configuration, and their errors for a model.

use crate::config::{WebFetchSettings, WebNetworkSettings};
use crate::network::{SECTION, advice, parsed, settings};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, output::Retry};
use toolkit_http::http::HeaderValue;
use toolkit_http::{
    AddressRange, Client, ConnectError, FetchError, Guard, GuardSettings, Limits, Phase, Refused,
};

/// Returns a client for pages that a model names.
pub(crate) fn page_client(ctx: &ToolContext, fetch: &WebFetchSettings) -> Result<Client, ToolError> {
    let network: WebNetworkSettings = ctx.config_section(SECTION)?;
    let mut settings = settings(ctx, &network)?;
    settings.allowed_ranges = parsed(&network.allowed_ranges, "tools.web.network.allowedRanges")?;
    settings.blocked_domains = parsed(&fetch.blocked_domains, "tools.web.fetch.blockedDomains")?;
    if let Some(allowed) = &fetch.allowed_domains {
        settings.allowed_domains = Some(parsed(allowed, "tools.web.fetch.allowedDomains")?);
    }
    let limits = Limits::default()
        .with_total(Duration::from_secs(fetch.timeout_seconds))
        .with_body_bytes(fetch.max_bytes);
    Ok(client(settings, limits, &network, "web_fetch"))
}

/// Returns a client for a picture that a model or an endpoint names.
#[cfg(feature = "media")]
pub(crate) fn picture_client(ctx: &ToolContext, max_bytes: usize) -> Result<Client, ToolError> {
    let fetch: WebFetchSettings = ctx.config_section("tools.web.fetch")?;
    page_client(ctx, &WebFetchSettings { max_bytes, ..fetch })
}

/// Returns a client for a search provider, whose address the user configured: it may be on a private network. Redirects are not
/// followed, since they would forward the key.
#[cfg(feature = "web")]
pub(crate) fn provider_client(ctx: &ToolContext, timeout: Duration) -> Result<Client, ToolError> {
    configured_client(ctx, timeout, 2 << 20, "web_search")
}

/// Returns a client for files on the origin of an endpoint, as [`provider_client`].
#[cfg(feature = "media")]
pub(crate) fn own_client(
    ctx: &ToolContext,
    timeout: Duration,
    max_bytes: usize,
) -> Result<Client, ToolError> {
    configured_client(ctx, timeout, max_bytes, "image")
}

/// Returns a client for an address that the user configured. Redirects are not followed.
#[cfg(any(feature = "media", feature = "web"))]
fn configured_client(
    ctx: &ToolContext,
    timeout: Duration,
    max_bytes: usize,
    tool: &str,
) -> Result<Client, ToolError> {
    let network: WebNetworkSettings = ctx.config_section(SECTION)?;
    let mut settings = settings(ctx, &network)?;
    let all =
        ["0.0.0.0/0", "::/0"].map(|range| range.parse::<AddressRange>().expect("a range of all addresses"));
    settings.allowed_ranges = all.to_vec();
    let limits = Limits::default().with_total(timeout).with_redirects(0).with_body_bytes(max_bytes);
    Ok(client(settings, limits, &network, tool))
}

/// Returns the settings that determine which addresses a caller may reach, as part of a cache key.
#[cfg(feature = "web")]
pub(crate) fn allowances(ctx: &ToolContext, fetch: &WebFetchSettings) -> Result<String, ToolError> {
    let network: WebNetworkSettings = ctx.config_section(SECTION)?;
    let parts = (
        &network.allowed_ranges,
        &fetch.allowed_domains,
        &fetch.blocked_domains,
        &network.proxy,
        fetch.max_bytes,
    );
    Ok(serde_json::to_string(&parts)?)
}

fn client(settings: GuardSettings, limits: Limits, network: &WebNetworkSettings, tool: &str) -> Client {
    let name = network.user_agent.clone();
    let name = name
        .unwrap_or_else(|| format!("toolkit/{} ({tool}, a tool of an AI agent)", env!("CARGO_PKG_VERSION")));
    let client = Client::new(Guard::new(settings), limits);
    match HeaderValue::from_str(&name) {
        Ok(name) => client.with_user_agent(name),
        Err(_) => client,
    }
}

/// Converts the error of a request to an error for the model: the failure, the reason, and the setting that controls it.
pub(crate) fn tool_error(error: &FetchError) -> ToolError {
    let (kind, advice) = match error {
        FetchError::Refused(refused) | FetchError::RedirectRefused { refused, .. } => {
            return refusal(error, refused);
        }
        FetchError::TimedOut { phase, .. } => {
            let advice = match phase {
                Phase::Total => "try again later, or let a person raise the tool's `timeoutSeconds`",
                _ => "try again later, or use another source",
            };
            (ToolErrorKind::TimedOut, advice)
        }
        FetchError::Connect(ConnectError::NotFound { .. }) => (ToolErrorKind::NotFound, ""),
        FetchError::Connect(_) => (ToolErrorKind::Unavailable, "check the address, or try again later"),
        FetchError::Tls { .. } => {
            (ToolErrorKind::Unavailable, "the site's certificate is not accepted; use another source")
        }
        FetchError::BodyTooLarge { .. } => (
            ToolErrorKind::Failed,
            "look for a smaller page, or let a person raise `tools.web.fetch.maxBytes`",
        ),
        FetchError::TooManyRedirects { .. } => {
            (ToolErrorKind::Failed, "call again with that URL if it is the right one")
        }
        _ => (ToolErrorKind::Failed, "use another source"),
    };
    let message = if advice.is_empty() { error.to_string() } else { format!("{error}; {advice}") };
    let told = ToolError::new(kind, message);
    match kind {
        ToolErrorKind::TimedOut | ToolErrorKind::Unavailable => told.with_retry(Retry::Now),
        _ => told,
    }
}

fn refusal(error: &FetchError, refused: &Refused) -> ToolError {
    if matches!(refused, Refused::Invalid(_) | Refused::Scheme(_) | Refused::UserInfo) {
        return ToolError::new(ToolErrorKind::InvalidArguments, error.to_string());
    }
    ToolError::denied(format!("{error}{}", advice(refused, "tools.web.fetch")))
}
