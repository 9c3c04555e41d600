//! Jobs and their fires in the store: when they are due, what is missed, and whose they are.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use toolkit_gateway::{
    CancelOutcome, ClaimedFire, EventFilter, FireEnd, FireState, Job, JobChange, JobFilter, JobId, JobWork,
    MessageKind, Missed, Moment, NewJob, RunEnd, Schedule, SessionKey, Zone,
};

use crate::common::{Place, START, key, target};

pub(crate) const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

pub(crate) fn every(interval: &str) -> Schedule {
    Schedule::Every { interval: interval.parse().unwrap(), anchor: START }
}

fn cron(expression: &str, zone: &str) -> Schedule {
    Schedule::Cron { expression: expression.parse().unwrap(), zone: zone.parse().unwrap() }
}

pub(crate) fn prompt(text: &str) -> JobWork {
    JobWork::Prompt { prompt: text.to_owned() }
}

pub(crate) fn tool(name: &str) -> JobWork {
    JobWork::Tool { tool: name.to_owned(), arguments: json!({ "id": name }) }
}

fn hourly() -> NewJob {
    NewJob::new("main", every("1h"), tool("report")).with_person("ada")
}

fn hours(number: u64) -> Moment {
    START.after(HOUR * u32::try_from(number).unwrap())
}

impl Place {
    async fn add(&self, job: NewJob) -> JobId {
        self.store.add_job(job).await.unwrap().id
    }

    async fn job(&self, id: &JobId) -> Job {
        self.store.job(id, None).await.unwrap().unwrap()
    }

    async fn due(&self) -> Option<ClaimedFire> {
        self.store.claim_fire().await.unwrap()
    }

    async fn end(&self, claimed: &ClaimedFire, end: FireEnd) {
        assert!(self.store.end_fire(&claimed.fire.id, end).await.unwrap());
    }

    /// Claims and ends all that is due, and returns the times of it.
    async fn run_due(&self) -> Vec<Moment> {
        let mut times = Vec::new();
        while let Some(claimed) = self.due().await {
            times.push(claimed.fire.id.at);
            self.end(&claimed, FireEnd::Done(None)).await;
        }
        times
    }

    /// The fires of a job, the oldest first: time, state, missed.
    async fn shown(&self, id: &JobId) -> Vec<(Moment, FireState, u32)> {
        let mut fires = self.store.fires(id, None, 100).await.unwrap();
        fires.reverse();
        fires.iter().map(|fire| (fire.id.at, fire.state, fire.missed)).collect()
    }

    async fn events(&self, kind: &str) -> usize {
        let events = self.store.events(0, EventFilter::default(), 1_000).await.unwrap();
        events.iter().filter(|event| event.kind == kind).count()
    }
}

#[tokio::test]
async fn a_fire_begins_at_its_time_once_with_a_message_and_moves_the_job_on() {
    let place = Place::new().await;
    let job =
        NewJob::new("main", every("1h"), prompt("Report.")).with_person("ada").with_reply_to(target("ada"));
    let id = place.add(job).await;
    assert_eq!(place.store.next_due().await.unwrap(), Some(hours(1)));
    assert_eq!(place.due().await, None);
    place.clock.set(hours(1));
    let claimed = place.due().await.unwrap();
    assert_eq!(place.due().await, None);
    assert_eq!((claimed.fire.id.at, claimed.fire.missed), (hours(1), 0));
    assert_eq!(place.job(&id).await.next_at, Some(hours(2)));
    assert_eq!(place.job(&id).await.in_flight, Some(hours(1)));
    let message = place.store.message(claimed.fire.message.unwrap()).await.unwrap().unwrap();
    assert_eq!(message.kind, MessageKind::Fire);
    assert_eq!(message.session, SessionKey::cron("main", id.as_str()).unwrap(), "by default its own");
    assert_eq!(message.reply_to, Some(target("ada")));
    let time = Zone::utc().show(hours(1)).unwrap();
    assert_eq!((&message.body["text"], &message.body["time"]), (&json!("Report."), &json!(time)));
    // The fire ends with the run of its message.
    let run = place.claim().await.run;
    assert_eq!(place.store.settle_fires().await.unwrap(), 0);
    place.store.finish(&run, RunEnd::Answered, vec![message.id], Vec::new()).await.unwrap();
    assert_eq!(place.store.settle_fires().await.unwrap(), 1);
    assert_eq!(place.shown(&id).await, [(hours(1), FireState::Done, 0)]);
}

