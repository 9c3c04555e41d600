//! Waits aside: `ToolContext::wait_aside` leaves the session's gate, the place among the tool's calls and the call's clock.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
#![expect(clippy::needless_pass_by_value, reason = "a service is handed over by value")]

use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};
use toolkit::prelude::*;
use toolkit::{CallOptions, CancellationToken, ToolErrorKind, tool_ref};

/// The lines that the tools wrote, and the events that they wait for.
#[derive(Default)]
struct Board {
    lines: Mutex<Vec<String>>,
    happens: Mutex<HashMap<String, Arc<Notify>>>,
}

impl Board {
    fn write(&self, line: impl Into<String>) {
        self.lines.lock().unwrap().push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }

    fn event(&self, name: &str) -> Arc<Notify> {
        Arc::clone(self.happens.lock().unwrap().entry(name.to_owned()).or_default())
    }
}

/// Waits for an event, then works for a second.
#[tool(timeout = "10s")]
async fn awaits(ctx: &ToolContext, board: State<Board>, name: String) -> Result<String, ToolError> {
    board.write(format!("?{name}"));
    ctx.wait_aside(board.event(&name).notified()).await?;
    board.write(format!("+{name}"));
    sleep(Duration::from_secs(1)).await;
    board.write(format!("-{name}"));
    Ok("done".to_owned())
}

/// Waits for an event and works, one call at a time.
#[tool(concurrency = 1, read_only)]
async fn awaits_alone(ctx: &ToolContext, board: State<Board>, name: String) -> Result<(), ToolError> {
    ctx.wait_aside(board.event(&name).notified()).await?;
    board.write(format!("+{name}"));
    sleep(Duration::from_secs(1)).await;
    board.write(format!("-{name}"));
    Ok(())
}

/// Works for a second.
#[tool]
async fn works(board: State<Board>, name: String) {
    board.write(format!("+{name}"));
    sleep(Duration::from_secs(1)).await;
    board.write(format!("-{name}"));
}

/// Calls another tool.
#[tool(timeout = "10s")]
async fn delegates(ctx: &ToolContext, to: String, name: String) -> Result<String, ToolError> {
    Ok(ctx.call(to, json!({ "name": name })).await?.to_text())
}

/// Calls a tool while it waits aside.
#[tool]
async fn calls_meanwhile(ctx: &ToolContext, board: State<Board>) -> Result<(), ToolError> {
    ctx.wait_aside(async {
        ctx.call("works", json!({ "name": "inner" })).await?;
        board.event("later").notified().await;
        Ok::<_, ToolError>(())
    })
    .await??;
    board.write("back");
    Ok(())
}

/// Waits on a thread of its own.
#[tool]
fn awaits_on_a_thread(ctx: &ToolContext, board: State<Board>, name: String) -> Result<String, ToolError> {
    let waited = tokio::runtime::Handle::current().block_on(ctx.wait_aside(board.event(&name).notified()));
    board.write(waited.as_ref().map_or_else(|error| error.kind().to_string(), |()| format!("+{name}")));
    board.event("over").notify_one();
    waited.map(|()| "done".to_owned())
}

/// Leaves a task behind that waits longer than the call.
#[tool]
async fn leaves_a_task(ctx: &ToolContext, board: State<Board>) {
    let (ctx, board) = (ctx.clone(), board.clone());
    tokio::spawn(async move {
        for name in ["never", "again"] {
            let error = ctx.wait_aside(board.event(name).notified()).await.unwrap_err();
            board.write(format!("{name}: {}", error.kind()));
        }
        board.event("over").notify_one();
    });
    sleep(Duration::from_millis(10)).await;
}

struct Fixture {
    toolkit: Toolkit,
    board: Arc<Board>,
}

fn fixture() -> Fixture {
    let board = Arc::new(Board::default());
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .tools([tool_ref!(awaits), tool_ref!(awaits_alone), tool_ref!(works), tool_ref!(delegates)])
        .tools([tool_ref!(calls_meanwhile), tool_ref!(awaits_on_a_thread), tool_ref!(leaves_a_task)])
        .tools([tool_ref!(delegates_all), tool_ref!(awaits_a_second), tool_ref!(awaits_and_calls)])
        .tools([tool_ref!(awaits_beside_a_call), tool_ref!(awaits_in_turn)])
        .tools([tool_ref!(gives_up), tool_ref!(works_after)])
        .shared_service(Arc::clone(&board))
        .build()
        .unwrap();
    Fixture { toolkit, board }
}

