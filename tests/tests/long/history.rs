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
use toolkit::{
    history::{CallStatus, HistoryItem, HistoryReader, JsonlHistory, JsonlOptions},
    tool_ref,
};

const CALLS: u64 = 10_000;
/// After so many calls none is made for a while, and the last before it are made slowly.
const PAUSE: u64 = 1000;
const SLOW: u64 = PAUSE - 20;
/// How old a record is that must be there.
const AGE: Duration = Duration::from_millis(10);
/// How old one is that must be there whatever else the machine does. It may keep the thread that writes, or one that
/// holds what it needs, from running for more than 10 ms; so of many processes a few may be late.
const SURE_AGE: Duration = Duration::from_millis(200);
/// One of so many.
const LATE: usize = 4;
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
#[ignore = "kills a process 50 times: cargo xtask ci"]
fn fifty_killed_processes_leave_their_histories() {
    kill_and_read(50);
}

fn kill_and_read(times: usize) {
    let late: Vec<String> = (0..times).filter_map(|time| kill_and_read_one(time % 2 == 0)).collect();
    assert!(late.len() <= times.div_ceil(LATE), "{} of {times} were late: {late:#?}", late.len());
}

/// The missing records among those that were older than [`AGE`].
fn kill_and_read_one(is_in_pause: bool) -> Option<String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.jsonl");
    // In the middle: after some call, at some moment; of two once in a pause, where nothing comes that brings along what is
    // held back.
    let random = RandomState::new().hash_one(Instant::now());
    let target = random % CALLS;
    let target = if is_in_pause { (target / PAUSE + 1) * PAUSE } else { target };
    let delay = Duration::from_micros(random / CALLS % 3000);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "history::a_killed_process_leaves_its_history", "--nocapture"])
        .env(FILE, &path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut told = Told::default();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    while told.old < target {
        told.hear(&lines.next().unwrap());
    }
    thread::sleep(delay);
    child.kill().unwrap();
    // The records that it reported before it was killed.
    lines.for_each(|line| told.hear(&line));
    child.wait().unwrap();
    check(&path, told)
}

/// The last calls that are older than [`AGE`] and than [`SURE_AGE`].
#[derive(Default, Clone, Copy)]
struct Told {
    old: u64,
    sure: u64,
}

impl Told {
    fn hear(&mut self, line: &str) {
        if let Some((old, sure)) = line.strip_prefix("recorded ").and_then(|numbers| numbers.split_once(' '))
        {
            *self = Self { old: old.parse().unwrap(), sure: sure.parse().unwrap() };
        }
    }
}

/// Every call that is surely old is in the file, none is left out between two, and every line makes sense.
fn check(path: &Path, told: Told) -> Option<String> {
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
    let last = (1..=CALLS + 1).find(|number| !found.contains(number)).unwrap() - 1;
    assert_eq!(u64::try_from(found.len()).unwrap(), last, "some are missing between others");
    assert!(last >= told.sure, "those from {last} on are missing, and {} was long recorded", told.sure);
    (last < told.old).then(|| format!("{} of {}, from {last} on", told.old - last, told.old))
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
        match number % PAUSE {
            // All there is grows old: what is held back shows.
            0 => thread::sleep(3 * AGE),
            // A writer that waits for more has to be patient.
            SLOW.. => thread::sleep(TICK / 4),
            _ => {}
        }
    }
    teller.join().unwrap();
    // Until it is killed.
    thread::sleep(Duration::from_mins(1));
}

fn tell(recorded: &AtomicU64) {
    let mut told = Told::default();
    // The records before a moment.
    let mut moments = [VecDeque::new(), VecDeque::new()];
    // Time in which this thread was let run when it wanted to: a machine that stands still ages nothing.
    let mut clock = Duration::ZERO;
    let mut read = Instant::now();
    while told.sure < CALLS {
        thread::sleep(TICK);
        clock += read.elapsed().min(2 * TICK);
        read = Instant::now();
        let now = (clock, recorded.load(Ordering::Acquire));
        let [old, sure] = &mut moments;
        let mut is_news = false;
        for (moments, age, last) in [(old, AGE, &mut told.old), (sure, SURE_AGE, &mut told.sure)] {
            moments.push_back(now);
            let old = moments.iter().take_while(|(time, _)| *time + age < clock).count();
            if let Some((_, number)) = moments.drain(..old).next_back().filter(|(_, number)| number > last) {
                *last = number;
                is_news = true;
            }
        }
        if is_news {
            // Past what the test harness captures, and in one piece.
            let line = format!("recorded {} {}\n", told.old, told.sure);
            std::io::stdout().write_all(line.as_bytes()).unwrap();
            std::io::stdout().flush().unwrap();
        }
    }
}
