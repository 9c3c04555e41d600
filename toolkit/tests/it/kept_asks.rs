//! Pending questions in a store of the host: they outlive the process, and an answer decides one call, once.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use toolkit::approval::{
    Answer, Answering, AskStore, CallbackApprover, Keeping, PendingAsk, Question, Reply, ScriptedApprover,
};
use toolkit::events::{AllowedBy, Event};
use toolkit::prelude::*;
use toolkit::{Approver, Ask, CallOptions, CancellationToken, ToolErrorKind, tool_ref};

/// A store of one file for each question. Programs that use one directory one after the other share it.
struct Files {
    directory: PathBuf,
    changed: Notify,
    is_full: AtomicBool,
    /// True if another call takes each answer first.
    is_late: AtomicBool,
}

impl Files {
    fn new(directory: &Path) -> Arc<Self> {
        let directory = directory.to_owned();
        Arc::new(Self {
            directory,
            changed: Notify::new(),
            is_full: AtomicBool::new(false),
            is_late: AtomicBool::new(false),
        })
    }

    fn path(&self, digest: &str) -> PathBuf {
        self.directory.join(format!("{digest}.json"))
    }

    fn read(&self, digest: &str) -> Option<Value> {
        let text = fs::read_to_string(self.path(digest)).ok()?;
        Some(serde_json::from_str(&text).unwrap())
    }

    fn write(&self, digest: &str, row: &Value) -> Result<(), String> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err("the disk is full".to_owned());
        }
        let file = tempfile::NamedTempFile::new_in(&self.directory).map_err(|error| error.to_string())?;
        fs::write(file.path(), row.to_string()).map_err(|error| error.to_string())?;
        file.as_file().sync_all().map_err(|error| error.to_string())?;
        file.persist(self.path(digest)).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn reply(&self, digest: &str) -> Option<Reply> {
        let row = self.read(digest)?;
        let answer: Answer = serde_json::from_value(row.get("answer")?.clone()).unwrap();
        Some(Reply::new(answer).by(row["by"].as_str().unwrap()))
    }

    /// The digests of the questions.
    fn digests(&self) -> Vec<String> {
        let names = fs::read_dir(&self.directory).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut digests: Vec<String> =
            names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect();
        digests.sort_unstable();
        digests
    }

    /// Answers a question, as a person does who need not know of any call that waits.
    fn answer(&self, digest: &str, answer: &Answer) {
        let mut row = self.read(digest).unwrap();
        (row["answer"], row["by"]) = (serde_json::to_value(answer).unwrap(), "ada".into());
        self.write(digest, &row).unwrap();
        self.changed.notify_waiters();
    }
}

impl AskStore for Files {
    fn put<'a>(&'a self, digest: &'a str, ask: &'a PendingAsk) -> Keeping<'a, Option<Reply>> {
        Box::pin(async move {
            let mut row = self.read(digest).unwrap_or_else(|| json!({}));
            row["ask"] = serde_json::to_value(ask).unwrap();
            self.write(digest, &row)?;
            Ok(self.reply(digest))
        })
    }

    fn answered<'a>(&'a self, digest: &'a str) -> Keeping<'a, Reply> {
        Box::pin(async move {
            loop {
                let changed = self.changed.notified();
                if let Some(reply) = self.reply(digest) {
                    return Ok(reply);
                }
                changed.await;
            }
        })
    }

    fn remove<'a>(&'a self, digest: &'a str) -> Keeping<'a, bool> {
        Box::pin(async move {
            let was_there = fs::remove_file(self.path(digest)).is_ok();
            Ok(was_there && !self.is_late.load(Ordering::SeqCst))
        })
    }
}

/// The lines that the functions wrote.
#[derive(Default)]
struct Done {
    lines: Mutex<Vec<String>>,
}

