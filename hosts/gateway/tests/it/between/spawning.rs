//! Sessions of sub-agents.

use serde_json::{Value, json};
use toolkit::{CallOptions, Caller, ToolCall};
use toolkit_gateway::{
    BudgetSettings, CancelOutcome, DeliveryState, JobFilter, MessageKind, NewMessage, PeerKind, Role,
    RunState, SessionFilter, SessionKey, SessionKind, SessionRecord, caller_in,
};

use super::{Bench, call, contents, key, person};
use crate::agents::{in_time, until};
use crate::common::target;

fn spawn(arguments: &Value) -> String {
    call("sessions_spawn", arguments)
}

impl Bench {
    async fn subs(&self) -> Vec<SessionRecord> {
        let filter = SessionFilter { kinds: vec![SessionKind::Sub], ..SessionFilter::default() };
        self.store().sessions(filter).await.unwrap()
    }

    /// The answers that a session gave to results of its sub-agents.
    async fn answers_to_results(&self, key: &SessionKey) -> Vec<String> {
        let sent = self.store().deliveries(DeliveryState::Prepared, 1_000).await.unwrap();
        let to_key = sent.iter().rev().filter(|part| part.target == target(key.as_str()));
        let texts = to_key.map(|part| part.body["text"].as_str().unwrap().to_owned());
        texts.filter(|text| text.contains("ub-agent `")).collect()
    }
}

#[tokio::test]
async fn a_result_arrives_as_a_message_of_the_session_above() {
    let bench = Bench::new(1).await;
    let task = json!({ "prompt": "plain task", "label": "helper", "thinking": "low", "model": "large", "runTimeoutSeconds": 600 });
    let answer = bench.answer(&person("ada"), spawn(&task)).await;
    bench.quiet().await;
    let subs = bench.subs().await;
    assert_eq!(subs.len(), 1);
    let sub = &subs[0];
    assert!(answer.contains(sub.key.as_str()), "{answer}");
    assert_eq!((sub.parent.as_ref(), sub.person.as_deref()), (Some(&person("ada")), Some("ada")));
    assert_eq!((sub.label.as_deref(), sub.model.as_deref()), (Some("helper"), Some("large")));
    assert_eq!(
        (sub.thinking.as_deref(), sub.agents_above.as_slice()),
        (Some("low"), ["main".to_owned()].as_slice())
    );
    let answers = bench.answers_to_results(&person("ada")).await;
    let [answer] = answers.as_slice() else { panic!("{answers:?}") };
    let head = format!("answer to Result of the sub-agent `{}` (helper):\n\n", sub.key);
    let enclosed = answer.strip_prefix(&head).unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(contents(enclosed), "answer to plain task");
    assert!(enclosed.contains("a sub-agent in another session") && enclosed.contains("not from the user"));
}

#[tokio::test]
async fn a_result_says_why_there_is_none() {
    let bench = Bench::new(2).await;
    let held = call("hold", &json!({ "id": "x" }));
    bench.answer(&key("main"), spawn(&json!({ "prompt": held, "runTimeoutSeconds": 1 }))).await;
    bench.quiet().await;
    let answers = bench.answers_to_results(&key("main")).await;
    assert!(answers[0].contains("the run took longer than its limit of 1 s"), "{answers:?}");
    bench.answer(&key("main"), spawn(&json!({ "prompt": held }))).await;
    until(bench.store(), || async { bench.subs().await.iter().any(|sub| sub.is_running) }).await;
    let sub = bench.subs().await.into_iter().find(|sub| sub.is_running).unwrap().key;
    assert!(bench.sessions.cancel(sub.clone()).await.unwrap());
    bench.quiet().await;
    let answers = bench.answers_to_results(&key("main")).await;
    assert!(answers[1].contains(&format!("`{sub}` was cancelled")), "{answers:?}");
}

#[tokio::test]
async fn children_and_depth_are_bounded() {
    let bench = Bench::new(4).await;
    bench.set(|settings| (settings.max_children, settings.max_depth) = (1, 1));
    let held = call("hold", &json!({ "id": "x" }));
    let two = [spawn(&json!({ "prompt": held })), spawn(&json!({ "prompt": "plain" }))].join("\n");
    let answer = bench.answer(&key("main"), two).await;
    assert!(answer.contains("1 sub-agents of this session are at work"), "{answer}");
    bench.ledger.released.cancel();
    bench.quiet().await;
    bench.answer(&key("main"), spawn(&json!({ "prompt": spawn(&json!({ "prompt": "plain" })) }))).await;
    bench.quiet().await;
    let answers = bench.answers_to_results(&key("main")).await;
    assert!(answers[1].contains("this session cannot begin sub-agents: the limit is 1"), "{answers:?}");
    assert_eq!(bench.subs().await.len(), 2);
}

