//! Calls that waited for a person when the program ended: they begin again with the same tool alone, and an answer is one to the question
//! that was asked.

use crate::common::{call, finish, results, scripted, transcripts};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::sync::Notify;
use toolkit::approval::{
    Answer as Approval, Answering, AskStore, AskingCall, Keeping, KeptAnswer, PendingAsk, Reply,
    ScriptedApprover,
};
use toolkit::prelude::*;
use toolkit::{Approver, Ask, CancellationToken, Tool, tool_ref};
use toolkit_agent::{
    Agent, AgentBuilder, ConversationOptions, Conversations, DelegationRequest, IncomingMessage, Limits,
    Mode, Retention, RunOptions, StopReason, ToolAgentSettings, Transcripts,
};
use toolkit_models::{Answer, Scripted};

#[derive(Default)]
struct Done {
    bought: Mutex<Vec<String>>,
}

/// Has a price that can change.
#[derive(Default)]
struct Price {
    now: AtomicU32,
}

/// Buys something at its price.
#[tool(asks)]
async fn buy_at_price(
    ctx: &ToolContext,
    done: State<Done>,
    price: State<Price>,
    what: String,
) -> Result<String, ToolError> {
    let price = price.now.load(Ordering::SeqCst);
    let ask = Ask::new("buy", "buy it").with_pattern(&what).with_text("the price", price.to_string());
    ctx.ask(ask.before_acting()).await?;
    done.bought.lock().unwrap().push(what);
    Ok(format!("bought for {price}"))
}

/// Buys two things, and asks about each before it buys any.
#[tool(asks)]
async fn buy_two(
    ctx: &ToolContext,
    done: State<Done>,
    what: String,
    more: String,
) -> Result<String, ToolError> {
    for what in [&what, &more] {
        ctx.ask(Ask::new("buy", "buy it").with_pattern(what).before_acting()).await?;
    }
    done.bought.lock().unwrap().extend([what, more]);
    Ok("bought both".to_owned())
}

/// The tool `buy` that the second program has.
#[derive(Clone, Copy, PartialEq)]
enum Second {
    Same,
    Other,
    /// It is the same, but needs no approval any more, and does not end.
    Unasked,
    None,
}

/// An approver that never answers.
#[derive(Default)]
struct Silent(Notify);

impl Approver for Silent {
    fn ask<'a>(&'a self, _ask: &'a PendingAsk) -> Answering<'a> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

/// The questions that outlive a program, with their answers.
#[derive(Default)]
struct Kept {
    rows: Mutex<BTreeMap<String, (PendingAsk, Option<KeptAnswer>)>>,
    /// True if a removal takes longer than calls that were cancelled may take.
    is_slow: AtomicBool,
    /// True if a question is looked for without end.
    hangs: AtomicBool,
    /// Told when that is the case.
    is_hanging: Notify,
}

impl Kept {
    fn len(&self) -> usize {
        self.rows.lock().unwrap().len()
    }

    /// Allows everything that waits, as a person may while no program runs.
    fn allow(&self) {
        for (_, answer) in self.rows.lock().unwrap().values_mut() {
            *answer = Some(KeptAnswer::new(Reply::new(Approval::allow()).by("ada"), SystemTime::now()));
        }
    }
}

impl AskStore for Kept {
    fn get<'a>(&'a self, digest: &'a str) -> Keeping<'a, Option<PendingAsk>> {
        let row = self.rows.lock().unwrap().get(digest).map(|(ask, _)| ask.clone());
        if self.hangs.load(Ordering::SeqCst) {
            self.is_hanging.notify_one();
            return Box::pin(std::future::pending());
        }
        Box::pin(async { Ok(row) })
    }

