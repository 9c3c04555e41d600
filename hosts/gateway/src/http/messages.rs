//! `/v1/sessions/{key}/messages`: sent to a session, and read from its transcript.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit_agent::{Kind, TranscriptMessage};
use toolkit_models::{Message, Part};
use toolkit_serve::axum::extract::rejection::PathRejection;
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::get;
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::body::Body;
use super::caller::Caller;
use super::inbox;
use super::session_paths::{Named, find};
use super::state::HttpState;
use crate::store::{Acceptance, MessageId, NewMessage, Target};
use crate::{LOCAL_ACCOUNT, LOCAL_CHANNEL, SessionKey};

/// The messages of one page, if nothing else is asked for, and at most.
const PAGE: (usize, usize) = (50, 500);
/// The longest id of a client, in bytes.
const MAX_ID_BYTES: usize = 128;

pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/v1/sessions/{key}/messages", get(read).post(send))
}

/// A message that is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sent {
    pub(super) text: String,
    /// The client's own id: sent again, it is the same message.
    pub(super) id: Option<String>,
}

async fn send(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    Body(sent): Body<Sent>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    Ok((StatusCode::ACCEPTED, Json(accept(&state, &caller, &path?, sent).await?)))
}

/// Stores a message for a session, and returns its number and how far it is.
pub(super) async fn accept(
    state: &HttpState,
    caller: &Caller,
    session: &str,
    sent: Sent,
) -> Result<Value, Problem> {
    let Named { key, record } = find(state, caller, session).await?;
    if record.is_none() && !state.about().agents.iter().any(|agent| agent.id == key.agent()) {
        let text = format!("there is no agent `{}`; GET /v1/agents lists them", key.agent().escape_debug());
        return Err(Problem::new(StatusCode::NOT_FOUND, text));
    }
    if record.is_none() && !caller.is_manager() {
        let max = state.max_sessions();
        if state.store().sessions_of(caller.name().to_owned()).await? >= max {
            let text = format!(
                "you have {max} sessions, the limit; send to one of them: GET /v1/sessions?archived=true lists them"
            );
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, text).with("limit", max));
        }
    }
    if sent.text.trim().is_empty() {
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "the `text` of a message is empty"));
    }
    let body = json!({ "text": sent.text });
    let message = NewMessage::new(source(caller), external_id(sent.id)?, key.clone(), body.clone())
        .with_sender(caller.name())
        .with_person(caller.name())
        .with_reply_to(reply_to(&key));
    let (id, is_repeated) = match state.sessions().send(message).await? {
        Acceptance::Accepted { id } => (id, false),
        Acceptance::Again { id, .. } => {
            check_same(state, id, &key, &body).await?;
            (id, true)
        }
        Acceptance::QueueFull { limit } => {
            let text = format!(
                "{limit} messages wait in this session already; wait for their answers, or cancel some"
            );
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, text).with("limit", limit));
        }
    };
    let mut answer = inbox::outcome(state, id).await?.shown;
    answer["repeated"] = is_repeated.into();
    Ok(answer)
}

/// The source of a person's messages: two people never share one.
fn source(caller: &Caller) -> String {
    format!("http:{}", caller.name())
}

/// Answers go to the gateway's own channel, in order for each session.
fn reply_to(session: &SessionKey) -> Target {
    Target::new(LOCAL_CHANNEL, LOCAL_ACCOUNT, session.as_str())
}

/// The id in the source: the client's, or one that no client sends.
fn external_id(given: Option<String>) -> Result<String, Problem> {
    if let Some(id) = given {
        if id.is_empty() || id.len() > MAX_ID_BYTES || id.chars().any(char::is_control) {
            let text =
                format!("the `id` of a message has 1 to {MAX_ID_BYTES} bytes, and no control characters");
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, text));
        }
        return Ok(format!("client/{id}"));
    }
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        tracing::error!(%error, "the system has no random numbers");
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the gateway has no random numbers; send an `id` of your own",
        )
    })?;
    Ok(format!("own/{}", HEXLOWER.encode(&bytes)))
}

