//! Whose turn it is where calls ask, call and are cancelled at the same time: nobody waits for ever, nobody goes out of turn.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
#![expect(clippy::needless_pass_by_value, reason = "a service is handed over by value")]

use serde_json::{Value, json};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use toolkit::prelude::*;
use toolkit::{
    Ask, Builder, CallOptions, CancellationToken, ToolErrorKind,
    approval::{Answer, CallbackApprover, PendingAsk, ScriptedApprover},
    events::{Event, Events, Progress},
    history::{History, Record},
    policy::{Policy, Refusal},
    tool_ref,
};

/// The events, in order.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn write(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    async fn stay(&self, name: &str, ms: u64) {
        self.write(format!("+{name}"));
        sleep(Duration::from_millis(ms)).await;
        self.write(format!("-{name}"));
    }
}

/// Writes for a while.
#[tool]
async fn writes(log: State<Log>, name: String, #[arg(default = 10)] ms: u64) {
    log.stay(&name, ms).await;
}

/// Never ends, and needs no timer for it.
#[tool]
async fn hangs() {
    std::future::pending::<()>().await;
}

/// Runs for a while, one at a time; or has two tasks call it, the second one a little later.
#[tool(concurrency = 1, read_only)]
async fn forks(ctx: &ToolContext, log: State<Log>, name: String, ms: u64) -> Result<(), ToolError> {
    if ms > 0 {
        log.stay(&name, ms).await;
        return Ok(());
    }
    let branch = |name: &'static str, after: u64| {
        let ctx = ctx.clone();
        tokio::spawn(async move {
            sleep(Duration::from_millis(after)).await;
            ctx.call("forks", json!({ "name": name, "ms": 10 })).await
        })
    };
    let (one, two) = (branch("one", 0), branch("two", 50));
    one.await??;
    two.await??;
    Ok(())
}

/// Has a tool write, and asks meanwhile.
#[tool]
async fn writes_and_asks(ctx: &ToolContext) -> Result<(), ToolError> {
    let writing = ctx.call("writes", json!({ "name": "inner", "ms": 50 }));
    let (written, asked) = tokio::join!(writing, ctx.ask(Ask::new("edit", "this too")));
    written?;
    asked
}

/// Leaves a task behind that asks, and tells how far it is.
#[tool]
async fn leaves_a_task(ctx: &ToolContext, log: State<Log>, left: State<Notify>) {
    let (ctx, log, left) = (ctx.clone(), log.clone(), left.clone());
    tokio::spawn(async move {
        let error = ctx.ask(Ask::new("edit", "later")).await.unwrap_err();
        log.write(error.kind().to_string());
        ctx.progress(Progress::new(1.0));
        ctx.set_title("late");
        ctx.partial("late");
        for again in [
            ctx.ask(Ask::new("edit", "again")).await,
            ctx.call("writes", json!({ "name": "late" })).await.map(drop),
        ] {
            log.write(again.unwrap_err().kind().to_string());
        }
        left.notify_one();
    });
    // It asks.
    sleep(Duration::from_millis(10)).await;
}

/// Asks on a thread of its own.
#[tool]
fn asks_blocking(ctx: &ToolContext, log: State<Log>, left: State<Notify>) -> Result<String, ToolError> {
    let answer = Handle::current().block_on(ctx.ask(Ask::new("edit", "blocking")));
    log.write(answer.as_ref().map_or_else(|error| error.kind().to_string(), |()| "allowed".to_owned()));
    left.notify_one();
    answer.map(|()| "done".to_owned())
}

/// Calls itself from a thread of its own, one at a time.
#[tool(concurrency = 1, read_only)]
fn recurses_blocking(ctx: &ToolContext, log: State<Log>, deeper: u32) -> Result<(), ToolError> {
    log.write(format!("{deeper}"));
    if deeper > 0 {
        Handle::current().block_on(ctx.call("recurses_blocking", json!({ "deeper": deeper - 1 })))?;
    }
    Ok(())
}

fn toolkit(build: impl FnOnce(Builder) -> Builder) -> (Toolkit, Arc<Log>) {
    let log = Arc::new(Log::default());
    let builder =
        Toolkit::empty().without_asking_first().tool(tool_ref!(writes)).shared_service(Arc::clone(&log));
    (build(builder).build().unwrap(), log)
}

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall::new("c", name, arguments)
}

