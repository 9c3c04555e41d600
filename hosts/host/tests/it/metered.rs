//! The meter of a host: requests of agents and of tools count against the same accounts.

use crate::bench::{Bench, call, done, model};
use serde_json::json;
use std::time::Duration;
use toolkit::AllowAll;
use toolkit_host::toolkit_agent::{DelegationRequest, Observer, StopReason};
use toolkit_host::toolkit_models::{Account, Budget, Meter};
use toolkit_host::{AgentOptions, Host};
use toolkit_loopback::{Answer, Loopback};

/// An answer of Chat Completions that reports its usage.
fn said(text: &str, input: u64, output: u64) -> Answer {
    let usage = json!({"prompt_tokens": input, "completion_tokens": output});
    let message = json!({"role": "assistant", "content": text});
    Answer::json(
        200,
        &json!({"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}),
    )
}

async fn page() -> Loopback {
    Loopback::start(|_| {
        Answer::bytes(200, "<p>High water is at nine.").with_header("content-type", "text/html")
    })
    .await
}

fn bench(model: &Loopback) -> Bench {
    let local = json!({"baseUrl": format!("{}/v1", model.url()), "model": "m"});
    Bench::new(
        &json!({"models": {"local": local}, "tools": {"web": {"network": {"allowedRanges": ["127.0.0.0/8"]}}}}),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_tool_to_a_model_counts_for_the_run() {
    let page = page().await;
    let fetch = json!({"url": page.url(), "prompt": "When is high water?"});
    let model = model([call("1", "web_fetch", &fetch), said("At nine.", 700, 30), done("At nine.")]).await;
    let bench = bench(&model);
    let host = Host::builder(bench.load()).approver(AllowAll).build().unwrap();
    let caller = host.caller().clone().with_agent("main");
    let agent = host.agent(&caller, AgentOptions::new());
    let agent = agent.unwrap().build();
    let result = agent.run(DelegationRequest::new("When?"), Observer::none()).await;
    assert!(result.success, "{result:?}");
    assert_eq!((result.usage.requests, result.usage.total_tokens()), (3, 730));
    assert_eq!(result.usage.unknown_requests, 2);
    let used = |account| host.meter().usage(&account, "").used;
    assert_eq!(used(Account::agent("main")), result.usage);
    assert_eq!(used(Account::part("page_reader")).total_tokens(), 730);
    assert_eq!(host.meter().counts().open_requests(), []);
    host.shutdown(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_of_the_host_ends_the_run() {
    let model = model([call("1", "glob", &json!({"pattern": "*"})), done("never")]).await;
    let bench = bench(&model);
    let meter = Meter::builder().budgets(|_| vec![Budget::unlimited().max_requests(1)]).build();
    let host = Host::builder(bench.load()).meter(meter).approver(AllowAll).build().unwrap();
    let agent = host.agent(host.caller(), AgentOptions::new()).unwrap().build();
    let result = agent.run(DelegationRequest::new("look"), Observer::none()).await;
    assert_eq!((result.stop_reason, result.usage.requests), (StopReason::Budget, 1), "{result:?}");
    assert!(result.summary.contains("is 1 requests, of which 1 requests are used"), "{result:?}");
    assert_eq!(model.requests().len(), 1);
    host.shutdown(Duration::from_secs(5)).await;
}
