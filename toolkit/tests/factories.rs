//! Tools that factories make for a caller, and what becomes of those that cannot be there.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
#![allow(clippy::unused_async, reason = "what makes a tool or a service is async, whatever it does")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    Tool, ToolErrorKind, Toolbox,
    descriptor::{InvalidTool, Source},
    policy::{Policy, Refusal},
    registry::Level,
};

fn says(name: &str, text: &str) -> Result<Tool, InvalidTool> {
    let text = text.to_owned();
    Tool::builder(name).description(format!("Says {text}. {{agent}}")).read_only().build(move |_, _| {
        let text = text.clone();
        async move { text }
    })
}

/// Is static.
#[tool(alias = "fixed_alias")]
async fn fixed() -> &'static str {
    "fixed"
}

struct Count(AtomicUsize);

#[toolkit::tool_factory]
async fn of_the_agent(count: &State<Count>, caller: &Caller) -> Result<Vec<Tool>, InvalidTool> {
    count.0.0.fetch_add(1, Ordering::Relaxed);
    match caller.agent.as_deref() {
        Some(agent) => Ok(vec![says("hello", agent)?, says("bye", agent)?]),
        None => Ok(Vec::new()),
    }
}

/// Counts.
#[tool(read_only)]
async fn counted(count: State<Count>) -> String {
    count.0.0.load(Ordering::Relaxed).to_string()
}

#[toolkit::tool_factory]
fn maybe(caller: &Caller) -> Option<Tool> {
    caller.agent.as_ref().map(|_| toolkit::tool_ref!(counted).named("counted_again"))
}

#[toolkit::tool_factory]
async fn conflicts() -> Result<[Tool; 4], InvalidTool> {
    Ok([
        says("fixed", "a name that is taken")?,
        says("fixed_alias", "an alias that is taken")?,
        says("hello", "the name of another factory's tool")?,
        says("Not Valid", "a name that is none")?,
    ])
}

#[toolkit::tool_factory]
async fn fails() -> Result<Tool, std::num::ParseIntError> {
    "x".parse::<u8>()?;
    unreachable!("it has failed")
}

#[toolkit::tool_factory]
async fn never() -> Tool {
    std::future::pending().await
}

#[toolkit::tool_factory]
async fn panics() -> Option<Tool> {
    tokio::task::yield_now().await;
    panic!("no such luck");
}

