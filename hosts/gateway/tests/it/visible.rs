//! Who sees which sessions, against a model: a person sees their own, and those below.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;
use toolkit_gateway::{
    Acceptance, DeliveryFilter, EventFilter, NewDelivery, NewMessage, Role, RunEnd, SessionFilter,
    SessionKey, Target,
};

use crate::common::Place;

const PEOPLE: [&str; 3] = ["ada", "bob", "eve"];

/// A session: whose it is, and the place of the one above it among those before.
#[derive(Debug, Clone)]
struct Node {
    person: Option<&'static str>,
    parent: Option<usize>,
}

fn forest() -> impl Strategy<Value = Vec<Node>> {
    let person = prop_oneof![Just(None), proptest::sample::select(&PEOPLE[..]).prop_map(Some)];
    let node = (person, proptest::option::weighted(0.7, any::<prop::sample::Index>()));
    proptest::collection::vec(node, 1..12).prop_map(|nodes| {
        let place = |(place, (person, parent)): (usize, (_, Option<prop::sample::Index>))| Node {
            person,
            parent: parent.filter(|_| place > 0).map(|parent| parent.index(place)),
        };
        nodes.into_iter().enumerate().map(place).collect()
    })
}

fn key(place: usize) -> SessionKey {
    SessionKey::sub("main", &place.to_string()).unwrap()
}

/// Returns true if a session, or one above it, is a person's.
fn is_under(nodes: &[Node], place: usize, person: &str) -> bool {
    let mut at = Some(place);
    while let Some(place) = at {
        if nodes[place].person == Some(person) {
            return true;
        }
        at = nodes[place].parent;
    }
    false
}

async fn check(nodes: Vec<Node>, blocked: Option<usize>) {
    let place = Place::new().await;
    let store = &place.store;
    for person in PEOPLE {
        store.add_person(person.to_owned(), Role::User, "main".to_owned()).await.unwrap();
    }
    for (at, node) in nodes.iter().enumerate() {
        let person = node.person.map(str::to_owned);
        store.open_session(key(at), person, node.parent.map(key)).await.unwrap();
        // Each has one delivery, and one message that waits.
        for id in ["first", "second"] {
            let message = NewMessage::new("test", format!("{at}/{id}"), key(at), json!({ "text": id }));
            let accepted = store.accept(message).await.unwrap();
            assert!(matches!(accepted, Acceptance::Accepted { .. }));
        }
        let run = store.claim(1_000).await.unwrap().unwrap();
        assert_eq!(run.message.session, key(at));
        let delivery = NewDelivery::new(Target::new("chat", "one", at.to_string()), json!({ "text": "a" }));
        store.finish(&run.run, RunEnd::Answered, Vec::new(), vec![delivery]).await.unwrap();
        // No further run begins here, so that the next claim is of the next session.
        assert_eq!(store.claim(1_000).await.unwrap().unwrap().message.session, key(at));
    }
    for person in PEOPLE {
        let seen_by = Some(person.to_owned());
        let seen: BTreeSet<SessionKey> =
            (0..nodes.len()).filter(|at| is_under(&nodes, *at, person)).map(key).collect();
        for at in 0..nodes.len() {
            let visible = store.is_visible_to(key(at), person.to_owned()).await.unwrap();
            assert_eq!(visible, seen.contains(&key(at)), "{person} {at}");
        }
        let filter = SessionFilter { seen_by: seen_by.clone(), ..SessionFilter::default() };
        let listed = store.sessions(filter).await.unwrap().into_iter().map(|session| session.key);
        assert_eq!(listed.collect::<BTreeSet<_>>(), seen, "{person}");
        let filter = EventFilter { person: seen_by.clone(), ..EventFilter::default() };
        let events = store.events(0, filter, 1_000).await.unwrap();
        let of = events.iter().filter_map(|event| event.session.clone());
        assert_eq!(of.collect::<BTreeSet<_>>(), seen, "{person}");
        let alone = events.iter().filter(|event| event.session.is_none());
        assert!(alone.into_iter().all(|event| event.data["person"] == person), "{events:?}");
        let filter = DeliveryFilter { seen_by: seen_by.clone(), limit: 100, ..DeliveryFilter::default() };
        let deliveries = store.list_deliveries(filter).await.unwrap();
        let of = deliveries.into_iter().filter_map(|delivery| delivery.session);
        assert_eq!(of.collect::<BTreeSet<_>>(), seen, "{person}");
        let counts = store.counts(seen_by).await.unwrap();
        let count = seen.len() as u64;
        assert_eq!([counts.sessions, counts.running, counts.outbox.prepared], [count; 3], "{person}");
    }
    // Messages begin runs in the sessions of those who are not blocked alone.
    let Some(blocked) = blocked else { return };
    for run in store.runs_in_flight().await.unwrap() {
        store.finish(&run.id, RunEnd::Answered, Vec::new(), Vec::new()).await.unwrap();
    }
    store.block_person(PEOPLE[blocked].to_owned(), true).await.unwrap();
    for at in 0..nodes.len() {
        let message = NewMessage::new("test", format!("{at}/third"), key(at), json!({ "text": "third" }));
        store.accept(message).await.unwrap();
    }
    let mut begun = BTreeSet::new();
    while let Some(run) = store.claim(1_000).await.unwrap() {
        begun.insert(run.message.session);
    }
    let others = (0..nodes.len()).filter(|at| !is_under(&nodes, *at, PEOPLE[blocked])).map(key);
    assert_eq!(begun, others.collect::<BTreeSet<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_view_shows_a_person_their_sessions_and_those_below(nodes in forest(), blocked in proptest::option::of(0..PEOPLE.len())) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(nodes, blocked));
    }
}