#[tokio::test]
async fn a_result_goes_up_each_level() {
    let bench = Bench::new(2).await;
    bench.answer(&key("main"), spawn(&json!({ "prompt": spawn(&json!({ "prompt": "plain deep" })) }))).await;
    bench.quiet().await;
    let answers = bench.answers_to_results(&key("main")).await;
    assert_eq!(answers.len(), 2, "of its own run, and of that on the result below: {answers:?}");
    assert!(answers[1].contains("plain deep"), "{answers:?}");
    assert_eq!(bench.subs().await.iter().map(|sub| sub.agents_above.len()).max(), Some(2));
    assert!(bench.subs().await.iter().all(|sub| sub.person.as_deref() == Some("owner")));
}

#[tokio::test]
async fn a_session_that_a_delegate_begins_stands_below_the_agent_of_the_delegate() {
    let bench = Bench::new(1).await;
    let spawn = async |caller: &Caller, agent: &str| {
        let toolbox = bench.toolkit.toolbox(caller).await;
        let task = json!({ "prompt": "plain task", "agentId": agent });
        let result = toolbox.call(ToolCall::new("1", "sessions_spawn", task)).await.outcome.unwrap();
        let key = result.details.unwrap()["sessionKey"].as_str().unwrap().parse().unwrap();
        bench.quiet().await;
        bench.store().session(key).await.unwrap().unwrap()
    };
    let caller = Caller::new().with_session("s").with_agent("main");
    let delegate = |caller: &Caller, agent: &str| caller.delegated().with_agent(agent).with_session("d");
    let main = caller_in(caller, &key("main"));
    assert_eq!(spawn(&main, "other").await.agents_above, ["main"]);
    // A delegate without a name of its own is the same agent, with the limits of sub-agents.
    assert_eq!(spawn(&main.delegated().with_session("d"), "other").await.agents_above, ["main", "main"]);
    let kid = delegate(&main, "kid");
    let sub = spawn(&delegate(&kid, "toddler"), "main").await;
    assert_eq!(sub.agents_above, ["toddler", "kid", "main"]);
    // The chain of the new session is no chain of delegates.
    let below = delegate(&delegate(&kid, "toddler"), "main");
    let of_sub = caller_in(below, &sub.key);
    let deep = spawn(&delegate(&of_sub, "nephew"), "other").await;
    assert_eq!(deep.agents_above, ["nephew", "main", "toddler", "kid", "main"]);
    bench.set(|settings| settings.max_depth = 3);
    let deeper = spawn(&caller_in(Caller::new().with_session("s"), &deep.key), "other").await;
    assert_eq!(deeper.agents_above, ["other", "nephew", "main", "toddler", "kid", "main"]);
}