/// Refuses an id under which another message was sent.
async fn check_same(state: &HttpState, id: MessageId, key: &SessionKey, body: &Value) -> Result<(), Problem> {
    let before = state.store().message(id).await?;
    if before.is_none_or(|before| before.session == *key && before.body == *body) {
        return Ok(());
    }
    let text = "you have sent another message with this `id`; each message has its own";
    Err(Problem::new(StatusCode::CONFLICT, text))
}

/// A message of the transcript.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct View {
    id: u64,
    kind: Kind,
    text: String,
    /// How many pictures, sounds and documents it has.
    #[serde(skip_serializing_if = "is_zero")]
    attachments: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_results: Vec<Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl View {
    /// A message as it is shown; `None` if it is about tools alone, and these are left out.
    fn of(message: TranscriptMessage, with_tools: bool) -> Option<Self> {
        let TranscriptMessage { id, kind, message, .. } = message;
        let mut view = Self {
            id,
            kind,
            text: String::new(),
            attachments: 0,
            tool_calls: Vec::new(),
            tool_results: Vec::new(),
        };
        match message {
            Message::User(message) => {
                view.text = text(&message.content);
                view.attachments = message.content.iter().filter(|part| part.as_text().is_none()).count();
            }
            Message::Assistant(message) => {
                view.text = message.to_text();
                view.tool_calls = message.tool_calls().map(|call| json!(call)).collect();
            }
            Message::Tools(results) => {
                let result = |result: &toolkit_models::ToolOutput| json!({ "callId": result.call_id, "name": result.name, "text": result.to_text(), "isError": result.is_error });
                view.tool_results = results.results.iter().map(result).collect();
            }
            _ => {}
        }
        if !with_tools {
            view.tool_calls.clear();
            view.tool_results.clear();
        }
        let is_shown = !view.text.is_empty()
            || view.attachments > 0
            || !view.tool_calls.is_empty()
            || !view.tool_results.is_empty();
        is_shown.then_some(view)
    }
}

fn text(content: &[Part]) -> String {
    content.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n")
}

async fn read(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    mut query: Query,
) -> Result<Json<Value>, Problem> {
    let limit = query.number("limit", 1, PAGE.1)?.unwrap_or(PAGE.0);
    let before: Option<u64> = query.number("before", 1, u64::MAX)?;
    let with_tools = query.flag("includeTools")?;
    query.finish()?;
    let Named { record, .. } = find(&state, &caller, &path?).await?;
    let Some(transcript) = record.and_then(|record| record.transcript) else {
        return Ok(Json(json!({ "messages": [], "hasMore": false })));
    };
    let transcripts = state.transcripts().clone();
    let id = transcript.clone();
    let found = tokio::task::spawn_blocking(move || {
        transcripts.messages(&id).map(|messages| page(messages, before, limit, with_tools))
    });
    let (messages, has_more) = match found.await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => return Err(unreadable(&caller, &error.to_string())),
        Err(error) => return Err(unreadable(&caller, &error.to_string())),
    };
    Ok(Json(json!({ "messages": messages, "hasMore": has_more })))
}

/// The last messages before the one with an id, and whether there are earlier ones.
fn page(
    messages: Vec<TranscriptMessage>,
    before: Option<u64>,
    limit: usize,
    with_tools: bool,
) -> (Vec<View>, bool) {
    // A summary has a later id than messages that stand behind it; a message that it replaced stands nowhere.
    let end = before.map(|before| {
        let at = |is_it: &dyn Fn(u64) -> bool| messages.iter().position(|message| is_it(message.id));
        at(&|id| id == before).or_else(|| at(&|id| id > before)).unwrap_or(messages.len())
    });
    let shown = messages.into_iter().take(end.unwrap_or(usize::MAX));
    let mut views: Vec<View> = shown.filter_map(|message| View::of(message, with_tools)).collect();
    let surplus = views.len().saturating_sub(limit);
    (views.split_off(surplus), surplus > 0)
}

/// A transcript that cannot be read; only the owner is told where it is.
fn unreadable(caller: &Caller, reason: &str) -> Problem {
    tracing::error!(%reason, "the transcript of a session cannot be read");
    let for_others = "the messages of this session cannot be read; tell the owner";
    let text = if caller.is_manager() { reason } else { for_others };
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, text)
}