#[tokio::test]
async fn reading_and_listing_never_changes_a_time() {
    let place = Place::new().await;
    let jobs =
        [hourly(), hourly().with_jitter(HOUR), NewJob::new("main", cron("*/7 * * * *", "UTC"), prompt("x"))];
    let mut ids = Vec::new();
    for job in jobs {
        ids.push(place.add(job).await);
    }
    let before = place.store.jobs(JobFilter::default()).await.unwrap();
    let due = place.store.next_due().await.unwrap();
    for at in [hours(0), hours(100), hours(3), hours(0)] {
        place.clock.set(at);
        for id in &ids {
            assert!(before.contains(&place.job(id).await));
            assert!(place.store.fires(id, None, 10).await.unwrap().is_empty());
        }
        assert_eq!(place.store.jobs(JobFilter::default()).await.unwrap(), before);
        assert_eq!(place.store.next_due().await.unwrap(), due);
        assert!(place.store.fires_in_flight().await.unwrap().is_empty());
    }
    let last = *place.store.last_event().borrow();
    assert_eq!(place.store.events(last, EventFilter::default(), 1).await.unwrap(), []);
}

#[tokio::test]
async fn missed_times_follow_the_policy_of_the_job() {
    let place = Place::new().await;
    let skip = place.add(hourly().with_missed(Missed::Skip)).await;
    let once = place.add(hourly()).await;
    let all = place.add(hourly().with_missed(Missed::All).with_missed_limit(3)).await;
    place.clock.set(hours(5).after(MINUTE * 30));
    // As a gateway that was off until then.
    let place = place.reopen().await;
    place.run_due().await;
    assert_eq!(place.shown(&skip).await, [(hours(1), FireState::Skipped, 5)]);
    assert_eq!(place.shown(&once).await, [(hours(1), FireState::Done, 4)]);
    let done = |hour| (hours(hour), FireState::Done, 0);
    assert_eq!(
        place.shown(&all).await,
        [(hours(1), FireState::Skipped, 2), done(3), done(4), done(5)],
        "the newest up to the limit"
    );
    for id in [&skip, &once, &all] {
        assert_eq!(place.job(id).await.next_at, Some(hours(6)));
    }
    assert_eq!(place.events("fire.skipped").await, 2);
}

#[tokio::test]
async fn a_job_does_not_overlap_with_itself() {
    let place = Place::new().await;
    let id = place.add(hourly()).await;
    place.clock.set(hours(1));
    let first = place.due().await.unwrap();
    place.clock.set(hours(4));
    assert_eq!(place.due().await, None);
    assert_eq!(
        place.store.next_due().await.unwrap(),
        None,
        "it waits for the end of the first, not for a time"
    );
    let job = place.job(&id).await;
    assert_eq!((job.in_flight, job.next_at), (Some(hours(1)), Some(hours(2))));
    place.end(&first, FireEnd::Done(None)).await;
    assert_eq!(place.run_due().await, [hours(2)]);
    assert_eq!(place.shown(&id).await, [(hours(1), FireState::Done, 0), (hours(2), FireState::Done, 2)]);
    // A request waits, too.
    place.clock.set(hours(5));
    let scheduled = place.due().await.unwrap();
    place.store.request_fire(&id, None).await.unwrap();
    assert_eq!(place.due().await, None);
    assert!(place.job(&id).await.is_requested);
    place.end(&scheduled, FireEnd::Done(None)).await;
    let requested = place.due().await.unwrap();
    assert!(requested.fire.id.is_manual);
    assert_eq!(place.job(&id).await.next_at, Some(hours(6)), "the schedule stays");
}

#[tokio::test]
async fn a_job_that_fails_in_a_row_is_paused_with_the_reason() {
    let place = Place::new().await;
    let id = place.add(hourly().with_max_failures(2)).await;
    let mut hour = 0;
    let mut next = async |end: FireEnd| {
        hour += 1;
        place.clock.set(hours(hour));
        let claimed = place.due().await.unwrap();
        place.end(&claimed, end).await;
        place.job(&id).await
    };
    let failed = || FireEnd::Failed("no disk".to_owned());
    assert_eq!(next(failed()).await.failures, 1);
    assert_eq!(next(FireEnd::Done(None)).await.failures, 0);
    assert_eq!(next(failed()).await.failures, 1);
    assert_eq!(next(FireEnd::Cancelled).await.failures, 1);
    let job = next(FireEnd::Late("late".to_owned())).await;
    assert!(!job.is_enabled);
    assert_eq!(job.paused.as_deref(), Some("2 runs in a row did not end well; the last: late"));
    assert_eq!(place.events("job.paused").await, 1);
    place.clock.set(hours(20).after(MINUTE));
    assert_eq!(place.due().await, None);
    // Times at which it was paused are not missed ones.
    let enable = JobChange { enabled: Some(true), ..JobChange::default() };
    let job = place.store.update_job(&id, None, enable).await.unwrap();
    assert_eq!((job.is_enabled, job.failures, job.paused, job.next_at), (true, 0, None, Some(hours(21))));
}

