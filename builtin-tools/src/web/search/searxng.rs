//! A server of [SearXNG](https://docs.searxng.org/dev/search_api.html).

use super::provider::{Query, SearchProvider, endpoint, text};
use super::{Freshness, SearchResult};
use serde_json::Value;
use toolkit::prelude::*;
use toolkit_http::http::header::{ACCEPT, HeaderValue};
use toolkit_http::{Request, Url};

pub(super) struct Searxng;

impl SearchProvider for Searxng {
    fn name(&self) -> &'static str {
        "searxng"
    }

    fn variable(&self) -> Option<&'static str> {
        None
    }

    fn usual_url(&self) -> Option<&'static str> {
        None
    }

    fn request(&self, base_url: &Url, _: Option<&str>, query: &Query<'_>) -> Result<Request, ToolError> {
        let mut url = endpoint(base_url, "search");
        // It has no countries, but languages of countries.
        let language = match (&query.language, &query.country) {
            (Some(language), Some(country)) if !language.contains('-') => {
                Some(format!("{language}-{country}"))
            }
            (Some(language), _) => Some(language.clone()),
            (None, _) => None,
        };
        let range = query.freshness.map(Freshness::period);
        {
            let mut pairs = url.query_pairs_mut();
            pairs.append_pair("q", query.text).append_pair("format", "json");
            for (name, value) in [("language", language.as_deref()), ("time_range", range)] {
                if let Some(value) = value {
                    pairs.append_pair(name, value);
                }
            }
        }
        Ok(Request::get(url).with_header(ACCEPT, HeaderValue::from_static("application/json")))
    }

    fn results(&self, answer: &Value) -> Option<Vec<SearchResult>> {
        let results = answer.get("results")?.as_array()?;
        let result = |result: &Value| {
            Some(SearchResult {
                title: text(result, "title").unwrap_or_default(),
                url: text(result, "url")?,
                description: text(result, "content").unwrap_or_default(),
                age: text(result, "publishedDate"),
            })
        };
        Some(results.iter().filter_map(result).collect())
    }

    fn access_advice(&self) -> String {
        "the server has to offer JSON: a person has to add `json` to `search.formats` in its settings.yml"
            .to_owned()
    }
}
