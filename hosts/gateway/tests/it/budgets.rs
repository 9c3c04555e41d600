//! Budgets in the store: what is reserved, settled, refused, kept over a crash, and shown.
#![allow(clippy::unwrap_used)]

mod bench;
mod endless;
mod endpoints;
mod idle;
mod settings;

use std::process::Command;

use serde_json::{Value, json};
use toolkit_gateway::{
    AccountBudget, BudgetFilter, BudgetKind, BudgetSettings, EventFilter, FireState, JobWork, MessageId,
    MessageKind, MessageState, Moment, NewJob, NewMessage, NewRequest, NewSpawn, ReserveOutcome, Role,
    RunEnd, RunId, RunState, SessionKey, SpawnStored, Store, StoreOptions,
};
use toolkit_models::{TotalUsage, Usage};

use crate::common::{Place, START, key};
use crate::schedules::{every, prompt, tool};

const DAY: i64 = 24 * 60 * 60 * 1_000;
/// Tells the child that it is one, and where its store is.
const PLACE: &str = "TOOLKIT_TEST_BUDGETS";

pub(crate) fn budgets(settings: Value) -> BudgetSettings {
    serde_json::from_value(settings).unwrap()
}

fn using(tokens: u64, cost: Option<f64>) -> TotalUsage {
    let mut usage = TotalUsage::of_request(Some(&Usage::new(tokens, 0)), &Usage::default(), None);
    usage.cost = cost;
    usage
}

async fn reserve(store: &Store, request: NewRequest) -> Result<(), String> {
    match store.reserve(request).await.unwrap() {
        ReserveOutcome::Reserved => Ok(()),
        ReserveOutcome::Refused(exceeded) => Err(exceeded.to_string()),
    }
}

/// The use of an account, as the owner sees it.
pub(crate) async fn of(store: &Store, kind: BudgetKind, name: &str) -> AccountBudget {
    let filter = BudgetFilter { kind: Some(kind), limit: 1_000, ..BudgetFilter::default() };
    let found = store.account_budgets(filter).await.unwrap();
    let found = found.into_iter().find(|budget| budget.account.name == name);
    found.unwrap_or_else(|| panic!("{kind:?} {name} has no use"))
}

fn job(work: JobWork) -> NewJob {
    NewJob::new(key("ada"), every("1m"), work)
}

async fn everything(store: &Store) -> AccountBudget {
    of(store, BudgetKind::Everything, "").await
}

/// A place with a session `sub` of the agent `helper`, which stands below one of ada's with `main`.
async fn place_with_sub() -> (Place, SessionKey, SessionKey) {
    let place = Place::new().await;
    place.store.add_person("owner".to_owned(), Role::Owner, "main".to_owned()).await.unwrap();
    place.store.add_person("ada".to_owned(), Role::User, "main".to_owned()).await.unwrap();
    let above = SessionKey::person("main", "ada").unwrap();
    let sub = SessionKey::sub("helper", "1").unwrap();
    let of_ada = NewMessage::new("test", "1", above.clone(), json!({ "text": "a" })).with_person("ada");
    place.store.accept(of_ada).await.unwrap();
    place.store.open_session(sub.clone(), None, Some(above.clone())).await.unwrap();
    (place, above, sub)
}

