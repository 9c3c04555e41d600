//! A shop whose tools ask, with a store of questions on the disk.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::Notify;
use toolkit::approval::{
    Answer, AskStore, AskingCall, CallbackApprover, Keeping, KeptAnswer, PendingAsk, Reply, ScriptedApprover,
};
use toolkit::prelude::*;
use toolkit::{Approver, Ask, Builder, tool_ref};

/// A store of one file for each question. Programs that use one directory one after the other share it.
pub(super) struct Files {
    directory: PathBuf,
    changed: Notify,
    pub(super) is_full: AtomicBool,
    /// True if another call takes each answer first.
    pub(super) is_late: AtomicBool,
    /// True if each removal takes its time.
    pub(super) is_slow: AtomicBool,
}

impl Files {
    pub(super) fn new(directory: &Path) -> Arc<Self> {
        let directory = directory.to_owned();
        Arc::new(Self {
            directory,
            changed: Notify::new(),
            is_full: AtomicBool::new(false),
            is_late: AtomicBool::new(false),
            is_slow: AtomicBool::new(false),
        })
    }

    pub(super) fn path(&self, digest: &str) -> PathBuf {
        self.directory.join(format!("{digest}.json"))
    }

    pub(super) fn read(&self, digest: &str) -> Option<Value> {
        let text = fs::read_to_string(self.path(digest)).ok()?;
        Some(serde_json::from_str(&text).unwrap())
    }

    pub(super) fn write(&self, digest: &str, row: &Value) -> Result<(), String> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err("the disk is full".to_owned());
        }
        let file = tempfile::NamedTempFile::new_in(&self.directory).map_err(|error| error.to_string())?;
        fs::write(file.path(), row.to_string()).map_err(|error| error.to_string())?;
        file.as_file().sync_all().map_err(|error| error.to_string())?;
        file.persist(self.path(digest)).map_err(|error| error.to_string())?;
        Ok(())
    }

    pub(super) fn kept_answer(&self, digest: &str) -> Option<KeptAnswer> {
        let row = self.read(digest)?;
        let answer: Answer = serde_json::from_value(row.get("answer")?.clone()).unwrap();
        let at = UNIX_EPOCH + Duration::from_millis(row["at"].as_u64().unwrap());
        let reply = Reply::new(answer);
        let reply = row["by"].as_str().map_or(reply.clone(), |by| reply.by(by));
        Some(KeptAnswer::new(reply, at))
    }

    /// The question of a digest.
    pub(super) fn ask(&self, digest: &str) -> Option<PendingAsk> {
        Some(serde_json::from_value(self.read(digest)?["ask"].clone()).unwrap())
    }

    async fn take_time(&self) {
        if self.is_slow.load(Ordering::SeqCst) {
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
        }
    }

    /// The digests of the questions.
    pub(super) fn digests(&self) -> Vec<String> {
        let names = fs::read_dir(&self.directory).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut digests: Vec<String> =
            names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect();
        digests.sort_unstable();
        digests
    }

    /// Answers a question, as a person does who need not know of any call that waits.
    pub(super) fn answer(&self, digest: &str, answer: &Answer) {
        self.answer_at(digest, answer, SystemTime::now());
    }

    pub(super) fn answer_at(&self, digest: &str, answer: &Answer, at: SystemTime) {
        let mut row = self.read(digest).unwrap();
        (row["answer"], row["by"]) = (serde_json::to_value(answer).unwrap(), "ada".into());
        row["at"] = milliseconds(at).into();
        self.write(digest, &row).unwrap();
        self.changed.notify_waiters();
    }
}

impl AskStore for Files {
    fn get<'a>(&'a self, digest: &'a str) -> Keeping<'a, Option<PendingAsk>> {
        Box::pin(async move { Ok(self.ask(digest)) })
    }

    fn put<'a>(&'a self, digest: &'a str, ask: &'a PendingAsk) -> Keeping<'a, Option<KeptAnswer>> {
        Box::pin(async move {
            let mut row = self.read(digest).unwrap_or_else(|| json!({}));
            row["ask"] = serde_json::to_value(ask).unwrap();
            self.write(digest, &row)?;
            Ok(self.kept_answer(digest))
        })
    }

    fn put_answered<'a>(
        &'a self,
        digest: &'a str,
        ask: &'a PendingAsk,
        answer: &'a KeptAnswer,
    ) -> Keeping<'a, ()> {
        Box::pin(async move {
            let KeptAnswer { reply, at, .. } = answer;
            let row = json!({ "ask": ask, "answer": reply.answer, "by": reply.answered_by, "at": milliseconds(*at) });
            self.write(digest, &row)
        })
    }

    fn answered<'a>(&'a self, digest: &'a str) -> Keeping<'a, KeptAnswer> {
        Box::pin(async move {
            loop {
                let changed = self.changed.notified();
                if let Some(answer) = self.kept_answer(digest) {
                    return Ok(answer);
                }
                changed.await;
            }
        })
    }

    fn remove<'a>(&'a self, digest: &'a str) -> Keeping<'a, bool> {
        Box::pin(async move {
            self.take_time().await;
            let was_there = fs::remove_file(self.path(digest)).is_ok();
            Ok(was_there && !self.is_late.load(Ordering::SeqCst))
        })
    }

    fn remove_call<'a>(&'a self, call: &'a AskingCall, before: Option<SystemTime>) -> Keeping<'a, ()> {
        Box::pin(async move {
            self.take_time().await;
            for digest in self.digests() {
                let Some(ask) = self.ask(&digest) else { continue };
                let is_before = before.is_none_or(|before| ask.asked_at() < before);
                if call.is_origin(ask.origin()) && is_before {
                    fs::remove_file(self.path(&digest)).map_err(|error| error.to_string())?;
                }
            }
            Ok(())
        })
    }
}

