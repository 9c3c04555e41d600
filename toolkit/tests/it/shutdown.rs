//! The end of sessions and of the toolkit.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;
use toolkit::prelude::*;
use toolkit::{
    Ask, Builder, ToolErrorKind,
    approval::{Answer, CallbackApprover},
    events::Event,
    tool_ref,
};

const LONG: Duration = Duration::from_secs(30);

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn write(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// State of a session that says when it is dropped.
#[derive(Default)]
struct Kept(Mutex<Option<Arc<Log>>>);

impl Drop for Kept {
    fn drop(&mut self) {
        self.0.lock().unwrap().iter().for_each(|log| log.write("state dropped"));
    }
}

/// Never ends.
#[tool(auto_execute)]
async fn hang(ctx: &ToolContext, log: &State<Log>) {
    *ctx.session_state::<Kept>().0.lock().unwrap() = Some(Arc::clone(&log.0));
    pending::<()>().await;
}

/// Never ends, and does not care about cancellation.
#[tool(auto_execute)]
fn block(ctx: &ToolContext, gate: &State<Notify>) {
    gate.notify_one();
    while !ctx.is_cancelled() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Asks.
#[tool(auto_execute)]
async fn ask_first(ctx: &ToolContext) -> Result<(), ToolError> {
    ctx.ask(Ask::new("edit", "may I")).await
}

/// Does nothing.
#[tool(auto_execute)]
async fn nothing() {}

fn builder(log: &Arc<Log>) -> Builder {
    let (ended, closed) = (Arc::clone(log), Arc::clone(log));
    Toolkit::empty()
        .tool(tool_ref!(hang))
        .tool(tool_ref!(block))
        .tool(tool_ref!(ask_first))
        .tool(tool_ref!(nothing))
        .shared_service(Arc::clone(log))
        .service(Notify::new())
        .approver(CallbackApprover::new(|_| None::<Answer>))
        .on_session_end("log", move |id| ended.write(format!("{id} ended")))
        .on_shutdown("log", move || {
            let log = Arc::clone(&closed);
            async move { log.write("closed") }
        })
}

fn in_session(id: &str) -> Caller {
    Caller::new().with_session(id)
}

#[tokio::test]
async fn everything_ends_in_order() {
    let log = Arc::new(Log::default());
    let toolkit = builder(&log).build().unwrap();
    let toolbox = toolkit.toolbox(&in_session("a")).await;
    let mut events = toolbox.events();
    let hanging = tokio::spawn({
        let toolbox = toolbox.clone();
        async move { toolbox.call(ToolCall::new("1", "hang", "{}")).await }
    });
    while !matches!(events.next().await.unwrap().event, Event::Started) {}
    let report = timeout(LONG, toolkit.shutdown(LONG)).await.unwrap();
    assert!(report.is_complete(), "{report:?}");
    let error = timeout(LONG, hanging).await.unwrap().unwrap().outcome.unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::Aborted);
    assert!(error.to_string().contains("shutting down"), "{error}");
    // The state is dropped although the toolbox still refers to the session.
    assert_eq!(log.lines(), ["state dropped", "a ended", "closed"]);

    let late = toolbox.call(ToolCall::new("2", "nothing", "{}")).await.outcome.unwrap_err();
    assert_eq!(late.kind(), ToolErrorKind::Unavailable);
    let again = timeout(LONG, toolkit.shutdown(LONG)).await.unwrap();
    assert!(again.is_complete());
    assert_eq!(log.lines().len(), 3, "hooks run once");
}

#[tokio::test]
async fn questions_and_blocking_tools_end_too() {
    let log = Arc::new(Log::default());
    let toolkit = builder(&log).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let other = toolkit.toolbox(&Caller::new()).await;
    let both = tokio::spawn(async move {
        let asked = toolbox.call(ToolCall::new("1", "ask_first", "{}"));
        let blocked = other.call(ToolCall::new("2", "block", "{}"));
        tokio::join!(asked, blocked)
    });
    while toolkit.asks().list(None).is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(timeout(LONG, toolkit.shutdown(LONG)).await.unwrap().is_complete());
    let (asked, blocked) = timeout(LONG, both).await.unwrap().unwrap();
    for result in [asked, blocked] {
        assert_eq!(result.outcome.unwrap_err().kind(), ToolErrorKind::Aborted);
    }
    assert!(toolkit.asks().list(None).is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_kept_and_what_is_late_is_named() {
    let log = Arc::new(Log::default());
    let toolkit = builder(&log)
        .on_shutdown("never", pending)
        .on_shutdown("broken", || async { panic!("a bug of the host") })
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    // A call that nobody polls any more cannot end.
    let mut left = Box::pin(toolbox.call(ToolCall::new("1", "hang", "{}")));
    assert!(timeout(Duration::from_millis(1), &mut left).await.is_err());
    let report = toolkit.shutdown(Duration::from_secs(3)).await;
    assert_eq!((report.calls, report.hooks), (1, vec!["never".to_owned()]));
    assert!(log.lines().contains(&"closed".to_owned()));
    drop(left);
}

#[tokio::test]
async fn each_named_session_that_ends_is_reported_once() {
    let log = Arc::new(Log::default());
    let toolkit = builder(&log).build().unwrap();
    for id in ["a", "b"] {
        toolkit.toolbox(&in_session(id)).await.call(ToolCall::new("1", "nothing", "{}")).await;
    }
    toolkit.toolbox(&Caller::new()).await.call(ToolCall::new("1", "nothing", "{}")).await;
    assert!(toolkit.end_session("b"));
    assert!(!toolkit.end_session("b"));
    toolkit.shutdown(LONG).await;
    assert_eq!(log.lines(), ["b ended", "a ended", "closed"]);
}

#[tokio::test]
async fn a_hook_that_panics_does_not_keep_the_others_from_running() {
    let log = Arc::new(Log::default());
    let toolkit = Toolkit::empty().on_session_end("broken", |_| panic!("a bug of the host"));
    let ended = Arc::clone(&log);
    let toolkit = toolkit.on_session_end("log", move |id| ended.write(id)).build().unwrap();
    drop(toolkit.toolbox(&in_session("a")).await);
    assert!(toolkit.end_session("a"));
    assert_eq!(log.lines(), ["a"]);
}

#[tokio::test]
async fn sweepers_run_with_the_cleanup() {
    let count = Arc::new(AtomicUsize::new(0));
    let swept = Arc::clone(&count);
    let toolkit = Toolkit::empty()
        .sweeper("broken", || panic!("a bug of the host"))
        .sweeper("counter", move || {
            swept.fetch_add(1, Ordering::SeqCst);
        })
        .build()
        .unwrap();
    toolkit.sweep();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let cleanup = toolkit.spawn_cleanup();
    timeout(LONG, async {
        while count.load(Ordering::SeqCst) < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .unwrap();
    drop(cleanup);
}
