//! What nobody is told.

use super::bench::{Bench, NUMBER_ID, TOKEN, contact, refused};
use serde_json::json;
use toolkit::prelude::*;
use toolkit::{Answer as Reply, HistoryQuery, LoadOptions, Secret};
use toolkit_loopback::{Answer, Loopback, Request};
use toolkit_whatsapp::{CloudApi, WhatsAppSettings};

#[tokio::test]
async fn the_token_is_told_nowhere() {
    let hostile = |request: &Request| {
        refused(400, 100, request.header("authorization").unwrap(), &format!("{:?}", request.headers))
    };
    let server = Loopback::start(hostile).await;
    let cut = Loopback::start(|_| Answer::Close).await;
    for url in [server.url(), cut.url(), "http://127.0.0.1:1", "http://[::", "https://127.0.0.1:1"] {
        // Of a service that the host brings the toolkit's redactor knows no secret: what is told must be clean by itself.
        let settings = WhatsAppSettings {
            token: Some(Secret::new(TOKEN)),
            phone_number_id: Some(NUMBER_ID.to_owned()),
            api_version: "v25.0".to_owned(),
            base_url: url.to_owned(),
            timeout_seconds: 1,
        };
        let builder = Toolkit::builder().service(CloudApi::new(&settings).unwrap());
        let bench = Bench::load(builder, LoadOptions::new(), &["permission.message=allow"], Reply::deny());
        let mut events = bench.toolkit.events();
        let error = bench.error("whatsapp_send_contact", contact(json!({}))).await;
        let history = bench.history.calls(&HistoryQuery::new());
        let seen: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
        assert!(history.len() == 1 && !seen.is_empty());
        let (source, json) = (error.source(), serde_json::to_string(&error).unwrap());
        let told = format!("{error} {error:?} {source:?} {json} {history:?} {seen:?} {:?}", bench.toolkit);
        assert!(!told.contains(TOKEN), "{url}: {told}");
    }
    assert_eq!(server.requests()[0].header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
}