#[tokio::test]
async fn jobs_of_one_person_are_invisible_to_another() {
    let place = Place::new().await;
    let id = place.add(hourly()).await;
    place.clock.set(hours(1));
    place.run_due().await;
    let bob = || Some("bob".to_owned());
    let store = &place.store;
    let of_bob = JobFilter { person: bob(), ..JobFilter::default() };
    assert_eq!(store.jobs(of_bob).await.unwrap(), []);
    assert_eq!(store.job(&id, bob()).await.unwrap(), None);
    assert_eq!(store.fires(&id, bob(), 10).await.unwrap(), []);
    assert!(!store.remove_job(&id, bob()).await.unwrap());
    let change = store.update_job(&id, bob(), JobChange::default()).await.unwrap_err().to_string();
    let missing =
        store.update_job(&JobId::new("none"), bob(), JobChange::default()).await.unwrap_err().to_string();
    assert_eq!(change.replace(id.as_str(), "none"), missing, "an error does not say that it is there");
    assert!(store.request_fire(&id, bob()).await.is_err());
    assert_eq!(store.pause_jobs_of("bob".to_owned(), "blocked".to_owned()).await.unwrap(), 0);
    // Nor does a job of one run in the session of another.
    store.open_session(key("ada"), Some("ada".to_owned()), None).await.unwrap();
    let foreign = NewJob::new("main", every("1h"), prompt("x")).with_session(key("ada"));
    let error = store.add_job(foreign.clone().with_person("bob")).await.unwrap_err().to_string();
    assert!(error.contains("belongs to another person; name one of your own, or none"), "{error}");
    assert!(store.add_job(foreign.clone()).await.is_err());
    store.add_job(foreign.with_person("ada")).await.unwrap();
    let of_ada = JobFilter { person: Some("ada".to_owned()), ..JobFilter::default() };
    assert_eq!(store.jobs(of_ada.clone()).await.unwrap().len(), 2);
    assert_eq!(store.jobs(JobFilter { session: Some(key("ada")), ..of_ada.clone() }).await.unwrap().len(), 1);
    assert_eq!(store.jobs(JobFilter { agent: Some("other".to_owned()), ..of_ada }).await.unwrap(), []);
    assert_eq!(store.pause_jobs_of("ada".to_owned(), "blocked".to_owned()).await.unwrap(), 2);
    place.clock.set(hours(9));
    assert_eq!(place.due().await, None);
    assert_eq!(place.job(&id).await.paused.as_deref(), Some("blocked"));
}

#[tokio::test]
async fn a_job_is_added_once_for_a_call_and_changed_and_removed() {
    let place = Place::new().await;
    let job = hourly().with_origin("call");
    let id = place.add(job.clone()).await;
    assert_eq!(place.add(job).await, id);
    assert_ne!(place.add(hourly().with_origin("other")).await, id);
    place.clock.set(START.after(MINUTE));
    let change = JobChange {
        schedule: Some(cron("30 * * * *", "UTC")),
        timeout: Some(Some(MINUTE)),
        missed: Some(Missed::All),
        work: Some(prompt("other")),
        ..JobChange::default()
    };
    let changed = place.store.update_job(&id, Some("ada".to_owned()), change).await.unwrap();
    assert_eq!((changed.work, changed.timeout, changed.missed), (prompt("other"), Some(MINUTE), Missed::All));
    assert_eq!(changed.next_at, cron("30 * * * *", "UTC").next_after(START.after(MINUTE)));
    // A change of something else does not count the schedule anew.
    place.clock.set(hours(10));
    let change = JobChange { jitter: Some(MINUTE), enabled: Some(true), ..JobChange::default() };
    assert_eq!(place.store.update_job(&id, None, change).await.unwrap().next_at, changed.next_at);
    assert!(place.store.remove_job(&id, None).await.unwrap());
    assert!(!place.store.remove_job(&id, None).await.unwrap());
    assert_eq!(place.job_count().await, 1);
}

