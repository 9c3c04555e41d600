//! Calls and what comes of them.

use super::{GENERATIONS, Person, connect, nothing, params, text};
use rmcp::model::{ContentBlock, ProtocolVersion};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use toolkit::prelude::*;
use toolkit::{
    Builder, Content,
    events::Progress,
    output::{Detailed, Resource, Structured},
    tool_ref,
};

/// Adds two numbers.
#[tool(read_only)]
async fn add(
    /** One. */
    a: i64,
    /** Other. */
    b: i64,
) -> String {
    (a + b).to_string()
}

#[toolkit::args]
struct Sum {
    /// The outcome.
    sum: i64,
}

/// Adds two numbers, as data.
#[tool(read_only)]
async fn add_as_data(
    /** One. */
    a: i64,
    /** Other. */
    b: i64,
) -> Json<Sum> {
    Json(Sum { sum: a + b })
}

/// Always fails.
#[tool(read_only)]
async fn fails() -> Result<(), ToolError> {
    Err(ToolError::failed("the disk is on fire"))
}

/// Stops on an internal error.
#[tool(read_only)]
async fn panics() {
    panic!("oh")
}

/// Says something of each kind.
#[tool(read_only)]
async fn says_all() -> Vec<Content> {
    vec![
        Content::text("t"),
        Content::image(*b"abc", "image/png"),
        Content::audio(*b"abc", "audio/wav"),
        Content::Resource { resource: Resource::text("x://1", "body").with_mime_type("text/css") },
        Content::Resource { resource: Resource::blob("x://2", *b"abc") },
    ]
}

/// A sum, and what it says of itself.
#[toolkit::args]
struct Total {
    /// The sum.
    sum: i64,
}

/// Adds two numbers, and says so in its own words.
#[tool(read_only)]
fn add_in_words(a: i64, b: i64) -> Structured<Total> {
    Structured::new(ToolOutput::text(format!("the sum is {}", a + b)), Total { sum: a + b })
}

/// Adds two numbers, and tells the way.
#[tool(read_only)]
fn add_with_the_way(a: i64, b: i64) -> Detailed<Total> {
    Detailed::new(ToolOutput::text(format!("{a} and {b} are {}", a + b)), Total { sum: a + b })
}

/// The number of calls of `change` that began, and the permission of each to end.
struct Changes {
    begun: Semaphore,
    may_end: Semaphore,
}

/// Changes something, as long as it takes.
#[tool(auto_execute)]
async fn change(changes: State<Changes>) {
    changes.begun.add_permits(1);
    changes.may_end.acquire().await.unwrap().forget();
}

/// Counts up.
#[tool(read_only)]
fn numbers() -> Vec<i64> {
    vec![1, 2]
}

/// Goes on for three steps.
#[tool(read_only)]
async fn steps(ctx: &ToolContext) {
    for step in [1, 2, 2, 3] {
        ctx.progress(Progress::new(step).with_total(3).with_message(format!("step {step}")));
    }
}

struct Gone(Arc<Notify>, Arc<Notify>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.1.notify_one();
    }
}

/// Never ends by itself.
#[tool(read_only)]
async fn hangs(gone: State<Notifies>) {
    let Notifies(begun, ended) = &*gone;
    let gone = Gone(Arc::clone(begun), Arc::clone(ended));
    gone.0.notify_one();
    std::future::pending::<()>().await;
}

struct Notifies(Arc<Notify>, Arc<Notify>);

fn builder() -> Builder {
    Toolkit::empty()
        .tool(tool_ref!(add))
        .tool(tool_ref!(add_as_data))
        .tool(tool_ref!(fails))
        .tool(tool_ref!(panics))
        .tool(tool_ref!(says_all))
        .tool(tool_ref!(steps))
}

