//! Cancellation at every point: the run ends at once, its conversation is whole, and nothing runs on.

use crate::common::{Log, agent, assert_messages_whole, builder, call, finish, log, results, scripted};
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use toolkit::CancellationToken;
use toolkit_agent::{
    Agent, AgentEvent, ContextSettings, DelegationRequest, RunOptions, StopReason, ToolAgentResult,
};
use toolkit_models::{Answer, Message, Model, ModelEvent, Request, Responding, Scripted, ScriptedReply};

/// The time after which a run counts as stuck. How long runs take to end is measured by `cargo test --test long`; the aim is 100 ms.
const STUCK: Duration = Duration::from_mins(1);

/// The time of a cancellation.
#[derive(Clone, Default)]
struct Cancelled(Arc<Mutex<Option<Instant>>>);

impl Cancelled {
    fn now(&self, cancel: &CancellationToken) {
        self.0.lock().unwrap().get_or_insert_with(Instant::now);
        cancel.cancel();
    }

    /// Returns how long the run took to end, once it has ended.
    fn took(&self) -> Duration {
        self.0.lock().unwrap().expect("it was cancelled").elapsed()
    }
}

/// Runs until `when` says so, cancels, and returns the conversation.
async fn cancelled(
    agent: &Agent,
    log: &Log,
    when: impl Fn(&AgentEvent) -> bool + Send + Sync + 'static,
) -> Vec<Message> {
    ended(agent, log, when).await.0
}

/// The same, and its result.
async fn ended(
    agent: &Agent,
    log: &Log,
    when: impl Fn(&AgentEvent) -> bool + Send + Sync + 'static,
) -> (Vec<Message>, ToolAgentResult) {
    let cancel = CancellationToken::new();
    let at = cancel.clone();
    let options = RunOptions::new().cancel(cancel).observer(move |event: AgentEvent| {
        if when(&event) {
            at.cancel();
        }
    });
    let request = DelegationRequest::new("do it");
    let mut session = agent.session(&request).unwrap();
    let result = tokio::time::timeout(STUCK, session.run(request, options)).await.expect("it ends");
    assert_eq!(result.stop_reason, StopReason::Cancelled);
    assert!(!result.success);
    assert_messages_whole(&session.messages());
    assert_eq!(log.running.load(Ordering::SeqCst), 0, "a call runs on");
    (session.messages().into_iter().map(|message| message.message).collect(), result)
}

#[tokio::test]
async fn before_the_request() {
    let (log, model) = (log(), scripted([finish("done")]));
    let (_, result) =
        ended(&agent(&log, &model), &log, |event| matches!(event, AgentEvent::Started { .. })).await;
    assert_eq!(model.requests().len(), 0);
    assert_eq!((result.usage.requests, result.usage.unknown_requests), (0, 0));
}

#[tokio::test]
async fn within_an_answer() {
    let log = log();
    let begun = vec![ModelEvent::Started, ModelEvent::Text("I".into())];
    let model = scripted([ScriptedReply::Events(begun, Box::new(ScriptedReply::Stall))]);
    let (messages, result) =
        ended(&agent(&log, &model), &log, |event| matches!(event, AgentEvent::Text { .. })).await;
    assert_eq!(messages.len(), 1);
    assert_eq!((result.usage.requests, result.usage.unknown_requests), (1, 1), "it may be charged");
}

#[tokio::test]
async fn within_a_call() {
    for stall in ["stall", "stall_reading"] {
        let log = log();
        let model = scripted([Answer::calls([
            call("1", "change", json!({"text": "a"})),
            call("2", stall, json!({})),
            call("3", "change", json!({"text": "b"})),
        ])]);
        let agent = agent(&log, &model);
        let stalled = log.stalled.clone();
        let cancel = CancellationToken::new();
        let options = RunOptions::new().cancel(cancel.clone());
        let request = DelegationRequest::new("do it");
        let mut session = agent.session(&request).unwrap();
        let run = async {
            tokio::join!(session.run(request, options), async {
                stalled.cancelled().await;
                cancel.cancel();
            })
        };
        let (result, ()) = tokio::time::timeout(STUCK, run).await.expect("it ends");
        assert_eq!(result.stop_reason, StopReason::Cancelled);
        assert_messages_whole(&session.messages());
        assert_eq!(log.running.load(Ordering::SeqCst), 0);
        assert_eq!(log.lines(), ["change a"]);
        let messages: Vec<Message> = session.messages().into_iter().map(|message| message.message).collect();
        let failed: Vec<bool> = results(&messages).iter().map(|(_, _, failed)| *failed).collect();
        assert_eq!(failed, [false, true, true]);
        assert!(results(&messages)[2].1.contains("not run"), "{:?}", results(&messages));
        assert_eq!(result.tool_call_count, 2);
    }
}

