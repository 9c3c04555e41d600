//! Deliveries: in order, at most once, and each part with an end that a person can see.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use serde_json::json;
use toolkit_gateway::{Delivery, DeliveryState, NewDelivery, RunEnd, Target};

use crate::common::{Place, START, key, target};

fn part(peer: &str, text: &str) -> NewDelivery {
    NewDelivery::new(target(peer), json!(text))
}

async fn prepare(place: &Place, id: &str, peer: &str, texts: &[&str]) {
    place.accept(id, peer).await;
    let run = place.claim().await.run;
    let parts = texts.iter().map(|text| part(peer, text)).collect();
    place.store.finish(&run, RunEnd::Answered, Vec::new(), parts).await.unwrap();
}

async fn next(place: &Place) -> Option<Delivery> {
    place.store.next_delivery("chat", "one").await.unwrap()
}

fn text(delivery: &Delivery) -> &str {
    delivery.body.as_str().unwrap()
}

#[tokio::test]
async fn parts_of_a_conversation_go_one_after_the_other() {
    let place = Place::new().await;
    prepare(&place, "1", "ada", &["a1", "a2"]).await;
    prepare(&place, "2", "bob", &["b1"]).await;
    let first = next(&place).await.unwrap();
    let other = next(&place).await.unwrap();
    assert_eq!((text(&first), text(&other)), ("a1", "b1"));
    assert_eq!((first.state, first.attempts), (DeliveryState::Sending, 1));
    assert!(next(&place).await.is_none(), "the second part waits for the first");
    // One that was not sent keeps its place, and holds up what follows until its time.
    let later = START.after(Duration::from_secs(30));
    place.store.not_sent(first.id, "429: wait 30 seconds".to_owned(), later).await.unwrap();
    assert!(next(&place).await.is_none());
    assert_eq!(place.store.next_delivery_at("chat", "one").await.unwrap(), Some(later));
    place.clock.set(later);
    let again = next(&place).await.unwrap();
    assert_eq!((again.id, again.attempts, again.key == first.key), (first.id, 2, true));
    place.store.delivered(again.id, Some("m1".to_owned())).await.unwrap();
    assert_eq!(text(&next(&place).await.unwrap()), "a2");
    let stored = place.store.delivery(first.id).await.unwrap().unwrap();
    assert_eq!((stored.state, stored.receipt.as_deref()), (DeliveryState::Delivered, Some("m1")));
}

#[tokio::test]
async fn each_account_sends_its_own() {
    let place = Place::new().await;
    place.accept("1", "ada").await;
    let run = place.claim().await.run;
    let to = |channel, account| NewDelivery::new(Target::new(channel, account, "ada"), json!(account));
    let parts = vec![to("chat", "one"), to("chat", "two"), to("mail", "one")];
    place.store.finish(&run, RunEnd::Answered, Vec::new(), parts).await.unwrap();
    assert_eq!(text(&place.store.next_delivery("chat", "two").await.unwrap().unwrap()), "two");
    assert!(place.store.next_delivery("chat", "two").await.unwrap().is_none());
    assert!(place.store.next_delivery("mail", "two").await.unwrap().is_none());
    assert_eq!(place.store.delivery_counts().await.unwrap().prepared, 2);
}

#[tokio::test]
async fn one_that_is_refused_ends_the_rest_of_its_answer_and_nothing_else() {
    let place = Place::new().await;
    prepare(&place, "1", "ada", &["a1", "a2", "a3"]).await;
    prepare(&place, "2", "ada", &["next"]).await;
    let first = next(&place).await.unwrap();
    place.store.delivered(first.id, None).await.unwrap();
    let second = next(&place).await.unwrap();
    place.store.dead(second.id, "400: chat not found".to_owned()).await.unwrap();
    assert_eq!(text(&next(&place).await.unwrap()), "next");
    let dead = place.store.deliveries(DeliveryState::Dead, 10).await.unwrap();
    let reasons: Vec<_> = dead.iter().map(|dead| (text(dead), dead.reason.as_deref().unwrap())).collect();
    assert_eq!(
        reasons,
        [("a3", "an earlier part of the same answer was not sent"), ("a2", "400: chat not found")]
    );
}

#[tokio::test]
async fn one_that_waits_too_long_dies_with_the_reason_of_its_last_try() {
    let place = Place::new().await;
    prepare(&place, "1", "ada", &["a1"]).await;
    prepare(&place, "2", "bob", &["b1"]).await;
    let first = next(&place).await.unwrap();
    place.store.not_sent(first.id, "502".to_owned(), START).await.unwrap();
    place.clock.set(START.after(Duration::from_hours(24)));
    assert!(next(&place).await.is_none());
    let dead = place.store.deliveries(DeliveryState::Dead, 10).await.unwrap();
    let reasons: Vec<_> = dead.iter().map(|dead| dead.reason.as_deref().unwrap()).collect();
    assert_eq!(reasons, ["it expired before it could be sent", "it expired; the last try: 502"]);
}

