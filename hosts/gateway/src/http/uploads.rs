//! `/v1/uploads`: files for the agent of a person, in its workspace.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use toolkit_serve::axum::extract::rejection::{BytesRejection, PathRejection};
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::{delete, get};
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{BodyLimits, Problem, Query};

use super::caller::Caller;
use super::persons_tools::PersonsTools;
use crate::uploads::{MAX_FILE_BYTES, UploadError, Uploads};

/// The path of uploads, at which larger bodies are read.
pub(super) const PATH: &str = "/v1/uploads";
/// Bodies of this size that are in memory at once: of all people, and of one.
pub(super) const MAX_AT_ONCE: (usize, usize) = (8, 2);
/// Time for a body to arrive.
const WITHIN: Duration = Duration::from_mins(5);

/// The limits of the body of an upload.
pub(super) fn limits() -> BodyLimits {
    BodyLimits::new(MAX_FILE_BYTES, WITHIN)
}

/// Returns the routes of uploads.
pub(super) fn routes(tools: Arc<dyn PersonsTools>) -> Router {
    Router::new()
        .route(PATH, get(list).post(save))
        .route("/v1/uploads/{name}", delete(remove))
        .with_state(tools)
}

async fn list(
    State(tools): State<Arc<dyn PersonsTools>>,
    caller: Caller,
    query: Query,
) -> Result<Json<Value>, Problem> {
    let uploads = in_workspace(tools, caller, query, Uploads::list).await?;
    Ok(Json(json!({ "uploads": uploads })))
}

async fn save(
    State(tools): State<Arc<dyn PersonsTools>>,
    caller: Caller,
    mut query: Query,
    content: Result<Bytes, BytesRejection>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let content = content?;
    let name = query.one("name")?.ok_or_else(|| {
        Problem::new(StatusCode::BAD_REQUEST, "the parameter `name` is missing: the name of the file")
    })?;
    let saved = in_workspace(tools, caller, query, move |uploads| uploads.save(&name, &content)).await?;
    let (upload, digest) = saved;
    let mut upload = json!(upload);
    upload["sha256"] = digest.into();
    Ok((StatusCode::CREATED, Json(upload)))
}

async fn remove(
    State(tools): State<Arc<dyn PersonsTools>>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Query,
) -> Result<StatusCode, Problem> {
    let Path(name) = path?;
    let shown = name.clone();
    if in_workspace(tools, caller, query, move |uploads| uploads.remove(&name)).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    let text = format!("there is no uploaded file `{}`", shown.escape_debug());
    Err(Problem::new(StatusCode::NOT_FOUND, text))
}

/// Does something in the directory of the person's workspace with the agent that the query names.
async fn in_workspace<T: Send + 'static>(
    tools: Arc<dyn PersonsTools>,
    caller: Caller,
    mut query: Query,
    act: impl FnOnce(&Uploads) -> Result<T, UploadError> + Send + 'static,
) -> Result<T, Problem> {
    let agent = query.one("agent")?;
    query.finish()?;
    let done = tokio::task::spawn_blocking(move || {
        let workspace = workspace(&*tools, &caller, agent.as_deref())?;
        Uploads::open(&workspace).and_then(|uploads| act(&uploads)).map_err(|error| problem(&caller, &error))
    });
    let stopped = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the gateway stops");
    done.await.map_err(|_| stopped())?
}

fn workspace(tools: &dyn PersonsTools, caller: &Caller, agent: Option<&str>) -> Result<PathBuf, Problem> {
    let of_person = tools.caller(caller, agent)?;
    let none = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the agent has no workspace");
    of_person.workspace.ok_or_else(none)
}

fn problem(caller: &Caller, error: &UploadError) -> Problem {
    let status = match error {
        UploadError::Name => StatusCode::BAD_REQUEST,
        UploadError::Full(_) => StatusCode::INSUFFICIENT_STORAGE,
        UploadError::Io(_) => {
            // It may name files of this machine.
            tracing::error!(person = caller.name(), %error, "a file cannot be uploaded");
            let text = "the directory of uploads cannot be used; the owner finds the reason in the log";
            let told = if caller.is_manager() { error.to_string() } else { text.to_owned() };
            return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, told);
        }
    };
    Problem::new(status, error.to_string())
}