impl Done {
    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

/// Buys something: the runtime asks before each call.
#[tool]
async fn buy(done: State<Done>, what: String) -> String {
    done.lines.lock().unwrap().push(what.clone());
    format!("bought {what}")
}

/// Sells something, and asks before it acts.
#[tool(asks)]
async fn sell(ctx: &ToolContext, done: State<Done>, what: String, price: u32) -> Result<String, ToolError> {
    let ask = Ask::new("sell", "sell it").with_pattern(&what).with_text("the price", price.to_string());
    ctx.ask(ask.before_acting()).await?;
    done.lines.lock().unwrap().push(format!("{what} for {price}"));
    Ok(format!("sold {what}"))
}

/// Does something, and asks then.
#[tool(asks)]
async fn acts_first(ctx: &ToolContext, done: State<Done>) -> Result<(), ToolError> {
    done.lines.lock().unwrap().push("acted".to_owned());
    ctx.ask(Ask::new("sell", "go on").with_pattern("x")).await
}

/// Calls another tool.
#[tool(auto_execute)]
async fn calls_buy(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(ctx.call("buy", json!({ "what": "a car" })).await?.to_text())
}

struct Shop {
    directory: tempfile::TempDir,
    done: Arc<Done>,
}

impl Shop {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), done: Arc::default() }
    }

    fn files(&self) -> Arc<Files> {
        Files::new(self.directory.path())
    }

    fn toolkit(&self, files: &Arc<Files>, approver: impl Approver) -> Toolkit {
        toolkit(Arc::clone(files) as Arc<dyn AskStore>, Arc::clone(&self.done), approver)
    }

    /// Makes a call until it waits for an answer, and drops it with its toolkit. Returns the digest of its question.
    async fn dropped_while_it_asks(&self, call: ToolCall) -> String {
        let (files, asked) = (self.files(), Arc::new(Notify::new()));
        let toolkit = self.toolkit(&files, silent(&asked));
        tokio::select! {
            result = make(&toolkit, call) => panic!("{result:?}"),
            () = asked.notified() => {}
        }
        let [digest] = &*files.digests() else { panic!("{:?}", files.digests()) };
        digest.clone()
    }

    /// Makes a call in a second toolkit, where the person allows everything, and returns how often the person was asked.
    async fn made_again(&self, call: ToolCall) -> usize {
        let approver = Arc::new(ScriptedApprover::always(Answer::allow()));
        let toolkit = self.toolkit(&self.files(), Arc::clone(&approver));
        let result = make(&toolkit, call).await;
        assert!(!result.is_error(), "{}", result.text());
        approver.asked().len()
    }
}

fn toolkit(store: Arc<dyn AskStore>, done: Arc<Done>, approver: impl Approver) -> Toolkit {
    Toolkit::empty()
        .tools([tool_ref!(buy), tool_ref!(sell), tool_ref!(acts_first), tool_ref!(calls_buy)])
        .shared_service(done)
        .approver(approver)
        .ask_store(store)
        .build()
        .unwrap()
}

fn silent(asked: &Arc<Notify>) -> CallbackApprover {
    let asked = Arc::clone(asked);
    CallbackApprover::new(move |_| {
        asked.notify_one();
        None
    })
}

fn caller() -> Caller {
    Caller::new().with_session("s").with_agent("ada")
}

async fn make(toolkit: &Toolkit, call: ToolCall) -> ToolResult {
    toolkit.toolbox(&caller()).await.call(call).await
}

fn a_boat() -> ToolCall {
    ToolCall::new("1", "buy", json!({ "what": "a boat" }))
}

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
        assert_eq!(shop.files().digests(), [digest]);
        // Arguments in another order are the same.
        let same = ToolCall::new("1", "sell", r#"{ "price": 7, "what": "it" }"#);
        assert_eq!(shop.made_again(same).await, 0);
    }
    // Arguments that are no JSON as they stand.
    let fenced = |price: u32| {
        ToolCall::new("1", "sell", format!("```json\n{{ \"what\": \"it\", \"price\": {price} }}\n```"))
    };
    let shop = Shop::new();
    let digest = shop.dropped_while_it_asks(fenced(7)).await;
    shop.files().answer(&digest, &Answer::allow());
    assert_eq!((shop.made_again(fenced(8)).await, shop.made_again(fenced(7)).await), (1, 0));
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
        assert_eq!((shop.files().digests(), shop.done.lines()), (vec![digest], Vec::new()));
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
async fn a_cancelled_call_leaves_no_question() {
    let shop = Shop::new();
    let (files, asked, token) = (shop.files(), Arc::new(Notify::new()), CancellationToken::new());
    let toolkit = shop.toolkit(&files, silent(&asked));
    let toolbox = toolkit.toolbox(&caller()).await;
    let call = toolbox.call_with(a_boat(), CallOptions::new().cancel(token.clone()));
    let (result, ()) = tokio::join!(call, async {
        asked.notified().await;
        assert_eq!(files.digests().len(), 1);
        token.cancel();
    });
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Aborted);
    assert_eq!((files.digests(), shop.done.lines()), (vec![], vec![]));
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
