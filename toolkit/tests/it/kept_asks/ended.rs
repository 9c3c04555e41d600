//! The end of a call: its questions go with its result, unless it was interrupted while it waited.

use super::shop::{Shop, a_boat, caller, make, silent};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::Notify;
use toolkit::approval::{Answer, AskingCall, ScriptedApprover};
use toolkit::prelude::*;
use toolkit::{CallOptions, CancellationToken, ToolErrorKind};

/// Makes a call that waits for an answer, cancels it, and returns the digests of the questions that are left.
async fn cancelled(shop: &Shop, is_interrupted: bool, is_slow: bool) -> Vec<String> {
    let (files, asked, token) = (shop.files(), Arc::new(Notify::new()), CancellationToken::new());
    files.is_slow.store(is_slow, Ordering::SeqCst);
    let toolkit = shop.toolkit(&files, silent(&asked));
    let toolbox = toolkit.toolbox(&caller()).await;
    let interrupt = CancellationToken::new();
    let options = CallOptions::new().cancel(token.clone()).interrupt(interrupt.clone());
    let (result, ()) = tokio::join!(toolbox.call_with(a_boat(), options), async {
        asked.notified().await;
        assert_eq!(files.digests().len(), 1);
        if is_interrupted {
            interrupt.cancel();
        }
        token.cancel();
    });
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Aborted);
    assert_eq!(shop.done.lines(), [""; 0]);
    files.digests()
}

#[tokio::test]
async fn a_cancelled_call_leaves_no_question() {
    for is_slow in [false, true] {
        assert_eq!(cancelled(&Shop::new(), false, is_slow).await, [""; 0], "{is_slow}");
    }
}

#[tokio::test]
async fn an_interrupted_call_leaves_its_question_for_the_next_process() {
    let shop = Shop::new();
    let [digest] = &*cancelled(&shop, true, false).await else { panic!("{:?}", shop.files().digests()) };
    shop.files().answer(digest, &Answer::allow());
    assert_eq!(shop.made_again(a_boat()).await, 0);
    assert_eq!((shop.done.lines(), shop.files().digests()), (vec!["a boat".to_owned()], Vec::new()));
}

#[tokio::test]
async fn a_call_that_was_decided_before_its_interruption_leaves_no_question() {
    let shop = Shop::new();
    let (files, interrupt) = (shop.files(), CancellationToken::new());
    let toolkit = shop.toolkit(&files, ScriptedApprover::always(Answer::allow()));
    let toolbox = toolkit.toolbox(&caller()).await;
    let options = CallOptions::new().cancel(interrupt.clone()).interrupt(interrupt.clone());
    let call = ToolCall::new("1", "trade", json!({ "one": "an end", "other": "it" }));
    let (result, ()) = tokio::join!(toolbox.call_with(call, options), async {
        while shop.done.lines().is_empty() {
            tokio::task::yield_now().await;
        }
        interrupt.cancel();
    });
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Aborted);
    assert_eq!(files.digests(), [""; 0]);
}

#[tokio::test]
async fn the_end_of_the_toolkit_waits_for_the_removal() {
    let shop = Shop::new();
    let (files, asked) = (shop.files(), Arc::new(Notify::new()));
    files.is_slow.store(true, Ordering::SeqCst);
    let toolkit = shop.toolkit(&files, silent(&asked));
    let toolbox = toolkit.toolbox(&caller()).await;
    let call = tokio::spawn(async move { toolbox.call(a_boat()).await });
    asked.notified().await;
    toolkit.shutdown(std::time::Duration::from_mins(10)).await;
    assert_eq!(files.digests(), [""; 0]);
    assert_eq!(call.await.unwrap().error().unwrap().kind(), ToolErrorKind::Aborted);
}

