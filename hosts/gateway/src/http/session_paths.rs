//! The session that a path or a parameter names.

use toolkit_serve::Problem;
use toolkit_serve::axum::http::StatusCode;

use super::caller::Caller;
use super::state::HttpState;
use crate::store::{SessionFilter, SessionRecord};
use crate::{SessionKey, ShortKey};

/// A session that a person may see, or may begin.
pub(super) struct Named {
    pub(super) key: SessionKey,
    /// `None` if it has not begun.
    pub(super) record: Option<SessionRecord>,
}

/// Finds the session that a person means: by its key, by the short form of the key, or `main` for their own one with their agent.
///
/// One that they may not see is not found, as one that is not there.
pub(super) async fn find(state: &HttpState, caller: &Caller, text: &str) -> Result<Named, Problem> {
    let key = key(state, caller, text).await?;
    let record = state.store().session(key.clone()).await?;
    let may = match &record {
        Some(_) => caller.may_see(state.store(), &key).await?,
        None => caller.may_begin(&key),
    };
    if may { Ok(Named { key, record }) } else { Err(not_found(text)) }
}

/// Finds a session that has begun.
pub(super) async fn find_begun(
    state: &HttpState,
    caller: &Caller,
    text: &str,
) -> Result<SessionRecord, Problem> {
    find(state, caller, text).await?.record.ok_or_else(|| not_found(text))
}

async fn key(state: &HttpState, caller: &Caller, text: &str) -> Result<SessionKey, Problem> {
    if text == "main" {
        return Ok(caller.main_session(caller.agent())?);
    }
    let Ok(short) = text.parse::<ShortKey>() else { return Ok(text.parse()?) };
    let seen_by = caller.seen_by();
    let filter =
        SessionFilter { short: Some(short), seen_by, with_archived: true, ..SessionFilter::default() };
    let mut found = state.store().sessions(filter).await?.into_iter().map(|session| session.key);
    match (found.next(), found.next()) {
        (Some(key), None) => Ok(key),
        (None, _) => Err(not_found(text)),
        (Some(one), Some(other)) => Err(Problem::new(
            StatusCode::CONFLICT,
            format!(
                "`{}` may mean `{one}` or `{other}`, or others; write the whole key",
                text.escape_debug()
            ),
        )),
    }
}

fn not_found(text: &str) -> Problem {
    let text = format!(
        "there is no session `{}`; GET /v1/sessions lists those that you may see",
        text.escape_debug()
    );
    Problem::new(StatusCode::NOT_FOUND, text)
}