    fn put<'a>(&'a self, digest: &'a str, ask: &'a PendingAsk) -> Keeping<'a, Option<KeptAnswer>> {
        let mut rows = self.rows.lock().unwrap();
        let row = rows.entry(digest.to_owned()).or_insert_with(|| (ask.clone(), None));
        row.0 = ask.clone();
        let answer = row.1.clone();
        Box::pin(async { Ok(answer) })
    }

    fn put_answered<'a>(
        &'a self,
        digest: &'a str,
        ask: &'a PendingAsk,
        answer: &'a KeptAnswer,
    ) -> Keeping<'a, ()> {
        self.rows.lock().unwrap().insert(digest.to_owned(), (ask.clone(), Some(answer.clone())));
        Box::pin(async { Ok(()) })
    }

    fn answered<'a>(&'a self, _digest: &'a str) -> Keeping<'a, KeptAnswer> {
        Box::pin(std::future::pending())
    }

    fn remove<'a>(&'a self, digest: &'a str) -> Keeping<'a, bool> {
        let was_there = self.rows.lock().unwrap().remove(digest).is_some();
        Box::pin(async move { Ok(was_there) })
    }

    fn remove_call<'a>(&'a self, call: &'a AskingCall, before: Option<SystemTime>) -> Keeping<'a, ()> {
        Box::pin(async move {
            if self.is_slow.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(400)).await;
            }
            self.rows.lock().unwrap().retain(|_, (ask, _)| {
                let is_later = before.is_some_and(|before| ask.asked_at() >= before);
                is_later || !call.is_origin(ask.origin())
            });
            Ok(())
        })
    }
}

struct Shop {
    _directory: tempfile::TempDir,
    transcripts: Transcripts,
    done: Arc<Done>,
    price: Arc<Price>,
    kept: Arc<Kept>,
}

impl Shop {
    fn new() -> Self {
        let (directory, transcripts) = transcripts();
        Self {
            _directory: directory,
            transcripts,
            done: Arc::default(),
            price: Arc::default(),
            kept: Arc::default(),
        }
    }

    fn agent(&self, buy: Second, model: &Arc<Scripted>, approver: impl Approver) -> Agent {
        self.builder(buy, model).approver(approver).build()
    }

    fn builder(&self, buy: Second, model: &Arc<Scripted>) -> AgentBuilder {
        let mut builder = Toolkit::empty()
            .shared_service(Arc::clone(&self.done))
            .shared_service(Arc::clone(&self.price))
            .ask_store(Arc::clone(&self.kept) as Arc<dyn AskStore>)
            .tool(tool_ref!(buy_at_price))
            .tool(tool_ref!(buy_two));
        if buy != Second::None {
            let does =
                if buy == Second::Other { "Buys something, and sends it away." } else { "Buys something." };
            let done = Arc::clone(&self.done);
            let tool = Tool::builder("buy").description(does).input_schema(json!({
                "type": "object",
                "properties": {"what": {"type": "string"}},
            }));
            let tool = if buy == Second::Unasked { tool.auto_execute() } else { tool };
            let tool = tool.build(move |_, _| {
                done.bought.lock().unwrap().push("a boat".to_owned());
                async move {
                    if buy == Second::Unasked {
                        std::future::pending::<()>().await;
                    }
                    "bought"
                }
            });
            builder = builder.tool(tool.unwrap());
        }
        Agent::builder(builder.build().unwrap(), Arc::clone(model))
            .limits(Limits::none())
            .transcripts(self.transcripts.clone())
    }

    /// Runs until a call waits for an answer, and is gone then, as if the program had been killed.
    async fn killed_while_it_asks(&self, tool: &str) -> String {
        self.killed_with(DelegationRequest::new("buy a boat"), tool).await
    }

    /// The same in a session of the toolkit that has a name.
    async fn killed_in(&self, session: &str, tool: &str) -> String {
        let mut request = DelegationRequest::new("buy a boat");
        request.session_id = Some(session.to_owned());
        self.killed_with(request, tool).await
    }

    async fn killed_with(&self, request: DelegationRequest, tool: &str) -> String {
        let silent = Arc::new(Silent::default());
        let model = scripted([Answer::calls([call("1", tool, json!({"what": "a boat"}))])]);
        let agent = self.agent(Second::Same, &model, Arc::clone(&silent) as Arc<dyn Approver>);
        let mut session = agent.session(&request).unwrap();
        tokio::select! {
            result = session.run(request, RunOptions::new()) => panic!("{result:?}"),
            () = silent.0.notified() => {}
        }
        session.id().to_owned()
    }

    /// Goes on with it, and returns what the model read as the result, and how often the person was asked.
    async fn go_on(&self, id: &str, buy: Second) -> ((String, String, bool), usize) {
        let approver = Arc::new(ScriptedApprover::new([Approval::allow(), Approval::allow()]));
        let model = scripted([finish("done")]);
        let agent = self.agent(buy, &model, Arc::clone(&approver) as Arc<dyn Approver>);
        let mut session = agent.resume(id).unwrap();
        let result = session.go_on(RunOptions::new()).await;
        assert!(result.success, "{result:?}");
        let mut results = results(&model.requests()[0].messages);
        assert_eq!(results.len(), 1);
        (results.remove(0), approver.asked().len())
    }