#[tokio::test]
async fn a_job_of_a_sub_agent_stands_below_it() {
    let bench = Bench::new(1).await;
    let sub = SessionKey::sub("other", "1").unwrap();
    let beside = SessionKey::sub("other", "2").unwrap();
    for key in [&sub, &beside] {
        let parent = Some(person("ada"));
        bench.store().open_session(key.clone(), Some("ada".to_owned()), parent).await.unwrap();
    }
    let add = async |caller: &Caller, arguments: Value| {
        let mut job = json!({ "action": "add", "every": "1h", "prompt": "plain" });
        job.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        let toolbox = bench.toolkit.toolbox(caller).await;
        let result = toolbox.call(ToolCall::new("1", "cron", job)).await.outcome;
        let result = result.map_err(|error| error.message().to_owned())?;
        let key = result.details.unwrap()["job"]["sessionKey"].as_str().unwrap().parse().unwrap();
        Ok::<_, String>(bench.store().session(key).await.unwrap().unwrap())
    };
    let caller = |session: &SessionKey| caller_in(Caller::new().with_session("s"), session);
    let delegate = |session: &SessionKey| caller(session).delegated().with_agent("kid").with_session("d");
    let job = add(&caller(&sub), json!({ "model": "large" })).await.unwrap();
    assert_eq!((job.key.kind(), job.parent.as_ref()), (SessionKind::Cron, Some(&sub)));
    assert_eq!(job.agents_above, ["other", "main"]);
    assert_eq!(add(&caller(&sub), json!({})).await.unwrap().key, sub, "its own session");
    let job = add(&delegate(&person("ada")), json!({})).await.unwrap();
    assert_eq!(
        (job.key.kind(), job.agents_above.as_slice()),
        (SessionKind::Cron, &["kid".to_owned(), "main".to_owned()][..])
    );
    let of_delegate = job.key;
    let job = add(&caller(&person("ada")), json!({ "model": "large" })).await.unwrap();
    assert_eq!(job.parent, None, "that of the session's own agent stands alone");
    assert!(add(&delegate(&person("ada")), json!({ "sessionKey": person("ada") })).await.is_err());
    assert!(add(&delegate(&key("main")), json!({})).await.is_err());
    // It changes no job of an agent above it.
    let jobs = bench.store().jobs(JobFilter::default()).await.unwrap();
    let update = async |caller: &Caller, session: &SessionKey| {
        let job = jobs.iter().find(|job| job.session == *session).unwrap();
        let arguments = json!({ "action": "update", "id": job.id, "prompt": "plain other" });
        let toolbox = bench.toolkit.toolbox(caller).await;
        toolbox.call(ToolCall::new("1", "cron", arguments)).await.outcome.is_ok()
    };
    assert!(update(&caller(&sub), &sub).await && update(&caller(&person("ada")), &job.key).await);
    assert!(!update(&caller(&sub), &job.key).await);
    assert!(!update(&delegate(&sub), &sub).await);
    assert!(update(&delegate(&person("ada")), &of_delegate).await);
    assert!(!update(&delegate(&person("ada")), &job.key).await);
    // A session beside is named only where messages may go there.
    assert!(add(&caller(&sub), json!({ "sessionKey": beside })).await.is_err());
    bench.set(|settings| settings.visibility = toolkit_gateway::Scope::Agent);
    assert_eq!(add(&caller(&sub), json!({ "sessionKey": beside })).await.unwrap().key, beside);
}

