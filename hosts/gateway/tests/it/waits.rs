//! Waits that would never end are refused with their path.
#![allow(clippy::unwrap_used)]

use toolkit_gateway::SessionKey;

use crate::common::Place;

fn session(name: &str) -> SessionKey {
    SessionKey::sub("main", name).unwrap()
}

async fn place() -> Place {
    let place = Place::new().await;
    for name in ["a", "b", "c", "d", "e"] {
        place.store.open_session(session(name), None, None).await.unwrap();
    }
    place
}

async fn wait(place: &Place, waiter: &str, awaited: &str) -> Result<i64, String> {
    let begun = place.store.begin_wait(session(waiter), session(awaited)).await.unwrap();
    begun.map_err(|cycle| {
        let names = cycle.path.iter().map(|key| key.as_str().rsplit(':').next().unwrap().to_owned());
        names.collect::<Vec<_>>().join(" ")
    })
}

#[tokio::test]
async fn an_edge_that_would_close_a_cycle_is_refused_with_the_path() {
    let place = place().await;
    assert_eq!(wait(&place, "a", "a").await.unwrap_err(), "a a");
    let first = wait(&place, "a", "b").await.unwrap();
    wait(&place, "b", "c").await.unwrap();
    wait(&place, "a", "d").await.unwrap();
    wait(&place, "c", "d").await.unwrap();
    // Two ways lead to `d`: that is no cycle. The shortest way back is told.
    assert_eq!(wait(&place, "d", "a").await.unwrap_err(), "d a d");
    assert_eq!(wait(&place, "c", "a").await.unwrap_err(), "c a b c");
    wait(&place, "d", "e").await.unwrap();
    // The same wait twice has to end twice.
    let second = wait(&place, "a", "b").await.unwrap();
    place.store.end_wait(first).await.unwrap();
    assert_eq!(wait(&place, "b", "a").await.unwrap_err(), "b a b");
    place.store.end_wait(second).await.unwrap();
    wait(&place, "b", "a").await.unwrap();
    let unknown = place.store.begin_wait(session("a"), session("none")).await.unwrap_err();
    assert!(unknown.to_string().contains("no session `agent:main:sub:none`"));
}

#[tokio::test]
async fn of_two_that_would_wait_for_each_other_at_once_one_is_refused() {
    let place = place().await;
    for _ in 0..20 {
        let (one, other) = tokio::join!(wait(&place, "a", "b"), wait(&place, "b", "a"));
        assert_ne!(one.is_ok(), other.is_ok());
        place.store.end_all_waits().await.unwrap();
    }
}
