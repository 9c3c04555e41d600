//! Schedules at work: fires begin by themselves, and end with their runs.
#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use toolkit::CancellationToken;
use toolkit_gateway::{
    Clock, DeliveryState, EventFilter, Fire, FireState, Job, JobId, JobWork, Moment, NewJob, RunState,
    Schedules, SessionRecord, Sessions, SessionsOptions, Store, StoreOptions, ToolJobError, ToolJobs,
};

use crate::agents::{Ledger, agents, in_time, model, until};
use crate::common::{START, key, target};
use crate::schedules::{MINUTE, every, prompt, tool};

const HOUR: Duration = Duration::from_hours(1);

/// Notes each call, and does as its tool is named.
pub(crate) struct Tools(pub(crate) Arc<Ledger>);

impl ToolJobs for Tools {
    async fn call(&self, job: &Job, cancelled: CancellationToken) -> Result<String, ToolJobError> {
        let JobWork::Tool { tool, arguments } = &job.work else { panic!("it is no call of a tool") };
        self.0.note(&format!("{tool} at {}", job.in_flight.unwrap().0));
        match tool.as_str() {
            "hold" => {
                self.0.held.cancel();
                self.0.released.cancelled().await;
            }
            "endless" => {
                cancelled.cancelled().await;
                return Err(ToolJobError("cancelled".to_owned()));
            }
            "broken" => return Err(ToolJobError("it is broken".to_owned())),
            "panics" => panic!("the tool panics"),
            _ => {}
        }
        Ok(format!("result of {}", arguments["id"].as_str().unwrap()))
    }
}

struct Work {
    sessions: Sessions,
    schedules: Schedules,
    ledger: Arc<Ledger>,
    clock: Clock,
    /// The models that were pinned in sessions whose agent was made.
    models: Arc<Mutex<Vec<Option<String>>>>,
    directory: tempfile::TempDir,
}

impl Work {
    async fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap(), START).await
    }

    async fn at(directory: tempfile::TempDir, now: Moment) -> Self {
        let clock = Clock::standing(now);
        let options = StoreOptions::new().with_clock(clock.clone());
        let store = Store::open(directory.path(), options).await.unwrap();
        let ledger = Ledger::new(directory.path());
        let models: Arc<Mutex<Vec<_>>> = Arc::default();
        let (make, seen) = (agents(directory.path(), &ledger, &model()), Arc::clone(&models));
        let agents = move |session: &SessionRecord| {
            seen.lock().unwrap().push(session.model.clone());
            make(session)
        };
        let sessions = Sessions::start(store, agents, SessionsOptions::new()).await.unwrap();
        let schedules = Schedules::start(sessions.clone(), Tools(Arc::clone(&ledger))).await.unwrap();
        Self { sessions, schedules, ledger, clock, models, directory }
    }

    async fn restart(self) -> Self {
        let now = self.clock.now();
        in_time(self.schedules.stop(Duration::ZERO)).await;
        in_time(self.sessions.stop(Duration::ZERO)).await.unwrap();
        self.store().close().await;
        Self::at(self.directory, now).await
    }

    fn store(&self) -> &Store {
        self.sessions.store()
    }

    async fn add(&self, job: NewJob) -> JobId {
        self.store().add_job(job).await.unwrap().id
    }

    fn set(&self, now: Moment) {
        self.clock.set(now);
        self.schedules.check();
    }

    /// Waits until so many fires of a job have ended, and returns them, the oldest first.
    async fn ended(&self, id: &JobId, count: usize) -> Vec<Fire> {
        until(self.store(), || async {
            let fires = self.store().fires(id, None, 100).await.unwrap();
            fires.iter().filter(|fire| fire.ended_at.is_some()).count() >= count
        })
        .await;
        let mut fires = self.store().fires(id, None, 100).await.unwrap();
        fires.reverse();
        fires
    }
}

fn states(fires: &[Fire]) -> Vec<FireState> {
    fires.iter().map(|fire| fire.state).collect()
}

#[tokio::test]
async fn a_prompt_is_answered_in_its_session_at_its_time() {
    let work = Work::new().await;
    let job = NewJob::new("main", every("1h"), prompt("report"))
        .with_session(key("ada"))
        .with_reply_to(target("ada"));
    let id = work.add(job).await;
    work.set(START.after(HOUR));
    let fires = work.ended(&id, 1).await;
    assert_eq!(states(&fires), [FireState::Done]);
    let message = work.store().message(fires[0].message.unwrap()).await.unwrap().unwrap();
    assert_eq!(message.session, key("ada"));
    let sent = work.store().deliveries_of(&message.run.unwrap()).await.unwrap();
    assert_eq!((&sent[0].target, &sent[0].body["text"]), (&target("ada"), &json!("answer to report")));
    assert_eq!(work.ledger.lines(), ["report"]);
    work.set(START.after(HOUR * 2));
    assert_eq!(states(&work.ended(&id, 2).await), [FireState::Done, FireState::Done]);
}

#[tokio::test]
async fn a_tool_is_called_without_a_model_and_its_result_delivered() {
    let work = Work::new().await;
    let of =
        |name| NewJob::new("main", every("1h"), tool(name)).with_reply_to(target("ada")).with_max_failures(1);
    let (good, broken, panics) =
        (work.add(of("good")).await, work.add(of("broken")).await, work.add(of("panics")).await);
    work.set(START.after(HOUR));
    let fires = work.ended(&good, 1).await;
    assert_eq!((fires[0].state, fires[0].result.as_deref()), (FireState::Done, Some("result of good")));
    let fires = work.ended(&broken, 1).await;
    assert_eq!((fires[0].state, fires[0].reason.as_deref()), (FireState::Failed, Some("it is broken")));
    let fires = work.ended(&panics, 1).await;
    assert_eq!((fires[0].state, fires[0].reason.as_deref()), (FireState::Failed, Some("the tool panicked")));
    for (id, is_enabled) in [(&good, true), (&broken, false), (&panics, false)] {
        assert_eq!(work.store().job(id, None).await.unwrap().unwrap().is_enabled, is_enabled);
    }
    let sent = work.store().deliveries(DeliveryState::Prepared, 10).await.unwrap();
    let mut texts: Vec<_> = sent.iter().map(|part| part.body["text"].as_str().unwrap()).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["it is broken", "result of good", "the tool panicked"]);
    assert!(work.models.lock().unwrap().is_empty(), "no agent was made");
}

