//! The rules of every agent above hold for an agent that a task was delegated to, whatever route led to it.

use crate::common::{call, finish, results, transcripts};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit::approval::{Answer as Approved, CallbackApprover, PendingAsk};
use toolkit::permission::{PermissionSettings, Permissions};
use toolkit::policy::{PolicySettings, ToolPolicy};
use toolkit::{Caller, Toolkit};
use toolkit_agent::{
    Agent, AgentProfile, DelegationRequest, Limits, Observer, RunOptions, Session, Transcripts,
};
use toolkit_models::{Answer, Message, Request, Scripted};

const AGENTS: [&str; 3] = ["kid", "boss", "clerk"];

/// A workspace with a secret, rules by agent, and the count of questions, all of which are allowed.
struct Bench {
    _directory: tempfile::TempDir,
    workspace: PathBuf,
    transcripts: Transcripts,
    toolkit: Toolkit,
    asked: Arc<AtomicUsize>,
}

/// The calls of the last agent: each is denied by one of [`RULES`].
fn calls() -> Vec<toolkit::ToolCall> {
    vec![
        call("plain", "read", json!({"file_path": "plain.txt"})),
        call("secret", "read", json!({"file_path": "secret/key.txt"})),
        call("write", "write", json!({"file_path": "new.txt", "content": "x"})),
        call("exec", "exec", json!({"command": "echo hello"})),
        call("glob", "glob", json!({"pattern": "*.txt"})),
    ]
}

