//! The call path: one result for each call, whatever the tool does.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
#![expect(clippy::needless_pass_by_value, reason = "a service is handed over by value")]

use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use toolkit::prelude::*;
use toolkit::{
    CancellationToken, ToolErrorKind, arguments::InvalidArguments, output::IntoToolOutput, tool_ref,
};

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
        .without_asking_first()
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
    let toolkit = Toolkit::empty().without_asking_first().tool(tool_ref!(panics_blocking)).build().unwrap();
    let mut future =
        Box::pin(async move { toolkit.toolbox(&Caller::new()).await.call(call("panics_blocking")).await });
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(result) = future.as_mut().poll(&mut task) else {
        panic!("nothing to wait for")
    };
    assert!(result.text().contains("needs a tokio runtime"), "{}", result.text());
}

#[tokio::test]
async fn errors_reach_the_model() {
    let fixture = fixture().await;
    assert_eq!(fixture.toolbox.call(call("fails")).await.text(), "invalid digit found in string");
    let result = fixture.toolbox.call(ToolCall::new("1", "words", r#"{"n": -1, "m": 1}"#)).await;
    assert_eq!(result.text(), "words wants better: 2 problem(s)");
    assert_eq!(result.error().unwrap().problems().unwrap().problems.len(), 2);
}

/// Pings.
#[tool]
async fn ping(address: std::net::IpAddr) -> String {
    address.to_string()
}

/// Pings, in its own words.
#[tool(format_error = worded)]
async fn ping_worded(address: std::net::IpAddr) -> String {
    address.to_string()
}

#[tokio::test]
async fn what_only_the_type_refuses_is_explained_like_everything_else() {
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .tool(tool_ref!(ping))
        .tool(tool_ref!(ping_worded))
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let bad = |name: &str| ToolCall::new("1", name, r#"{"address": "here"}"#);
    let text = toolbox.call(bad("ping")).await.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        (lines[0], lines[2]),
        ("invalid arguments for `ping`:", "Usage: ping(address: string)"),
        "{text}"
    );
    assert!(lines[1].starts_with("- /address: "), "{text}");
    assert_eq!(toolbox.call(bad("ping_worded")).await.text(), "ping_worded wants better: 1 problem(s)");
}

/// Takes whatever comes.
#[toolkit::args(allow_unknown_fields)]
struct Open {
    /// The tools that it knows.
    known: Option<String>,
}

/// Takes an open struct.
#[tool]
async fn open(#[args] args: Open) -> String {
    args.known.unwrap_or_default()
}

#[tokio::test]
async fn unknown_fields_are_taken_where_the_type_says_so() {
    let toolkit = Toolkit::empty().without_asking_first().tool(tool_ref!(open)).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    assert_eq!(toolbox.call(ToolCall::new("1", "open", r#"{"known": "k", "other": 1}"#)).await.text(), "k");
}

#[tokio::test]
async fn an_unknown_tool_names_the_nearest() {
    let fixture = fixture().await;
    let result = fixture.toolbox.call(call("panic_later")).await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ToolErrorKind::UnknownTool);
    assert!(error.message().contains("did you mean `panics_later`"), "{error}");
    let odd = fixture.toolbox.call(call("\u{1b}[2Kls\n")).await.text();
    assert!(odd.starts_with("there is no tool `\\u{1b}[2Kls\\u{a}`"), "{odd}");
}

#[test]
fn outputs() {
    let text = |output: Result<ToolOutput, ToolError>| output.unwrap().to_text();
    assert_eq!(text(().into_tool_output()), "");
    assert_eq!(text("a".into_tool_output()), "a");
    assert_eq!(text(String::from("a").into_tool_output()), "a");
    assert_eq!(text(std::borrow::Cow::Borrowed("a").into_tool_output()), "a");
    assert_eq!(text(Content::text("a").into_tool_output()), "a");
    assert_eq!(text(vec![Content::text("a"), Content::text("b")].into_tool_output()), "a\nb");
    let failed: Result<String, std::fmt::Error> = Err(std::fmt::Error);
    assert_eq!(failed.into_tool_output().unwrap_err().kind(), ToolErrorKind::Failed);
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Panics when it is cancelled.
#[tool]
async fn panics_when_dropped(started: State<Notify>) {
    let _holds = PanicsWhenDropped;
    started.notify_one();
    std::future::pending::<()>().await;
}

/// Panics with something that panics.
#[tool]
async fn panics_twice() {
    std::panic::panic_any(PanicsWhenDropped);
}

/// Words its own error badly.
#[tool(format_error = panicking_format)]
async fn words_badly(n: u8) -> String {
    n.to_string()
}

fn panicking_format(_: &InvalidArguments) -> String {
    panic!("no words")
}

#[tokio::test]
async fn whatever_panics_there_is_one_result() {
    let started = Arc::new(Notify::new());
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .tool(tool_ref!(panics_when_dropped))
        .tool(tool_ref!(panics_twice))
        .tool(tool_ref!(words_badly))
        .shared_service(Arc::clone(&started))
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let cancel = CancellationToken::new();
    let (result, ()) = tokio::join!(toolbox.call_with(call("panics_when_dropped"), cancel.clone()), async {
        started.notified().await;
        cancel.cancel();
    });
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Aborted);
    for name in ["panics_twice", "words_badly"] {
        assert_eq!(toolbox.call(call(name)).await.error().unwrap().kind(), ToolErrorKind::Panicked, "{name}");
    }
}

/// Starts something that outlives it, unless its token tells.
#[tool]
async fn starts(ctx: &ToolContext, told: State<Notify>, mode: String) -> String {
    let (token, told) = (ctx.cancellation_token().clone(), told.0);
    tokio::spawn(async move {
        token.cancelled().await;
        told.notify_one();
    });
    match mode.as_str() {
        "waits" => std::future::pending().await,
        "cancels" => {
            ctx.cancellation_token().cancel();
            tokio::task::yield_now().await;
        }
        _ => {}
    }
    "done".to_owned()
}

#[tokio::test]
async fn what_a_tool_started_is_told_when_its_call_ends() {
    for mode in ["ends", "waits", "cancels"] {
        let told = Arc::new(Notify::new());
        let toolkit = Toolkit::empty()
            .without_asking_first()
            .tool(tool_ref!(starts))
            .shared_service(Arc::clone(&told))
            .build()
            .unwrap();
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        let cancel = CancellationToken::new();
        let arguments = json!({ "mode": mode });
        let running = toolbox.call_with(ToolCall::new("1", "starts", arguments), cancel.clone());
        if mode == "waits" {
            assert!(tokio::time::timeout(Duration::from_millis(1), running).await.is_err());
        } else {
            assert_eq!(running.await.text(), "done", "{mode}");
        }
        told.notified().await;
        assert!(!cancel.is_cancelled(), "{mode}: the caller's token is the caller's");
    }
}

/// Counts its runs.
#[tool]
fn counts(ran: State<AtomicBool>) {
    ran.store(true, Ordering::SeqCst);
}

#[test]
fn a_blocking_tool_that_was_cancelled_while_it_waited_does_not_run() {
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    let ran = Arc::new(AtomicBool::new(false));
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .tool(tool_ref!(counts))
        .shared_service(Arc::clone(&ran))
        .build()
        .unwrap();
    let (release, held) = std::sync::mpsc::channel::<()>();
    runtime.block_on(async {
        let busy = tokio::task::spawn_blocking(move || held.recv());
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        let cancel = CancellationToken::new();
        let (result, ()) =
            tokio::join!(toolbox.call_with(call("counts"), cancel.clone()), async { cancel.cancel() });
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Aborted);
        release.send(()).unwrap();
        busy.await.unwrap().unwrap();
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    });
    assert!(!ran.load(Ordering::SeqCst));
}
