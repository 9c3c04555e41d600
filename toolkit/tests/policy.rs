//! Policies through a toolkit: what a toolbox holds, what a call gets, what hosts learn of it.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use toolkit::prelude::*;
use toolkit::{
    Tool, ToolErrorKind,
    config::{ConfigOrigin, ConfigOrigins},
    policy::{Policy, PolicySettings, PolicyVerdict, Refusal, ToolPolicy, ToolRules},
    registry::{Diagnostic, Level},
    tool_ref,
};

/// Looks.
#[tool(group = "eyes", alias = "see", read_only)]
async fn look() -> &'static str {
    "seen"
}

/// Runs.
#[tool]
async fn run() -> &'static str {
    "ran"
}

/// Is rarely wanted.
#[tool(optional)]
async fn rare() -> &'static str {
    "rare"
}

/// Is switched off.
#[tool(enabled = false, alias = "dim")]
async fn dark() -> &'static str {
    "dark"
}

/// Comes before the one whose name it has as an alias.
#[tool(enabled = false, alias = "night")]
async fn evening() -> &'static str {
    "dusk"
}

/// Is switched off too.
#[tool(enabled = false)]
async fn night() -> &'static str {
    "night"
}

fn toolkit(policy: impl Policy) -> Toolkit {
    // Any tool may be registered later, so that unknown names are diagnostics.
    Toolkit::builder().without_asking_first().permission_keys(["*"]).policy(policy).build().unwrap()
}

fn names<'a>(tools: impl Iterator<Item = &'a Tool>) -> Vec<&'a str> {
    tools.map(Tool::name).collect()
}

fn kid() -> Caller {
    Caller::new().with_agent("kid")
}

/// The agent `kid` may not look.
fn settings() -> PolicySettings {
    let mut settings = PolicySettings::default();
    settings.agents.insert("kid".to_owned(), ToolRules::default().deny(["See"]));
    let origin = ConfigOrigin::in_file("/home/ada/toolkit.json5", 7, 24);
    settings.origins = ConfigOrigins::new([("/agents/kid/tools/deny/0".to_owned(), origin)]);
    settings
}

#[tokio::test]
async fn a_call_of_a_denied_tool_says_which_layer_and_rule() {
    let toolbox = toolkit(ToolPolicy::new(settings())).toolbox(&kid()).await;
    assert_eq!(names(toolbox.tools()), ["run"]);
    assert!(toolbox.definitions().iter().all(|definition| definition.name == "run"));
    for name in ["look", "see"] {
        let result = toolbox.call(ToolCall::new("1", name, "{}")).await;
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied);
        assert_eq!(
            result.text(),
            format!(
                "`{name}` cannot be used here: denied by the rules of agent `kid`: `See` is in its deny list \
                 (`/agents/kid/tools/deny/0` in the configuration, which only the user can change)"
            )
        );
    }
    assert_eq!(toolbox.call(ToolCall::new("1", "run", "{}")).await.text(), "ran");
}

#[tokio::test]
async fn what_is_denied_can_be_asked_for() {
    let toolkit = toolkit(ToolPolicy::new(settings()));
    let denied = toolkit.toolbox(&kid()).await.denied();
    assert_eq!(denied.iter().map(|denied| denied.tool.as_str()).collect::<Vec<_>>(), ["look", "rare"]);
    let layer = denied[0].denied_by().unwrap();
    assert_eq!(
        layer.to_string(),
        "denies  the rules of agent `kid`: `See` is in its deny list (/agents/kid/tools/deny/0 at \
         /home/ada/toolkit.json5:7:24)"
    );
    assert_eq!(
        serde_json::to_value(layer).unwrap(),
        serde_json::json!({
            "layer": "the rules of agent `kid`",
            "verdict": "denies",
            "reason": "`See` is in its deny list",
            "rule": { "entry": "See", "pointer": "/agents/kid/tools/deny/0", "origin": "/home/ada/toolkit.json5:7:24" },
        })
    );
    assert!(denied[1].denied_by().unwrap().reason.starts_with("it is optional: only `rare`, `policy` or"));

    let explained = toolkit.explain(&kid(), "see").unwrap();
    assert_eq!((explained.tool.as_str(), explained.exists), ("look", false));
    assert_eq!(explained, denied[0]);
    assert!(toolkit.explain(&Caller::new(), "see").unwrap().exists);
    assert_eq!(toolkit.explain(&Caller::new(), "nothing"), None);
}