/// The call that is denied, and the rules of an agent that deny it.
fn rules() -> [(&'static str, Value); 5] {
    [
        ("secret", json!({"permission": {"read": [{"match": "secret/", "do": "deny"}]}})),
        ("write", json!({"permission": {"edit": "deny"}})),
        ("exec", json!({"permission": {"exec": "deny"}})),
        ("glob", json!({"tools": {"deny": ["glob"]}})),
        ("exec", json!({"tools": {"allow": ["read", "write", "glob", "delegate"]}})),
    ]
}

fn bench<'a>(rules: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Bench {
    let (directory, transcripts) = transcripts();
    let workspace = directory.path().canonicalize().unwrap().join("work");
    fs::create_dir_all(workspace.join("secret")).unwrap();
    fs::write(workspace.join("secret/key.txt"), "the key\n").unwrap();
    fs::write(workspace.join("plain.txt"), "plain\n").unwrap();
    let (mut permissions, mut policy) = (PermissionSettings::default(), PolicySettings::default());
    permissions.everybody = serde_json::from_value(json!({"edit": "allow", "exec": "allow"})).unwrap();
    let mut of_agents: BTreeMap<&str, Value> = BTreeMap::new();
    for (agent, rules) in rules {
        let all = of_agents.entry(agent).or_insert_with(|| json!({}));
        for (part, rules) in rules.as_object().unwrap() {
            for (key, rule) in rules.as_object().unwrap() {
                all[part][key] = rule.clone();
            }
        }
    }
    for (agent, rules) in of_agents {
        let of = |part: &str| rules.get(part).cloned().unwrap_or_else(|| json!({}));
        permissions.agents.insert(agent.to_owned(), serde_json::from_value(of("permission")).unwrap());
        policy.agents.insert(agent.to_owned(), serde_json::from_value(of("tools")).unwrap());
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let toolkit = Toolkit::builder()
        .leave_out_incomplete()
        .policy(ToolPolicy::new(policy))
        .permissions(Permissions::new([permissions]))
        .approver(CallbackApprover::new(move |_: &PendingAsk| {
            counter.fetch_add(1, Ordering::SeqCst);
            Approved::allow()
        }))
        .data_dir(directory.path().join("data"))
        .build()
        .unwrap();
    Bench { _directory: directory, workspace, transcripts, toolkit, asked }
}

/// A model that plays a chain of agents: the task is the agent's place in the chain, and the last one makes the calls.
fn model(chain: &[Option<&'static str>]) -> Arc<Scripted> {
    let chain: Vec<_> = chain.to_vec();
    Arc::new(Scripted::with(move |request| {
        let place: usize = task(request).parse().unwrap();
        let has_acted = request.messages.iter().any(|message| matches!(message, Message::Assistant(_)));
        match (has_acted, chain.get(place + 1)) {
            (true, _) => finish("done").into(),
            (false, None) => Answer::calls(calls()).into(),
            (false, Some(agent)) => {
                let mut arguments = json!({"task": (place + 1).to_string()});
                if let Some(agent) = agent {
                    arguments["agent"] = (*agent).into();
                }
                Answer::calls([call("d", "delegate", arguments)]).into()
            }
        }
    }))
}

fn task(request: &Request) -> String {
    let Message::User(message) = &request.messages[0] else { panic!("{request:?}") };
    message.content[0].as_text().unwrap().lines().next().unwrap_or_default().to_owned()
}

/// Returns the ids of the calls in the last request that failed.
fn failed(model: &Scripted, place: usize) -> Vec<String> {
    let requests = model.requests();
    let of_place = requests.iter().rfind(|request| task(request) == place.to_string());
    let results = results(&of_place.expect("the chain reached the last agent").messages);
    assert_eq!(results.len(), calls().len());
    results.into_iter().filter(|(.., failed)| *failed).map(|(id, ..)| id).collect()
}

impl Bench {
    fn agent(&self, model: &Arc<Scripted>, agent: Option<&str>) -> Agent {
        let mut caller = Caller::new().with_workspace(&self.workspace);
        caller.agent = agent.map(str::to_owned);
        let builder = Agent::builder(self.toolkit.clone(), Arc::clone(model))
            .caller(caller)
            .limits(Limits::none().max_depth(5))
            .transcripts(self.transcripts.clone());
        AGENTS.iter().fold(builder, |builder, name| builder.profile(*name, AgentProfile::new(*name))).build()
    }

    /// Lets each agent of a chain delegate to the next, and returns the calls of the last one that failed.
    async fn failed(&self, chain: &[Option<&'static str>]) -> Vec<String> {
        let model = model(chain);
        let agent = self.agent(&model, chain[0]);
        assert!(agent.run(DelegationRequest::new("0"), Observer::none()).await.success);
        let failed = failed(&model, chain.len() - 1);
        let was_written = fs::remove_file(self.workspace.join("new.txt")).is_ok();
        assert_eq!(was_written, !failed.contains(&"write".to_owned()));
        failed
    }
}

#[tokio::test]
async fn a_rule_of_the_delegating_agent_holds_for_each_agent_below() {
    for (denied, rules) in rules() {
        let bench = bench([("kid", &rules)]);
        for (chain, expected) in [
            (&[Some("kid")][..], &[denied][..]),
            (&[Some("boss")], &[]),
            (&[Some("boss"), Some("clerk")], &[]),
            (&[Some("kid"), Some("boss")], &[denied]),
            (&[Some("kid"), None], &[denied]),
            (&[Some("kid"), Some("boss"), Some("clerk")], &[denied]),
            (&[Some("boss"), Some("kid")], &[denied]),
            (&[Some("boss"), Some("kid"), Some("boss")], &[denied]),
            (&[None, Some("kid"), None, Some("boss")], &[denied]),
        ] {
            assert_eq!(bench.failed(chain).await, expected, "{rules} {chain:?}");
        }
    }
}

#[tokio::test]
async fn an_agent_below_one_that_must_ask_asks() {
    let bench =
        bench([("kid", &json!({"permission": {"edit": "ask", "exec": [{"match": "echo *", "do": "ask"}]}}))]);
    let chains = [
        (&[Some("boss")][..], 0),
        (&[Some("kid")], 2),
        (&[Some("kid"), Some("boss")], 4),
        (&[Some("boss"), Some("clerk")], 4),
    ];
    for (chain, expected) in chains {
        assert_eq!(bench.failed(chain).await, [""; 0]);
        assert_eq!(bench.asked.load(Ordering::SeqCst), expected, "{chain:?}");
    }
}

/// Goes on with a conversation whose first task was the place of its agent in the chain.
async fn go_on(mut session: Session, place: usize) {
    let request = DelegationRequest::new(place.to_string());
    assert!(session.run(request, RunOptions::new()).await.success);
}

#[tokio::test]
async fn an_agent_that_a_request_or_a_transcript_names_keeps_the_rules_of_the_caller() {
    let kid = json!({"permission": {"edit": "deny"}});
    let bench = bench([("kid", &kid)]);
    let one = || model(&[None]);
    // A request names another agent than the caller.
    let first = one();
    let agent = bench.agent(&first, Some("kid"));
    let request = DelegationRequest::new("0").with_agent("boss");
    let mut session = agent.session(&request).unwrap();
    assert!(session.run(request, RunOptions::new()).await.success);
    assert_eq!(failed(&first, 0), ["write"]);
    let id = session.id().to_owned();
    drop(session);
    // Whoever goes on with that conversation, or a copy of it.
    let again = || {
        let chain = Scripted::with(|request| {
            let results = request.messages.iter().filter(|message| matches!(message, Message::Tools(_)));
            let has_acted = results.count() > 2;
            if has_acted { finish("done").into() } else { Answer::calls(calls()).into() }
        });
        Arc::new(chain)
    };
    for by in [None, Some("boss"), Some("clerk")] {
        let model = again();
        go_on(bench.agent(&model, by).fork(&id, None).unwrap(), 0).await;
        let all = results(&model.requests().last().unwrap().messages);
        assert!(
            all.iter().rev().take(calls().len()).any(|(id, _, failed)| id == "write" && *failed),
            "{by:?}"
        );
        assert!(!bench.workspace.join("new.txt").exists());
    }
    // A conversation of nobody, or of another agent, that goes on for one with rules.
    for by in [None, Some("boss")] {
        let first = one();
        let session = bench.agent(&first, by).session(&DelegationRequest::new("0")).unwrap();
        let id = session.id().to_owned();
        go_on(session, 0).await;
        fs::remove_file(bench.workspace.join("new.txt")).unwrap();
        let model = again();
        go_on(bench.agent(&model, Some("kid")).resume(&id).unwrap(), 0).await;
        assert!(!bench.workspace.join("new.txt").exists(), "{by:?}");
    }
}

#[tokio::test]
async fn a_copy_of_a_sub_agents_conversation_keeps_the_rules_above_it() {
    let bench = bench([("kid", &json!({"permission": {"edit": "deny"}}))]);
    let chain = [Some("kid"), Some("boss"), Some("clerk")];
    assert_eq!(bench.failed(&chain).await, ["write"]);
    let deepest = bench.transcripts.list().into_iter().max_by_key(|info| info.depth).unwrap();
    assert_eq!((deepest.depth, deepest.agent.as_deref()), (2, Some("clerk")));
    let model = Arc::new(Scripted::new([Answer::calls(calls()), finish("done")]));
    let session = bench.agent(&model, None).fork(&deepest.id, None).unwrap();
    go_on(session, 2).await;
    assert!(!bench.workspace.join("new.txt").exists());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn no_agent_of_a_random_chain_does_more_than_one_above_may(
        chain in prop::collection::vec(prop::option::weighted(0.9, select(&AGENTS[..])), 1..5),
        of_agents in prop::collection::vec(subsequence(vec![0, 1, 2, 3, 4], 0..3), AGENTS.len()),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let all = rules();
            let with_rules: Vec<(&str, &(&str, Value))> = AGENTS
                .iter()
                .zip(&of_agents)
                .flat_map(|(agent, chosen)| chosen.iter().map(|place| (*agent, &all[*place])))
                .collect();
            let bench = bench(with_rules.iter().map(|(agent, (_, rules))| (*agent, rules)));
            let is_denied = |id: &str| {
                with_rules.iter().any(|(agent, (denied, _))| *denied == id && chain.contains(&Some(*agent)))
            };
            let ids = calls().into_iter().map(|call| call.id);
            let expected: Vec<String> = ids.filter(|id| is_denied(id)).collect();
            assert_eq!(bench.failed(&chain).await, expected);
        });
    }
}
