//! A process that is killed at each named point has stored what it acknowledged, and does nothing twice afterwards.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use serde_json::json;
use toolkit_gateway::{Acceptance, DeliveryState, NewDelivery, Resumption, RunEnd, Store, StoreOptions};

use crate::common::{key, message, target};
use crate::process;

/// Tells the child that it is one, and where its store is.
const PLACE: &str = "TOOLKIT_TEST_STORE";
const MESSAGES: usize = 4;

const POINTS: &[&str] = &[
    "before_commit",
    "after_commit",
    "after_accept",
    "after_claim",
    "before_consume",
    "after_end_before_commit",
    "after_finish",
    "before_send",
    "after_send_before_mark",
];

/// Accepts messages, runs each, sends the answers, and writes down each outcome that it was told of.
async fn work(directory: &Path) {
    let store = Store::open(directory, StoreOptions::new()).await.unwrap();
    let told = |line: String| {
        use std::io::Write as _;
        let mut file =
            std::fs::OpenOptions::new().create(true).append(true).open(directory.join("told")).unwrap();
        writeln!(file, "{line}").unwrap();
    };
    for run in store.runs_in_flight().await.unwrap() {
        assert!(matches!(store.resume(&run.id, 100).await.unwrap(), Resumption::Resumed { .. }));
        store.consume(&run.id, vec![run.message]).await.unwrap();
        let answer = NewDelivery::new(target("ada"), json!(run.message));
        store.finish(&run.id, RunEnd::Answered, Vec::new(), vec![answer]).await.unwrap();
    }
    store.settle_sending("chat", "one", false).await.unwrap();
    for number in 0..MESSAGES {
        let accepted = store.accept(message(&number.to_string(), "ada")).await.unwrap();
        let (Acceptance::Accepted { .. } | Acceptance::Again { .. }) = accepted else { panic!() };
        told(format!("accepted {number}"));
        while let Some(claimed) = store.claim(1).await.unwrap() {
            store.consume(&claimed.run, vec![claimed.message.id]).await.unwrap();
            let answer = NewDelivery::new(target("ada"), json!(claimed.message.id));
            store.finish(&claimed.run, RunEnd::Answered, Vec::new(), vec![answer]).await.unwrap();
            told("finished".to_owned());
        }
        while let Some(sending) = store.next_delivery("chat", "one").await.unwrap() {
            // The platform has it from here on.
            told(format!("sent {}", sending.body));
            store.delivered(sending.id, None).await.unwrap();
        }
    }
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
    process::run("crashes::process_to_be_killed", PLACE, directory, point)
}

#[tokio::test]
async fn whatever_point_a_process_is_killed_at_nothing_is_lost_or_repeated() {
    for point in POINTS {
        for pass in [1, 2, 3] {
            let at = format!("{point}:{pass}");
            let place = tempfile::tempdir().unwrap();
            assert!(!child(place.path(), Some(&at)), "{at} was not passed");
            let store = Store::open(place.path(), StoreOptions::new()).await.unwrap();
            let told = std::fs::read_to_string(place.path().join("told")).unwrap_or_default();
            for number in 0..MESSAGES {
                if told.contains(&format!("accepted {number}\n")) {
                    let again = store.accept(message(&number.to_string(), "ada")).await.unwrap();
                    assert!(matches!(again, Acceptance::Again { .. }), "{at}: {number} is lost");
                }
            }
            store.close().await;
            drop(store);
            assert!(child(place.path(), None), "{at}: the next start fails");
            account(place.path(), &at).await;
        }
    }
}

/// Every message has one ended run with one answer, and no answer reached the platform twice.
async fn account(directory: &Path, at: &str) {
    let store = Store::open(directory, StoreOptions::new()).await.unwrap();
    assert!(store.check().await.unwrap().is_empty(), "{at}");
    assert!(store.runs_in_flight().await.unwrap().is_empty(), "{at}");
    assert!(store.queued(key("ada")).await.unwrap().is_empty(), "{at}");
    let counts = store.delivery_counts().await.unwrap();
    assert_eq!((counts.prepared, counts.sending, counts.dead), (0, 0, 0), "{at}");
    assert_eq!(counts.delivered + counts.unknown, MESSAGES as u64, "{at}");
    assert!(counts.unknown <= 1, "{at}: one was on its way");
    let told = std::fs::read_to_string(directory.join("told")).unwrap();
    for delivered in store.deliveries(DeliveryState::Delivered, 100).await.unwrap() {
        let sent = told.lines().filter(|line| **line == format!("sent {}", delivered.body)).count();
        assert_eq!(sent, 1, "{at}");
    }
    for unknown in store.deliveries(DeliveryState::Unknown, 100).await.unwrap() {
        let sent = told.lines().filter(|line| **line == format!("sent {}", unknown.body)).count();
        assert!(sent <= 1, "{at}");
    }
}
