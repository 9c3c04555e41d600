//! The call path: one result for each call, whatever the tool does.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
#![expect(clippy::needless_pass_by_value, reason = "a service is handed over by value")]

use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use toolkit::prelude::*;
use toolkit::{CancellationToken, IntoToolOutput, InvalidArguments, ToolErrorKind, tool_ref};

/// Says who calls.
#[tool(read_only)]
async fn who(ctx: &ToolContext) -> Result<String, ToolError> {
    let extra: Option<u32> = ctx.extra("level")?;
    Ok(format!(
        "{} {} {:?} {:?} {:?} {} {extra:?}",
        ctx.call_id(),
        ctx.tool_name(),
        ctx.agent(),
        ctx.session_id(),
        ctx.message_id(),
        ctx.workspace_dir().display(),
    ))
}

/// Panics at once.
#[tool]
async fn panics() -> String {
    panic!("the {} tool", "async")
}

/// Panics after a pause.
#[tool]
async fn panics_later() -> String {
    tokio::task::yield_now().await;
    panic!("later")
}

/// Panics on the blocking pool.
#[tool]
fn panics_blocking() -> String {
    panic!("blocking")
}

/// Waits for ever.
#[tool]
async fn waits(started: State<Notify>, dropped: State<AtomicBool>) {
    struct SetOnDrop(Arc<AtomicBool>);
    impl Drop for SetOnDrop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let _guard = SetOnDrop(dropped.0);
    started.notify_one();
    std::future::pending::<()>().await;
}

/// Waits on the blocking pool until it is told.
#[tool]
fn waits_blocking(
    ctx: &ToolContext,
    started: State<Notify>,
    told: State<AtomicBool>,
) -> Result<(), ToolError> {
    started.notify_one();
    while !ctx.is_cancelled() {
        std::thread::sleep(Duration::from_millis(1));
    }
    told.store(true, Ordering::SeqCst);
    ctx.check_cancelled()
}

/// Fails.
#[tool]
async fn fails() -> Result<(), std::num::ParseIntError> {
    "x".parse::<u8>().map(drop)
}

/// Words its own error.
#[tool(format_error = worded)]
async fn words(n: u8) -> String {
    n.to_string()
}

fn worded(problems: &InvalidArguments) -> String {
    format!("{} wants better: {} problem(s)", problems.tool, problems.problems.len())
}

struct Fixture {
    toolbox: toolkit::Toolbox,
    started: Arc<Notify>,
    flag: Arc<AtomicBool>,
}

async fn fixture() -> Fixture {
    let (started, flag) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(who))
        .tool(tool_ref!(panics))
        .tool(tool_ref!(panics_later))
        .tool(tool_ref!(panics_blocking))
        .tool(tool_ref!(waits))
        .tool(tool_ref!(waits_blocking))
        .tool(tool_ref!(fails))
        .tool(tool_ref!(words))
        .shared_service(Arc::clone(&started))
        .shared_service(Arc::clone(&flag))
        .build()
        .unwrap();
    let caller = Caller::new()
        .with_agent("ada")
        .with_session("s1")
        .with_message("m1")
        .with_workspace("/srv")
        .with_extra("level", 3);
    Fixture { toolbox: toolkit.toolbox(&caller).await, started, flag }
}

fn call(name: &str) -> ToolCall {
    ToolCall::new("c1", name, json!({}))
}

#[tokio::test]
async fn the_context_knows_the_caller() {
    let result = fixture().await.toolbox.call(call("who")).await;
    assert_eq!(result.text(), r#"c1 who Some("ada") Some("s1") Some("m1") /srv Some(3)"#);
    assert_eq!((result.id.as_str(), result.name.as_str()), ("c1", "who"));
}

#[tokio::test]
async fn a_panic_is_a_result() {
    let fixture = fixture().await;
    for (name, message) in
        [("panics", "the async tool"), ("panics_later", "later"), ("panics_blocking", "blocking")]
    {
        let result = fixture.toolbox.call(call(name)).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ToolErrorKind::Panicked);
        assert!(error.message().contains(&format!("({message})")), "{error}");
    }
}