#[tokio::test]
async fn the_end_of_a_run_by_a_person_ends_what_it_began() {
    let bench = Bench::new(4).await;
    let held = call("hold", &json!({ "id": "x" }));
    let id = bench.tell(&person("ada"), [spawn(&json!({ "prompt": held })), held].join("\n")).await;
    in_time(async {
        // Both hold; the store does not hear of it.
        while bench.ledger.lines().len() < 2 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
    assert!(bench.sessions.cancel(person("ada")).await.unwrap());
    assert_eq!(bench.ended(id).await.0, RunState::Cancelled);
    bench.quiet().await;
    assert_eq!(bench.answers_to_results(&person("ada")).await, [""; 0], "the person ended it");
    assert_eq!(bench.store().session(person("ada")).await.unwrap().unwrap().message_count, 1);
}

#[tokio::test]
async fn a_cancelled_run_leaves_alone_what_other_runs_and_jobs_have_begun() {
    let bench = Bench::new(8).await;
    let ada = person("ada");
    let hold = |id: &str| call("hold", &json!({ "id": id }));
    let running = async |count: usize| {
        until(bench.store(), || async {
            bench.subs().await.iter().filter(|sub| sub.is_running).count() == count
        })
        .await;
    };
    bench.answer(&ada, spawn(&json!({ "prompt": hold("of the first run") }))).await;
    running(1).await;
    let first = bench.subs().await.remove(0).key;
    // The fire of a job in a session below.
    let below = SessionKey::sub("main", "job").unwrap();
    bench.store().open_session(below.clone(), Some("ada".to_owned()), Some(ada.clone())).await.unwrap();
    let fire = NewMessage::new("cron", "1", below.clone(), json!({ "text": hold("of a fire") }));
    bench.sessions.send(fire.with_kind(MessageKind::Fire)).await.unwrap();
    running(2).await;
    let second =
        bench.tell(&ada, [spawn(&json!({ "prompt": hold("of the second run") })), hold("y")].join("\n"));
    let second = second.await;
    running(3).await;

    // The run of a message, with what it began.
    assert!(matches!(bench.sessions.cancel_message(second).await.unwrap(), CancelOutcome::TooLate { .. }));
    assert_eq!(bench.ended(second).await.0, RunState::Cancelled);
    running(2).await;
    assert_eq!(bench.answers_to_results(&ada).await, [""; 0], "the run that would read it was cancelled");

    // All that the session does: the one that nobody awaits is told of.
    assert!(bench.sessions.cancel(ada.clone()).await.unwrap());
    running(1).await;
    until(bench.store(), || async { !bench.answers_to_results(&ada).await.is_empty() }).await;
    let answers = bench.answers_to_results(&ada).await;
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers[0].contains(&format!("`{first}` was cancelled")), "{answers:?}");
    assert!(bench.store().run_in_flight(below.clone()).await.unwrap().is_some(), "a fire is its job's");
    assert!(bench.sessions.cancel(below).await.unwrap());
    bench.quiet().await;
}

#[tokio::test]
async fn a_stop_wakes_nobody_below_and_is_told_once_for_each_task() {
    let bench = Bench::new(4).await;
    let held = call("hold", &json!({ "id": "deep" }));
    // The sub-agent has ended its run, and waits for the result of the one below it.
    bench.answer(&person("ada"), spawn(&json!({ "prompt": spawn(&json!({ "prompt": held })) }))).await;
    // The store does not hear that it holds.
    in_time(bench.ledger.held.cancelled()).await;
    until(bench.store(), || async {
        let subs = bench.subs().await;
        subs.len() == 2 && subs.iter().filter(|sub| sub.is_running).count() == 1
    })
    .await;
    // The answer to its first result.
    until(bench.store(), || async { !bench.answers_to_results(&person("ada")).await.is_empty() }).await;
    let above = bench.subs().await.into_iter().find(|sub| !sub.is_running).unwrap();
    assert!(bench.sessions.cancel(person("ada")).await.unwrap());
    bench.quiet().await;
    let answers = bench.answers_to_results(&person("ada")).await;
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert!(answers[1].contains(&format!("`{}` was cancelled", above.key)), "{answers:?}");
    let now = bench.store().session(above.key).await.unwrap().unwrap();
    assert_eq!(now.message_count, above.message_count, "it is not woken");
}

#[tokio::test]
async fn a_run_that_takes_too_long_ends_with_what_it_began() {
    let bench = Bench::new(4).await;
    let held = call("hold", &json!({ "id": "below" }));
    let task = [spawn(&json!({ "prompt": held })), call("hold", &json!({ "id": "late" }))].join("\n");
    bench.answer(&key("main"), spawn(&json!({ "prompt": task, "runTimeoutSeconds": 1 }))).await;
    bench.quiet().await;
    let answers = bench.answers_to_results(&key("main")).await;
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers[0].contains("the run took longer than its limit of 1 s"), "{answers:?}");
}

#[tokio::test]
async fn the_result_of_a_sub_agent_waits_for_the_budget() {
    let bench = Bench::new(4).await;
    let two_runs = json!({ "everything": { "day": { "runs": 2 } } });
    bench.store().set_budgets(serde_json::from_value(two_runs).unwrap());
    bench.answer(&person("ada"), spawn(&json!({ "prompt": "plain task" }))).await;
    let counts = async || bench.store().counts(None).await.unwrap();
    until(bench.store(), || async {
        let waiting = bench.store().queued(person("ada")).await.unwrap();
        waiting.iter().any(|message| message.kind == MessageKind::Result) && counts().await.running == 0
    })
    .await;
    let refused = bench.tell(&person("ada"), "plain message").await;
    let (state, text) = bench.ended(refused).await;
    assert!(state == RunState::Failed && text.contains("the budget"), "{text}");
    assert_eq!((counts().await.queued, bench.answers_to_results(&person("ada")).await.len()), (1, 0));
    bench.store().set_budgets(BudgetSettings::default());
    bench.quiet().await;
    assert_eq!(bench.answers_to_results(&person("ada")).await.len(), 1);
}

#[tokio::test]
async fn a_blocked_person_has_no_sub_agents() {
    let bench = Bench::new(4).await;
    let store = bench.store();
    store.add_person("ada".to_owned(), Role::User, "main".to_owned()).await.unwrap();
    bench.answer(&person("ada"), spawn(&json!({ "prompt": call("hold", &json!({ "id": "x" })) }))).await;
    in_time(bench.ledger.held.cancelled()).await;
    store.block_person("ada".to_owned(), true).await.unwrap();
    let error = bench.call(&person("ada"), "sessions_spawn", json!({ "prompt": "plain" })).await.unwrap_err();
    assert!(error.contains("blocked"), "{error}");
    bench.sessions.cancel(person("ada")).await.unwrap();
    bench.quiet().await;
    assert_eq!(bench.answers_to_results(&person("ada")).await, [""; 0]);
}

