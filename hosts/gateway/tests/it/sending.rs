//! The sending of what waits in the outbox.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use toolkit_gateway::{
    Delivery, DeliveryState, LOCAL_ACCOUNT, LOCAL_CHANNEL, LocalChannel, NewDelivery, NewMessage, Outbox,
    RunEnd, SendChannel, SendError, Sending, Store, Target,
};

use crate::agents::{in_time, until};
use crate::common::{Place, key, target};

/// The answers of a platform to each text, once or more; it takes texts that are not listed.
type Script = BTreeMap<String, Vec<SendError>>;

struct Platform {
    has_keys: bool,
    script: Mutex<Script>,
    arrived: Mutex<Vec<String>>,
}

impl Platform {
    fn new(has_keys: bool, script: impl IntoIterator<Item = (&'static str, Vec<SendError>)>) -> Arc<Self> {
        let script = script.into_iter().map(|(text, errors)| (text.to_owned(), errors)).collect();
        Arc::new(Self { has_keys, script: Mutex::new(script), arrived: Mutex::default() })
    }

    fn arrived(&self) -> Vec<String> {
        self.arrived.lock().unwrap().clone()
    }
}

impl SendChannel for Platform {
    fn channel(&self) -> &'static str {
        "chat"
    }

    fn account(&self) -> &'static str {
        "one"
    }

    fn has_idempotency_keys(&self) -> bool {
        self.has_keys
    }

    fn send<'a>(&'a self, delivery: &'a Delivery) -> Sending<'a> {
        Box::pin(async move {
            let text = delivery.body["text"].as_str().unwrap().to_owned();
            assert_ne!(text, "panics");
            let next = self
                .script
                .lock()
                .unwrap()
                .get_mut(&text)
                .and_then(|errors| if errors.is_empty() { None } else { Some(errors.remove(0)) });
            match next {
                Some(error) => Err(error),
                None => {
                    self.arrived.lock().unwrap().push(text.clone());
                    Ok(Some(format!("id of {text}")))
                }
            }
        })
    }
}

/// Has a run of a peer answer with these parts, and returns their numbers.
async fn prepare(store: &Store, peer: &str, parts: &[&str]) -> Vec<i64> {
    let message =
        NewMessage::new("chat:one", format!("{peer} {}", parts.join(" ")), key(peer), json!({ "text": "x" }));
    store.accept(message).await.unwrap();
    let run = store.claim(1_000).await.unwrap().unwrap();
    store.consume(&run.run, vec![run.message.id]).await.unwrap();
    let deliveries =
        parts.iter().map(|text| NewDelivery::new(target(peer), json!({ "text": text }))).collect();
    store.finish(&run.run, RunEnd::Answered, Vec::new(), deliveries).await.unwrap();
    store.deliveries_of(&run.run).await.unwrap().iter().map(|delivery| delivery.id).collect()
}

async fn state(store: &Store, id: i64) -> (DeliveryState, u32, Option<String>) {
    let delivery = store.delivery(id).await.unwrap().unwrap();
    (delivery.state, delivery.attempts, delivery.reason)
}

/// Waits until all of these are in a last state.
async fn settled(store: &Store, ids: &[i64]) -> Vec<DeliveryState> {
    let states = async || {
        let mut states = Vec::new();
        for id in ids {
            states.push(state(store, *id).await.0);
        }
        states
    };
    until(store, || async {
        states().await.iter().all(|state| !matches!(state, DeliveryState::Prepared | DeliveryState::Sending))
    })
    .await;
    states().await
}

#[tokio::test]
async fn each_part_arrives_once_and_in_order_within_its_conversation() {
    let place = Place::new().await;
    let platform = Platform::new(false, []);
    let mut ids = prepare(&place.store, "ada", &["a1", "a2", "a3"]).await;
    let outbox =
        Outbox::start(place.store.clone(), vec![platform.clone(), Arc::new(LocalChannel)]).await.unwrap();
    // Some come while it sends.
    ids.extend(prepare(&place.store, "bob", &["b1", "b2"]).await);
    ids.extend(prepare(&place.store, "ada", &["a4"]).await);
    assert_eq!(settled(&place.store, &ids).await, [DeliveryState::Delivered; 6]);
    let of = |peer: char| -> Vec<String> {
        platform.arrived().into_iter().filter(|text| text.starts_with(peer)).collect()
    };
    assert_eq!(
        (of('a'), of('b')),
        (["a1", "a2", "a3", "a4"].map(Into::into).into(), ["b1", "b2"].map(Into::into).into())
    );
    assert_eq!(place.store.delivery(ids[0]).await.unwrap().unwrap().receipt.as_deref(), Some("id of a1"));
    in_time(outbox.stop(Duration::from_mins(1))).await;
}

