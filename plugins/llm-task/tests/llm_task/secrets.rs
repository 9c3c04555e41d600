//! Secrets that appear nowhere.

use super::bench::{Bench, KEY, completion, failed};
use serde_json::json;
use toolkit::prelude::*;
use toolkit::{approval::Answer as Reply, config::Secret, history::HistoryQuery};
use toolkit_llm_task::{LlmTaskSettings, Model, ResponseFormat};
use toolkit_loopback::{Answer, Loopback};

#[tokio::test]
async fn the_key_is_told_nowhere() {
    let hostile =
        Loopback::start(|request| failed(401, &format!("Incorrect key: {:?}", request.headers))).await;
    let refuses = Loopback::start(|_| {
        Answer::json(200, &json!({ "choices": [{ "message": { "refusal": format!("not with {KEY}") } }] }))
    })
    .await;
    let repeats = Loopback::start(|request| {
        let sent = request.header("authorization").unwrap();
        completion(&json!({ "mood": "good", "why": sent }).to_string(), "stop")
    })
    .await;
    // In JSON a letter can be written in other ways.
    let spelled = || format!("\\u{:04x}{}", u32::from(KEY.as_bytes()[0]), &KEY[1..]);
    let spells = Loopback::start(move |_| {
        let key = spelled();
        Answer::bytes(200, format!(r#"{{"choices":[{{"message":{{"content":"{{\"why\":\"{key}\"}}"}},"finish_reason":"stop"}}]}}"#))
    })
    .await;
    let escapes = Loopback::start(move |_| {
        let key = spelled();
        Answer::bytes(401, format!(r#"{{"error":{{"message":"{key}"}}}}"#))
    })
    .await;
    let servers = [&hostile, &refuses, &repeats, &escapes, &spells].map(Loopback::url);
    for url in servers.into_iter().chain(["http://127.0.0.1:1", "http://[::"]) {
        // Of a service that the host brings the toolkit's redactor knows no secret: what is told must be clean by itself.
        let settings = LlmTaskSettings {
            base_url: url.to_owned(),
            model: Some("small-1".to_owned()),
            api_key: Some(Secret::new(KEY)),
            response_format: ResponseFormat::JsonSchema,
            max_tokens: 10,
            price: None,
            timeout_seconds: 1,
        };
        let model = Model::new(&settings).unwrap();
        let shown = format!("{model:?} {settings:?}");
        let builder = Toolkit::builder().service(model);
        let allowed = ["tools.alsoAllow=[\"llm_task\"]", "permission.llm_task=allow"];
        let bench = Bench::load(builder, &allowed, Reply::deny());
        let mut events = bench.toolkit.events();
        let result = bench.call(json!({ "prompt": "Which mood?" })).await;
        assert_eq!(
            result.is_error(),
            url != repeats.url() && url != spells.url(),
            "{url}: {}",
            result.text()
        );
        let source = result.outcome.as_ref().err().map(|error| format!("{error} {:?}", error.source()));
        let history = bench.history.calls(&HistoryQuery::new());
        let seen: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
        assert!(history.len() == 1 && !seen.is_empty());
        let json = serde_json::to_string(&result).unwrap();
        let told = format!("{result:?} {source:?} {json} {} {history:?} {seen:?} {shown}", result.text());
        assert!(!told.contains(KEY), "{url}: {told}");
    }
    let sent = format!("Bearer {KEY}");
    assert_eq!(hostile.requests()[0].header("authorization"), Some(sent.as_str()));
}
