//! Tools and their calls as user interfaces show them.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{
    CallOptions, Tool, ToolCall,
    approval::{Answer, CallbackApprover, ScriptedApprover},
    descriptor::{Definition, Source},
    events::Event,
    output::{Message, MessageRole},
    tool_ref,
    views::{MAX_OPEN_STEPS, StepStatus, StepType, StepTypes, Steps, ToolDefinition},
};

/// Sends something.
#[tool(title = "Send", icon = "mail", group = "post")]
async fn send(
    ctx: &ToolContext,
    /// To whom.
    to: String,
    /// How.
    #[arg(secret)]
    key: String,
    /// How often.
    times: Option<u32>,
) -> Result<ToolOutput, ToolError> {
    ctx.ask(toolkit::Ask::new("send", "send it")).await?;
    if to == "nobody" {
        return Err(ToolError::not_found("there is nobody of that name"));
    }
    Ok(ToolOutput::text(format!("sent with {}", key.len() + times.map_or(0, |n| n as usize)))
        .with_title("Sent"))
}

/// Sends.
#[tool(read_only, group = "post")]
async fn look() {}

#[test]
fn a_tool_is_shown_with_its_own_names() {
    let view = ToolDefinition::of(&tool_ref!(send)).unwrap();
    assert_eq!(
        serde_json::to_value(&view).unwrap(),
        json!({
            "id": "send", "name": "Send", "description": "Sends something.",
            "parameters": [
                {"name": "to", "type": "string", "description": "To whom.", "required": true},
                {"name": "key", "type": "string", "description": "How.", "required": true},
                {"name": "times", "type": "integer", "description": "How often.", "required": false},
            ],
            "enabled": true, "autoExecute": false, "category": "custom", "icon": "mail", "source": {"kind": "runtime"},
        })
    );
    let of_server = Tool::builder("files__read")
        .description("Reads.")
        .read_only()
        .source(Source::mcp("files"))
        .build(|_, _| async { "x" })
        .unwrap();
    let view = serde_json::to_value(ToolDefinition::of(&of_server).unwrap()).unwrap();
    assert_eq!([&view["category"], &view["serverId"], &view["serverName"]], ["mcp", "files", "files"]);
    // A server's annotation of its own tool lets nothing run.
    assert_eq!(view["autoExecute"], false);
    assert_eq!(serde_json::from_value::<ToolDefinition>(view.clone()).unwrap().id, "files__read");
}

#[test]
fn parameters_are_shown_in_a_word() {
    let schema = json!({"type": "object", "required": ["ref"], "properties": {
        "ref": {"$ref": "#/$defs/color"},
        "any": {},
        "several": {"type": ["string", "null"]},
        "union": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {}}]},
        "values": {"enum": ["a", 1, null]},
        "both": {"allOf": [{"type": "string"}, {"minLength": 1}]},
        "constant": {"const": true},
    }, "$defs": {"color": {"type": "string", "enum": ["red", "blue"]}}});
    let wire = json!({"name": "t", "description": "", "inputSchema": schema,
        "annotations": {"readOnlyHint": true, "idempotentHint": false}});
    let view = ToolDefinition::from(serde_json::from_value::<Definition>(wire).unwrap());
    let shown: Vec<(String, String, bool, Value)> = view
        .parameters
        .into_iter()
        .map(|parameter| (parameter.name, parameter.kind, parameter.required, json!(parameter.options)))
        .collect();
    let expected = [
        ("ref", "string", true, json!(["red", "blue"])),
        ("any", "any", false, json!(null)),
        ("several", "string | null", false, json!(null)),
        ("union", "integer | array", false, json!(null)),
        ("values", "string | number | null", false, json!(["a", 1, null])),
        ("both", "string", false, json!(null)),
        ("constant", "boolean", false, json!([true])),
    ];
    let expected =
        expected.map(|(name, kind, required, options)| (name.to_owned(), kind.to_owned(), required, options));
    assert_eq!(shown, expected);
}