    fn done(&self) -> Vec<String> {
        self.done.bought.lock().unwrap().clone()
    }

    /// The lines of a kind.
    fn lines(&self, id: &str, kind: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.transcripts.directory().join(format!("{id}.jsonl"))).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["record"] == kind).collect()
    }
}

#[tokio::test]
async fn an_unanswered_question_is_asked_again_and_is_the_same() {
    for tool in ["buy", "buy_at_price"] {
        let shop = Shop::new();
        let id = shop.killed_while_it_asks(tool).await;
        assert_eq!(shop.done(), [""; 0]);
        let (result, asked) = shop.go_on(&id, Second::Same).await;
        assert!(!result.2 && result.1.contains("bought"), "{result:?}");
        assert_eq!((asked, shop.done()), (1, vec!["a boat".to_owned()]));
        let lines = shop.lines(&id, "asked");
        assert_eq!(lines.len(), 2);
        assert_eq!((&lines[0]["digest"], &lines[0]["tool"]), (&lines[1]["digest"], &lines[1]["tool"]));
        assert_eq!(lines[1].get("insteadOf"), None, "{lines:?}");
    }
}

/// Goes on with a conversation until something is so, and drops it then, as if the program had been killed.
async fn killed_when(shop: &Shop, id: &str, buy: Second, is_so: impl Future<Output = ()>) {
    let agent = shop.agent(buy, &scripted([finish("unread")]), ScriptedApprover::new([]));
    let mut session = agent.resume(id).unwrap();
    tokio::select! {
        result = session.go_on(RunOptions::new()) => panic!("{result:?}"),
        () = is_so => {}
    }
}

#[tokio::test]
async fn a_question_is_asked_again_however_often_the_program_ends_before_it_is() {
    let shop = Shop::new();
    let id = shop.killed_while_it_asks("buy").await;
    shop.kept.allow();
    shop.kept.hangs.store(true, Ordering::SeqCst);
    for _ in 0..3 {
        killed_when(&shop, &id, Second::Same, shop.kept.is_hanging.notified()).await;
        assert_eq!((shop.done(), shop.kept.len()), (Vec::new(), 1));
    }
    shop.kept.hangs.store(false, Ordering::SeqCst);
    // The answer that was given meanwhile decides it.
    let (result, asked) = shop.go_on(&id, Second::Same).await;
    assert!(!result.2 && result.1.contains("bought"), "{result:?}");
    assert_eq!((asked, shop.done(), shop.kept.len()), (0, vec!["a boat".to_owned()], 0));
}

#[tokio::test]
async fn a_call_that_began_again_without_its_question_is_not_repeated() {
    let shop = Shop::new();
    let id = shop.killed_while_it_asks("buy").await;
    let acted = async {
        while shop.done().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    killed_when(&shop, &id, Second::Unasked, acted).await;
    assert_eq!(shop.lines(&id, "started").len(), 2);
    let (result, asked) = shop.go_on(&id, Second::Same).await;
    assert!(result.2 && result.1.contains("while the call ran"), "{result:?}");
    assert_eq!((asked, shop.done().len(), shop.kept.len()), (0, 1, 0));
}

/// Another conversation of the same session has a call with the same id and arguments.
#[tokio::test]
async fn an_answer_is_for_the_conversation_that_asked() {
    let shop = Shop::new();
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(shop.killed_in("shared", "buy").await);
    }
    assert_eq!(shop.kept.len(), 2);
    shop.kept.allow();
    for (id, left) in ids.iter().zip([1, 0]) {
        let (result, asked) = shop.go_on(id, Second::Same).await;
        assert!(!result.2 && result.1.contains("bought"), "{result:?}");
        assert_eq!((asked, shop.kept.len()), (0, left));
    }
    assert_eq!(shop.done().len(), 2);
}

