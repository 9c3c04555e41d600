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

use toolkit::{Caller, ToolContext, ToolError, ToolErrorKind};

use crate::store::{Problem, SessionRecord, Store, StoreError, Target};
use crate::{RunId, SessionKey};

/// The key under which a caller carries its session.
const EXTRA: &str = "gatewaySession";

/// Returns the caller of the agent of a session: the services of this crate know by it for which session a tool is called.
#[must_use]
pub fn caller_in(caller: Caller, session: &SessionKey) -> Caller {
    caller.with_extra(EXTRA, session.as_str())
}

/// Returns the session for which a tool is called.
pub(crate) async fn calling(store: &Store, ctx: &ToolContext) -> Result<SessionRecord, ToolError> {
    let outside = || ToolError::unavailable("this call is not made in a session of the gateway");
    let key = ctx.extra_json(EXTRA).and_then(|key| key.as_str()).ok_or_else(outside)?;
    let key: SessionKey = key.parse().map_err(|_| outside())?;
    store.session(key).await.map_err(of_store)?.ok_or_else(outside)
}

/// The run of a session, and where its answer goes.
async fn run_of(store: &Store, session: &SessionKey) -> Result<Option<(RunId, Option<Target>)>, ToolError> {
    let Some(run) = store.run_in_flight(session.clone()).await.map_err(of_store)? else {
        return Ok(None);
    };
    let message = store.message(run.message).await.map_err(of_store)?;
    Ok(Some((run.id, message.and_then(|message| message.reply_to))))
}

/// Names the call for which a row is written, and no other: a call that is made again after a crash has the same name. The model's calls are named
/// by their transcript and answer; those that a tool makes, by the run.
async fn call_origin(store: &Store, ctx: &ToolContext, calling: &SessionRecord) -> Result<String, ToolError> {
    if let Some(turn) = ctx.turn() {
        return Ok(origin_of(turn, ctx.call_id()));
    }
    match run_of(store, &calling.key).await? {
        Some((run, _)) => Ok(format!("run/{run}/{}/{}", ctx.session_key(), ctx.call_id())),
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
