//! A caller that others delegated to has no more rights than any of them.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit::approval::{Access, Answer, CallbackApprover, Delegator, PendingAsk};
use toolkit::permission::{
    Decision, PathDecision, PermissionEntry, PermissionRequest, PermissionRule, PermissionRules,
    PermissionSettings, Permissions,
};
use toolkit::policy::{Policy, PolicySettings, Refusal, ToolPolicy, ToolRules};
use toolkit::prelude::*;
use toolkit::{Ask, Tool, tool_ref};

/// Looks.
#[tool(read_only)]
async fn look() {}

/// Writes.
#[tool(auto_execute, permission = "edit")]
async fn pen() {}

/// Runs what it is told to.
#[tool(read_only, permission = "exec")]
async fn run(ctx: &ToolContext, command: String) -> Result<(), ToolError> {
    ctx.ask(Ask::new("exec", &command).with_pattern(&command)).await.map(drop)
}

const TOOLS: [&str; 3] = ["look", "pen", "run"];
const AGENTS: [&str; 3] = ["kid", "boss", "clerk"];
const PATHS: [&str; 4] = ["plain.txt", "secret/key.txt", ".env", "src/main.rs"];
const COMMANDS: [&str; 3] = ["make", "git push", "git push --force"];

fn builder() -> toolkit::Builder {
    Toolkit::empty().tool(tool_ref!(look)).tool(tool_ref!(pen)).tool(tool_ref!(run))
}

fn tool_rules() -> impl Strategy<Value = ToolRules> {
    // Most say nothing, so that chains of several callers keep a tool.
    prop_oneof![
        6 => Just(ToolRules::default()),
        1 => select(&TOOLS[..]).prop_map(|tool| ToolRules::default().deny([tool])),
        1 => subsequence(TOOLS.to_vec(), 1..TOOLS.len()).prop_map(|tools| ToolRules::default().allow(tools)),
    ]
}

fn by<T: Clone + std::fmt::Debug + 'static>(
    names: &[&str],
    of: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<BTreeMap<String, T>> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let most = names.len();
    prop::collection::btree_map(select(names), of, 0..=most).boxed()
}

prop_compose! {
    fn policy()(
        agents in by(&AGENTS, tool_rules()),
        channels in by(&["irc", "web"], tool_rules()),
        groups in by(&["irc"], by(&["g1", "g2"], tool_rules())),
        senders in by(&["irc", "web"], by(&["ann"], tool_rules())),
        providers in by(&["openai"], tool_rules()),
        agents_by_provider in by(&AGENTS, by(&["openai"], tool_rules())),
        sandbox in tool_rules(),
    ) -> PolicySettings {
        let mut settings = PolicySettings::default();
        (settings.agents, settings.channels, settings.groups) = (agents, channels, groups);
        (settings.senders, settings.by_provider) = (senders, providers);
        (settings.agents_by_provider, settings.sandbox) = (agents_by_provider, sandbox);
        settings
    }
}

fn decision() -> impl Strategy<Value = Decision> {
    select(vec![Decision::Allow, Decision::Ask, Decision::Deny])
}

fn rule(patterns: &'static [&'static str]) -> impl Strategy<Value = PermissionRule> {
    let entry = (select(patterns), decision())
        .prop_map(|(pattern, decision)| PermissionEntry { pattern: pattern.to_owned(), decision });
    prop_oneof![
        decision().prop_map(PermissionRule::Always),
        prop::collection::vec(entry, 1..3).prop_map(PermissionRule::List),
    ]
}

fn permission_rules() -> impl Strategy<Value = PermissionRules> {
    let of_path = (
        select(vec!["read", "edit", "sensitive", "protected"]),
        rule(&["secret/", "*.txt", "src/main.rs", ".env"]),
    );
    let of_command = (select(vec!["exec", "run", "e*", "*"]), rule(&["make", "git push *", "git *"]));
    prop::collection::vec(prop_oneof![of_path, of_command], 0..4)
        .prop_map(|rules| rules.into_iter().map(|(key, rule)| (key.to_owned(), rule)).collect())
}

prop_compose! {
    fn permissions()(
        everybody in permission_rules(),
        agents in by(&AGENTS, permission_rules()),
        channels in by(&["irc", "web"], permission_rules()),
        groups in by(&["irc"], by(&["g1", "g2"], permission_rules())),
        senders in by(&["irc", "web"], by(&["ann"], permission_rules())),
    ) -> PermissionSettings {
        let mut settings = PermissionSettings::default();
        (settings.everybody, settings.agents, settings.channels) = (everybody, agents, channels);
        (settings.groups, settings.senders) = (groups, senders);
        settings
    }
}

/// The properties of one caller of a chain.
fn link() -> impl Strategy<Value = Caller> {
    let name = |names: &[&'static str]| {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        prop::option::weighted(0.8, select(names))
    };
    (
        name(&["kid", "boss", "clerk", " KID"]),
        name(&["irc", "web"]),
        name(&["g1", "g2"]),
        name(&["ann", "ben"]),
        name(&["openai", "other"]),
        any::<bool>(),
    )
        .prop_map(|(agent, channel, conversation, sender, provider, sandboxed)| {
            let mut caller = Caller::new();
            (caller.agent, caller.channel, caller.conversation_id) = (agent, channel, conversation);
            (caller.sender_id, caller.provider, caller.sandboxed) = (sender, provider, sandboxed);
            caller
        })
}

