//! Sub-agents.

use crate::common::{Log, builder, call, finish, log, results, transcripts, watch};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use toolkit::{CancellationToken, ToolCall};
use toolkit_agent::{
    Agent, AgentEvent, AgentProfile, DelegationRequest, Limits, Observer, RunOptions, StopReason,
};
use toolkit_models::{Answer, Message, Request, Scripted, ScriptedReply, Usage};

fn delegate(id: &str, task: &str) -> ToolCall {
    call(id, "delegate", json!({"task": task, "context": "c", "expected_outcome": "e"}))
}

fn task(request: &Request) -> String {
    match &request.messages[0] {
        Message::User(message) => {
            message.content[0].as_text().unwrap().lines().next().unwrap_or_default().to_owned()
        }
        other => panic!("{other:?}"),
    }
}

fn answered(request: &Request) -> usize {
    request.messages.iter().filter(|message| matches!(message, Message::Assistant(_))).count()
}

/// A model that plays the main agent and its sub-agents, by the task that stands first.
fn cast(play: impl Fn(&str, usize) -> ScriptedReply + Send + Sync + 'static) -> Arc<Scripted> {
    Arc::new(Scripted::with(move |request| play(&task(request), answered(request))))
}

fn deep(log: &Arc<Log>, model: &Arc<Scripted>) -> toolkit_agent::AgentBuilder {
    builder(log, model).limits(Limits::none().max_depth(2))
}

#[tokio::test]
async fn a_sub_agent_does_a_task_and_its_account_comes_back() {
    let log = log();
    let model = cast(|task, turn| match (task, turn) {
        ("main", 0) => Answer::calls([delegate("d1", "part")]).with_usage(Usage::new(10, 1)).into(),
        ("main", _) => finish("all").with_usage(Usage::new(20, 2)).into(),
        ("part", 0) => {
            Answer::calls([call("1", "change", json!({"text": "x"}))]).with_usage(Usage::new(30, 3)).into()
        }
        ("part", _) => finish("the part").with_usage(Usage::new(40, 4)).into(),
        other => panic!("{other:?}"),
    });
    let (_directory, transcripts) = transcripts();
    let agent = deep(&log, &model).transcripts(transcripts.clone()).build();
    let (events, observer) = watch();
    let result = agent.run(DelegationRequest::new("main"), observer).await;
    assert!(result.success);
    assert_eq!(log.lines(), ["change x"]);
    // The sub-agent's work counts for the agent above it.
    assert_eq!((result.tool_call_count, result.usage.total_tokens()), (2, 110));
    assert_eq!(result.files_modified, [std::path::PathBuf::from("/x")]);
    let requests = model.requests();
    let sub = requests.iter().find(|request| task(request) == "part").unwrap();
    assert_eq!(sub.messages[0], Message::user("part\n\nContext:\nc\n\nExpected outcome:\ne"));
    let results = results(&requests.last().unwrap().messages);
    let account: Value = serde_json::from_str(&results[0].1).unwrap();
    assert_eq!(account, json!({"success": true, "summary": "the part", "filesModified": ["/x"]}));
    let events = events.lock().unwrap();
    let of_sub = events
        .iter()
        .filter(|event| matches!(event, AgentEvent::Delegated { call_id, .. } if call_id == "d1"));
    assert!(of_sub.count() > 3);
    let step = events.iter().rev().find_map(|event| match event {
        AgentEvent::Step { step, .. } if step.id == "d1" => Some(step),
        _ => None,
    });
    assert_eq!(step.unwrap().tool_agent_result.as_ref().unwrap()["summary"], "the part");
    // Its transcript names the agent above.
    let list = transcripts.list();
    assert_eq!(list.iter().map(|info| info.depth).max(), Some(1));
    assert_eq!(list.len(), 2);
}

#[tokio::test]
async fn several_work_at_once() {
    let log = log();
    let model = cast(|task, turn| match (task, turn) {
        ("main", 0) => {
            Answer::calls([delegate("a", "one"), delegate("b", "two"), delegate("c", "three")]).into()
        }
        ("main", _) => finish("all").into(),
        (_, 0) => Answer::calls([call("1", "look", json!({"text": task}))]).into(),
        (task, _) => finish(task).into(),
    });
    let result = deep(&log, &model).build().run(DelegationRequest::new("main"), Observer::none()).await;
    assert!(result.success);
    assert_eq!(log.most.load(Ordering::SeqCst), 3);
    let results = results(&model.requests().last().unwrap().messages);
    let ids: Vec<&str> = results.iter().map(|(id, _, _)| &**id).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert!(results[1].1.contains("two"));
}

