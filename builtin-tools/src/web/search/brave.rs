//! The [Brave Search API](https://api-dashboard.search.brave.com/app/documentation/web-search/get-started).

use super::SearchResult;
use super::provider::{Query, SearchProvider, endpoint, header, text};
use serde_json::Value;
use toolkit::prelude::*;
use toolkit_http::http::header::{ACCEPT, HeaderName, HeaderValue};
use toolkit_http::{Request, Url};

pub(super) struct Brave;

impl SearchProvider for Brave {
    fn name(&self) -> &'static str {
        "brave"
    }

    fn variable(&self) -> Option<&'static str> {
        Some("BRAVE_API_KEY")
    }

    fn usual_url(&self) -> Option<&'static str> {
        Some("https://api.search.brave.com")
    }

    fn request(&self, base_url: &Url, key: Option<&str>, query: &Query<'_>) -> Result<Request, ToolError> {
        let mut url = endpoint(base_url, "res/v1/web/search");
        let freshness = query.freshness.map(|freshness| freshness.code().to_owned());
        {
            let mut pairs = url.query_pairs_mut();
            pairs.append_pair("q", query.text).append_pair("count", &query.count.to_string());
            for (name, value) in
                [("country", &query.country), ("search_lang", &query.language), ("freshness", &freshness)]
            {
                if let Some(value) = value {
                    pairs.append_pair(name, value);
                }
            }
        }
        let key = header(key.unwrap_or_default())?;
        Ok(Request::get(url)
            .with_header(ACCEPT, HeaderValue::from_static("application/json"))
            .with_credential(HeaderName::from_static("x-subscription-token"), key))
    }

    fn results(&self, answer: &Value) -> Option<Vec<SearchResult>> {
        let web = answer.get("web");
        // Without a single result there is no `web`.
        if web.is_none() && answer.get("type").and_then(Value::as_str) == Some("search") {
            return Some(Vec::new());
        }
        let results = web?.get("results")?.as_array()?;
        let result = |result: &Value| {
            Some(SearchResult {
                title: text(result, "title").unwrap_or_default(),
                url: text(result, "url")?,
                description: text(result, "description").unwrap_or_default(),
                age: text(result, "age").or_else(|| text(result, "page_age")),
            })
        };
        Some(results.iter().filter_map(result).collect())
    }
}
