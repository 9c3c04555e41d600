//! Putting a toolkit together by hand. What linking does is tested with programs of their own, in `tests/`.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use toolkit::config::{Configuration, LoadOptions};
use toolkit::policy::{PolicySettings, ToolPolicy};
use toolkit::prelude::*;
use toolkit::{BuildError, Tool, descriptor::ToolDef, tool_ref};

mod inner {
    use toolkit::prelude::*;

    /// Is one.
    #[tool(group = "numbers", alias = "uno")]
    pub(crate) async fn one() -> &'static str {
        "1"
    }

    /// Is two.
    #[tool(name = "two", alias = ["one", "uno", "zwei"])]
    pub(crate) async fn second() -> &'static str {
        "2"
    }
}
pub(crate) use inner::one as re_exported;

struct Db {
    name: &'static str,
}

/// Queries.
#[tool(read_only)]
async fn query(db: State<Db>) -> &'static str {
    db.name
}

trait Store: Send + Sync {
    fn get(&self) -> String;
}

impl Store for Db {
    fn get(&self) -> String {
        self.name.to_owned()
    }
}

/// Asks a trait object.
#[tool(read_only)]
async fn ask(store: State<dyn Store>) -> String {
    store.get()
}

async fn text(toolkit: &Toolkit, name: &str) -> String {
    toolkit.toolbox(&Caller::new()).await.call(ToolCall::new("1", name, "{}")).await.text()
}

fn problems(error: &BuildError) -> String {
    error.problems.join("\n")
}

#[tokio::test]
async fn one_function_can_be_two_tools() {
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(query).with_state(Db { name: "test" }).named("test_query"))
        .tool(tool_ref!(query).named("prod_query"))
        .service(Db { name: "prod" })
        .build()
        .unwrap();
    assert_eq!(text(&toolkit, "test_query").await, "test");
    assert_eq!(text(&toolkit, "prod_query").await, "prod");
}

#[tokio::test]
async fn a_service_can_be_a_trait_object() {
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(ask))
        .shared_service::<dyn Store>(std::sync::Arc::new(Db { name: "dyn" }))
        .build()
        .unwrap();
    assert_eq!(text(&toolkit, "ask").await, "dyn");
}

static NEVER_RUNS: ToolDef = ToolDef { name: "never_runs", concurrency: Some(0), ..ToolDef::BASE };

#[test]
fn every_mistake_is_reported_at_once() {
    let error = Toolkit::empty()
        .tool(tool_ref!(query))
        .tool(tool_ref!(re_exported))
        .tool(tool_ref!(inner::second).named("one"))
        .tool(tool_ref!(inner::second).named("Bad Name"))
        .tool(Tool::new(&NEVER_RUNS))
        .build()
        .unwrap_err();
    let text = problems(&error);
    assert_eq!(error.problems.len(), 4, "{text}");
    assert!(text.contains("the tool `never_runs` (") && text.contains("`concurrency` is 0"), "{text}");
    assert!(text.contains("takes `State<registry::Db>`, which is not provided"), "{text}");
    assert!(text.contains("`Bad Name`"), "{text}");
    let twice = error.problems.iter().find(|problem| problem.contains("more than once")).unwrap();
    assert_eq!(twice.matches("registry.rs:").count(), 2, "{twice}");
}

#[test]
fn tools_without_their_service_can_be_left_out() {
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(query))
        .tool(tool_ref!(re_exported))
        .leave_out_incomplete()
        .build()
        .unwrap();
    assert_eq!(toolkit.tools().iter().map(Tool::name).collect::<Vec<_>>(), ["one"]);
    let [left] = toolkit.diagnostics() else { panic!("one, not {:?}", toolkit.diagnostics()) };
    assert_eq!((left.level, left.source.as_str()), (toolkit::registry::Level::Warning, "registry"));
    assert_eq!(left.plugin_id.as_deref(), Some("registry"));
    let text = left.to_string();
    for part in
        ["left out: the tool `query`", "`State<registry::Db>`", "`.service(value)`", "tests/registry.rs:"]
    {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_crate_is_a_plugin() {
    let toolkit = Toolkit::empty().tool(tool_ref!(query)).service(Db { name: "" }).build().unwrap();
    let tool = toolkit.tool("query").unwrap();
    assert_eq!(
        (tool.source(), tool.plugin_id()),
        (&toolkit::descriptor::Source::plugin("registry"), Some("registry"))
    );
    assert_eq!(toolkit.plugins()[0].crate_name, "registry");
    assert_eq!(toolkit.reserved_names().count(), 0);
}

/// Sleeps unless it is woken.
#[tool(enabled = false, read_only)]
async fn asleep() -> &'static str {
    "awake"
}

