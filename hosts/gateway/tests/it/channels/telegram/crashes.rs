//! A gateway that is killed while a tool of Telegram acts: the action is done once at most, and the model is told how far it is.

use std::path::{Path, PathBuf};

use serde_json::json;
use toolkit_gateway::{DeliveryState, Store, StoreOptions};
use toolkit_loopback::bot_api::FakeBotApi;

use super::{Bots, OWNER, start};
use crate::agents::{in_time, until};
use crate::process;

/// Tells the child that it is one, and where it works.
const PLACE: &str = "TOOLKIT_TEST_TELEGRAM";
const ALLOWED: &str = "permission={ message: 'allow' }";

/// The files of the child, beside the data directory.
fn file(directory: &Path, name: &str) -> PathBuf {
    directory.join("child").join(name)
}

/// Works until all updates are answered, once their offset is known.
async fn work(directory: &Path) {
    let urls = std::fs::read_to_string(file(directory, "urls")).unwrap();
    let mut lines = urls.lines();
    let (model, url, token) = (lines.next().unwrap(), lines.next().unwrap(), lines.next().unwrap());
    let gateway = start(directory, model, &[(url.to_owned(), token)], &[ALLOWED.to_owned()], None).await;
    let store = gateway.state().store().clone();
    let is_done = async || {
        let Ok(offset) = std::fs::read_to_string(file(directory, "offset")) else { return false };
        let counts = store.counts(None).await.unwrap();
        store.offset("telegram:home:110201543".to_owned()).await.unwrap().as_deref() == Some(offset.trim())
            && store.runs_in_flight().await.unwrap().is_empty()
            && counts.queued == 0
            && counts.outbox.prepared + counts.outbox.sending == 0
    };
    until(&store, is_done).await;
    drop(store);
    in_time(gateway.stop(std::time::Duration::from_mins(1))).await.unwrap();
}

/// The process that the test below kills; without its place it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_to_be_killed() {
    if let Some(directory) = std::env::var_os(PLACE) {
        work(Path::new(&directory)).await;
    }
}

/// Runs the child to its end, or to the point that it is killed at. Returns true if it came to its end.
async fn child(directory: &Path, point: Option<&'static str>) -> bool {
    let directory = directory.to_owned();
    let run =
        move || process::run("channels::telegram::crashes::process_to_be_killed", PLACE, &directory, point);
    tokio::task::spawn_blocking(run).await.unwrap()
}

fn polls(telegram: &FakeBotApi) -> usize {
    telegram.sent().iter().filter(|sent| sent.method == "sendPoll").count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wherever_a_gateway_is_killed_a_poll_is_sent_once_at_most_and_its_state_is_told() {
    for (point, expected) in [
        ("after_prepare_action:1", None),
        ("before_send:1", Some((DeliveryState::Unknown, 0))),
        ("after_send_before_mark:1", Some((DeliveryState::Unknown, 1))),
    ] {
        let bots = Bots::with_owner(&[ALLOWED]).await;
        let Bots { directory, model, telegrams, gateway, .. } = bots;
        in_time(gateway.stop(std::time::Duration::ZERO)).await.unwrap();
        let (telegram, directory) = (&telegrams[0], directory.path());
        std::fs::create_dir(directory.join("child")).unwrap();
        let urls = format!("{}\n{}\n{}\n", model.url, telegram.url(), telegram.token());
        std::fs::write(file(directory, "urls"), urls).unwrap();
        let before = telegram.sent().len();
        let ada = super::user(OWNER);
        let poll = json!({ "question": "Where?", "options": ["Here", "There"] });
        let chat = toolkit_loopback::bot_api::Chat::direct(&ada);
        telegram.say(&ada, &chat, &format!("call telegram_send_poll {poll}"));
        assert!(!child(directory, Some(point)).await, "{point} was not passed");
        let offset = telegram.last_update().unwrap() + 1;
        std::fs::write(file(directory, "offset"), offset.to_string()).unwrap();
        assert!(child(directory, None).await, "{point}: the next start fails");

        let store = Store::open(directory, StoreOptions::new()).await.unwrap();
        let filter = toolkit_gateway::DeliveryFilter { limit: 1_000, ..Default::default() };
        let mut rows = store.list_deliveries(filter).await.unwrap();
        rows.retain(|row| row.body["action"] == "platform");
        assert_eq!(rows.len(), 1, "{point}: {rows:?}");
        let outcome = (rows[0].state, polls(telegram));
        match expected {
            Some(expected) => assert_eq!(outcome, expected, "{point}"),
            // The row may have been taken before the process ended.
            None => assert!(
                matches!(outcome, (DeliveryState::Delivered, 1) | (DeliveryState::Unknown, 0 | 1)),
                "{point}: {outcome:?}"
            ),
        }
        let told: Vec<String> = telegram.sent().split_off(before).into_iter().map(|sent| sent.text).collect();
        let got = told.iter().find(|text| text.starts_with("got:")).unwrap();
        assert!(got.contains(&format!("\"outbox_id\": \"{}\"", rows[0].id)), "{point}: {got}");
        if let Some((state, _)) = expected {
            let state = serde_json::to_string(&state).unwrap();
            assert!(got.contains(&format!("\"state\": {state}")), "{point}: {got}");
        }
        assert_eq!(telegram.violations(), Vec::<String>::new(), "{point}");
        store.close().await;
    }
}
