//! A gateway that is killed at random times under load: nothing that it accepted is lost, and nothing is done or sent twice.
//!
//! ```text
//! clients ── HTTP ──┐                             ┌── sent: the file of a platform without idempotency keys
//! platform: a file ─┼──► the gateway, a process ──┼── effects: the ledger of the tools
//! Telegram ─────────┤     that is killed          ├── Telegram: a double of its Bot API, with faults
//! jobs ─────────────┘                             └── HTTP ──► a scripted model, which repeats the id of each message
//! ```
//!
//! A seed decides what is sent, when the process is killed, and how much of its transcripts is lost with it. At the end everything that waits is
//! worked off, and the store, the ledger and what the platforms have are compared with what was sent.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test; its account and its seed are for who reads its output"
)]

mod accounting;
mod clients;
mod gateway;
mod kills;
mod model;
mod platform;
mod random;
mod telegram;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use accounting::Input;
use random::Random;
use telegram::{People, Telegram};

/// Tells the child that it is one, and where it works.
const PLACE: &str = "TOOLKIT_TEST_RANDOM_KILLS";
/// The name of the test that is the child.
const CHILD: &str = "random_kills::process_to_be_killed";
/// The variable with the seed of a run that is repeated.
const SEED: &str = "GATEWAY_KILLS_SEED";
/// Nothing that has to happen takes so long.
const LONG: Duration = Duration::from_mins(5);

/// The files of a run.
#[derive(Debug, Clone)]
pub(crate) struct Place(PathBuf);

impl Place {
    fn new(directory: &Path) -> Self {
        Self(directory.to_owned())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The data directory of the gateway.
    fn data(&self) -> PathBuf {
        self.file("data")
    }

    /// Adds a line to a file.
    fn note(&self, file: &str, line: &str) {
        use std::io::Write as _;
        let file = fs::OpenOptions::new().create(true).append(true).open(self.file(file));
        file.unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The whole lines of a file, in order.
    fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.file(file)).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(str::to_owned).collect()
    }

    /// Makes the directories and the configuration.
    fn prepare(&self, model: &str, telegram: &Telegram) {
        for name in ["user", "work", "synced"] {
            fs::create_dir(self.file(name)).unwrap();
        }
        let configuration = json!({
            "models": { "local": { "baseUrl": model, "model": "m", "contextTokens": 1_000_000 } },
            "permission": { "cron": "allow", "message": "allow", "sessions_spawn": "allow", "sessions_send": "allow" },
            "channels": { "telegram": { "telegram": telegram.channel() } },
            "gateway": { "groups": Telegram::groups(), "othersMayUse": ["kill_effect", "plugins"] },
            "sessions": { "maxQueued": 10_000 },
        });
        fs::write(self.file("user/toolkit.json5"), configuration.to_string()).unwrap();
    }
}

async fn in_time<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, work).await.unwrap_or_else(|_| panic!("it takes too long: {what}"))
}

/// The process that is killed; without its place it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_to_be_killed() {
    if let Some(directory) = std::env::var_os(PLACE) {
        gateway::work(&Place::new(Path::new(&directory))).await;
    }
}

/// Kills a gateway so often, and checks what it leaves.
pub(crate) async fn check(kills: usize) {
    let seed = std::env::var(SEED).ok().map_or_else(Random::any_seed, |seed| seed.parse().unwrap());
    println!("{SEED}={seed}");
    let directory = tempfile::tempdir().unwrap();
    let place = Place::new(directory.path());
    let mut random = Random::new(seed);
    let model = model::Model::start(random.fork()).await;
    let telegram = Telegram::start().await;
    place.prepare(&model.url, &telegram);

    let mut processes = kills::Processes::new(&place, random.fork());
    processes.start().await;
    let tokens = clients::set_up(&place).await;
    let clients = clients::Clients::start(&place, tokens, &mut random);
    let mut incoming = platform::Incoming::new(&place, random.fork());
    telegram.set_up(&place).await;
    let people = People::start(&telegram, random.fork());
    for number in 0..kills {
        telegram.trouble(&mut random);
        let before = processes.live(&mut incoming).await;
        processes.kill();
        if number % 20 == 19 {
            println!("{} kills; the last one after {before:?}", number + 1);
        }
        processes.start().await;
    }
    let over_http = in_time("the clients end", clients.end()).await;
    let on_telegram = in_time("the people end", people.end()).await;
    telegram.0.clear_faults();
    place.note("drain", &telegram.last_offset());
    let killed = processes.ended().await;
    let input = Input { over_http, on_platform: incoming.sent, on_telegram };
    let report = accounting::account(&place, &input, &telegram, &killed, &model.faults());
    println!("{report}");
    let is_fine = report.is_fine();
    // One that is wrong stays, to be looked at.
    let place = if is_fine { None } else { Some(directory.keep()) };
    assert!(is_fine, "{SEED}={seed}, in {place:?}:\n{}", report.wrong());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_is_killed_at_random_times_loses_and_repeats_nothing() {
    check(8).await;
}