#[test]
fn no_parameter_is_left_out() {
    let variant = |number: usize| json!({"properties": {format!("only in {number}"): {"type": "string"}}});
    let schema = json!({"type": "object", "required": ["two words"],
        "properties": {"two words": {"type": "string", "description": "Both."}, "é": {"type": "integer"}, "": {"type": "null"},
            "x".repeat(65): {"type": "boolean"}},
        "anyOf": (0..70).map(variant).collect::<Vec<_>>()});
    let wire = json!({"name": "t", "description": "", "inputSchema": schema,
        "annotations": {"readOnlyHint": true, "idempotentHint": false}});
    let view = ToolDefinition::from(serde_json::from_value::<Definition>(wire).unwrap());
    let words = &view.parameters[0];
    assert_eq!((words.name.as_str(), words.kind.as_str(), words.required), ("two words", "string", true));
    assert_eq!(words.description, "Both.");
    let others = ["é", "", &"x".repeat(65), "only in 0", "only in 69"];
    for name in others {
        assert!(
            view.parameters.iter().any(|parameter| parameter.name == name),
            "{name:?}: {:?}",
            view.parameters
        );
    }
    assert_eq!(view.parameters.len(), 74);
}

/// The steps of the calls after each event.
async fn steps_of(
    calls: Vec<ToolCall>,
    types: StepTypes,
    answers: Vec<Answer>,
) -> Vec<(String, StepType, StepStatus)> {
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(send))
        .tool(tool_ref!(look))
        .approver(Arc::new(ScriptedApprover::new(answers)))
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_session("s")).await;
    let mut events = toolbox.events();
    let mut steps = Steps::new(types);
    let mut seen = Vec::new();
    for call in calls {
        let step = steps.call(&toolbox, &call, 3);
        assert_eq!(step.turn_index, 3);
        assert!(!serde_json::to_string(&step).unwrap().contains("hush"), "{step:?}");
        seen.push((step.title, step.kind, step.status));
        toolbox.call(call).await;
        while let Some(event) = events.try_next() {
            if let Some(step) = steps.event(&event) {
                seen.push((step.title, step.kind, step.status));
            }
        }
    }
    seen
}

fn call(to: &str) -> ToolCall {
    ToolCall::new(to, "send", json!({"to": to, "key": "hush"}))
}

#[tokio::test]
async fn a_call_is_followed_to_its_end() {
    use StepStatus::{AwaitingConfirmation, Completed, Failed, Pending, Running};
    use StepType::{Bash, BashConfirm, Read, ToolCall as Other};
    let types = StepTypes::new().tool("send", Bash).group("post", Read);
    let allow = || vec![Answer::allow(); 4];
    let last = |seen: Vec<(String, StepType, StepStatus)>| seen.into_iter().last().unwrap();
    let seen = steps_of(vec![call("ada")], types.clone(), allow()).await;
    assert_eq!(seen[0], ("Send".to_owned(), Bash, Pending));
    assert!(
        seen.iter().any(|step| *step == ("Send".to_owned(), BashConfirm, AwaitingConfirmation)),
        "{seen:?}"
    );
    // The core asks before the call, then the tool asks: after each answer the step runs.
    let statuses: Vec<StepStatus> = seen.iter().map(|(_, _, status)| *status).collect();
    assert_eq!(
        statuses,
        [Pending, Running, AwaitingConfirmation, Running, AwaitingConfirmation, Running, Completed]
    );
    assert_eq!(last(seen), ("Sent".to_owned(), BashConfirm, Completed));
    let denied = steps_of(vec![call("ada")], types.clone(), vec![Answer::deny()]).await;
    let statuses: Vec<StepStatus> = denied.iter().map(|(_, _, status)| *status).collect();
    assert_eq!(statuses, [Pending, Running, AwaitingConfirmation, Running, Failed]);

    let seen = steps_of(vec![call("nobody")], types.clone(), allow()).await;
    assert_eq!(last(seen).2, Failed);
    // Refused before it begins, and of no tool at all.
    let refused = ToolCall::new("1", "send", "not JSON at all, hush");
    assert_eq!(last(steps_of(vec![refused], types.clone(), allow()).await).2, Failed);
    let unknown = ToolCall::new("1", "other", json!({"key": "hush"}));
    assert_eq!(
        last(steps_of(vec![unknown], types.clone(), allow()).await),
        ("other".to_owned(), Other, Failed)
    );
    let grouped = ToolCall::new("1", "look", json!({}));
    assert_eq!(last(steps_of(vec![grouped], types, allow()).await).1, Read);
}

