//! Tools that come and go while calls run.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use tokio::sync::Semaphore;
use toolkit::prelude::*;
use toolkit::{
    Tool, ToolBuilder, ToolErrorKind, ToolResult, Toolbox,
    descriptor::Source,
    registry::{RegisterError, ToolChange},
};

struct Db;

/// Needs a service.
#[tool(read_only)]
async fn query(_db: State<Db>) -> &'static str {
    "rows"
}

fn builder(name: &str) -> ToolBuilder {
    Tool::builder(name).description("Says its text.").read_only()
}

/// A tool that says a text.
fn says(name: &str, text: &'static str) -> Tool {
    builder(name).build(move |_, _| async move { text }).unwrap()
}

async fn call(toolbox: &Toolbox, name: &str) -> ToolResult {
    toolbox.call(ToolCall::new("1", name, json!({}))).await
}

async fn now(toolkit: &Toolkit) -> Toolbox {
    toolkit.toolbox(&Caller::new()).await
}

fn names(toolkit: &Toolkit) -> Vec<String> {
    toolkit.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

#[tokio::test]
async fn a_tool_comes_and_goes() {
    let toolkit = Toolkit::empty().without_asking_first().tool(says("fixed", "here")).build().unwrap();
    let before = now(&toolkit).await;
    let mut watch = toolkit.watch_tools();
    assert!(!watch.has_changed());
    toolkit.register(says("late", "too")).unwrap();
    assert!(watch.has_changed() && watch.changed().await);
    assert_eq!(names(&toolkit), ["fixed", "late"]);
    assert_eq!(toolkit.tool("late").unwrap().source(), &Source::Runtime);
    assert_eq!(call(&before, "late").await.outcome.unwrap_err().kind(), ToolErrorKind::UnknownTool);
    let after = now(&toolkit).await;
    assert_eq!(call(&after, "late").await.text(), "too");
    toolkit.unregister("late").unwrap();
    let gone = call(&after, "late").await.outcome.unwrap_err();
    assert_eq!(gone.kind(), ToolErrorKind::UnknownTool);
    assert!(gone.message().contains("`late` is no longer there"), "{gone}");
    assert_eq!(call(&after, "fixed").await.text(), "here");
    assert_eq!(names(&toolkit), ["fixed"]);
    drop((before, after));
    let mut last = toolkit.watch_tools();
    drop(toolkit);
    assert!(!last.changed().await, "the toolkit is gone");
}

#[tokio::test]
async fn what_was_seen_is_what_runs() {
    let toolkit = Toolkit::empty().without_asking_first().build().unwrap();
    toolkit.register(says("tool", "first")).unwrap();
    let first = now(&toolkit).await;
    toolkit.replace(says("tool", "second")).unwrap();
    toolkit.register(says("more", "more")).unwrap();
    assert_eq!(call(&first, "tool").await.text(), "first", "its model has seen the first");
    assert_eq!(call(&now(&toolkit).await, "tool").await.text(), "second");
    // Whoever gets the name later is another tool.
    toolkit.unregister("tool").unwrap();
    toolkit.register(says("tool", "third")).unwrap();
    let gone = call(&first, "tool").await.outcome.unwrap_err();
    assert!(gone.message().contains("no longer there"), "{gone}");
    assert_eq!(call(&now(&toolkit).await, "tool").await.text(), "third");
}

#[tokio::test]
async fn a_call_in_flight_ends_as_it_began() {
    for change in [ToolChange::Replace(says("slow", "second")), ToolChange::Unregister("slow".to_owned())] {
        let (began, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (begins, goes_on) = (Arc::clone(&began), Arc::clone(&go_on));
        let slow = builder("slow").build(move |_, _| {
            let (began, go_on) = (Arc::clone(&began), Arc::clone(&go_on));
            async move {
                began.add_permits(1);
                let _ = go_on.acquire().await;
                "first"
            }
        });
        let toolkit = Toolkit::empty().without_asking_first().tool(slow.unwrap()).build().unwrap();
        let toolbox = now(&toolkit).await;
        let under_way = tokio::spawn(async move { call(&toolbox, "slow").await });
        begins.acquire().await.unwrap().forget();
        toolkit.apply([change]).unwrap();
        goes_on.add_permits(1);
        assert_eq!(under_way.await.unwrap().text(), "first");
    }
}

#[test]
fn a_tool_takes_no_name_but_its_own() {
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .tool(builder("fixed").alias("stable").build(|_, _| async {}).unwrap())
        .build();
    let toolkit = toolkit.unwrap();
    let server = Source::mcp("files");
    toolkit.register(says("theirs", "").with_source(server.clone())).unwrap();
    let alias = |name: &str, alias: &str| builder(name).alias(alias).build(|_, _| async {}).unwrap();
    for (change, expected) in [
        (ToolChange::Register(says("fixed", "")), "`fixed` already names the tool `fixed` of the host"),
        (ToolChange::Register(says("stable", "")), "`stable` already names the tool `fixed`"),
        (ToolChange::Register(alias("new", "fixed")), "`fixed` already names"),
        (ToolChange::Register(alias("new", "stable")), "`stable` already names"),
        (ToolChange::Register(alias("new", "theirs")), "the tool `theirs` of the MCP server `files`"),
        (ToolChange::Register(alias("new", "new")), "`new` already names the tool `new`"),
        (ToolChange::Register(says("Not Valid", "")), "is not valid"),
        (ToolChange::Register(alias("new", "Not Valid")), "the alias `Not Valid`"),
        (ToolChange::Register(toolkit::tool_ref!(query)), "takes `State<it::registrations::Db>`"),
        (ToolChange::Register(says("new", "").bind("what", 1)), "no argument `what`"),
        (
            ToolChange::Register(builder("new").concurrency(0).build(|_, _| async {}).unwrap()),
            "can never run",
        ),
        (
            ToolChange::Replace(says("theirs", "")),
            "of the MCP server `files` cannot be replaced by one of the host",
        ),
        (ToolChange::Replace(says("fixe", "")), "there is no tool `fixe`; did you mean `fixed`?"),
        (ToolChange::Unregister("stable".to_owned()), "there is no tool `stable`"),
    ] {
        let error = toolkit.apply([change.clone()]).unwrap_err();
        assert!(error.to_string().contains(expected), "{change:?}: {error}");
        assert_eq!(names(&toolkit), ["fixed", "theirs"]);
        assert_eq!(toolkit.tool("stable").unwrap().name(), "fixed");
    }
    let last =
        toolkit.apply([ToolChange::Unregister("fixed".to_owned()), ToolChange::Register(says("theirs", ""))]);
    assert!(matches!(last, Err(RegisterError::Taken { .. })));
    assert_eq!(names(&toolkit), ["fixed", "theirs"], "a change that cannot be made takes the others with it");
    toolkit.register(toolkit::tool_ref!(query).with_state(Db)).unwrap();
}

#[tokio::test]
async fn the_tools_of_a_source_change_at_once() {
    let toolkit = Toolkit::empty().without_asking_first().tool(says("fixed", "")).build().unwrap();
    let server = Source::mcp("files");
    assert!(toolkit.replace_source(&server, [says("one", "1"), says("two", "2")]).is_empty());
    let before = now(&toolkit).await;
    let errors =
        toolkit.replace_source(&server, [says("two", "2b"), says("three", "3"), says("fixed", "no")]);
    assert_eq!(errors.iter().map(RegisterError::tool).collect::<Vec<_>>(), ["fixed"]);
    assert_eq!(names(&toolkit), ["fixed", "three", "two"]);
    assert_eq!(toolkit.tool("three").unwrap().source(), &server);
    assert_eq!(call(&before, "two").await.text(), "2", "it replaced its own");
    assert!(call(&before, "one").await.text().contains("no longer there"));
    assert_eq!(call(&now(&toolkit).await, "two").await.text(), "2b");
    assert!(toolkit.replace_source(&server, []).is_empty());
    assert_eq!(names(&toolkit), ["fixed"]);
    assert_eq!(toolkit.replace_source(&Source::Core, [says("one", "")]).len(), 1);
    assert_eq!(names(&toolkit), ["fixed"]);
}

/// 10,000 registrations and as many removals by eight threads, while others make toolboxes and calls.
#[test]
fn calls_run_while_tools_come_and_go() {
    const THREADS: usize = 8;
    const EACH: usize = 1_250;
    let fixed = (0..100).map(|number| says(&format!("fixed_{number:02}"), "fixed"));
    let toolkit =
        fixed.fold(Toolkit::empty().without_asking_first(), toolkit::Builder::tool).build().unwrap();
    let over = AtomicBool::new(false);
    let (calls, gone) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|reader| {
                let (toolkit, over, calls, gone) = (&toolkit, &over, &calls, &gone);
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    runtime.block_on(async {
                        while !over.load(Ordering::SeqCst) {
                            let toolbox = now(toolkit).await;
                            for (place, tool) in toolbox.tools().enumerate() {
                                let text = tool.name().split('_').next().unwrap();
                                if place % 10 != reader && text == "fixed" {
                                    continue;
                                }
                                match call(&toolbox, tool.name()).await.outcome {
                                    Ok(output) => assert_eq!(output.to_text(), text),
                                    Err(error) => {
                                        assert_eq!(text, "moving", "{error}");
                                        assert!(error.message().contains("no longer there"), "{error}");
                                        gone.fetch_add(1, Ordering::SeqCst);
                                    }
                                }
                                calls.fetch_add(1, Ordering::SeqCst);
                            }
                        }
                    });
                })
            })
            .collect();
        let writers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (toolkit, calls) = (&toolkit, &calls);
                scope.spawn(move || {
                    for round in 0..EACH {
                        let name = format!("moving_{thread}_{}", round % 3);
                        toolkit.register(says(&name, "moving")).unwrap();
                        // Both are on their way: neither is through before the other has begun.
                        while round == EACH / 2 && calls.load(Ordering::SeqCst) == 0 {
                            thread::yield_now();
                        }
                        toolkit.unregister(&name).unwrap();
                    }
                })
            })
            .collect();
        let written: Vec<bool> = writers.into_iter().map(|writer| writer.join().is_ok()).collect();
        over.store(true, Ordering::SeqCst);
        assert!(readers.into_iter().all(|reader| reader.join().is_ok()));
        assert_eq!(written, [true; THREADS]);
    });
    assert!(calls.load(Ordering::SeqCst) > 0);
    assert_eq!(toolkit.tools().len(), 100);
    assert!(toolkit.tools().iter().all(|tool| tool.name().starts_with("fixed")));
}
