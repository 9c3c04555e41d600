//! Schedules that are killed at each named point run each fire once.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use toolkit_gateway::{
    Clock, FireState, JobFilter, JobWork, Missed, NewJob, RunState, Schedules, Sessions, SessionsOptions,
    Store, StoreOptions,
};

use crate::agents::{Ledger, agents, in_time, model, until};
use crate::common::{START, target};
use crate::process;
use crate::schedules::{MINUTE, every, prompt, tool};
use crate::schedules_at_work::Tools;

/// Tells the child that it is one, and where it works.
const PLACE: &str = "TOOLKIT_TEST_SCHEDULES";

/// Fires of each job.
const FIRES: usize = 3;

/// Points, and a pass of each.
const POINTS: &[(&str, u32)] = &[
    ("after_fire_claim", 1),
    ("after_fire_claim", 2),
    ("after_fire_claim", 5),
    ("before_tool_job", 1),
    ("before_tool_job", 3),
    ("after_tool_job", 1),
    ("after_tool_job", 2),
    ("before_fire_end", 1),
    ("before_fire_end", 3),
    ("after_fire_end", 1),
    ("after_fire_end", 4),
    ("before_commit", 4),
    ("after_commit", 5),
    ("after_commit", 9),
    ("after_claim", 1),
    ("after_end_before_commit", 1),
    ("after_finish", 2),
];

/// Adds the jobs that are not there, and works until all of their fires have ended.
async fn work(directory: &Path) {
    let clock = Clock::standing(START);
    let store = Store::open(directory, StoreOptions::new().with_clock(clock.clone())).await.unwrap();
    for (call, work) in [("prompt", prompt("report")), ("tool", tool("good"))] {
        let job = NewJob::new("main", every("1h"), work)
            .with_origin(call)
            .with_missed(Missed::All)
            .with_max_failures(0)
            .with_reply_to(target(call));
        store.add_job(job).await.unwrap();
    }
    clock.set(START.after(MINUTE * 60 * u32::try_from(FIRES).unwrap()));
    let ledger = Ledger::new(directory);
    let agents = agents(directory, &ledger, &model());
    let options = SessionsOptions::new().max_resumptions(100);
    let sessions = Sessions::start(store.clone(), agents, options).await.unwrap();
    let schedules = Schedules::start(sessions.clone(), Tools(Arc::clone(&ledger))).await.unwrap();
    until(&store, || async {
        let jobs = store.jobs(JobFilter::default()).await.unwrap();
        let now = store.clock().now();
        jobs.iter().all(|job| job.in_flight.is_none() && job.next_at > Some(now))
    })
    .await;
    in_time(schedules.stop(Duration::from_mins(1))).await;
    in_time(sessions.stop(Duration::from_mins(1))).await.unwrap();
    store.close().await;
}

/// The process that the test below kills; without its place it does nothing.
#[tokio::test]
async fn process_to_be_killed() {
    if let Some(directory) = std::env::var_os(PLACE) {
        work(Path::new(&directory)).await;
    }
}

fn child(directory: &Path, point: Option<&str>) -> bool {
    process::run("schedule_kills::process_to_be_killed", PLACE, directory, point)
}

#[tokio::test]
async fn whatever_point_schedules_are_killed_at_every_fire_is_run_once() {
    for (point, pass) in POINTS {
        let at = format!("{point}:{pass}");
        let place = tempfile::tempdir().unwrap();
        assert!(!child(place.path(), Some(&at)), "{at} was not passed");
        // It is killed once more at the same point, where it is passed again.
        child(place.path(), Some(&at));
        assert!(child(place.path(), None), "{at}: the next start fails");
        account(place.path(), &at).await;
    }
}

/// Every fire has one run or one call of its tool, and says if that was interrupted.
async fn account(directory: &Path, at: &str) {
    let store = Store::open(directory, StoreOptions::new()).await.unwrap();
    assert!(store.check().await.unwrap().is_empty(), "{at}");
    let jobs = store.jobs(JobFilter::default()).await.unwrap();
    assert_eq!(jobs.len(), 2, "{at}");
    let lines = Ledger::new(directory).lines();
    let mut runs = BTreeSet::new();
    for job in &jobs {
        let fires = store.fires(&job.id, None, 100).await.unwrap();
        let times: BTreeSet<_> = fires.iter().map(|fire| fire.id.at).collect();
        assert_eq!((fires.len(), times.len()), (FIRES, FIRES), "{at}: {fires:?}");
        if let JobWork::Prompt { .. } = job.work {
            for fire in &fires {
                assert_eq!(fire.state, FireState::Done, "{at}");
                let run = store.message(fire.message.unwrap()).await.unwrap().unwrap().run.unwrap();
                assert_eq!(store.run(&run).await.unwrap().unwrap().state, RunState::Answered, "{at}");
                assert_eq!(store.deliveries_of(&run).await.unwrap().len(), 1, "{at}");
                assert!(runs.insert(run), "{at}: two fires share a run");
            }
            let effects = lines.iter().filter(|line| *line == "report").count();
            assert!(effects <= FIRES, "{at}: something was done twice");
            continue;
        }
        let mut interrupted = 0;
        for fire in &fires {
            let calls = lines.iter().filter(|line| **line == format!("good at {}", fire.id.at.0)).count();
            match fire.state {
                FireState::Done => assert_eq!(calls, 1, "{at}"),
                FireState::Interrupted => {
                    interrupted += 1;
                    assert!(calls <= 1, "{at}: an interrupted call was repeated");
                }
                other => panic!("{at}: {other:?}"),
            }
        }
        assert!(interrupted <= 2, "{at}: two kills, with one call at work each");
    }
    store.close().await;
}
