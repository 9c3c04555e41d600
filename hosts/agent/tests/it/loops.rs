//! A model that goes round in a circle: it is told first, and then the run ends.

use crate::common::{builder, call, finish, log, results, scripted};
use serde_json::{Value, json};
use std::sync::Arc;
use toolkit_agent::{DelegationRequest, Limits, Observer, StopReason, ToolAgentResult};
use toolkit_models::{Answer, Scripted};

async fn repeat(name: &'static str, arguments: Value) -> (ToolAgentResult, Arc<Scripted>) {
    let model = Arc::new(Scripted::with(move |request| {
        let id = request.messages.len().to_string();
        Answer::calls([call(&id, name, arguments.clone())]).into()
    }));
    let agent = builder(&log(), &model).limits(Limits::none().max_turns(200)).build();
    (agent.run(DelegationRequest::new("go round"), Observer::none()).await, model)
}

#[tokio::test]
async fn the_same_call_with_the_same_answer() {
    let (result, model) = repeat("look", json!({"text": "a"})).await;
    assert_eq!(result.stop_reason, StopReason::Loop);
    let requests = model.requests();
    assert!(requests.len() < 12, "{}", requests.len());
    let results = results(&requests.last().unwrap().messages);
    assert!(results[2].1.contains("3rd time"), "{results:?}");
}

#[tokio::test]
async fn the_same_failure() {
    for (name, arguments) in
        [("fail", json!({"text": "a"})), ("look", json!({"wrong": 1})), ("no_such_tool", json!({}))]
    {
        let (result, model) = repeat(name, arguments).await;
        assert_eq!(result.stop_reason, StopReason::Loop, "{name}");
        assert!(model.requests().len() <= 12, "{name}: {}", model.requests().len());
    }
}

/// The model is told with the results, so it could not know before.
#[tokio::test]
async fn equal_calls_of_one_answer_end_no_run() {
    for (name, arguments) in
        [("look", json!({"text": "a"})), ("fail", json!({"text": "a"})), ("look", json!({"wrong": 1}))]
    {
        let calls: Vec<_> = (0..12).map(|id| call(&id.to_string(), name, arguments.clone())).collect();
        let model = scripted([Answer::calls(calls), finish("done")]);
        let agent = builder(&log(), &model).limits(Limits::none().max_turns(9)).build();
        let result = agent.run(DelegationRequest::new("go round"), Observer::none()).await;
        assert!(result.success, "{name}: {result:?}");
        assert_eq!(model.requests().len(), 2, "{name}");
    }
}

#[tokio::test]
async fn a_call_whose_answer_changes_is_no_loop() {
    let model = Arc::new(Scripted::with(|request| {
        let number = request.messages.len();
        Answer::calls([call(&number.to_string(), "look", json!({"text": number.to_string()}))]).into()
    }));
    let agent = builder(&log(), &model).limits(Limits::none().max_turns(40)).build();
    let result = agent.run(DelegationRequest::new("go on"), Observer::none()).await;
    assert_eq!(result.stop_reason, StopReason::MaxTurns);
}
