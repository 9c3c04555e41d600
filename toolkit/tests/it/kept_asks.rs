//! Pending questions in a store of the host: they outlive the process, and an answer decides one call, once.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod ended;
mod same_id;
mod shop;
mod twice;

use serde_json::json;
use shop::{Files, Shop, a_boat, caller, make, silent, toolkit};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;
use toolkit::approval::{Answer, Answering, CallbackApprover, PendingAsk, Question, ScriptedApprover};
use toolkit::events::{AllowedBy, Event};
use toolkit::prelude::*;
use toolkit::{Approver, ToolErrorKind};

#[tokio::test]
async fn an_answer_that_was_given_between_two_toolkits_decides_the_call_once() {
    for (call, line) in
        [(a_boat(), "a boat"), (ToolCall::new("1", "sell", json!({ "what": "it", "price": 7 })), "it for 7")]
    {
        let shop = Shop::new();
        let digest = shop.dropped_while_it_asks(call.clone()).await;
        assert_eq!((digest.len(), shop.done.lines()), (64, Vec::new()));
        shop.files().answer(&digest, &Answer::allow());

        let (files, nobody) = (shop.files(), Arc::new(ScriptedApprover::new([])));
        let toolkit = shop.toolkit(&files, Arc::clone(&nobody));
        let mut events = toolkit.events();
        let result = make(&toolkit, call.clone()).await;
        assert!(!result.is_error(), "{}", result.text());
        assert_eq!((nobody.asked().len(), shop.done.lines()), (0, vec![line.to_owned()]));
        let mut by = Vec::new();
        while let Some(event) = events.try_next() {
            assert!(!matches!(event.event, Event::Asked { .. } | Event::Answered { .. }), "{event:?}");
            if let Event::Allowed { by: source, .. } = event.event {
                by.push(source);
            }
        }
        assert_eq!(by, [AllowedBy::Answer { answered_by: Some("ada".to_owned()) }]);
        assert_eq!(files.digests(), [""; 0]);

        // The same call once more is another one.
        assert_eq!(shop.made_again(call).await, 1);
        assert_eq!(files.digests(), [""; 0]);
    }
}

/// The directory of the child.
const DIRECTORY: &str = "TOOLKIT_TEST_KEPT_ASKS";

/// The program that ends while its call waits; nothing if this is no child.
#[tokio::test]
async fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let ends = CallbackApprover::new(|_| -> Answer { std::process::abort() });
    let toolkit = toolkit(Files::new(Path::new(&directory)), Arc::default(), ends);
    let result = make(&toolkit, a_boat()).await;
    panic!("{result:?}");
}

#[tokio::test]
async fn a_question_of_a_process_that_died_is_answered_for_the_next_one() {
    let shop = Shop::new();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kept_asks::child"])
        .env(DIRECTORY, shop.directory.path())
        .output()
        .unwrap();
    assert!(!output.status.success(), "{output:?}");
    let files = shop.files();
    let [digest] = &*files.digests() else { panic!("{output:?}") };
    let ask: PendingAsk = serde_json::from_value(files.read(digest).unwrap()["ask"].clone()).unwrap();
    assert_eq!((&*ask.origin().tool, ask.origin().session_id.as_deref()), ("buy", Some("s")));
    assert!(matches!(ask.question(), Question::Approve(ask) if ask.title == "call `buy`"), "{ask:?}");
    files.answer(digest, &Answer::allow());
    assert_eq!(shop.made_again(a_boat()).await, 0);
    assert_eq!((shop.done.lines(), files.digests()), (vec!["a boat".to_owned()], Vec::new()));
}

