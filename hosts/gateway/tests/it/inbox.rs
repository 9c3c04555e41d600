//! Messages are accepted once, and stay until a run has consumed them.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use serde_json::json;
use toolkit_gateway::{
    Acceptance, CancelOutcome, EventFilter, MessageKind, MessageState, RunEnd, StoreOptions,
};

use crate::common::{Place, START, key, message, target};

#[tokio::test]
async fn a_message_is_stored_once_however_often_it_is_handed_in() {
    let place = Place::new().await;
    let id = place.accept("1", "ada").await;
    // Another session and another text change nothing: the id counts.
    let again = place.store.accept(message("1", "bob")).await.unwrap();
    assert_eq!(again, Acceptance::Again { id, state: MessageState::Queued });
    assert!(place.store.session(key("bob")).await.unwrap().is_none());

    let stored = place.store.message(id).await.unwrap().unwrap();
    assert_eq!((&stored.session, stored.body), (&key("ada"), json!({ "text": "1" })));
    assert_eq!(stored.reply_to, Some(target("ada")));
    assert_eq!(stored.accepted_at, START);

    // Nor after it was consumed, for 30 days; the next of its source is another.
    let run = place.claim().await.run;
    place.store.consume(&run, vec![id]).await.unwrap();
    place.store.finish(&run, RunEnd::Answered, Vec::new(), Vec::new()).await.unwrap();
    place.clock.set(START.after(Duration::from_hours(29 * 24)));
    place.store.clean_up().await.unwrap();
    let again = place.store.accept(message("1", "ada")).await.unwrap();
    assert_eq!(again, Acceptance::Again { id, state: MessageState::Consumed });
    assert!(place.accept("2", "ada").await > id);

    // The same id of another source is another message.
    let other = toolkit_gateway::NewMessage::new("chat:two", "1", key("ada"), json!("other"));
    assert!(matches!(place.store.accept(other).await.unwrap(), Acceptance::Accepted { .. }));
}

#[tokio::test]
async fn an_offset_is_stored_with_its_message_and_not_where_the_queue_is_full() {
    let place = Place::with(StoreOptions::new().with_max_queued(2)).await;
    let offset = async || place.store.offset("chat:one".to_owned()).await.unwrap();
    assert_eq!(offset().await, None);
    for id in ["1", "2"] {
        place.store.accept(message(id, "ada").with_offset(id)).await.unwrap();
        assert_eq!(offset().await.as_deref(), Some(id));
    }
    let refused = place.store.accept(message("3", "ada").with_offset("3")).await.unwrap();
    assert_eq!(refused, Acceptance::QueueFull { limit: 2 });
    // That is stored with the refusal that its sender is told.
    assert_eq!(offset().await.as_deref(), Some("2"));

    // Another session has room, and what the gateway itself brings is not refused.
    place.accept("4", "bob").await;
    for (id, kind) in [("5", MessageKind::Result), ("6", MessageKind::Fire)] {
        let accepted = place.store.accept(message(id, "ada").with_kind(kind)).await.unwrap();
        assert!(matches!(accepted, Acceptance::Accepted { .. }));
    }
    place.store.set_offset("chat:one".to_owned(), "9".to_owned()).await.unwrap();
    assert_eq!(offset().await.as_deref(), Some("9"));
}

#[tokio::test]
async fn a_message_is_taken_back_until_a_run_has_it() {
    let place = Place::new().await;
    let (first, second) = (place.accept("1", "ada").await, place.accept("2", "ada").await);
    let run = place.claim().await.run;
    let late = place.store.cancel_message(first).await.unwrap();
    assert_eq!(late, CancelOutcome::TooLate { state: MessageState::Claimed, run: Some(run.clone()) });
    assert_eq!(place.store.cancel_message(second).await.unwrap(), CancelOutcome::Cancelled);
    let again = place.store.cancel_message(second).await.unwrap();
    assert_eq!(again, CancelOutcome::TooLate { state: MessageState::Cancelled, run: None });
    place.store.finish(&run, RunEnd::Answered, Vec::new(), Vec::new()).await.unwrap();
    assert_eq!(place.store.claim(1).await.unwrap(), None);
    let unknown = toolkit_gateway::MessageId(99);
    assert_eq!(place.store.cancel_message(unknown).await.unwrap(), CancelOutcome::Unknown);
}