#[tokio::test]
async fn no_agent_delegates_deeper_than_the_limit() {
    let log = log();
    let model = cast(|task, turn| {
        let depth: u32 = task.parse().unwrap();
        match turn {
            0 => Answer::calls([delegate("d", &(depth + 1).to_string())]).into(),
            _ => finish(task).into(),
        }
    });
    let result = deep(&log, &model).build().run(DelegationRequest::new("0"), Observer::none()).await;
    assert!(result.success);
    let requests = model.requests();
    let deepest = requests.iter().map(|request| task(request).parse::<u32>().unwrap()).max();
    assert_eq!(deepest, Some(2));
    for request in &requests {
        let is_offered = request.tools.as_ref().unwrap().tool("delegate").is_some();
        assert_eq!(is_offered, task(request) != "2");
    }
    let agent = builder(&log, &model).limits(Limits::none()).build();
    agent.run(DelegationRequest::new("0"), Observer::none()).await;
    assert_eq!(model.requests().len(), requests.len() + 2);
}

#[tokio::test]
async fn a_sub_agent_has_no_more_tools_than_the_agent_above() {
    let log = log();
    let model = cast(|task, turn| match (task, turn) {
        ("main", 0) => {
            Answer::calls([call("d", "delegate", json!({"task": "part", "agent": "reader"}))]).into()
        }
        ("part", 0) => Answer::calls([
            call("1", "change", json!({"text": "x"})),
            call("2", "look", json!({"text": "y"})),
            delegate("3", "deeper"),
        ])
        .into(),
        (task, _) => finish(task).into(),
    });
    let profile = AgentProfile::new("Reads.").tools(["look", "no_such_tool"]).instructions("Only read.");
    let agent = deep(&log, &model).profile("reader", profile).build();
    let result = agent.run(DelegationRequest::new("main"), Observer::none()).await;
    assert!(result.success);
    assert_eq!(log.lines(), ["look y"]);
    let requests = model.requests();
    let sub = requests.iter().find(|request| task(request) == "part").unwrap();
    let tools = sub.tools.as_ref().unwrap();
    let names: Vec<&str> = tools.tools().iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["finish", "look"]);
    assert!(sub.system.contains("Only read."));
    let main = requests.iter().find(|request| task(request) == "main").unwrap();
    assert!(main.tools.as_ref().unwrap().tool("delegate").unwrap().definition.to_string().contains("Reads."));
}

#[tokio::test]
async fn a_policy_can_take_delegation_away() {
    let log = log();
    let model = cast(|task, turn| match turn {
        0 => Answer::calls([delegate("d", "part")]).into(),
        _ => finish(task).into(),
    });
    let load = toolkit::config::LoadOptions::new().set("tools.deny=[\"delegate\"]");
    let configuration = toolkit::config::Configuration::load(load).unwrap();
    let toolkit = crate::common::tools(&log).configuration(configuration).build().unwrap();
    let agent = Agent::builder(toolkit, Arc::clone(&model)).build();
    agent.run(DelegationRequest::new("main"), Observer::none()).await;
    let requests = model.requests();
    assert!(requests.iter().all(|request| task(request) == "main"));
    assert!(requests[0].tools.as_ref().unwrap().tool("delegate").is_none());
    assert!(results(&requests[1].messages)[0].2);
}

