//! The services of tools that act for a session: which session calls, and whose it is.

mod jobs;

pub use jobs::StoredJobs;

use toolkit::{Caller, ToolContext, ToolError, ToolErrorKind};

use crate::SessionKey;
use crate::store::{Problem, SessionRecord, Store, StoreError};

/// The key under which a caller carries its session.
const EXTRA: &str = "gatewaySession";

/// Returns the caller of the agent of a session: the services of this crate know by it for which session a tool is called.
#[must_use]
pub fn caller_in(caller: Caller, session: &SessionKey) -> Caller {
    caller.with_extra(EXTRA, session.as_str())
}

/// Returns the session for which a tool is called.
async fn calling(store: &Store, ctx: &ToolContext) -> Result<SessionRecord, ToolError> {
    let outside =
        || ToolError::unavailable("this call is not made in a session of the gateway, so it has no jobs");
    let key = ctx.extra_json(EXTRA).and_then(|key| key.as_str()).ok_or_else(outside)?;
    let key: SessionKey = key.parse().map_err(|_| outside())?;
    store.session(key).await.map_err(of_store)?.ok_or_else(outside)
}

/// The error of a tool, of one of the store.
fn of_store(error: StoreError) -> ToolError {
    match error.problem {
        Problem::Refused(reason) => wrong(reason),
        _ => ToolError::unavailable(error.to_string()),
    }
}

fn wrong(reason: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorKind::InvalidArguments, reason)
}
