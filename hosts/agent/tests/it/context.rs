//! A conversation that fills the context window.

use crate::common::{
    assert_messages_whole, assert_requests_whole, builder, call, finish, log, scripted, transcripts, watch,
};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit_agent::{
    AgentEvent, Compaction, ContextSettings, DelegationRequest, Kind, Observer, RunOptions, StopReason,
};
use toolkit_models::{Answer, Message, ModelError, Request, Scripted, ScriptedReply, ToolChoice};

fn is_summary(request: &Request) -> bool {
    match request.messages.last() {
        Some(Message::User(message)) => {
            message.content[0].as_text().is_some_and(|text| text.contains("has to be shortened"))
        }
        _ => false,
    }
}

fn turns(request: &Request) -> usize {
    request.messages.iter().filter(|message| matches!(message, Message::Assistant(_))).count()
}

/// A model that reads much, `reads` times, and writes the summary that `summary` returns.
fn reading(
    reads: usize,
    chars: usize,
    summary: impl Fn(usize) -> ScriptedReply + Send + Sync + 'static,
) -> Arc<Scripted> {
    let (count, summaries) = (AtomicUsize::new(0), AtomicUsize::new(0));
    Arc::new(Scripted::with(move |request| {
        if is_summary(request) {
            return summary(summaries.fetch_add(1, Ordering::SeqCst));
        }
        let number = count.fetch_add(1, Ordering::SeqCst);
        if number >= reads {
            return finish("read").into();
        }
        let id = number.to_string();
        Answer::calls([call(&id, "long", json!({"chars": chars, "mark": format!("mark-{number}")}))]).into()
    }))
}

fn window(tokens: u64) -> ContextSettings {
    ContextSettings::new().window_tokens(tokens)
}

#[tokio::test]
async fn old_results_are_shortened_first() {
    let model = reading(10, 6_000, |_| panic!("no summary is needed"));
    let agent = builder(&log(), &model).context(window(12_000)).build();
    let (events, observer) = watch();
    let result = agent.run(DelegationRequest::new("read the whole library"), observer).await;
    assert!(result.success, "{result:?}");
    let compactions: Vec<Compaction> = events
        .lock()
        .unwrap()
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Compacted { how, before, after } => {
                assert!(after < before);
                Some(*how)
            }
            _ => None,
        })
        .collect();
    assert!(!compactions.is_empty());
    assert!(compactions.iter().all(|how| *how == Compaction::Shortened), "{compactions:?}");
    let requests = model.requests();
    assert_requests_whole(&requests);
    // In steps: between two of them, a request begins with all of the one before.
    let extended = requests.windows(2).filter(|pair| pair[1].messages.starts_with(&pair[0].messages)).count();
    assert!(extended + compactions.len() >= requests.len() - 1);
    assert!(compactions.len() <= 3, "{compactions:?}");
}

#[tokio::test]
async fn then_older_messages_are_summarised_and_the_users_words_stay() {
    let model = reading(60, 1_500, |number| format!("summary number {number}").as_str().into());
    let (directory, transcripts) = transcripts();
    let agent = builder(&log(), &model)
        .limits(toolkit_agent::Limits::none())
        .context(window(6_000))
        .transcripts(transcripts.clone())
        .build();
    let request = DelegationRequest::new("read the whole library").with_expected_outcome("all is read");
    let mut session = agent.session(&request).unwrap();
    let id = session.id().to_owned();
    let steering = session.steering();
    let options = RunOptions::new().observer(move |event: AgentEvent| {
        if matches!(event, AgentEvent::TurnStarted { turn: 2 }) {
            steering.send("leave out the poems").unwrap();
        }
    });
    let result = session.run(request.clone(), options).await;
    assert!(result.success, "{result:?}");
    let requests = model.requests();
    assert_requests_whole(&requests);
    assert!(requests.iter().filter(|request| is_summary(request)).count() >= 2);
    for request in requests.iter().filter(|request| is_summary(request)) {
        assert_eq!(request.tool_choice, ToolChoice::None);
        // The same beginning as the requests before, so that the provider's cache holds.
        let before = requests.iter().take_while(|other| !std::ptr::eq(*other, request)).last().unwrap();
        assert_eq!(request.system, before.system);
        assert!(before.messages.starts_with(&request.messages[..request.messages.len() - 1]));
    }
    let last = requests.last().unwrap();
    assert_eq!(last.messages[0], Message::user(request.to_text()));
    assert!(last.messages.contains(&Message::user("leave out the poems")));
    let messages = session.messages();
    assert_messages_whole(&messages);
    assert_eq!(messages.iter().filter(|message| message.kind == Kind::Summary).count(), 1);
    drop(session);
    // The summary is resumed.
    assert_eq!(agent.resume(&id).unwrap().messages(), messages);
    drop(directory);
}