#[tokio::test]
async fn between_calls() {
    let log = log();
    let model = scripted([Answer::calls(["a", "b"].map(|text| call(text, "change", json!({"text": text}))))]);
    let first_is_over = |event: &AgentEvent| match event {
        AgentEvent::Step { step, .. } => step.status == toolkit::views::StepStatus::Completed,
        _ => false,
    };
    cancelled(&agent(&log, &model), &log, first_is_over).await;
    assert_eq!(log.lines(), ["change a"]);
}

#[tokio::test]
async fn while_a_person_is_asked() {
    let log = log();
    let model = scripted([Answer::calls([call("1", "ask_first", json!({"text": "a"}))])]);
    let nobody_answers = toolkit::approval::CallbackApprover::from_async(|_| {
        std::future::pending::<toolkit::approval::Answer>()
    });
    let agent = builder(&log, &model).approver(nobody_answers).build();
    let is_asked = |event: &AgentEvent| match event {
        AgentEvent::Step { step, .. } => step.status == toolkit::views::StepStatus::AwaitingConfirmation,
        _ => false,
    };
    cancelled(&agent, &log, is_asked).await;
    assert_eq!(log.lines(), [""; 0]);
}

#[tokio::test]
async fn while_the_conversation_is_summarised() {
    let log = log();
    let cancel = CancellationToken::new();
    let at = cancel.clone();
    let model = Arc::new(Scripted::with(move |request| {
        if is_summary(request) {
            at.cancel();
            return ScriptedReply::Stall;
        }
        let number = request.messages.len();
        let calls = [call(&number.to_string(), "long", json!({"chars": 3_000, "mark": number.to_string()}))];
        Answer::calls(calls).into()
    }));
    let agent = builder(&log, &model).context(ContextSettings::new().window_tokens(4_000)).build();
    let request = DelegationRequest::new("read much");
    let mut session = agent.session(&request).unwrap();
    let run = session.run(request, RunOptions::new().cancel(cancel));
    let result = tokio::time::timeout(STUCK, run).await.expect("it ends");
    assert_eq!(result.stop_reason, StopReason::Cancelled);
    assert_messages_whole(&session.messages());
}

#[tokio::test]
async fn at_every_poll() {
    // The run is dropped after any number of steps, and resumed: its conversation is whole.
    for polls in 0..60 {
        let log = log();
        let (_directory, transcripts) = crate::common::transcripts();
        let model = scripted([
            Answer::calls([
                call("1", "look", json!({"text": "a"})),
                call("2", "look", json!({"text": "b"})),
                call("3", "change", json!({"text": "c"})),
                call("4", "change", json!({"text": "d"})),
            ]),
            finish("done"),
        ]);
        let agent = builder(&log, &model).transcripts(transcripts).build();
        let request = DelegationRequest::new("do it");
        let mut session = agent.session(&request).unwrap();
        let id = session.id().to_owned();
        {
            let mut run = std::pin::pin!(session.run(request, RunOptions::new()));
            let mut left = polls;
            std::future::poll_fn(|task| {
                if left == 0 {
                    return std::task::Poll::Ready(());
                }
                left -= 1;
                run.as_mut().poll(task).map(drop)
            })
            .await;
        }
        drop(session);
        assert_eq!(log.running.load(Ordering::SeqCst), 0);
        let session = agent.resume(&id).unwrap();
        assert_messages_whole(&session.messages());
    }
}

fn is_summary(request: &Request) -> bool {
    match request.messages.last() {
        Some(Message::User(message)) => {
            message.content[0].as_text().is_some_and(|text| text.contains("has to be shortened"))
        }
        _ => false,
    }
}

/// A model that takes no notice of a cancellation, as a server that does not answer, or in the middle of an answer.
struct Deaf {
    model: Scripted,
    /// Is cancelled when a request is stuck.
    is_stuck: CancellationToken,
}

impl Model for Deaf {
    fn name(&self) -> &'static str {
        "deaf"
    }

    fn dialect(&self) -> toolkit::dialects::Dialect {
        self.model.dialect()
    }

    fn respond<'a>(
        &'a self,
        request: &'a Request,
        events: &'a mut (dyn FnMut(ModelEvent) + Send),
    ) -> Responding<'a> {
        Box::pin(async move {
            let mut heard = request.clone();
            heard.cancel = CancellationToken::new();
            let answer = self.model.respond(&heard, events).await?;
            if answer.message.tool_calls().next().is_some() {
                return Ok(answer);
            }
            self.is_stuck.cancel();
            std::future::pending().await
        })
    }
}

/// A place in a run at which nothing takes notice of its cancellation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    Request,
    Stream,
    Summary,
    Tool,
    Question,
    SubAgent,
    /// A server that has accepted the connection and sends nothing.
    Server,
    /// A command with processes of its own.
    Command,
}

impl Place {
    pub(crate) const ALL: [Self; 8] = [
        Self::Request,
        Self::Stream,
        Self::Summary,
        Self::Tool,
        Self::Question,
        Self::SubAgent,
        Self::Server,
        Self::Command,
    ];
}

