//! The requests of the guide `docs/http.md`, with their answers.

use super::{Answered, Server, TOKEN};
use http_body_util::Full;
use serde_json::Value;
use std::path::Path;
use toolkit::prelude::*;
use toolkit::tool_ref;

/// Adds two numbers.
#[tool(group = "math", read_only)]
async fn add_numbers(
    /** The first number. */
    a: i64,
    /** The second number. */
    b: i64,
) -> i64 {
    a + b
}

/// A request in the guide, and its answer.
struct Example {
    command: String,
    answer: Value,
}

/// Returns each block of `sh` that begins with `curl`, with the block of `json` behind it.
fn examples(page: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut rest = page;
    while let Some((_, behind)) = rest.split_once("```sh\ncurl ") {
        let (command, behind) = behind.split_once("\n```\n").unwrap();
        let (_, behind) = behind.split_once("```json\n").unwrap();
        let (answer, behind) = behind.split_once("\n```\n").unwrap();
        let command = command.replace("\\\n", " ").replace("$TOKEN", TOKEN);
        examples.push(Example { command, answer: serde_json::from_str(answer).unwrap() });
        rest = behind;
    }
    examples
}

/// Splits a command at blanks outside quotes.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in command.chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (c, None) if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            (c, _) => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Sends what `curl` would send.
async fn send(server: &Server, command: &str) -> Answered {
    let mut words = words(command).into_iter();
    let (mut headers, mut body, mut path) = (Vec::new(), None, None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-H" => headers.push(words.next().unwrap()),
            "-d" => body = words.next(),
            url => path = Some(url.strip_prefix("http://127.0.0.1:4180").unwrap().to_owned()),
        }
    }
    let mut request = toolkit_serve::axum::http::Request::builder()
        .method(if body.is_some() { "POST" } else { "GET" })
        .uri(path.unwrap())
        .header("host", server.address.to_string());
    for header in headers {
        let (name, value) = header.split_once(": ").unwrap();
        request = request.header(name, value);
    }
    server.send(request.body(Full::from(body.unwrap_or_default())).unwrap()).await
}

/// Compares an answer with one in which `…` stands for any text.
fn is_like(answer: &Value, shown: &Value) -> bool {
    match (answer, shown) {
        (Value::String(_), Value::String(any)) if any == "…" => true,
        (Value::Object(answer), Value::Object(shown)) => {
            answer.len() == shown.len()
                && shown
                    .iter()
                    .all(|(key, shown)| answer.get(key).is_some_and(|answer| is_like(answer, shown)))
        }
        (Value::Array(answer), Value::Array(shown)) => {
            answer.len() == shown.len()
                && answer.iter().zip(shown).all(|(answer, shown)| is_like(answer, shown))
        }
        (answer, shown) => answer == shown,
    }
}

#[tokio::test]
async fn each_request_of_the_guide_has_the_answer_that_the_guide_shows() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/http.md");
    let examples = examples(&std::fs::read_to_string(page).unwrap());
    assert!(examples.len() >= 4, "{}", examples.len());
    let server = Server::start(Toolkit::empty().tool(tool_ref!(add_numbers)).build().unwrap()).await;
    for example in examples {
        let answer = send(&server, &example.command).await.json();
        assert!(is_like(&answer, &example.answer), "{}\n{answer:#}", example.command);
    }
}
