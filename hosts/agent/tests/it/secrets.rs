//! Secrets of the configuration are in no transcript, no event and no account.

use crate::common::{assert_messages_whole, call, finish, log, scripted, tools, transcripts, watch};
use serde_json::json;
use std::sync::Arc;
use toolkit::config::{Configuration, LoadOptions};
use toolkit_agent::{Agent, AgentEvent, DelegationRequest, Limits, RunOptions};
use toolkit_models::{Answer, ModelError, ModelEvent, ScriptedReply};

const KEY: &str = "sk-very-\"secret\"-0123456789";

#[tokio::test]
async fn a_key_that_a_server_or_a_tool_repeats_is_redacted_everywhere() {
    let model = json!({"baseUrl": "http://127.0.0.1:1/v1", "apiKey": KEY});
    let load = LoadOptions::new().program(json!({"models": {"local": model}}));
    let toolkit = tools(&log()).configuration(Configuration::load(load).unwrap()).build().unwrap();
    let (first, rest) = KEY.split_at(9);
    let pieces = [format!("Your key is {first}"), format!("{rest}, sk")].map(ModelEvent::Text);
    let broken = ModelError::Stream {
        model: "local".into(),
        message: format!("no access for {KEY}"),
        partial: Box::default(),
    };
    let model = scripted([
        ScriptedReply::Events(pieces.into(), Box::new(broken.into())),
        Answer::calls([
            call("1", "look", json!({"text": format!("key={KEY}")})),
            call("2", "fail", json!({"text": KEY})),
            call("3", "delegate", json!({"task": KEY})),
            call("4", "show_in_pieces", json!({"text": format!("{KEY}, sk")})),
        ])
        .into(),
        // The sub-agent.
        Answer::calls([call("1", "look", json!({"text": KEY}))]).into(),
        finish(KEY).into(),
        Answer::text(format!("It is {KEY}.")).into(),
        finish(&format!("The key is {KEY}.")).into(),
    ]);
    let (_directory, transcripts) = transcripts();
    let agent = Agent::builder(toolkit, Arc::clone(&model))
        .limits(Limits::none().max_depth(1))
        .transcripts(transcripts.clone())
        .build();
    let request = DelegationRequest::new(format!("What is {KEY}?"));
    let mut session = agent.session(&request).unwrap();
    let (events, observer) = watch();
    let result = session.run(request, RunOptions::new().observer(observer)).await;
    assert!(result.success, "{result:?}");
    assert_eq!(result.summary, "The key is [redacted].");
    assert_messages_whole(&session.messages());
    let events = events.lock().unwrap();
    let text: String = events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert!(text.starts_with("Your key is [redacted], sk"), "{text}");
    let output: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Output { call_id, text } if call_id == "4" => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(output.concat(), "[redacted], sk", "{output:?}");
    assert!(events.iter().any(|event| matches!(event, AgentEvent::Delegated { .. })));
    let mut written = vec![serde_json::to_string(&*events).unwrap(), serde_json::to_string(&result).unwrap()];
    for info in transcripts.list() {
        written.push(
            std::fs::read_to_string(transcripts.directory().join(format!("{}.jsonl", info.id))).unwrap(),
        );
    }
    assert_eq!(written.len(), 4);
    let in_json = json!(KEY).to_string();
    for text in written {
        assert!(!text.contains(in_json.trim_matches('"')) && !text.contains("0123456789"), "{text}");
        assert!(text.contains("[redacted]"));
    }
    // Neither does the model read what a tool found.
    let last = format!("{:?}", model.requests().last().unwrap().messages);
    assert!(!last.contains("0123456789"), "{last}");
}
