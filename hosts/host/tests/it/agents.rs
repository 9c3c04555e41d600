//! Agents of a host: their tools, models, limits and transcripts.

use crate::bench::{Bench, TideServer, call, done, model};
use serde_json::json;
use std::fs;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{AllowAll, tool_ref};
use toolkit_host::toolkit_agent::{DelegationRequest, Observer};
use toolkit_host::{AgentOptions, Host, HostError};
use toolkit_loopback::Loopback;

/// Returns the harbour of the program.
#[tool(read_only)]
async fn home_harbour() -> &'static str {
    "Bergen"
}

fn local(server: &Loopback) -> serde_json::Value {
    json!({"baseUrl": format!("{}/v1", server.url()), "model": "m"})
}

/// The whole composition: a model, an MCP server, a builtin tool, a tool of the program, history, checkpoints and transcripts.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_has_all_tools_of_its_host() {
    let server = TideServer::start().await;
    let model = model([
        call("1", "home_harbour", &json!({})),
        call("2", "tides__tide", &json!({"harbour": "Bergen"})),
        call("3", "write", &json!({"file_path": "tide.txt", "content": "high\n"})),
        done("The tide is high."),
    ])
    .await;
    let bench = Bench::new(&json!({"models": {"local": local(&model)}, "mcp": {"tides": server.settings()}}));
    let host = Host::builder(bench.load())
        .with_toolkit(|toolkit| toolkit.tool(tool_ref!(home_harbour)))
        .approver(AllowAll)
        .build()
        .unwrap();
    let agent = host.agent(host.caller(), AgentOptions::new()).unwrap().build();
    let result = agent.run(DelegationRequest::new("How is the tide?"), Observer::none()).await;
    assert!(result.success, "{result:?}");
    assert_eq!(result.summary, "The tide is high.");
    let requests = model.requests();
    let last = requests.last().unwrap().json().to_string();
    assert!(last.contains("Bergen: high"), "{last}");
    // The workspace of the sources is that of the caller.
    assert_eq!(fs::read_to_string(bench.path("work/tide.txt")).unwrap(), "high\n");

    let transcripts = host.transcripts().unwrap();
    let id = transcripts.latest(host.caller().workspace_dir()).unwrap().id;
    let report = host.shutdown(Duration::from_secs(5)).await;
    assert!(report.is_complete(), "{report:?}");
    let rewound = transcripts.rewind(&id, toolkit_host::toolkit_agent::RewindOptions::new()).unwrap();
    assert_eq!(rewound.removed.len(), 1, "{rewound:?}");
    let history = fs::read_to_string(bench.path("data/history/calls.jsonl")).unwrap();
    assert!(history.contains("tides__tide"), "{history}");
}

#[tokio::test]
async fn without_history_no_call_is_recorded() {
    let bench = Bench::new(&json!({"permission": {"edit": "allow"}}));
    let host = Host::builder(bench.load()).history(false).build().unwrap();
    let arguments = json!({"file_path": "a.txt", "content": "a"});
    let toolbox = host.toolbox(host.caller()).await;
    let result = toolbox.call(ToolCall::new("1", "write", arguments)).await;
    assert!(!result.is_error(), "{result:?}");
    host.shutdown(Duration::from_secs(5)).await;
    assert!(!bench.path("data/history/calls.jsonl").exists());
}

/// Settings of agents have no effect in a host without agents, which says so.
#[tokio::test]
async fn a_host_without_agents_warns_of_their_settings() {
    let bench = Bench::new(&json!({"toolAgent": {"maxToolCalls": 3}}));
    let warns = |agents: bool| {
        let host = Host::builder(bench.load()).agents(agents).build().unwrap();
        host.toolkit().diagnostics().iter().any(|diagnostic| diagnostic.message.contains("toolAgent"))
    };
    assert!(warns(false));
    assert!(!warns(true));
}

