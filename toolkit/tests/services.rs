//! Services that are made from the configuration when a call first needs them.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

#[path = "services/sections.rs"]
mod sections;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use toolkit::prelude::*;
use toolkit::{
    Config, ToolErrorKind, Toolbox,
    config::{Configuration, LoadOptions, Secret},
    descriptor::Preparation,
};

toolkit::plugin! { id: "depot" }

/// The counters of the tests, provided by the host.
#[derive(Default)]
struct Watch {
    made: AtomicUsize,
    dropped: AtomicUsize,
    closed: AtomicUsize,
    fails: AtomicUsize,
    waits: bool,
    go: Notify,
}

#[toolkit::args]
struct Settings {
    /// The name of the depot.
    #[arg(default = "main", length(1..=10))]
    name: String,
    /// Its key.
    key: Option<Secret>,
}

struct Depot {
    name: String,
    watch: State<Watch>,
}

impl Drop for Depot {
    fn drop(&mut self) {
        self.watch.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

#[toolkit::service(close = lock_up)]
async fn depot(settings: &Config<Settings>, watch: State<Watch>) -> Result<Depot, ToolError> {
    watch.made.fetch_add(1, Ordering::SeqCst);
    if watch.waits {
        watch.go.notified().await;
    }
    if watch.fails.load(Ordering::SeqCst) > 0 {
        watch.fails.fetch_sub(1, Ordering::SeqCst);
        return Err(ToolError::failed("the depot is shut"));
    }
    assert!(settings.name != "panic", "the depot burns");
    Ok(Depot { name: settings.name.clone(), watch })
}

async fn lock_up(depot: Arc<Depot>) {
    tokio::task::yield_now().await;
    depot.watch.closed.fetch_add(1, Ordering::SeqCst);
}

trait Named: Send + Sync {
    fn name(&self) -> String;
}

struct Shelf(State<Depot>);

impl Named for Shelf {
    fn name(&self) -> String {
        format!("a shelf in {}", self.0.name)
    }
}

#[toolkit::service]
fn shelf(depot: State<Depot>, _settings: Config<Settings>) -> Arc<dyn Named> {
    Arc::new(Shelf(depot))
}

/// Names the depot.
#[tool(read_only)]
async fn which(depot: State<Depot>, suffix: Option<String>) -> String {
    format!("{}{}", depot.name, suffix.unwrap_or_default())
}

/// Names the shelf, on the blocking pool.
#[tool(read_only)]
fn where_is(shelf: &State<dyn Named>) -> String {
    shelf.name()
}

/// Needs nothing.
#[tool(read_only)]
async fn nothing() {}

async fn prepared(_: &Caller, tool: &mut Preparation) -> Result<(), ToolError> {
    let name = tool.require_service::<Depot>()?.name.clone();
    tool.describe(format!("Is in {name}."));
    Ok(())
}

/// Is prepared with the depot.
#[tool(read_only, prepare = prepared)]
async fn inside(depot: State<Depot>) -> String {
    depot.name.clone()
}

/// Everything but `inside`, so that no toolbox makes the depot.
fn builder(watch: &Arc<Watch>) -> toolkit::Builder {
    #[derive(Debug)]
    struct NotInside;
    impl toolkit::policy::Policy for NotInside {
        fn check(&self, _: &Caller, tool: &toolkit::Tool) -> Result<(), toolkit::policy::Refusal> {
            if tool.name() == "inside" {
                Err(toolkit::policy::Refusal::new("the test", "not here"))
            } else {
                Ok(())
            }
        }
    }
    Toolkit::builder().without_asking_first().shared_service(Arc::clone(watch)).policy(NotInside)
}

async fn toolbox(watch: &Arc<Watch>) -> Toolbox {
    builder(watch).build().unwrap().toolbox(&Caller::new()).await
}

async fn call(toolbox: &Toolbox, name: &str) -> Result<String, ToolError> {
    let result = toolbox.call(ToolCall::new("1", name, "{}")).await;
    result.outcome.map(|output| output.to_text())
}

fn made(watch: &Watch) -> usize {
    watch.made.load(Ordering::SeqCst)
}

#[tokio::test]
async fn a_service_is_made_at_its_first_use_and_once() {
    let watch = Arc::new(Watch::default());
    let toolkit = builder(&watch).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    call(&toolbox, "nothing").await.unwrap();
    assert_eq!(made(&watch), 0);
    for (name, text) in [("where_is", "a shelf in main"), ("which", "main"), ("where_is", "a shelf in main")]
    {
        assert_eq!(call(&toolbox, name).await.unwrap(), text);
        assert_eq!(made(&watch), 1, "{name}");
    }
    // Arguments get there as well.
    let result = toolbox.call(ToolCall::new("1", "which", r#"{"suffix": "!"}"#)).await;
    assert_eq!(result.text(), "main!");
}

#[tokio::test]
async fn arguments_survive_that_a_service_is_made_first() {
    let toolbox = toolbox(&Arc::default()).await;
    let result = toolbox.call(ToolCall::new("1", "which", r#"{"suffix": "?"}"#)).await;
    assert_eq!(result.text(), "main?");
}

#[tokio::test]
async fn calls_that_come_at_once_wait_for_one_making() {
    let watch = Arc::new(Watch { waits: true, ..Watch::default() });
    let toolbox = toolbox(&watch).await;
    let calls = ["1", "2", "3"].map(|id| ToolCall::new(id, "which", "{}"));
    let calls = toolbox.call_all(calls, toolkit::CallOptions::new());
    let go = async {
        while made(&watch) == 0 {
            tokio::task::yield_now().await;
        }
        watch.go.notify_one();
    };
    let (results, ()) = tokio::join!(calls, go);
    assert!(results.iter().all(|result| result.text() == "main"));
    assert_eq!(made(&watch), 1);
}

#[tokio::test]
async fn who_waits_for_a_making_that_fails_gets_its_error_and_the_next_tries_again() {
    let watch = Arc::new(Watch { waits: true, fails: AtomicUsize::new(1), ..Watch::default() });
    let toolbox = toolbox(&watch).await;
    let calls = ["1", "2", "3"].map(|id| ToolCall::new(id, "which", "{}"));
    let calls = toolbox.call_all(calls, toolkit::CallOptions::new());
    let go = async {
        while made(&watch) == 0 {
            tokio::task::yield_now().await;
        }
        watch.go.notify_one();
    };
    let (results, ()) = tokio::join!(calls, go);
    for result in results {
        let error = result.outcome.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::Unavailable);
        assert!(error.message().contains("Depot` could not be made by `depot` ("), "{error}");
        assert!(error.message().ends_with("): the depot is shut"), "{error}");
    }
    assert_eq!(made(&watch), 1);
    watch.go.notify_one();
    assert_eq!(call(&toolbox, "which").await.unwrap(), "main");
    assert_eq!(made(&watch), 2);
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_the_making_to_the_next() {
    let watch = Arc::new(Watch { waits: true, ..Watch::default() });
    let toolbox = toolbox(&watch).await;
    {
        let mut first = Box::pin(call(&toolbox, "which"));
        tokio::select! {
            biased;
            _ = &mut first => panic!("nobody let it go"),
            () = async { while made(&watch) == 0 { tokio::task::yield_now().await; } } => {}
        }
    }
    watch.go.notify_one();
    assert_eq!(call(&toolbox, "which").await.unwrap(), "main");
    assert_eq!(made(&watch), 2);
}

#[tokio::test]
async fn a_making_counts_among_the_time_of_the_call() {
    let watch = Arc::new(Watch { waits: true, ..Watch::default() });
    let toolbox = toolbox(&watch).await;
    let options = toolkit::CallOptions::new().timeout(Duration::from_millis(5));
    let result = toolbox.call_with(ToolCall::new("1", "which", "{}"), options).await;
    assert_eq!(result.outcome.unwrap_err().kind(), ToolErrorKind::TimedOut);
}

#[tokio::test]
async fn it_is_made_from_the_section_of_its_plugin() {
    for (set, expected) in [
        ("plugins.depot.name=north", Ok("north")),
        ("plugins.depot.name=panic", Err("stopped on an internal error (the depot burns)")),
    ] {
        let configuration = Configuration::load(LoadOptions::new().set(set)).unwrap();
        let toolkit = builder(&Arc::default()).configuration(configuration).build().unwrap();
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        match (call(&toolbox, "which").await, expected) {
            (Ok(text), Ok(expected)) => assert_eq!(text, expected),
            (Err(error), Err(expected)) => assert!(error.message().contains(expected), "{error}"),
            (outcome, _) => panic!("{outcome:?}"),
        }
    }
    let wrong = Configuration::load(LoadOptions::new().set("plugins.depot.nme=north")).unwrap_err();
    assert!(wrong.to_string().contains("did you mean `name`"), "{wrong}");
}

#[tokio::test]
async fn it_ends_with_the_toolkit() {
    let watch = Arc::new(Watch::default());
    let toolkit = builder(&watch).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    call(&toolbox, "where_is").await.unwrap();
    drop(toolkit);
    assert_eq!(watch.dropped.load(Ordering::SeqCst), 0, "a toolbox still has it");
    drop(toolbox);
    assert_eq!(watch.dropped.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_the_host_or_the_tool_provides_goes_first() {
    let watch = Arc::new(Watch::default());
    let own = |name: &str| Depot { name: name.to_owned(), watch: State(Arc::clone(&watch)) };
    let toolkit = builder(&watch)
        .tool(toolkit::tool_ref!(which).with_state(own("the tool's")).named("own"))
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    assert_eq!(call(&toolbox, "own").await.unwrap(), "the tool's");
    let toolkit = builder(&watch).service(own("the host's")).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    assert_eq!(call(&toolbox, "which").await.unwrap(), "the host's");
    assert_eq!(call(&toolbox, "where_is").await.unwrap(), "a shelf in the host's");
    assert_eq!(made(&watch), 0);
}

#[tokio::test]
async fn a_preparation_finds_the_services_of_its_tool_made() {
    let toolkit = Toolkit::builder().without_asking_first().service(Watch::default()).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    assert_eq!(toolbox.definition("inside").unwrap().description, "Is in main.");
}

#[test]
fn a_service_whose_own_services_nobody_provides() {
    let error = Toolkit::builder().without_asking_first().build().unwrap_err();
    let [problem] = &error.problems[..] else { panic!("{error}") };
    assert!(problem.contains("Depot`, made by `depot` ("), "{problem}");
    assert!(problem.contains("Watch>`, which is not provided: call `.service(value)`"), "{problem}");

    let toolkit = Toolkit::builder().without_asking_first().leave_out_incomplete().build().unwrap();
    let names: Vec<String> = toolkit.tools().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["nothing", "see_gate"]);
    assert_eq!(toolkit.diagnostics().len(), 6, "{:?}", toolkit.diagnostics());
}

#[test]
fn an_empty_toolkit_makes_none() {
    let error = Toolkit::empty().without_asking_first().tool(toolkit::tool_ref!(which)).build().unwrap_err();
    assert!(error.to_string().contains("Depot>`, which is not provided"), "{error}");
}

#[tokio::test]
async fn a_service_is_closed_with_the_toolkit_if_it_was_made() {
    let watch = Arc::new(Watch::default());
    let toolkit = builder(&watch).build().unwrap();
    assert!(toolkit.shutdown(Duration::from_secs(30)).await.is_complete());
    assert_eq!(watch.closed.load(Ordering::SeqCst), 0);

    let toolkit = builder(&watch).build().unwrap();
    call(&toolkit.toolbox(&Caller::new()).await, "where_is").await.unwrap();
    for _ in 0..2 {
        assert!(toolkit.shutdown(Duration::from_secs(30)).await.is_complete());
        assert_eq!(watch.closed.load(Ordering::SeqCst), 1);
    }
}