#[tokio::test]
async fn without_a_policy_optional_tools_are_not_there() {
    let plain = Toolkit::builder().without_asking_first().build().unwrap();
    assert_eq!(names(plain.toolbox(&Caller::new()).await.tools()), ["look", "run"]);
    let mut settings = PolicySettings::default();
    settings.tools = ToolRules::default().also_allow(["rare"]);
    let opened = toolkit(ToolPolicy::new(settings)).toolbox(&Caller::new()).await;
    assert_eq!(opened.call(ToolCall::new("1", "rare", "{}")).await.text(), "rare");
}

#[tokio::test]
async fn a_tool_that_is_off_can_be_switched_on() {
    let off = Toolkit::builder().without_asking_first().build().unwrap();
    assert!(off.tool("dark").is_none());
    let explained = off.explain(&Caller::new(), "dim").unwrap();
    assert!(!explained.exists);
    assert_eq!(
        explained.denied_by().unwrap().reason,
        "its author switched it off; `tools.settings.dark.enabled` can switch it on"
    );
    assert!(explained.present);
    let mut settings = PolicySettings::default();
    settings.tools = ToolRules::default().deny(["policy"]);
    let explained = toolkit(ToolPolicy::new(settings)).explain(&Caller::new(), "dark").unwrap();
    let denies = |layer: &&toolkit::policy::LayerVerdict| layer.verdict == PolicyVerdict::Denies;
    let reasons: Vec<&str> = explained.layers.iter().filter(denies).map(|layer| &*layer.reason).collect();
    assert_eq!(reasons[1..], ["`policy` is in its deny list"], "its plugin is this crate");
    assert_eq!(Toolkit::empty().build().unwrap().explain(&Caller::new(), "dark"), None);
    // A name goes before an alias.
    for (name, tool) in [("dark", "dark"), ("night", "night"), ("evening", "evening")] {
        assert_eq!(off.explain(&Caller::new(), name).unwrap().tool, tool);
    }
    let mut settings = PolicySettings::default();
    settings.enabled.insert("dark".to_owned(), true);
    let on = toolkit(ToolPolicy::new(settings)).toolbox(&Caller::new()).await;
    assert_eq!(on.call(ToolCall::new("1", "dark", "{}")).await.text(), "dark");
}

#[test]
fn mistakes_in_the_configuration_are_among_the_diagnostics() {
    let mut settings = PolicySettings::default();
    settings.tools = ToolRules::default().deny(["lok", "look", "group:eyes", "policy"]);
    let toolkit = toolkit(ToolPolicy::new(settings));
    let messages: Vec<_> = toolkit
        .diagnostics()
        .iter()
        .map(|diagnostic| (diagnostic.level, diagnostic.message.as_str()))
        .collect();
    assert_eq!(
        messages,
        [(
            Level::Warning,
            "no tool or plugin has the name `lok` (/tools/deny/0); did you mean `look`?; it may belong to a server that is \
             not connected yet"
        )]
    );
}

/// Counts how often it is asked, and may say that nothing changed since.
#[derive(Debug, Clone, Default)]
struct Counting {
    asked: Arc<AtomicU64>,
    version: Arc<AtomicU64>,
    is_revoked: Arc<AtomicU64>,
}

impl Policy for Counting {
    fn check(&self, _: &Caller, tool: &Tool) -> Result<(), Refusal> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let is_denied = tool.name() == "run" && self.is_revoked.load(Ordering::Relaxed) == 1;
        if is_denied { Err(Refusal::new("the test", "it was revoked")) } else { Ok(()) }
    }

    fn version(&self) -> Option<u64> {
        Some(self.version.load(Ordering::Relaxed))
    }
}

#[tokio::test]
async fn a_policy_is_asked_again_only_when_its_version_is_another() {
    let policy = Counting::default();
    let toolkit =
        Toolkit::empty().without_asking_first().tool(tool_ref!(run)).policy(policy.clone()).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let asked = || policy.asked.load(Ordering::Relaxed);
    assert_eq!(asked(), 1);
    policy.is_revoked.store(1, Ordering::Relaxed);
    assert_eq!(toolbox.call(ToolCall::new("1", "run", "{}")).await.text(), "ran");
    assert_eq!(asked(), 1);
    policy.version.store(1, Ordering::Relaxed);
    let denied = toolbox.call(ToolCall::new("1", "run", "{}")).await;
    assert_eq!(denied.text(), "`run` cannot be used here: denied by the test: it was revoked");
    assert_eq!(asked(), 2);
    // A tool that was not there when the toolbox was made does not come back within it.
    let without = toolkit.toolbox(&Caller::new()).await;
    policy.is_revoked.store(0, Ordering::Relaxed);
    let text = without.call(ToolCall::new("1", "run", "{}")).await.text();
    assert_eq!(text, "`run` cannot be used yet: it was not allowed when this turn began");
}

