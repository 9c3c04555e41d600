//! Requests: from the path to the answer.

use super::answers::{self, Refusal};
use super::body::{self, Body};
use super::faults::{self, Effect, Fault};
use super::polling;
use super::posting;
use super::sent::Call;
use super::state::{Shared, State};
use super::{methods, schema};
use crate::{Answer, Request};
use serde_json::{Value, json};
use std::sync::Arc;

/// The most bytes of a file that a bot can fetch.
const MAX_DOWNLOAD: usize = 20 << 20;

/// Answers a request.
pub(super) async fn serve(shared: Arc<Shared>, token: Arc<str>, request: Request) -> Answer {
    let path = request.path.trim_start_matches('/');
    if let Some(file) = path.strip_prefix(&format!("file/bot{token}/")) {
        let effect = shared.change(|state| faults::take(&mut state.faults, "file"));
        return answered(effect, async { Processed::new(download(&shared, &request, file)) }).await;
    }
    let Some(method) = path.strip_prefix(&format!("bot{token}/")) else {
        return Refusal::new(401, "Unauthorized").answer();
    };
    let effect = shared.change(|state| faults::take(&mut state.faults, method));
    answered(effect, process(&shared, method, &request)).await
}

/// Returns the answer to a request that meets a fault, and processes it where the fault permits.
async fn answered<'a>(effect: Option<Effect>, processing: impl Future<Output = Processed<'a>>) -> Answer {
    match effect {
        None => processing.await.answer,
        Some(Effect::Hold(holding)) => {
            let processed = processing.await;
            holding.wait().await;
            processed.answer
        }
        Some(Effect::Fault(fault)) => match fault {
            Fault::TooManyRequests(seconds) => Refusal::too_many(seconds).answer(),
            Fault::ServerError(status) => Refusal::new(status, "Internal Server Error").answer(),
            Fault::Conflict => polling::conflict().answer(),
            Fault::CloseBefore => Answer::Close,
            Fault::CloseAfter => {
                processing.await;
                Answer::Close
            }
            Fault::MalformedJson => match processing.await.answer {
                Answer::Give { status, headers, mut body } => {
                    body.truncate(body.len() / 2);
                    Answer::Give { status, headers, body }
                }
                other => other,
            },
            Fault::Answer(answer) => answer,
        },
    }
}

/// A request that was processed, and is not answered yet.
struct Processed<'a> {
    answer: Answer,
    /// The request is under way as long as this value lives.
    _sending: Option<Sending<'a>>,
}

impl Processed<'_> {
    fn new(answer: Answer) -> Self {
        Self { answer, _sending: None }
    }
}

async fn process<'a>(shared: &'a Shared, method: &str, request: &Request) -> Processed<'a> {
    let read = checked(method, request);
    let mut sending = None;
    let result = match read {
        Ok(mut body) => {
            let fields = Value::from(body.fields.clone());
            shared.change(|state| state.calls.push(Call { method: method.to_owned(), fields }));
            if method == "getUpdates" {
                polling::updates(shared, &body.fields).await
            } else {
                sending = Some(Sending::begin(shared, method, &body));
                let run = shared.change(|state| run(state, method, &mut body));
                run.map(|result| result.to_string())
            }
        }
        Err(refusal) => Err(refusal),
    };
    let answer = match result {
        Ok(result) => answers::ok(&result),
        Err(refusal) => {
            if refusal.is_violation {
                let violation = format!("{method}: {}", refusal.description);
                shared.change(|state| state.violations.push(violation));
            }
            refusal.answer()
        }
    };
    Processed { answer, _sending: sending }
}

fn checked(method: &str, request: &Request) -> Result<Body, Refusal> {
    let Some(expected) = methods::fields(method) else {
        return Err(Refusal { code: 404, ..Refusal::violation("method not found") });
    };
    let mut body = body::read(request).map_err(Refusal::violation)?;
    if body.is_form {
        body.fields = schema::typed(std::mem::take(&mut body.fields), &expected);
    }
    let files: Vec<&str> = body.files.iter().map(|(name, _)| name.as_str()).collect();
    schema::check(&body.fields, &files, &expected).map_err(Refusal::violation)?;
    Ok(body)
}

fn run(state: &mut State, method: &str, body: &mut Body) -> Result<Value, Refusal> {
    match method {
        "getMe" => Ok(state.bot.json()),
        "editMessageText" => posting::edit(state, body),
        "deleteMessage" => posting::delete(state, body),
        "setMessageReaction" => posting::react(state, body),
        "sendChatAction" => posting::chat(state, &body.fields).map(|_| true.into()),
        "pinChatMessage" => {
            let place = (posting::chat(state, &body.fields)?, posting::number(&body.fields, "message_id"));
            let is_there = state.messages.contains_key(&place);
            is_there
                .then_some(true.into())
                .ok_or_else(|| Refusal::new(400, "Bad Request: message to pin not found"))
        }
        "answerCallbackQuery" => acknowledge(state, body),
        "getFile" => describe(state, body),
        _ => posting::send(state, method, body),
    }
}

fn acknowledge(state: &mut State, body: &Body) -> Result<Value, Refusal> {
    let text = |name: &str| body.fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    match state.presses.get_mut(&text("callback_query_id")) {
        Some(answer @ None) => {
            *answer = Some(text("text"));
            Ok(true.into())
        }
        _ => Err(Refusal::new(
            400,
            "Bad Request: query is too old and response timeout expired or query ID is invalid",
        )),
    }
}

fn describe(state: &State, body: &Body) -> Result<Value, Refusal> {
    let id = body.fields.get("file_id").and_then(Value::as_str).unwrap_or_default();
    let Some(file) = state.files.get(id) else {
        return Err(Refusal::new(400, "Bad Request: invalid file_id"));
    };
    if file.bytes.len() > MAX_DOWNLOAD {
        return Err(Refusal::new(400, "Bad Request: file is too big"));
    }
    let path = format!("documents/{id}.bin");
    Ok(
        json!({ "file_id": id, "file_unique_id": format!("u-{id}"), "file_size": file.bytes.len(), "file_path": path }),
    )
}

fn download(shared: &Shared, request: &Request, path: &str) -> Answer {
    let state = shared.read();
    let id = path.strip_prefix("documents/").and_then(|name| name.strip_suffix(".bin"));
    match id.and_then(|id| state.files.get(id)) {
        Some(file) if request.method == "GET" => Answer::bytes(200, file.bytes.clone()),
        _ => Refusal::new(404, "Not Found").answer(),
    }
}

/// A request that sends to a chat. Two at once could arrive in any order.
struct Sending<'a> {
    shared: &'a Shared,
    chat: Option<i64>,
}

impl<'a> Sending<'a> {
    fn begin(shared: &'a Shared, method: &str, body: &Body) -> Self {
        let is_new = method.starts_with("send") && method != "sendChatAction";
        let chat = body.fields.get("chat_id").and_then(Value::as_i64).filter(|_| is_new);
        let chat = shared.change(|state| {
            let chat = chat?;
            if state.sending.insert(chat) {
                return Some(chat);
            }
            state
                .violations
                .push(format!("{method}: another request to send to the chat {chat} is not answered yet"));
            None
        });
        Self { shared, chat }
    }
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        if let Some(chat) = self.chat {
            self.shared.change(|state| state.sending.remove(&chat));
        }
    }
}