#[tokio::test]
async fn a_call_that_is_not_asked_again_leaves_no_question() {
    // An approval for the session answers it.
    let shop = Shop::new();
    shop.dropped_while_it_asks(a_boat()).await;
    let files = shop.files();
    let toolkit = shop.toolkit(&files, ScriptedApprover::new([Answer::allow_for_session()]));
    let toolbox = toolkit.toolbox(&caller()).await;
    for id in ["0", "1"] {
        let result = toolbox.call(ToolCall::new(id, "buy", json!({ "what": "a boat" }))).await;
        assert!(!result.is_error(), "{}", result.text());
    }
    assert_eq!(files.digests(), [""; 0]);

    // Its arguments are refused, its tool is gone, it asks something else that is denied.
    for call in [
        ToolCall::new("1", "buy", json!({ "which": 1 })),
        ToolCall::new("1", "rent", json!({})),
        ToolCall::new("1", "buy", json!({ "what": "a car" })),
    ] {
        let shop = Shop::new();
        shop.dropped_while_it_asks(a_boat()).await;
        let toolkit = shop.toolkit(&shop.files(), ScriptedApprover::always(Answer::deny()));
        let result = make(&toolkit, call).await;
        assert!(result.is_error(), "{}", result.text());
        assert_eq!(shop.files().digests(), [""; 0], "{}", result.text());
    }
}

#[tokio::test]
async fn a_host_forgets_the_questions_of_a_call_that_it_does_not_make_again() {
    let shop = Shop::new();
    let digest = shop.dropped_while_it_asks(a_boat()).await;
    let toolkit = shop.toolkit(&shop.files(), ScriptedApprover::new([]));
    for other in
        [AskingCall::new("s", "2"), AskingCall::new("t", "1"), AskingCall::new("s", "1").with_turn("1")]
    {
        toolkit.forget_asks(&other).await;
        assert_eq!(shop.files().digests(), std::slice::from_ref(&digest));
    }
    toolkit.forget_asks(&AskingCall::new("s", "1")).await;
    assert_eq!(shop.files().digests(), [""; 0]);
}

#[tokio::test]
async fn an_answer_is_for_the_tool_as_it_was_defined() {
    let shop = Shop::new();
    let toolkit = |does: &str, approver| {
        let schema = json!({ "type": "object", "properties": { "what": { "type": "string" } } });
        let tool = Tool::builder("rent").description(does).input_schema(schema);
        let tool = tool.build(|_, _| async { "rented" }).unwrap();
        let builder = super::shop::builder(shop.files(), Arc::clone(&shop.done), approver);
        builder.tool(tool).build().unwrap()
    };
    let call = || ToolCall::new("1", "rent", json!({ "what": "a boat" }));
    for (does, asked_again) in [("Rents something.", 0), ("Rents something for ever.", 1)] {
        let asked = Arc::new(Notify::new());
        let first = toolkit("Rents something.", Arc::new(silent(&asked)) as Arc<dyn toolkit::Approver>);
        tokio::select! {
            result = make(&first, call()) => panic!("{result:?}"),
            () = asked.notified() => {}
        }
        let [digest] = &*shop.files().digests() else { panic!("{:?}", shop.files().digests()) };
        shop.files().answer(digest, &Answer::allow());
        let approver = Arc::new(ScriptedApprover::always(Answer::allow()));
        let result = make(&toolkit(does, Arc::clone(&approver) as Arc<dyn toolkit::Approver>), call()).await;
        assert_eq!((result.text(), approver.asked().len()), ("rented".to_owned(), asked_again), "{does}");
        assert_eq!(shop.files().digests(), [""; 0]);
    }
}

#[tokio::test]
async fn a_call_that_never_begins_again_keeps_no_question() {
    let shop = Shop::new();
    let (files, asked) = (shop.files(), Arc::new(Notify::new()));
    let toolkit = shop.toolkit(&files, silent(&asked));
    let toolbox = toolkit.toolbox(&caller()).await;
    tokio::select! {
        result = toolbox.call_with(a_boat(), CallOptions::new().never_begins_again()) => panic!("{result:?}"),
        () = asked.notified() => {}
    }
    assert_eq!(files.digests(), [""; 0]);
}
