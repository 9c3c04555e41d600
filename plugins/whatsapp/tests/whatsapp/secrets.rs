//! Secrets that appear nowhere.

use super::bench::{Bench, NUMBER_ID, TOKEN, contact, refused};
use serde_json::json;
use toolkit::prelude::*;
use toolkit::{
    approval::Answer as Reply,
    config::{LoadOptions, Secret},
    history::HistoryQuery,
};
use toolkit_loopback::{Answer, Loopback, Request};
use toolkit_whatsapp::{CloudApi, WhatsAppSettings};

#[tokio::test]
async fn the_token_is_told_nowhere() {
    let hostile = |request: &Request| {
        refused(400, 100, request.header("authorization").unwrap(), &format!("{:?}", request.headers))
    };
    let server = Loopback::start(hostile).await;
    let repeats = Loopback::start(|request: &Request| {
        let sent = request.header("authorization").unwrap();
        let (contacts, messages) = (json!([{ "input": sent, "wa_id": sent }]), json!([{ "id": sent }]));
        Answer::json(200, &json!({ "contacts": contacts, "messages": messages }))
    })
    .await;
    // In JSON a letter can be written in other ways.
    let escapes = Loopback::start(|_| {
        let first = u32::from(TOKEN.as_bytes()[0]);
        let token = format!("\\u{first:04x}{}", &TOKEN[1..]);
        Answer::bytes(400, format!(r#"{{"error":{{"code":100,"message":"{token}"}}}}"#))
    })
    .await;
    let cut = Loopback::start(|_| Answer::Close).await;
    for url in [
        server.url(),
        repeats.url(),
        escapes.url(),
        cut.url(),
        "http://127.0.0.1:1",
        "http://[::",
        "https://127.0.0.1:1",
    ] {
        // Of a service that the host brings the toolkit's redactor knows no secret: what is told must be clean by itself.
        let settings = WhatsAppSettings {
            token: Some(Secret::new(TOKEN)),
            phone_number_id: Some(NUMBER_ID.to_owned()),
            api_version: "v25.0".to_owned(),
            base_url: url.to_owned(),
            timeout_seconds: 1,
        };
        let api = CloudApi::new(&settings).unwrap();
        let shown = format!("{api:?} {settings:?}");
        let builder = Toolkit::builder().service(api);
        let bench = Bench::load(builder, LoadOptions::new(), &["permission.message=allow"], Reply::deny());
        let mut events = bench.toolkit.events();
        let result = bench.call("whatsapp_send_contact", contact(json!({}))).await;
        assert_eq!(result.is_error(), url != repeats.url(), "{url}: {}", result.text());
        let source = result.outcome.as_ref().err().map(|error| format!("{error} {:?}", error.source()));
        let history = bench.history.calls(&HistoryQuery::new());
        let seen: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
        assert!(history.len() == 1 && !seen.is_empty());
        let json = serde_json::to_string(&result).unwrap();
        let told = format!("{result:?} {source:?} {json} {} {history:?} {seen:?} {shown}", result.text());
        assert!(!told.contains(TOKEN), "{url}: {told}");
    }
    assert_eq!(server.requests()[0].header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
}