/// The configuration may say that every question is answered with yes, but this one a person was asked.
#[tokio::test]
async fn a_question_that_waited_is_not_answered_by_a_setting() {
    let shop = Shop::new();
    let id = shop.killed_while_it_asks("buy").await;
    let approver = Arc::new(ScriptedApprover::new([Approval::deny(), Approval::deny()]));
    let mut settings = ToolAgentSettings::default();
    settings.auto_confirm_dangerous = true;
    let confirming = |approver: &Arc<ScriptedApprover>| {
        let agent = shop.builder(Second::Same, &scripted([finish("done")]));
        agent.approver(Arc::clone(approver) as Arc<dyn Approver>).settings(&settings).build()
    };
    let conversations = Conversations::new();
    let open = |session| conversations.open("c", session, ConversationOptions::new().resumes(false)).unwrap();
    let conversation = open(confirming(&approver).resume(&id).unwrap());
    assert_eq!((conversation.mode(), conversation.modes().len()), (Mode::Ask, 3));
    let ended = conversation.send(IncomingMessage::new("a", "go on")).unwrap().ended();
    assert!(crate::conversations::in_time(ended).await.is_some());
    assert_eq!((approver.asked().len(), shop.done()), (1, Vec::new()));
    conversations.end_all().await;
    // Without such a question, the setting holds.
    let conversation = open(confirming(&approver).resume(&id).unwrap());
    assert_eq!(conversation.mode(), Mode::Auto);
    conversations.end_all().await;
}

#[tokio::test]
async fn a_conversation_with_an_unanswered_question_is_not_cleaned_up() {
    let shop = Shop::new();
    let id = shop.killed_while_it_asks("buy").await;
    let none = Retention::new().max_count(0);
    let cleaned = shop.transcripts.clean_up(&none);
    assert_eq!((cleaned.removed, cleaned.waiting, cleaned.left), (Vec::new(), vec![id.clone()], 1));
    shop.go_on(&id, Second::Same).await;
    // A host has a message for it.
    let cleaned = shop.transcripts.clean_up_except(&none, |other| other == id);
    assert_eq!((cleaned.removed, cleaned.waiting), (Vec::new(), vec![id.clone()]));
    assert_eq!(shop.transcripts.clean_up(&none).removed[0].id, id);
}

#[tokio::test]
async fn an_answer_that_was_kept_while_no_program_ran_decides_the_call_that_begins_again() {
    for (tool, new_price, asked_again) in [("buy", 0, 0), ("buy_at_price", 0, 0), ("buy_at_price", 1_000, 1)]
    {
        let shop = Shop::new();
        let id = shop.killed_while_it_asks(tool).await;
        shop.price.now.store(new_price, Ordering::SeqCst);
        assert_eq!(shop.kept.len(), 1);
        shop.kept.allow();
        let (result, asked) = shop.go_on(&id, Second::Same).await;
        assert!(!result.2 && result.1.contains("bought"), "{result:?}");
        assert_eq!((asked, shop.done()), (asked_again, vec!["a boat".to_owned()]));
        assert_eq!(shop.lines(&id, "allowed").len(), 1);
        // The answer to the question that changed decides nothing, and goes with the call.
        assert_eq!(shop.kept.len(), 0);
    }
}

#[tokio::test]
async fn a_call_whose_tool_changed_is_not_begun_again() {
    for second in [Second::Other, Second::None] {
        let shop = Shop::new();
        let id = shop.killed_while_it_asks("buy").await;
        let (result, asked) = shop.go_on(&id, second).await;
        assert!(result.2 && result.1.contains("`buy` is not the same tool any more"), "{result:?}");
        assert_eq!((asked, shop.done()), (0, Vec::new()));
        assert_eq!((shop.lines(&id, "started").len(), shop.kept.len()), (1, 0));
    }
}

#[tokio::test]
async fn a_question_that_changed_is_asked_anew_and_recorded_as_another() {
    let shop = Shop::new();
    let id = shop.killed_while_it_asks("buy_at_price").await;
    shop.price.now.store(1_000, Ordering::SeqCst);
    let (result, asked) = shop.go_on(&id, Second::Same).await;
    assert_eq!((&*result.1, asked), ("bought for 1000", 1));
    let lines = shop.lines(&id, "asked");
    assert_ne!(lines[0]["digest"], lines[1]["digest"]);
    assert_eq!(lines[1]["insteadOf"], lines[0]["digest"]);
    assert_eq!(shop.lines(&id, "allowed").len(), 1);
}

