//! Random interleavings of senders, runs, cancels and crashes, beside a model of the queue that is a list.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;
use toolkit_gateway::{
    Acceptance, CancelOutcome, DeliveryState, MessageId, NewDelivery, Resumption, RunEnd, RunId,
    SteerOutcome, Store, StoreOptions,
};

use crate::common::{Place, key, message, target};

#[derive(Debug, Clone)]
enum Step {
    Accept { peer: u8, id: u8 },
    Cancel { nth: u8 },
    Claim,
    Steer { peer: u8 },
    Consume { peer: u8 },
    Finish { peer: u8, answered: bool },
    Crash,
    Send,
}

const PEERS: u8 = 3;
const MAX_RUNS: u32 = 2;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let peer = 0..PEERS;
    let step = prop_oneof![
        4 => (peer.clone(), 0..40_u8).prop_map(|(peer, id)| Step::Accept { peer, id }),
        1 => any::<u8>().prop_map(|nth| Step::Cancel { nth }),
        3 => Just(Step::Claim),
        2 => peer.clone().prop_map(|peer| Step::Steer { peer }),
        2 => peer.clone().prop_map(|peer| Step::Consume { peer }),
        3 => (peer, any::<bool>()).prop_map(|(peer, answered)| Step::Finish { peer, answered }),
        1 => Just(Step::Crash),
        2 => Just(Step::Send),
    ];
    proptest::collection::vec(step, 1..60)
}

/// A run in flight: its messages, and those of them that its transcript holds.
struct Flight {
    run: RunId,
    messages: Vec<MessageId>,
    consumed: BTreeSet<MessageId>,
    has_slot: bool,
}

#[derive(Default)]
struct Model {
    /// External ids that were accepted.
    known: BTreeMap<String, MessageId>,
    waiting: BTreeMap<u8, Vec<MessageId>>,
    flights: BTreeMap<u8, Flight>,
    /// How each message ended: in a run, or taken back.
    ended: BTreeMap<MessageId, Option<RunId>>,
    answers: Vec<(u8, RunId)>,
}

async fn run(steps: Vec<Step>) {
    let mut place = Place::with(StoreOptions::new().with_max_queued(5)).await;
    let mut model = Model::default();
    for step in steps {
        place = carry_out(place, &mut model, step).await;
        compare(&place, &model).await;
    }
    assert!(place.store.check().await.unwrap().is_empty());
}

async fn carry_out(place: Place, model: &mut Model, step: Step) -> Place {
    let store = place.store.clone();
    match step {
        Step::Accept { peer, id } => {
            let external = format!("{peer}/{id}");
            let waiting = model.waiting.entry(peer).or_default();
            match store.accept(message(&external, &peer.to_string())).await.unwrap() {
                Acceptance::Accepted { id } => {
                    assert!(waiting.len() < 5);
                    assert_eq!(model.known.insert(external, id), None);
                    waiting.push(id);
                }
                Acceptance::Again { id, .. } => assert_eq!(model.known.get(&external), Some(&id)),
                Acceptance::QueueFull { .. } => {
                    assert!(waiting.len() >= 5 && !model.known.contains_key(&external));
                }
            }
        }
        Step::Cancel { nth } => {
            let all: Vec<MessageId> = model.known.values().copied().collect();
            let Some(&id) = all.get(usize::from(nth) % all.len().max(1)) else { return place };
            let waits = model.waiting.values_mut().find(|waiting| waiting.contains(&id));
            let outcome = store.cancel_message(id).await.unwrap();
            if let Some(waiting) = waits {
                assert_eq!(outcome, CancelOutcome::Cancelled);
                waiting.retain(|&other| other != id);
                model.ended.insert(id, None);
            } else {
                assert!(matches!(outcome, CancelOutcome::TooLate { .. }));
            }
        }
        Step::Claim => {
            let slots = model.flights.values().filter(|flight| flight.has_slot).count();
            let free = model.waiting.iter().filter(|(peer, _)| !model.flights.contains_key(peer));
            let next = free.filter_map(|(&peer, waiting)| Some((*waiting.first()?, peer))).min();
            let next = next.filter(|_| slots < MAX_RUNS as usize);
            let claimed = store.claim(MAX_RUNS).await.unwrap();
            assert_eq!(claimed.as_ref().map(|claimed| claimed.message.id), next.map(|(id, _)| id));
            if let (Some(claimed), Some((id, peer))) = (claimed, next) {
                assert_eq!(claimed.message.session, key(&peer.to_string()));
                model.waiting.entry(peer).or_default().remove(0);
                let flight = Flight {
                    run: claimed.run,
                    messages: vec![id],
                    consumed: BTreeSet::new(),
                    has_slot: true,
                };
                model.flights.insert(peer, flight);
            }
        }
        Step::Steer { peer } => {
            let Some(flight) = model.flights.get_mut(&peer) else { return place };
            let waiting = model.waiting.entry(peer).or_default();
            // The second has to wait for the first.
            if let Some(&second) = waiting.get(1) {
                assert_eq!(store.steer(&flight.run, second).await.unwrap(), SteerOutcome::Waits);
            }
            if let Some(&first) = waiting.first() {
                assert_eq!(store.steer(&flight.run, first).await.unwrap(), SteerOutcome::Steered);
                flight.messages.push(waiting.remove(0));
            }
        }
        Step::Consume { peer } => {
            let Some(flight) = model.flights.get_mut(&peer) else { return place };
            let next = flight.messages.iter().find(|id| !flight.consumed.contains(id)).copied();
            store.consume(&flight.run, next.into_iter().collect()).await.unwrap();
            flight.consumed.extend(next);
        }
        Step::Finish { peer, answered } => finish(&store, model, peer, answered).await,
        Step::Crash => {
            drop(store);
            return crash(place, model).await;
        }
        Step::Send => {
            if let Some(sending) = store.next_delivery("chat", "one").await.unwrap() {
                if sending.id % 3 == 0 {
                    store.unknown(sending.id, "reset".to_owned()).await.unwrap();
                } else {
                    store.delivered(sending.id, None).await.unwrap();
                }
            }
        }
    }
    place
}

