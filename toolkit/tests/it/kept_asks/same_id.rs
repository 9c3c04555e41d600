//! Calls with one id, and questions that reach the store while their call ends.

use super::shop::{self, Done, Files, Shop, a_boat, caller, make, silent};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;
use tokio::sync::{Notify, Semaphore};
use toolkit::approval::{
    Answer, AskStore, AskingCall, CallbackApprover, Keeping, KeptAnswer, PendingAsk, ScriptedApprover,
};
use toolkit::prelude::*;
use toolkit::{Ask, CallOptions, Tool, Toolbox};

/// A step of a store that takes its time.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Put,
    RemoveCall,
}

/// A store one of whose steps tells that it has begun, and goes on when it may.
struct Gated {
    files: Arc<Files>,
    step: Step,
    waits_next: AtomicBool,
    begun: Notify,
    may_go_on: Semaphore,
}

impl Gated {
    fn new(shop: &Shop, step: Step) -> Arc<Self> {
        Arc::new(Self {
            files: shop.files(),
            step,
            waits_next: AtomicBool::new(true),
            begun: Notify::new(),
            may_go_on: Semaphore::new(0),
        })
    }

    async fn pass(&self, step: Step) {
        // The first one alone.
        if self.step == step && self.waits_next.swap(false, Ordering::SeqCst) {
            self.begun.notify_one();
            self.may_go_on.acquire().await.unwrap().forget();
        }
    }
}

impl AskStore for Gated {
    fn get<'a>(&'a self, digest: &'a str) -> Keeping<'a, Option<PendingAsk>> {
        self.files.get(digest)
    }

    fn put<'a>(&'a self, digest: &'a str, ask: &'a PendingAsk) -> Keeping<'a, Option<KeptAnswer>> {
        Box::pin(async move {
            self.pass(Step::Put).await;
            self.files.put(digest, ask).await
        })
    }

    fn put_answered<'a>(
        &'a self,
        digest: &'a str,
        ask: &'a PendingAsk,
        answer: &'a KeptAnswer,
    ) -> Keeping<'a, ()> {
        self.files.put_answered(digest, ask, answer)
    }

    fn answered<'a>(&'a self, digest: &'a str) -> Keeping<'a, KeptAnswer> {
        self.files.answered(digest)
    }

    fn remove<'a>(&'a self, digest: &'a str) -> Keeping<'a, bool> {
        self.files.remove(digest)
    }

    fn remove_call<'a>(&'a self, call: &'a AskingCall, before: Option<SystemTime>) -> Keeping<'a, ()> {
        Box::pin(async move {
            if before.is_none() {
                self.pass(Step::RemoveCall).await;
            }
            self.files.remove_call(call, before).await
        })
    }
}

/// Lets other tasks do what they can.
async fn rest() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_question_that_is_put_while_its_call_ends_does_not_stay() {
    let shop = Shop::new();
    let store = Gated::new(&shop, Step::Put);
    let asking = Arc::new(Mutex::new(None));
    let leaves = {
        let (store, asking) = (Arc::clone(&store), Arc::clone(&asking));
        let tool = Tool::builder("leaves").description("Leaves a question.").auto_execute();
        let schema = json!({ "type": "object", "properties": {} });
        tool.input_schema(schema).build(move |ctx: ToolContext, _| {
            let (store, asking) = (Arc::clone(&store), Arc::clone(&asking));
            async move {
                let work =
                    tokio::spawn(async move { ctx.ask(Ask::new("sell", "sell it").before_acting()).await });
                *asking.lock().unwrap() = Some(work);
                store.begun.notified().await;
                "left"
            }
        })
    };
    let builder = shop::builder(Arc::clone(&store) as Arc<dyn AskStore>, Arc::clone(&shop.done), nobody());
    let toolkit = builder.tool(leaves.unwrap()).build().unwrap();
    let (result, ()) = tokio::join!(make(&toolkit, ToolCall::new("1", "leaves", json!({}))), async {
        while asking.lock().unwrap().is_none() {
            tokio::task::yield_now().await;
        }
        rest().await;
        store.may_go_on.add_permits(1);
    });
    assert_eq!(result.text(), "left");
    let asking = asking.lock().unwrap().take().unwrap();
    assert!(asking.await.unwrap().is_err());
    assert_eq!((store.files.digests(), toolkit.asks().list(None).len()), (vec![], 0));
}

fn nobody() -> CallbackApprover {
    CallbackApprover::new(|_| None)
}