#[tokio::test]
async fn a_summary_that_fails_is_tried_of_less() {
    let lengths = Arc::new(std::sync::Mutex::new(Vec::new()));
    let model = reading(12, 1_500, |number| {
        if number < 2 {
            ModelError::ContextTooLong { model: "m".into(), message: "too long".into() }.into()
        } else {
            "a summary".into()
        }
    });
    let agent = builder(&log(), &model).context(window(6_000)).build();
    let result = agent.run(DelegationRequest::new("read"), Observer::none()).await;
    assert!(result.success, "{result:?}");
    let requests = model.requests();
    lengths
        .lock()
        .unwrap()
        .extend(requests.iter().filter(|request| is_summary(request)).map(|request| request.messages.len()));
    let lengths = lengths.lock().unwrap().clone();
    assert!(lengths[0] > lengths[1] && lengths[1] > lengths[2], "{lengths:?}");
    assert_requests_whole(&requests);
}

#[tokio::test]
async fn a_summary_that_always_fails_ends_the_run_with_the_transcript_kept() {
    let failures: [fn() -> ScriptedReply; 3] = [
        || ModelError::Quota { model: "m".into(), message: "no credit".into() }.into(),
        || "".into(),
        || "long ".repeat(20_000).as_str().into(),
    ];
    for failure in failures {
        let model = reading(100, 1_500, move |_| failure());
        let (_directory, transcripts) = transcripts();
        let agent = builder(&log(), &model).context(window(6_000)).transcripts(transcripts.clone()).build();
        let request = DelegationRequest::new("read");
        let mut session = agent.session(&request).unwrap();
        let result = session.run(request, RunOptions::new()).await;
        assert_eq!(result.stop_reason, StopReason::ContextFull, "{result:?}");
        assert!(result.summary.contains("could not be summarised"), "{}", result.summary);
        let messages = session.messages();
        assert_messages_whole(&messages);
        assert!(messages.len() > 5);
        let id = session.id().to_owned();
        drop(session);
        assert_eq!(transcripts.messages(&id).unwrap(), messages);
    }
}

