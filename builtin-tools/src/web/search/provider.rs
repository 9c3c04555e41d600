//! Providers of searches: which there are, and which one is used.

use super::brave::Brave;
use super::perplexity::Perplexity;
use super::searxng::Searxng;
use super::{Freshness, SearchResult};
use crate::config::{WebSearchProvider, WebSearchSettings};
use serde_json::Value;
use std::env;
use toolkit::prelude::*;
use toolkit_http::http::HeaderValue;
use toolkit_http::{Request, Url};

/// A search in the form for providers.
#[derive(Debug)]
pub(super) struct Query<'a> {
    pub(super) text: &'a str,
    pub(super) count: u32,
    /// Two letters in upper case.
    pub(super) country: Option<String>,
    /// Language in lower case.
    pub(super) language: Option<String>,
    pub(super) freshness: Option<Freshness>,
}

/// A search provider: its requests and its answers.
pub(super) trait SearchProvider: Sync {
    /// Returns the name in the configuration.
    fn name(&self) -> &'static str;

    /// Returns the environment variable with its key; `None` if it needs none.
    fn variable(&self) -> Option<&'static str>;

    /// Returns the default address.
    fn usual_url(&self) -> Option<&'static str>;

    /// A request.
    fn request(&self, base_url: &Url, key: Option<&str>, query: &Query<'_>) -> Result<Request, ToolError>;

    /// Returns the results in an answer; `None` if it has none of the documented fields.
    fn results(&self, answer: &Value) -> Option<Vec<SearchResult>>;

    /// Advice for an answer that denies access.
    fn access_advice(&self) -> String {
        match self.variable() {
            Some(variable) => {
                format!("a person has to check the key, `tools.web.search.apiKey` or the variable {variable}")
            }
            None => "a person has to check the server's settings".to_owned(),
        }
    }
}

/// All of them.
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

/// The address of an endpoint below the base.
pub(super) fn endpoint(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let whole = format!("{}/{path}", base.path().trim_end_matches('/'));
    url.set_path(&whole);
    url
}

/// A key as the value of a header.
pub(super) fn header(value: &str) -> Result<HeaderValue, ToolError> {
    HeaderValue::from_str(value).map_err(|_| {
        ToolError::unavailable(
            "the key of the search provider has a character that no key has; a person has to check it",
        )
    })
}

/// The text of a member.
pub(super) fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(plain).filter(|text| !text.is_empty())
}

/// Returns a text without tags and entities: providers mark the words that were found.
pub(super) fn plain(text: &str) -> String {
    if !text.contains(['<', '&']) {
        return text.trim().to_owned();
    }
    let text = dom_query::Document::fragment(text).text();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_plain() {
        assert_eq!(plain("a <strong>b</strong> &amp; c &lt;d&gt;"), "a b & c <d>");
        assert_eq!(plain(" a  b "), "a  b");
    }

    #[test]
    fn endpoints_are_below_the_base() {
        for (base, expected) in [
            ("http://localhost:8888", "http://localhost:8888/search"),
            ("http://localhost:8888/", "http://localhost:8888/search"),
            ("http://localhost/searx/", "http://localhost/searx/search"),
        ] {
            assert_eq!(endpoint(&Url::parse(base).unwrap(), "search").as_str(), expected);
        }
    }
}