fn milliseconds(time: SystemTime) -> u64 {
    u64::try_from(time.duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// The lines that the functions wrote.
#[derive(Default)]
pub(super) struct Done {
    pub(super) lines: Mutex<Vec<String>>,
    /// True if `trade` asks about the second thing alone.
    pub(super) skips_first: AtomicBool,
}

impl Done {
    pub(super) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

/// Buys something: the runtime asks before each call.
#[tool]
pub(super) async fn buy(done: State<Done>, what: String) -> String {
    done.lines.lock().unwrap().push(what.clone());
    format!("bought {what}")
}

/// Sells something, and asks before it acts.
#[tool(asks)]
pub(super) async fn sell(
    ctx: &ToolContext,
    done: State<Done>,
    what: String,
    price: u32,
) -> Result<String, ToolError> {
    let ask = Ask::new("sell", "sell it").with_pattern(&what).with_text("the price", price.to_string());
    ctx.ask(ask.before_acting()).await?;
    done.lines.lock().unwrap().push(format!("{what} for {price}"));
    Ok(format!("sold {what}"))
}

/// Trades one thing for another: asks about both before it acts.
#[tool(asks)]
async fn trade(
    ctx: &ToolContext,
    done: State<Done>,
    one: String,
    other: String,
) -> Result<String, ToolError> {
    let skipped = usize::from(done.skips_first.load(Ordering::SeqCst));
    for what in [&one, &other].into_iter().skip(skipped) {
        ctx.ask(Ask::new("trade", "trade it").with_pattern(what).before_acting()).await?;
    }
    done.lines.lock().unwrap().push(format!("{one} for {other}"));
    if one == "an end" {
        std::future::pending::<()>().await;
    }
    Ok("traded".to_owned())
}

/// Does something, and asks then.
#[tool(asks)]
pub(super) async fn acts_first(ctx: &ToolContext, done: State<Done>) -> Result<(), ToolError> {
    done.lines.lock().unwrap().push("acted".to_owned());
    ctx.ask(Ask::new("sell", "go on").with_pattern("x")).await
}

/// Calls another tool.
#[tool(auto_execute)]
pub(super) async fn calls_buy(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(ctx.call("buy", json!({ "what": "a car" })).await?.to_text())
}

pub(super) struct Shop {
    pub(super) directory: tempfile::TempDir,
    pub(super) done: Arc<Done>,
}

impl Shop {
    pub(super) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), done: Arc::default() }
    }

    pub(super) fn files(&self) -> Arc<Files> {
        Files::new(self.directory.path())
    }

    pub(super) fn toolkit(&self, files: &Arc<Files>, approver: impl Approver) -> Toolkit {
        toolkit(Arc::clone(files) as Arc<dyn AskStore>, Arc::clone(&self.done), approver)
    }

    /// Makes a call until it waits for an answer, and drops it with its toolkit. Returns the digest of its question.
    pub(super) async fn dropped_while_it_asks(&self, call: ToolCall) -> String {
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
    pub(super) async fn made_again(&self, call: ToolCall) -> usize {
        let approver = Arc::new(ScriptedApprover::always(Answer::allow()));
        let toolkit = self.toolkit(&self.files(), Arc::clone(&approver));
        let result = make(&toolkit, call).await;
        assert!(!result.is_error(), "{}", result.text());
        approver.asked().len()
    }
}

pub(super) fn toolkit(store: Arc<dyn AskStore>, done: Arc<Done>, approver: impl Approver) -> Toolkit {
    builder(store, done, approver).build().unwrap()
}

pub(super) fn builder(store: Arc<dyn AskStore>, done: Arc<Done>, approver: impl Approver) -> Builder {
    Toolkit::empty()
        .tools([
            tool_ref!(buy),
            tool_ref!(sell),
            tool_ref!(trade),
            tool_ref!(acts_first),
            tool_ref!(calls_buy),
        ])
        .shared_service(done)
        .approver(approver)
        .ask_store(store)
}

pub(super) fn silent(asked: &Arc<Notify>) -> CallbackApprover {
    let asked = Arc::clone(asked);
    CallbackApprover::new(move |_| {
        asked.notify_one();
        None
    })
}

pub(super) fn caller() -> Caller {
    Caller::new().with_session("s").with_agent("ada")
}

pub(super) async fn make(toolkit: &Toolkit, call: ToolCall) -> ToolResult {
    toolkit.toolbox(&caller()).await.call(call).await
}

pub(super) fn a_boat() -> ToolCall {
    ToolCall::new("1", "buy", json!({ "what": "a boat" }))
}