#[tokio::test]
async fn a_call_that_differs_in_anything_is_asked_about_anew() {
    let sell =
        |id: &str, what: &str, price: u32| ToolCall::new(id, "sell", json!({ "what": what, "price": price }));
    for other in [
        sell("2", "it", 7),
        sell("1", "that", 7),
        sell("1", "it", 8),
        ToolCall::new("1", "buy", json!({ "what": "it" })),
    ] {
        let shop = Shop::new();
        let digest = shop.dropped_while_it_asks(sell("1", "it", 7)).await;
        shop.files().answer(&digest, &Answer::allow());
        assert_eq!(shop.made_again(other.clone()).await, 1, "{other:?}");
        // A call of the same id that has a result leaves no question.
        let stays = other.id != "1";
        assert_eq!(shop.files().digests().contains(&digest), stays, "{other:?}");
        // Arguments in another order are the same.
        let same = ToolCall::new("1", "sell", r#"{ "price": 7, "what": "it" }"#);
        assert_eq!(shop.made_again(same).await, usize::from(!stays));
    }
    // Arguments that are no JSON as they stand.
    let fenced = |price: u32| {
        ToolCall::new("1", "sell", format!("```json\n{{ \"what\": \"it\", \"price\": {price} }}\n```"))
    };
    let shop = Shop::new();
    let digest = shop.dropped_while_it_asks(fenced(7)).await;
    shop.files().answer(&digest, &Answer::allow());
    assert_eq!((shop.made_again(fenced(7)).await, shop.files().digests().len()), (0, 0));
    let digest = shop.dropped_while_it_asks(fenced(7)).await;
    shop.files().answer(&digest, &Answer::allow());
    assert_eq!(shop.made_again(fenced(8)).await, 1);
    let sandboxed = || {
        let mut caller = caller();
        caller.sandboxed = true;
        caller
    };
    for caller in [
        caller().with_session("t"),
        caller().with_agent("bob"),
        caller().with_sender("eve"),
        caller().with_channel("sms"),
        caller().with_conversation("c-2"),
        caller().with_workspace("/tmp"),
        sandboxed(),
    ] {
        let shop = Shop::new();
        let digest = shop.dropped_while_it_asks(a_boat()).await;
        shop.files().answer(&digest, &Answer::allow());
        let toolkit = shop.toolkit(&shop.files(), ScriptedApprover::new([Answer::deny()]));
        let result = toolkit.toolbox(&caller).await.call(a_boat()).await;
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied, "{caller:?}");
        let left = if caller.session_id.as_deref() == Some("t") { vec![digest] } else { Vec::new() };
        assert_eq!((shop.files().digests(), shop.done.lines()), (left, Vec::new()));
    }
}

#[tokio::test]
async fn a_denial_that_was_kept_denies_and_a_value_does_not_allow() {
    for (answer, expected) in [
        (Answer::deny_saying("not today"), "not today"),
        (Answer::value(json!({ "x": 1 })), "the approver gave an invalid answer"),
    ] {
        let shop = Shop::new();
        let digest = shop.dropped_while_it_asks(a_boat()).await;
        shop.files().answer(&digest, &answer);
        let nobody = Arc::new(ScriptedApprover::new([]));
        let result = make(&shop.toolkit(&shop.files(), Arc::clone(&nobody)), a_boat()).await;
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied);
        assert!(result.text().contains(expected), "{}", result.text());
        assert_eq!((nobody.asked().len(), shop.done.lines(), shop.files().digests().len()), (0, vec![], 0));
    }
}

#[tokio::test]
async fn an_approval_for_the_session_that_was_kept_is_remembered() {
    let shop = Shop::new();
    let digest = shop.dropped_while_it_asks(a_boat()).await;
    shop.files().answer(&digest, &Answer::allow_for_session());
    let nobody = Arc::new(ScriptedApprover::new([]));
    let toolkit = shop.toolkit(&shop.files(), Arc::clone(&nobody));
    let toolbox = toolkit.toolbox(&caller()).await;
    for id in ["1", "2"] {
        let result = toolbox.call(ToolCall::new(id, "buy", json!({ "what": "a boat" }))).await;
        assert!(!result.is_error(), "{}", result.text());
    }
    assert_eq!((nobody.asked().len(), shop.done.lines().len()), (0, 2));
}