#[tokio::test]
async fn the_end_of_a_call_takes_no_question_of_the_next_one_with_the_same_id() {
    let shop = Shop::new();
    let (store, asked) = (Gated::new(&shop, Step::RemoveCall), Arc::new(Notify::new()));
    let toolkit =
        shop::toolkit(Arc::clone(&store) as Arc<dyn AskStore>, Arc::clone(&shop.done), silent(&asked));
    let toolbox = toolkit.toolbox(&caller()).await;
    let buy = |toolbox: &Toolbox| {
        let toolbox = toolbox.clone();
        tokio::spawn(async move { toolbox.call(a_boat()).await })
    };
    let first = buy(&toolbox);
    asked.notified().await;
    toolkit.asks().answer(toolkit.asks().list(None)[0].id(), Answer::deny()).unwrap();
    store.begun.notified().await;
    let second = buy(&toolbox);
    rest().await;
    store.may_go_on.add_permits(1);
    assert!(first.await.unwrap().is_error());
    asked.notified().await;
    let [digest] = &*store.files.digests() else { panic!("{:?}", store.files.digests()) };
    store.files.answer(digest, &Answer::allow());
    assert_eq!(second.await.unwrap().text(), "bought a boat");
    assert_eq!((store.files.digests(), shop.done.lines().len()), (vec![], 1));
}

/// Makes a call of a turn, and returns its result and how often the person, who allows everything, was asked.
async fn made_in(shop: &Shop, turn: &str) -> (String, usize) {
    let approver = Arc::new(ScriptedApprover::always(Answer::allow()));
    let toolkit = shop.toolkit(&shop.files(), Arc::clone(&approver));
    let toolbox = toolkit.toolbox(&caller()).await;
    let result = toolbox.call_with(a_boat(), CallOptions::new().turn(turn)).await;
    (result.text(), approver.asked().len())
}

#[tokio::test]
async fn a_call_of_another_turn_with_the_same_id_is_another_one() {
    let shop = Shop::new();
    let asked = Arc::new(Notify::new());
    {
        let toolkit = shop.toolkit(&shop.files(), silent(&asked));
        let toolbox = toolkit.toolbox(&caller()).await;
        tokio::select! {
            result = toolbox.call_with(a_boat(), CallOptions::new().turn("a/1")) => panic!("{result:?}"),
            () = asked.notified() => {}
        }
    }
    let [digest] = &*shop.files().digests() else { panic!("{:?}", shop.files().digests()) };
    assert_eq!(shop.files().ask(digest).unwrap().origin().turn.as_deref(), Some("a/1"));
    shop.files().answer(digest, &Answer::allow());
    // Neither is the answer for it, nor does its end remove the question.
    for turn in ["a/3", "b/1"] {
        assert_eq!(made_in(&shop, turn).await, ("bought a boat".to_owned(), 1), "{turn}");
        assert_eq!(shop.files().digests(), std::slice::from_ref(digest), "{turn}");
    }
    assert_eq!(shop.made_again(a_boat()).await, 1);
    assert_eq!(made_in(&shop, "a/1").await, ("bought a boat".to_owned(), 0));
    assert_eq!(shop.files().digests(), [""; 0]);
}

/// The questions of calls under way with one name: each takes its own.
#[tokio::test]
async fn of_two_calls_with_one_name_the_first_that_ends_leaves_the_question_of_the_other() {
    let shop = Shop::new();
    let (files, done) = (shop.files(), Arc::<Done>::clone(&shop.done));
    let asked = Arc::new(Notify::new());
    let toolkit = shop::toolkit(Arc::clone(&files) as Arc<dyn AskStore>, done, silent(&asked));
    let toolbox = toolkit.toolbox(&caller()).await;
    let sell = |what: &str| {
        let (toolbox, call) =
            (toolbox.clone(), ToolCall::new("1", "sell", json!({ "what": what, "price": 7 })));
        tokio::spawn(async move { toolbox.call(call).await })
    };
    let mut calls = Vec::new();
    for what in ["it", "that"] {
        calls.push(sell(what));
        asked.notified().await;
    }
    // The later question is decided first, and the earlier one stays.
    let asks = toolkit.asks().list(None);
    toolkit.asks().answer(asks[1].id(), Answer::deny()).unwrap();
    assert!(calls.pop().unwrap().await.unwrap().is_error());
    let [left] = &*files.digests() else { panic!("{:?}", files.digests()) };
    assert_eq!(files.ask(left).unwrap().id(), asks[0].id());
    files.answer(left, &Answer::allow());
    assert_eq!(calls.pop().unwrap().await.unwrap().text(), "sold it");
    assert_eq!(files.digests(), [""; 0]);
}