/// Asks two questions at once.
#[tool(asks)]
async fn asks_twice(ctx: &ToolContext) -> Result<(), ToolError> {
    let ask = |title: &str| ctx.ask(toolkit::Ask::new("send", title));
    let (one, other) = tokio::join!(ask("one"), ask("other"));
    one.and(other)
}

#[tokio::test]
async fn a_step_waits_until_its_last_question_is_answered() {
    use StepStatus::{AwaitingConfirmation, Running};
    let elsewhere = CallbackApprover::new(|_| None);
    let toolkit = Toolkit::empty().tool(tool_ref!(asks_twice)).approver(elsewhere).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_session("s")).await;
    let (mut events, mut steps) = (toolbox.events(), Steps::new(StepTypes::new()));
    let call = ToolCall::new("1", "asks_twice", json!({}));
    steps.call(&toolbox, &call, 0);
    let answering = async {
        while toolkit.asks().list(None).len() < 2 {
            tokio::task::yield_now().await;
        }
        let mut status = StepStatus::Pending;
        while let Some(event) = events.try_next() {
            status = steps.event(&event).map_or(status, |step| step.status);
        }
        assert_eq!(status, AwaitingConfirmation);
        for (answer, expected) in [(Answer::allow(), AwaitingConfirmation), (Answer::deny(), Running)] {
            let waiting = toolkit.asks().list(None);
            toolkit.asks().answer(waiting[0].id(), answer).unwrap();
            // The event comes when the call goes on.
            let mut is_answered = false;
            while !is_answered {
                tokio::task::yield_now().await;
                while let Some(event) = events.try_next() {
                    is_answered |= matches!(event.event, Event::Answered { .. });
                    status = steps.event(&event).map_or(status, |step| step.status);
                }
            }
            assert!(status == expected || expected == Running && status == StepStatus::Failed, "{status:?}");
        }
    };
    let (result, ()) = tokio::join!(toolbox.call(call), answering);
    assert!(result.is_error());
}

#[tokio::test]
async fn an_answer_is_an_event_before_the_function_goes_on() {
    for (answer, expected) in [
        (
            Some(Answer::allow()),
            json!({"event": "answered", "answer": "allowed", "scope": "once", "by": "person"}),
        ),
        (
            Some(Answer::allow_for_session()),
            json!({"event": "answered", "answer": "allowed", "scope": "session", "by": "person"}),
        ),
        (
            Some(Answer::deny_saying("not today")),
            json!({"event": "answered", "answer": "denied", "by": "person", "message": "not today"}),
        ),
        (Some(Answer::Cancelled), json!({"event": "answered", "answer": "cancelled", "by": "person"})),
        (None, json!({"event": "answered", "answer": "denied", "by": "nobody_there"})),
    ] {
        let builder = Toolkit::empty().tool(tool_ref!(look_up));
        let builder = match answer {
            Some(answer) => builder.approver(ScriptedApprover::new([answer])),
            None => builder,
        };
        let toolkit = builder.build().unwrap();
        let toolbox = toolkit.toolbox(&Caller::new().with_session("s").with_message("m1")).await;
        let mut events = toolbox.events();
        toolbox.call(ToolCall::new("1", "look_up", json!({}))).await;
        let mut told = Vec::new();
        while let Some(event) = events.try_next() {
            let event = serde_json::to_value(&event).unwrap();
            assert_eq!((&event["callId"], &event["messageId"]), (&json!("1"), &json!("m1")), "{event}");
            told.push(event);
        }
        let at = |name: &str| told.iter().position(|event| event["event"] == name);
        let (asked, answered) = (at("asked").unwrap(), at("answered").unwrap());
        assert!(asked < answered && answered < at("finished").unwrap());
        // The function's messages after the question come after the answer.
        assert!(at("metadata").is_none_or(|at| at > answered), "{told:?}");
        assert_eq!(at("metadata").is_some(), expected["answer"] == "allowed");
        let ask = &told[asked]["ask"];
        assert_eq!((&ask["id"], &ask["messageId"]), (&told[answered]["askId"], &json!("m1")));
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&told[answered][key], value, "{key} of {}", told[answered]);
        }
    }
}