#[tokio::test]
async fn each_budget_that_applies_to_a_request_is_checked() {
    for (section, named) in [
        (json!({ "everything": 0 }), "everything"),
        (json!({ "agents": { "helper": 0 } }), "agent `helper`"),
        (json!({ "agents": { "main": 0 } }), "agent `main`"),
        (json!({ "agents": { "delegate": 0 } }), "agent `delegate`"),
        (json!({ "eachSession": 0 }), "session `agent:helper:sub:1`"),
        (json!({ "eachJob": 0 }), "job `j1`"),
        (json!({ "people": { "ada": 0 } }), "person `ada`"),
        (json!({ "eachOtherPerson": 0 }), "person `ada`"),
    ] {
        for (measure, most, used) in
            [("tokens", json!(100), "100 tokens"), ("cost", json!(0.5), "0.5 of cost")]
        {
            for (period, name, until) in [
                ("day", "2027-01-15", "2027-01-16T00:00:00+00:00"),
                ("month", "2027-01", "2027-02-01T00:00:00+00:00"),
            ] {
                let (place, _, sub) = place_with_sub().await;
                let limits = json!({ period: { measure: most } });
                let section: Value =
                    serde_json::from_str(&section.to_string().replace('0', &limits.to_string())).unwrap();
                place.store.set_budgets(budgets(section.clone()));
                let request = |id: &str, tokens, cost| {
                    let new = NewRequest::new(id, using(tokens, Some(cost)));
                    new.with_agent("delegate").with_session(sub.clone()).with_job("j1")
                };
                reserve(&place.store, request("r1", 60, 0.3)).await.unwrap();
                place.store.settle("r1", using(40, Some(0.2))).await.unwrap();
                // The rest is just enough, whatever the first one had reserved.
                reserve(&place.store, request("r2", 60, 0.3)).await.unwrap();
                let passing = reserve(&place.store, request("r3", 1, 0.01)).await.unwrap_err();
                assert!(passing.ends_with("try again when the open requests have ended"), "{passing}");
                assert!(place.store.exhausted_budgets(None).await.unwrap().is_empty());
                place.store.settle("r2", using(60, Some(0.3))).await.unwrap();
                let refused = reserve(&place.store, request("r4", 1, 0.01)).await.unwrap_err();
                // The owner alone knows the use of others.
                let is_of_others = named == "everything" || named.starts_with("agent");
                let (begin, end) = if is_of_others {
                    ("does not allow it".to_owned(), "ask the owner to raise it")
                } else {
                    (format!("is {used}, of which {used} are used"), "raise the budget")
                };
                let begin = format!("the budget of {named} for {name} {begin}");
                assert!(refused.starts_with(&begin), "{section}: {refused}");
                assert!(refused.ends_with(&format!("wait until {until}, or {end}")), "{refused}");
                let events = place.store.events(0, EventFilter::default(), 1_000).await.unwrap();
                let told = events.iter().rfind(|event| event.kind == "budget.exhausted").unwrap();
                let whole = format!("the budget of {named} for {name} is {used}, of which {used} are used");
                assert!(told.data["text"].as_str().unwrap().starts_with(&whole), "{told:?}");
                let exhausted = place.store.exhausted_budgets(None).await.unwrap();
                // The session above counts as well.
                let count = if named.starts_with("session") { 2 } else { 1 };
                assert_eq!((exhausted.len(), &*exhausted[0].measure), (count, measure), "{section}");
                // Whom no budget concerns goes on, but for that of everything.
                let other = NewRequest::new("r5", using(1, Some(0.01)))
                    .with_session(SessionKey::main("other").unwrap());
                assert_eq!(reserve(&place.store, other).await.is_ok(), named != "everything", "{section}");
            }
        }
    }
}

#[tokio::test]
async fn a_period_begins_anew_in_its_time_zone() {
    let place = Place::new().await;
    let limits = json!({ "day": { "tokens": 100 }, "month": { "tokens": 150 } });
    place.store.set_budgets(budgets(json!({ "timezone": "America/New_York", "everything": limits })));
    // 2027-01-15T08:00:00Z is three in the morning there.
    let midnight = Moment(START.0 + 21 * 60 * 60 * 1_000);
    let request = |id: &str| NewRequest::new(id, using(100, None));
    reserve(&place.store, request("r1")).await.unwrap();
    place.store.settle("r1", using(100, None)).await.unwrap();
    place.clock.set(Moment(midnight.0 - 1));
    let refused = reserve(&place.store, request("r2")).await.unwrap_err();
    assert!(refused.contains("wait until 2027-01-16T00:00:00-05:00"), "{refused}");
    assert_eq!(everything(&place.store).await.day.ends_at, midnight);
    place.clock.set(midnight);
    let refused = reserve(&place.store, request("r2")).await.unwrap_err();
    assert!(refused.contains("for 2027-01 is 150 tokens") && refused.contains("2027-02-01T"), "{refused}");
    assert_eq!(
        (everything(&place.store).await.day.tokens, everything(&place.store).await.month.tokens),
        (0, 100)
    );
    // The clock of yesterday counts for yesterday.
    place.clock.set(START);
    assert_eq!(everything(&place.store).await.day.tokens, 100);
    place.clock.set(Moment(midnight.0 + 20 * DAY));
    reserve(&place.store, request("r3")).await.unwrap();
}