#[tokio::test]
async fn what_is_switched_off_can_be_switched_on() {
    let builder = || {
        Toolkit::builder()
            .service(Db { name: "" })
            .shared_service::<dyn Store>(std::sync::Arc::new(Db { name: "" }))
    };
    assert!(builder().build().unwrap().tool("asleep").is_none());
    let mut settings = PolicySettings::default();
    settings.enabled.insert("asleep".to_owned(), true);
    let awake = builder().policy(ToolPolicy::new(settings)).build().unwrap();
    assert_eq!(text(&awake, "asleep").await, "awake");
}

#[test]
fn a_reload_names_only_tools_that_a_restart_would_switch_on() {
    let settings =
        || Configuration::load(LoadOptions::new().set("tools.settings.asleep.enabled=true")).unwrap();
    let linked = Toolkit::builder()
        .service(Db { name: "" })
        .shared_service::<dyn Store>(std::sync::Arc::new(Db { name: "" }))
        .build()
        .unwrap();
    let messages = |toolkit: &Toolkit| {
        let diagnostics = toolkit.reload(settings()).unwrap().diagnostics;
        diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect::<Vec<_>>()
    };
    let expected = "`asleep` is switched on now; this takes effect when the program starts again";
    assert!(messages(&linked).iter().any(|message| message == expected), "{:?}", messages(&linked));
    let empty = messages(&Toolkit::empty().build().unwrap());
    assert!(!empty.iter().any(|message| message.contains("is switched on")), "{empty:?}");
}

#[test]
fn a_linked_tool_that_the_host_adds_too_is_reported_as_that() {
    let toolkit = Toolkit::builder()
        .service(Db { name: "a" })
        .shared_service::<dyn Store>(std::sync::Arc::new(Db { name: "b" }))
        .tool(tool_ref!(re_exported))
        .without_asking_first()
        .build()
        .unwrap();
    let told: Vec<&str> = toolkit.diagnostics().iter().map(|diagnostic| &*diagnostic.message).collect();
    let expected = "the tool `one` is there twice: it is linked, and the host adds it; leave `.tool(..)` out, or build with `Toolkit::empty()`";
    assert!(told.contains(&expected), "{told:?}");
}

#[tokio::test]
async fn an_alias_never_takes_a_name() {
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .tool(tool_ref!(inner::one))
        .tool(tool_ref!(inner::second))
        .build()
        .unwrap();
    assert_eq!(text(&toolkit, "one").await, "1");
    assert_eq!(text(&toolkit, "uno").await, "1");
    assert_eq!(text(&toolkit, "zwei").await, "2");
    let messages: Vec<&str> =
        toolkit.diagnostics().iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "the alias `one` of the tool `two` is left out: it already names `one`",
            "the alias `uno` of the tool `two` is left out: it already names `one`",
        ]
    );
}

#[test]
fn tools_come_by_name() {
    let toolkit =
        Toolkit::empty().tool(tool_ref!(inner::second)).tool(tool_ref!(inner::one)).build().unwrap();
    let tools = toolkit.tools();
    let names: Vec<&str> = tools.iter().map(Tool::name).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(toolkit.tool("uno").unwrap().name(), "one");
    assert!(toolkit.tool("one").unwrap().groups().eq(["numbers"]));
}

#[test]
fn a_tool_knows_where_it_is_written() {
    let location = tool_ref!(query).location().unwrap();
    assert_eq!(
        (location.crate_name(), location.package, location.version),
        ("registry", "agent-toolkit", env!("CARGO_PKG_VERSION"))
    );
    assert!(location.file.ends_with("toolkit/tests/registry.rs"), "{}", location.file);
    assert_eq!(u64::from(location.line), 1 + lines_before("async fn query"));
}

fn lines_before(text: &str) -> u64 {
    let source = include_str!("registry.rs");
    source[..source.find(text).unwrap()].matches('\n').count() as u64
}

#[test]
#[should_panic(expected = "needs a function with `#[tool]`")]
fn a_plain_function_is_no_tool() {
    let _ = tool_ref!(lines_before);
}
