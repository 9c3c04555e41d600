//! Tools that make themselves ready for a caller: what they change, what they cannot, and what becomes of those that fail.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
#![allow(clippy::unused_async, reason = "what prepares a tool is async, whatever it does")]

use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    Tool, ToolErrorKind, Toolbox,
    descriptor::Preparation,
    policy::{Policy, Refusal},
    registry::Level,
    tool_ref,
};

async fn of_the_agent(caller: &Caller, tool: &mut Preparation) -> Result<(), ToolError> {
    match caller.agent.as_deref() {
        Some("ada") => tool.allow_only("skill", ["review", "release"])?,
        Some("eve") => tool.allow_only("skill", Vec::<String>::new())?,
        Some("kid") => tool.hide("this agent has no skills"),
        Some("odd") => tool.allow_only("skil", ["review"])?,
        _ => tool.describe(format!("{} Ask for one that exists. {{agent}}", tool.description())),
    }
    Ok(())
}

/// Loads a skill in {workspace}.
#[tool(read_only, alias = "load_skill", prepare = of_the_agent)]
async fn skill(skill: String, #[arg(range(1..=100))] depth: Option<u32>) -> String {
    format!("{skill} {depth:?}")
}

/// Is there for {agent}; {braces} stay.
#[tool(read_only)]
async fn plain() -> &'static str {
    "plain"
}

async fn broken(_: &Caller, _: &mut Preparation) -> Result<(), std::num::ParseIntError> {
    "x".parse::<u8>()?;
    Ok(())
}

/// Fails.
#[tool(prepare = broken)]
async fn failing() {}

async fn never(_: &Caller, _: &mut Preparation) {
    std::future::pending::<()>().await;
}

/// Is late.
#[tool(prepare = never)]
async fn late() {}

async fn panics(_: &Caller, _: &mut Preparation) {
    tokio::task::yield_now().await;
    panic!("no such luck");
}

/// Panics.
#[tool(prepare = panics)]
async fn panicking() {}

async fn default_out(_: &Caller, tool: &mut Preparation) -> Result<(), ToolError> {
    tool.narrow("count", &json!({"maximum": 3}))
}

/// Has a default that is not left.
#[tool(prepare = default_out)]
async fn emptied(#[arg(default = 5)] count: u32) -> String {
    count.to_string()
}

fn toolkit() -> Toolkit {
    Toolkit::empty()
        .without_asking_first()
        .tool(tool_ref!(skill))
        .tool(tool_ref!(plain))
        .tool(tool_ref!(failing))
        .tool(tool_ref!(late))
        .tool(tool_ref!(panicking))
        .tool(tool_ref!(emptied))
        .prepare_timeout(Duration::from_millis(20))
        .build()
        .unwrap()
}

async fn toolbox(agent: &str) -> Toolbox {
    let caller = Caller::new().with_agent(agent).with_workspace("/srv/project");
    toolkit().toolbox(&caller).await
}

async fn call(toolbox: &Toolbox, name: &str, arguments: serde_json::Value) -> Result<String, ToolErrorKind> {
    let result = toolbox.call(ToolCall::new("1", name, arguments)).await;
    result.outcome.map(|output| output.to_text()).map_err(|error| error.kind())
}

fn names(toolbox: &Toolbox) -> Vec<&str> {
    toolbox.tools().map(Tool::name).collect()
}

#[tokio::test]
async fn a_narrowed_schema_is_shown_and_enforced() {
    let ada = toolbox("ada").await;
    let definition = ada.definition("skill").unwrap();
    assert_eq!(definition.input_schema["properties"]["skill"]["enum"], json!(["review", "release"]));
    assert_eq!(ada.definitions().iter().find(|other| other.name == "skill"), Some(&definition));
    for name in ["skill", "load_skill"] {
        assert_eq!(call(&ada, name, json!({"skill": "review"})).await.unwrap(), "review None");
        assert_eq!(
            call(&ada, name, json!({"skill": "paint"})).await.unwrap_err(),
            ToolErrorKind::InvalidArguments
        );
    }
    // For others it is as it was.
    let bob = toolbox("bob").await;
    assert_eq!(call(&bob, "skill", json!({"skill": "paint", "depth": 2})).await.unwrap(), "paint Some(2)");
}

async fn few(caller: &Caller, tool: &mut Preparation) -> Result<(), ToolError> {
    match caller.agent.as_deref() {
        Some("some") => {
            tool.allow_only("name", ["b", "z"])?;
            tool.narrow("count", &json!({ "maximum": 5 }))
        }
        Some("none") => tool.allow_only("name", ["z"]),
        _ => Ok(()),
    }
}