/// Asks, and says so when it goes on.
#[tool(asks)]
async fn look_up(ctx: &ToolContext) -> Result<(), ToolError> {
    ctx.ask(toolkit::Ask::new("send", "look it up")).await?;
    ctx.set_title("Looked up");
    Ok(())
}

/// Says what a session was about, by way of another tool.
#[tool(read_only)]
async fn sums_up(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(ctx.call("counts", json!({})).await?.to_text())
}

/// Counts the messages.
#[tool(read_only)]
async fn counts(ctx: &ToolContext) -> String {
    let of = |role| ctx.messages().iter().filter(|message| message.role == role).count();
    format!("{} of a person, {} in all", of(MessageRole::User), ctx.messages().len())
}

#[tokio::test]
async fn the_messages_so_far_are_the_calls_own() {
    let toolkit = Toolkit::empty().tool(tool_ref!(sums_up)).tool(tool_ref!(counts)).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_session("s")).await;
    let call = |name: &str| ToolCall::new("1", name, json!({}));
    let messages: Arc<[Message]> = [
        Message::new(MessageRole::User, "sum up").with_id("m1"),
        Message::new(MessageRole::Assistant, "at once").with_id("m2").with_call(call("sums_up")),
    ]
    .into();
    let with = |messages: &Arc<[Message]>| CallOptions::new().messages(Arc::clone(messages));
    assert_eq!(toolbox.call_with(call("counts"), with(&messages)).await.text(), "1 of a person, 2 in all");
    assert_eq!(toolbox.call_with(call("sums_up"), with(&messages)).await.text(), "1 of a person, 2 in all");
    assert_eq!(toolbox.call(call("counts")).await.text(), "0 of a person, 0 in all");
    let json = serde_json::to_value(&messages[1]).unwrap();
    assert_eq!(json["calls"][0]["name"], "sums_up");
    assert_eq!(serde_json::from_value::<Message>(json).unwrap(), messages[1]);
}

#[tokio::test]
async fn what_is_followed_is_bounded() {
    let toolbox = Toolkit::empty().build().unwrap().toolbox(&Caller::new()).await;
    let mut steps = Steps::new(StepTypes::new());
    for number in 0..=MAX_OPEN_STEPS {
        steps.call(&toolbox, &ToolCall::new(number.to_string(), "x", json!({})), 0);
    }
    let debug = format!("{steps:?}");
    assert!(debug.contains("id: \"10000\"") && !debug.contains("id: \"0\""));
}

#[test]
fn words_are_those_of_the_interface() {
    for (kind, word) in [
        (StepType::Bash, "bash"),
        (StepType::BashConfirm, "bash-confirm"),
        (StepType::Read, "read"),
        (StepType::Write, "write"),
        (StepType::Edit, "edit"),
        (StepType::Glob, "glob"),
        (StepType::Grep, "grep"),
        (StepType::Skill, "skill"),
        (StepType::Delegate, "delegate"),
        (StepType::ToolCall, "tool_call"),
    ] {
        assert_eq!(serde_json::to_value(kind).unwrap(), word);
    }
    for (status, word) in [
        (StepStatus::Pending, "pending"),
        (StepStatus::Running, "running"),
        (StepStatus::Completed, "completed"),
        (StepStatus::Failed, "failed"),
        (StepStatus::AwaitingConfirmation, "awaiting-confirmation"),
    ] {
        assert_eq!(serde_json::to_value(status).unwrap(), word);
    }
    let step = toolkit::views::Step::pending(ToolCall::new("1", "x", json!({})), StepType::Read, 5, 2);
    assert_eq!(
        serde_json::to_value(&step).unwrap(),
        json!({"id": "1", "type": "read", "title": "x", "description": "", "status": "pending", "timestamp": 5, "turnIndex": 2,
            "toolCallId": "1", "toolCall": {"id": "1", "name": "x", "arguments": {}}})
    );
}