#[tokio::test]
async fn a_part_that_was_certainly_not_sent_is_tried_again_when_the_platform_says() {
    let place = Place::new().await;
    let busy =
        || SendError::NotSent { reason: "busy".to_owned(), retry_after: Some(Duration::from_hours(2)) };
    let platform = Platform::new(false, [("a1", vec![busy()])]);
    let ids = prepare(&place.store, "ada", &["a1", "a2"]).await;
    let outbox = Outbox::start(place.store.clone(), vec![platform.clone()]).await.unwrap();
    // The event comes with the first change; the state is looked at until it is there.
    in_time(async {
        while state(&place.store, ids[0]).await != (DeliveryState::Prepared, 1, Some("busy".to_owned())) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // The rest of the conversation waits behind it.
    assert_eq!(platform.arrived(), [""; 0]);
    place.clock.set(toolkit_gateway::Moment(place.clock.now().0 + 2 * 3_600_000));
    // Something happens in the store, as it does all the time.
    let other = prepare(&place.store, "bob", &["b1"]).await;
    assert_eq!(settled(&place.store, &[&ids[..], &other].concat()).await, [DeliveryState::Delivered; 3]);
    assert_eq!(
        platform.arrived().iter().filter(|text| text.starts_with('a')).collect::<Vec<_>>(),
        ["a1", "a2"]
    );
    in_time(outbox.stop(Duration::from_mins(1))).await;
}

#[tokio::test]
async fn without_keys_a_part_that_perhaps_arrived_is_never_sent_again() {
    let place = Place::new().await;
    let script = [
        ("a1", vec![SendError::unknown("the connection broke")]),
        ("c1", vec![SendError::refused("blocked")]),
    ];
    let platform = Platform::new(false, script);
    let ada = prepare(&place.store, "ada", &["a1", "a2"]).await;
    let bob = prepare(&place.store, "bob", &["panics", "b2"]).await;
    let eve = prepare(&place.store, "eve", &["c1", "c2"]).await;
    let outbox = Outbox::start(place.store.clone(), vec![platform.clone()]).await.unwrap();
    assert_eq!(settled(&place.store, &ada).await, [DeliveryState::Unknown, DeliveryState::Delivered]);
    assert_eq!(settled(&place.store, &bob).await, [DeliveryState::Unknown, DeliveryState::Delivered]);
    assert_eq!(settled(&place.store, &eve).await, [DeliveryState::Dead; 2]);
    let mut arrived = platform.arrived();
    arrived.sort();
    assert_eq!(arrived, ["a2", "b2"]);
    in_time(outbox.stop(Duration::from_mins(1))).await;
}

#[tokio::test]
async fn a_platform_with_keys_gets_it_again_under_its_key() {
    let place = Place::new().await;
    let platform = Platform::new(true, [("a1", vec![SendError::unknown("the connection broke")])]);
    let ids = prepare(&place.store, "ada", &["a1"]).await;
    let outbox = Outbox::start(place.store.clone(), vec![platform.clone()]).await.unwrap();
    in_time(async {
        while state(&place.store, ids[0]).await.2.is_none() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    place.clock.set(toolkit_gateway::Moment(place.clock.now().0 + 1_000));
    prepare(&place.store, "bob", &["b1"]).await;
    assert_eq!(settled(&place.store, &ids).await, [DeliveryState::Delivered]);
    in_time(outbox.stop(Duration::from_mins(1))).await;
}

#[tokio::test]
async fn a_part_without_a_sender_waits_and_a_local_answer_has_arrived() {
    let place = Place::new().await;
    let local = Target::new(LOCAL_CHANNEL, LOCAL_ACCOUNT, "ada");
    let run = {
        place.accept("1", "ada").await;
        place.claim().await.run
    };
    let to = |target: Target, text: &str| NewDelivery::new(target, json!({ "text": text }));
    let parts = vec![to(local, "here"), to(target("ada"), "there")];
    place.store.finish(&run, RunEnd::Answered, Vec::new(), parts).await.unwrap();
    let ids: Vec<i64> = place.store.deliveries_of(&run).await.unwrap().iter().map(|part| part.id).collect();
    let outbox = Outbox::start(place.store.clone(), vec![Arc::new(LocalChannel)]).await.unwrap();
    assert_eq!(settled(&place.store, &ids[..1]).await, [DeliveryState::Delivered]);
    assert_eq!(state(&place.store, ids[1]).await, (DeliveryState::Prepared, 0, None));
    in_time(outbox.stop(Duration::from_mins(1))).await;
}
