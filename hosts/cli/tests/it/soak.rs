//! Hosts that run for weeks: rounds of everything that clients do, and what the hosts hold after each.
//!
//! `cargo xtask soak` runs them for longer, and keeps the result in `bench/RESULTS.md`.

#![cfg(all(target_os = "linux", feature = "agent", feature = "mcp", feature = "fs"))]

use crate::agent::chunks;
use crate::hosts::{Held, Http, Pipe, Place, job, slope};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use toolkit_loopback::Loopback;

/// Seconds that the rounds take together, if the variable of this name says nothing else.
const SECONDS: (&str, u64) = ("SOAK_SECONDS", 40);
/// Rounds until everything that is kept on purpose is there.
const WARM_UP: usize = 6;
/// Sessions that are abandoned before the first round: as many as a server keeps, so that each further one takes the place of an old one.
const KEPT: usize = 1_000;
/// Rounds however slow the machine is.
const MIN_ROUNDS: usize = WARM_UP + 6;
/// Sessions of each round that nobody ends.
const ABANDONED: usize = 40;
/// The most memory that a host may have gained after the warm-up, in KiB: pieces that the allocator keeps, and pages that were not needed
/// before.
const MAX_GROWTH_KIB: u64 = 48 << 10;
/// The most descriptors that a host may have gained: those of what it is about to close.
const MAX_DESCRIPTORS: u64 = 16;
/// The most threads: those that wait for a file end only after 10 seconds.
const MAX_THREADS: u64 = 160;

/// The most processes that a host may have gained: helpers that start its commands.
const MAX_PROCESSES: u64 = 4;

/// The calls that every client makes: files, a search, a command, an output that is spilled.
fn calls(round: usize) -> Vec<(&'static str, Value)> {
    vec![
        ("write", json!({"file_path": "new.txt", "content": format!("round {round}\n")})),
        ("read", json!({"file_path": "notes.txt"})),
        ("grep", json!({"pattern": "two"})),
        ("exec", json!({"command": format!("cat new.txt && rm new.txt # {round}")})),
        ("exec", json!({"command": "yes a line of output | head -n 20000"})),
    ]
}

fn check(calls: &[(&str, Value)], texts: &[String], round: usize) {
    assert_eq!(calls.len(), texts.len());
    assert!(texts[1].contains("two") && texts[2].contains("notes.txt"), "{texts:?}");
    assert!(
        texts[3].contains(&format!("round {round}")) && texts[4].contains("a line of output"),
        "{texts:?}"
    );
}

/// Sessions over HTTP: ended in order, with and without jobs, and abandoned. Returns the number of requests.
fn over_http(server: &Http, round: usize) -> u64 {
    for _ in 0..4 {
        let session = server.begun();
        let calls = calls(round);
        let texts: Vec<String> =
            calls.iter().map(|(name, arguments)| server.call(&session, name, arguments)).collect();
        check(&calls, &texts, round);
        server.end(&session);
    }
    let session = server.begun();
    let stopped = job::id_of(&server.call(&session, "exec", &job::lasting()));
    server.call(&session, "exec", &job::lasting());
    server.call(&session, "process", &json!({"action": "stop", "task_id": stopped}));
    // The second job ends with its session.
    server.end(&session);
    for _ in 0..ABANDONED {
        server.open();
    }
    4 * 8 + 6 + ABANDONED as u64
}

/// Calls over standard input, many at once. Returns the number of requests.
fn over_stdio(server: &mut Pipe, round: usize) -> u64 {
    let mut sent = 0;
    for _ in 0..4 {
        let calls = calls(round);
        check(&calls, &server.calls(&calls), round);
        sent += calls.len() as u64;
    }
    let reads = vec![("read", json!({"file_path": "notes.txt"})); 50];
    assert!(server.calls(&reads).iter().all(|text| text.contains("two")));
    let job = job::id_of(&server.call("exec", &job::lasting()));
    server.call("process", &json!({"action": "stop", "task_id": job}));
    server.call("process", &json!({"action": "remove", "task_id": job}));
    sent + 53
}

/// Sessions of an editor, each with a prompt. Returns the number of requests.
fn over_acp(editor: &mut Pipe, place: &Place) -> u64 {
    for _ in 0..5 {
        let opened = editor.request("session/new", &json!({"cwd": place.work(), "mcpServers": []}));
        let session = &opened["sessionId"];
        let prompt = json!([{"type": "text", "text": "Hi"}]);
        let ended = editor.request("session/prompt", &json!({"sessionId": session, "prompt": prompt}));
        assert_eq!(ended["stopReason"], "end_turn");
        editor.request("session/close", &json!({"sessionId": session}));
    }
    15
}