/// Ends the run of a peer, twice.
async fn finish(store: &Store, model: &mut Model, peer: u8, answered: bool) {
    let Some(flight) = model.flights.remove(&peer) else { return };
    let end = if answered { RunEnd::Answered } else { RunEnd::Failed("scripted".to_owned()) };
    let answer = NewDelivery::new(target(&peer.to_string()), json!(flight.run.as_str()));
    assert!(store.finish(&flight.run, end.clone(), Vec::new(), vec![answer.clone()]).await.unwrap());
    assert!(!store.finish(&flight.run, end, Vec::new(), vec![answer]).await.unwrap());
    let waiting = model.waiting.entry(peer).or_default();
    for (place, id) in flight.messages.into_iter().enumerate() {
        if place == 0 || flight.consumed.contains(&id) {
            model.ended.insert(id, Some(flight.run.clone()));
        } else {
            waiting.push(id);
        }
    }
    waiting.sort_unstable();
    model.answers.push((peer, flight.run));
}

/// Closes and opens the store, and goes on with what was in flight.
async fn crash(place: Place, model: &mut Model) -> Place {
    let place = place.reopen().await;
    for left in place.store.runs_in_flight().await.unwrap() {
        let flight = model.flights.values_mut().find(|flight| flight.run == left.id);
        let flight = flight.expect("only runs in flight are left");
        let resumed = place.store.resume(&left.id, u32::MAX).await.unwrap();
        assert!(matches!(resumed, Resumption::Resumed { .. }));
        flight.has_slot = place.store.take_slot(&left.id, MAX_RUNS).await.unwrap();
    }
    place.store.settle_sending("chat", "one", false).await.unwrap();
    place
}

async fn compare(place: &Place, model: &Model) {
    let mut seen = 0;
    for peer in 0..PEERS {
        let waiting: Vec<_> = place.store.queued(key(&peer.to_string())).await.unwrap();
        let waiting: Vec<_> = waiting.into_iter().map(|message| message.id).collect();
        assert_eq!(&waiting, model.waiting.get(&peer).unwrap_or(&Vec::new()));
        seen += waiting.len();
        if let Some(flight) = model.flights.get(&peer) {
            let of_run = place.store.messages_of(&flight.run).await.unwrap();
            let mut expected = flight.messages.clone();
            expected.sort_unstable();
            assert_eq!(of_run.iter().map(|message| message.id).collect::<Vec<_>>(), expected);
            seen += expected.len();
        }
    }
    // Every accepted message waits, is in flight, or has one end.
    assert_eq!(seen + model.ended.len(), model.known.len());
    let in_flight = place.store.runs_in_flight().await.unwrap();
    assert_eq!(in_flight.len(), model.flights.len());
    // Every ended run has one chain, which goes to its own peer.
    let counts = place.store.delivery_counts().await.unwrap();
    let sum = counts.prepared + counts.sending + counts.delivered + counts.unknown + counts.dead;
    assert_eq!(sum, model.answers.len() as u64);
    for (peer, run) in &model.answers {
        let parts = place.store.deliveries_of(run).await.unwrap();
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0].target, target(&peer.to_string()));
        assert_ne!(parts[0].state, DeliveryState::Dead);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_message_waits_is_in_one_run_or_was_taken_back(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(steps));
    }
}
