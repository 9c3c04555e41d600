//! A tool that uses everything, stopped at each of its awaits and at each poll of its call, in every way a call can be
//! stopped: one end each, and nothing is left.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::fs;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use toolkit::prelude::*;
use toolkit::{
    Ask, CallOptions, CancellationToken, ToolErrorKind, ToolResult,
    approval::{Answer, CallbackApprover, Question},
    events::{Event, Progress},
    history::{CallStatus, HistoryQuery, MemoryHistory},
    inspection::{Inspecting, Inspection, Inspector, Verdict},
    text::Redactor,
    tool_ref,
};

/// Where the tool stops, and how.
#[derive(Default)]
struct Faults {
    /// The number of the await, from 1; never where 0.
    at: AtomicUsize,
    panics: std::sync::atomic::AtomicBool,
    passed: AtomicUsize,
    reached: Notify,
}

impl Faults {
    /// Waits for `future`. At the chosen await it is begun and then never goes on.
    async fn step<T>(&self, future: impl Future<Output = T>) -> T {
        let number = self.passed.fetch_add(1, Ordering::SeqCst) + 1;
        let is_here = number == self.at.load(Ordering::SeqCst);
        let mut future = pin!(future);
        let mut done = None;
        poll_fn(|task| {
            if done.is_none()
                && let Poll::Ready(value) = future.as_mut().poll(task)
            {
                done = Some(value);
            }
            match is_here {
                false => done.take().map_or(Poll::Pending, Poll::Ready),
                true if self.panics.load(Ordering::SeqCst) => panic!("at await {number}"),
                true => {
                    self.reached.notify_one();
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn set(&self, at: usize, panics: bool) {
        self.at.store(at, Ordering::SeqCst);
        self.panics.store(panics, Ordering::SeqCst);
        self.passed.store(0, Ordering::SeqCst);
    }
}

#[toolkit::args]
struct Port {
    /// The port.
    port: u16,
}

/// Reads for a while.
#[tool(read_only, concurrency = 2)]
async fn reads(ctx: &ToolContext) -> Result<String, ToolError> {
    tokio::time::sleep(Duration::from_millis(1)).await;
    ctx.output().write_all("r".repeat(100_000).as_bytes()).await?;
    Ok("read".to_owned())
}

/// Writes for a while, with leave.
#[tool(concurrency = 1)]
async fn writes(ctx: &ToolContext) -> Result<String, ToolError> {
    ctx.ask(Ask::new("edit", "Write")).await?;
    tokio::time::sleep(Duration::from_millis(1)).await;
    Ok("written".to_owned())
}

/// Looks at the calls of the tool that uses everything.
struct Looks(Arc<Faults>);

impl Inspector for Looks {
    fn inspect<'a>(&'a self, call: &'a Inspection<'a>) -> Inspecting<'a> {
        Box::pin(async move {
            if call.tool().name() == "everything" {
                self.0.step(tokio::time::sleep(Duration::from_millis(1))).await;
            }
            Ok(Verdict::Proceed)
        })
    }
}

/// How many awaits there are before the function: its inspector, and whether it may run.
const BEFORE: usize = 2;

/// Uses everything.
#[tool(concurrency = 1, timeout = "1h")]
async fn everything(
    ctx: &ToolContext,
    faults: State<Faults>,
    #[arg(secret)] key: String,
) -> Result<String, ToolError> {
    ctx.progress(Progress::new(0).with_total(9).with_message(format!("with {key}")));
    ctx.set_title("Everything");
    *ctx.session_state::<Mutex<u32>>().lock().unwrap() += 1;
    let told = ctx.cancellation_token().clone();
    tokio::spawn(async move { told.cancelled().await });
    let copy = ctx.clone();
    faults.step(tokio::task::yield_now()).await;
    faults.step(tokio::time::sleep(Duration::from_millis(5))).await;
    let mut output = ctx.output();
    faults.step(output.write_all(b"short\n")).await?;
    faults.step(output.write_all(&vec![b'x'; 400_000])).await?;
    faults.step(ctx.call("reads", json!({}))).await?;
    faults.step(ctx.ask(Ask::new("edit", "Change things"))).await?;
    faults.step(copy.elicit::<Port>("Which port?")).await?;
    faults
        .step(async { tokio::join!(ctx.call("reads", json!({})), ctx.call("writes", json!({}))) })
        .await
        .1?;
    let within = tokio::time::timeout(Duration::from_millis(1), ctx.ask(Ask::new("edit", "never answered")));
    let _ = faults.step(within).await;
    faults.step(output.write_all(&vec![b'y'; 400_000])).await?;
    ctx.partial("nearly");
    Ok(format!("{} lines", "done\n".repeat(3000)))
}

struct House {
    toolkit: Toolkit,
    history: Arc<MemoryHistory>,
    faults: Arc<Faults>,
    data: TempDir,
}

fn house() -> House {
    let (faults, data) = (Arc::new(Faults::default()), tempfile::tempdir().unwrap());
    let history = Arc::new(MemoryHistory::new(Redactor::new()));
    let of_approver = Arc::clone(&faults);
    let approver = CallbackApprover::from_async(move |ask| {
        let faults = Arc::clone(&of_approver);
        async move {
            let wait = tokio::time::sleep(Duration::from_millis(2));
            match ask.question() {
                Question::Approve(ask) if ask.title == "call `everything`" => faults.step(wait).await,
                _ => wait.await,
            }
            match ask.question() {
                Question::Elicit(_) => Some(Answer::value(json!({"port": 80}))),
                Question::Approve(ask) if ask.title == "never answered" => None,
                _ => Some(Answer::allow()),
            }
        }
    });
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(everything))
        .tool(tool_ref!(reads))
        .tool(tool_ref!(writes))
        .shared_service(Arc::clone(&faults))
        .history(Arc::clone(&history))
        .approver(approver)
        .inspector("looks", Looks(Arc::clone(&faults)))
        .result_hook("takes out", |review| {
            review
                .redact(|text| text.match_indices("nearly").map(|(at, word)| at..at + word.len()).collect());
            Ok(())
        })
        .data_dir(data.path())
        .build()
        .unwrap();
    House { toolkit, history, faults, data }
}

impl House {
    async fn toolbox(&self) -> toolkit::Toolbox {
        self.toolkit.toolbox(&Caller::new().with_session("s")).await
    }

    async fn call(&self, id: &str, options: CallOptions) -> ToolResult {
        let call = ToolCall::new(id, "everything", json!({"key": "hush-hush"}));
        self.toolbox().await.call_with(call, options).await
    }

    /// Whatever came of the call of this id, there is one end of it, and nothing is left.
    async fn check(&self, id: &str, result: Option<&ToolResult>, events: &mut toolkit::events::Events) {
        let mut ends = Vec::new();
        while let Some(event) = events.try_next() {
            assert!(!format!("{event:?}").contains("hush-hush"));
            if matches!(event.event, Event::Finished { .. } | Event::Interrupted) {
                ends.push(event.call_id);
            }
        }
        assert_eq!(ends.iter().filter(|ended| *ended == id).count(), 1, "{id}: {ends:?}");
        ends.sort();
        let calls = self.history.calls(&HistoryQuery::new());
        let mut recorded: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
        recorded.retain(|other| other == id || other.starts_with(&format!("{id}/")));
        recorded.sort();
        assert_eq!(recorded, ends, "{id}: a record for each end");
        for call in &calls {
            assert_ne!(call.status, CallStatus::Running, "{call:?}");
            assert!(!format!("{call:?}").contains("hush-hush"));
        }
        let ours = calls.iter().find(|call| call.id == id).unwrap();
        assert_eq!(ours.status == CallStatus::Interrupted, result.is_none(), "{ours:?}");
        assert!(self.toolkit.asks().list(None).is_empty(), "{id}: a question is left");
        let mut tries = 0;
        while Handle::current().metrics().num_alive_tasks() > 0 {
            tokio::task::yield_now().await;
            tries += 1;
            assert!(tries < 1000, "{id}: a task is left");
        }
        // Files that results name may stay: those of the call, and of those that it made.
        let told = calls.iter().filter(|call| call.status == CallStatus::Ok).count();
        let of_error = usize::from(result.is_some_and(|result| result.text().contains("tool-output")));
        let mut tries = 0;
        while self.files() > told + of_error {
            // A write that was under way ends in its own time.
            tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(2))).await.unwrap();
            tries += 1;
            assert!(tries < 500, "{id}: {} files, {told} calls done", self.files());
        }
        // Everything is free again.
        self.faults.set(0, false);
        let again = self.call("again", CallOptions::new().timeout(Duration::from_secs(9))).await;
        assert!(!again.is_error(), "after {id}: {}", again.text());
        while events.try_next().is_some() {}
    }