/// The rounds of one host: operations so far, and what it held after them.
struct Rounds {
    name: &'static str,
    operations: u64,
    samples: Vec<(u64, Held)>,
}

impl Rounds {
    fn new(name: &'static str) -> Self {
        Self { name, operations: 0, samples: Vec::new() }
    }

    fn add(&mut self, operations: u64, held: Held) {
        self.operations += operations;
        self.samples.push((self.operations, held));
    }

    /// Those after the warm-up.
    fn settled(&self) -> &[(u64, Held)] {
        &self.samples[WARM_UP - 1..]
    }

    fn report(&self, report: &mut String) {
        let (settled, last) = (self.settled(), self.samples.len() - 1);
        for (kind, (name, first)) in settled[0].1.named().into_iter().enumerate() {
            let of = |sample: &(u64, Held)| (sample.0, sample.1.named()[kind].1);
            let values: Vec<(u64, u64)> = settled.iter().map(of).collect();
            let peak = values.iter().map(|value| value.1).max().unwrap_or_default();
            let (_, end) = of(&self.samples[last]);
            let row = format!(
                "| {} | {} | {name} | {first} | {end} | {peak} | {}.{} |",
                self.name,
                self.operations,
                slope(&values) / 1000,
                slope(&values).abs() % 1000 / 100
            );
            writeln!(report, "{row}").expect("text");
        }
    }

    fn check(&self) {
        let (first, last) = (self.settled()[0].1, self.samples[self.samples.len() - 1].1);
        let name = self.name;
        let most = first.resident_kib + MAX_GROWTH_KIB;
        assert!(last.resident_kib <= most, "{name} grows: {first:?}, then {last:?}");
        assert!(last.descriptors <= first.descriptors + MAX_DESCRIPTORS, "{name}: {first:?}, then {last:?}");
        assert!(last.threads <= MAX_THREADS, "{name}: {last:?}");
        assert!(last.processes <= first.processes + MAX_PROCESSES, "{name}: {first:?}, then {last:?}");
    }
}

fn configuration(model: &str, round: usize) -> String {
    json!({
        "models": {"local": {"baseUrl": format!("{model}/v1"), "model": "m"}},
        "permission": {"edit": "allow", "exec": "allow"},
        // A value that differs, so that it is read anew each time.
        "tools": {"exec": {"security": "auto", "maxFileMb": 1000 + round}},
    })
    .to_string()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a minute: cargo xtask soak"]
async fn hosts_hold_no_more_after_many_rounds() {
    let answer = || chunks(&json!({"role": "assistant", "content": "Well."}), "stop");
    let model = Loopback::start(move |_| answer()).await;
    let url = model.url().to_owned();
    tokio::task::spawn_blocking(move || soak(&url)).await.expect("rounds");
}

#[expect(clippy::print_stderr, reason = "the report is for whoever runs it")]
fn soak(model: &str) {
    let seconds = std::env::var(SECONDS.0).map_or(SECONDS.1, |text| text.parse().expect("seconds"));
    let place = Place::new(&configuration(model, 0));
    let http = Http::start(&place);
    let mut stdio = Pipe::mcp(&place);
    let mut editor = Pipe::acp(&place);
    let mut of = ["HTTP", "stdio", "ACP"].map(Rounds::new);
    for _ in 0..KEPT {
        http.open();
    }
    let (began, mut round) = (Instant::now(), 0);
    while round < MIN_ROUNDS || began.elapsed() < Duration::from_secs(seconds) {
        round += 1;
        let done = [over_http(&http, round), over_stdio(&mut stdio, round), over_acp(&mut editor, &place)];
        place.configure(&configuration(model, round));
        let hosts = [&http.host, &stdio.host, &editor.host];
        for ((rounds, done), host) in of.iter_mut().zip(done).zip(hosts) {
            rounds.add(done, host.held(&place));
            assert_eq!(host.commands(), 0, "commands of {} are left", rounds.name);
        }
    }
    let mut report = format!(
        "{round} rounds in {} s; columns are the value after round {WARM_UP}, after the last, the highest between, and the growth for \
         each thousand requests.\n\n| host | requests | | first | last | highest | slope |\n|---|--:|---|--:|--:|--:|--:|\n",
        began.elapsed().as_secs()
    );
    for rounds in &of {
        rounds.report(&mut report);
    }
    eprintln!("{report}");
    if let Some(path) = std::env::var_os("SOAK_REPORT") {
        std::fs::write(path, report).expect("a file");
    }
    of.iter().for_each(Rounds::check);
}