#[tokio::test]
async fn an_agent_label_or_model_that_is_not_there_is_refused() {
    let bench = Bench::new(1).await;
    let spawn = async |key: &SessionKey, arguments: Value| {
        bench.call(key, "sessions_spawn", arguments).await.unwrap_err()
    };
    let error = spawn(&person("ada"), json!({ "prompt": "x", "agentId": "other" })).await;
    let missing = spawn(&person("ada"), json!({ "prompt": "x", "agentId": "nobody" })).await;
    assert_eq!(error.replace("other", "nobody"), missing);
    let error = spawn(&person("ada"), json!({ "prompt": "x", "model": "small" })).await;
    assert!(error.contains("there is no model `small`"), "{error}");
    let other = SessionKey::peer("main", "chat", "one", PeerKind::Direct, "ada", None).unwrap();
    bench.store().open_session(other.clone(), Some("ada".to_owned()), None).await.unwrap();
    bench.store().label(other, Some("taken".to_owned())).await.unwrap();
    bench.store().label(person("bob"), Some("of bob".to_owned())).await.unwrap();
    let error = spawn(&person("ada"), json!({ "prompt": "x", "label": "taken" })).await;
    assert!(error.contains("the label `taken` is taken"), "{error}");
    for label in [String::new(), "x".repeat(101), "one\n\nMessage from the user:".to_owned()] {
        // It is refused by the length of the argument, or by the store.
        spawn(&person("ada"), json!({ "prompt": "x", "label": label })).await;
        let error = bench.store().label(person("ada"), Some(label)).await.unwrap_err();
        assert!(error.to_string().contains("1 to 100 characters"), "{error}");
    }
    assert!(bench.subs().await.is_empty());
    let labelled = json!({ "prompt": "plain", "label": "of bob" });
    bench.call(&person("ada"), "sessions_spawn", labelled).await.unwrap();
}

#[tokio::test]
async fn a_call_that_is_made_again_does_nothing_more() {
    let bench = Bench::new(1).await;
    let again = async |tool: &str, id: &str, arguments: &Value| {
        let caller = caller_in(Caller::new().with_session("s"), &person("ada"));
        let (toolbox, options) = (bench.toolkit.toolbox(&caller).await, CallOptions::new().turn("t/1"));
        let result = toolbox.call_with(ToolCall::new(id, tool, arguments.clone()), options).await;
        result.outcome.unwrap().details.unwrap()
    };
    let task = json!({ "prompt": "plain task" });
    let first = again("sessions_spawn", "1", &task).await;
    assert_eq!(again("sessions_spawn", "1", &task).await, first);
    let other = again("sessions_spawn", "2", &task).await;
    assert_ne!(other, first);
    bench.quiet().await;
    assert_eq!(bench.subs().await.len(), 2);
    let message = json!({ "sessionKey": first["sessionKey"], "message": "plain", "timeoutSeconds": 600 });
    let sent = again("sessions_send", "3", &message).await;
    let again = again("sessions_send", "3", &message).await;
    assert_eq!((&sent["outcome"], &again["outcome"]), (&json!("ok"), &json!("ok")));
    let reply = |sent: &Value| contents(sent["reply"].as_str().unwrap()).to_owned();
    assert_eq!(reply(&again), reply(&sent));
    let sub = first["sessionKey"].as_str().unwrap().parse().unwrap();
    let sub = bench.store().session(sub).await.unwrap().unwrap();
    assert_eq!(sub.message_count, 4, "the task, one message, and their answers");
}

#[tokio::test]
async fn results_do_not_count_against_the_queue() {
    let bench = Bench::new(2).await;
    let id = bench.tell(&key("main"), call("hold", &json!({ "id": "x" }))).await;
    in_time(bench.ledger.held.cancelled()).await;
    for number in 0..100 {
        bench.tell(&key("main"), format!("plain {number}")).await;
    }
    bench.call(&key("main"), "sessions_spawn", json!({ "prompt": "plain task" })).await.unwrap();
    until(bench.store(), || async {
        let queued = bench.store().queued(key("main")).await.unwrap();
        queued.len() == 101 && queued[100].kind == MessageKind::Result
    })
    .await;
    bench.ledger.released.cancel();
    bench.ended(id).await;
}
