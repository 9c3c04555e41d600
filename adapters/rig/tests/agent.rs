//! A toolbox in an agent of rig, against a model that says what is written down here.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod common;

use common::{Gate, agent, travel};
use futures_util::StreamExt as _;
use rig_agent::agent::{
    Agent, AgentHook, CompletionCallAction, CompletionCallEvent, HookContext, OutcomeAction, OutcomeEvent,
    RequestPatch,
};
use rig_core::message::{ToolChoice, ToolName};
use scripted_model::{ScriptedModel, Turn};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    CallOptions, Content,
    approval::{Answer, ScriptedApprover},
    history::{CallStatus, HistoryQuery, MemoryHistory},
    text::Redactor,
};
use toolkit::{
    Tool, ToolOutput,
    policy::{Policy, Refusal},
};
use toolkit_rig::{CallDetails, WithToolbox as _};

/// The model's input in answer to each call, in order.
fn read(model: &ScriptedModel) -> Vec<(String, String)> {
    let results = model.results().into_iter();
    results
        .map(|(id, content)| (id, content.as_str().map_or_else(|| content.to_string(), str::to_owned)))
        .collect()
}

#[tokio::test]
async fn a_model_calls_tools_over_several_turns() {
    let turns = [
        Turn::Calls(vec![
            ("call_a", "distance", r#"{"city": "Graz"}"#),
            ("call_b", "distance", r#"{"city": "Rome"}"#),
        ]),
        Turn::Calls(vec![("call_c", "miles", r#"{"kilometres": "far", "exact": true}"#)]),
        Turn::Calls(vec![("call_d", "miles", r#"{"kilometres": 200}"#)]),
        Turn::Says("124 miles"),
    ];
    let model = ScriptedModel::start(turns).await.unwrap();
    let history = Arc::new(MemoryHistory::new(Redactor::new()));
    let toolbox = travel().history(Arc::clone(&history)).build().unwrap().toolbox(&Caller::new()).await;
    let answer = agent(&model).toolbox(&toolbox).build().prompt("How far?").await.unwrap();
    assert_eq!(answer.output(), "124 miles");
    model.assert_done();

    // The model was shown the definitions of the toolbox.
    let shown: Vec<Value> = toolbox
        .definitions()
        .into_iter()
        .map(|tool| {
            let function =
                json!({"name": tool.name, "description": tool.description, "parameters": tool.input_schema});
            json!({"type": "function", "function": function})
        })
        .collect();
    assert_eq!(shown.len(), 3);
    for request in model.requests() {
        assert_eq!(request["tools"], Value::Array(shown.clone()));
    }

    let read = read(&model);
    let ids: Vec<&str> = read.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["call_a", "call_b", "call_c", "call_d"]);
    assert_eq!(read[0].1, "200");
    assert_eq!(read[1].1, "there is no road to Rome; try Graz");
    for part in ["2 problems", "/kilometres: expected a number", "/exact"] {
        assert!(read[2].1.contains(part), "{part}: {}", read[2].1);
    }
    assert_eq!(read[3].1, "124.3");

    // The toolbox knows the calls by the ids that the model gave them.
    let calls = history.calls(&HistoryQuery::new());
    let mut known: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    known.sort_unstable();
    assert_eq!(known, ids);
}

#[tokio::test]
async fn a_streamed_run_gets_the_same() {
    let turns = [
        Turn::Calls(vec![
            ("call_a", "distance", r#"{"city": "Graz"}"#),
            ("call_b", "miles", r#"{"kilometres": 200}"#),
        ]),
        Turn::Says("124 miles"),
    ];
    let model = ScriptedModel::start(turns).await.unwrap();
    let history = Arc::new(MemoryHistory::new(Redactor::new()));
    let toolbox = travel().history(Arc::clone(&history)).build().unwrap().toolbox(&Caller::new()).await;
    let mut run = agent(&model).toolbox(&toolbox).build().prompt("How far?").stream();
    while let Some(item) = run.next().await {
        item.unwrap();
    }
    model.assert_done();
    assert!(model.requests().iter().all(|request| request["stream"] == true));
    let expected =
        [("call_a", "200"), ("call_b", "124.3")].map(|(id, text)| (id.to_owned(), text.to_owned()));
    assert_eq!(read(&model), expected);
    assert_eq!(history.calls(&HistoryQuery::new()).len(), 2);
}

#[tokio::test]
async fn calls_that_only_read_run_together_where_rig_lets_them() {
    let turns = [
        Turn::Calls(vec![("call_a", "meet", "{}"), ("call_b", "meet", "{}"), ("call_c", "meet", "{}")]),
        Turn::Says("met"),
    ];
    let model = ScriptedModel::start(turns).await.unwrap();
    // Each waits for the two others, so alone none of them would end.
    let barrier = Arc::new(tokio::sync::Barrier::new(3));
    let meet =
        Tool::builder("meet").description("Meets the others.").read_only().timeout(Duration::from_secs(20));
    let meet = meet.build(move |context: ToolContext, _| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            context.call_id().to_owned()
        }
    });
    let toolbox = Toolkit::empty().tool(meet.unwrap()).build().unwrap().toolbox(&Caller::new()).await;
    let agent = agent(&model).toolbox(&toolbox).build();
    agent.prompt("Meet.").tool_concurrency(3).await.unwrap();
    model.assert_done();
    let expected = ["call_a", "call_b", "call_c"].map(|id| (id.to_owned(), id.to_owned()));
    assert_eq!(read(&model), expected, "each call has its own id, and the results are in order");
}

#[derive(Debug)]
struct NoSecrets;

impl Policy for NoSecrets {
    fn check(&self, _: &Caller, tool: &Tool) -> Result<(), Refusal> {
        match tool.name() {
            "secret" => Err(Refusal::new("the test", "it is a secret")),
            _ => Ok(()),
        }
    }
}

/// How a run is read.
#[derive(Debug, Clone, Copy)]
enum Way {
    Whole,
    Streamed,
}

/// Runs an agent to its end.
async fn prompt(agent: &Agent, way: Way) {
    match way {
        Way::Whole => {
            agent.prompt("Go.").await.unwrap();
        }
        Way::Streamed => {
            let mut run = agent.prompt("Go.").stream();
            while let Some(item) = run.next().await {
                item.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn what_cannot_be_called_is_explained_and_ends_nothing() {
    for way in [Way::Whole, Way::Streamed] {
        let turns = [
            Turn::Calls(vec![("call_a", "distanse", r#"{"city": "Graz"}"#)]),
            Turn::Calls(vec![("call_b", "secret", "{}")]),
            Turn::Calls(vec![("call_c", "how_far", r#"{"city": "Graz"}"#)]),
            Turn::Calls(vec![("call_d", "distance", r#"{"city": "#)]),
            Turn::Calls(vec![("call_e", "distance", "[1]")]),
            Turn::Calls(vec![("call_f", "breaks", "{}")]),
            Turn::Says("done"),
        ];
        let model = ScriptedModel::start(turns).await.unwrap();
        let secret = Tool::builder("secret").description("Tells a secret.").read_only();
        let breaks = Tool::builder("breaks").description("Breaks.").read_only();
        let toolkit = travel()
            .tool(secret.build(|_, _| async { "told" }).unwrap())
            .tool(breaks.build(|_, _| async { panic!("a wire came loose") as String }).unwrap())
            .policy(NoSecrets);
        let toolbox = toolkit.build().unwrap().toolbox(&Caller::new()).await;
        prompt(&agent(&model).toolbox(&toolbox).build(), way).await;
        model.assert_done();
        let read = read(&model);
        for (place, id, expected) in [
            (0, "call_a", "did you mean `distance`?"),
            (1, "call_b", "`secret` cannot be used here"),
            // An alias is never shown, and works.
            (2, "call_c", "200"),
            (3, "call_d", "not a JSON object"),
            (4, "call_e", "not a JSON object"),
            (5, "call_f", "internal error (a wire came loose)"),
        ] {
            let (answered, text) = &read[place];
            assert!(answered == id && text.contains(expected), "{way:?}, {expected}: {text}");
        }
    }
}

/// Shows one tool in each turn.
struct OnlyDistance;

impl AgentHook for OnlyDistance {
    async fn on_completion_call(&self, _: &HookContext, _: CompletionCallEvent<'_>) -> CompletionCallAction {
        CompletionCallAction::patch(RequestPatch::new().active_tools(["distance"]))
    }
}

#[tokio::test]
async fn what_the_agent_does_not_show_is_not_called_and_ends_nothing() {
    for by_choice in [false, true] {
        let turns = [Turn::Calls(vec![("call_a", "miles", r#"{"kilometres": 1}"#)]), Turn::Says("done")];
        let model = ScriptedModel::start(turns).await.unwrap();
        let history = Arc::new(MemoryHistory::new(Redactor::new()));
        let toolbox = travel().history(Arc::clone(&history)).build().unwrap().toolbox(&Caller::new()).await;
        let mut agent = agent(&model);
        if by_choice {
            let function_names = vec![ToolName::new("distance").unwrap()];
            agent = agent.tool_choice(ToolChoice::Specific { function_names });
        } else {
            agent = agent.add_hook(OnlyDistance);
        }
        prompt(&agent.toolbox(&toolbox).build(), Way::Whole).await;
        model.assert_done();
        assert!(read(&model)[0].1.contains("cannot be called in this turn"), "{:?}", read(&model));
        assert!(history.calls(&HistoryQuery::new()).is_empty());
    }
}

#[tokio::test]
async fn permission_is_asked_of_whoever_the_toolbox_or_the_call_names() {
    let calls = || [Turn::Calls(vec![("call_a", "book", r#"{"city": "Graz"}"#)]), Turn::Says("done")];
    let approver = |answer| ScriptedApprover::new([answer]);
    for (of_toolkit, of_call, expected) in [
        (None, None, "not allowed"),
        (Some(Answer::Declined), None, "not allowed"),
        (Some(Answer::allow()), None, "booked Graz"),
        (Some(Answer::Declined), Some(Answer::allow()), "booked Graz"),
    ] {
        let model = ScriptedModel::start(calls()).await.unwrap();
        let mut toolkit = travel();
        if let Some(answer) = of_toolkit {
            toolkit = toolkit.approver(approver(answer));
        }
        let mut options = CallOptions::new();
        if let Some(answer) = of_call {
            options = options.approver(approver(answer));
        }
        let toolbox = toolkit.build().unwrap().toolbox(&Caller::new()).await;
        agent(&model).toolbox_with(&toolbox, options).build().prompt("Book.").await.unwrap();
        model.assert_done();
        assert!(read(&model)[0].1.contains(expected), "{expected}: {:?}", read(&model));
    }
}

#[tokio::test]
async fn a_run_that_is_dropped_leaves_no_call() {
    let turns = [Turn::Calls(vec![("call_a", "wait", "{}")])];
    let model = ScriptedModel::start(turns).await.unwrap();
    let history = Arc::new(MemoryHistory::new(Redactor::new()));
    let gate = Gate::default();
    let next = Tool::builder("next").description("Comes next.").build(|_, _| async { "free" });
    let toolkit = Toolkit::empty().tool(gate.tool("wait")).tool(next.unwrap()).history(Arc::clone(&history));
    let toolbox =
        toolkit.without_asking_first().build().unwrap().toolbox(&Caller::new().with_session("s")).await;
    let agent = agent(&model).toolbox(&toolbox).build();
    let run = tokio::spawn(async move {
        let _ = agent.prompt("Wait.").await;
        agent
    });
    gate.began().await;
    run.abort();
    assert!(run.await.is_err_and(|error| error.is_cancelled()));
    let calls = history.calls(&HistoryQuery::new());
    let [call] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!((call.id.as_str(), call.status), ("call_a", CallStatus::Interrupted));
    // The session's gate is free again, for a tool that has to have it alone.
    let next = toolbox.call(ToolCall::new("b", "next", "{}"));
    assert_eq!(tokio::time::timeout(Duration::from_secs(20), next).await.unwrap().text(), "free");
}

#[tokio::test]
async fn a_run_whose_agent_lives_on_leaves_no_call_either() {
    for way in [Way::Whole, Way::Streamed] {
        let turns = [Turn::Calls(vec![("call_a", "wait", "{}")])];
        let model = ScriptedModel::start(turns).await.unwrap();
        let history = Arc::new(MemoryHistory::new(Redactor::new()));
        let gate = Gate::default();
        let toolkit =
            Toolkit::empty().tool(gate.tool("wait")).history(Arc::clone(&history)).without_asking_first();
        let toolbox = toolkit.build().unwrap().toolbox(&Caller::new()).await;
        let agent = agent(&model).toolbox(&toolbox).build();
        tokio::select! {
            () = prompt(&agent, way) => panic!("{way:?}: it does not end"),
            () = gate.began() => {}
        }
        assert_eq!(history.calls(&HistoryQuery::new())[0].status, CallStatus::Interrupted, "{way:?}");
        drop(agent);
    }
}

/// Keeps what calls say to hosts.
#[derive(Clone, Default)]
struct Keeps(Arc<Mutex<Vec<CallDetails>>>);

impl AgentHook for Keeps {
    async fn on_outcome(&self, _: &HookContext, event: OutcomeEvent<'_>) -> OutcomeAction {
        if let Some(context) = event.tool_context() {
            self.0.lock().unwrap().extend(context.result::<CallDetails>().unwrap());
        }
        OutcomeAction::proceed()
    }
}

#[tokio::test]
async fn pictures_long_outputs_and_details_arrive_where_they_belong() {
    let turns = [Turn::Calls(vec![("call_a", "draw", "{}"), ("call_b", "recite", "{}")]), Turn::Says("done")];
    let model = ScriptedModel::start(turns).await.unwrap();
    let draw = Tool::builder("draw").description("Draws.").read_only().build(|_, _| async {
        ToolOutput::text("a dot")
            .with_content(Content::image(*b"dot", "image/png"))
            .with_details(json!({"dots": 1}))
            .with_title("Drew a dot")
            .with_file_modified("/tmp/dot.png")
    });
    let recite = Tool::builder("recite").description("Recites.").read_only();
    let recite = recite.build(|_, _| async { "a line of the poem\n".repeat(10_000) });
    let toolkit = Toolkit::empty().tool(draw.unwrap()).tool(recite.unwrap()).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let keeps = Keeps::default();
    agent(&model).add_hook(keeps.clone()).toolbox(&toolbox).build().prompt("Draw.").await.unwrap();
    model.assert_done();
    let results = model.results();
    // A tool message of this protocol cannot hold a picture, so rig shows it right behind.
    assert!(results[0].1.as_str().unwrap().starts_with("a dot\n"), "{results:?}");
    let messages = model.requests()[1]["messages"].as_array().unwrap().clone();
    let parts = messages.last().unwrap()["content"].as_array().unwrap();
    assert!(parts.iter().any(|part| part["image_url"]["url"] == "data:image/png;base64,ZG90"), "{parts:?}");
    let recited = results[1].1.as_str().unwrap();
    assert!(recited.len() < 60_000 && recited.contains("lines"), "{}", recited.len());
    let kept = keeps.0.lock().unwrap();
    assert_eq!((kept[0].id.as_str(), &kept[0].details), ("call_a", &Some(json!({"dots": 1}))));
    assert_eq!(kept[0].title.as_deref(), Some("Drew a dot"));
    assert_eq!(kept[0].files_modified, ["/tmp/dot.png"]);
}

#[tokio::test]
async fn tools_without_an_agent_have_ids_of_their_own() {
    let toolbox = travel().build().unwrap().toolbox(&Caller::new()).await;
    let tools = toolkit_rig::tools(&toolbox);
    let names: Vec<&str> = tools.iter().map(|tool| tool.name().as_str()).collect();
    assert_eq!(names, ["book", "distance", "miles"]);
    assert_eq!(tools[1].execute(json!({"city": "Graz"})).await.unwrap().as_text(), Some("200"));
    let error = tools[1].execute(json!({"town": "Graz"})).await.unwrap_err();
    assert_eq!(error.code(), Some("invalid_arguments"));
    assert!(error.model_feedback().unwrap().contains("/city"), "{error}");
    let failed = error.downcast_ref::<toolkit_rig::CallFailed>().unwrap();
    assert_eq!(failed.0.problems().unwrap().problems.len(), 2);
}
