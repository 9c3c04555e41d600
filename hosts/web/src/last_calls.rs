//! `/v1/tools/{name}/calls`: the calls of a tool that the history has, for the owner of the host.

use crate::accept::AcceptsJson;
use crate::access::Access;
use crate::answer::Answer;
use crate::problems::unknown_tool;
use crate::web::Web;
use serde_json::json;
use std::collections::VecDeque;
use std::io;
use std::path::{Path as FilePath, PathBuf};
use toolkit::history::{HistoryEntry, HistoryItem, HistoryReader};
use toolkit_serve::axum::extract::rejection::PathRejection;
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::{StatusCode, Uri};
use toolkit_serve::{Problem, Query};

/// Calls that one answer has.
const MAX_CALLS: usize = 20;
/// Bytes of the calls of one answer, as JSON: a larger call is there without arguments and output.
const MAX_BYTES: usize = 256 << 10;

pub(crate) async fn list(
    State(web): State<Web>,
    access: Access,
    _: AcceptsJson,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
) -> Result<Answer, Problem> {
    let Path(name) = path?;
    let [] = Query::of(&uri).only([])?;
    let client = web.inner.clients.of(&access)?;
    let toolbox = web.inner.toolbox(&access, &client).await;
    let is_there = toolbox.tool(&name).is_some() || web.inner.toolkit.tool(&name).is_some();
    if !(is_there && web.inner.is_visible(&toolbox, &access, &name)) {
        return Err(unknown_tool(&name));
    }
    let Some(data_dir) = data_dir(&web, &access) else {
        let text = "the calls of a tool are for the owner of a host that keeps a history";
        return Err(Problem::new(StatusCode::NOT_FOUND, text));
    };
    // A long history is read once at a time.
    let _turn = web.inner.reading.lock().await;
    let read = tokio::task::spawn_blocking(move || last(&data_dir, &name)).await;
    let read = read.unwrap_or_else(|error| Err(io::Error::other(error)));
    let calls = read.map_err(|error| {
        tracing::error!(%error, "the history cannot be read");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the history cannot be read: {error}"))
    })?;
    Answer::ok(&json!({ "calls": calls }), &client.sent)
}

/// Returns the data directory of the history, if the client may read it.
pub(crate) fn data_dir(web: &Web, access: &Access) -> Option<PathBuf> {
    web.inner.options.history.clone().filter(|_| access.is_owner() && !access.is_limited())
}

/// Returns the last calls of a tool, the newest first.
fn last(data_dir: &FilePath, tool: &str) -> io::Result<Vec<serde_json::Value>> {
    let mut found: VecDeque<HistoryEntry> = VecDeque::new();
    for item in HistoryReader::of_data_dir(data_dir)? {
        if let HistoryItem::Call(call) = item?
            && call.tool == tool
        {
            if found.len() == MAX_CALLS {
                found.pop_front();
            }
            found.push_back(*call);
        }
    }
    let mut left = MAX_BYTES;
    let shown = found.into_iter().rev().map(|call| {
        let whole = json!(call);
        let bytes = whole.to_string().len();
        if bytes <= left {
            left -= bytes;
            return whole;
        }
        json!({ "time": whole["time"], "key": call.key, "tool": call.tool, "status": call.status, "durationUs": whole["durationUs"], "cut": true })
    });
    Ok(shown.collect())
}