#[tokio::test]
async fn a_message_beyond_a_limit_of_length_is_refused_with_the_limit() {
    let place = Place::new().await;
    let long = toolkit_gateway::NewMessage::new("chat", "1", key("ada"), json!("x".repeat(1 << 20)));
    let error = place.store.accept(long).await.unwrap_err().to_string();
    assert!(error.contains("1048578 bytes") && error.contains("1048576"), "{error}");
    let long = toolkit_gateway::NewMessage::new("chat", "1".repeat(513), key("ada"), json!(1));
    let error = place.store.accept(long).await.unwrap_err().to_string();
    assert!(error.contains("external id"), "{error}");
    assert!(place.store.session(key("ada")).await.unwrap().is_none(), "nothing of it was stored");
}

#[tokio::test]
async fn events_tell_what_happened_in_order_and_to_whom_it_belongs() {
    let place = Place::new().await;
    let mut last = place.store.last_event();
    assert_eq!(*last.borrow_and_update(), 0);
    place.store.accept(message("1", "ada").with_person("ada")).await.unwrap();
    place.store.accept(message("2", "bob").with_person("bob")).await.unwrap();
    assert!(last.has_changed().unwrap());
    let kinds = async |filter| {
        let events = place.store.events(0, filter, 100).await.unwrap();
        events.into_iter().map(|event| event.kind).collect::<Vec<_>>()
    };
    let all = ["session.begun", "message.accepted", "session.begun", "message.accepted"];
    assert_eq!(kinds(EventFilter::default()).await, all);
    let of_ada = EventFilter { person: Some("ada".to_owned()), ..EventFilter::default() };
    assert_eq!(kinds(of_ada).await, all[..2]);
    let of_bob = EventFilter { session: Some(key("bob")), ..EventFilter::default() };
    assert_eq!(kinds(of_bob).await, all[..2]);

    // A reader goes on where it was; the numbers go on after a restart, also where retention has removed all.
    let rest = place.store.events(3, EventFilter::default(), 100).await.unwrap();
    assert_eq!(rest.iter().map(|event| event.seq).collect::<Vec<_>>(), [4]);
    assert_eq!(place.store.events(0, EventFilter::default(), 1).await.unwrap().len(), 1);
    place.clock.set(START.after(Duration::from_hours(8 * 24)));
    assert_eq!(place.store.clean_up().await.unwrap(), 4);
    assert_eq!(place.store.clean_up().await.unwrap(), 0);
    let place = place.reopen().await;
    assert_eq!(*place.store.last_event().borrow(), 4);
    assert_eq!(place.store.first_event().await.unwrap(), None);
    place.accept("3", "ada").await;
    assert_eq!(place.store.first_event().await.unwrap(), Some(5));
}

#[tokio::test]
async fn many_senders_at_once_lose_nothing_and_learn_their_numbers() {
    let place = Place::with(StoreOptions::new().with_max_queued(1_000)).await;
    let senders = (0..20).map(|sender| {
        let store = place.store.clone();
        tokio::spawn(async move {
            let mut ids = Vec::new();
            for number in 0..20 {
                // Each twice, as a source does that did not hear the answer.
                for _ in 0..2 {
                    let accepted = store.accept(message(&format!("{sender}/{number}"), "ada")).await.unwrap();
                    let (Acceptance::Accepted { id } | Acceptance::Again { id, .. }) = accepted else {
                        panic!()
                    };
                    ids.push(id);
                }
            }
            ids
        })
    });
    let mut ids = Vec::new();
    for sender in senders.collect::<Vec<_>>() {
        let of_one = sender.await.unwrap();
        assert!(of_one.is_sorted(), "the order of a sender is kept");
        ids.extend(of_one);
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 400);
    let waiting = place.store.queued(key("ada")).await.unwrap();
    assert_eq!(waiting.iter().map(|message| message.id).collect::<Vec<_>>(), ids);
}
