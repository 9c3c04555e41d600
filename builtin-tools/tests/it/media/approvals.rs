//! Rules of permission match the names of all endpoints that a request may go to.

use super::{provider, wav};
use serde_json::{Value, json};
use toolkit::testing::TestToolbox;
use toolkit::{
    Tool, ToolErrorKind,
    config::{Configuration, LoadOptions},
    tool_ref,
};
use toolkit_loopback::{Answer, Loopback, Request};

/// A toolbox without a person, with these two endpoints and a rule of permission.
fn toolbox(tool: Tool, kind: &str, urls: [&str; 2], rule: &Value) -> TestToolbox {
    let names = ["studio", "reserve"];
    let list: Vec<Value> = urls
        .into_iter()
        .zip(names)
        .map(|(url, name)| {
            let mut provider = provider(url);
            provider["name"] = json!(name);
            provider
        })
        .collect();
    let options = LoadOptions::new()
        .set(format!("tools.{kind}={}", json!({ "providers": list })))
        .set(format!("permission.{kind}={rule}"));
    let configuration = Configuration::load(options).unwrap();
    TestToolbox::new(tool).build(|builder| builder.configuration(configuration)).file("a.wav", wav(1, 1))
}

#[tokio::test]
async fn no_endpoint_is_used_that_no_rule_allows() {
    let answer = |request: &Request| match request.path.as_str() {
        "/v1/audio/speech" => Answer::bytes(200, wav(1, 1)).with_header("content-type", "audio/wav"),
        _ => Answer::json(200, &json!({ "text": "Hello." })),
    };
    for (rule, is_allowed) in [
        (json!([{ "match": "studio", "do": "allow" }]), false),
        (json!([{ "match": "studio", "do": "allow" }, { "match": "reserve", "do": "deny" }]), false),
        (json!([{ "match": "studio", "do": "allow" }, { "match": "reserve", "do": "allow" }]), true),
        (json!("allow"), true),
    ] {
        for (tool, kind, arguments) in [
            (tool_ref!(builtin_tools::media::tts), "tts", json!({ "text": "Hello." })),
            (tool_ref!(builtin_tools::media::transcribe), "transcribe", json!({ "audio": "a.wav" })),
        ] {
            let refusing = Loopback::start(|_: &Request| Answer::json(429, &json!({}))).await;
            let reserve = Loopback::start(answer).await;
            let call = toolbox(tool, kind, [refusing.url(), reserve.url()], &rule).call(arguments).await;
            let sent = (refusing.requests().len(), reserve.requests().len());
            if is_allowed {
                call.expect_ok();
                assert_eq!(sent, (1, 1), "{kind} {rule}");
            } else {
                call.expect_error(ToolErrorKind::Denied);
                assert_eq!(sent, (0, 0), "{kind} {rule}");
            }
        }
    }
}