impl Fixture {
    async fn call_with(&self, tool: &str, arguments: Value, options: CallOptions) -> ToolResult {
        let toolbox = self.toolkit.toolbox(&Caller::new().with_session("s")).await;
        toolbox.call_with(ToolCall::new("c", tool, arguments), options).await
    }

    async fn call(&self, tool: &str, name: &str) -> ToolResult {
        self.call_with(tool, json!({ "name": name }), CallOptions::new()).await
    }

    async fn happens(&self, name: &str, after: Duration) {
        sleep(after).await;
        self.board.write(format!("!{name}"));
        self.board.event(name).notify_one();
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_writing_call_runs_while_the_first_waits_aside() {
    let fixture = fixture();
    let (first, second, ()) = tokio::join!(
        fixture.call("awaits", "a"),
        fixture.call("works", "b"),
        fixture.happens("a", Duration::from_hours(1)),
    );
    assert_eq!(first.text(), "done", "an hour of waiting is no time of the call");
    assert!(!second.is_error(), "{second:?}");
    assert_eq!(fixture.board.lines(), ["?a", "+b", "-b", "!a", "+a", "-a"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_returns_behind_the_calls_that_came_meanwhile() {
    let fixture = fixture();
    let (first, ..) = tokio::join!(
        fixture.call("awaits", "a"),
        fixture.call("works", "b"),
        fixture.call("works", "c"),
        fixture.happens("a", Duration::from_millis(500)),
    );
    assert_eq!(first.text(), "done");
    assert_eq!(fixture.board.lines(), ["?a", "+b", "!a", "-b", "+c", "-c", "+a", "-a"]);
}

#[tokio::test(start_paused = true)]
async fn the_time_out_counts_the_work_and_not_the_wait() {
    let fixture = fixture();
    for (limit, expected) in [(1500, None), (500, Some(ToolErrorKind::TimedOut))] {
        let began = Instant::now();
        let options = CallOptions::new().timeout(Duration::from_millis(limit));
        let (result, ()) = tokio::join!(
            fixture.call_with("awaits", json!({ "name": "a" }), options),
            fixture.happens("a", Duration::from_mins(1)),
        );
        assert_eq!(result.error().map(ToolError::kind), expected, "{limit}");
        assert!(began.elapsed() < Duration::from_secs(62), "{:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn the_place_among_the_calls_of_the_tool_is_free_meanwhile() {
    let fixture = fixture();
    let (first, second, (), ()) = tokio::join!(
        fixture.call("awaits_alone", "a"),
        fixture.call("awaits_alone", "b"),
        fixture.happens("b", Duration::from_secs(1)),
        fixture.happens("a", Duration::from_millis(1500)),
    );
    assert!(!first.is_error() && !second.is_error());
    assert_eq!(fixture.board.lines(), ["!b", "+b", "!a", "-b", "+a", "-a"], "one at a time all the same");
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_that_waits_aside_frees_the_gate_and_the_clock_of_the_outer_one() {
    let fixture = fixture();
    let (outer, _, ()) = tokio::join!(
        fixture.call_with("delegates", json!({ "to": "awaits", "name": "a" }), CallOptions::new()),
        fixture.call("works", "b"),
        fixture.happens("a", Duration::from_hours(1)),
    );
    assert_eq!(outer.text(), "done");
    assert_eq!(fixture.board.lines(), ["?a", "+b", "-b", "!a", "+a", "-a"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_made_within_the_wait_keeps_the_turn_until_it_ends() {
    let fixture = fixture();
    let (outer, _, ()) = tokio::join!(
        fixture.call_with("calls_meanwhile", json!({}), CallOptions::new()),
        fixture.call("works", "other"),
        fixture.happens("later", Duration::from_mins(1)),
    );
    assert!(!outer.is_error(), "{outer:?}");
    assert_eq!(fixture.board.lines(), ["+inner", "-inner", "+other", "-other", "!later", "back"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_aside_is_cancelled_at_once_and_leaves_the_session_free() {
    let fixture = fixture();
    let cancel = CancellationToken::new();
    let began = Instant::now();
    let options = CallOptions::new().cancel(cancel.clone());
    let (cancelled, ()) =
        tokio::join!(fixture.call_with("awaits", json!({ "name": "never" }), options), async {
            sleep(Duration::from_mins(1)).await;
            cancel.cancel();
        });
    assert_eq!(cancelled.error().unwrap().kind(), ToolErrorKind::Aborted);
    assert!(began.elapsed() < Duration::from_secs(61), "{:?}", began.elapsed());
    assert!(!fixture.call("works", "next").await.is_error());
    assert_eq!(fixture.board.lines(), ["?never", "+next", "-next"]);
}

#[tokio::test]
async fn a_thread_that_waits_aside_frees_the_gate_and_ends_with_its_call() {
    let fixture = fixture();
    let (first, ()) = tokio::join!(fixture.call("awaits_on_a_thread", "a"), async {
        fixture.call("works", "b").await;
        fixture.board.event("a").notify_one();
    });
    assert_eq!(first.text(), "done");
    assert_eq!(fixture.board.lines(), ["+b", "-b", "+a"]);
    fixture.board.event("over").notified().await;
    let cancel = CancellationToken::new();
    let options = CallOptions::new().cancel(cancel.clone());
    let (cancelled, ()) =
        tokio::join!(fixture.call_with("awaits_on_a_thread", json!({ "name": "never" }), options), async {
            cancel.cancel();
        },);
    assert_eq!(cancelled.error().unwrap().kind(), ToolErrorKind::Aborted);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_outlives_its_call_waits_no_longer() {
    let fixture = fixture();
    let left = fixture.call_with("leaves_a_task", json!({}), CallOptions::new()).await;
    assert!(!left.is_error(), "{left:?}");
    fixture.board.event("over").notified().await;
    assert_eq!(fixture.board.lines(), ["never: aborted", "again: aborted"]);
}

/// Makes calls of other tools at the same time.
#[tool(timeout = "10s")]
async fn delegates_all(ctx: &ToolContext, calls: Vec<[String; 2]>) -> Result<(), ToolError> {
    let calls = calls.into_iter().map(|[to, name]| ctx.call(to, json!({ "name": name })));
    for result in futures_util::future::join_all(calls).await {
        result?;
    }
    Ok(())
}

/// Waits for an event for a second at most, then works for a second.
#[tool]
async fn awaits_a_second(ctx: &ToolContext, board: State<Board>, name: String) {
    let event = board.event(&name);
    let waits = ctx.wait_aside(event.notified());
    assert!(tokio::time::timeout(Duration::from_secs(1), waits).await.is_err(), "it never happens");
    // A function goes on until it next awaits.
    sleep(Duration::from_millis(1)).await;
    board.write(format!("+{name}"));
    sleep(Duration::from_secs(1)).await;
    board.write(format!("-{name}"));
}

/// Waits for an event, and calls a tool at another one.
#[tool]
async fn awaits_and_calls(ctx: &ToolContext, board: State<Board>, name: String) -> Result<(), ToolError> {
    let (event, other) = (board.event(&name), board.event("call"));
    let calls = async {
        other.notified().await;
        ctx.call("works", json!({ "name": format!("of {name}") })).await
    };
    let (waited, called) = tokio::join!(ctx.wait_aside(event.notified()), calls);
    waited?;
    called.map(drop)
}

impl Fixture {
    async fn calls(&self, calls: &[[&str; 2]]) -> ToolResult {
        self.call_with("delegates_all", json!({ "calls": calls }), CallOptions::new()).await
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_all_wait_aside_free_the_gate_of_the_outer_one() {
    let fixture = fixture();
    let hour = Duration::from_hours(1);
    let (outer, other, (), ()) = tokio::join!(
        fixture.calls(&[["awaits", "a"], ["awaits", "b"], ["works", "c"]]),
        fixture.call("works", "d"),
        fixture.happens("a", hour),
        fixture.happens("b", hour * 2),
    );
    assert!(!outer.is_error() && !other.is_error(), "{outer:?}");
    let lines = fixture.board.lines();
    assert_eq!(lines, ["?a", "?b", "+c", "-c", "+d", "-d", "!a", "+a", "-a", "!b", "+b", "-b"]);
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_that_gives_its_wait_up_works_in_its_turn() {
    let fixture = fixture();
    let (outer, ..) = tokio::join!(fixture.calls(&[["awaits_a_second", "a"]]), async {
        sleep(Duration::from_millis(500)).await;
        fixture.call("works", "b").await
    },);
    assert!(!outer.is_error(), "{outer:?}");
    assert_eq!(fixture.board.lines(), ["+b", "-b", "+a", "-a"], "one at a time");
}

#[tokio::test(start_paused = true)]
async fn a_call_made_below_a_wait_waits_for_the_turn_of_every_call_above() {
    let fixture = fixture();
    let (outer, ..) = tokio::join!(
        fixture.calls(&[["awaits_and_calls", "a"]]),
        async {
            sleep(Duration::from_millis(500)).await;
            fixture.call("works", "b").await
        },
        fixture.happens("call", Duration::from_secs(1)),
        fixture.happens("a", Duration::from_mins(1)),
    );
    assert!(!outer.is_error(), "{outer:?}");
    assert_eq!(fixture.board.lines(), ["+b", "!call", "-b", "+of a", "-of a", "!a"], "one at a time");
}

/// Waits for an event beside a call, one call at a time.
#[tool(concurrency = 1)]
async fn awaits_beside_a_call(ctx: &ToolContext, board: State<Board>, name: String) -> Result<(), ToolError> {
    let event = board.event(&name);
    let calls = ctx.call("works", json!({ "name": name }));
    let (waited, called) = tokio::join!(ctx.wait_aside(event.notified()), calls);
    waited?;
    called.map(drop)
}

/// Waits for an event, one call at a time.
#[tool(concurrency = 1, timeout = "10s")]
async fn awaits_in_turn(ctx: &ToolContext, board: State<Board>, name: String) -> Result<(), ToolError> {
    board.write(format!("?{name}"));
    ctx.wait_aside(board.event(&name).notified()).await?;
    board.write(format!("-{name}"));
    Ok(())
}

/// Waits for an event for a second at most, and fails.
#[tool]
async fn gives_up(ctx: &ToolContext, board: State<Board>, name: String) -> Result<(), ToolError> {
    let event = board.event(&name);
    let waits = ctx.wait_aside(event.notified());
    tokio::time::timeout(Duration::from_secs(1), waits)
        .await
        .map_err(|_| ToolError::failed("it never happens"))?
}

/// Calls a tool that fails, and works.
#[tool]
async fn works_after(ctx: &ToolContext, board: State<Board>, to: String, name: String) {
    let failed = ctx.call(to, json!({ "name": "never" })).await;
    assert!(failed.is_err());
    board.write(format!("+{name}"));
    sleep(Duration::from_secs(1)).await;
    board.write(format!("-{name}"));
}

/// No test waits so long, of a clock that stands unless all wait.
async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_hours(100), work).await.expect("nobody waits for ever")
}

#[tokio::test(start_paused = true)]
async fn two_calls_that_wait_beside_calls_of_their_own_do_not_wait_for_each_other() {
    let fixture = fixture();
    let (first, second, (), ()) = in_time(async {
        tokio::join!(
            fixture.call("awaits_beside_a_call", "a"),
            fixture.call("awaits_beside_a_call", "b"),
            fixture.happens("a", Duration::from_mins(1)),
            fixture.happens("b", Duration::from_mins(2)),
        )
    })
    .await;
    assert!(!first.is_error() && !second.is_error(), "{first:?} {second:?}");
    assert_eq!(fixture.board.lines(), ["+a", "-a", "+b", "-b", "!a", "!b"]);
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_takes_its_place_when_the_calls_above_have_their_turn() {
    let fixture = fixture();
    let nested = json!({ "to": "awaits_in_turn", "name": "a" });
    let (outer, other, direct, (), ()) = in_time(async {
        tokio::join!(
            fixture.call_with("delegates", nested, CallOptions::new()),
            fixture.call("works", "w"),
            fixture.call("awaits_in_turn", "b"),
            fixture.happens("a", Duration::from_millis(500)),
            fixture.happens("b", Duration::from_mins(1)),
        )
    })
    .await;
    assert!(!outer.is_error() && !other.is_error() && !direct.is_error(), "{outer:?} {direct:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_goes_on_in_its_turn_after_a_nested_one_that_gave_its_wait_up() {
    let fixture = fixture();
    let outer =
        fixture.call_with("works_after", json!({ "to": "gives_up", "name": "a" }), CallOptions::new());
    let other = async {
        sleep(Duration::from_millis(500)).await;
        fixture.call("works", "b").await
    };
    let (outer, _) = in_time(async { tokio::join!(outer, other) }).await;
    assert!(!outer.is_error(), "{outer:?}");
    assert_eq!(fixture.board.lines(), ["+b", "-b", "+a", "-a"], "one at a time");
}