/// Returns the innermost caller, where each of `links` delegates to the next.
fn delegated(links: &[Caller]) -> Caller {
    let mut links = links.iter().cloned();
    let first = links.next().expect("a chain has a caller");
    links.fold(first, |above, mut link| {
        link.delegated_by = above.delegated().delegated_by;
        link
    })
}

fn strictness(decision: &PathDecision) -> Decision {
    match decision {
        PathDecision::Allow => Decision::Allow,
        PathDecision::Deny { .. } => Decision::Deny,
        _ => Decision::Ask,
    }
}

/// Every decision about a tool: about commands, paths by a tool, and paths in a sandbox.
fn decisions(ctx: &ToolContext, workspace: &Path) -> Vec<(String, Decision)> {
    let mut all = Vec::new();
    for command in COMMANDS {
        let patterns = [command.to_owned()];
        let decided = ctx.decide(&PermissionRequest::new("exec", &patterns)).decision;
        all.push((format!("exec {command}"), decided));
    }
    let rules = ctx.path_rules().expect("the workspace exists");
    for (path, access) in PATHS.iter().flat_map(|path| [(path, Access::Read), (path, Access::Write)]) {
        let decided = ctx.decide_path(path, access).expect("a plain path");
        all.push((format!("{access:?} {path}"), strictness(&decided.decision)));
        let contained = rules.decide(&workspace.join(path), access);
        all.push((format!("contained {access:?} {path}"), strictness(&contained)));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn a_delegated_caller_may_do_exactly_what_each_caller_of_its_chain_may(
        policy in policy(),
        permissions in permissions(),
        links in prop::collection::vec(link(), 1..5),
    ) {
        let workspace = tempfile::tempdir().unwrap();
        let workspace = workspace.path().canonicalize().unwrap();
        let toolkit = builder()
            .policy(ToolPolicy::new(policy))
            .permissions(Permissions::new([permissions]))
            .default_workspace(&workspace)
            .build()
            .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut alone = Vec::new();
            for link in &links {
                alone.push(toolkit.toolbox(link).await);
            }
            let chained = toolkit.toolbox(&delegated(&links)).await;
            for tool in TOOLS {
                let exists_for_all = alone.iter().all(|toolbox| toolbox.tool(tool).is_some());
                assert_eq!(chained.tool(tool).is_some(), exists_for_all, "{tool}");
                let admitted = chained.admits(&tool_ref_of(tool)).is_ok();
                assert_eq!(admitted, exists_for_all, "{tool}");
                if !exists_for_all {
                    let explanation = chained.explain(tool).unwrap();
                    assert!(!explanation.exists && explanation.denied_by().is_some());
                    continue;
                }
                let found = decisions(&chained.context(tool).unwrap(), &workspace);
                let of_each: Vec<_> = alone
                    .iter()
                    .map(|toolbox| decisions(&toolbox.context(tool).unwrap(), &workspace))
                    .collect();
                for (place, (what, decision)) in found.iter().enumerate() {
                    let strictest = of_each.iter().map(|all| all[place].1).max().unwrap();
                    assert_eq!(*decision, strictest, "{tool}: {what}");
                }
            }
        });
    }
}

fn tool_ref_of(name: &str) -> Tool {
    match name {
        "look" => tool_ref!(look),
        "pen" => tool_ref!(pen),
        _ => tool_ref!(run),
    }
}

/// Knows nothing of chains.
#[derive(Debug)]
struct NotForKid;

impl Policy for NotForKid {
    fn check(&self, caller: &Caller, tool: &Tool) -> Result<(), Refusal> {
        match (caller.agent.as_deref(), tool.name()) {
            (Some("kid"), "pen") => Err(Refusal::new("the house", "kid has no pen")),
            _ => Ok(()),
        }
    }
}

#[tokio::test]
async fn a_hosts_own_policy_decides_for_each_caller_of_a_chain() {
    let toolkit = builder().policy(NotForKid).build().unwrap();
    let boss = Caller::new().with_agent("boss");
    assert!(toolkit.toolbox(&boss).await.tool("pen").is_some());
    let kid = Caller::new().with_agent("kid");
    let toolbox = toolkit.toolbox(&kid.delegated().with_agent("boss").delegated().with_agent("clerk")).await;
    assert!(toolbox.tool("look").is_some());
    let error = toolbox.find("pen").unwrap_err();
    assert!(
        error.message().contains("denied by the house, for the delegating agent `kid`: kid has no pen"),
        "{}",
        error.message()
    );
    let denied = &toolbox.denied()[0];
    assert_eq!(denied.denied_by().unwrap().layer, "the house, for the delegating agent `kid`");
}

