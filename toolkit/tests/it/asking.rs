//! Calls that ask: what goes on meanwhile, and what comes back.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use toolkit::prelude::*;
use toolkit::{
    Ask, CallOptions, CancellationToken, ToolErrorKind, ToolResult, Toolbox,
    approval::{Answer, CallbackApprover, PendingAsk},
    events::Event,
    tool_ref,
};

type Log = Mutex<Vec<String>>;

fn note(log: &Log, line: impl Into<String>) {
    log.lock().unwrap().push(line.into());
}

/// Asks, then writes for a while.
#[tool(timeout = "10s")]
async fn asks(ctx: &ToolContext, log: State<Log>, name: String) -> Result<String, ToolError> {
    note(&log, format!("?{name}"));
    ctx.ask(Ask::new("edit", name.clone()).with_pattern("src/lib.rs")).await?;
    note(&log, format!("+{name}"));
    sleep(Duration::from_secs(1)).await;
    note(&log, format!("-{name}"));
    Ok("done".to_owned())
}

/// Asks, one at a time.
#[tool(concurrency = 1, read_only)]
async fn asks_alone(ctx: &ToolContext, log: State<Log>, name: String) -> Result<(), ToolError> {
    ctx.ask(Ask::new("edit", name.clone())).await?;
    note(&log, format!("+{name}"));
    sleep(Duration::from_secs(1)).await;
    note(&log, format!("-{name}"));
    Ok(())
}

/// Writes for a while.
#[tool]
async fn writes(log: State<Log>, name: String) {
    note(&log, format!("+{name}"));
    sleep(Duration::from_secs(1)).await;
    note(&log, format!("-{name}"));
}

/// Has another tool ask.
#[tool(timeout = "10s")]
async fn delegates(ctx: &ToolContext, log: State<Log>, names: Vec<String>) -> Result<String, ToolError> {
    let calls = names.iter().map(|name| ctx.call("asks", json!({ "name": name })));
    let mut calls: Vec<_> = calls.map(Box::pin).collect();
    // All are begun before one is waited for.
    std::future::poll_fn(|task| {
        for call in &mut calls {
            assert!(call.as_mut().poll(task).is_pending());
        }
        std::task::Poll::Ready(())
    })
    .await;
    for call in calls {
        call.await?;
    }
    note(&log, "delegated");
    Ok("done".to_owned())
}

/// Asks, and goes on without an answer.
#[tool]
async fn impatient(ctx: &ToolContext, log: State<Log>) -> String {
    let answer = timeout(Duration::from_secs(2), ctx.ask(Ask::new("edit", "quickly"))).await;
    note(&log, "+impatient");
    sleep(Duration::from_secs(1)).await;
    note(&log, "-impatient");
    if answer.is_err() { "went on" } else { "answered" }.to_owned()
}

#[toolkit::args]
#[derive(Debug, PartialEq)]
struct Deploy {
    /// Where to.
    host: String,
    /// Which port.
    port: Option<u16>,
}

/// Asks for values.
#[tool]
async fn wants(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(format!("{:?}", ctx.elicit::<Deploy>("Where shall it go?").await?))
}

/// Asks for what no form can hold.
#[tool]
async fn wants_too_much(ctx: &ToolContext) -> Result<String, ToolError> {
    #[toolkit::args]
    #[derive(Debug)]
    struct Deep {
        /// Places.
        places: Vec<Deploy>,
    }
    Ok(format!("{:?}", ctx.elicit::<Deep>("Where?").await?))
}

struct Fixture {
    toolkit: Toolkit,
    log: Arc<Log>,
}

/// Whoever is asked says nothing: answers come through the list.
fn fixture() -> Fixture {
    let log = Arc::new(Log::default());
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .tool(tool_ref!(asks))
        .tool(tool_ref!(asks_alone))
        .tool(tool_ref!(writes))
        .tool(tool_ref!(delegates))
        .tool(tool_ref!(impatient))
        .tool(tool_ref!(wants))
        .tool(tool_ref!(wants_too_much))
        .shared_service(Arc::clone(&log))
        .approver(CallbackApprover::new(|_: &PendingAsk| None))
        .build()
        .unwrap();
    Fixture { toolkit, log }
}

impl Fixture {
    async fn toolbox(&self) -> Toolbox {
        self.toolkit.toolbox(&Caller::new().with_session("s")).await
    }

