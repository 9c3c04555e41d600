//! `/v1/asks`: the questions of a client's own calls, and its answers.

use crate::accept::AcceptsJson;
use crate::access::{Access, Asking};
use crate::answer::Answer as Sent;
use crate::body;
use crate::problems::{ask_without_places, not_found};
use crate::web::Web;
use bytes::Bytes;
use serde_json::{Value, json};
use toolkit::approval::{AllowScope, Answer, AnswerError, PendingAsk, Reply};
use toolkit_serve::axum::Json;
use toolkit_serve::axum::extract::rejection::{BytesRejection, PathRejection};
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::{HeaderMap, StatusCode, Uri};
use toolkit_serve::{Problem, Query};

pub(crate) async fn list(
    State(web): State<Web>,
    access: Access,
    _: AcceptsJson,
    uri: Uri,
) -> Result<Sent, Problem> {
    let [] = Query::of(&uri).only([])?;
    let configuration = web.inner.toolkit.configuration();
    let asks = own(&web, &access)?;
    let asks: Vec<Value> =
        asks.iter().map(|ask| ask_without_places(json!(ask), &configuration, &access)).collect();
    Sent::ok(&json!({ "asks": asks }), &web.inner.clients.of(&access)?.sent)
}

pub(crate) async fn answer(
    State(web): State<Web>,
    access: Access,
    _: AcceptsJson,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
    headers: HeaderMap,
    bytes: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Problem> {
    let Path(id) = path?;
    let [] = Query::of(&uri).only([])?;
    let answer = capped(body::typed(&headers, &bytes?, &web.inner.clients.of(&access)?.read)?);
    if !own(&web, &access)?.iter().any(|ask| ask.id() == id) {
        return Err(not_found(format!(
            "no question `{}` of this client waits; GET /v1/asks lists those that do",
            id.escape_debug()
        )));
    }
    // The answer names nobody: who gives it is known by the token.
    let reply = Reply::new(answer);
    let reply = match access.answerer() {
        Some(name) => reply.by(name),
        None => reply,
    };
    match web.inner.toolkit.asks().answer(&id, reply) {
        Ok(()) => Ok(Json(json!({ "id": id, "outcome": "answered" }))),
        Err(error) => Err(Problem::new(status(&error), error.to_string())),
    }
}

fn status(error: &AnswerError) -> StatusCode {
    match error {
        AnswerError::AlreadyAnswered { .. } => StatusCode::CONFLICT,
        AnswerError::Withdrawn { .. } => StatusCode::GONE,
        AnswerError::Unfit { .. } | AnswerError::WrongKind { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::NOT_FOUND,
    }
}

/// Returns an answer that counts for the session at most, and whose denial is a person's.
fn capped(answer: Answer) -> Answer {
    match answer {
        Answer::Allow { scope: AllowScope::Always, .. } => Answer::allow_for_session(),
        Answer::Deny { message: Some(message), .. } => Answer::deny_saying(message),
        Answer::Deny { .. } => Answer::deny(),
        answer => answer,
    }
}

/// Returns the questions of the client's own calls.
fn own(web: &Web, access: &Access) -> Result<Vec<PendingAsk>, Problem> {
    if access.mode() != Asking::Served {
        let text = "questions are not answered here: this server was started without them";
        return Err(not_found(text));
    }
    let client = web.inner.clients.of(access)?;
    let mut asks = web.inner.toolkit.asks().list(Some(client.session(access)));
    // A host may give several clients one session.
    asks.retain(|ask| client.has_call(&ask.origin().call_id));
    Ok(asks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit::approval::DeniedBy;

    #[test]
    fn an_answer_counts_for_the_session_at_most() {
        assert_eq!(capped(Answer::allow_always()), Answer::allow_for_session());
        assert_eq!(capped(Answer::allow()), Answer::allow());
        assert_eq!(capped(Answer::denied_by(DeniedBy::TimeOut, "x")), Answer::deny_saying("x"));
        assert_eq!(capped(Answer::value(1)), Answer::value(1));
    }
}