/// Has examples.
#[tool(read_only, prepare = few)]
async fn exemplary(
    #[arg(example = "b")] name: String,
    #[arg(range(1..=10), example = 7)] count: Option<u32>,
) -> String {
    format!("{name} {count:?}")
}

#[tokio::test]
async fn an_example_that_a_preparation_takes_away_is_not_shown() {
    let toolkit = Toolkit::empty().without_asking_first().tool(tool_ref!(exemplary)).build().unwrap();
    for (agent, names, counts) in [
        ("all", Some(json!(["b"])), Some(json!([7]))),
        ("some", Some(json!(["b"])), None),
        ("none", None, Some(json!([7]))),
    ] {
        let toolbox = toolkit.toolbox(&Caller::new().with_agent(agent)).await;
        assert_eq!(toolbox.diagnostics(), [], "{agent}");
        let properties = &toolbox.definition("exemplary").unwrap().input_schema["properties"];
        assert_eq!(properties["name"].get("examples"), names.as_ref(), "{agent}");
        assert_eq!(properties["count"].get("examples"), counts.as_ref(), "{agent}");
    }
}

#[tokio::test]
async fn descriptions_are_filled_and_what_is_prepared_is_not_filled_again() {
    let bob = toolbox("bob").await;
    for (name, description) in [
        ("skill", "Loads a skill in /srv/project. Ask for one that exists. {agent}"),
        ("plain", "Is there for bob; {braces} stay."),
    ] {
        assert_eq!(bob.definition(name).unwrap().description, description);
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_prepared_is_left_out_and_the_others_are_unharmed() {
    for (agent, there, said) in [
        ("bob", vec!["plain", "skill"], None),
        (
            "kid",
            vec!["plain"],
            Some((Level::Info, "is not available to this caller: this agent has no skills")),
        ),
        ("eve", vec!["plain"], Some((Level::Error, "no value is left for the parameter `skill`"))),
        ("odd", vec!["plain"], Some((Level::Error, "has no parameter `skil`; it has: `skill`, `depth`"))),
    ] {
        let toolbox = toolbox(agent).await;
        assert_eq!(names(&toolbox), there, "{agent}");
        assert!(toolbox.explain("plain").unwrap().exists);
        let mut expected = vec![
            ("emptied", Level::Error, "the default of `count` does not fit"),
            ("failing", Level::Error, "invalid digit found in string"),
            ("late", Level::Error, "it was not ready after 20ms"),
            ("panicking", Level::Error, "stopped on an internal error (no such luck)"),
        ];
        expected.extend(said.map(|(level, text)| ("skill", level, text)));
        let found = toolbox.diagnostics();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((name, level, text), found) in expected.into_iter().zip(found) {
            assert_eq!(found.level, level, "{found}");
            assert!(found.message.starts_with(&format!("the tool `{name}` is left out: it ")), "{found}");
            assert!(found.message.contains(text), "{found}");
            assert!(found.location.as_ref().unwrap().contains("prepare.rs"), "{found}");
            let refused = toolbox.call(ToolCall::new("1", name, "{}")).await.outcome.unwrap_err();
            assert_eq!(refused.kind(), ToolErrorKind::Denied);
            assert!(refused.message().contains(text), "{refused}");
            assert!(toolbox.tool(name).is_none() && toolbox.definition(name).is_err());
            let explained = toolbox.explain(name).unwrap();
            assert!(!explained.exists && explained.present, "{explained:?}");
            let denies = explained.denied_by().unwrap();
            assert!(denies.layer == "this caller" && denies.reason.contains(text), "{denies}");
            assert!(toolbox.denied().contains(&explained));
        }
    }
}

#[tokio::test]
async fn nothing_is_prepared_that_the_policy_denies() {
    #[derive(Debug)]
    struct Only(&'static str);
    impl Policy for Only {
        fn check(&self, _: &Caller, tool: &Tool) -> Result<(), Refusal> {
            if tool.name() == self.0 { Ok(()) } else { Err(Refusal::new("the test", "it is not that one")) }
        }
    }
    let toolkit = || {
        Toolkit::empty()
            .without_asking_first()
            .tool(tool_ref!(skill))
            .tool(tool_ref!(late))
            .tool(tool_ref!(plain))
    };
    for (allowed, there) in [("skill", vec!["skill"]), ("plain", vec!["plain"])] {
        let toolkit = toolkit().policy(Only(allowed)).prepare_timeout(Duration::MAX).build().unwrap();
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        assert_eq!(names(&toolbox), there);
        assert!(toolbox.diagnostics().is_empty());
        assert_eq!(call(&toolbox, "late", json!({})).await.unwrap_err(), ToolErrorKind::Denied);
    }
}

struct Skills {
    names: Vec<&'static str>,
    prepared: AtomicUsize,
}

impl Skills {
    fn new(names: &[&'static str]) -> Self {
        Self { names: names.to_vec(), prepared: AtomicUsize::new(0) }
    }
}

async fn of_the_service(_: &Caller, tool: &mut Preparation) -> Result<(), ToolError> {
    let skills = tool.require_service::<Skills>()?;
    skills.prepared.fetch_add(1, Ordering::Relaxed);
    tool.allow_only("name", skills.names.clone())
}

/// Names a skill.
#[tool(concurrency = 1, prepare = of_the_service)]
async fn named(skills: State<Skills>, name: String, #[arg(default)] fast: bool) -> String {
    let _ = fast;
    format!("{name} of {}", skills.names.len())
}

#[tokio::test]
async fn a_preparation_has_the_services_of_its_tool() {
    let shared = Arc::new(Skills::new(&["a"]));
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .shared_service(Arc::clone(&shared))
        .tool(tool_ref!(named))
        .tool(tool_ref!(named).with_state(Skills::new(&["b", "c"])).named("other"))
        .build()
        .unwrap();
    for round in 1..3 {
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        assert_eq!(call(&toolbox, "named", json!({"name": "a"})).await.unwrap(), "a of 1");
        assert_eq!(call(&toolbox, "other", json!({"name": "c"})).await.unwrap(), "c of 2");
        assert!(call(&toolbox, "other", json!({"name": "a"})).await.is_err());
        assert_eq!(shared.prepared.load(Ordering::Relaxed), round, "once a toolbox");
    }
}

#[tokio::test]
async fn a_bound_argument_stays_bound() {
    let there = tool_ref!(skill).bind("depth", 3);
    let toolkit = Toolkit::empty().without_asking_first().tool(there).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_agent("ada")).await;
    assert_eq!(call(&toolbox, "skill", json!({"skill": "review"})).await.unwrap(), "review Some(3)");
    assert!(call(&toolbox, "skill", json!({"skill": "review", "depth": 4})).await.is_err());
}

#[test]
fn what_a_preparation_refuses() {
    let mut tool = Preparation::new(&tool_ref!(skill)).unwrap();
    for (outcome, message) in [
        (
            tool.remove("skill"),
            "the parameter `skill` cannot be removed from the tool `skill`, which requires it",
        ),
        (tool.remove("other"), "the tool `skill` has no parameter `other`; it has: `skill`, `depth`"),
        (tool.narrow("a/b", &json!({})), "the tool `skill` has no parameter `a/b`; it has: `skill`, `depth`"),
    ] {
        assert_eq!(outcome.unwrap_err().to_string(), message);
    }
    tool.allow_only("depth", Vec::<u32>::new()).unwrap();
    assert_eq!(tool.schema()["properties"], json!({"skill": {"type": "string"}}));
}

#[tokio::test]
async fn one_place_is_one_place_in_all_toolboxes() {
    async fn quiet(_: &Caller, _: &mut Preparation) {}
    #[derive(Default)]
    struct Meter {
        now: AtomicUsize,
        most: AtomicUsize,
    }
    /// Waits.
    #[tool(read_only, concurrency = 1, prepare = quiet)]
    async fn waits(meter: State<Meter>) {
        let at_once = meter.now.fetch_add(1, Ordering::SeqCst) + 1;
        meter.most.fetch_max(at_once, Ordering::SeqCst);
        tokio::task::yield_now().await;
        meter.now.fetch_sub(1, Ordering::SeqCst);
    }
    let meter = Arc::new(Meter::default());
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .shared_service(Arc::clone(&meter))
        .tool(tool_ref!(waits))
        .build()
        .unwrap();
    let (one, other) = (toolkit.toolbox(&Caller::new()).await, toolkit.toolbox(&Caller::new()).await);
    let (first, second) = tokio::join!(call(&one, "waits", json!({})), call(&other, "waits", json!({})));
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(meter.most.load(Ordering::SeqCst), 1);
}