#[tokio::test]
async fn a_request_counts_in_the_period_in_which_it_began() {
    let place = Place::new().await;
    reserve(&place.store, NewRequest::new("r1", using(100, None))).await.unwrap();
    place.clock.set(Moment(START.0 + DAY));
    place.store.settle("r1", using(30, None)).await.unwrap();
    // Again, and one that nobody knows: nothing more counts.
    place.store.settle("r1", using(30, None)).await.unwrap();
    place.store.settle("r0", using(30, None)).await.unwrap();
    assert_eq!(
        (everything(&place.store).await.day.tokens, everything(&place.store).await.month.tokens),
        (0, 30)
    );
    reserve(&place.store, NewRequest::new("r2", using(100, None))).await.unwrap();
    assert_eq!(everything(&place.store).await.day.reserved_tokens, 100);
    place.store.release("r2").await.unwrap();
    let used = everything(&place.store).await;
    assert_eq!((used.day.tokens, used.day.reserved_tokens, used.day.requests), (0, 0, 0));
}

#[tokio::test]
async fn requests_at_once_never_pass_a_budget_together() {
    let place = Place::new().await;
    place.store.set_budgets(budgets(json!({ "everything": { "day": { "tokens": 1_000 } } })));
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..50 {
        let store = place.store.clone();
        tasks.spawn(
            async move { reserve(&store, NewRequest::new(number.to_string(), using(90, None))).await },
        );
    }
    let admitted = tasks.join_all().await.into_iter().flatten().count();
    assert_eq!((admitted, everything(&place.store).await.day.reserved_tokens), (11, 990));
}

#[tokio::test]
async fn runs_are_counted_when_they_begin_and_refused_with_an_answer() {
    let mut place = Place::new().await;
    place.store.set_budgets(budgets(json!({ "everything": { "day": { "runs": 2 } } })));
    for id in ["1", "2", "3"] {
        place.accept(id, id).await;
    }
    place.claim().await;
    // The count survives the process.
    place = place.reopen().await;
    place.store.set_budgets(budgets(json!({ "everything": { "day": { "runs": 2 } } })));
    assert_eq!(everything(&place.store).await.day.runs, 1);
    place.claim().await;
    assert!(place.store.claim(10).await.unwrap().is_none());
    let refused = place.store.message(MessageId(3)).await.unwrap().unwrap().run.unwrap();
    let run = place.store.run(&refused).await.unwrap().unwrap();
    let reason = run.reason.unwrap();
    assert_eq!(run.state, RunState::Failed);
    assert!(
        reason.contains(
            "the budget of everything for 2027-01-15 does not allow it; wait until 2027-01-16T00:00:00+00:00, or ask the owner"
        ),
        "{reason}"
    );
    let answers = place.store.deliveries_of(&refused).await.unwrap();
    assert_eq!((answers.len(), &answers[0].body["text"]), (1, &json!(reason)));
    // The slots are free for others, and the next day begins anew.
    place.clock.set(Moment(START.0 + DAY));
    place.accept("4", "four").await;
    assert_eq!(place.claim().await.message.external_id, "4");
    assert_eq!((everything(&place.store).await.day.runs, everything(&place.store).await.month.runs), (1, 3));
}