/// The model is that of the caller, of its agent, or the default.
#[tokio::test]
async fn an_agent_has_its_own_model() {
    let bench = Bench::new(&json!({
        "models": {"default": "small", "small": {"baseUrl": "http://127.0.0.1:1/v1"}, "large": {"baseUrl": "http://127.0.0.1:1/v1"}},
        "agents": {"kid": {"model": "large"}, "plain": {}},
    }));
    let host = Host::builder(bench.load()).build().unwrap();
    let of = |caller: Caller| format!("{:?}", host.agent(&caller, AgentOptions::new()).unwrap());
    assert!(of(Caller::new()).contains("small"));
    assert!(of(Caller::new().with_agent("plain")).contains("small"));
    assert!(of(Caller::new().with_agent("kid")).contains("large"));
    let named = Caller::new().with_agent("kid").with_model("small");
    assert!(of(named).contains("small"));
    assert_eq!(host.models().unwrap().names(), ["large", "small"]);
}

/// Relative to the file that it stands in. The workspace of the caller is that of other agents.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_works_in_its_own_workspace() {
    let write = || call("1", "write", &json!({"file_path": "note.txt", "content": "x"}));
    let model = model([write(), done("Done."), write(), done("Done.")]).await;
    let bench = Bench::new(&json!({
        "models": {"local": local(&model)},
        "agents": {"ada": {"workspace": "of-ada"}, "plain": {}},
    }));
    let own = bench.path("user/of-ada");
    let host = Host::builder(bench.load()).approver(AllowAll).build().unwrap();
    let agent = |id: &str| host.agent(&host.caller().clone().with_agent(id), AgentOptions::new());
    let error = agent("ada").unwrap_err();
    let HostError::NoWorkspace { agent: of, workspace } = &error else { panic!("{error}") };
    assert_eq!((&**of, workspace), ("ada", &own));
    assert!(error.to_string().contains("create it, or change `agents.ada.workspace`"), "{error}");

    fs::create_dir(&own).unwrap();
    for (id, written) in [("ada", own.join("note.txt")), ("plain", bench.path("work/note.txt"))] {
        let agent = agent(id).unwrap().build();
        let result = agent.run(DelegationRequest::new("Write it."), Observer::none()).await;
        assert!(result.success, "{result:?}");
        assert_eq!(fs::read_to_string(&written).unwrap(), "x", "{id}");
        fs::remove_file(&written).unwrap();
    }
}

#[tokio::test]
async fn an_agent_that_is_not_configured_is_refused() {
    let bench = Bench::new(&json!({"agents": {"kid": {}}}));
    let unknown = |error: HostError| match error {
        HostError::UnknownAgent(message) => message,
        other => panic!("{other}"),
    };
    let caller = Caller::new().with_agent("kdi");
    let error = Host::builder(bench.load()).caller(caller.clone()).build().unwrap_err();
    assert!(unknown(error).contains("did you mean `kid`?"));
    let host = Host::builder(bench.load()).build().unwrap();
    let error = host.agent(&caller, AgentOptions::new()).unwrap_err();
    assert!(unknown(error).contains("did you mean `kid`?"));
    let error = host.agent(host.caller(), AgentOptions::new()).unwrap_err();
    assert!(matches!(error, HostError::Model(_)), "{error}");
}

/// The limit that a run reaches is that of the configuration, and of the options.
#[tokio::test(flavor = "multi_thread")]
async fn limits_are_those_of_the_configuration_and_the_options() {
    let calls = || [1, 2, 3].map(|id| call(&id.to_string(), "home_harbour", &json!({})));
    let ends = async |configured: serde_json::Value, options: AgentOptions| {
        let model = model(calls().into_iter().chain([done("at last")])).await;
        let bench = Bench::new(&json!({"models": {"local": local(&model)}, "toolAgent": configured}));
        let host = Host::builder(bench.load())
            .with_toolkit(|toolkit| toolkit.tool(tool_ref!(home_harbour)))
            .build()
            .unwrap();
        let agent = host.agent(host.caller(), options).unwrap().build();
        agent.run(DelegationRequest::new("Go"), Observer::none()).await.success
    };
    assert!(ends(json!({}), AgentOptions::new()).await);
    assert!(!ends(json!({}), AgentOptions::new().max_turns(2)).await);
    assert!(!ends(json!({"maxToolCalls": 1}), AgentOptions::new()).await);
    assert!(!ends(json!({"maxToolCalls": 1}), AgentOptions::new().watched()).await);
}
