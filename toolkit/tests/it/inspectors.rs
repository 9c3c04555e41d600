//! Inspectors: what they can do to a call, and that they cannot do more.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::future::{pending, ready};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    Ask, Builder, CallOptions, CancellationToken, ToolErrorKind, ToolResult,
    approval::{Answer, ScriptedApprover},
    events::Event,
    history::{HistoryQuery, MemoryHistory},
    inspection::{CallbackInspector, Inspecting, Inspection, Inspector, Verdict},
    text::Redactor,
    tool_ref,
};

/// Says something.
#[tool(read_only)]
async fn say(text: String, #[arg(range(1..=3), alias = "count")] times: Option<u32>) -> String {
    text.repeat(times.unwrap_or(1) as usize)
}

/// Says something on another thread.
#[tool(read_only)]
fn say_blocking(text: String) -> String {
    text
}

/// Has something said.
#[tool(read_only)]
async fn have_said(ctx: &ToolContext, text: String) -> Result<String, ToolError> {
    Ok(ctx.call("say", json!({ "text": text })).await?.to_text())
}

/// Uses a key.
#[tool(read_only)]
async fn unlock(#[arg(secret)] key: String) -> String {
    format!("opened with {key}")
}

fn house() -> Builder {
    Toolkit::empty()
        .tool(tool_ref!(say))
        .tool(tool_ref!(say_blocking))
        .tool(tool_ref!(have_said))
        .tool(tool_ref!(unlock))
}

