//! `web_search`, against doubles of the providers that answer as those document.

use super::{call, error, text, toolkit};
use serde_json::{Value, json};
use toolkit::{ToolErrorKind, output::Retry};
use toolkit_loopback::{Answer, Loopback, Request};

const KEY: &str = "key-3141592653";

fn settings(provider: &str, url: &str) -> [String; 3] {
    [
        format!("tools.web.search.provider={provider}"),
        format!("tools.web.search.baseUrl={url}"),
        format!("tools.web.search.apiKey={KEY}"),
    ]
}

async fn results(provider: &str, url: &str, arguments: Value) -> Value {
    let settings = settings(provider, url);
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    serde_json::from_str(&text(&toolkit(&settings), "web_search", arguments).await).unwrap()
}

fn query(request: &Request) -> Vec<(String, String)> {
    let url = toolkit_http::Url::parse(&format!("http://x{}", request.path)).unwrap();
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn brave(request: &Request) -> Answer {
    if request.header("x-subscription-token") != Some(KEY) {
        return Answer::json(
            401,
            &json!({ "error": { "detail": format!("bad token {:?}", request.headers) } }),
        );
    }
    Answer::json(
        200,
        &json!({ "type": "search", "web": { "results": [
            { "title": "Tides &amp; moons", "url": "https://example.com/a", "description": "The <strong>moon</strong> &gt; sea",
              "age": "2 days ago" },
            { "title": "B", "url": "https://example.com/b", "description": "" },
            { "title": "Not a page", "url": "javascript:alert(1)" },
            { "title": "C", "url": "https://example.com/c" },
        ] } }),
    )
}

#[tokio::test]
async fn brave_is_asked_as_it_documents() {
    let server = Loopback::start(brave).await;
    let arguments =
        json!({ "query": "moon tide?", "count": 2, "country": "de", "search_lang": "de", "freshness": "pw" });
    assert_eq!(
        results("brave", server.url(), arguments).await,
        json!({ "results": [
            { "title": "Tides & moons", "url": "https://example.com/a", "description": "The moon > sea", "age": "2 days ago" },
            { "title": "B", "url": "https://example.com/b", "description": "", "age": null },
        ] })
    );
    let request = server.requests().remove(0);
    assert!(request.path.starts_with("/res/v1/web/search?"), "{request:?}");
    let expected =
        [("q", "moon tide?"), ("count", "2"), ("country", "DE"), ("search_lang", "de"), ("freshness", "pw")];
    assert_eq!(query(&request), pairs(&expected));
}

#[tokio::test]
async fn perplexity_is_asked_as_it_documents() {
    let server = Loopback::start(|request: &Request| {
        if request.header("authorization") != Some(&format!("Bearer {KEY}")) || request.method != "POST" {
            return Answer::json(401, &json!({}));
        }
        Answer::json(
            200,
            &json!({ "results": [
            { "title": "A", "url": "https://example.com/a", "snippet": "Text", "date": "2026-01-02" },
        ] }),
        )
    })
    .await;
    let arguments = json!({ "query": "tides", "country": "FR", "search_lang": "fr-FR", "freshness": "py" });
    assert_eq!(
        results("perplexity", server.url(), arguments).await,
        json!({ "results": [
            { "title": "A", "url": "https://example.com/a", "description": "Text", "age": "2026-01-02" },
        ] })
    );
    let request = server.requests().remove(0);
    assert_eq!(request.path, "/search");
    assert_eq!(
        request.json(),
        json!({
            "query": "tides", "max_results": 5, "country": "FR", "search_language_filter": ["fr"],
            "search_recency_filter": "year",
        })
    );
}

#[tokio::test]
async fn searxng_is_asked_as_it_documents() {
    let server = Loopback::start(|_| {
        Answer::json(200, &json!({ "query": "tides", "results": [
            { "title": "A", "url": "https://example.com/a", "content": "Text", "publishedDate": "2026-01-02T00:00:00" },
        ] }))
    })
    .await;
    let arguments = json!({ "query": "tides", "country": "AT", "search_lang": "de", "freshness": "pd" });
    let found = results("searxng", &format!("{}/searx/", server.url()), arguments).await;
    assert_eq!(found["results"][0]["description"], "Text");
    let request = server.requests().remove(0);
    assert!(request.path.starts_with("/searx/search?"), "{request:?}");
    let expected = [("q", "tides"), ("format", "json"), ("language", "de-AT"), ("time_range", "day")];
    assert_eq!(query(&request), pairs(&expected));
    assert!(request.headers.iter().all(|(_, value)| !value.contains(KEY)), "it needs no key, and gets none");
}

#[tokio::test]
async fn a_country_of_all_is_none() {
    let server = Loopback::start(brave).await;
    results("brave", server.url(), json!({ "query": "everywhere", "country": "ALL" })).await;
    assert!(!server.requests()[0].path.contains("country"));
}

#[tokio::test]
async fn answers_are_kept() {
    let server = Loopback::start(brave).await;
    for count in [3, 3, 4] {
        results("brave", server.url(), json!({ "query": "kept", "count": count })).await;
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_missing_provider_or_key_is_told_with_its_remedy() {
    let told = error(&toolkit(&[]), "web_search", json!({ "query": "x" })).await;
    assert_eq!(told.kind(), ToolErrorKind::Unavailable);
    for part in ["BRAVE_API_KEY", "PERPLEXITY_API_KEY", "\"searxng\"", "tools.web.search.baseUrl"] {
        assert!(told.message().contains(part), "{part}: {told}");
    }
    for (provider, part) in [
        ("brave", "the variable BRAVE_API_KEY"),
        ("perplexity", "the variable PERPLEXITY_API_KEY"),
        ("searxng", "`tools.web.search.baseUrl`"),
    ] {
        let toolkit = toolkit(&[&format!("tools.web.search.provider={provider}")]);
        let told = error(&toolkit, "web_search", json!({ "query": "x" })).await;
        assert!(told.message().contains(part), "{told}");
        assert!(told.message().contains("searxng"), "{told}");
    }
}

#[tokio::test]
async fn a_key_is_told_nowhere() {
    let repeats = Loopback::start(|request: &Request| {
        Answer::bytes(400, format!("no: {:?} {}", request.headers, request.path))
            .with_header("content-type", "text/plain")
    })
    .await;
    let echoes = Loopback::start(|request: &Request| {
        let key = request.header("x-subscription-token").unwrap_or_default().to_owned();
        Answer::json(200, &json!({ "web": { "results": [{ "title": key, "url": "https://example.com/", "description": "" }] } }))
    })
    .await;
    for url in [repeats.url(), echoes.url(), "http://127.0.0.1:2"] {
        let settings = settings("brave", url);
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let result = call(&toolkit(&settings), "web_search", json!({ "query": "secret" })).await;
        let told = format!("{result:?} {}", result.text());
        assert!(!told.contains(KEY), "{told}");
    }
    assert!(
        repeats.requests()[0].headers.iter().any(|(_, value)| value == KEY),
        "it was sent, to where it belongs"
    );
}

#[tokio::test]
async fn failures() {
    for (answer, kind, part) in [
        (
            Answer::bytes(429, "").with_header("retry-after", "33"),
            ToolErrorKind::Unavailable,
            "try again after 33 seconds",
        ),
        (Answer::bytes(403, "forbidden"), ToolErrorKind::Unavailable, "check the key"),
        (Answer::bytes(500, "oops"), ToolErrorKind::Unavailable, "try again later"),
        (Answer::bytes(422, "bad"), ToolErrorKind::Failed, "HTTP status 422): bad"),
        (
            Answer::bytes(302, "").with_header("location", "/x"),
            ToolErrorKind::Unavailable,
            "redirects are not followed",
        ),
        (Answer::bytes(200, "<html>"), ToolErrorKind::Unavailable, "not JSON"),
        (Answer::json(200, &json!({ "other": 1 })), ToolErrorKind::Unavailable, "without results"),
        (Answer::Hang, ToolErrorKind::TimedOut, "did not answer"),
        (Answer::Close, ToolErrorKind::Unavailable, "cannot be reached"),
    ] {
        let given = answer.clone();
        let server = Loopback::start(move |_| given.clone()).await;
        let mut settings = settings("brave", server.url()).to_vec();
        settings.push("tools.web.search.timeoutSeconds=1".to_owned());
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let told = error(&toolkit(&settings), "web_search", json!({ "query": "x" })).await;
        assert_eq!(told.kind(), kind, "{answer:?}: {told}");
        assert!(told.message().contains(part), "{answer:?}: {told}");
        if part.contains("33") {
            assert_eq!(told.retry(), Retry::After(std::time::Duration::from_secs(33)));
        }
        assert_eq!(server.requests().len(), 1, "{answer:?}");
    }
}

#[tokio::test]
async fn no_results_are_none() {
    let server = Loopback::start(|_| Answer::json(200, &json!({ "type": "search" }))).await;
    assert_eq!(results("brave", server.url(), json!({ "query": "nothing" })).await, json!({ "results": [] }));
}