#[tokio::test]
async fn a_question_of_an_interrupted_conversation_is_answered_while_it_rests() {
    let shop = Shop::new();
    let silent = Arc::new(Silent::default());
    let model = scripted([Answer::calls([call("1", "buy", json!({"what": "a boat"}))])]);
    let agent = shop.agent(Second::Same, &model, Arc::clone(&silent) as Arc<dyn Approver>);
    let request = DelegationRequest::new("buy a boat");
    let session = agent.session(&request).unwrap();
    let id = session.id().to_owned();
    let conversations = Conversations::new();
    let conversation = conversations.open("c", session, ConversationOptions::new()).unwrap();
    conversation.send(IncomingMessage::new("a", "buy a boat")).unwrap();
    silent.0.notified().await;
    assert!(conversation.interrupt());
    conversations.end_all().await;
    assert_eq!(shop.kept.len(), 1);
    shop.kept.allow();
    let (result, asked) = shop.go_on(&id, Second::Same).await;
    assert!(!result.2 && result.1.contains("bought"), "{result:?}");
    assert_eq!((asked, shop.done(), shop.kept.len()), (0, vec!["a boat".to_owned()], 0));
}

#[tokio::test]
async fn a_cancelled_run_leaves_no_question_however_slow_the_store_is() {
    let shop = Shop::new();
    shop.kept.is_slow.store(true, Ordering::SeqCst);
    let silent = Arc::new(Silent::default());
    let model = scripted([Answer::calls([call("1", "buy", json!({"what": "a boat"}))])]);
    let agent = shop.agent(Second::Same, &model, Arc::clone(&silent) as Arc<dyn Approver>);
    let request = DelegationRequest::new("buy a boat");
    let mut session = agent.session(&request).unwrap();
    let cancel = CancellationToken::new();
    let (result, ()) = tokio::join!(session.run(request, RunOptions::new().cancel(cancel.clone())), async {
        silent.0.notified().await;
        assert_eq!(shop.kept.len(), 1);
        cancel.cancel();
    });
    assert_eq!((result.stop_reason, shop.kept.len()), (StopReason::Cancelled, 0));
}

#[tokio::test]
async fn a_call_with_two_questions_waits_for_the_second_one_after_a_crash() {
    let shop = Shop::new();
    let approver = Arc::new(SecondIsOpen::default());
    let both = json!({"what": "a boat", "more": "a car"});
    let model = scripted([Answer::calls([call("1", "buy_two", both)])]);
    let agent = shop.agent(Second::Same, &model, Arc::clone(&approver) as Arc<dyn Approver>);
    let request = DelegationRequest::new("buy both");
    let mut session = agent.session(&request).unwrap();
    tokio::select! {
        result = session.run(request, RunOptions::new()) => panic!("{result:?}"),
        () = approver.0.notified() => {}
    }
    let id = session.id().to_owned();
    drop(session);
    assert_eq!((shop.done().len(), shop.kept.len()), (0, 2));
    let (result, asked) = shop.go_on(&id, Second::Same).await;
    assert_eq!((&*result.1, asked, shop.kept.len()), ("bought both", 1, 0));
    assert_eq!(shop.done(), ["a boat", "a car"]);
}

/// An approver that allows the first question alone.
#[derive(Default)]
struct SecondIsOpen(Notify);

impl Approver for SecondIsOpen {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        if serde_json::to_string(ask.question()).unwrap().contains("a boat") {
            return Box::pin(async { Some(Approval::allow().into()) });
        }
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

/// The transcript of a conversation that waits is damaged: the fork in which it goes on gives the call its result.
#[tokio::test]
async fn a_fork_before_damage_leaves_no_question() {
    let shop = Shop::new();
    let id = shop.killed_while_it_asks("buy").await;
    let path = shop.transcripts.directory().join(format!("{id}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap();
    // Behind the line of the question, so that the damage is not the end that a crash cut off.
    std::fs::write(&path, format!("{text}damaged\n{}\n", text.lines().last().unwrap())).unwrap();
    let agent = shop.agent(Second::Same, &scripted([finish("done")]), ScriptedApprover::new([]));
    let mut session = agent.resume_or_fork(&id).unwrap();
    assert!(session.damage().is_some());
    session.go_on(RunOptions::new()).await;
    assert_eq!((shop.done().len(), shop.kept.len()), (0, 0));
}