#[tokio::test]
async fn a_cancelled_call_answers_and_drops_its_future() {
    let fixture = fixture().await;
    let cancel = CancellationToken::new();
    let running = fixture.toolbox.call_with(call("waits"), cancel.clone());
    let (result, ()) = tokio::join!(running, async {
        fixture.started.notified().await;
        cancel.cancel();
    });
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Aborted);
    assert!(fixture.flag.load(Ordering::SeqCst), "the tool's future is gone");
}

#[tokio::test]
async fn a_cancelled_call_does_not_begin() {
    let fixture = fixture().await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let result = fixture.toolbox.call_with(call("who"), cancel).await;
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Aborted);
}

#[tokio::test]
async fn a_blocking_tool_is_told_when_its_call_is_cancelled_or_dropped() {
    for dropped in [false, true] {
        let fixture = fixture().await;
        let cancel = CancellationToken::new();
        let toolbox = fixture.toolbox.clone();
        let token = cancel.clone();
        let running = tokio::spawn(async move { toolbox.call_with(call("waits_blocking"), token).await });
        fixture.started.notified().await;
        if dropped {
            running.abort();
            assert!(running.await.unwrap_err().is_cancelled());
            assert!(!cancel.is_cancelled(), "dropping one call does not cancel what shares its token");
        } else {
            cancel.cancel();
            assert_eq!(running.await.unwrap().error().unwrap().kind(), ToolErrorKind::Aborted);
        }
        while !fixture.flag.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
    }
}

#[test]
fn a_blocking_tool_without_a_runtime_says_so() {
    let toolkit = Toolkit::empty().tool(tool_ref!(panics_blocking)).build().unwrap();
    let mut future =
        Box::pin(async move { toolkit.toolbox(&Caller::new()).await.call(call("panics_blocking")).await });
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(result) = future.as_mut().poll(&mut task) else {
        panic!("nothing to wait for")
    };
    assert!(result.text().contains("no tokio runtime"), "{}", result.text());
}

#[tokio::test]
async fn errors_reach_the_model() {
    let fixture = fixture().await;
    assert_eq!(fixture.toolbox.call(call("fails")).await.text(), "invalid digit found in string");
    let result = fixture.toolbox.call(ToolCall::new("1", "words", r#"{"n": -1, "m": 1}"#)).await;
    assert_eq!(result.text(), "words wants better: 2 problem(s)");
    assert_eq!(result.error().unwrap().problems().unwrap().problems.len(), 2);
}

#[tokio::test]
async fn an_unknown_tool_names_the_nearest() {
    let fixture = fixture().await;
    let result = fixture.toolbox.call(call("panic_later")).await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ToolErrorKind::UnknownTool);
    assert!(error.message().contains("did you mean `panics_later`"), "{error}");
    assert!(error.message().contains("toolkit::link!"), "{error}");
}

#[test]
fn outputs() {
    let text = |output: Result<ToolOutput, ToolError>| output.unwrap().to_text();
    assert_eq!(text(().into_tool_output()), "Done.");
    assert_eq!(text("a".into_tool_output()), "a");
    assert_eq!(text(String::from("a").into_tool_output()), "a");
    assert_eq!(text(std::borrow::Cow::Borrowed("a").into_tool_output()), "a");
    assert_eq!(text(Content::text("a").into_tool_output()), "a");
    assert_eq!(text(vec![Content::text("a"), Content::text("b")].into_tool_output()), "a\nb");
    let failed: Result<String, std::fmt::Error> = Err(std::fmt::Error);
    assert_eq!(failed.into_tool_output().unwrap_err().kind(), ToolErrorKind::Failed);
}