fn write(name: &str) -> ToolCall {
    call("writes", json!({ "name": name }))
}

async fn session(toolkit: &Toolkit) -> toolkit::Toolbox {
    toolkit.toolbox(&Caller::new().with_session("s")).await
}

/// Nobody who is asked answers but through the list.
fn silent() -> CallbackApprover {
    CallbackApprover::new(|_: &PendingAsk| None)
}

/// The first of its calls ends while another call has the place, and the second one wants it before it is back.
#[tokio::test(start_paused = true)]
async fn a_limited_tool_with_several_calls_of_its_own_does_not_wait_for_itself() {
    let (toolkit, log) = toolkit(|builder| builder.tool(tool_ref!(forks)));
    let toolbox = session(&toolkit).await;
    let forks = |name: &str, ms: u64| toolbox.call(call("forks", json!({ "name": name, "ms": ms })));
    let other = async {
        sleep(Duration::from_millis(5)).await;
        forks("other", 100).await
    };
    let both = async { tokio::join!(forks("outer", 0), other) };
    let (result, _) = timeout(Duration::from_mins(1), both).await.expect("it waits for itself");
    assert!(!result.is_error(), "{result:?}");
    assert_eq!(log.take(), ["+one", "-one", "+other", "-other", "+two", "-two"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_answered_at_once_gives_nothing_away() {
    let (toolkit, log) = toolkit(|builder| {
        builder.tool(tool_ref!(writes_and_asks)).approver(ScriptedApprover::always(Answer::allow()))
    });
    let toolbox = session(&toolkit).await;
    toolbox.call_all([call("writes_and_asks", json!({})), write("other")], CallOptions::new()).await;
    assert_eq!(log.take(), ["+inner", "-inner", "+other", "-other"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_gives_the_turn_away_once_no_call_needs_it() {
    let (toolkit, log) = toolkit(|builder| builder.tool(tool_ref!(writes_and_asks)).approver(silent()));
    let toolbox = session(&toolkit).await;
    let asking = toolbox.call(call("writes_and_asks", json!({})));
    let (asked, _, ()) = tokio::join!(asking, toolbox.call(write("other")), async {
        sleep(Duration::from_mins(1)).await;
        log.write("answered");
        let id = toolkit.asks().list(None)[0].id().to_owned();
        toolkit.asks().answer(&id, Answer::allow()).unwrap();
    });
    assert!(!asked.is_error());
    assert_eq!(log.take(), ["+inner", "-inner", "+other", "-other", "answered"]);
}

#[tokio::test(start_paused = true)]
async fn whoever_outlives_the_call_neither_asks_nor_tells() {
    let left = Arc::new(Notify::new());
    let (toolkit, log) = toolkit(|builder| {
        builder.tool(tool_ref!(leaves_a_task)).shared_service(Arc::clone(&left)).approver(silent())
    });
    let toolbox = session(&toolkit).await;
    let mut events = toolkit.events();
    toolbox.call(call("leaves_a_task", json!({}))).await;
    timeout(Duration::from_hours(1), left.notified()).await.expect("it waits for an answer");
    assert_eq!(log.take(), ["aborted", "aborted", "aborted"]);
    assert!(toolkit.asks().list(None).is_empty());
    let names = events_of(&mut events, "c");
    assert_eq!(names, ["started", "asked", "finished"]);
}

fn events_of(events: &mut Events, id: &str) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(event) = events.try_next() {
        if event.call_id == id {
            let name = match event.event {
                Event::Finished { .. } => "finished".to_owned(),
                other => serde_json::to_value(other).unwrap()["event"].as_str().unwrap().to_owned(),
            };
            names.push(name);
        }
    }
    names
}

/// The error of a thread that asks when its call is cancelled: while it waits for the answer, or for its turn after it.
#[tokio::test]
async fn a_thread_that_asks_is_let_go_with_its_call() {
    for is_answered in [false, true] {
        let left = Arc::new(Notify::new());
        let (toolkit, log) = toolkit(|builder| {
            builder.tool(tool_ref!(asks_blocking)).shared_service(Arc::clone(&left)).approver(silent())
        });
        let toolbox = session(&toolkit).await;
        let cancel = CancellationToken::new();
        let asking = toolbox.call_with(call("asks_blocking", json!({})), cancel.clone());
        let other = async {
            while toolkit.asks().list(None).is_empty() {
                tokio::task::yield_now().await;
            }
            if is_answered {
                let writer = toolbox.call(call("writes", json!({ "name": "other", "ms": 600_000 })));
                let answer = async {
                    while log.0.lock().unwrap().is_empty() {
                        tokio::task::yield_now().await;
                    }
                    let id = toolkit.asks().list(None)[0].id().to_owned();
                    toolkit.asks().answer(&id, Answer::allow()).unwrap();
                    cancel.cancel();
                };
                tokio::select! {
                    _ = writer => {}
                    () = async { answer.await; left.notified().await } => {}
                }
            } else {
                cancel.cancel();
                left.notified().await;
            }
        };
        let both = async { tokio::join!(asking, other) };
        let (result, ()) = timeout(Duration::from_secs(20), both).await.expect("the thread waits for ever");
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Aborted);
    }
}

#[tokio::test]
async fn a_limited_tool_on_a_thread_does_not_wait_for_itself() {
    let (toolkit, log) = toolkit(|builder| builder.tool(tool_ref!(recurses_blocking)));
    let toolbox = session(&toolkit).await;
    let call = toolbox.call(call("recurses_blocking", json!({ "deeper": 3 })));
    let result = timeout(Duration::from_secs(20), call).await.expect("it waits for itself");
    assert!(!result.is_error(), "{result:?}");
    assert_eq!(log.take(), ["3", "2", "1", "0"]);
}

#[test]
fn a_runtime_without_timers_costs_no_other_its_time_limits() {
    let (toolkit, _) = toolkit(|builder| builder.tool(tool_ref!(hangs)).timeout(Duration::from_millis(20)));
    let without = tokio::runtime::Builder::new_current_thread().build().unwrap();
    without.block_on(async {
        let toolbox = session(&toolkit).await;
        let mut hangs = pin!(toolbox.call(call("hangs", json!({}))));
        let mut task = Context::from_waker(Waker::noop());
        for _ in 0..3 {
            assert!(hangs.as_mut().poll(&mut task).is_pending());
        }
    });
    let with = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let late = with.block_on(async {
        let toolbox = session(&toolkit).await;
        timeout(Duration::from_secs(20), toolbox.call(call("hangs", json!({})))).await.expect("no limit")
    });
    assert_eq!(late.error().unwrap().kind(), ToolErrorKind::TimedOut);
}

/// The parts of a host, failing.
#[derive(Debug)]
struct Fails;

impl Policy for Fails {
    fn check(&self, _: &Caller, tool: &toolkit::Tool) -> Result<(), Refusal> {
        assert!(tool.name() != "writes", "the policy's own fault");
        Ok(())
    }
}

impl History for Fails {
    fn record(&self, _: Record) {
        panic!("the history's own fault");
    }
}

/// Returns some lines.
#[tool(read_only, truncate(max_lines = 2))]
async fn lines() -> &'static str {
    "1\n2\n3\n"
}

#[tokio::test(start_paused = true)]
async fn what_a_host_brings_may_fail() {
    let (refusing, _) = toolkit(|builder| builder.tool(tool_ref!(lines)).policy(Fails));
    let toolbox = session(&refusing).await;
    assert_eq!(toolbox.tools().map(toolkit::Tool::name).collect::<Vec<_>>(), ["lines"]);
    let refused = toolbox.call(write("a")).await;
    assert_eq!(
        refused.text(),
        "`writes` cannot be used here: denied by the policy: it stopped on an internal error"
    );

    let (recording, _) = toolkit(|builder| builder.history(Arc::new(Fails)));
    let toolbox = session(&recording).await;
    assert_eq!(toolbox.call(write("a")).await.text(), "Done.");
    assert!(timeout(Duration::from_millis(1), toolbox.call(write("dropped"))).await.is_err());

    let directory = tempfile::tempdir().unwrap();
    let (hinting, _) = toolkit(|builder| {
        builder
            .tool(tool_ref!(lines))
            .data_dir(directory.path())
            .cut_hint(|_, _| panic!("the hint's own fault"))
    });
    let text = session(&hinting).await.call(call("lines", json!({}))).await.text();
    assert!(text.starts_with("1\n2\n") && text.contains("3 lines"), "{text}");
}
