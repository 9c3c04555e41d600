//! `/v1/schedules`: jobs, listed, added, changed, removed and run beside their schedule, and their runs.
//!
//! A person sees and changes their own jobs, the owner all.

mod fields;
mod views;

use serde_json::{Value, json};
use toolkit_serve::axum::extract::rejection::PathRejection;
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::{get, post};
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::body::Body;
use super::caller::Caller;
use super::session_paths::{self, Named};
use super::state::HttpState;
use crate::Schedule;
use crate::store::{Job, JobFilter, JobId, JobWork, NewJob};
use fields::{Fields, unfit};
use views::{JobView, RunView};

/// The times that a preview shows.
const PREVIEW: usize = 5;
/// The runs of one page, if nothing else is asked for, and at most.
const RUNS: (u32, u32) = (50, 200);

pub(super) fn routes() -> Router<HttpState> {
    Router::new()
        .route("/v1/schedules", get(list).post(add))
        .route("/v1/schedules/preview", post(preview))
        .route("/v1/schedules/{id}", get(show).patch(change).delete(remove))
        .route("/v1/schedules/{id}/run", post(run))
        .route("/v1/schedules/{id}/runs", get(runs))
}

async fn list(
    State(state): State<HttpState>,
    caller: Caller,
    mut query: Query,
) -> Result<Json<Value>, Problem> {
    let agent = query.one("agent")?;
    let session = match query.one("session")? {
        Some(text) => Some(session_paths::find(&state, &caller, &text).await?.key),
        None => None,
    };
    query.finish()?;
    let filter = JobFilter { person: caller.seen_by(), agent, session };
    let jobs = state.store().jobs(filter).await?;
    let jobs: Vec<_> = jobs.into_iter().map(JobView::of).collect();
    Ok(Json(json!({ "jobs": jobs })))
}

/// Shows when a schedule would fire next, and stores nothing.
async fn preview(
    State(state): State<HttpState>,
    _: Caller,
    Body(fields): Body<Fields>,
) -> Result<Json<Value>, Problem> {
    let now = state.store().clock().now();
    fields.check_is_schedule()?;
    let schedule = fields.schedule(now)?;
    let schedule =
        schedule.ok_or_else(|| unfit("a schedule is missing: give `schedule`, `every` or `at`"))?;
    let times = std::iter::successors(schedule.next_after(now), |time| schedule.next_after(*time));
    Ok(Json(json!({ "times": times.take(PREVIEW).collect::<Vec<_>>() })))
}

async fn show(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Query,
) -> Result<Json<Value>, Problem> {
    query.finish()?;
    Ok(shown(find(&state, &caller, path).await?))
}

async fn add(
    State(state): State<HttpState>,
    caller: Caller,
    Body(fields): Body<Fields>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let schedule = fields.schedule(state.store().clock().now())?;
    let schedule =
        schedule.ok_or_else(|| unfit("a schedule is missing: give `schedule`, `every` or `at`"))?;
    let work = fields.work()?;
    let work =
        work.ok_or_else(|| unfit("the work is missing: give `prompt`, or `tool` with its `arguments`"))?;
    let mut job = new_job(&state, &caller, &fields, schedule, work).await?;
    if let Some(model) = fields.model() {
        job = job.with_model(model);
    }
    if let Some(timeout) = fields.timeout() {
        job = job.with_timeout(timeout);
    }
    job = job.with_missed(fields.missed.unwrap_or_default()).with_enabled(fields.enabled.unwrap_or(true));
    Ok((StatusCode::CREATED, shown(state.store().add_job(job).await?)))
}

/// Returns a job in the requested session, or in a session of its own, with its person.
async fn new_job(
    state: &HttpState,
    caller: &Caller,
    fields: &Fields,
    schedule: Schedule,
    work: JobWork,
) -> Result<NewJob, Problem> {
    let Some(text) = &fields.session_key else {
        let agent = fields.agent.as_deref().unwrap_or(caller.agent());
        check_agent(state, caller, agent)?;
        return Ok(NewJob::new(agent, schedule, work).with_person(caller.name()));
    };
    if fields.agent.is_some() {
        return Err(unfit("`sessionKey` names the agent, too: leave `agent` out"));
    }
    let Named { key, record } = session_paths::find(state, caller, text).await?;
    if record.is_none() {
        check_agent(state, caller, key.agent())?;
    }
    // A job that the owner adds to another person's session belongs to that person, and runs with that person's rights.
    let theirs = record.and_then(|record| record.person).filter(|_| caller.is_manager());
    let person = theirs.unwrap_or_else(|| caller.name().to_owned());
    Ok(NewJob::new(key.agent(), schedule, work).with_session(key.clone()).with_person(person))
}

/// Refuses an agent that is not there, or that the person may not use.
fn check_agent(state: &HttpState, caller: &Caller, agent: &str) -> Result<(), Problem> {
    if caller.may_use(agent) && state.about().agents.iter().any(|known| known.id == agent) {
        return Ok(());
    }
    Err(unfit(&format!("there is no agent `{}`; GET /v1/agents lists them", agent.escape_debug())))
}

async fn change(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    Body(fields): Body<Fields>,
) -> Result<Json<Value>, Problem> {
    let job = find(&state, &caller, path).await?;
    let change = fields.change(state.store().clock().now())?;
    Ok(shown(state.store().update_job(&job.id, caller.seen_by(), change).await?))
}

async fn remove(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    let id = id(path)?;
    if state.store().remove_job(&id, caller.seen_by()).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(not_found(&id))
}

async fn run(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let job = find(&state, &caller, path).await?;
    state.store().request_fire(&job.id, caller.seen_by()).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "id": job.id, "sessionKey": job.session }))))
}

async fn runs(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    mut query: Query,
) -> Result<Json<Value>, Problem> {
    let limit = query.number("limit", 1, RUNS.1)?.unwrap_or(RUNS.0);
    query.finish()?;
    let id = id(path)?;
    let fires = state.store().fires(&id, caller.seen_by(), limit).await?;
    // The runs of a job that was removed stay for a while.
    if fires.is_empty() && state.store().job(&id, caller.seen_by()).await?.is_none() {
        return Err(not_found(&id));
    }
    let runs: Vec<_> = fires.into_iter().map(RunView::of).collect();
    Ok(Json(json!({ "runs": runs })))
}

fn id(path: Result<Path<String>, PathRejection>) -> Result<JobId, Problem> {
    let Path(text) = path?;
    Ok(JobId::new(text))
}

async fn find(
    state: &HttpState,
    caller: &Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Job, Problem> {
    let id = id(path)?;
    state.store().job(&id, caller.seen_by()).await?.ok_or_else(|| not_found(&id))
}

fn not_found(id: &JobId) -> Problem {
    let text = format!(
        "there is no job `{}`; GET /v1/schedules lists those that you may see",
        id.as_str().escape_debug()
    );
    Problem::new(StatusCode::NOT_FOUND, text)
}

fn shown(job: Job) -> Json<Value> {
    Json(json!(JobView::of(job)))
}
