//! Calls and their results: exactly one each, in order.

use crate::common::{
    agent, assert_requests_whole, assert_whole, builder, call, finish, log, results, scripted, watch,
};
use serde_json::json;
use std::sync::atomic::Ordering;
use toolkit::{ToolCall, views::StepStatus};
use toolkit_agent::{AgentEvent, DelegationRequest, Observer, StopReason};
use toolkit_models::{Answer, AssistantMessage, AssistantPart, Message};

#[tokio::test]
async fn every_call_has_one_result_in_order() {
    let log = log();
    let calls = [
        call("1", "look", json!({"text": "a"})),
        call("2", "change", json!({"text": "b"})),
        call("3", "fail", json!({"text": "c"})),
        call("4", "nothing_like_it", json!({})),
        ToolCall::new("5", "look", "{\"text\": "),
        call("6", "look", json!({"txt": 5})),
        call("7", "look", json!({"text": "d"})),
    ];
    let model = scripted([Answer::calls(calls), finish("done")]);
    let result = agent(&log, &model).run(DelegationRequest::new("do it"), Observer::none()).await;
    assert!(result.success);
    let requests = model.requests();
    assert_requests_whole(&requests);
    let results = results(&requests[1].messages);
    let failed: Vec<(&str, bool)> = results.iter().map(|(id, _, failed)| (&**id, *failed)).collect();
    let expected =
        [("1", false), ("2", false), ("3", true), ("4", true), ("5", true), ("6", true), ("7", false)];
    assert_eq!(failed, expected);
    assert_eq!(results[0].1, "a");
    assert_eq!(results[1].1, "changed b");
    assert!(results[3].1.contains("nothing_like_it"), "{}", results[3].1);
    assert!(results[5].1.contains("text"), "{}", results[5].1);
    assert_eq!(log.lines(), ["look a", "change b", "look d"]);
    assert_eq!(result.tool_call_count, 7);
    assert_eq!(result.files_modified, [std::path::PathBuf::from("/b")]);
    let names: Vec<&str> = result.steps.iter().map(|step| &*step.tool_name).collect();
    assert_eq!(names, ["look", "change", "fail", "nothing_like_it", "look", "look", "look"]);
    assert_eq!(result.steps[1].status, StepStatus::Completed);
    assert_eq!(result.steps[2].error.as_deref(), Some("broken c"));
    assert!(result.errors.contains(&"fail: broken c".to_owned()), "{:?}", result.errors);
}

#[tokio::test]
async fn calls_that_only_read_run_at_once_and_others_alone() {
    let log = log();
    let reading = |range: std::ops::Range<usize>| {
        range.map(|number| call(&number.to_string(), "look", json!({"text": number.to_string()})))
    };
    let model = scripted([Answer::calls(reading(0..5)), finish("done")]);
    agent(&log, &model).run(DelegationRequest::new("read"), Observer::none()).await;
    assert_eq!(log.most.load(Ordering::SeqCst), 5);

    let log = crate::common::log();
    let changing =
        (0..3).map(|number| call(&number.to_string(), "change", json!({"text": number.to_string()})));
    let model = scripted([Answer::calls(changing), finish("done")]);
    agent(&log, &model).run(DelegationRequest::new("change"), Observer::none()).await;
    assert_eq!(log.most.load(Ordering::SeqCst), 1);
    assert_eq!(log.lines(), ["change 0", "change 1", "change 2"]);
}

#[tokio::test]
async fn calls_with_one_id_are_told_apart() {
    let log = log();
    let twice = ["x", "y"].map(|text| call("same", "look", json!({"text": text})));
    let model = scripted([Answer::calls(twice), finish("done")]);
    agent(&log, &model).run(DelegationRequest::new("look"), Observer::none()).await;
    let requests = model.requests();
    assert_requests_whole(&requests);
    let texts: Vec<String> = results(&requests[1].messages).into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(texts, ["x", "y"]);
}

#[tokio::test]
async fn an_answer_goes_back_as_it_came() {
    let log = log();
    let message = AssistantMessage {
        content: vec![
            AssistantPart::Reasoning { text: "hm".into(), signature: Some("signed".into()) },
            AssistantPart::Text { text: "I look.".into() },
            AssistantPart::ToolCall(call("1", "look", json!({"text": "a"}))),
        ],
        raw: Some(toolkit_models::RawMessage {
            dialect: toolkit::dialects::Dialect::Anthropic,
            model: "m".into(),
            value: json!({"role": "assistant", "content": [{"signature": "signed"}]}),
        }),
    };
    let model = scripted([Answer::new(message.clone()), finish("done")]);
    let (events, observer) = watch();
    let result = agent(&log, &model).run(DelegationRequest::new("look"), observer).await;
    assert_eq!(model.requests()[1].messages[1], Message::Assistant(message));
    assert_eq!(result.steps[0].thinking.as_deref(), Some("hm"));
    let events = events.lock().unwrap();
    assert!(events.contains(&AgentEvent::Reasoning { text: "hm".into() }));
    assert!(events.contains(&AgentEvent::Text { text: "I look.".into() }));
    // One program writes the arguments, another one reads them.
    for event in &*events {
        let json = serde_json::to_string(event).unwrap();
        assert_eq!(&serde_json::from_str::<AgentEvent>(&json).unwrap(), event, "{json}");
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_off_has_its_whole_calls_run() {
    let log = log();
    let cut = Answer::calls([call("1", "look", json!({"text": "a"}))])
        .with_stop(toolkit_models::StopReason::MaxTokens);
    let model = scripted([cut, finish("done")]);
    let result = agent(&log, &model).run(DelegationRequest::new("look"), Observer::none()).await;
    assert_eq!(result.stop_reason, StopReason::Finished);
    let requests = model.requests();
    assert_requests_whole(&requests);
    let Some(Message::User(told)) = requests[1].messages.last() else { panic!("{requests:?}") };
    assert!(told.content[0].as_text().unwrap().contains("cut off"));
}

#[tokio::test]
async fn a_conversation_goes_on_with_the_next_task() {
    let log = log();
    let model = scripted([
        Answer::calls([call("1", "look", json!({"text": "a"}))]),
        finish("first"),
        finish("second"),
    ]);
    let agent = builder(&log, &model).build();
    let request = DelegationRequest::new("one");
    let mut session = agent.session(&request).unwrap();
    assert_eq!(session.run(request, toolkit_agent::RunOptions::new()).await.summary, "first");
    let result = session.run(DelegationRequest::new("two"), toolkit_agent::RunOptions::new()).await;
    assert_eq!(result.summary, "second");
    // The second account counts the second run alone.
    assert_eq!(result.tool_call_count, 0);
    let messages = model.requests()[2].messages.clone();
    assert_whole(&messages);
    assert_eq!(messages.len(), 6, "{messages:#?}");
    assert_eq!(messages[5], Message::user("two"));
}
