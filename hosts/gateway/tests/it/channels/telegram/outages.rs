//! A platform that does not answer: an action waits, or nobody knows, and is done once at most; and the account comes back by itself.

use std::time::Duration;

use serde_json::{Value, json};
use toolkit_gateway::{Clock, Delivery, DeliveryState};
use toolkit_loopback::Answer;
use toolkit_loopback::bot_api::Fault;

use super::{Bots, OWNER};
use crate::agents::in_time;
use crate::common::START;

/// The pause between two looks at the outbox.
const LOOK: Duration = Duration::from_millis(10);
const ALLOWED: &str = "permission={ message: 'allow' }";

fn poll() -> Value {
    json!({ "question": "Where?", "options": ["Here", "There"] })
}

/// A proxy that has no server behind it, and asks to wait.
fn outage(seconds: u64) -> Fault {
    let page = Answer::bytes(503, "<html>Not now</html>").with_header("content-type", "text/html");
    Fault::Answer(page.with_header("retry-after", &seconds.to_string()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poll_during_an_outage_waits_and_arrives_once() {
    let mut bots = Bots::with_owner(&[ALLOWED]).await;
    bots.telegram().inject("sendPoll", 2, outage(1));
    bots.say(0, OWNER, &format!("call telegram_send_poll {}", poll()));
    // Whatever follows in this conversation comes after it.
    assert_eq!(bots.next(0, OWNER).await.method, "sendPoll");
    let got = bots.told().await;
    let is_told =
        ["\"state\": \"delivered\"", "\"state\": \"waiting\""].iter().any(|state| got.contains(state));
    assert!(is_told, "{got}");
    assert_eq!(
        bots.telegram().calls_of("sendPoll").len(),
        1,
        "the requests of the outage were not processed"
    );
    let row = bots.actions().await.remove(0);
    assert_eq!((row.state, row.attempts), (DeliveryState::Delivered, 3));
    bots.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poll_whose_answer_is_lost_is_unknown_and_not_sent_again() {
    for (fault, arrived) in [(Fault::CloseAfter, 1), (Fault::ServerError(503), 0)] {
        let mut bots = Bots::with_owner(&[ALLOWED]).await;
        bots.telegram().inject("sendPoll", 1, fault);
        bots.say(0, OWNER, &format!("call telegram_send_poll {}", poll()));
        for _ in 0..arrived {
            assert_eq!(bots.next(0, OWNER).await.method, "sendPoll");
        }
        let got = bots.told().await;
        assert!(got.contains("\"state\": \"unknown\"") && got.contains("nobody knows"), "{got}");
        let mut bots = bots.restart().await;
        bots.say(0, OWNER, "and now");
        assert_eq!(bots.told().await, "heard: and now");
        let polls = bots.telegram().sent().iter().filter(|sent| sent.method == "sendPoll").count();
        assert_eq!(polls, arrived);
        assert_eq!(bots.actions().await.remove(0).state, DeliveryState::Unknown);
        bots.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poll_that_waits_is_sent_once_after_a_restart() {
    let clock = Clock::standing(START);
    let bots = Bots::with_owner_at(&[ALLOWED], Some(clock.clone())).await;
    bots.telegram().inject("sendPoll", 1, outage(60));
    bots.say(0, OWNER, &format!("call telegram_send_poll {}", poll()));
    in_time(async {
        let is_tried = |row: &Delivery| row.attempts == 1 && row.state == DeliveryState::Prepared;
        while !bots.actions().await.iter().any(is_tried) {
            tokio::time::sleep(LOOK).await;
        }
    })
    .await;
    clock.set(START.after(Duration::from_mins(2)));
    let mut bots = bots.restart().await;
    assert_eq!(bots.next(0, OWNER).await.method, "sendPoll");
    let got = bots.told().await;
    assert!(got.starts_with("got:"), "{got}");
    let rows = bots.actions().await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0].state, DeliveryState::Delivered);
    assert_eq!(bots.telegram().calls_of("sendPoll").len(), 1);
    bots.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_comes_back_by_itself_after_conflicts_errors_of_the_server_and_a_dead_line() {
    let clock = Clock::standing(START);
    let mut bots = Bots::with_owner_at(&[], Some(clock.clone())).await;
    let outages = [
        (Fault::Conflict, 10, "conflicts"),
        (Fault::ServerError(502), 60, "errors"),
        (Fault::CloseBefore, 60, "a dead line"),
    ];
    for (fault, minutes, text) in outages {
        let began = clock.now();
        bots.telegram().inject("getUpdates", usize::MAX, fault);
        in_time(async {
            while bots.health().await["failures"].as_u64() < Some(2) {
                tokio::time::sleep(LOOK).await;
            }
        })
        .await;
        // By the clock of the gateway, it lasts that long.
        clock.set(began.after(Duration::from_mins(minutes)));
        bots.say(0, OWNER, text);
        let health = bots.health().await;
        assert_eq!(health["degradedSince"], json!(began), "{health}");
        assert!(health["reason"].is_string(), "{health}");
        bots.telegram().clear_faults();
        assert_eq!(bots.told().await, format!("heard: {text}"));
        let health = bots.health().await;
        assert_eq!((&health["degradedSince"], &health["failures"]), (&json!(null), &json!(0)), "{health}");
        assert_eq!(health["lastGood"], json!(clock.now()), "{health}");
    }
    bots.telegram().wait_confirmed().await;
    bots.stop().await;
}