    async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        self.toolbox().await.call(ToolCall::new("c", name, arguments)).await
    }

    fn named(&self, kind: &'static str, name: &str) -> impl Future<Output = ToolResult> {
        let arguments = json!({ "name": name });
        async move { self.call(kind, arguments).await }
    }

    /// Answers the question with this title once it is asked.
    async fn answer(&self, title: &str, answer: Answer) {
        loop {
            let list = self.toolkit.asks().list(Some("s"));
            let is_it = |ask: &&PendingAsk| match ask.question() {
                toolkit::approval::Question::Approve(ask) => ask.title == title,
                _ => title.is_empty(),
            };
            if let Some(ask) = list.iter().find(is_it) {
                self.toolkit.asks().answer(ask.id(), answer).unwrap();
                return;
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }
}

#[tokio::test(start_paused = true)]
async fn others_go_on_while_a_person_thinks() {
    let fixture = fixture();
    let (first, _, ()) = tokio::join!(fixture.named("asks", "a"), fixture.named("writes", "b"), async {
        sleep(Duration::from_hours(1)).await;
        fixture.answer("a", Answer::allow()).await;
    });
    assert_eq!(first.text(), "done", "an hour of thinking is no time of the call's");
    assert_eq!(fixture.lines(), ["?a", "+b", "-b", "+a", "-a"]);
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_back_waits_for_its_turn() {
    let fixture = fixture();
    let (first, ..) = tokio::join!(
        fixture.named("asks", "a"),
        fixture.named("writes", "b"),
        fixture.named("writes", "c"),
        async {
            sleep(Duration::from_millis(500)).await;
            fixture.answer("a", Answer::allow()).await;
        }
    );
    assert!(!first.is_error());
    assert_eq!(fixture.lines(), ["?a", "+b", "-b", "+c", "-c", "+a", "-a"]);
}

#[tokio::test(start_paused = true)]
async fn the_clock_goes_on_after_the_answer() {
    let fixture = fixture();
    let began = Instant::now();
    let options = CallOptions::new().timeout(Duration::from_millis(1500));
    let toolbox = fixture.toolbox().await;
    let call = |name| ToolCall::new("c", "asks", json!({ "name": name }));
    let (in_time, ()) = tokio::join!(toolbox.call_with(call("a"), options.clone()), async {
        sleep(Duration::from_mins(1)).await;
        fixture.answer("a", Answer::allow()).await;
    });
    assert_eq!(in_time.text(), "done");
    let options = CallOptions::new().timeout(Duration::from_millis(500));
    let (late, ()) = tokio::join!(toolbox.call_with(call("b"), options), async {
        sleep(Duration::from_mins(1)).await;
        fixture.answer("b", Answer::allow()).await;
    });
    assert_eq!(late.error().unwrap().kind(), ToolErrorKind::TimedOut);
    assert!(began.elapsed() < Duration::from_secs(125), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_place_among_the_calls_of_a_tool_is_free_meanwhile() {
    let fixture = fixture();
    let (_, _, ()) =
        tokio::join!(fixture.named("asks_alone", "a"), fixture.named("asks_alone", "b"), async {
            fixture.answer("b", Answer::allow()).await;
            fixture.answer("a", Answer::allow()).await;
        });
    assert_eq!(fixture.lines(), ["+b", "-b", "+a", "-a"], "one at a time all the same");
}

#[tokio::test(start_paused = true)]
async fn a_call_within_a_call_frees_the_gate_too() {
    let fixture = fixture();
    let call = fixture.call("delegates", json!({"names": ["a"]}));
    let (result, _, ()) = tokio::join!(call, fixture.named("writes", "b"), async {
        sleep(Duration::from_hours(1)).await;
        fixture.answer("a", Answer::allow()).await;
    });
    assert_eq!(result.text(), "done", "the outer call's clock stands still too");
    assert_eq!(fixture.lines(), ["?a", "+b", "-b", "+a", "-a", "delegated"]);
    assert_eq!(fixture.named("writes", "after").await.text(), "Done.");
}

#[tokio::test(start_paused = true)]
async fn calls_within_a_call_that_ask_at_once_still_run_alone() {
    let fixture = fixture();
    let call = fixture.call("delegates", json!({"names": ["a", "b"]}));
    let (result, ()) = tokio::join!(call, async {
        fixture.answer("a", Answer::allow()).await;
        fixture.answer("b", Answer::allow()).await;
    });
    assert_eq!(result.text(), "done");
    let lines = fixture.lines();
    assert!(lines == ["?a", "?b", "+a", "-a", "+b", "-b", "delegated"], "{lines:?}");
}

/// Begins a call that asks, leaves it, and makes another one.
#[tool]
async fn distracted(ctx: &ToolContext) -> Result<String, ToolError> {
    let mut asking = std::pin::pin!(ctx.call("asks", json!({"name": "a"})));
    tokio::select! {
        _ = &mut asking => {}
        () = sleep(Duration::from_mins(1)) => {}
    }
    let other = ctx.call("writes", json!({"name": "b"})).await?;
    let asked = asking.await?;
    Ok(format!("{} {}", asked.to_text(), other.to_text()))
}

#[tokio::test(start_paused = true)]
async fn a_call_does_not_wait_for_one_that_nobody_polls() {
    let mut fixture = fixture();
    let log = Arc::clone(&fixture.log);
    fixture.toolkit = Toolkit::empty()
        .without_asking_first()
        .tool(tool_ref!(asks))
        .tool(tool_ref!(writes))
        .tool(tool_ref!(distracted))
        .shared_service(log)
        .approver(CallbackApprover::new(|_: &PendingAsk| None))
        .build()
        .unwrap();
    let call = timeout(Duration::from_hours(1), fixture.call("distracted", json!({})));
    let (result, ()) = tokio::join!(call, async {
        sleep(Duration::from_secs(90)).await;
        fixture.answer("a", Answer::allow()).await;
    });
    assert_eq!(result.expect("they wait for each other").text(), "done Done.");
    assert_eq!(fixture.lines(), ["?a", "+b", "-b", "+a", "-a"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_gives_up_asking_goes_on_in_its_turn() {
    let fixture = fixture();
    let call = fixture.call("impatient", json!({}));
    let others = async {
        sleep(Duration::from_millis(1500)).await;
        fixture.named("writes", "b").await
    };
    let (result, _) = tokio::join!(call, others);
    assert_eq!(result.text(), "went on");
    // It goes on at once as far as its next await, and from there in its turn.
    assert_eq!(fixture.lines(), ["+b", "+impatient", "-b", "-impatient"]);
    assert!(fixture.toolkit.asks().list(None).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_question_can_be_seen_refused_and_cancelled() {
    let fixture = fixture();
    let mut events = fixture.toolkit.events();
    let (denied, ()) =
        tokio::join!(fixture.named("asks", "a"), fixture.answer("a", Answer::deny_saying("not on a Friday")));
    assert_eq!(denied.error().unwrap().kind(), ToolErrorKind::Denied);
    assert!(denied.text().contains("not on a Friday"), "{denied:?}");
    let mut asked = Vec::new();
    while let Some(event) = events.try_next() {
        if let Event::Asked { ask } = event.event {
            asked.push((ask.origin().tool.clone(), ask.origin().session_id.clone()));
        }
    }
    assert_eq!(asked, [("asks".to_owned(), Some("s".to_owned()))]);

    let cancel = CancellationToken::new();
    let call = ToolCall::new("c", "asks", json!({"name": "b"}));
    let toolbox = fixture.toolbox().await;
    let (cancelled, ()) = tokio::join!(toolbox.call_with(call, cancel.clone()), async {
        sleep(Duration::from_mins(1)).await;
        assert_eq!(fixture.toolkit.asks().list(None).len(), 1);
        cancel.cancel();
    });
    assert_eq!(cancelled.error().unwrap().kind(), ToolErrorKind::Aborted);
    assert!(fixture.toolkit.asks().list(None).is_empty());
}

#[tokio::test(start_paused = true)]
async fn values_come_typed() {
    let fixture = fixture();
    for (answer, expected) in [
        (
            Answer::value(json!({"host": "a", "port": 80})),
            Ok(r#"Some(Deploy { host: "a", port: Some(80) })"#),
        ),
        (Answer::value(json!({"host": "a"})), Ok(r#"Some(Deploy { host: "a", port: None })"#)),
        (Answer::Declined, Ok("None")),
        (Answer::Cancelled, Err(ToolErrorKind::Aborted)),
    ] {
        let (result, ()) = tokio::join!(fixture.call("wants", json!({})), fixture.answer("", answer.clone()));
        let outcome = result.error().map_or(Ok(result.text()), |error| Err(error.kind()));
        assert_eq!(outcome, expected.map(str::to_owned), "{answer:?}");
    }
    let result = fixture.call("wants_too_much", json!({})).await;
    assert!(result.text().contains("places"), "{}", result.text());
}

#[tokio::test]
async fn without_an_approver_the_answer_is_no() {
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .tool(tool_ref!(asks).with_state(Log::default()))
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let result = toolbox.call(ToolCall::new("c", "asks", json!({"name": "a"}))).await;
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied);
    assert!(result.text().contains("approver"), "{}", result.text());
}

#[tokio::test(start_paused = true)]
async fn a_call_can_have_an_approver_of_its_own() {
    let fixture = fixture();
    let toolbox = fixture.toolbox().await;
    let call = |id: &str, arguments: Value| match id {
        "delegates" => ToolCall::new(id, "delegates", json!({ "names": [arguments] })),
        _ => ToolCall::new(id, id, arguments),
    };
    let asked = Arc::new(Log::default());
    let approver = |answer: Answer| {
        let asked = Arc::clone(&asked);
        CallbackApprover::new(move |ask: &PendingAsk| {
            note(&asked, ask.origin().call_id.clone());
            Some(answer.clone())
        })
    };
    for (call, answer, is_done) in [
        (call("asks", json!({"name": "a"})), Answer::allow(), true),
        (call("asks", json!({"name": "b"})), Answer::deny(), false),
        // Calls that it makes ask there too, and so does what asks for values.
        (call("delegates", json!("c")), Answer::allow(), true),
        (call("delegates", json!("d")), Answer::deny(), false),
        (call("wants", json!({})), Answer::Declined, true),
    ] {
        let result = toolbox.call_with(call, CallOptions::new().approver(approver(answer))).await;
        assert_eq!(!result.is_error(), is_done, "{result:?}");
    }
    assert_eq!(*asked.lock().unwrap(), ["asks", "asks", "delegates/1", "delegates/1", "wants"]);
    // Others have the toolkit's.
    let (result, ()) = tokio::join!(fixture.named("asks", "e"), fixture.answer("e", Answer::allow()));
    assert_eq!(result.text(), "done");
    assert_eq!(asked.lock().unwrap().len(), 5);
}