/// A duration for `sleep` that no other process of this machine sleeps for.
fn unused_seconds() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("1000.{}{:03}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The number of processes that sleep for this time.
fn sleeping(seconds: &str) -> usize {
    let words = [b"sleep\0", seconds.as_bytes(), b"\0"].concat();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|process| std::fs::read(process.path().join("cmdline")).is_ok_and(|line| line == words))
        .count()
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(STUCK, wait).await.unwrap_or_else(|_| panic!("{what}"));
}

/// Cancels a run at a place, and returns how long the run took to end.
pub(crate) async fn time_to_end(place: Place) -> Duration {
    let seconds = unused_seconds();
    let log = log();
    let is_stuck = log.stalled.clone();
    let answers: Vec<Answer> = match place {
        Place::Request | Place::Server => vec![Answer::text("")],
        Place::Stream => vec![Answer::text("I look")],
        Place::Summary => Vec::new(),
        Place::Tool => vec![Answer::calls([call("1", "stall", json!({}))])],
        Place::Question => vec![Answer::calls([call("1", "ask_first", json!({"text": "a"}))])],
        Place::SubAgent => vec![
            Answer::calls([call("1", "delegate", json!({"task": "part"}))]),
            Answer::calls([call("1", "stall", json!({}))]),
        ],
        Place::Command => {
            let command = format!("sleep {seconds} & setsid sleep {seconds} & sleep {seconds}");
            vec![Answer::calls([call("1", "exec", json!({"command": command}))])]
        }
    };
    let model = match place {
        Place::Summary => Scripted::with(|request| {
            if is_summary(request) {
                return Answer::text("").into();
            }
            let number = request.messages.len().to_string();
            Answer::calls([call(&number, "long", json!({"chars": 3_000, "mark": number}))]).into()
        }),
        _ => Scripted::new(answers),
    };
    let model: Arc<dyn Model> = Arc::new(Deaf { model, is_stuck: is_stuck.clone() });
    let directory = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let agent = match place {
        Place::Server => {
            let url = format!("http://{}/v1", listener.local_addr().unwrap());
            let models = json!({"models": {"local": {"baseUrl": url, "model": "m"}}});
            let load = toolkit::config::LoadOptions::new().program(models);
            let configuration = toolkit::config::Configuration::load(load).unwrap();
            let model = toolkit_models::Models::new(&configuration).unwrap().get(None).unwrap();
            let is_stuck = is_stuck.clone();
            std::thread::spawn(move || {
                use std::io::Read as _;
                let mut stream = listener.accept().unwrap().0;
                let mut request = [0; 1024];
                assert_ne!(stream.read(&mut request).unwrap(), 0);
                is_stuck.cancel();
                // It stays open until the client closes it.
                while stream.read(&mut request).is_ok_and(|count| count > 0) {}
            });
            Agent::builder(crate::common::toolkit(&log), model).build()
        }
        Place::Command => {
            let toolkit = toolkit::Toolkit::builder()
                .leave_out_incomplete()
                .approver(toolkit::AllowAll)
                .data_dir(directory.path().join("data"))
                .build()
                .unwrap();
            let caller = toolkit::Caller::new().with_workspace(directory.path());
            Agent::builder(toolkit, model).caller(caller).build()
        }
        _ => {
            let is_stuck = is_stuck.clone();
            let nobody_answers = toolkit::approval::CallbackApprover::from_async(move |_| {
                is_stuck.cancel();
                std::future::pending::<toolkit::approval::Answer>()
            });
            let mut context = ContextSettings::new();
            if matches!(place, Place::Summary) {
                context = context.window_tokens(4_000);
            }
            Agent::builder(crate::common::toolkit(&log), model)
                .approver(nobody_answers)
                .context(context)
                .build()
        }
    };
    let cancel = CancellationToken::new();
    let cancelled = Cancelled::default();
    let options = RunOptions::new().cancel(cancel.clone());
    let request = DelegationRequest::new("do it");
    let mut session = agent.session(&request).unwrap();
    let (result, ()) = tokio::join!(session.run(request, options), async {
        match place {
            Place::Command => until("the command does not start", || sleeping(&seconds) == 3).await,
            _ => is_stuck.cancelled().await,
        }
        cancelled.now(&cancel);
    });
    let took = cancelled.took();
    assert_eq!(result.stop_reason, StopReason::Cancelled, "{place:?}: {result:?}");
    assert_messages_whole(&session.messages());
    assert_eq!(log.running.load(Ordering::SeqCst), 0, "{place:?}: a call runs on");
    // The system may still be removing them.
    until("a process of the command is left", || sleeping(&seconds) == 0).await;
    took
}

#[tokio::test]
async fn whatever_takes_no_notice_of_it() {
    for place in Place::ALL {
        tokio::time::timeout(STUCK * 3, time_to_end(place))
            .await
            .unwrap_or_else(|_| panic!("{place:?}: it does not end"));
    }
}
