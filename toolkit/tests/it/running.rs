//! How calls run beside each other: gates, limits, time, calls within calls.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
#![expect(clippy::needless_pass_by_value, reason = "a service is handed over by value")]

use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use toolkit::prelude::*;
use toolkit::{
    CallOptions, CancellationToken, ToolErrorKind, Toolbox,
    events::{Event, Progress},
    inspection::LoopGuard,
    tool_ref,
};

/// The events, in order.
#[derive(Default)]
struct Log {
    lines: Mutex<Vec<String>>,
    inside: AtomicUsize,
    most: AtomicUsize,
}

impl Log {
    fn write(&self, line: impl Into<String>) {
        self.lines.lock().unwrap().push(line.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }

    async fn stay(&self, name: &str, time: Duration) {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
        self.write(format!("+{name}"));
        sleep(time).await;
        self.write(format!("-{name}"));
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Reads for a while.
#[tool(read_only)]
async fn reads(log: State<Log>, name: String, #[arg(default = 10)] ms: u64) {
    log.stay(&name, Duration::from_millis(ms)).await;
}

/// Writes for a while.
#[tool]
async fn writes(log: State<Log>, name: String, #[arg(default = 10)] ms: u64) {
    log.stay(&name, Duration::from_millis(ms)).await;
}

/// Two at once at most.
#[tool(read_only, concurrency = 2)]
async fn narrow(ctx: &ToolContext, log: State<Log>, name: String, #[arg(default = 0)] deeper: u32) {
    log.stay(&name, Duration::from_millis(10)).await;
    if deeper > 0 {
        ctx.call("narrow", json!({"name": format!("{name}{deeper}"), "deeper": deeper - 1})).await.unwrap();
    }
}

/// Calls the tools it is told to, all at once.
#[tool]
async fn calls(ctx: &ToolContext, tools: Vec<(String, Value)>) -> Result<String, ToolError> {
    run_all(ctx, tools).await
}

/// Calls the tools it is told to, all at once, and says that it only reads.
#[tool(read_only)]
async fn calls_reading(ctx: &ToolContext, tools: Vec<(String, Value)>) -> Result<String, ToolError> {
    run_all(ctx, tools).await
}

async fn run_all(ctx: &ToolContext, tools: Vec<(String, Value)>) -> Result<String, ToolError> {
    let mut running: Vec<_> =
        tools.into_iter().map(|(name, arguments)| Box::pin(ctx.call(name, arguments))).collect();
    let mut texts = Vec::new();
    // In order, all polled: a poor man's join.
    let mut results: Vec<Option<Result<ToolOutput, ToolError>>> = running.iter().map(|_| None).collect();
    std::future::poll_fn(|task| {
        for (call, result) in running.iter_mut().zip(&mut results) {
            if result.is_none()
                && let std::task::Poll::Ready(ended) = call.as_mut().poll(task)
            {
                *result = Some(ended);
            }
        }
        if results.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    for result in results.into_iter().flatten() {
        texts.push(result?.to_text());
    }
    Ok(texts.join(", "))
}

/// Calls itself.
#[tool]
async fn recurses(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(ctx.call("recurses", json!({})).await?.to_text())
}

/// Takes its time.
#[tool(timeout = "5s")]
async fn slow(seconds: u64) -> String {
    sleep(Duration::from_secs(seconds)).await;
    "done".to_owned()
}

/// Takes its time on the blocking pool.
#[tool(timeout = "20ms", concurrency = 1)]
fn slow_blocking(ctx: &ToolContext, log: State<Log>) {
    while !ctx.is_cancelled() {
        std::thread::sleep(Duration::from_millis(1));
    }
    log.write("told");
}

/// Tells how far it is.
#[tool(read_only)]
async fn tells(ctx: &ToolContext, times: u32) -> ToolOutput {
    for time in 0..times {
        ctx.progress(Progress::new(time).with_total(times).with_message("counting"));
    }
    ctx.partial("half");
    ctx.set_title("Counted");
    ctx.set_metadata("times", times);
    ctx.set_metadata("mine", "told");
    ToolOutput::text("whole").with_metadata("mine", "stated")
}

fn toolkit() -> (Toolkit, Arc<Log>) {
    let log = Arc::new(Log::default());
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .loop_guard(LoopGuard::off())
        .tool(tool_ref!(reads))
        .tool(tool_ref!(writes))
        .tool(tool_ref!(narrow))
        .tool(tool_ref!(calls))
        .tool(tool_ref!(calls_reading))
        .tool(tool_ref!(recurses))
        .tool(tool_ref!(slow))
        .tool(tool_ref!(slow_blocking))
        .tool(tool_ref!(tells))
        .shared_service(Arc::clone(&log))
        .build()
        .unwrap();
    (toolkit, log)
}

async fn session(toolkit: &Toolkit, id: &str) -> Toolbox {
    toolkit.toolbox(&Caller::new().with_session(id)).await
}

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall::new(arguments["name"].as_str().unwrap_or("c").to_owned(), name, arguments)
}

fn named(kind: &str, name: &str) -> ToolCall {
    call(kind, json!({ "name": name }))
}

#[tokio::test(start_paused = true)]
async fn reading_together_others_alone_in_order() {
    let (toolkit, log) = toolkit();
    let toolbox = session(&toolkit, "s").await;
    let calls =
        [("reads", "a"), ("reads", "b"), ("writes", "c"), ("writes", "d"), ("reads", "e"), ("reads", "f")];
    let results = toolbox.call_all(calls.map(|(kind, name)| named(kind, name)), CallOptions::new()).await;
    assert_eq!(
        results.iter().map(|result| result.id.as_str()).collect::<Vec<_>>(),
        ["a", "b", "c", "d", "e", "f"]
    );
    assert_eq!(log.take(), ["+a", "+b", "-a", "-b", "+c", "-c", "+d", "-d", "+e", "+f", "-e", "-f"]);
}

#[tokio::test(start_paused = true)]
async fn one_gate_a_session_also_across_separate_calls() {
    let (toolkit, log) = toolkit();
    let (first, again, other) =
        (session(&toolkit, "s").await, session(&toolkit, "s").await, session(&toolkit, "other").await);
    tokio::join!(
        first.call(named("writes", "a")),
        again.call(named("writes", "b")),
        other.call(named("writes", "x")),
        async {
            assert!(
                first.call_all([named("reads", "c"), named("writes", "d")], CallOptions::new()).await.len()
                    == 2
            );
        },
    );
    let lines = log.take();
    let ours: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.ends_with('x')).collect();
    assert_eq!(ours, ["+a", "-a", "+b", "-b", "+c", "-c", "+d", "-d"]);
    let at = |line: &str| lines.iter().position(|other| other == line).unwrap();
    assert!(at("+x") < at("-a"), "another session has to wait: {lines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_writer_is_not_starved() {
    let (toolkit, log) = toolkit();
    let toolbox = session(&toolkit, "s").await;
    let readers = (0..1000).map(|n| call("reads", json!({"name": format!("r{n}"), "ms": 5 + n % 7})));
    let mut all: Vec<ToolCall> = readers.collect();
    all.insert(500, named("writes", "w"));
    toolbox.call_all(all, CallOptions::new()).await;
    let lines = log.take();
    let at = |line: &str| lines.iter().position(|other| other == line).unwrap();
    assert_eq!(at("+w"), 1000, "those before it come and go first");
    assert_eq!(at("-w"), 1001);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_its_turn_can_be_cancelled_and_dropped() {
    let (toolkit, log) = toolkit();
    let toolbox = session(&toolkit, "s").await;
    let cancel = CancellationToken::new();
    let first = toolbox.call(call("writes", json!({"name": "long", "ms": 1000})));
    let waiting = toolbox.call_with(named("writes", "cancelled"), cancel.clone());
    let dropped = tokio::time::timeout(Duration::from_millis(5), toolbox.call(named("writes", "dropped")));
    let (_, waited, gone, ()) = tokio::join!(first, waiting, dropped, async {
        sleep(Duration::from_millis(10)).await;
        cancel.cancel();
    });
    assert_eq!(waited.error().unwrap().kind(), ToolErrorKind::Aborted);
    assert!(gone.is_err());
    toolbox.call(named("writes", "next")).await;
    assert_eq!(log.take(), ["+long", "-long", "+next", "-next"]);
}

#[tokio::test(start_paused = true)]
async fn as_many_at_once_as_the_tool_says() {
    let (toolkit, log) = toolkit();
    let boxes = [session(&toolkit, "s").await, session(&toolkit, "t").await];
    let all = |toolbox: Toolbox| async move {
        let calls = (0..5).map(|n| named("narrow", &format!("{n}")));
        toolbox.call_all(calls, CallOptions::new()).await
    };
    let [first, second] = boxes;
    let (one, two) = tokio::join!(all(first), all(second));
    assert!(one.iter().chain(&two).all(|result| !result.is_error()));
    assert_eq!(log.most.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_limited_tool_that_calls_itself_does_not_wait_for_itself() {
    let (toolkit, log) = toolkit();
    let toolbox = session(&toolkit, "s").await;
    let calls = (0..6).map(|n| call("narrow", json!({"name": format!("{n}."), "deeper": 3})));
    let all = toolbox.call_all(calls, CallOptions::new());
    let results = tokio::time::timeout(Duration::from_mins(1), all).await.expect("they wait for each other");
    assert!(results.iter().all(|result| !result.is_error()), "{results:?}");
    assert_eq!(log.most.load(Ordering::SeqCst), 2);
    // Every place came back.
    let after = (0..2).map(|n| named("narrow", &format!("after{n}")));
    toolbox.call_all(after, CallOptions::new()).await;
    let lines = log.take();
    assert_eq!(lines[lines.len() - 4..], ["+after0", "+after1", "-after0", "-after1"]);
}

#[tokio::test(start_paused = true)]
async fn calls_within_a_call_are_let_through_alike() {
    let (toolkit, log) = toolkit();
    let toolbox = session(&toolkit, "s").await;
    let tools = json!([
        ["reads", {"name": "a"}], ["reads", {"name": "b"}], ["writes", {"name": "c"}], ["reads", {"name": "d"}],
    ]);
    let mut events = toolbox.events();
    let outer = toolbox.call(call("calls", json!({ "tools": tools })));
    let (result, _) = tokio::join!(outer, toolbox.call(named("reads", "outside")));
    let mut ids = Vec::new();
    while let Some(event) = events.try_next() {
        if event.event == Event::Started {
            ids.push(event.call_id);
        }
    }
    assert_eq!(ids, ["c", "c/1", "c/2", "c/3", "c/4", "outside"]);
    assert_eq!(result.text(), "Done., Done., Done., Done.");
    assert_eq!(log.take(), ["+a", "+b", "-a", "-b", "+c", "-c", "+d", "-d", "+outside", "-outside"]);
}

#[tokio::test(start_paused = true)]
async fn what_only_reads_cannot_write_by_a_detour() {
    let (toolkit, log) = toolkit();
    let toolbox = session(&toolkit, "s").await;
    let result = toolbox.call(call("calls_reading", json!({"tools": [["writes", {"name": "a"}]]}))).await;
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied);
    assert_eq!(
        result.text(),
        "`writes` may change something, and a tool that is declared `read_only` cannot call it; call `writes` by itself \
         (the author of the calling tool can declare it `auto_execute` instead)"
    );
    // Nor two steps away.
    let nested =
        json!({"tools": [["calls_reading", {"tools": [["calls", {"tools": [["writes", {"name": "a"}]]}]]}]]});
    assert!(toolbox.call(call("calls_reading", nested)).await.is_error());
    let reading = json!({"tools": [["calls_reading", {"tools": [["reads", {"name": "ok"}]]}]]});
    assert_eq!(toolbox.call(call("calls", reading)).await.text(), "Done.");
    assert_eq!(log.take(), ["+ok", "-ok"]);
}

#[tokio::test]
async fn calls_go_only_so_deep() {
    let (toolkit, _) = toolkit();
    let result = session(&toolkit, "s").await.call(call("recurses", json!({}))).await;
    assert_eq!(
        result.text(),
        "tool calls are nested 16 deep, the maximum, so `recurses` cannot call `recurses`"
    );
}

#[tokio::test(start_paused = true)]
async fn time_limits() {
    let (toolkit, _) = toolkit();
    let toolbox = session(&toolkit, "s").await;
    assert_eq!(toolbox.call(call("slow", json!({"seconds": 4}))).await.text(), "done");
    let began = Instant::now();
    let late = toolbox.call(call("slow", json!({"seconds": 6}))).await;
    assert_eq!(late.error().unwrap().kind(), ToolErrorKind::TimedOut);
    assert_eq!(began.elapsed().as_secs(), 5);
    assert_eq!(
        late.text(),
        "`slow` did not finish within 5s and was stopped; its effects so far remain. Request less in one call"
    );
    let longer = CallOptions::new().timeout(Duration::MAX);
    assert_eq!(toolbox.call_with(call("slow", json!({"seconds": 100_000})), longer).await.text(), "done");
    // The host's default holds for a tool that says nothing.
    let began = Instant::now();
    let default = toolbox.call(call("writes", json!({"name": "a", "ms": 10_000_000}))).await;
    assert_eq!(default.error().unwrap().kind(), ToolErrorKind::TimedOut);
    assert_eq!(began.elapsed().as_secs(), 600);
    let short = Toolkit::empty()
        .without_asking_first()
        .tool(tool_ref!(writes).with_state(Log::default()))
        .timeout(Duration::from_secs(1))
        .build()
        .unwrap();
    let began = Instant::now();
    session(&short, "s").await.call(call("writes", json!({"name": "a", "ms": 10_000}))).await;
    assert_eq!(began.elapsed().as_secs(), 1);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_turn_is_not_counted() {
    let (toolkit, _) = toolkit();
    let toolbox = session(&toolkit, "s").await;
    let results =
        toolbox.call_all((0..5).map(|_| call("slow", json!({"seconds": 4}))), CallOptions::new()).await;
    assert!(results.iter().all(|result| result.text() == "done"), "{results:?}");
}

#[tokio::test]
async fn a_blocking_tool_that_is_late_is_told_and_keeps_its_place() {
    let (toolkit, log) = toolkit();
    let toolbox = session(&toolkit, "s").await;
    let first = toolbox.call(call("slow_blocking", json!({}))).await;
    assert!(first.text().contains("was told to stop"), "{first:?}");
    let second = toolbox.call(call("slow_blocking", json!({}))).await;
    assert_eq!(second.error().unwrap().kind(), ToolErrorKind::TimedOut);
    assert_eq!(log.take()[0], "told", "the second began before the first had ended");
}

#[tokio::test]
async fn events_tell_what_happens() {
    let (toolkit, _) = toolkit();
    let toolbox = session(&toolkit, "s").await;
    let (mut all, mut ours, mut others) =
        (toolkit.events(), toolbox.events(), session(&toolkit, "other").await.events());
    let result = toolbox.call(call("tells", json!({"times": 2}))).await;
    let mut seen = Vec::new();
    while let Some(event) = ours.try_next() {
        assert_eq!((event.tool.as_str(), event.session_id.as_deref()), ("tells", Some("s")));
        seen.push(event.event);
    }
    assert_eq!(seen.len(), 8, "{seen:?}");
    assert_eq!(seen[0], Event::Started);
    assert_eq!(seen[1], Event::Progress(Progress::new(0).with_total(2).with_message("counting")));
    assert_eq!(seen[3], Event::Partial { content: Content::text("half") });
    assert!(matches!(&seen[4], Event::Metadata { title: Some(title), .. } if title == "Counted"));
    assert!(matches!(&seen[6], Event::Metadata { metadata, .. } if metadata["times"] == 2));
    assert!(matches!(&seen[7], Event::Finished { result: told, .. } if **told == result));
    let output = result.output().unwrap();
    assert_eq!(output.title.as_deref(), Some("Counted"));
    assert_eq!((&output.metadata["times"], &output.metadata["mine"]), (&json!(2), &json!("stated")));
    assert!(all.try_next().is_some());
    assert!(others.try_next().is_none());
    // A call that is refused has an end and no start.
    while ours.try_next().is_some() {}
    toolbox.call(call("tells", json!({"times": "x"}))).await;
    assert!(matches!(ours.try_next().unwrap().event, Event::Finished { .. }));
    assert!(ours.try_next().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_interrupted() {
    let (toolkit, log) = toolkit();
    let toolbox = session(&toolkit, "s").await;
    let mut events = toolbox.events();
    let nested = json!({"tools": [["writes", {"name": "inner", "ms": 1000}]]});
    let _ = tokio::time::timeout(Duration::from_millis(5), toolbox.call(call("calls", nested))).await;
    let mut ends = Vec::new();
    while let Some(event) = events.try_next() {
        if matches!(event.event, Event::Interrupted | Event::Finished { .. }) {
            ends.push((event.call_id, event.event));
        }
    }
    assert_eq!(ends, [("c/1".to_owned(), Event::Interrupted), ("c".to_owned(), Event::Interrupted)]);
    assert_eq!(log.take(), ["+inner"]);
    toolbox.call(named("writes", "after")).await;
    assert_eq!(log.take(), ["+after", "-after"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_sessions_at_once_keep_their_order() {
    /// Notes in which order a session's calls ran.
    #[tool]
    async fn notes(ctx: &ToolContext, number: usize, gate: State<Semaphore>) {
        let _ = gate.acquire().await;
        tokio::task::yield_now().await;
        ctx.session_state::<Mutex<Vec<usize>>>().lock().unwrap().push(number);
    }
    /// Returns the recorded events.
    #[tool(read_only)]
    async fn noted(ctx: &ToolContext) -> Json<Vec<usize>> {
        Json(ctx.session_state::<Mutex<Vec<usize>>>().lock().unwrap().clone())
    }
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .tool(tool_ref!(notes))
        .tool(tool_ref!(noted))
        .service(Semaphore::new(3))
        .build()
        .unwrap();
    let mut tasks = Vec::new();
    for id in 0..16 {
        let toolbox = session(&toolkit, &format!("s{id}")).await;
        tasks.push(tokio::spawn(async move {
            let calls = (0..50).map(|number| call("notes", json!({ "number": number })));
            toolbox.call_all(calls, CallOptions::new()).await;
            toolbox.call(call("noted", json!({}))).await.details().unwrap()
        }));
    }
    for task in tasks {
        assert_eq!(task.await.unwrap(), json!((0..50).collect::<Vec<_>>()));
    }
}
