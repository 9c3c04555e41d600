//! Ten thousand calls at once.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit::prelude::*;
use toolkit::{
    CallOptions,
    events::Event,
    history::{HistoryQuery, MemoryHistory},
    inspection::LoopGuard,
    text::Redactor,
};

const SESSIONS: usize = 64;
const CALLS: usize = 10_000;
/// The most address space of the process with all of them under way, in KiB: what the shell lets it have.
const ADDRESS_SPACE_KIB: u64 = 600_000;
/// The most memory that it really holds, in KiB.
const RESIDENT_KIB: u64 = 200_000;

/// The texts that a session wrote, in order.
type Written = Mutex<Vec<usize>>;

/// Writes a number.
#[tool]
async fn writes(ctx: &ToolContext, number: usize) -> String {
    tokio::task::yield_now().await;
    ctx.session_state::<Written>().lock().unwrap().push(number);
    tokio::task::yield_now().await;
    "written".to_owned()
}

/// Counts what was written so far.
#[tool(read_only)]
async fn reads(ctx: &ToolContext, running: State<AtomicUsize>) -> String {
    running.fetch_add(1, Ordering::Relaxed);
    let before = ctx.session_state::<Written>().lock().unwrap().len();
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(before, ctx.session_state::<Written>().lock().unwrap().len(), "written beside a reader");
    before.to_string()
}

/// Writes more than a model gets.
#[tool(read_only, concurrency = 32)]
async fn streams(ctx: &ToolContext) -> Result<(), ToolError> {
    let mut output = ctx.output();
    let part = vec![b'x'; 64 << 10];
    for _ in 0..8 {
        output.write_all(&part).await?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_calls_at_once() {
    if std::env::var_os("SOAK").is_none() {
        limited();
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .max_blocking_threads(4)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(all_calls());
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    let peak: u64 = peak.unwrap().trim().parse().unwrap();
    println!("{CALLS} calls of {SESSIONS} sessions held {peak} KiB at most");
    assert!(peak < RESIDENT_KIB, "{peak} KiB");
}

/// Runs this very test again, in a shell that limits its memory.
fn limited() {
    let command = format!(
        "ulimit -v {ADDRESS_SPACE_KIB} && exec '{}' --exact soak::ten_thousand_calls_at_once --nocapture",
        std::env::current_exe().unwrap().display()
    );
    // Each thread's arena would reserve 64 MiB of addresses.
    let run =
        Command::new("sh").args(["-c", &command]).env("SOAK", "1").env("MALLOC_ARENA_MAX", "2").output();
    let run = run.unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{text}{}", String::from_utf8_lossy(&run.stderr));
    assert!(text.contains("1 passed"), "{text}");
}

async fn all_calls() {
    let data = tempfile::tempdir().unwrap();
    let history = std::sync::Arc::new(MemoryHistory::new(Redactor::new()));
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .loop_guard(LoopGuard::off())
        .tool(toolkit::tool_ref!(writes))
        .tool(toolkit::tool_ref!(reads))
        .tool(toolkit::tool_ref!(streams))
        .service(AtomicUsize::new(0))
        .history(std::sync::Arc::clone(&history))
        .data_dir(data.path())
        .build()
        .unwrap();
    // Nobody reads until the end.
    let mut events = toolkit.events();
    let mut tasks = Vec::new();
    for session in 0..SESSIONS {
        let toolbox = toolkit.toolbox(&Caller::new().with_session(format!("s{session}"))).await;
        let count = CALLS / SESSIONS + usize::from(session < CALLS % SESSIONS);
        tasks.push(tokio::spawn(async move {
            let mut expected = Vec::new();
            let mut written = 0;
            let calls: Vec<ToolCall> = (0..count)
                .map(|number| {
                    let id = format!("{session}.{number}");
                    match number % 8 {
                        3 | 6 => {
                            written += 1;
                            expected.push("written".to_owned());
                            ToolCall::new(id, "writes", json!({ "number": number }))
                        }
                        5 if number % 3 == 0 => {
                            expected.push(String::new());
                            ToolCall::new(id, "streams", json!({}))
                        }
                        _ => {
                            expected.push(written.to_string());
                            ToolCall::new(id, "reads", json!({}))
                        }
                    }
                })
                .collect();
            let results = toolbox.call_all(calls, CallOptions::new()).await;
            for (number, (result, expected)) in results.iter().zip(&expected).enumerate() {
                assert_eq!(result.id, format!("{session}.{number}"));
                assert!(!result.is_error(), "{result:?}");
                // A reader sees what was asked to be written before it, and nothing that was asked after it.
                assert!(expected.is_empty() || result.text() == *expected, "{expected}: {result:?}");
            }
            results.len()
        }));
    }
    let mut ended = 0;
    for task in tasks {
        ended += task.await.unwrap();
    }
    assert_eq!(ended, CALLS);
    assert_eq!(history.calls(&HistoryQuery::new()).len(), CALLS);
    let mut finished = 0;
    while let Some(event) = events.try_next() {
        finished += usize::from(matches!(event.event, Event::Finished { .. }));
    }
    assert_eq!(finished, CALLS, "a slow reader loses no result");
}
