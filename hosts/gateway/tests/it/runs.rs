//! Runs: one at a time in a session, each message in one of them, each ended once.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use serde_json::json;
use toolkit_gateway::{
    MessageState, NewDelivery, Resumption, RunEnd, RunId, RunState, SteerOutcome, StoreOptions,
};

use crate::common::{Place, START, key, message, target};

fn answer(peer: &str, text: &str) -> NewDelivery {
    NewDelivery::new(target(peer), json!({ "text": text }))
}

#[tokio::test]
async fn sessions_take_turns_and_each_runs_one_message_at_a_time() {
    let place = Place::new().await;
    for (id, peer) in [("1", "ada"), ("2", "ada"), ("3", "bob"), ("4", "ada")] {
        place.accept(id, peer).await;
    }
    let first = place.claim().await;
    let second = place.claim().await;
    assert_eq!((&*first.message.external_id, &*second.message.external_id), ("1", "3"));
    assert_eq!(place.store.claim(10).await.unwrap(), None, "both sessions have a run");
    place.store.finish(&first.run, RunEnd::Answered, Vec::new(), vec![answer("ada", "one")]).await.unwrap();
    assert_eq!(place.claim().await.message.external_id, "2");
    let ada = place.store.session(key("ada")).await.unwrap().unwrap();
    assert_eq!((ada.queued, ada.is_running), (1, true));
}

#[tokio::test]
async fn nobody_waits_behind_all_that_another_person_has_sent() {
    let place = Place::new().await;
    for (id, peer, person) in
        [("1", "a", "ada"), ("2", "b", "ada"), ("3", "c", "ada"), ("4", "d", "bob"), ("5", "e", "bob")]
    {
        place.store.accept(message(id, peer).with_person(person)).await.unwrap();
    }
    let mut order = Vec::new();
    for _ in 0..5 {
        order.push(place.claim().await.message.external_id);
    }
    assert_eq!(order, ["1", "4", "2", "5", "3"]);
}

#[tokio::test]
async fn a_run_that_waits_gives_its_slot_to_another() {
    let place = Place::new().await;
    place.accept("1", "ada").await;
    place.accept("2", "bob").await;
    let ada = place.store.claim(1).await.unwrap().unwrap().run;
    assert_eq!(place.store.claim(1).await.unwrap(), None);
    place.store.give_up_slot(&ada).await.unwrap();
    let bob = place.store.claim(1).await.unwrap().unwrap().run;
    assert!(!place.store.take_slot(&ada, 1).await.unwrap());
    place.store.finish(&bob, RunEnd::Cancelled, Vec::new(), Vec::new()).await.unwrap();
    assert!(place.store.take_slot(&ada, 1).await.unwrap());
    assert!(place.store.take_slot(&ada, 1).await.unwrap(), "it has its slot");
    assert_eq!(place.store.run(&ada).await.unwrap().unwrap().state, RunState::Running);
    let error = place.store.give_up_slot(&bob).await.unwrap_err().to_string();
    assert!(error.contains("has ended"), "{error}");
}

#[tokio::test]
async fn a_run_ends_once_and_its_answer_is_prepared_with_it() {
    let place = Place::new().await;
    let id = place.accept("1", "ada").await;
    let run = place.claim().await.run;
    place.store.consume(&run, vec![id]).await.unwrap();
    let parts = || vec![answer("ada", "one"), answer("ada", "two")];
    assert!(place.store.finish(&run, RunEnd::Answered, Vec::new(), parts()).await.unwrap());
    assert!(!place.store.finish(&run, RunEnd::Failed("late".to_owned()), Vec::new(), parts()).await.unwrap());
    let record = place.store.run(&run).await.unwrap().unwrap();
    assert_eq!((record.state, record.ended_at, record.reason), (RunState::Answered, Some(START), None));
    let parts = place.store.deliveries_of(&run).await.unwrap();
    assert_eq!(
        parts.iter().map(|part| part.body["text"].as_str().unwrap()).collect::<Vec<_>>(),
        ["one", "two"]
    );
    assert_ne!(parts[0].key, parts[1].key);
    let unknown = place.store.finish(&RunId::new("none"), RunEnd::Answered, Vec::new(), Vec::new()).await;
    assert!(unknown.unwrap_err().to_string().contains("no run none"));
}

#[tokio::test]
async fn an_end_whose_answer_is_refused_is_no_end() {
    let place = Place::new().await;
    place.accept("1", "ada").await;
    let run = place.claim().await.run;
    let long = answer("ada", &"x".repeat(1 << 20));
    place
        .store
        .finish(&run, RunEnd::Answered, Vec::new(), vec![answer("ada", "one"), long])
        .await
        .unwrap_err();
    assert_eq!(place.store.run(&run).await.unwrap().unwrap().state, RunState::Running);
    assert!(place.store.deliveries_of(&run).await.unwrap().is_empty());
    assert!(
        place.store.finish(&run, RunEnd::Answered, Vec::new(), vec![answer("ada", "one")]).await.unwrap()
    );
}

