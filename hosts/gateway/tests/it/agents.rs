//! Agents of tests: a scripted model, tools with a ledger.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolkit::prelude::*;
use toolkit::{CancellationToken, ToolCall, tool_ref};
use toolkit_agent::{Agent, ContextSettings, FinalAnswer, Limits, Transcripts};
use toolkit_gateway::{AgentError, SessionRecord, Store};
use toolkit_models::{Answer, Message, Request, Scripted};

/// No test waits so long for something that happens.
const LONG: Duration = Duration::from_mins(2);

pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, work).await.expect("it happens")
}

/// Waits until the store is as wanted.
pub(crate) async fn until<F: Future<Output = bool>>(store: &Store, is_so: impl Fn() -> F) {
    let mut events = store.last_event();
    in_time(async {
        while !is_so().await {
            events.changed().await.unwrap();
        }
    })
    .await;
}

pub(crate) struct Ledger {
    place: PathBuf,
    /// Cancelled when a call of `hold` may end.
    pub(crate) released: CancellationToken,
    /// Cancelled when a call of `hold` has begun.
    pub(crate) held: CancellationToken,
}

impl Ledger {
    pub(crate) fn new(place: &Path) -> Arc<Self> {
        let (released, held) = (CancellationToken::new(), CancellationToken::new());
        Arc::new(Self { place: place.join("effects"), released, held })
    }

    pub(crate) fn note(&self, text: &str) {
        use std::io::Write as _;
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.place).unwrap();
        writeln!(file, "{text}").unwrap();
    }

    /// The lines, in order.
    pub(crate) fn lines(&self) -> Vec<String> {
        std::fs::read_to_string(&self.place).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

/// Does something that must not be done twice.
#[tool(auto_execute)]
async fn effect(ledger: State<Ledger>, id: String) -> String {
    ledger.note(&id);
    format!("did {id}")
}

/// Does something that ends when it is told to.
#[tool(auto_execute)]
async fn hold(ledger: State<Ledger>, id: String) -> String {
    ledger.note(&id);
    ledger.held.cancel();
    ledger.released.cancelled().await;
    format!("held {id}")
}

/// The texts of the user since the last answer, in order.
fn texts(request: &Request) -> Vec<String> {
    let answered = request.messages.iter().rposition(|message| match message {
        Message::Assistant(answer) => answer.tool_calls().next().is_none(),
        _ => false,
    });
    let since = answered.map_or(0, |at| at + 1);
    let text = |message: &Message| match message {
        Message::User(message) => Some(message.content.first()?.as_text()?.to_owned()),
        _ => None,
    };
    request.messages[since..].iter().filter_map(text).collect()
}

/// One call for each message, `hold` for one that begins with `hold`; then an answer that names the messages.
pub(crate) fn model() -> Arc<Scripted> {
    Arc::new(Scripted::with(|request| {
        let texts = texts(request);
        let is_new = !matches!(request.messages.last(), Some(Message::Tools(_)));
        let first = texts.first().cloned().unwrap_or_default();
        let is_first = is_new && texts.len() == 1;
        if is_first && !first.starts_with("plain") {
            let name = if first.starts_with("hold") { "hold" } else { "effect" };
            return Answer::calls([ToolCall::new(format!("call-{first}"), name, json!({ "id": first }))])
                .into();
        }
        Answer::text(format!("answer to {}", texts.join(" and "))).into()
    }))
}

/// Makes agents of this model, with transcripts in the directory.
pub(crate) fn agents(
    place: &Path,
    ledger: &Arc<Ledger>,
    model: &Arc<Scripted>,
) -> impl Fn(&SessionRecord) -> Result<Agent, AgentError> + Send + Sync + 'static {
    let toolkit = Toolkit::empty()
        .shared_service(Arc::clone(ledger))
        .tool(tool_ref!(effect))
        .tool(tool_ref!(hold))
        .build()
        .unwrap();
    let transcripts = Transcripts::new(place.join("transcripts"));
    let model = Arc::clone(model);
    move |session: &SessionRecord| {
        if session.key.agent() != "main" {
            return Err(AgentError(format!("there is no agent `{}`", session.key.agent())));
        }
        Ok(Agent::builder(toolkit.clone(), Arc::clone(&model))
            .limits(Limits::none())
            .final_answer(FinalAnswer::Text)
            .context(ContextSettings::new())
            .transcripts(transcripts.clone())
            .build())
    }
}