/// Many clients show a model the structured content in place of the text.
#[tokio::test]
async fn structured_content_is_an_object_that_says_all_that_the_text_says() {
    for version in &GENERATIONS {
        let builder = Toolkit::empty()
            .tool(tool_ref!(add_in_words))
            .tool(tool_ref!(add_with_the_way))
            .tool(tool_ref!(numbers));
        let connected = connect(version, Person::default(), builder).await;
        let listed = connected.client.list_all_tools().await.unwrap();
        let schema = |name: &str| {
            let tool = listed.iter().find(|tool| tool.name == name).unwrap();
            tool.output_schema.as_ref().map(|schema| Value::Object((**schema).clone()))
        };
        let arguments = json!({"a": 2, "b": 3});
        let sum = connected.call("add_in_words", arguments.clone()).await;
        assert_eq!(text(&sum), "the sum is 5");
        assert_eq!(sum.structured_content, Some(json!({"sum": 5})));
        let stated = schema("add_in_words").unwrap();
        assert_eq!((&stated["type"], &stated["required"]), (&json!("object"), &json!(["sum"])));
        assert_eq!(stated["properties"]["sum"]["type"], "integer");
        let sum = connected.call("add_with_the_way", arguments).await;
        assert_eq!((text(&sum).as_str(), sum.structured_content), ("2 and 3 are 5", None));
        assert_eq!(schema("add_with_the_way"), None);
        // The protocol has no schemas of lists.
        let counted = connected.call("numbers", json!({})).await;
        assert_eq!((text(&counted).as_str(), counted.structured_content), ("[\n  1,\n  2\n]", None));
        assert_eq!(schema("numbers"), None);
    }
}

#[tokio::test]
async fn what_fails_is_a_result_that_the_model_reads() {
    for version in &GENERATIONS {
        let connected = connect(version, Person::default(), builder()).await;
        let sum = connected.call("add", json!({"a": 2, "b": 3})).await;
        assert_eq!((text(&sum).as_str(), sum.is_error), ("5", Some(false)));
        assert_eq!(sum.structured_content, None);
        let sum = connected.call("add_as_data", json!({"a": 2, "b": 3})).await;
        assert_eq!(sum.structured_content, Some(json!({"sum": 5})));
        for (name, arguments, said) in [
            ("add", json!({"a": "x", "c": 1}), &["`a`", "`b`", "`c`"][..]),
            ("fails", nothing(), &["the disk is on fire"]),
            ("panics", nothing(), &["internal error"]),
            ("ad", nothing(), &["there is no tool `ad`", "did you mean `add`"]),
        ] {
            let failed = connected.call(name, arguments).await;
            assert_eq!(failed.is_error, Some(true), "{name}");
            for said in said {
                assert!(text(&failed).contains(said), "{name}: {}", text(&failed));
            }
        }
    }
}

#[tokio::test]
async fn every_kind_of_content_comes_through() {
    for version in &GENERATIONS {
        let connected = connect(version, Person::default(), builder()).await;
        let said = connected.call("says_all", nothing()).await;
        let blocks: Vec<Value> =
            said.content.iter().map(|block| serde_json::to_value(block).unwrap()).collect();
        let expected = json!([
            {"type": "text", "text": "t"},
            {"type": "image", "data": "YWJj", "mimeType": "image/png"},
            {"type": "audio", "data": "YWJj", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "x://1", "mimeType": "text/css", "text": "body"}},
            {"type": "resource", "resource": {"uri": "x://2", "blob": "YWJj"}},
        ]);
        assert_eq!(Value::Array(blocks), expected);
        assert!(matches!(said.content[0], ContentBlock::Text(_)));
    }
}