#[tokio::test]
async fn a_question_is_kept_before_it_is_shown() {
    let shop = Shop::new();
    let (files, seen) = (shop.files(), Arc::new(AtomicUsize::new(0)));
    let looks = {
        let (files, seen) = (shop.files(), Arc::clone(&seen));
        CallbackApprover::new(move |_| {
            seen.store(files.digests().len(), Ordering::SeqCst);
            Answer::allow()
        })
    };
    let toolkit = shop.toolkit(&files, looks);
    assert!(!make(&toolkit, a_boat()).await.is_error());
    assert_eq!((seen.swap(0, Ordering::SeqCst), files.digests(), shop.done.lines().len()), (1, vec![], 1));

    files.is_full.store(true, Ordering::SeqCst);
    let mut events = toolkit.events();
    let result = make(&toolkit, a_boat()).await;
    let expected = "the question could not be recorded, so nothing was done: the disk is full";
    assert!(result.text().contains(expected), "{}", result.text());
    while let Some(event) = events.try_next() {
        assert!(!matches!(event.event, Event::Asked { .. }), "{event:?}");
    }
    assert_eq!((seen.load(Ordering::SeqCst), shop.done.lines().len()), (0, 1));
}

#[tokio::test]
async fn an_answer_in_the_store_decides_the_call_that_waits_and_no_other() {
    let shop = Shop::new();
    let (files, asked) = (shop.files(), Arc::new(Notify::new()));
    let toolkit = shop.toolkit(&files, silent(&asked));
    let toolbox = toolkit.toolbox(&caller()).await;
    let sell = |id: &str| {
        let (toolbox, id) = (toolbox.clone(), id.to_owned());
        let call = ToolCall::new(id, "sell", json!({ "what": "it", "price": 7 }));
        tokio::spawn(async move { toolbox.call(call).await })
    };
    // Both wait for the answer to one question.
    let first = sell("1");
    asked.notified().await;
    let one = files.digests();
    let second = sell("2");
    while files.digests().len() < 2 {
        tokio::task::yield_now().await;
    }
    files.answer(&one[0], &Answer::allow());
    assert_eq!(first.await.unwrap().text(), "sold it");
    assert!(!second.is_finished());
    // The other one is answered as every question is.
    let [ask] = &*toolkit.asks().list(None) else { panic!("{:?}", toolkit.asks()) };
    toolkit.asks().answer(ask.id(), Answer::allow()).unwrap();
    assert_eq!(second.await.unwrap().text(), "sold it");
    assert_eq!((files.digests(), toolkit.asks().list(None).len()), (vec![], 0));
}

#[tokio::test]
async fn an_answer_that_another_call_took_decides_nothing() {
    let shop = Shop::new();
    let digest = shop.dropped_while_it_asks(a_boat()).await;
    let files = shop.files();
    files.answer(&digest, &Answer::allow());
    files.is_late.store(true, Ordering::SeqCst);
    let result = make(&shop.toolkit(&files, ScriptedApprover::new([])), a_boat()).await;
    assert!(result.text().contains("the answer has decided another call"), "{}", result.text());
    assert_eq!(shop.done.lines(), [""; 0]);
}

#[tokio::test]
async fn a_question_after_which_no_call_can_begin_again_is_not_kept() {
    /// Allows, and counts the questions in the store.
    struct Counts(Arc<Files>, AtomicUsize, AtomicUsize);
    impl Approver for Counts {
        fn ask<'a>(&'a self, _ask: &'a PendingAsk) -> Answering<'a> {
            self.1.fetch_add(1, Ordering::SeqCst);
            self.2.fetch_add(self.0.digests().len(), Ordering::SeqCst);
            Box::pin(async { Some(Answer::allow().into()) })
        }
    }
    let shop = Shop::new();
    for (caller, call) in [
        (Caller::new(), a_boat()),
        (caller(), ToolCall::new("1", "acts_first", json!({}))),
        (caller(), ToolCall::new("1", "calls_buy", json!({}))),
    ] {
        let counts = Arc::new(Counts(shop.files(), AtomicUsize::new(0), AtomicUsize::new(0)));
        let toolkit = shop.toolkit(&shop.files(), Arc::clone(&counts) as Arc<dyn Approver>);
        let result = toolkit.toolbox(&caller).await.call(call.clone()).await;
        assert!(!result.is_error(), "{call:?}: {}", result.text());
        let counted = (counts.1.load(Ordering::SeqCst), counts.2.load(Ordering::SeqCst));
        assert_eq!(counted, (1, 0), "{call:?}");
    }
}
