//! The [Perplexity Search API](https://docs.perplexity.ai/api-reference/search-post).

use super::SearchResult;
use super::provider::{Query, SearchProvider, endpoint, header, text};
use serde_json::{Value, json};
use toolkit::prelude::*;
use toolkit_http::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use toolkit_http::{Request, Url};

pub(super) struct Perplexity;

impl SearchProvider for Perplexity {
    fn name(&self) -> &'static str {
        "perplexity"
    }

    fn variable(&self) -> Option<&'static str> {
        Some("PERPLEXITY_API_KEY")
    }

    fn usual_url(&self) -> Option<&'static str> {
        Some("https://api.perplexity.ai")
    }

    fn request(&self, base_url: &Url, key: Option<&str>, query: &Query<'_>) -> Result<Request, ToolError> {
        let mut body = json!({ "query": query.text, "max_results": query.count });
        if let Some(country) = &query.country {
            body["country"] = country.as_str().into();
        }
        if let Some(language) = &query.language {
            // It takes codes of two letters.
            body["search_language_filter"] = json!([language.split('-').next().unwrap_or(language)]);
        }
        if let Some(freshness) = query.freshness {
            body["search_recency_filter"] = freshness.period().into();
        }
        let key = header(&format!("Bearer {}", key.unwrap_or_default()))?;
        Ok(Request::post(endpoint(base_url, "search"), body.to_string())
            .with_header(ACCEPT, HeaderValue::from_static("application/json"))
            .with_header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .with_credential(AUTHORIZATION, key))
    }

    fn results(&self, answer: &Value) -> Option<Vec<SearchResult>> {
        let results = answer.get("results")?.as_array()?;
        let result = |result: &Value| {
            Some(SearchResult {
                title: text(result, "title").unwrap_or_default(),
                url: text(result, "url")?,
                description: text(result, "snippet").unwrap_or_default(),
                age: text(result, "date").or_else(|| text(result, "last_updated")),
            })
        };
        Some(results.iter().filter_map(result).collect())
    }
}