#[tokio::test]
async fn progress_is_told_to_who_asks_for_it() {
    for version in &GENERATIONS {
        let person = Person::default();
        let connected = connect(version, person.clone(), builder()).await;
        connected.call("steps", nothing()).await;
        // rmcp's client puts a token of its own into each request, and hands on what it is told in tasks of their own.
        let told = || -> Vec<(f64, Option<f64>, Option<String>)> {
            let progress = person.progress.lock().unwrap();
            progress.iter().map(|param| (param.progress, param.total, param.message.clone())).collect()
        };
        for _ in 0..1_000 {
            if told().len() >= 3 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let told = told();
        let step = |step: f64| (step, Some(3.0), Some(format!("step {step}")));
        assert_eq!(told, [step(1.0), step(2.0), step(3.0)]);
    }
}

#[tokio::test]
async fn a_call_that_its_client_cancels_is_gone() {
    for version in &GENERATIONS {
        let (begun, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let state = Notifies(Arc::clone(&begun), Arc::clone(&gone));
        let toolkit = builder().tool(tool_ref!(hangs).with_state(state));
        let connected = connect(version, Person::default(), toolkit).await;
        let request = rmcp::model::CallToolRequest::new(params("hangs", nothing()));
        let handle = connected
            .client
            .send_cancellable_request(request.into(), PeerRequestOptions::no_options())
            .await
            .unwrap();
        begun.notified().await;
        handle.cancel(Some("enough".to_owned())).await.unwrap();
        tokio::time::timeout(Duration::from_secs(10), gone.notified()).await.unwrap();
        // The next one works.
        assert_eq!(text(&connected.call("add", json!({"a": 1, "b": 1})).await), "2");
    }
}

/// Answers on the way get a few seconds, so both generations go away at once.
#[tokio::test]
async fn a_client_that_goes_away_leaves_nothing_running() {
    tokio::join!(go_away(&GENERATIONS[0]), go_away(&GENERATIONS[1]));
}

async fn go_away(version: &ProtocolVersion) {
    let (begun, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let state = Notifies(Arc::clone(&begun), Arc::clone(&gone));
    let toolkit = builder().tool(tool_ref!(hangs).with_state(state));
    let connected = connect(version, Person::default(), toolkit).await;
    let peer = connected.client.peer().clone();
    let call = tokio::spawn(async move { peer.call_tool(params("hangs", nothing())).await });
    begun.notified().await;
    connected.client.cancel().await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), gone.notified()).await.unwrap();
    assert!(call.await.unwrap().is_err());
}

/// Waits until all who are expected are there.
#[tool(read_only)]
async fn meet(all: State<Meeting>) -> &'static str {
    all.0.0.wait().await;
    "met"
}

#[derive(Debug)]
struct Meeting(tokio::sync::Barrier);

#[tokio::test]
async fn calls_of_one_client_that_only_read_run_together() {
    const ALL: usize = 16;
    for version in &GENERATIONS {
        let meeting = Arc::new(Meeting(tokio::sync::Barrier::new(ALL)));
        let toolkit = Toolkit::empty().tool(tool_ref!(meet)).shared_service(meeting);
        let connected = connect(version, Person::default(), toolkit).await;
        let calls: Vec<_> = (0..ALL)
            .map(|_| {
                let client = connected.client.peer().clone();
                tokio::spawn(async move { client.call_tool(params("meet", nothing())).await.unwrap() })
            })
            .collect();
        for call in calls {
            assert_eq!(text(&call.await.unwrap()), "met");
        }
    }
}

#[tokio::test]
async fn reads_run_beside_a_call_that_changes_something_and_changes_one_after_the_other() {
    for version in &GENERATIONS {
        let changes = Arc::new(Changes { begun: Semaphore::new(0), may_end: Semaphore::new(0) });
        let toolkit = Toolkit::empty()
            .tool(tool_ref!(add))
            .tool(tool_ref!(change))
            .shared_service(Arc::clone(&changes));
        let connected = connect(version, Person::default(), toolkit).await;
        let read = async |a: i64| {
            let read = connected.call("add", json!({"a": a, "b": 1}));
            text(
                &tokio::time::timeout(Duration::from_secs(20), read)
                    .await
                    .expect("a read waits for a change"),
            )
        };
        let reads = async {
            changes.begun.acquire().await.unwrap().forget();
            assert_eq!(read(1).await, "2", "{version}");
            // The second change has been sent, and waits for the first.
            assert_eq!(read(2).await, "3", "{version}");
            assert_eq!(changes.begun.available_permits(), 0, "{version}");
            changes.may_end.add_permits(1);
            changes.begun.acquire().await.unwrap().forget();
            assert_eq!(read(3).await, "4", "{version}");
            changes.may_end.add_permits(1);
        };
        tokio::join!(connected.call("change", nothing()), connected.call("change", nothing()), reads);
    }
}