#[tokio::test]
async fn one_that_was_on_its_way_at_a_crash_is_never_sent_again_without_a_key() {
    for has_keys in [false, true] {
        let place = Place::new().await;
        prepare(&place, "1", "ada", &["a1", "a2"]).await;
        let first = next(&place).await.unwrap();
        let place = place.reopen().await;
        assert_eq!(place.store.settle_sending("chat", "two", has_keys).await.unwrap(), 0, "another account");
        assert_eq!(place.store.settle_sending("chat", "one", has_keys).await.unwrap(), 1);
        let after = next(&place).await.unwrap();
        if has_keys {
            assert_eq!((after.id, &after.key), (first.id, &first.key));
        } else {
            assert_eq!(text(&after), "a2", "what follows goes on");
            let unknown = place.store.deliveries(DeliveryState::Unknown, 10).await.unwrap();
            assert_eq!(unknown.iter().map(|unknown| unknown.id).collect::<Vec<_>>(), [first.id]);
        }
    }
}

#[tokio::test]
async fn an_outcome_that_comes_twice_changes_nothing() {
    let place = Place::new().await;
    prepare(&place, "1", "ada", &["a1"]).await;
    let first = next(&place).await.unwrap();
    place.store.unknown(first.id, "the connection was reset".to_owned()).await.unwrap();
    for outcome in [
        place.store.delivered(first.id, None).await,
        place.store.dead(first.id, "late".to_owned()).await,
        place.store.not_sent(first.id, "late".to_owned(), START).await,
    ] {
        assert!(outcome.unwrap_err().to_string().contains("is not on its way"));
    }
    let stored = place.store.delivery(first.id).await.unwrap().unwrap();
    assert_eq!(
        (stored.state, stored.reason.as_deref()),
        (DeliveryState::Unknown, Some("the connection was reset"))
    );
}

#[tokio::test]
async fn a_call_that_is_repeated_finds_what_it_prepared() {
    let place = Place::new().await;
    place.accept("1", "ada").await;
    let prepare = async |answer: &str, call: &str, text: &str| {
        let parts = vec![part("bob", text), part("bob", "rest")];
        place.store.prepare_for_call(key("ada"), "t", answer, call, parts).await.unwrap()
    };
    let first = prepare("1", "2", "hello").await;
    assert_eq!(prepare("1", "2", "another text").await, first);
    // Ids that would be the same when joined.
    assert_ne!(prepare("1/2", "3", "other").await[0].id, prepare("1", "2/3", "third").await[0].id);
    assert_eq!(place.store.delivery_counts().await.unwrap().prepared, 6);
}

#[tokio::test]
async fn a_delivery_of_a_restored_backup_is_not_sent() {
    let place = Place::new().await;
    prepare(&place, "1", "ada", &["a1"]).await;
    let copy = place.directory.path().join("copy.db");
    place.store.backup(&copy).await.unwrap();
    assert!(place.store.backup(&copy).await.unwrap_err().to_string().contains("copy.db"));
    // The part is sent after the backup.
    let sent = next(&place).await.unwrap();
    place.store.delivered(sent.id, None).await.unwrap();
    place.store.close().await;

    std::fs::copy(&copy, place.store.file()).unwrap();
    let place = place.reopen().await;
    assert_eq!(place.store.settle_restored().await.unwrap(), 1);
    assert!(next(&place).await.is_none());
    assert_eq!(place.store.delivery(sent.id).await.unwrap().unwrap().state, DeliveryState::Unknown);
}

#[tokio::test]
async fn however_many_have_expired_none_of_them_is_sent() {
    let place = Place::new().await;
    for number in 0..120 {
        prepare(&place, &number.to_string(), &number.to_string(), &["a1", "a2"]).await;
    }
    place.clock.set(START.after(Duration::from_hours(24)));
    // Of an answer of which a part has expired, nothing is sent.
    let run = place.accept("new", "new").await;
    assert!(run.0 > 0);
    let run = place.claim().await.run;
    place.store.finish(&run, RunEnd::Answered, Vec::new(), vec![part("new", "fresh")]).await.unwrap();
    assert_eq!(text(&next(&place).await.unwrap()), "fresh");
    // Also those of accounts for which nobody asks.
    while place.store.clean_up().await.unwrap() > 0 {}
    let counts = place.store.delivery_counts().await.unwrap();
    assert_eq!((counts.dead, counts.prepared, counts.sending), (240, 0, 1));
}

#[tokio::test]
async fn a_delivery_in_flight_of_a_removed_account_becomes_unknown() {
    let place = Place::new().await;
    prepare(&place, "1", "ada", &["a1"]).await;
    let sent = next(&place).await.unwrap();
    let configured = || ("chat".to_owned(), "one".to_owned());
    assert_eq!(place.store.settle_others(vec![configured()]).await.unwrap(), 0);
    assert_eq!(place.store.settle_others(Vec::new()).await.unwrap(), 1);
    assert_eq!(place.store.delivery(sent.id).await.unwrap().unwrap().state, DeliveryState::Unknown);
}
