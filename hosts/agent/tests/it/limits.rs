//! Limits: each ends the run, with a result for every call.

use crate::common::{builder, call, finish, log, results, scripted, watch};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use toolkit_agent::{
    AgentEvent, DelegationRequest, Limits, Observer, RunOptions, StopReason, ToolAgentResult,
};
use toolkit_models::{Answer, Message, ModelError, Price, Scripted, ScriptedReply, Usage};

fn look(number: usize) -> Answer {
    Answer::calls([call(&number.to_string(), "look", json!({"text": number.to_string()}))])
}

/// A model that looks at something new each time.
fn looking() -> Arc<Scripted> {
    Arc::new(Scripted::with(|request| look(request.messages.len()).with_usage(Usage::new(100, 10)).into()))
}

async fn run(model: &Arc<Scripted>, limits: Limits) -> ToolAgentResult {
    let agent = builder(&log(), model).limits(limits).build();
    let request = DelegationRequest::new("look");
    let mut session = agent.session(&request).unwrap();
    let result = session.run(request, RunOptions::new()).await;
    crate::common::assert_messages_whole(&session.messages());
    result
}

#[tokio::test]
async fn turns() {
    let model = looking();
    let result = run(&model, Limits::none().max_turns(3)).await;
    assert_eq!((result.stop_reason, result.success), (StopReason::MaxTurns, false));
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    let Some(Message::User(told)) = requests[2].messages.last() else { panic!("{requests:?}") };
    assert!(told.content[0].as_text().unwrap().contains("limit of turns"));
    // In the last turn, only the final answer counts.
    assert_eq!(result.tool_call_count, 2);

    let model = scripted([look(1), look(2), finish("in time")]);
    let result = run(&model, Limits::none().max_turns(3)).await;
    assert_eq!((result.stop_reason, result.success), (StopReason::Finished, true));
}

#[tokio::test]
async fn one_turn() {
    let model = looking();
    let result = run(&model, Limits::none().max_turns(1)).await;
    assert_eq!((result.stop_reason, result.tool_call_count), (StopReason::MaxTurns, 1));
}

#[tokio::test]
async fn tool_calls() {
    let calls = (0..5).map(|number| call(&number.to_string(), "look", json!({"text": number.to_string()})));
    let model = scripted([Answer::calls(calls), finish("what I could")]);
    let result = run(&model, Limits::none().max_tool_calls(3)).await;
    assert_eq!((result.stop_reason, result.tool_call_count), (StopReason::Finished, 3));
    let results = results(&model.requests()[1].messages);
    let failed: Vec<bool> = results.iter().map(|(_, _, failed)| *failed).collect();
    assert_eq!(failed, [false, false, false, true, true]);
    assert!(results[4].1.contains("limit of tool calls"), "{results:?}");

    let result = run(&looking(), Limits::none().max_tool_calls(3)).await;
    assert_eq!((result.stop_reason, result.tool_call_count), (StopReason::MaxToolCalls, 3));
}

#[tokio::test]
async fn tokens_and_cost() {
    let result = run(&looking(), Limits::none().max_tokens(250)).await;
    assert_eq!((result.stop_reason, result.usage.requests), (StopReason::MaxTokens, 3));
    let model = Scripted::with(|request| look(request.messages.len()).with_usage(Usage::new(100, 10)).into())
        .with_price(Price::new(10_000.0, 0.0));
    let result = run(&Arc::new(model), Limits::none().max_cost(1.5)).await;
    assert_eq!((result.stop_reason, result.usage.requests), (StopReason::MaxCost, 2));
    assert_eq!(result.usage.cost, Some(2.0));
    let result = run(&looking(), Limits::none().max_cost(1.5).max_turns(4)).await;
    assert_eq!((result.stop_reason, result.usage.cost), (StopReason::MaxTurns, None));
    let model =
        Scripted::with(|request| look(request.messages.len()).into()).with_price(Price::new(10_000.0, 0.0));
    let result = run(&Arc::new(model), Limits::none().max_cost(1.5).max_turns(100)).await;
    assert_eq!((result.stop_reason, result.usage.cost), (StopReason::MaxCost, None));
    assert!(result.usage.estimated_cost >= Some(1.5), "{:?}", result.usage);
}

