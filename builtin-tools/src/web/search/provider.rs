//! The trait of search providers, and the parts of requests and answers that they share.

use super::{Freshness, SearchResult};
use serde_json::Value;
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