#[tokio::test]
async fn a_cancelled_run_cancels_its_sub_agents() {
    let log = log();
    let model = cast(|task, turn| match (task, turn) {
        ("main", 0) => Answer::calls([delegate("a", "one"), delegate("b", "two")]).into(),
        (_, 0) => Answer::calls([call("1", "stall", json!({}))]).into(),
        (task, _) => finish(task).into(),
    });
    let (_directory, transcripts) = transcripts();
    let agent = deep(&log, &model).transcripts(transcripts.clone()).build();
    let cancel = CancellationToken::new();
    let stalled = log.stalled.clone();
    let request = DelegationRequest::new("main");
    let (result, ()) =
        tokio::join!(agent.run_with(request, RunOptions::new().cancel(cancel.clone())), async {
            stalled.cancelled().await;
            cancel.cancel();
        });
    assert_eq!(result.stop_reason, StopReason::Cancelled);
    assert_eq!(log.running.load(Ordering::SeqCst), 0);
    for info in transcripts.list() {
        crate::common::assert_messages_whole(&transcripts.messages(&info.id).unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn a_sub_agent_ends_with_the_limits_of_the_agent_above() {
    let log = log();
    let model = cast(|task, turn| match (task, turn) {
        ("main", 0) => Answer::calls([delegate("a", "one")]).into(),
        ("main", _) => finish("all").into(),
        (_, turn) => {
            Answer::calls([call(&turn.to_string(), "look", json!({"text": turn.to_string()}))]).into()
        }
    });
    let limits = Limits::none().max_depth(1).max_tool_calls(5).timeout(Duration::from_mins(1));
    let agent = builder(&log, &model).limits(limits).build();
    let result = agent.run(DelegationRequest::new("main"), Observer::none()).await;
    // One call is that of `delegate`, four are left.
    assert_eq!((result.tool_call_count, log.lines().len()), (5, 4));
    let results = results(&model.requests().last().unwrap().messages);
    assert!(results[0].2 && results[0].1.contains("max_tool_calls"), "{results:?}");
}

#[tokio::test]
async fn no_more_sub_agents_work_at_once_than_the_limit() {
    let log = log();
    // Each of six sub-agents delegates to two deeper ones, and waits for them without a place.
    let model = cast(|task, turn| match (task.split('.').count(), turn) {
        (1, 0) => {
            let tasks = (0..6).map(|number| format!("main.{number}"));
            Answer::calls(tasks.map(|task| delegate(&task, &task))).into()
        }
        (2, 0) => {
            let tasks = ["a", "b"].map(|name| format!("{task}.{name}"));
            Answer::calls(tasks.map(|task| delegate(&task, &task))).into()
        }
        (_, turn @ 0..3) => {
            Answer::calls([call("1", "look", json!({"text": format!("{task} {turn}")}))]).into()
        }
        (_, _) => finish(task).into(),
    });
    let limits = Limits::none().max_depth(2).max_parallel_sub_agents(2);
    let agent = builder(&log, &model).limits(limits).build();
    let run = agent.run(DelegationRequest::new("main"), Observer::none());
    let result =
        tokio::time::timeout(Duration::from_secs(30), run).await.expect("no delegation waits for itself");
    assert!(result.success, "{result:?}");
    assert_eq!(log.most.load(Ordering::SeqCst), 2);
    // Twelve deep ones look three times, the six above them and the first agent twice after they delegated.
    assert_eq!(log.lines().len(), 12 * 3 + 6 * 2 + 2);
}

#[tokio::test]
async fn no_more_sub_agents_are_started_than_the_limit() {
    let log = log();
    let model = cast(|task, turn| match (task, turn) {
        ("main", 0 | 1) => {
            let tasks = (0..3).map(|number| format!("{turn} {number}"));
            Answer::calls(tasks.map(|task| delegate(&task, &task))).into()
        }
        (task, _) => finish(task).into(),
    });
    let agent = builder(&log, &model).limits(Limits::none().max_depth(1).max_sub_agents(4)).build();
    let result = agent.run(DelegationRequest::new("main"), Observer::none()).await;
    assert!(result.success, "{result:?}");
    let requests = model.requests();
    assert_eq!(requests.iter().filter(|request| task(request) != "main").count(), 4);
    let results = results(&requests.last().unwrap().messages);
    let failed: Vec<bool> = results.iter().map(|(_, _, failed)| *failed).collect();
    assert_eq!(failed, [false, false, false, false, true, true]);
    assert!(results[5].1.contains("limit of 4 sub-agents"), "{results:?}");
}

#[tokio::test]
async fn the_tokens_and_the_cost_of_sub_agents_count_as_they_come() {
    // With usage, and without: then an estimate counts.
    for usage in [Some(Usage::new(100, 10)), None] {
        let play = move |task: &str, turn: usize| -> ScriptedReply {
            let mut answer = match (task, turn) {
                ("main", 0) => Answer::calls(["one", "two"].map(|task| delegate(task, task))),
                _ => Answer::calls([call(&turn.to_string(), "look", json!({"text": turn.to_string()}))]),
            };
            answer.usage = usage;
            answer.into()
        };
        let price = toolkit_models::Price::new(1_000_000.0, 1_000_000.0);
        let model = || {
            Arc::new(Scripted::with(move |request| play(&task(request), answered(request))).with_price(price))
        };
        let limits = Limits::none().max_depth(1).max_turns(200);
        for (limits, reason) in [
            (limits.max_tokens(10_000), StopReason::MaxTokens),
            (limits.max_cost(10_000.0), StopReason::MaxCost),
        ] {
            let (log, model) = (log(), model());
            let agent = builder(&log, &model).limits(limits).build();
            let result = agent.run(DelegationRequest::new("main"), Observer::none()).await;
            assert_eq!(result.stop_reason, reason, "{result:?}");
            let used = result.usage.total_tokens() + result.usage.estimated_tokens;
            // Each of the two sub-agents may have had one request under way.
            let largest = result.usage.total_tokens().max(10_000) / 10;
            assert!((10_000..10_000 + 2 * largest).contains(&used), "{:?}", result.usage);
            assert_eq!(usage.is_none(), result.usage.unknown_requests == result.usage.requests);
            assert_eq!(usage.is_none(), result.usage.cost.is_none());
            assert_eq!(result.usage.requests as usize, model.requests().len());
        }
    }
}

#[tokio::test]
async fn what_an_interrupted_sub_agent_used_counts() {
    let log = log();
    let model = cast(|task, turn| match (task, turn) {
        ("main", 0) => Answer::calls([delegate("a", "one")]).with_usage(Usage::new(10, 1)).into(),
        _ => Answer::calls([call("1", "stall", json!({}))]).with_usage(Usage::new(30, 3)).into(),
    });
    let agent = deep(&log, &model).build();
    let cancel = CancellationToken::new();
    let options = RunOptions::new().cancel(cancel.clone());
    let (result, ()) = tokio::join!(agent.run_with(DelegationRequest::new("main"), options), async {
        log.stalled.cancelled().await;
        cancel.cancel();
    });
    assert_eq!(result.stop_reason, StopReason::Cancelled);
    assert_eq!((result.usage.requests, result.usage.total_tokens()), (2, 44));
}