fn by(judge: impl Fn(&Value) -> Verdict + Send + Sync + 'static) -> impl Inspector {
    CallbackInspector::new(move |call: &Inspection<'_>| Ok(judge(call.arguments())))
}

async fn call(builder: Builder, tool: &str, arguments: Value) -> ToolResult {
    let toolbox = builder.build().unwrap().toolbox(&Caller::new()).await;
    toolbox.call(ToolCall::new("1", tool, arguments)).await
}

/// The expected outcome of a verdict: a text, or words in the error.
type Expected = Result<&'static str, &'static [&'static str]>;

#[tokio::test]
async fn what_each_verdict_does() {
    let rewrite = Verdict::Rewrite;
    let table: Vec<(&str, Verdict, Expected)> = vec![
        ("proceed", Verdict::Proceed, Ok("hello")),
        (
            "block",
            Verdict::block("not today"),
            Err(&["`say`", "blocked by `guard`: not today", "did not run"]),
        ),
        ("rewrite", rewrite(json!({"text": "bye"})), Ok("bye")),
        ("other name of a parameter", rewrite(json!({"text": "a", "count": 3})), Ok("aaa")),
        ("null for what is optional", rewrite(json!({"text": "a", "times": null})), Ok("a")),
        (
            "to what is out of range",
            rewrite(json!({"text": "a", "times": 4})),
            Err(&[
                "blocked by `guard`: it rewrote the arguments to ones that the tool rejects",
                "times",
                "3",
            ]),
        ),
        (
            "to what would be repaired",
            rewrite(json!({"text": "a", "times": "2"})),
            Err(&["`guard`", "times"]),
        ),
        ("to what is missing", rewrite(json!({})), Err(&["`guard`", "text"])),
        ("to what is unknown", rewrite(json!({"text": "a", "loud": true})), Err(&["`guard`", "loud"])),
        ("to no object", rewrite(json!([1])), Err(&["`guard`"])),
        ("to text", rewrite(json!("{\"text\": \"a\"}")), Err(&["`guard`"])),
        ("ask without anybody there", Verdict::Ask(Ask::new("say", "say it")), Err(&["not allowed: say it"])),
    ];
    for (name, verdict, expected) in table {
        for tool in ["say", "say_blocking"] {
            if tool == "say_blocking" && name.contains("parameter") | name.contains("null") {
                continue;
            }
            let verdict = verdict.clone();
            let inspected = house().inspector("guard", by(move |_| verdict.clone()));
            let result = call(inspected, tool, json!({"text": "hello"})).await;
            match expected {
                Ok(text) => assert_eq!(result.text(), text, "{name}"),
                Err(words) => {
                    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied, "{name}: {result:?}");
                    for word in
                        words.iter().filter(|word| tool == "say" || !["`say`", "times", "3"].contains(word))
                    {
                        assert!(result.text().contains(word), "{name}: {word:?} in {}", result.text());
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_person_decides_what_an_inspector_asks() {
    for (answers, expected) in [
        (vec![Answer::allow(), Answer::allow()], Ok("hello")),
        (vec![Answer::allow(), Answer::deny_saying("no")], Err("no")),
        (vec![Answer::deny()], Err("denied it")),
    ] {
        let count = answers.len();
        let approver = ScriptedApprover::new(answers);
        let result = call(
            house()
                .approver(approver.clone())
                .inspector("first", by(|_| Verdict::Ask(Ask::new("say", "the first"))))
                // That it proceeds lifts nothing.
                .inspector("second", by(|_| Verdict::Proceed))
                .inspector("third", by(|_| Verdict::Ask(Ask::new("say", "the third")))),
            "say",
            json!({"text": "hello"}),
        )
        .await;
        assert_eq!(approver.asked().len(), count);
        match expected {
            Ok(text) => {
                assert_eq!(result.text(), text);
                let asked = &result.output().unwrap().metadata["asked"];
                assert_eq!(asked[0], json!({"by": "first", "kind": "say", "title": "the first"}));
                assert_eq!(asked[1]["by"], "third");
            }
            Err(word) => assert!(result.text().contains(word), "{}", result.text()),
        }
    }
}

#[tokio::test]
async fn all_judge_what_the_function_gets() {
    // Each notes the last that it saw and, where something is to do, does it.
    let seen: Arc<Mutex<Vec<(usize, String)>>> = Arc::default();
    let rewriter = |place: usize, from: &'static str, to: &'static str| {
        let seen = Arc::clone(&seen);
        by(move |arguments| {
            let text = arguments["text"].as_str().unwrap();
            seen.lock().unwrap().push((place, text.to_owned()));
            if text.contains(from) {
                Verdict::Rewrite(json!({"text": text.replace(from, to)}))
            } else {
                Verdict::Proceed
            }
        })
    };
    let inspected = house()
        .inspector("a", rewriter(0, "c", "d"))
        .inspector("b", rewriter(1, "a", "b"))
        .inspector("c", rewriter(2, "b", "c"));
    let result = call(inspected, "say", json!({"text": "a"})).await;
    assert_eq!(result.text(), "d");
    assert_eq!(result.output().unwrap().metadata["rewrittenBy"], json!(["b", "c", "a"]));
    let seen = seen.lock().unwrap();
    let expected = [(0, "a"), (1, "a"), (2, "b"), (0, "c"), (1, "d"), (2, "d"), (0, "d"), (1, "d"), (2, "d")];
    let seen: Vec<(usize, &str)> = seen.iter().map(|(place, text)| (*place, &**text)).collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn what_an_earlier_one_would_block_cannot_be_brought_in_by_a_later_one() {
    let inspected = house()
        .inspector(
            "first",
            by(|arguments| match arguments["text"].as_str() {
                Some("evil") => Verdict::block("evil"),
                _ => Verdict::Proceed,
            }),
        )
        .inspector("second", by(|_| Verdict::Rewrite(json!({"text": "evil"}))));
    let result = call(inspected, "say", json!({"text": "good"})).await;
    assert!(result.text().contains("blocked by `first`: evil"), "{}", result.text());
}

#[tokio::test]
async fn rewriting_without_end_blocks() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let inspected = house().inspector(
        "more",
        by(move |arguments| {
            count.fetch_add(1, Ordering::Relaxed);
            Verdict::Rewrite(json!({"text": format!("{}!", arguments["text"].as_str().unwrap())}))
        }),
    );
    let result = call(inspected, "say", json!({"text": "a"})).await;
    assert!(
        result.text().contains("blocked by `more`: the hooks kept rewriting the arguments"),
        "{}",
        result.text()
    );
    assert_eq!(asked.load(Ordering::Relaxed), 4);
    // Rewriting to the same is none.
    let inspected = house().inspector("same", by(|arguments| Verdict::Rewrite(arguments.clone())));
    let result = call(inspected, "say", json!({"text": "a"})).await;
    assert_eq!(result.text(), "a");
    assert!(!result.output().unwrap().metadata.contains_key("rewrittenBy"));
}

/// Goes wrong in many ways.
enum Faulty {
    PanicsAtOnce,
    PanicsLater,
    PanicsInItsEnd,
    Fails,
    Late,
    NoLimit,
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("at the end");
    }
}

impl Inspector for Faulty {
    fn inspect<'a>(&'a self, _: &'a Inspection<'a>) -> Inspecting<'a> {
        match self {
            Self::PanicsAtOnce => panic!("at once"),
            Self::PanicsLater => Box::pin(async {
                tokio::task::yield_now().await;
                panic!("later")
            }),
            Self::PanicsInItsEnd => {
                let held = PanicsWhenDropped;
                Box::pin(std::future::poll_fn(move |_| {
                    let _held = &held;
                    std::task::Poll::Ready(Ok(Verdict::Proceed))
                }))
            }
            Self::Fails => Box::pin(ready(Err(ToolError::unavailable("the list is not there")))),
            Self::Late | Self::NoLimit => Box::pin(pending()),
        }
    }

    fn limit(&self) -> Duration {
        match self {
            Self::NoLimit => Duration::MAX,
            _ => Duration::from_secs(3),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_goes_wrong_blocks() {
    for (faulty, kind, expected) in [
        (Faulty::PanicsAtOnce, ToolErrorKind::Denied, "blocked by `faulty`: it stopped on an internal error"),
        (Faulty::PanicsLater, ToolErrorKind::Denied, "blocked by `faulty`: it stopped on an internal error"),
        (
            Faulty::PanicsInItsEnd,
            ToolErrorKind::Denied,
            "blocked by `faulty`: it stopped on an internal error",
        ),
        (Faulty::Fails, ToolErrorKind::Denied, "blocked by `faulty`: it failed: the list is not there"),
        (Faulty::Late, ToolErrorKind::Denied, "blocked by `faulty`: it gave no verdict within 3s"),
        // The call's own clock runs too.
        (Faulty::NoLimit, ToolErrorKind::TimedOut, "did not finish within 60s"),
    ] {
        let inspected = house()
            .timeout(Duration::from_mins(1))
            .inspector("fine", by(|_| Verdict::Proceed))
            .inspector("faulty", faulty);
        let result = call(inspected, "say", json!({"text": "hello"})).await;
        assert_eq!(result.error().unwrap().kind(), kind, "{result:?}");
        assert!(result.text().contains(expected), "{}", result.text());
    }
}

/// Says when it is dropped.
struct Waiting(Arc<AtomicBool>);

impl Inspector for Waiting {
    fn inspect<'a>(&'a self, _: &'a Inspection<'a>) -> Inspecting<'a> {
        struct Dropped<'a>(&'a AtomicBool);
        impl Drop for Dropped<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let dropped = Dropped(&self.0);
        Box::pin(async move {
            let _dropped = dropped;
            pending().await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_leaves_no_inspector() {
    for drops in [false, true] {
        let dropped = Arc::new(AtomicBool::new(false));
        let toolkit = house().inspector("waiting", Waiting(Arc::clone(&dropped))).build().unwrap();
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        let token = CancellationToken::new();
        let options = CallOptions::new().cancel(token.clone());
        let mut call = Box::pin(toolbox.call_with(ToolCall::new("1", "say", json!({"text": "a"})), options));
        assert!(futures_poll(&mut call).await.is_none());
        assert!(!dropped.load(Ordering::Relaxed));
        if drops {
            drop(call);
        } else {
            token.cancel();
            assert_eq!(call.await.error().unwrap().kind(), ToolErrorKind::Aborted);
        }
        assert!(dropped.load(Ordering::Relaxed));
    }
}

async fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|task| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut *future).poll(task) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    })
    .await
}

#[tokio::test]
async fn calls_within_calls_are_inspected_too() {
    let inspected = house().inspector(
        "guard",
        CallbackInspector::new(|call| {
            assert_eq!(call.is_nested(), call.tool().name() == "say");
            assert_eq!(call.call_id(), if call.is_nested() { "1/1" } else { "1" });
            Ok(if call.is_nested() { Verdict::block("not from within") } else { Verdict::Proceed })
        }),
    );
    let result = call(inspected, "have_said", json!({"text": "a"})).await;
    assert!(result.text().contains("not from within"), "{}", result.text());
}

#[tokio::test]
async fn a_call_that_does_not_fit_is_not_inspected() {
    let inspected = house().inspector("guard", by(|_| Verdict::block("inspected")));
    let result = call(inspected, "say", json!({})).await;
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::InvalidArguments);
}

#[tokio::test]
async fn a_secret_that_an_inspector_puts_in_is_told_nowhere() {
    let history = Arc::new(MemoryHistory::new(Redactor::new()));
    let toolkit = house()
        .history(Arc::clone(&history))
        .inspector(
            "keys",
            by(|arguments| match arguments["key"].as_str() {
                Some("the usual") => Verdict::Rewrite(json!({"key": "open-sesame"})),
                _ => Verdict::Proceed,
            }),
        )
        .build()
        .unwrap();
    let mut events = toolkit.events();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let result = toolbox.call(ToolCall::new("1", "unlock", json!({"key": "the usual"}))).await;
    assert_eq!(result.text(), "opened with open-sesame", "the model gets what the tool says");
    let mut ends = 0;
    while let Some(event) = events.try_next() {
        ends += usize::from(matches!(event.event, Event::Finished { .. }));
        assert!(!format!("{event:?}").contains("sesame"), "{event:?}");
    }
    assert_eq!(ends, 1);
    let calls = history.calls(&HistoryQuery::new());
    assert_eq!(calls.len(), 1);
    assert!(!format!("{calls:?}").contains("sesame"), "{calls:?}");
}