impl Place {
    async fn job_count(&self) -> usize {
        self.store.jobs(JobFilter::default()).await.unwrap().len()
    }
}

#[tokio::test]
async fn a_job_that_is_not_valid_is_refused_with_the_reason() {
    let place = Place::new().await;
    let at = |time| NewJob::new("main", Schedule::At { time }, prompt("x"));
    for (job, expected) in [
        (at(START), "the time of the job has passed; name one that is to come"),
        (NewJob::new("main", cron("0 0 30 2 *", "UTC"), prompt("x")), "names no time that is to come"),
        (NewJob::new("main", every("1h"), prompt("  ")), "the job has nothing to do"),
        (NewJob::new("main", every("1h"), prompt(&"x".repeat(70_000))), "and the limit is 65536"),
        (hourly().with_jitter(HOUR * 2), "the jitter is longer than one hour"),
        (hourly().with_timeout(Duration::ZERO), "the time-out is out of range"),
        (hourly().with_missed_limit(0), "from 1 to 1000"),
        (
            hourly().with_session(key("ada")).with_model("large"),
            "a session of its own; name no session, or no model",
        ),
        (NewJob::new("", every("1h"), prompt("x")), "the agent of a session is empty"),
    ] {
        let error = place.store.add_job(job).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(place.job_count().await, 0);
}

#[tokio::test]
async fn a_single_time_is_run_once_and_its_job_removed_on_request() {
    let place = Place::new().await;
    let at = |delete| {
        NewJob::new("main", Schedule::At { time: hours(2) }, tool("report")).with_delete_after_run(delete)
    };
    let (stays, goes) = (place.add(at(false)).await, place.add(at(true)).await);
    place.store.request_fire(&goes, None).await.unwrap();
    assert_eq!(place.run_due().await.len(), 1, "a run beside the schedule");
    place.clock.set(hours(3));
    assert_eq!(place.run_due().await, [hours(2), hours(2)]);
    assert_eq!(place.job(&stays).await.next_at, None);
    assert_eq!(place.store.job(&goes, None).await.unwrap(), None);
    assert_eq!(place.shown(&goes).await.len(), 2, "its fires are still shown");
    place.clock.set(hours(1));
    place.clock.set(hours(4));
    assert_eq!(place.run_due().await, []);
}

#[tokio::test]
async fn leap_days_come_in_their_years_alone() {
    let place = Place::new().await;
    let id = place.add(NewJob::new("main", cron("0 0 29 2 *", "America/New_York"), tool("report"))).await;
    let zone: Zone = "America/New_York".parse().unwrap();
    for expected in ["2028-02-29T00:00:00-05:00", "2032-02-29T00:00:00-05:00", "2036-02-29T00:00:00-05:00"] {
        let next = place.job(&id).await.next_at.unwrap();
        assert_eq!(zone.show(next).unwrap(), expected);
        place.clock.set(next);
        assert_eq!(place.run_due().await, [next]);
    }
}

#[tokio::test]
async fn a_clock_that_was_years_ahead_does_not_stop_a_job() {
    let place = Place::new().await;
    let skip = place.add(hourly().with_missed(Missed::Skip)).await;
    let once = place.add(hourly()).await;
    let single = place
        .add(NewJob::new("main", Schedule::At { time: hours(3) }, tool("x")).with_missed(Missed::Skip))
        .await;
    place.clock.set(START.after(HOUR * 24 * 3_650).after(MINUTE * 30));
    assert_eq!(place.run_due().await, [hours(1)], "one stands for ten years");
    place.clock.set(hours(0).after(MINUTE));
    assert_eq!(place.run_due().await, []);
    for (id, next) in [(&skip, 1), (&once, 2), (&single, 3)] {
        assert_eq!(place.job(id).await.next_at, Some(hours(next)));
    }
    place.clock.set(hours(1));
    assert_eq!(place.run_due().await, [hours(1)]);
    assert_eq!(
        place.shown(&skip).await,
        [(hours(1), FireState::Done, 0)],
        "what was skipped then is run at its time"
    );
    place.clock.set(hours(3));
    let mut times = place.run_due().await;
    times.sort();
    assert_eq!(times, [hours(2), hours(3), hours(3)]);
}

#[tokio::test]
async fn a_message_that_is_taken_back_cancels_its_fire() {
    let place = Place::new().await;
    let id = place.add(NewJob::new("main", every("1h"), prompt("x"))).await;
    place.clock.set(hours(1));
    let message = place.due().await.unwrap().fire.message.unwrap();
    assert_eq!(place.store.cancel_message(message).await.unwrap(), CancelOutcome::Cancelled);
    assert_eq!(place.store.settle_fires().await.unwrap(), 1);
    assert_eq!(place.shown(&id).await, [(hours(1), FireState::Cancelled, 0)]);
    assert_eq!(place.job(&id).await.failures, 0);
}

#[tokio::test]
async fn the_newest_fires_are_kept() {
    let place = Place::new().await;
    let id = place.add(NewJob::new("main", every("1s"), tool("report"))).await;
    for second in 1..=210 {
        place.clock.set(START.after(Duration::from_secs(second)));
        assert_eq!(place.run_due().await.len(), 1);
    }
    let fires = place.store.fires(&id, None, 1_000).await.unwrap();
    assert_eq!((fires.len(), fires[0].id.at), (200, START.after(Duration::from_secs(210))));
    place.clock.set(START.after(HOUR * 24 * 31));
    place.store.remove_job(&id, None).await.unwrap();
    while place.store.clean_up().await.unwrap() > 0 {}
    assert_eq!(place.store.fires(&id, None, 1_000).await.unwrap(), []);
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Sets the clock, by minutes.
    Set(i64),
    /// Begins what is due, and ends so much of it.
    Run {
        ends: bool,
    },
    Reopen,
    /// Sets the clock to the greatest time at which something was begun.
    Newest,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (-300_i64..=600).prop_map(Step::Set),
        3 => (0_i64..=3).prop_map(Step::Set),
        4 => any::<bool>().prop_map(|ends| Step::Run { ends }),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..40)
}

