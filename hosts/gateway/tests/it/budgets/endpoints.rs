//! Every request to an endpoint that may charge for it counts for its session, and is refused where a budget does not allow it.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use toolkit_gateway::{BudgetKind, FireState, JobWork, NewJob, RunState, SessionKey};
use toolkit_loopback::{Answer, Request};

use super::bench::{Bench, TOKENS, call, is_of_agent, last_message, text};
use crate::agents::until;
use crate::schedules::every;

fn main_session() -> SessionKey {
    SessionKey::main("main").unwrap()
}

/// Makes these calls, one after the other, and then answers.
fn calls(calls: Vec<(&'static str, Value)>) -> impl Fn(&Request, usize) -> Answer + Send + Sync + 'static {
    move |request, _| {
        if !is_of_agent(request) {
            return text("{\"answer\": \"at nine\"}");
        }
        let messages = request.json()["messages"].as_array().unwrap().clone();
        let results = messages.iter().filter(|message| message["role"] == "tool").count();
        match calls.get(results) {
            Some((name, arguments)) => call(results, name, arguments),
            None => text("Done."),
        }
    }
}

/// The accounts that a request in the main session counts for.
const ACCOUNTS: [(BudgetKind, &str); 4] = [
    (BudgetKind::Everything, ""),
    (BudgetKind::Agent, "main"),
    (BudgetKind::Session, "agent:main:main"),
    (BudgetKind::Person, "owner"),
];

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_tools_count_for_their_session() {
    let picture = json!({ "action": "generate", "prompt": "a boat", "save_as": "boat.png" });
    let speech = json!({ "text": "Hello.", "save_as": "hello.wav" });
    let bench = Bench::start(
        json!({}),
        calls(vec![
            ("image", picture),
            ("image", json!({ "action": "describe", "image": "boat.png" })),
            ("tts", speech),
            ("transcribe", json!({ "audio": "hello.wav" })),
            ("llm_task", json!({ "prompt": "When is high water?" })),
            ("web_search", json!({ "query": "high water" })),
            ("web_search", json!({ "query": "low water", "country": "XX" })),
        ]),
    )
    .await;
    let run = bench.ended(bench.send(&main_session(), "owner", "go").await).await;
    assert_eq!(run.state, RunState::Answered, "{:?}", run.reason);
    // Eight of the agent, one for the picture, one for the task.
    assert_eq!(bench.asked(), 10, "{:?}", last_message(bench.server.requests().last().unwrap()));
    for path in ["/v1/images", "/v1/audio/speech", "/v1/audio/transcriptions"] {
        assert_eq!(bench.requests_to(path), 1, "{path}");
    }
    assert_eq!(bench.requests_to("/search/"), 2);
    // The picture has its price, and so have each of the six characters, and the search that was not refused; the transcription and the model
    // have one for tokens.
    let tokens = 10 * TOKENS + 50;
    let cost = f64::from(u32::try_from(tokens).unwrap()) / 1_000_000.0 + 0.5 + 6.0 + 0.25;
    for (kind, name) in ACCOUNTS {
        let used = bench.used(kind, name).await;
        assert_eq!((used.0, used.2), (tokens, 14), "{kind:?}");
        assert!((used.1 - cost).abs() < 1e-9, "{kind:?}: {}", used.1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_is_not_asked_where_a_budget_does_not_allow_its_price() {
    for (tool, arguments, path) in [
        ("image", json!({ "action": "generate", "prompt": "a boat" }), "/v1/images"),
        ("tts", json!({ "text": "Hello.", "save_as": "hello.wav" }), "/v1/audio"),
        ("web_search", json!({ "query": "a search that is refused" }), "/search"),
    ] {
        let section = json!({ "everything": { "day": { "cost": 0.2 } } });
        let bench = Bench::start(json!({ "budgets": section }), calls(vec![(tool, arguments)])).await;
        let run = bench.ended(bench.send(&main_session(), "owner", "go").await).await;
        assert_eq!(run.state, RunState::Answered, "{tool}: {:?}", run.reason);
        // The model is told, and goes on within what is left.
        let told = last_message(bench.server.requests().last().unwrap())["content"].to_string();
        assert!(told.contains("the budget of everything for 2027-01-15 is 0.2 of cost"), "{tool}: {told}");
        assert_eq!((bench.requests_to(path), bench.asked()), (0, 2), "{tool}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delegated_task_counts_for_its_agent_and_those_above() {
    let agents = json!({ "agents": { "main": {}, "helper": {} } });
    let bench = Bench::start(agents, |request, number| {
        let asked = last_message(request)["content"].to_string();
        match number {
            0 => call(number, "delegate", &json!({ "task": "look", "agent": "helper" })),
            1 => call(number, "finish", &json!({ "success": true, "summary": "It is there." })),
            _ => text(&format!("Done: {asked}")),
        }
    })
    .await;
    let run = bench.ended(bench.send(&main_session(), "owner", "go").await).await;
    assert_eq!((run.state, bench.asked()), (RunState::Answered, 3), "{:?}", run.reason);
    for (kind, name) in ACCOUNTS {
        assert_eq!(bench.used(kind, name).await.0, 3 * TOKENS, "{kind:?}");
    }
    assert_eq!(bench.used(BudgetKind::Agent, "helper").await.0, TOKENS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_without_a_model_counts_what_its_tool_asks_for() {
    let section = json!({ "eachJob": { "day": { "cost": 0.7 }, "month": { "runs": 3 } } });
    let bench = Bench::start(json!({ "budgets": section }), |_, _| text("never")).await;
    let arguments = json!({ "action": "generate", "prompt": "a boat" });
    let work = JobWork::Tool { tool: "image".to_owned(), arguments };
    let job = NewJob::new("main", every("1h"), work).with_person("owner");
    let job = bench.store().add_job(job).await.unwrap();
    let mut ends = Vec::new();
    for fire in 1..=4 {
        bench.clock.set(bench.clock.now().after(std::time::Duration::from_secs(1)));
        bench.store().request_fire(&job.id, None).await.unwrap();
        let fires = async || bench.store().fires(&job.id, None, 10).await.unwrap();
        until(bench.store(), || async {
            let fires = fires().await;
            fires.len() == fire && fires.iter().all(|fire| fire.ended_at.is_some())
        })
        .await;
        let newest = fires().await.swap_remove(0);
        ends.push((newest.state, newest.reason.unwrap_or_default()));
    }
    assert_eq!(ends[0].0, FireState::Done, "{ends:?}");
    let of = format!("the budget of job `{}` for", job.id);
    for (end, limit, state) in [
        (&ends[1], "0.7 of cost", FireState::Failed),
        (&ends[2], "0.7 of cost", FireState::Failed),
        (&ends[3], "3 runs", FireState::Skipped),
    ] {
        assert_eq!(end.0, state, "{ends:?}");
        assert!(end.1.contains(&of) && end.1.contains(limit), "{ends:?}");
    }
    assert_eq!((bench.requests_to("/v1/images"), bench.asked()), (1, 0));
    let used = bench.used(BudgetKind::Job, job.id.as_str()).await;
    assert!((used.1 - 0.5).abs() < 1e-9, "{used:?}");
    assert!((bench.used(BudgetKind::Session, job.session.as_str()).await.1 - 0.5).abs() < 1e-9);
}