#[tokio::test]
async fn unknown_usage_counts_against_the_limit_of_tokens() {
    let model = Arc::new(Scripted::with(|request| look(request.messages.len()).into()));
    let result = run(&model, Limits::none().max_tokens(2_000).max_turns(100)).await;
    assert_eq!(result.stop_reason, StopReason::MaxTokens);
    assert_eq!(result.usage.total_tokens(), 0);
    assert_eq!(result.usage.unknown_requests, result.usage.requests);
    assert!(result.usage.estimated_tokens >= 2_000, "{:?}", result.usage);

    // The answer counts too.
    let model = Arc::new(Scripted::with(|_| Answer::text("word ".repeat(2_000)).into()));
    let result = run(&model, Limits::none().max_tokens(2_000).max_turns(100)).await;
    assert_eq!((result.stop_reason, result.usage.requests), (StopReason::MaxTokens, 1));

    let broken = ModelError::Stream { model: "m".into(), message: "reset".into(), partial: Box::default() };
    let model = scripted([broken.clone(), broken]);
    let result = run(&model, Limits::none().max_tokens(50)).await;
    assert_eq!((result.stop_reason, result.usage.unknown_requests), (StopReason::MaxTokens, 1));
}

#[tokio::test(start_paused = true)]
async fn time_in_a_tool_and_in_the_model() {
    for stall in [
        ScriptedReply::from(Answer::calls([
            call("1", "change", json!({"text": "a"})),
            call("2", "stall", json!({})),
            call("3", "change", json!({"text": "b"})),
        ])),
        ScriptedReply::Stall,
    ] {
        let model = scripted([stall]);
        let result = run(&model, Limits::none().timeout(Duration::from_secs(30))).await;
        assert_eq!(result.stop_reason, StopReason::Timeout);
        assert!(result.execution_time >= Duration::from_secs(30), "{:?}", result.execution_time);
        assert!(result.execution_time < Duration::from_secs(31), "{:?}", result.execution_time);
    }
}

#[tokio::test(start_paused = true)]
async fn time_in_which_a_person_is_asked_does_not_count() {
    let model = scripted([Answer::calls([call("1", "ask_first", json!({"text": "a"}))]), finish("done")]);
    let slow = toolkit::approval::CallbackApprover::from_async(|_| async {
        tokio::time::sleep(Duration::from_hours(2)).await;
        toolkit::approval::Answer::allow()
    });
    let limits = Limits::none().timeout(Duration::from_secs(30));
    let agent = builder(&log(), &model).limits(limits).approver(slow).build();
    let (events, observer) = watch();
    let result = agent.run(DelegationRequest::new("ask"), observer).await;
    assert_eq!(result.stop_reason, StopReason::Finished, "{result:?}");
    assert!(result.execution_time >= Duration::from_hours(2));
    let waiting = events.lock().unwrap().iter().any(|event| match event {
        AgentEvent::Step { step, .. } => step.status == toolkit::views::StepStatus::AwaitingConfirmation,
        _ => false,
    });
    assert!(waiting);
}

#[tokio::test]
async fn the_settings_of_the_configuration() {
    let load =
        toolkit::config::LoadOptions::new().set("toolAgent.maxToolCalls=7").set("toolAgent.timeoutMs=1234");
    let load = load.set("toolAgent.maxTokens=9").set("toolAgent.maxCost=0.5").set("toolAgent.maxSubAgents=0");
    let load = load.set("toolAgent.maxParallelSubAgents=2");
    let configuration = toolkit::config::Configuration::load(load).unwrap();
    let limits = Limits::from(&toolkit_agent::ToolAgentSettings::of(&configuration));
    assert_eq!((limits.max_tool_calls, limits.timeout), (Some(7), Some(Duration::from_millis(1234))));
    assert_eq!((limits.max_tokens, limits.max_cost), (Some(9), Some(0.5)));
    assert_eq!((limits.max_sub_agents, limits.max_parallel_sub_agents), (Some(0), Some(2)));
    let model = scripted([finish("done")]);
    let agent =
        builder(&log(), &model).settings(&toolkit_agent::ToolAgentSettings::of(&configuration)).build();
    let result = agent.run(DelegationRequest::new("x"), Observer::none()).await;
    assert!(result.success);
    let json: Value = serde_json::to_value(&result).unwrap();
    assert!(json["executionTimeMs"].is_u64());
}

#[test]
fn the_schema_of_the_configuration_has_every_key_of_the_agent_and_no_other() {
    let schema = toolkit::config::Configuration::schema().unwrap();
    let section = &schema["properties"]["toolAgent"];
    let mut keys: Vec<&str> = section["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let mut expected = [
        "autoConfirmDangerous",
        "maxToolCalls",
        "timeoutMs",
        "maxTokens",
        "maxCost",
        "maxSubAgents",
        "maxParallelSubAgents",
        "providerId",
        "model",
    ];
    expected.sort_unstable();
    assert_eq!((keys, &section["additionalProperties"]), (expected.to_vec(), &Value::Bool(false)));
}
