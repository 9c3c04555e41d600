//! `/v1/stop` and `/v1/backup`, for the owner.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolkit_serve::Problem;
use toolkit_serve::axum::extract::State;
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::post;
use toolkit_serve::axum::{Json, Router};

use super::body::Body;
use super::caller::Caller;
use super::state::HttpState;
use crate::backup;

#[derive(Clone)]
struct Operation {
    state: HttpState,
    stop: CancellationToken,
}

/// Returns the routes with which the owner operates the gateway, for [`service_with`](super::service_with). `stop` is cancelled when it is to
/// stop.
pub fn operation(state: HttpState, stop: CancellationToken) -> Router {
    Router::new()
        .route("/v1/stop", post(stop_gateway))
        .route("/v1/backup", post(back_up))
        .with_state(Operation { state, stop })
}

async fn stop_gateway(
    State(operation): State<Operation>,
    caller: Caller,
) -> Result<(StatusCode, Json<Value>), Problem> {
    caller.check_manager()?;
    operation.stop.cancel();
    Ok((StatusCode::ACCEPTED, Json(json!({ "status": "stopping" }))))
}

/// A backup that is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The directory to make, by its absolute path.
    directory: PathBuf,
}

async fn back_up(
    State(operation): State<Operation>,
    caller: Caller,
    Body(wanted): Body<Wanted>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    caller.check_manager()?;
    if !wanted.directory.is_absolute() {
        let text = "the `directory` of a backup is an absolute path on the machine of the gateway";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, text));
    }
    let (store, transcripts) = (operation.state.store(), operation.state.transcripts());
    let made = backup::back_up(store, transcripts.directory(), &wanted.directory).await;
    made.map_err(|error| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()))?;
    Ok((StatusCode::CREATED, Json(json!({ "directory": wanted.directory }))))
}
