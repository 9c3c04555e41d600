//! The services of tools that act for a session: which session calls, and whose it is.

mod jobs;
mod reading;
mod recovered;
mod scope;
mod sending;
mod sessions;
mod spawning;

pub use jobs::StoredJobs;
pub use sessions::{SessionDirectory, SessionTools};

use std::fmt;

use serde::Deserialize as _;
use serde_json::json;
use toolkit::{Caller, ToolContext, ToolError, ToolErrorKind};

use crate::SessionKey;
use crate::store::{Job, Problem, SessionRecord, Store, StoreError, Target};

/// The key under which a caller carries its session.
const EXTRA: &str = "gatewaySession";
/// The key under which a caller carries the number of callers in its chain, of which those of delegates are none.
const CHAIN: &str = "gatewayChain";
/// The key under which the caller of a job's tool carries the fire, and where its answer goes.
const FIRE: &str = "gatewayFire";

/// Returns the caller of the agent of a session: the services of this crate know by it for which session a tool is called. Callers to which this
/// one delegates afterwards are those of sub-agents of a run.
#[must_use]
pub fn caller_in(caller: Caller, session: &SessionKey) -> Caller {
    let chain = caller.chain().count();
    caller.with_extra(EXTRA, session.as_str()).with_extra(CHAIN, chain)
}

/// Returns the caller of the tool of a job in flight, in the session of the job: the services of this crate do not mistake the call for one of the
/// run in flight in that session, which knows nothing of it.
#[must_use]
pub fn caller_of_job(caller: Caller, job: &Job) -> Caller {
    let at = job.in_flight.map(|at| at.0);
    let fire = at.map_or_else(|| format!("fire/{}", job.id), |at| format!("fire/{}/{at}", job.id));
    caller_in(caller, &job.session)
        .with_extra(FIRE, json!({ "name": fire, "job": job.id, "replyTo": job.reply_to }))
}

/// Returns the caller of tools that a person calls in a session without its agent: the services of this crate do not mistake the call for one of the
/// run in flight there. Calls of another process have other names.
pub(crate) fn caller_outside_of_runs(caller: Caller, session: &SessionKey, process: &str) -> Caller {
    caller_in(caller, session).with_extra(FIRE, json!({ "name": format!("direct/{process}") }))
}

/// The agents to which the run of a session delegated, the last of which calls a tool, the nearest first. A delegate without a name of its own is
/// the agent of the session, with the limits of sub-agents.
fn delegates(ctx: &ToolContext, session: &SessionKey) -> Vec<String> {
    let chain = ctx.caller().chain().count();
    let of_session = ctx.extra_json(CHAIN).and_then(serde_json::Value::as_u64);
    let of_session = of_session.and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    let delegates = ctx.caller().chain().take(chain.saturating_sub(of_session));
    delegates.map(|caller| caller.agent.clone().unwrap_or_else(|| session.agent().to_owned())).collect()
}

/// The name of the fire for whose job a tool is called.
fn fire_of(ctx: &ToolContext) -> Option<String> {
    Some(ctx.extra_json(FIRE)?.get("name")?.as_str()?.to_owned())
}

/// The job that calls a tool itself, outside of the runs of its session.
pub(crate) fn calling_job(ctx: &ToolContext) -> Option<String> {
    Some(ctx.extra_json(FIRE)?.get("job")?.as_str()?.to_owned())
}

/// Returns the key of the session of a caller.
pub(crate) fn session_of(caller: &Caller) -> Option<&str> {
    caller.extra.get(EXTRA)?.as_str()
}

/// Returns the session for which a tool is called. The agents above it include those of the run that have delegated the call: they limit what it
/// may see.
pub(crate) async fn calling(store: &Store, ctx: &ToolContext) -> Result<SessionRecord, ToolError> {
    let outside = || ToolError::unavailable("this call is not made in a session of the gateway");
    let key = ctx.extra_json(EXTRA).and_then(|key| key.as_str()).ok_or_else(outside)?;
    let key: SessionKey = key.parse().map_err(|_| outside())?;
    let mut session = store.session(key).await.map_err(of_store)?.ok_or_else(outside)?;
    let delegates = delegates(ctx, &session.key);
    session.agents_above.splice(0..0, delegates);
    Ok(session)
}

/// Returns where the answer goes of the run, or of the job, for which a tool is called.
pub(crate) async fn reply_target(
    store: &Store,
    ctx: &ToolContext,
    session: &SessionKey,
) -> Result<Option<Target>, ToolError> {
    if let Some(fire) = ctx.extra_json(FIRE) {
        return Ok(fire.get("replyTo").and_then(|target| Target::deserialize(target).ok()));
    }
    let Some(run) = store.run_in_flight(session.clone()).await.map_err(of_store)? else {
        return Ok(None);
    };
    let message = store.message(run.message).await.map_err(of_store)?;
    Ok(message.and_then(|message| message.reply_to))
}

/// Names the call for which a row is written, and no other: a call that is made again after a crash has the same name. The model's calls are named
/// by their transcript and answer; those that a tool makes, by the run; those of a job, by its fire.
pub(crate) async fn call_origin(
    store: &Store,
    ctx: &ToolContext,
    calling: &SessionRecord,
    request: &impl fmt::Debug,
) -> Result<String, ToolError> {
    if let Some(turn) = ctx.turn() {
        return Ok(origin_of(turn, ctx.call_id()));
    }
    if let Some(fire) = fire_of(ctx) {
        return Ok(format!("{fire}/{}/{request:?}", ctx.call_id()));
    }
    match store.run_in_flight(calling.key.clone()).await.map_err(of_store)? {
        // An id of a call may come again in a run, but not with the same request by chance.
        Some(run) => Ok(format!("run/{}/{}/{request:?}", run.id, ctx.call_id())),
        // Outside of a run, nothing is made again.
        None => Ok(format!("call/{}/{}", random()?, ctx.call_id())),
    }
}

/// The name of a call of a model.
fn origin_of(turn: &str, call: &str) -> String {
    // The turn keeps its length, so that no two pairs share a text.
    format!("turn/{}/{turn}/{call}", turn.len())
}

fn random() -> Result<String, ToolError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| ToolError::unavailable(format!("the system has no random numbers: {error}")))?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

/// The error of a tool, of one of the store.
pub(crate) fn of_store(error: StoreError) -> ToolError {
    match error.problem {
        Problem::Refused(reason) => wrong(reason),
        _ => ToolError::unavailable(error.to_string()),
    }
}

fn wrong(reason: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorKind::InvalidArguments, reason)
}
