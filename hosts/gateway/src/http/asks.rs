//! `/v1/asks`: the questions that wait for a person, and their answers.

use serde_json::{Value, json};
use toolkit::approval::Answer;
use toolkit_serve::axum::extract::rejection::PathRejection;
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::get;
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::body::Body;
use super::caller::Caller;
use super::session_paths;
use super::state::HttpState;
use crate::store::{AskOutcome, AskRecord};
use crate::{QuestionError, Questions};

/// The parts that the routes of questions use.
#[derive(Clone)]
struct Asking {
    state: HttpState,
    questions: Questions,
}

/// Returns the routes of questions, for [`service_with`](super::service_with).
pub fn asks(state: HttpState, questions: Questions) -> Router {
    Router::new()
        .route("/v1/asks", get(list))
        .route("/v1/asks/{code}", get(show).post(answer))
        .with_state(Asking { state, questions })
}

async fn list(
    State(asking): State<Asking>,
    caller: Caller,
    mut query: Query,
) -> Result<Json<Value>, Problem> {
    let session = match query.one("session")? {
        Some(text) => Some(session_paths::find(&asking.state, &caller, &text).await?.key),
        None => None,
    };
    query.finish()?;
    let mut seen = Vec::new();
    for ask in asking.questions.list().await? {
        let is_asked_for = session.is_none() || ask.session == session;
        if is_asked_for && may_see(&asking, &caller, &ask).await? {
            seen.push(view(&caller, &ask));
        }
    }
    Ok(Json(json!({ "asks": seen })))
}

async fn show(
    State(asking): State<Asking>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Query,
) -> Result<Json<Value>, Problem> {
    query.finish()?;
    let ask = find(&asking, &caller, path).await?;
    Ok(Json(view(&caller, &ask)))
}

async fn answer(
    State(asking): State<Asking>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    Body(answer): Body<Answer>,
) -> Result<Json<Value>, Problem> {
    let ask = find(&asking, &caller, path).await?;
    if !may_answer(&caller, &ask) {
        let text = "only the owner, or an approver of the agent, may answer this question";
        return Err(Problem::new(StatusCode::FORBIDDEN, text));
    }
    // The answer names nobody: who gives it is known by the token.
    let outcome = asking.questions.answer(&ask.code, answer, caller.name()).await;
    match outcome.map_err(|error| unfit(&error))? {
        AskOutcome::Answered => Ok(Json(json!({ "code": ask.code, "outcome": "answered" }))),
        AskOutcome::AnsweredBefore { by } => {
            let by = by.map_or_else(String::new, |by| format!(" by {}", by.escape_debug()));
            let text = format!("the question `{}` was answered already{by}", ask.code);
            Err(Problem::new(StatusCode::CONFLICT, text))
        }
        AskOutcome::Expired => {
            let text = format!("the time of the question `{}` is over: it is denied", ask.code);
            Err(Problem::new(StatusCode::GONE, text))
        }
        AskOutcome::Unknown => Err(not_found(&ask.code)),
    }
}

fn unfit(error: &QuestionError) -> Problem {
    match error {
        QuestionError::Unfit(_) => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()),
        _ => {
            tracing::error!(%error, "a question cannot be answered");
            let text = "the answer was not stored; the log of the gateway says why";
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, text)
        }
    }
}

async fn find(
    asking: &Asking,
    caller: &Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<AskRecord, Problem> {
    let Path(code) = path?;
    let Some(ask) = asking.questions.get(&code).await? else { return Err(not_found(&code)) };
    if may_see(asking, caller, &ask).await? { Ok(ask) } else { Err(not_found(&code)) }
}

fn not_found(code: &str) -> Problem {
    let text = format!("no question `{}` waits; GET /v1/asks lists those that do", code.escape_debug());
    Problem::new(StatusCode::NOT_FOUND, text)
}

/// A question of no session is the owner's.
async fn may_see(asking: &Asking, caller: &Caller, ask: &AskRecord) -> Result<bool, Problem> {
    match &ask.session {
        None => Ok(caller.is_manager()),
        Some(_) if may_answer(caller, ask) => Ok(true),
        Some(session) => Ok(caller.may_see(asking.state.store(), session).await?),
    }
}

fn may_answer(caller: &Caller, ask: &AskRecord) -> bool {
    ask.session.as_ref().map_or_else(|| caller.is_manager(), |session| caller.may_answer(session))
}

fn view(caller: &Caller, ask: &AskRecord) -> Value {
    let mut shown = json!(ask);
    shown["mayAnswer"] = may_answer(caller, ask).into();
    shown
}