#[tokio::test]
async fn a_run_begins_unless_what_is_used_is_at_a_limit() {
    let place = Place::new().await;
    place.store.set_budgets(budgets(json!({ "eachSession": { "day": { "tokens": 100 } } })));
    let request = |id: &str| NewRequest::new(id, using(100, None)).with_session(key("ada"));
    // An answer was longer than expected, and more is reserved than is left.
    reserve(&place.store, request("r1")).await.unwrap();
    place.store.settle("r1", using(20, None)).await.unwrap();
    let rest = NewRequest::new("r2", using(80, None)).with_session(key("ada"));
    reserve(&place.store, rest).await.unwrap();
    place.store.set_budgets(budgets(json!({ "eachSession": { "day": { "tokens": 50 } } })));
    let session = || place.store.count_tool_run(key("ada"), "j1");
    assert_eq!(session().await.unwrap(), ReserveOutcome::Reserved);
    assert!(place.store.exhausted_budgets(None).await.unwrap().is_empty());
    place.store.settle("r2", using(30, None)).await.unwrap();
    let ReserveOutcome::Refused(refused) = session().await.unwrap() else { panic!("it is at its limit") };
    assert!(
        !refused.is_passing() && refused.to_string().contains("is 50 tokens, of which 50 tokens are used")
    );
    assert_eq!(place.store.exhausted_budgets(None).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_refused_fire_is_no_failure_of_its_job() {
    let mut place = Place::new().await;
    place.store.set_budgets(budgets(json!({ "eachJob": { "day": { "runs": 1 } } })));
    let id = place.store.add_job(job(prompt("go"))).await.unwrap().id;
    let settled = async |place: &mut Place, claims: bool| {
        place.clock.set(place.clock.now().after(std::time::Duration::from_secs(1)));
        place.store.request_fire(&id, None).await.unwrap();
        place.store.claim_fire().await.unwrap().unwrap();
        match place.store.claim(10).await.unwrap() {
            Some(claimed) => {
                assert!(claims);
                let failed = RunEnd::Refused("the budget is used up".to_owned());
                place.store.finish(&claimed.run, failed, Vec::new(), Vec::new()).await.unwrap();
            }
            None => assert!(!claims),
        }
        place.store.settle_fires().await.unwrap();
        let fire = place.store.fires(&id, None, 1).await.unwrap().swap_remove(0);
        assert_eq!(fire.state, FireState::Skipped, "{fire:?}");
        assert!(fire.reason.unwrap().contains("the budget "));
    };
    settled(&mut place, true).await;
    for _ in 0..7 {
        settled(&mut place, false).await;
    }
    let job = place.store.job(&id, None).await.unwrap().unwrap();
    assert_eq!((job.failures, job.is_enabled), (0, true));
}

fn new_spawn(parent: &SessionKey) -> NewSpawn {
    NewSpawn {
        parent: parent.clone(),
        delegates: Vec::new(),
        origin: "call".to_owned(),
        agent: "main".to_owned(),
        person: None,
        prompt: "do".to_owned(),
        label: None,
        model: None,
        thinking: None,
        run_timeout: None,
        result_to: None,
        max_children: 8,
        max_depth: 3,
        job: None,
    }
}

#[tokio::test]
async fn a_result_counts_for_the_job_for_which_it_was_made() {
    let place = Place::new().await;
    let id = place.store.add_job(job(prompt("go"))).await.unwrap().id;
    place.store.request_fire(&id, None).await.unwrap();
    place.store.claim_fire().await.unwrap().unwrap();
    let of_job = place.claim().await;
    place.store.spawn(new_spawn(&of_job.message.session)).await.unwrap();
    let end = async |run: RunId| {
        place.store.finish(&run, RunEnd::Answered, Vec::new(), Vec::new()).await.unwrap();
    };
    end(of_job.run).await;
    let of_person = NewMessage::new("test", "1", of_job.message.session, json!({ "text": "hello" }));
    place.store.accept(of_person).await.unwrap();
    for (run, counted) in [("the sub-agent's", 2), ("the person's", 2), ("that of the result", 3)] {
        let claimed = place.claim().await;
        assert_eq!(of(&place.store, BudgetKind::Job, id.as_str()).await.day.runs, counted, "{run}");
        end(claimed.run).await;
    }
}

#[tokio::test]
async fn a_result_that_a_budget_holds_is_next_in_the_next_period() {
    let place = Place::new().await;
    place.store.set_budgets(budgets(json!({ "everything": { "day": { "runs": 1 } } })));
    place.accept("1", "ada").await;
    let first = place.claim().await;
    place.store.finish(&first.run, RunEnd::Answered, Vec::new(), Vec::new()).await.unwrap();
    for number in 0..150 {
        let result = NewMessage::new("sub", number.to_string(), key("ada"), json!({ "text": "done" }));
        place.store.accept(result.with_kind(MessageKind::Result)).await.unwrap();
    }
    // However many are held, others are not kept waiting.
    let other = place.accept("2", "bob").await;
    for _ in 0..3 {
        assert_eq!(place.store.claim(10).await.unwrap(), None);
    }
    assert_eq!(place.store.message(other).await.unwrap().unwrap().state, MessageState::Consumed);
    assert_eq!(place.store.queued(key("ada")).await.unwrap().len(), 150);
    place.clock.set(Moment(START.0 + DAY));
    let next = place.claim().await;
    assert_eq!((next.message.kind, &*next.message.external_id), (MessageKind::Result, "0"));
}

#[tokio::test]
async fn runs_of_a_job_count_for_it_also_in_sessions_below() {
    let place = Place::new().await;
    place.store.set_budgets(budgets(json!({ "eachJob": { "day": { "runs": 2, "tokens": 100 } } })));
    let id = place.store.add_job(job(prompt("go"))).await.unwrap().id;
    place.store.request_fire(&id, None).await.unwrap();
    place.store.claim_fire().await.unwrap().unwrap();
    let of_job = place.claim().await;
    let parent = of_job.message.session.clone();
    let SpawnStored::Begun(sub) = place.store.spawn(new_spawn(&parent)).await.unwrap() else { panic!() };
    // One of a person, in the same session, is the latest by then.
    place.store.finish(&of_job.run, RunEnd::Answered, Vec::new(), Vec::new()).await.unwrap();
    let of_sub = place.claim().await;
    assert_eq!(of_sub.message.session, sub);
    let of_person = NewMessage::new("test", "1", parent.clone(), json!({ "text": "hello" }));
    place.store.accept(of_person).await.unwrap();
    place.claim().await;
    let used = of(&place.store, BudgetKind::Job, id.as_str()).await;
    assert_eq!(used.day.runs, 2);
    // The session above counts its own run and that below.
    assert_eq!(of(&place.store, BudgetKind::Session, parent.as_str()).await.day.runs, 3);
    assert_eq!(of(&place.store, BudgetKind::Session, sub.as_str()).await.day.runs, 1);
    reserve(&place.store, NewRequest::new("r1", using(80, None)).with_session(sub)).await.unwrap();
    assert_eq!(of(&place.store, BudgetKind::Job, id.as_str()).await.day.reserved_tokens, 80);
    // A tool that the job calls is a run of it, too.
    let refused = place.store.count_tool_run(parent, id.as_str()).await.unwrap();
    assert!(matches!(refused, ReserveOutcome::Refused(_)), "{refused:?}");
    let other = place.store.add_job(job(tool("t"))).await.unwrap();
    assert!(matches!(other.work, JobWork::Tool { .. }));
    let counted = place.store.count_tool_run(key("eve"), other.id.as_str()).await.unwrap();
    assert_eq!(counted, ReserveOutcome::Reserved);
}

#[tokio::test]
async fn the_owner_is_told_once_of_each_budget_and_period() {
    let (place, _, sub) = place_with_sub().await;
    let set = |tokens: u32| {
        place.store.set_budgets(budgets(json!({ "everything": { "day": { "tokens": tokens } } })));
    };
    set(10);
    let mut number = 0;
    let mut refused = async |tokens| {
        number += 1;
        let new = NewRequest::new(number.to_string(), using(tokens, None)).with_session(sub.clone());
        reserve(&place.store, new).await.unwrap_err();
        let events = place.store.events(0, EventFilter::default(), 1_000).await.unwrap();
        let told = events.into_iter().filter(|event| event.kind == "budget.exhausted").collect::<Vec<_>>();
        let for_ada = EventFilter { person: Some("ada".to_owned()), ..EventFilter::default() };
        let seen = place.store.events(0, for_ada, 1_000).await.unwrap();
        assert!(seen.iter().all(|event| event.kind != "budget.exhausted"));
        (told.len(), told.last().unwrap().data.clone())
    };
    let (count, data) = refused(11).await;
    assert_eq!((count, &data["limit"], &data["until"]), (1, &json!(10.0), &json!(1_800_057_600_000_i64)));
    assert!(data["text"].as_str().unwrap().contains("the budget of everything for 2027-01-15"), "{data}");
    assert_eq!(refused(12).await.0, 1);
    // A budget that was raised is told of anew.
    set(20);
    assert!(place.store.exhausted_budgets(None).await.unwrap().is_empty());
    assert_eq!(refused(21).await.0, 2);
    place.clock.set(Moment(START.0 + DAY));
    assert!(place.store.exhausted_budgets(None).await.unwrap().is_empty());
    assert_eq!(refused(21).await.0, 3);
}

#[tokio::test]
async fn old_periods_are_forgotten() {
    let place = Place::new().await;
    let use_one = async |id: &str| {
        reserve(&place.store, NewRequest::new(id, using(1, None))).await.unwrap();
        place.store.settle(id, using(1, None)).await.unwrap();
    };
    use_one("r1").await;
    place.clock.set(Moment(START.0 + 61 * DAY));
    assert_eq!(place.store.clean_up().await.unwrap(), 0);
    place.clock.set(Moment(START.0 + 63 * DAY));
    assert_eq!(place.store.clean_up().await.unwrap(), 1);
    place.clock.set(START);
    assert_eq!(
        (everything(&place.store).await.day.tokens, everything(&place.store).await.month.tokens),
        (0, 1)
    );
    place.clock.set(Moment(START.0 + 450 * DAY));
    assert_eq!(place.store.clean_up().await.unwrap(), 1);
}

/// Reserves and settles; killed at a point.
async fn use_some(directory: &std::path::Path) {
    let store = Store::open(directory, StoreOptions::new()).await.unwrap();
    store.set_budgets(budgets(json!({ "eachSession": { "day": { "tokens": 1_000 } } })));
    for number in 0..3 {
        let id = number.to_string();
        reserve(&store, NewRequest::new(&*id, using(100, None)).with_session(key("ada"))).await.unwrap();
        store.settle(&id, using(10, None)).await.unwrap();
    }
    store.close().await;
}

/// The process that the test below kills; without its place it does nothing.
#[tokio::test]
async fn process_to_be_killed() {
    if let Some(directory) = std::env::var_os(PLACE) {
        use_some(std::path::Path::new(&directory)).await;
    }
}

#[tokio::test]
async fn a_request_that_was_open_when_the_process_was_killed_counts_as_reserved() {
    for (pass, used) in [(1, 100), (2, 110), (3, 120)] {
        let directory = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "budgets::process_to_be_killed", "--nocapture"]).env(PLACE, directory.path());
        child.env("TOOLKIT_FAIL_POINT", format!("after_reserve:{pass}"));
        assert!(!child.output().unwrap().status.success(), "the point was not passed");
        let store = Store::open(directory.path(), StoreOptions::new()).await.unwrap();
        let of_ada = async || of(&store, BudgetKind::Session, key("ada").as_str()).await.day;
        assert_eq!((of_ada().await.tokens, of_ada().await.reserved_tokens), (used - 100, 100));
        assert_eq!(store.settle_open_requests().await.unwrap(), 1);
        assert_eq!((of_ada().await.tokens, of_ada().await.reserved_tokens), (used, 0));
        assert_eq!(store.settle_open_requests().await.unwrap(), 0);
        assert!(store.check().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn reading_changes_nothing_and_each_person_sees_their_own() {
    let (place, above, sub) = place_with_sub().await;
    place
        .store
        .set_budgets(budgets(json!({ "everything": { "day": { "tokens": 5 } }, "people": { "eve": {} } })));
    let request = |id: &str, session: &SessionKey| {
        NewRequest::new(id, using(3, None)).with_session(session.clone()).with_job("j1")
    };
    reserve(&place.store, request("r1", &sub)).await.unwrap();
    place.store.settle("r1", using(5, None)).await.unwrap();
    reserve(&place.store, request("r2", &key("bob"))).await.unwrap_err();
    let seen = *place.store.last_event().borrow();
    let file = place.store.file().to_owned();
    let stamp = || (std::fs::read(&file).unwrap(), std::fs::read(file.with_extension("db-wal")).unwrap());
    let before = stamp();
    let list = async |seen_by: Option<&str>, after, limit| {
        let seen_by = seen_by.map(str::to_owned);
        let filter = BudgetFilter { seen_by, limit, after, ..BudgetFilter::default() };
        let found = place.store.account_budgets(filter).await.unwrap();
        found.into_iter().map(|budget| budget.account).collect::<Vec<_>>()
    };
    let names = |accounts: &[toolkit_gateway::BudgetAccount]| {
        accounts.iter().map(|account| account.name.clone()).collect::<Vec<_>>()
    };
    let all = list(None, None, 1_000).await;
    assert_eq!(names(&all), ["helper", "main", "", "j1", "ada", "eve", sub.as_str(), above.as_str()]);
    let mut paged = Vec::new();
    while let Some(next) = list(None, paged.last().cloned(), 1).await.pop() {
        paged.push(next);
    }
    assert_eq!(paged, all);
    assert_eq!(names(&list(Some("ada"), None, 1_000).await), ["ada", sub.as_str(), above.as_str()]);
    assert_eq!(names(&list(Some("eve"), None, 1_000).await), ["eve"]);
    assert_eq!(place.store.exhausted_budgets(None).await.unwrap().len(), 1);
    assert!(place.store.exhausted_budgets(Some("ada".to_owned())).await.unwrap().is_empty());
    assert_eq!((*place.store.last_event().borrow(), stamp() == before), (seen, true));
}