async fn carry_out(steps: Vec<Step>, schedule: Schedule) {
    let mut place = Place::new().await;
    let job = |missed| {
        NewJob::new("main", schedule.clone(), tool("x")).with_missed(missed).with_missed_limit(1_000)
    };
    let skip = place.add(job(Missed::Skip)).await;
    let once = place.add(job(Missed::Once)).await;
    let all = place.add(job(Missed::All)).await;
    let mut run = BTreeSet::new();
    let mut in_flight: Vec<ClaimedFire> = Vec::new();
    let mut greatest = START;
    for step in steps.into_iter().chain([Step::Newest, Step::Run { ends: true }]) {
        match step {
            // Not before the jobs were made.
            Step::Set(minutes) => place.clock.set(Moment(place.clock.now().0 + minutes * 60_000).max(START)),
            Step::Newest => place.clock.set(greatest),
            Step::Reopen => place = place.reopen().await,
            Step::Run { ends } => {
                let now = place.clock.now();
                greatest = greatest.max(now);
                if ends {
                    for claimed in in_flight.drain(..) {
                        place.end(&claimed, FireEnd::Done(None)).await;
                    }
                }
                while let Some(claimed) = place.due().await {
                    let id = claimed.fire.id.clone();
                    assert!(id.at <= now, "it is not early");
                    assert!(id.job != skip || now.since(id.at) <= MINUTE, "it is not late");
                    assert!(in_flight.iter().all(|other| other.fire.id.job != id.job), "it does not overlap");
                    assert!(run.insert((id.job.clone(), id.at)), "it is not run twice");
                    if ends {
                        place.end(&claimed, FireEnd::Done(None)).await;
                    } else {
                        in_flight.push(claimed);
                    }
                }
                for id in [&skip, &once, &all] {
                    let job = place.job(id).await;
                    if job.in_flight.is_none() {
                        let last = job.last_at.unwrap_or(now).max(now);
                        let next = schedule.next_after(last);
                        assert_eq!(
                            job.next_at, next,
                            "the next time is the next of the clock that was not run"
                        );
                    }
                }
            }
        }
    }
    let of_all: Vec<Moment> = run.iter().filter(|(job, _)| *job == all).map(|(_, at)| *at).collect();
    let mut expected = Vec::new();
    let mut at = START;
    while let Some(next) = schedule.next_after(at).filter(|next| *next <= greatest) {
        expected.push(next);
        at = next;
    }
    assert_eq!(of_all, expected, "where all are made up for, none is lost");
    if !expected.is_empty() {
        assert!(run.iter().any(|(job, _)| *job == once), "one stands for them");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_fire_is_repeated_or_lost_however_the_clock_is_set(steps in steps(), hourly in any::<bool>()) {
        let schedule = if hourly { every("1h") } else { cron("*/20 * * * *", "America/New_York") };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(carry_out(steps, schedule));
    }
}
