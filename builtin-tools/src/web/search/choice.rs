//! The providers that there are, and the one that is used.

use super::brave::Brave;
use super::perplexity::Perplexity;
use super::provider::SearchProvider;
use super::searxng::Searxng;
use crate::config::{WebSearchProvider, WebSearchSettings};
use std::env;
use toolkit::prelude::*;
use toolkit_http::Url;

/// All providers.
const ALL: [&dyn SearchProvider; 3] = [&Brave, &Perplexity, &Searxng];

/// The provider that is used, with its address and its key.
pub(super) struct Chosen {
    pub(super) provider: &'static dyn SearchProvider,
    pub(super) base_url: Url,
    pub(super) key: Option<String>,
}

/// Chooses the configured provider, or else the first whose key is in the environment.
pub(super) fn chosen(settings: &WebSearchSettings) -> Result<Chosen, ToolError> {
    let configured = settings.provider.map(of);
    let by_environment = || ALL.into_iter().find(|provider| from_environment(*provider).is_some());
    let provider = configured.or_else(by_environment).ok_or_else(|| {
        ToolError::unavailable(
            "no search provider is configured: a person has to set the variable BRAVE_API_KEY or PERPLEXITY_API_KEY, or \
             `tools.web.search.provider: \"searxng\"` with `tools.web.search.baseUrl`, which needs no key",
        )
    })?;
    ready(provider, settings).map_err(ToolError::unavailable)
}

fn of(name: WebSearchProvider) -> &'static dyn SearchProvider {
    match name {
        WebSearchProvider::Brave => &Brave,
        WebSearchProvider::Perplexity => &Perplexity,
        WebSearchProvider::Searxng => &Searxng,
    }
}

fn from_environment(provider: &dyn SearchProvider) -> Option<String> {
    provider
        .variable()
        .and_then(|name| env::var(name).ok())
        .map(|key| key.trim().to_owned())
        .filter(|key| !key.is_empty())
}

/// Returns the provider ready for use, or the reason for which it cannot be used. The settings' key and address are
/// those of the configured provider.
fn ready(provider: &'static dyn SearchProvider, settings: &WebSearchSettings) -> Result<Chosen, String> {
    let name = provider.name();
    let is_meant = settings.provider.is_some_and(|configured| of(configured).name() == name);
    let key = match provider.variable() {
        None => None,
        Some(variable) => {
            let configured = settings.api_key.as_ref().filter(|_| is_meant);
            let key =
                configured.map(|key| key.expose().trim().to_owned()).or_else(|| from_environment(provider));
            Some(key.ok_or_else(|| {
                format!(
                    "{name} has no key: a person has to set the variable {variable} or `tools.web.search.apiKey`; the provider searxng \
                     needs none"
                )
            })?)
        }
    };
    let configured = settings.base_url.as_deref().filter(|_| is_meant);
    let base_url = configured.or(provider.usual_url()).ok_or_else(|| {
        format!("{name} has no address: a person has to set `tools.web.search.baseUrl` to that of a server, such as \"http://localhost:8888\"")
    })?;
    let base_url =
        Url::parse(base_url).ok().filter(Url::has_host).ok_or("`tools.web.search.baseUrl` is not a URL")?;
    Ok(Chosen { provider, base_url, key })
}

/// Availability of a provider.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderState {
    /// Name of the provider: `brave`.
    pub name: &'static str,
    /// The reason for which the provider cannot be used; `None` if it can.
    pub missing: Option<String>,
    /// True if `web_search` uses this provider.
    pub used: bool,
}

/// Lists the providers of `web_search` with the reason if one cannot be used. Nothing is sent.
///
/// # Errors
///
/// The configuration of the tool cannot be read.
pub fn search_providers(ctx: &ToolContext) -> Result<Vec<ProviderState>, ToolError> {
    let settings: WebSearchSettings = ctx.config_section("tools.web.search")?;
    let used = chosen(&settings).ok().map(|chosen| chosen.provider.name());
    let state = |provider: &'static dyn SearchProvider| ProviderState {
        name: provider.name(),
        missing: ready(provider, &settings).err(),
        used: used == Some(provider.name()),
    };
    Ok(ALL.into_iter().map(state).collect())
}
