//! A model that would go on for ever stops within one request of each limit.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use serde_json::json;
use toolkit_gateway::{
    BudgetKind, FireState, JobWork, MessageId, Moment, NewJob, Role, RunState, SessionKey,
};
use toolkit_loopback::{Answer, Request};

use super::DAY;
use super::bench::{Bench, TOKENS, call, call_with_usage, is_of_agent, last_message, text};
use crate::agents::{in_time, until};
use crate::common::START;
use crate::schedules::every;

const MAX_TOKENS: u64 = 30_000;
const MAX_COST: f64 = 0.03;
/// The time between two looks at what is not in the store.
const LOOK: Duration = Duration::from_millis(2);

fn ada() -> SessionKey {
    SessionKey::person("main", "ada").unwrap()
}

/// Lists the jobs again and again.
fn endless(_: &Request, number: usize) -> Answer {
    call(number, "cron", &json!({ "action": "list" }))
}

async fn once(is_so: impl Fn() -> bool) {
    in_time(async {
        while !is_so() {
            tokio::time::sleep(LOOK).await;
        }
    })
    .await;
}

/// Asserts that what was used is within one request of a limit, and that all of it was counted.
async fn assert_at_limit(bench: &Bench, most: u64, case: &str) {
    let (tokens, cost, requests) = bench.used(BudgetKind::Everything, "").await;
    assert!(most.abs_diff(tokens) <= TOKENS, "{case}: {tokens} of {most}");
    assert_eq!((u64::from(requests), tokens), (bench.asked(), bench.asked() * TOKENS), "{case}");
    let expected = f64::from(u32::try_from(tokens).unwrap()) / 1_000_000.0;
    assert!((cost - expected).abs() < 1e-9, "{case}: {cost}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_ends_at_each_limit_and_says_which() {
    let limits = [
        ("day", json!({ "tokens": MAX_TOKENS }), "30000 tokens", "2027-01-16T00:00:00+00:00"),
        ("month", json!({ "cost": MAX_COST }), "0.03 of cost", "2027-02-01T00:00:00+00:00"),
    ];
    for (name, of) in [
        ("everything", "everything"),
        ("eachSession", "session `agent:main:person:ada`"),
        ("eachOtherPerson", "person `ada`"),
        ("people/ada", "person `ada`"),
        ("agents/main", "agent `main`"),
    ] {
        for (period, limit, shown, until) in &limits {
            let limited = json!({ *period: limit });
            let section = match name.split_once('/') {
                Some((map, key)) => json!({ map: { key: limited } }),
                None => json!({ name: limited }),
            };
            let bench = Bench::start(json!({ "budgets": section }), endless).await;
            let run = bench.ended(bench.send(&ada(), "ada", "go on").await).await;
            let reason = run.reason.unwrap();
            assert_eq!(run.state, RunState::Failed, "{name} {period}: {reason}");
            let is_of_others = name == "everything" || name.starts_with("agents");
            let hidden = (" does not allow it; ".to_owned(), "ask the owner to raise it");
            let (amounts, raise) =
                if is_of_others { hidden } else { (format!(" is {shown}, of which "), "raise the budget") };
            for part in
                [format!("the budget of {of} for "), amounts, format!("wait until {until}, or {raise}")]
            {
                assert!(reason.contains(&part), "{name} {period}: {reason}");
            }
            assert_at_limit(&bench, MAX_TOKENS, &format!("{name} {period}")).await;
            // The person has it as the answer.
            let sent = bench.store().deliveries_of(&run.id).await.unwrap();
            assert_eq!(sent[0].body["text"], json!(reason));
            // It stays so after a restart.
            let bench = bench.restart(Duration::ZERO).await;
            let run = bench.ended(bench.send(&ada(), "ada", "go on").await).await;
            assert_eq!(run.state, RunState::Failed, "{name} {period}");
            assert_at_limit(&bench, MAX_TOKENS, &format!("{name} {period} again")).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_ends_at_its_limit_and_others_go_on() {
    let section = json!({ "eachJob": { "day": { "tokens": MAX_TOKENS } } });
    let bench = Bench::start(json!({ "budgets": section }), |request, number| {
        let is_person = last_message(request)["content"].to_string().contains("one answer");
        if is_person { text("Here.") } else { endless(request, number) }
    })
    .await;
    let job = NewJob::new("main", every("1h"), JobWork::Prompt { prompt: "go on".to_owned() });
    let job = bench.store().add_job(job.with_person("ada")).await.unwrap().id;
    bench.store().request_fire(&job, None).await.unwrap();
    let fires = async || bench.store().fires(&job, None, 10).await.unwrap();
    until(bench.store(), || async { fires().await.iter().any(|fire| fire.ended_at.is_some()) }).await;
    let reason = fires().await[0].reason.clone().unwrap();
    assert!(
        reason.contains(&format!("the budget of job `{job}` for 2027-01-15 is 30000 tokens")),
        "{reason}"
    );
    assert_eq!(fires().await[0].state, FireState::Skipped, "{reason}");
    assert_eq!(bench.store().job(&job, None).await.unwrap().unwrap().failures, 0);
    assert_at_limit(&bench, MAX_TOKENS, "a job").await;
    let run = bench.ended(bench.send(&ada(), "ada", "one answer").await).await;
    assert_eq!(run.state, RunState::Answered);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_runs_begin_than_each_limit_has() {
    for (section, of) in [
        (json!({ "everything": { "month": { "runs": 2 } } }), "everything"),
        (json!({ "agents": { "main": { "day": { "runs": 2 } } } }), "agent `main`"),
        (json!({ "eachSession": { "day": { "runs": 2 } } }), "session `agent:main:person:ada`"),
        (json!({ "people": { "ada": { "month": { "runs": 2 } } } }), "person `ada`"),
        (json!({ "eachOtherPerson": { "day": { "runs": 2 } } }), "person `ada`"),
    ] {
        let bench = Bench::start(json!({ "budgets": section }), |_, _| text("Here.")).await;
        let mut states = Vec::new();
        for _ in 0..3 {
            let run = bench.ended(bench.send(&ada(), "ada", "hello").await).await;
            states.push((run.state, run.reason.is_some_and(|reason| reason.contains(of))));
        }
        let answered = (RunState::Answered, false);
        assert_eq!(states, [answered, answered, (RunState::Failed, true)], "{of}");
        assert_eq!(bench.asked(), 2, "{of}");
        bench.clock.set(Moment(START.0 + 31 * DAY));
        let run = bench.ended(bench.send(&ada(), "ada", "hello").await).await;
        assert_eq!(run.state, RunState::Answered, "{of}: {:?}", run.reason);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_asks_the_model_is_refused_at_the_limit() {
    for through in ["page", "picture", "task"] {
        let section = json!({ "everything": { "day": { "tokens": MAX_TOKENS } } });
        let bench = Bench::start(json!({ "budgets": section }), move |request, number| {
            if !is_of_agent(request) {
                return text("{\"answer\": \"at nine\"}");
            }
            let host = request.header("host").unwrap();
            let (tool, arguments) = match through {
                "page" => {
                    ("web_fetch", json!({ "url": format!("http://{host}/{number}"), "prompt": "When?" }))
                }
                "picture" if number == 0 => {
                    ("image", json!({ "action": "generate", "prompt": "a boat", "save_as": "boat.png" }))
                }
                "picture" => ("image", json!({ "action": "describe", "image": "boat.png" })),
                _ => ("llm_task", json!({ "prompt": "When is high water?" })),
            };
            call(number, tool, &arguments)
        })
        .await;
        let main = SessionKey::main("main").unwrap();
        let run = bench.ended(bench.send(&main, "owner", "go on").await).await;
        let reason = run.reason.unwrap();
        assert!(reason.contains("the budget of everything for 2027-01-15"), "{through}: {reason}");
        let requests = bench.server.requests();
        let of_model = requests.iter().filter(|request| request.path == "/v1/chat/completions");
        let of_tools = of_model.filter(|request| !is_of_agent(request)).count();
        assert!(of_tools >= 1, "{through}: {:?}", last_message(requests.last().unwrap()));
        let (tokens, _, _) = bench.used(BudgetKind::Everything, "").await;
        assert!(MAX_TOKENS.abs_diff(tokens) < TOKENS, "{through}: {tokens}");
        assert_eq!(tokens, bench.asked() * TOKENS, "{through}");
        assert_eq!(bench.used(BudgetKind::Session, main.as_str()).await.0, tokens, "{through}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_at_once_stop_within_one_request_of_the_limit_together() {
    let most = 20 * TOKENS;
    for section in [
        json!({ "everything": { "day": { "tokens": most } } }),
        json!({ "agents": { "main": { "month": { "cost": 0.122 } } } }),
    ] {
        let bench = Bench::start(json!({ "budgets": section }), endless).await;
        let mut sent: Vec<MessageId> = Vec::new();
        for person in ["ada", "bob", "eve", "joe"] {
            let session = SessionKey::person("main", person).unwrap();
            sent.push(bench.send(&session, person, "go on").await);
        }
        for id in sent {
            let reason = bench.ended(id).await.reason.unwrap();
            // None was refused for what others had reserved, and did not use.
            assert!(reason.contains("wait until 2027-0"), "{reason}");
        }
        assert_at_limit(&bench, most, &section.to_string()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_at_once_with_answers_of_any_length_stop_within_one_request_of_the_limit() {
    const LONG: u64 = 50_000;
    let most = 3 * LONG + 30_000;
    let section = json!({ "everything": { "day": { "tokens": most } } });
    let model = json!({ "maxTokens": null });
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": LONG - 100 });
    let bench = Bench::start(json!({ "budgets": section, "model": model }), move |_, number| {
        call_with_usage(number, "cron", &json!({ "action": "list" }), &usage)
    })
    .await;
    let mut sent = Vec::new();
    for person in ["ada", "bob", "eve", "joe"] {
        let session = SessionKey::person("main", person).unwrap();
        sent.push(bench.send(&session, person, "go on").await);
    }
    for id in sent {
        let reason = bench.ended(id).await.reason.unwrap();
        assert!(reason.contains("wait until 2027-0"), "{reason}");
    }
    let (tokens, _, _) = bench.used(BudgetKind::Everything, "").await;
    assert_eq!((tokens, bench.asked()), (4 * LONG, 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_goes_on_after_restarts_stops_at_the_limit() {
    let section = json!({ "everything": { "day": { "tokens": MAX_TOKENS } } });
    let mut bench = Bench::start(json!({ "budgets": section }), endless).await;
    let id = bench.send(&ada(), "ada", "go on").await;
    for requests in [1, 3] {
        once(|| bench.asked() >= requests).await;
        bench = bench.restart(Duration::ZERO).await;
    }
    let run = bench.ended(id).await;
    assert_eq!(run.state, RunState::Failed);
    assert!(run.reason.unwrap().contains("the budget of everything"));
    // Requests that a stop has interrupted count with an estimate, which is less than what is reported of the others.
    let (tokens, _, requests) = bench.used(BudgetKind::Everything, "").await;
    assert!(MAX_TOKENS.abs_diff(tokens) < TOKENS, "{tokens}");
    // Each of the two stops may have cut one request off between its reservation and the server.
    let asked = bench.asked();
    assert!((asked..=asked + 2).contains(&u64::from(requests)), "{requests} of {asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_that_limit_nothing_are_problems_of_the_status() {
    let section = json!({ "people": { "ada": { "day": { "cost": 1.0 } } } });
    let sections = |price| json!({ "budgets": section, "model": { "price": price } });
    let bench = Bench::start(sections(json!(null)), |_, _| text("Here.")).await;
    let problems = async || bench.gateway.state().problems().await.unwrap();
    let found = problems().await;
    assert!(found.len() == 2 && found[0].contains("`models.local.price`"), "{found:?}");
    assert!(found[1].contains("there is no person `ada`"), "{found:?}");
    bench.store().add_person("ada".to_owned(), Role::User, "main".to_owned()).await.unwrap();
    assert_eq!(problems().await.len(), 1);
    bench.configure(&sections(json!({ "input": 0.0, "output": 0.0 })));
    once(|| bench.gateway.state().about().problems.is_empty()).await;
    assert!(problems().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_configuration_changes_the_limits() {
    let limits = |tokens: u64| json!({ "budgets": { "everything": { "day": { "tokens": tokens } } } });
    let bench = Bench::start(limits(0), |_, _| text("Here.")).await;
    let run = bench.ended(bench.send(&ada(), "ada", "hello").await).await;
    assert!(run.reason.unwrap().contains("the budget of everything"));
    bench.configure(&limits(20_000));
    once(|| bench.store().budgets().everything.day.tokens == Some(20_000)).await;
    let run = bench.ended(bench.send(&ada(), "ada", "hello").await).await;
    assert_eq!(run.state, RunState::Answered);
    // A section that is not understood changes nothing.
    bench.configure(&json!({ "budgets": { "agents": { "mian": {} } } }));
    let is_told = |problem: &String| problem.contains("`budgets.agents.mian`");
    once(|| bench.gateway.state().about().problems.iter().any(is_told)).await;
    assert_eq!(bench.store().budgets().everything.day.tokens, Some(20_000));
}
