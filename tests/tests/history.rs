//! A history outlives the process that wrote it.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use toolkit::prelude::*;
use toolkit::{CallStatus, HistoryItem, HistoryReader, JsonlHistory, JsonlOptions, tool_ref};

const CALLS: u64 = 10_000;
/// How old a record is that must be there.
const AGE: Duration = Duration::from_millis(10);
const TICK: Duration = Duration::from_millis(1);
const FILE: &str = "TOOLKIT_TEST_HISTORY";

/// Answers at once, or after it had to wait.
#[tool(read_only)]
async fn repeats(times: usize, waits: bool) -> String {
    if waits {
        tokio::task::yield_now().await;
    }
    "x".repeat(times % 300)
}

#[test]
fn a_killed_process_leaves_its_history() {
    match std::env::var_os(FILE) {
        Some(path) => call_until_killed(Path::new(&path)),
        None => kill_and_read(3),
    }
}

#[test]
#[ignore = "kills a process 50 times: cargo xtask test"]
fn fifty_killed_processes_leave_their_histories() {
    kill_and_read(50);
}

fn kill_and_read(times: u64) {
    for _ in 0..times {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.jsonl");
        // In the middle: after some call, at some moment.
        let random = RandomState::new().hash_one(Instant::now());
        let target = random % CALLS;
        let delay = Duration::from_micros(random / CALLS % 3000);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_killed_process_leaves_its_history", "--nocapture"])
            .env(FILE, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut told = 0;
        let numbers = |line: &String| line.strip_prefix("recorded ").map(|number| number.parse().unwrap());
        while told < target {
            told = lines.by_ref().find_map(|line| numbers(&line)).unwrap();
        }
        thread::sleep(delay);
        child.kill().unwrap();
        // What it told before it was killed.
        told = lines.filter_map(|line| numbers(&line)).last().unwrap_or(told);
        child.wait().unwrap();
        check(&path, told);
    }
}

/// Every call up to `told` is in the file, and every line of it makes sense.
fn check(path: &Path, told: u64) {
    let mut found = HashSet::new();
    for item in HistoryReader::open(path).unwrap() {
        match item.unwrap() {
            HistoryItem::Call(call) if call.status == CallStatus::Ok => {
                let number = call.arguments["times"].as_u64().unwrap();
                assert_eq!(call.text(), "x".repeat(usize::try_from(number % 300).unwrap()));
                assert!(found.insert(number), "{number} is there twice");
            }
            HistoryItem::Call(call) => assert_eq!(call.status, CallStatus::Interrupted),
            other => panic!("{other:?}"),
        }
    }
    let missing: Vec<u64> = (1..=told).filter(|number| !found.contains(number)).collect();
    assert!(missing.is_empty(), "{} of {told} are missing, from {:?} on", missing.len(), missing.first());
}

/// Makes calls as fast as it can, and tells which are so old that they must be there.
fn call_until_killed(path: &Path) {
    let history = Arc::new(JsonlHistory::open(path, JsonlOptions::default()).unwrap());
    let recorded = Arc::new(AtomicU64::new(0));
    let teller = thread::spawn({
        let recorded = Arc::clone(&recorded);
        move || tell(&recorded)
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let toolkit = Toolkit::empty().tool(tool_ref!(repeats)).history(history).build().unwrap();
    let toolbox = runtime.block_on(toolkit.toolbox(&Caller::new().with_session("s")));
    for number in 1..=CALLS {
        let arguments = json!({"times": number, "waits": number % 7 == 0});
        let result = runtime.block_on(toolbox.call(ToolCall::new(number.to_string(), "repeats", arguments)));
        assert!(!result.is_error(), "{result:?}");
        recorded.store(number, Ordering::Release);
        if number % 1000 == 0 {
            // All there is grows old: what is held back shows.
            thread::sleep(3 * AGE);
        }
    }
    teller.join().unwrap();
    // Until it is killed.
    thread::sleep(Duration::from_mins(1));
}

fn tell(recorded: &AtomicU64) {
    let mut last = 0;
    // What was recorded before a moment.
    let mut moments = VecDeque::new();
    // Time in which this thread was let run when it wanted to. A machine with other work may keep any thread, also the
    // one that writes, from running for more than 10 ms; so what it was kept from does not count.
    let mut clock = Duration::ZERO;
    let mut read = Instant::now();
    while last < CALLS {
        thread::sleep(TICK);
        clock += read.elapsed().min(2 * TICK);
        read = Instant::now();
        moments.push_back((clock, recorded.load(Ordering::Acquire)));
        let old = moments.iter().take_while(|(time, _)| *time + AGE < clock).count();
        if let Some((_, number)) = moments.drain(..old).next_back().filter(|(_, number)| *number > last) {
            last = number;
            // Past what the test harness captures, and in one piece.
            std::io::stdout().write_all(format!("recorded {number}\n").as_bytes()).unwrap();
            std::io::stdout().flush().unwrap();
        }
    }
}