#[tokio::test]
async fn a_message_steers_the_run_of_its_sender_if_no_earlier_one_waits() {
    let place = Place::new().await;
    place.accept("1", "ada").await;
    let run = place.claim().await.run;
    let second = place.accept("2", "ada").await;
    let third = place.accept("3", "ada").await;
    assert_eq!(place.store.steer(&run, third).await.unwrap(), SteerOutcome::Waits, "the second waits");
    assert_eq!(place.store.steer(&run, second).await.unwrap(), SteerOutcome::Steered);
    assert_eq!(place.store.steer(&run, second).await.unwrap(), SteerOutcome::Waits, "it is taken");
    assert_eq!(place.store.steer(&run, third).await.unwrap(), SteerOutcome::Steered);
    // Somebody else in the same session, and another session.
    let other = message("4", "ada").with_sender("bob");
    place.store.accept(other).await.unwrap();
    let other = place.store.queued(key("ada")).await.unwrap()[0].id;
    assert_eq!(place.store.steer(&run, other).await.unwrap(), SteerOutcome::Waits);
    let elsewhere = place.accept("5", "bob").await;
    assert_eq!(place.store.steer(&run, elsewhere).await.unwrap(), SteerOutcome::Waits);

    // One that reached the transcript is consumed; one that did not waits again, in its place.
    place.store.consume(&run, vec![second]).await.unwrap();
    place.store.finish(&run, RunEnd::Answered, Vec::new(), Vec::new()).await.unwrap();
    let states = async |id| place.store.message(id).await.unwrap().unwrap().state;
    assert_eq!((states(second).await, states(third).await), (MessageState::Consumed, MessageState::Queued));
    assert_eq!(place.claim().await.message.id, third);
    assert_eq!(place.store.steer(&run, other).await.unwrap(), SteerOutcome::Waits, "the run has ended");
}

#[tokio::test]
async fn only_the_messages_of_a_run_are_consumed_by_it() {
    let place = Place::new().await;
    let (first, second) = (place.accept("1", "ada").await, place.accept("2", "bob").await);
    let run = place.claim().await.run;
    place.store.consume(&run, vec![first, second]).await.unwrap_err();
    assert_eq!(
        place.store.message(first).await.unwrap().unwrap().state,
        MessageState::Claimed,
        "all or nothing"
    );
    place.store.consume(&run, vec![first]).await.unwrap();
    place.store.consume(&run, vec![first]).await.unwrap();
    // After a crash, the transcript may tell of it once the run has ended.
    place.store.finish(&run, RunEnd::Answered, Vec::new(), Vec::new()).await.unwrap();
    place.store.consume(&run, vec![first]).await.unwrap();
}

#[tokio::test]
async fn a_run_goes_on_after_a_crash_up_to_its_limit() {
    let place = Place::new().await;
    place.accept("1", "ada").await;
    let run = place.claim().await.run;
    let place = place.reopen().await;
    let left = place.store.runs_in_flight().await.unwrap();
    assert_eq!(left.iter().map(|left| &left.id).collect::<Vec<_>>(), [&run]);
    for count in 1..=2 {
        assert_eq!(place.store.resume(&run, 2).await.unwrap(), Resumption::Resumed { count });
        assert!(place.store.take_slot(&run, 1).await.unwrap());
    }
    // A stop that was planned does not count.
    place.store.plan_stop().await.unwrap();
    assert_eq!(place.store.resume(&run, 2).await.unwrap(), Resumption::Resumed { count: 2 });
    assert_eq!(place.store.resume(&run, 2).await.unwrap(), Resumption::TooOften { count: 2 });
    let reason = "it was interrupted three times".to_owned();
    place.store.finish(&run, RunEnd::Failed(reason.clone()), Vec::new(), Vec::new()).await.unwrap();
    assert_eq!(place.store.resume(&run, 2).await.unwrap(), Resumption::Ended);
    assert_eq!(place.store.run(&run).await.unwrap().unwrap().reason, Some(reason));
}

#[tokio::test]
async fn a_clean_up_removes_ended_messages_and_runs_and_none_in_flight() {
    let place = Place::with(StoreOptions::new().with_max_queued(10)).await;
    let waits = place.accept("1", "ada").await;
    let ends = place.accept("2", "bob").await;
    let in_flight = place.accept("3", "cleo").await;
    place.store.give_up_slot(&place.claim().await.run).await.unwrap();
    let run = place.claim().await.run;
    place.store.finish(&run, RunEnd::Answered, Vec::new(), vec![answer("bob", "one")]).await.unwrap();
    let third = place.claim().await.run;
    place.store.consume(&third, vec![in_flight]).await.unwrap();
    place.clock.set(START.after(Duration::from_hours(365 * 24)));
    while place.store.clean_up().await.unwrap() > 0 {}
    assert!(place.store.message(ends).await.unwrap().is_none());
    assert!(place.store.run(&run).await.unwrap().is_none());
    assert!(place.store.message(waits).await.unwrap().is_some(), "its run is in flight");
    assert!(place.store.message(in_flight).await.unwrap().is_some(), "its run is in flight");
    let counts = place.store.delivery_counts().await.unwrap();
    assert_eq!((counts.prepared, counts.dead), (0, 1), "it was never sent, and has expired now");
    assert!(place.store.check().await.unwrap().is_empty());
}