/// Fails in all that it does beside checking, or tells what is not so.
#[derive(Debug)]
struct Fails;

impl Policy for Fails {
    fn check(&self, _: &Caller, _: &Tool) -> Result<(), Refusal> {
        Ok(())
    }

    fn admitted(&self, caller: &Caller, _: &[Tool]) -> Vec<usize> {
        match caller.agent {
            Some(_) => panic!("its own fault"),
            None => vec![7, 0, 0, usize::MAX],
        }
    }

    fn explain(&self, _: &Caller, _: &Tool) -> Vec<toolkit::policy::LayerVerdict> {
        panic!("its own fault")
    }

    fn diagnostics(&self, _: &[Tool]) -> Vec<Diagnostic> {
        panic!("its own fault")
    }

    fn version(&self) -> Option<u64> {
        panic!("its own fault")
    }

    fn switches_on(&self, _: &Tool) -> bool {
        panic!("its own fault")
    }
}

#[tokio::test]
async fn a_policy_that_fails_allows_nothing_more() {
    let toolkit = toolkit(Fails);
    assert!(toolkit.tool("dark").is_none());
    assert_eq!(toolkit.toolbox(&kid()).await.tools().len(), 0);
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    assert_eq!(names(toolbox.tools()), ["look"]);
    assert_eq!(toolbox.call(ToolCall::new("1", "look", "{}")).await.text(), "seen");
    let explained = toolkit.explain(&kid(), "look").unwrap();
    assert_eq!(explained.layers[0].reason, "it stopped on an internal error");
    assert_eq!(explained.layers[0].verdict, PolicyVerdict::Denies);
}

#[derive(Debug)]
struct OnlyLooking;

impl Policy for OnlyLooking {
    fn check(&self, _: &Caller, tool: &Tool) -> Result<(), Refusal> {
        match tool.name() {
            "look" => Ok(()),
            _ => Err(Refusal::new("the host", "it lets only look")),
        }
    }
}

#[tokio::test]
async fn a_policy_of_a_hosts_own_is_explained_too() {
    let toolkit = toolkit(OnlyLooking);
    let allowed = toolkit.explain(&kid(), "look").unwrap();
    assert!(allowed.exists && allowed.layers[0].verdict == PolicyVerdict::Allows);
    let denied = toolkit.explain(&kid(), "run").unwrap();
    assert!(!denied.exists);
    assert_eq!(denied.layers[0].to_string(), "denies  the host: it lets only look");
    assert_eq!(toolkit.toolbox(&kid()).await.denied().len(), 2);
}

#[tokio::test]
async fn a_name_that_no_tool_has_is_judged_where_a_rule_knows_it() {
    let mut settings = settings();
    settings.tools = ToolRules::default().deny(["later", "far_*", " Spaced "]);
    let toolkit = toolkit(ToolPolicy::new(settings));
    for (name, denied_by) in [
        ("later", Some("`later` is in its deny list")),
        (" LATER ", Some("`later` is in its deny list")),
        ("spaced", Some("`Spaced` is in its deny list")),
        ("look", None),
    ] {
        let explained = toolkit.explain(&Caller::new(), name).unwrap();
        assert_eq!((explained.exists, explained.present), (denied_by.is_none(), denied_by.is_none()));
        assert_eq!(explained.denied_by().map(|layer| &*layer.reason), denied_by, "{name}");
    }
    // A name that only a pattern describes may be a mistake.
    for name in ["far_away", "nothing", "not a name", "", "policy"] {
        assert_eq!(toolkit.explain(&Caller::new(), name), None, "{name}");
    }
}

/// A file that somebody else wrote must not take long to be looked through, nor fill a screen.
#[tokio::test]
async fn of_thousands_of_mistakes_the_first_are_told() {
    let mut settings = PolicySettings::default();
    settings.tools = ToolRules::default().deny((0..5_000).map(|number| format!("nothing_{number}")));
    settings.agents.insert("kid".to_owned(), ToolRules::default().deny(["look"]).profile("nowhere"));
    let toolkit = toolkit(ToolPolicy::new(settings));
    let told = toolkit.diagnostics();
    assert_eq!(told.len(), 102);
    assert!(told[0].message.contains("no profile `nowhere`"), "{}", told[0]);
    assert!(told[101].message.starts_with("4900 more like these of what is denied"), "{}", told[101]);
    assert!(told[1..].iter().all(toolkit::registry::Diagnostic::concerns_deny));
    let toolbox = toolkit.toolbox(&kid()).await;
    assert!(toolbox.tool("look").is_none(), "what is not told counts all the same");
}