#[tokio::test]
async fn a_conversation_that_cannot_be_shortened_ends() {
    // The task alone is too long.
    let model = reading(100, 100, |_| "a summary".into());
    let agent = builder(&log(), &model).context(window(1_000)).build();
    let result = agent.run(DelegationRequest::new("word ".repeat(5_000)), Observer::none()).await;
    assert_eq!(result.stop_reason, StopReason::ContextFull, "{result:?}");
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn a_single_result_that_is_too_long_is_cut() {
    let model = reading(2, 60_000, |_| "a summary".into());
    let agent = builder(&log(), &model).context(window(4_000)).build();
    let result = agent.run(DelegationRequest::new("read"), Observer::none()).await;
    assert!(result.success, "{result:?}");
    assert_requests_whole(&model.requests());
}

#[tokio::test]
async fn a_provider_that_finds_it_too_long_is_believed() {
    // Nobody has configured the size of the window.
    let model = Arc::new(Scripted::with(|request| {
        let size: usize = request.messages.iter().map(|message| format!("{message:?}").len()).sum();
        if is_summary(request) {
            return "a summary".into();
        }
        if size > 20_000 {
            return ModelError::ContextTooLong { model: "m".into(), message: "too long".into() }.into();
        }
        match turns(request) {
            _ if request.messages.iter().any(|message| format!("{message:?}").contains("a summary")) => {
                finish("read").into()
            }
            turn => Answer::calls([call(
                &turn.to_string(),
                "long",
                json!({"chars": 4_000, "mark": turn.to_string()}),
            )])
            .into(),
        }
    }));
    let agent = builder(&log(), &model).build();
    let (events, observer) = watch();
    let result = agent.run(DelegationRequest::new("read"), observer).await;
    assert!(result.success || result.stop_reason == StopReason::MaxTurns, "{result:?}");
    assert!(events.lock().unwrap().iter().any(|event| matches!(event, AgentEvent::Compacted { .. })));
    assert_requests_whole(&model.requests());
}

#[tokio::test]
async fn shortening_comes_to_an_end() {
    // Each answer fills the window anew, whatever was summarised.
    let model = Arc::new(Scripted::with(|request| {
        if is_summary(request) {
            return "word ".repeat(700).as_str().into();
        }
        Answer::text("word ".repeat(3_000)).into()
    }));
    let limits = toolkit_agent::Limits::none().max_turns(1_000);
    let agent = builder(&log(), &model).limits(limits).context(window(4_000)).build();
    let result = agent.run(DelegationRequest::new("talk"), Observer::none()).await;
    assert!(matches!(result.stop_reason, StopReason::ContextFull | StopReason::NoFinalAnswer), "{result:?}");
    assert!(model.requests().len() < 30, "{}", model.requests().len());
}

/// A toolkit of `count` tools whose definitions take about 150 tokens each.
fn many_tools(count: usize) -> toolkit::Builder {
    let mut builder = toolkit::Toolkit::empty();
    for number in 0..count {
        let name = if number == 7 { "transmit_invoice".to_owned() } else { format!("tool_{number:02}") };
        let about = if number == 7 { "Sends an invoice to a customer." } else { "Does something else." };
        let schema = json!({
            "type": "object",
            "properties": {"text": {"type": "string", "description": "What it is about. ".repeat(25)}},
            "additionalProperties": false
        });
        let tool = toolkit::Tool::builder(&name)
            .description(about)
            .input_schema(schema)
            .read_only()
            .build(move |_, _| async { "done" });
        builder = builder.tool(tool.unwrap());
    }
    builder
}

#[tokio::test]
async fn definitions_that_are_larger_than_the_window_are_deferred_and_found() {
    const WINDOW: u64 = 4_000;
    let names = |request: &Request| -> Vec<String> {
        request.tools.as_ref().unwrap().tools().iter().map(|tool| tool.name.clone()).collect()
    };
    let is_shown = move |request: &Request| names(request).contains(&"transmit_invoice".to_owned());
    let model = Arc::new(Scripted::with(move |request| match turns(request) {
        0 => Answer::calls([call("1", "tool_search", json!({"query": "invoices for customers"}))]).into(),
        1 => Answer::calls([call("2", "transmit_invoice", json!({"text": "a"}))]).into(),
        // The name that earlier transcripts have.
        2 => Answer::calls([call("3", "find_tools", json!({"query": "xyzzy"}))]).into(),
        // One that is not shown can be called all the same.
        3 => Answer::calls([call("4", "tool_40", json!({}))]).into(),
        _ => finish("sent").into(),
    }));
    let (_directory, transcripts) = transcripts();
    let agent = |model: &Arc<Scripted>| {
        toolkit_agent::Agent::builder(many_tools(50).build().unwrap(), Arc::clone(model))
            .context(window(WINDOW))
            .transcripts(transcripts.clone())
            .build()
    };
    let request = DelegationRequest::new("send an invoice");
    let mut session = agent(&model).session(&request).unwrap();
    let result = session.run(request, RunOptions::new()).await;
    assert!(result.success, "{result:?}");
    assert_eq!(result.tool_call_count, 4);
    let requests = model.requests();
    assert_requests_whole(&requests);
    let shown: Vec<bool> = requests.iter().map(&is_shown).collect();
    assert_eq!(shown, [false, true, true, true, true]);
    for pair in requests.windows(2) {
        assert!(names(&pair[1]).starts_with(&names(&pair[0])), "{:?} {:?}", names(&pair[0]), names(&pair[1]));
    }
    for request in &requests {
        let tokens = toolkit::text::estimated_tokens(&request.tools.as_ref().unwrap().to_json().to_string());
        assert!(tokens as u64 <= WINDOW * 45 / 100, "{tokens}");
    }
    let results = crate::common::results(&requests.last().unwrap().messages);
    let failed: Vec<bool> = results.iter().map(|(_, _, failed)| *failed).collect();
    assert_eq!(failed, [false, false, false, false]);
    assert!(results[0].1.contains("transmit_invoice(text"), "{results:?}");
    assert!(!names(&requests[0]).contains(&"find_tools".to_owned()));
    assert!(results[2].1.contains("Found no tool") && results[2].1.contains("tool_49"), "{results:?}");
    let id = session.id().to_owned();
    drop(session);

    // A conversation that is resumed has the tools that it called.
    let model = scripted([finish("again")]);
    let mut session = agent(&model).resume(&id).unwrap();
    assert!(session.run(DelegationRequest::new("once more"), RunOptions::new()).await.success);
    assert!(is_shown(&model.requests()[0]));

    // A window that is large enough shows them all.
    let model = scripted([finish("done")]);
    let agent = toolkit_agent::Agent::builder(many_tools(50).build().unwrap(), Arc::clone(&model))
        .context(window(100_000));
    assert!(agent.build().run(DelegationRequest::new("x"), Observer::none()).await.success);
    assert_eq!(names(&model.requests()[0]).len(), 52);
}

#[tokio::test]
async fn a_tool_with_the_name_of_the_search_keeps_it() {
    let own = toolkit::Tool::builder("tool_search").description("Searches the tool shed.").read_only();
    let own = own.build(|_, _| async { "a hammer" }).unwrap();
    let toolkit = many_tools(50).tool(own).build().unwrap();
    let model = scripted([
        Answer::calls([
            call("1", "tool_search", json!({})),
            call("2", "find_tools", json!({"query": "invoices"})),
        ]),
        finish("done"),
    ]);
    let agent = toolkit_agent::Agent::builder(toolkit, Arc::clone(&model)).context(window(4_000)).build();
    assert!(agent.run(DelegationRequest::new("x"), Observer::none()).await.success);
    let results = crate::common::results(&model.requests()[1].messages);
    assert_eq!(results[0].1, "a hammer");
    assert!(results[1].1.contains("transmit_invoice"), "{results:?}");
}