    fn files(&self) -> usize {
        let Ok(sessions) = fs::read_dir(self.data.path().join("tool-output")) else { return 0 };
        sessions.map(|session| fs::read_dir(session.unwrap().path()).unwrap().count()).sum()
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Stop {
    Cancel,
    Late,
    Panic,
    Drop,
}

async fn awaits() -> usize {
    let house = house();
    let mut events = house.toolkit.events();
    let result = house.call("dry", CallOptions::new()).await;
    assert!(!result.is_error(), "{}", result.text());
    let count = house.faults.passed.load(Ordering::SeqCst);
    house.check("dry", Some(&result), &mut events).await;
    count
}

#[tokio::test(start_paused = true)]
async fn stopped_at_every_await() {
    let count = awaits().await;
    assert!(count >= 10, "{count}");
    for at in 1..=count {
        for stop in [Stop::Cancel, Stop::Late, Stop::Panic, Stop::Drop] {
            let house = house();
            let mut events = house.toolkit.events();
            house.faults.set(at, stop == Stop::Panic);
            let cancel = CancellationToken::new();
            let limit = if stop == Stop::Late { Duration::from_secs(5) } else { Duration::MAX };
            let options = CallOptions::new().cancel(cancel.clone()).timeout(limit);
            let id = format!("{stop:?} at await {at}");
            let mut is_asked = false;
            let result = {
                let mut call = pin!(house.call(&id, options));
                let early = tokio::select! {
                    biased;
                    result = &mut call => Some(result),
                    () = house.faults.reached.notified(), if stop != Stop::Panic => None,
                };
                match (early, stop) {
                    (Some(result), _) => Some(result),
                    (None, Stop::Drop) => None,
                    (None, Stop::Cancel) => {
                        cancel.cancel();
                        Some(call.await)
                    }
                    // A question that nobody answered keeps the clock from running.
                    (None, _) => match tokio::time::timeout(Duration::from_hours(24), &mut call).await {
                        Ok(result) => Some(result),
                        Err(_) => {
                            is_asked = !house.toolkit.asks().list(None).is_empty();
                            cancel.cancel();
                            Some(call.await)
                        }
                    },
                }
            };
            let kind = result.as_ref().map(|result| result.error().unwrap().kind());
            let expected = match stop {
                Stop::Drop => None,
                Stop::Panic if at <= BEFORE => Some(ToolErrorKind::Denied),
                Stop::Panic => Some(ToolErrorKind::Panicked),
                Stop::Cancel => Some(ToolErrorKind::Aborted),
                // Nobody says whether it may run, until the question is too old.
                Stop::Late if at == BEFORE => Some(ToolErrorKind::Denied),
                Stop::Late if is_asked => Some(ToolErrorKind::Aborted),
                Stop::Late => Some(ToolErrorKind::TimedOut),
            };
            assert_eq!(kind, expected, "{id}: {result:?}");
            house.check(&id, result.as_ref(), &mut events).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn stopped_at_every_poll() {
    for stop in [Stop::Cancel, Stop::Drop] {
        for polls in 0.. {
            let house = house();
            let mut events = house.toolkit.events();
            let cancel = CancellationToken::new();
            let id = format!("{stop:?} after {polls} polls");
            let mut is_over = false;
            let result = {
                let mut call = pin!(house.call(&id, cancel.clone().into()));
                let mut left = polls;
                let stopped = poll_fn(|task| match call.as_mut().poll(task) {
                    Poll::Ready(result) => Poll::Ready(Some(result)),
                    Poll::Pending if left == 0 => Poll::Ready(None),
                    Poll::Pending => {
                        left -= 1;
                        Poll::Pending
                    }
                })
                .await;
                match stopped {
                    Some(result) => {
                        is_over = true;
                        Some(result)
                    }
                    None if stop == Stop::Drop => None,
                    None => {
                        cancel.cancel();
                        Some(call.await)
                    }
                }
            };
            house.check(&id, result.as_ref(), &mut events).await;
            if is_over {
                assert!(polls > 15, "{polls}");
                break;
            }
        }
    }
}