#[tokio::test]
async fn a_request_and_a_new_job_are_noticed_at_once() {
    let work = Work::new().await;
    let id = work.add(NewJob::new("main", every("1h"), tool("good")).with_enabled(false)).await;
    // Nothing says that the clock was set.
    work.store().request_fire(&id, None).await.unwrap();
    let fires = work.ended(&id, 1).await;
    assert!(fires[0].id.is_manual);
    work.clock.set(START.after(HOUR));
    let one = toolkit_gateway::Schedule::At { time: START.after(HOUR + Duration::from_millis(5)) };
    let id = work.add(NewJob::new("main", one, tool("good"))).await;
    work.clock.set(START.after(HOUR * 2));
    assert_eq!(states(&work.ended(&id, 1).await), [FireState::Done], "it is due before the next look");
}

#[tokio::test]
async fn a_tool_that_a_stop_interrupts_is_shown_and_not_repeated() {
    let work = Work::new().await;
    let id = work.add(NewJob::new("main", every("1h"), tool("hold"))).await;
    work.set(START.after(HOUR));
    in_time(work.ledger.held.cancelled()).await;
    let work = work.restart().await;
    let fires = work.ended(&id, 1).await;
    assert_eq!(states(&fires), [FireState::Interrupted]);
    assert!(fires[0].reason.as_ref().unwrap().contains("it is not repeated"));
    assert_eq!(work.store().job(&id, None).await.unwrap().unwrap().failures, 1);
    work.ledger.released.cancel();
    work.set(START.after(HOUR * 2));
    assert_eq!(states(&work.ended(&id, 2).await), [FireState::Interrupted, FireState::Done]);
    let at = |hours| format!("hold at {}", START.after(HOUR * hours).0);
    assert_eq!(work.ledger.lines(), [at(1), at(2)]);
}

#[tokio::test]
async fn a_prompt_that_a_stop_interrupts_goes_on_and_its_fire_ends_with_it() {
    let work = Work::new().await;
    let id = work.add(NewJob::new("main", every("1h"), prompt("hold report"))).await;
    work.set(START.after(HOUR));
    in_time(work.ledger.held.cancelled()).await;
    let work = work.restart().await;
    let fires = work.ended(&id, 1).await;
    assert_eq!(states(&fires), [FireState::Done]);
    assert_eq!(work.ledger.lines(), ["hold report"], "the call is not repeated");
}

#[tokio::test]
async fn a_run_that_takes_longer_than_its_time_out_is_cancelled() {
    let work = Work::new().await;
    let late = work.add(NewJob::new("main", every("1h"), prompt("hold report")).with_timeout(MINUTE)).await;
    work.set(START.after(HOUR));
    in_time(work.ledger.held.cancelled()).await;
    work.set(START.after(HOUR + MINUTE));
    let fires = work.ended(&late, 1).await;
    assert_eq!((fires[0].state, fires[0].message.is_some()), (FireState::Late, true));
    let run = work.store().message(fires[0].message.unwrap()).await.unwrap().unwrap().run.unwrap();
    assert_eq!(work.store().run(&run).await.unwrap().unwrap().state, RunState::Cancelled);
    let endless = NewJob::new("main", every("1h"), tool("endless")).with_timeout(Duration::from_millis(1));
    let endless = work.add(endless).await;
    work.store().request_fire(&endless, None).await.unwrap();
    assert_eq!(states(&work.ended(&endless, 1).await), [FireState::Late]);
}

#[tokio::test]
async fn a_time_that_comes_while_a_tool_is_at_work_waits_for_its_end() {
    let work = Work::new().await;
    let id = work.add(NewJob::new("main", every("1h"), tool("hold"))).await;
    work.set(START.after(HOUR));
    in_time(work.ledger.held.cancelled()).await;
    work.set(START.after(HOUR * 3));
    // Another job is run meanwhile, so the schedules have looked.
    let other = work.add(NewJob::new("main", every("1h"), tool("good"))).await;
    work.store().request_fire(&other, None).await.unwrap();
    work.ended(&other, 1).await;
    assert_eq!(work.store().fires(&id, None, 10).await.unwrap().len(), 1);
    work.ledger.released.cancel();
    let fires = work.ended(&id, 2).await;
    assert_eq!((fires[1].id.at, fires[1].missed), (START.after(HOUR * 2), 1));
}

#[tokio::test]
async fn the_agent_of_a_job_sees_the_model_that_is_pinned() {
    let work = Work::new().await;
    let id = work.add(NewJob::new("main", every("1h"), prompt("report")).with_model("large")).await;
    work.set(START.after(HOUR));
    work.ended(&id, 1).await;
    assert_eq!(*work.models.lock().unwrap(), [Some("large".to_owned())]);
    let events = work.store().events(0, EventFilter::default(), 1_000).await.unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
    let order = ["job.added", "fire.begun", "run.begun", "run.ended", "fire.ended"];
    assert!(order.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    assert!(order.map(|kind| kinds.iter().position(|other| *other == kind)).is_sorted(), "{kinds:?}");
}
