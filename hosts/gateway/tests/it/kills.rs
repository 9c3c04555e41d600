//! A gateway that is killed at each named point, of its store and of its transcripts, answers every message once.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use toolkit_gateway::{Acceptance, DeliveryState, RunState, Sessions, SessionsOptions, Store, StoreOptions};

use crate::agents::{Ledger, agents, in_time, model, until};
use crate::common::{key, message};
use crate::process;

/// Tells the child that it is one, and where it works.
const PLACE: &str = "TOOLKIT_TEST_GATEWAY";

const MESSAGES: [(&str, &str); 5] =
    [("a1", "ada"), ("b1", "bob"), ("plain a2", "ada"), ("a3", "ada"), ("b2", "bob")];

/// Processes that are started for a point which is passed so often in some of them alone.
const MAX_TRIES: usize = 10;

/// Points, and a pass of each.
const POINTS: &[(&str, u32)] = &[
    ("before_commit", 2),
    ("before_commit", 7),
    ("after_commit", 3),
    ("after_commit", 8),
    ("after_accept", 1),
    ("after_accept", 4),
    ("after_claim", 1),
    ("after_claim", 3),
    ("after_end_before_commit", 2),
    ("after_finish", 1),
    ("after_end_before_commit", 1),
    ("after_end_before_commit", 3),
    ("after_finish", 2),
    ("before_send", 1),
    ("after_send_before_mark", 2),
    ("transcript_line", 1),
    ("transcript_line", 3),
    ("transcript_line", 6),
    ("transcript_line", 12),
    ("transcript_line", 20),
    ("transcript_sync", 1),
    ("transcript_sync", 3),
    ("transcript_sync", 6),
    ("transcript_sync", 12),
];

/// Sends what was not accepted, and delivers, until everything is answered and delivered.
async fn work(directory: &Path) {
    let store = Store::open(directory, StoreOptions::new()).await.unwrap();
    store.settle_sending("chat", "one", false).await.unwrap();
    let agents = agents(directory, &Ledger::new(directory), &model());
    let options = SessionsOptions::new().max_runs(2).max_resumptions(100);
    let sessions = Sessions::start(store.clone(), agents, options).await.unwrap();
    let told = |line: String| {
        use std::io::Write as _;
        let told = std::fs::OpenOptions::new().create(true).append(true).open(directory.join("told"));
        writeln!(told.unwrap(), "{line}").unwrap();
    };
    for (id, peer) in MESSAGES {
        let accepted = sessions.send(message(id, peer)).await.unwrap();
        assert!(matches!(accepted, Acceptance::Accepted { .. } | Acceptance::Again { .. }));
        told(format!("accepted {id}"));
    }
    let deliver = async || {
        while let Some(sending) = store.next_delivery("chat", "one").await.unwrap() {
            told(format!("sent {}", sending.id));
            store.delivered(sending.id, None).await.unwrap();
        }
        store.runs_in_flight().await.unwrap().is_empty()
            && store.queued(key("ada")).await.unwrap().is_empty()
            && store.queued(key("bob")).await.unwrap().is_empty()
            && store.delivery_counts().await.unwrap().prepared == 0
    };
    until(&store, deliver).await;
    in_time(sessions.stop(std::time::Duration::from_mins(1))).await.unwrap();
    store.close().await;
}

/// The process that the test below kills; without its place it does nothing.
#[tokio::test]
async fn process_to_be_killed() {
    if let Some(directory) = std::env::var_os(PLACE) {
        work(Path::new(&directory)).await;
    }
}

fn child(directory: &Path, point: Option<&str>) -> bool {
    process::run("kills::process_to_be_killed", PLACE, directory, point)
}

#[tokio::test]
async fn whatever_point_a_gateway_is_killed_at_every_message_is_answered_once() {
    for (point, pass) in POINTS {
        let at = format!("{point}:{pass}");
        // How often a point is passed depends on which messages reach a run under way.
        let mut tries = (0..MAX_TRIES).map(|_| tempfile::tempdir().unwrap());
        let place = tries.find(|place| !child(place.path(), Some(&at)));
        let place = place.unwrap_or_else(|| panic!("{at} was not passed"));
        // It is killed once more at the same point, where it is passed again.
        child(place.path(), Some(&at));
        assert!(child(place.path(), None), "{at}: the next start fails");
        account(place.path(), &at).await;
    }
}

async fn account(directory: &Path, at: &str) {
    let store = Store::open(directory, StoreOptions::new()).await.unwrap();
    assert!(store.check().await.unwrap().is_empty(), "{at}");
    let told = std::fs::read_to_string(directory.join("told")).unwrap();
    let mut runs = std::collections::BTreeSet::new();
    for (id, peer) in MESSAGES {
        let Acceptance::Again { id: number, .. } = store.accept(message(id, peer)).await.unwrap() else {
            panic!("{at}: {id} is lost")
        };
        let stored = store.message(number).await.unwrap().unwrap();
        let run = stored.run.unwrap();
        assert_eq!(store.run(&run).await.unwrap().unwrap().state, RunState::Answered, "{at}: {id}");
        let parts = store.deliveries_of(&run).await.unwrap();
        assert_eq!(parts.len(), 1, "{at}: {id}");
        assert!(parts[0].body["text"].as_str().unwrap().contains(id), "{at}: {id}: {}", parts[0].body);
        let sent = told.lines().filter(|line| **line == format!("sent {}", parts[0].id)).count();
        assert!(sent <= 1, "{at}: {id} was sent {sent} times");
        if parts[0].state == DeliveryState::Delivered {
            assert_eq!(sent, 1, "{at}: {id}");
        }
        runs.insert(run);
    }
    let counts = store.delivery_counts().await.unwrap();
    assert_eq!(counts.delivered + counts.unknown, runs.len() as u64, "{at}: {counts:?}");
    assert!(counts.unknown <= 2, "{at}: two kills, with one conversation on its way each");
    let mut effects = Ledger::new(directory).lines();
    let all = effects.len();
    effects.sort();
    effects.dedup();
    assert_eq!(effects.len(), all, "{at}: something was done twice");
    store.close().await;
}
