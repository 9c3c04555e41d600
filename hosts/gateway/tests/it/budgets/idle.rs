//! Nothing runs by itself.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use toolkit_gateway::{
    BudgetFilter, Clock, JobFilter, NewJob, RunState, Schedules, Sessions, SessionsOptions, Store,
    StoreOptions,
};

use crate::agents::{Ledger, agents, in_time, model, until};
use crate::common::{START, message};
use crate::schedules::{every, prompt};
use crate::schedules_at_work::Tools;

const HOUR: Duration = Duration::from_hours(1);

#[tokio::test]
async fn a_day_without_messages_makes_no_request() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Clock::standing(START);
    let options = StoreOptions::new().with_clock(clock.clone());
    let store = Store::open(directory.path(), options).await.unwrap();
    let (ledger, model) = (Ledger::new(directory.path()), model());
    let made = agents(directory.path(), &ledger, &model);
    let sessions = Sessions::start(store.clone(), made, SessionsOptions::new()).await.unwrap();
    let schedules = Schedules::start(sessions.clone(), Tools(Arc::clone(&ledger))).await.unwrap();
    // Sessions with a past, and a job that is due after the day.
    for peer in ["ada", "bob"] {
        sessions.send(message(&format!("plain {peer}"), peer)).await.unwrap();
    }
    let answered = async || store.delivery_counts().await.unwrap().prepared;
    until(&store, || async { answered().await == 2 && store.runs_in_flight().await.unwrap().is_empty() })
        .await;
    let job = store.add_job(NewJob::new("main", every("25h"), prompt("plain report"))).await.unwrap();
    let asked = model.requests().len();
    assert_eq!(asked, 2);
    let filter = || BudgetFilter { limit: 1_000, ..BudgetFilter::default() };
    for hour in 1..=24 {
        clock.set(START.after(HOUR * hour));
        schedules.check();
        store.clean_up().await.unwrap();
        // Looking at what there is begins nothing.
        let _ =
            (store.account_budgets(filter()).await.unwrap(), store.jobs(JobFilter::default()).await.unwrap());
        assert_eq!(
            (model.requests().len(), store.fires_in_flight().await.unwrap().len()),
            (asked, 0),
            "{hour}"
        );
    }
    // A job that is due runs: the clock was looked at.
    clock.set(START.after(HOUR * 25));
    schedules.check();
    let fires = async || store.fires(&job.id, None, 10).await.unwrap();
    until(&store, || async { fires().await.iter().any(|fire| fire.ended_at.is_some()) }).await;
    assert_eq!((model.requests().len(), fires().await.len()), (asked + 1, 1));
    let run = store.message(fires().await[0].message.unwrap()).await.unwrap().unwrap().run.unwrap();
    assert_eq!(store.run(&run).await.unwrap().unwrap().state, RunState::Answered);
    in_time(schedules.stop(Duration::ZERO)).await;
    in_time(sessions.stop(Duration::ZERO)).await.unwrap();
}