#[derive(Debug)]
struct Not(&'static str);

impl Policy for Not {
    fn check(&self, _: &Caller, tool: &Tool) -> Result<(), Refusal> {
        if tool.name() == self.0 { Err(Refusal::new("the test", "it is that one")) } else { Ok(()) }
    }
}

fn toolkit() -> Toolkit {
    Toolkit::builder()
        .without_asking_first()
        .service(Count(AtomicUsize::new(0)))
        .policy(Not("bye"))
        .prepare_timeout(Duration::from_millis(20))
        .build()
        .unwrap()
}

async fn text(toolbox: &Toolbox, name: &str) -> Result<String, ToolErrorKind> {
    let result = toolbox.call(ToolCall::new("1", name, "{}")).await;
    result.outcome.map(|output| output.to_text()).map_err(|error| error.kind())
}

fn names(toolbox: &Toolbox) -> Vec<&str> {
    toolbox.tools().map(Tool::name).collect()
}

#[tokio::test(start_paused = true)]
async fn a_factory_s_tools_are_there_for_its_caller_alone() {
    let toolkit = toolkit();
    let ada = toolkit.toolbox(&Caller::new().with_agent("ada")).await;
    let nobody = toolkit.toolbox(&Caller::new()).await;
    assert_eq!(names(&ada), ["counted", "counted_again", "fixed", "hello"]);
    assert_eq!(names(&nobody), ["counted", "fixed", "hello"]);
    assert_eq!(text(&nobody, "hello").await.unwrap(), "the name of another factory's tool");
    assert_eq!(text(&ada, "hello").await.unwrap(), "ada");
    assert_eq!(text(&ada, "fixed_alias").await.unwrap(), "fixed");
    assert_eq!(text(&ada, "counted_again").await.unwrap(), "2", "it runs once a toolbox, with its services");
    assert_eq!(text(&nobody, "bye").await.unwrap_err(), ToolErrorKind::UnknownTool);
    let hello = ada.tool("hello").unwrap();
    assert_eq!(hello.source(), &Source::plugin("toolkit-factories-test"));
    assert_eq!(ada.definition("hello").unwrap().description, "Says ada. {agent}");
    assert!(toolkit.tool("hello").is_none());
}

#[tokio::test(start_paused = true)]
async fn the_policy_decides_about_them_too() {
    let ada = toolkit().toolbox(&Caller::new().with_agent("ada")).await;
    let refused = ada.call(ToolCall::new("1", "bye", "{}")).await.outcome.unwrap_err();
    assert_eq!(refused.kind(), ToolErrorKind::Denied);
    assert!(refused.message().contains("denied by the test"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn they_are_explained_where_they_are() {
    let toolkit = toolkit();
    let ada = toolkit.toolbox(&Caller::new().with_agent("ada")).await;
    let nobody = toolkit.toolbox(&Caller::new()).await;
    let said = |toolbox: &Toolbox, name: &str| {
        let explained = toolbox.explain(name)?;
        Some((explained.exists, explained.denied_by().map(|layer| layer.reason.clone())))
    };
    assert_eq!(said(&ada, "hello"), Some((true, None)));
    assert_eq!(
        said(&ada, "fixed_alias"),
        Some((true, None)),
        "a tool stands by the name that a factory wanted"
    );
    assert_eq!(said(&ada, "bye"), Some((false, Some("it is that one".to_owned()))));
    assert_eq!(said(&nobody, "bye"), None);
    assert_eq!(toolkit.explain(ada.caller(), "hello"), None);

    // Tools that came and went since then are not of this toolbox.
    toolkit.register(says("later", "nothing").unwrap()).unwrap();
    let (exists, why) = said(&ada, "later").unwrap();
    assert!(!exists && why.unwrap().contains("after this toolbox was made"));
    assert_eq!(said(&toolkit.toolbox(ada.caller()).await, "later"), Some((true, None)));
    toolkit.unregister("fixed").unwrap();
    let (exists, why) = said(&ada, "fixed").unwrap();
    assert!(!exists && why.unwrap().contains("removed from the toolkit"));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_there_is_said_and_harms_nobody() {
    let ada = toolkit().toolbox(&Caller::new().with_agent("ada")).await;
    let mut expected = vec![
        ("conflicts", "`fixed` already names the tool `fixed` of"),
        ("conflicts", "`fixed_alias` already names the tool `fixed` of"),
        ("conflicts", "`hello` already names the tool `hello` of"),
        ("conflicts", "`Not Valid`"),
        ("fails", "its tools are left out: invalid digit found in string"),
        ("never", "its tools are left out: it was not ready after 20ms"),
        ("panics", "stopped on an internal error (no such luck)"),
    ];
    for found in ada.diagnostics() {
        let place = expected
            .iter()
            .position(|(factory, text)| {
                found.message.starts_with(&format!("the tool factory `{factory}`: "))
                    && found.message.contains(text)
            })
            .unwrap_or_else(|| panic!("{found}"));
        expected.remove(place);
        assert_eq!((found.level, found.plugin_id.as_deref()), (Level::Error, Some("toolkit-factories-test")));
        assert!(found.location.as_ref().unwrap().contains("factories.rs"), "{found}");
    }
    assert!(expected.is_empty(), "{expected:?}");
}

#[tokio::test]
async fn an_empty_toolkit_runs_none() {
    let toolkit = Toolkit::empty().without_asking_first().tool(toolkit::tool_ref!(fixed)).build().unwrap();
    assert_eq!(names(&toolkit.toolbox(&Caller::new().with_agent("ada")).await), ["fixed"]);
}

toolkit::plugin! { id: "toolkit-factories-test", title: "Factories" }

#[test]
fn a_plugin_says_what_it_is() {
    let toolkit = toolkit();
    let plugin = &toolkit.plugins()[0];
    assert_eq!((&*plugin.id, plugin.title), ("toolkit-factories-test", Some("Factories")));
    assert!(!plugin.optional && plugin.channel.is_none());
    let fixed = toolkit.tool("fixed").unwrap();
    assert_eq!(fixed.plugin_id(), Some("toolkit-factories-test"));
}
