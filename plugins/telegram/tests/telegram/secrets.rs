//! Secrets that appear nowhere.

use super::bench::{Bench, TOKEN, poll};
use serde_json::json;
use toolkit::prelude::*;
use toolkit::{approval::Answer as Reply, config::Secret, history::HistoryQuery};
use toolkit_loopback::{Answer, Loopback, Request};
use toolkit_telegram::{BotApi, TelegramSettings};

#[tokio::test]
async fn the_token_is_told_nowhere() {
    let hostile = |request: &Request| {
        let path = request.path.clone();
        Answer::json(
            400,
            &json!({ "ok": false, "error_code": 400, "description": format!("no such thing: {path}") }),
        )
    };
    let server = Loopback::start(hostile).await;
    let repeats = Loopback::start(|request: &Request| {
        let poll = json!({ "id": request.path, "question": "Where?" });
        let message = json!({ "message_id": 42, "chat": { "id": 5, "title": request.path }, "poll": poll });
        Answer::json(200, &json!({ "ok": true, "result": message }))
    })
    .await;
    // In JSON a letter can be written in other ways.
    let escapes = Loopback::start(|_| {
        let token = TOKEN.replace('A', "\\u0041");
        Answer::bytes(400, format!(r#"{{"ok":false,"error_code":400,"description":"{token}"}}"#))
    })
    .await;
    let silent = Loopback::start(|_| Answer::Hang).await;
    let cut = Loopback::start(|_| Answer::Close).await;
    for url in [
        server.url(),
        repeats.url(),
        escapes.url(),
        silent.url(),
        cut.url(),
        "http://127.0.0.1:1",
        "http://[::",
        "http://no such host",
        "https://127.0.0.1:1",
    ] {
        // Of a service that the host brings the toolkit's redactor knows no secret: what is told must be clean by itself.
        let settings = TelegramSettings {
            token: Some(Secret::new(TOKEN)),
            base_url: url.to_owned(),
            timeout_seconds: 1,
        };
        let api = BotApi::new(&settings).unwrap();
        let shown = format!("{api:?} {settings:?}");
        let secret = Bench::of(Toolkit::builder().service(api), &["permission.message=allow"], Reply::deny());
        let mut events = secret.toolkit.events();
        let result = secret.call("telegram_send_poll", poll()).await;
        assert_eq!(result.is_error(), url != repeats.url(), "{url}: {}", result.text());
        let source = result.outcome.as_ref().err().map(|error| format!("{error} {:?}", error.source()));
        let history = secret.history.calls(&HistoryQuery::new());
        let seen: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
        assert!(history.len() == 1 && !seen.is_empty());
        let json = serde_json::to_string(&result).unwrap();
        let told = format!("{result:?} {source:?} {json} {} {history:?} {seen:?} {shown}", result.text());
        for part in [TOKEN, "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"] {
            assert!(!told.contains(part), "{url}: {told}");
        }
    }
    assert!(server.requests()[0].path.contains(TOKEN), "it was sent, to where it belongs");
}