/// A change of a caller, and the directories that then bound it.
type Case<'a> = (fn(&mut Caller, &Path), &'a [PathBuf]);

#[tokio::test]
async fn a_delegated_caller_has_the_sandbox_and_the_directories_of_those_above() {
    let base = tempfile::tempdir().unwrap();
    let base = base.path().canonicalize().unwrap();
    for directory in ["work/src/deep", "work/docs", "elsewhere"] {
        std::fs::create_dir_all(base.join(directory)).unwrap();
    }
    let (work, src) = (base.join("work"), base.join("work/src"));
    let toolkit = builder().default_workspace(&work).build().unwrap();
    let mut kid = Caller::new();
    (kid.sandboxed, kid.within) = (true, Some(vec![src.clone()]));
    let only_src = std::slice::from_ref(&src);
    let deep = [src.join("deep")];
    let cases: [Case<'_>; 5] = [
        (|_, _| {}, only_src),
        (|caller, _| (caller.within, caller.sandboxed) = (None, false), only_src),
        (|caller, base| caller.within = Some(vec![base.join("work"), base.join("elsewhere")]), only_src),
        (
            |caller, base| caller.within = Some(vec![base.join("work/src/deep"), base.join("work/docs")]),
            &deep,
        ),
        // Another workspace is none: rules about relative paths would mean something else there.
        (|caller, base| caller.workspace = Some(base.join("elsewhere")), &[]),
    ];
    for (number, (change, expected)) in cases.into_iter().enumerate() {
        let mut child = kid.delegated();
        change(&mut child, &base);
        let toolbox = toolkit.toolbox(&child.delegated()).await;
        let caller = toolbox.caller();
        assert!(caller.sandboxed, "{number}");
        assert_eq!(caller.workspace.as_deref(), Some(&*work), "{number}");
        assert_eq!(caller.within.as_deref(), Some(expected), "{number}");
        let ctx = toolbox.context("look").unwrap();
        for (path, place) in [("docs/x", &work), ("../elsewhere/x", &work), ("src/deep/x", &work)] {
            let is_inside = expected.iter().any(|directory| place.join(path).starts_with(directory));
            let decided = ctx.decide_path(path, Access::Read).unwrap().decision;
            assert_eq!(decided == PathDecision::Allow, is_inside, "{number} {path}");
        }
    }
}

#[tokio::test]
async fn an_approval_of_an_agent_does_not_cover_what_another_has_it_do() {
    let base = tempfile::tempdir().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let approver = CallbackApprover::new(move |_: &PendingAsk| {
        counter.fetch_add(1, Ordering::SeqCst);
        Answer::allow_always()
    });
    let toolkit = builder()
        .data_dir(base.path().join("data"))
        .default_workspace(base.path().join("work"))
        .approver(approver)
        .build()
        .unwrap();
    std::fs::create_dir(base.path().join("work")).unwrap();
    let (boss, kid) = (Caller::new().with_agent("boss"), Caller::new().with_agent("kid"));
    let under = |above: &Caller| above.delegated().with_agent("boss");
    let clerk = kid.delegated().with_agent("clerk");
    for (caller, expected) in [
        (boss.clone(), 1),
        (boss.clone(), 1),
        // The same agent, one level deeper, is no other.
        (under(&boss), 1),
        (under(&kid), 2),
        (under(&kid), 2),
        (under(&under(&kid)), 2),
        (under(&clerk), 3),
        (boss.clone(), 3),
        (kid.clone(), 4),
    ] {
        let toolbox = toolkit.toolbox(&caller).await;
        let call = toolkit::ToolCall::new("1", "run", r#"{"command":"make"}"#);
        assert!(!toolbox.call(call).await.is_error());
        assert_eq!(asked.load(Ordering::SeqCst), expected, "{caller:?}");
    }
    let list = toolkit.approvals().list();
    assert!(list.problems.is_empty(), "{:?}", list.problems);
    let mut above: Vec<Vec<Option<String>>> = list
        .approvals
        .into_iter()
        .map(|approval| approval.delegated_by.into_iter().map(|Delegator { agent, .. }| agent).collect())
        .collect();
    above.sort();
    let some = |name: &str| Some(name.to_owned());
    assert_eq!(above, [vec![], vec![], vec![some("clerk"), some("kid")], vec![some("kid")]]);
}

#[tokio::test]
async fn the_rules_of_a_sandbox_differ_with_the_callers_above() {
    let toolkit = builder().default_workspace(std::env::temp_dir()).build().unwrap();
    let (boss, kid) = (Caller::new().with_agent("boss"), Caller::new().with_agent("kid"));
    let mut all = Vec::new();
    for caller in [boss.clone(), kid.delegated().with_agent("boss"), boss.delegated().with_agent("kid")] {
        all.push(toolkit.toolbox(&caller).await.context("look").unwrap().path_rules().unwrap());
    }
    for (one, rules) in all.iter().enumerate() {
        for (other, others) in all.iter().enumerate() {
            assert_eq!(rules.is_same(others), one == other, "{one} {other}");
        }
    }
}
