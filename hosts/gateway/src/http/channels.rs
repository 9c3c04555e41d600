//! `/v1/channels`: accounts of chat channels.

use serde::Deserialize;
use serde_json::{Value, json};
use toolkit_channel::Conversation;
use toolkit_serve::axum::extract::State;
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::{get, post};
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::body::Body;
use super::caller::Caller;
use super::state::HttpState;
use crate::Channels;
use crate::store::{NewDelivery, Target};

/// The parts that these routes use.
#[derive(Clone)]
struct OfChannels {
    state: HttpState,
    channels: Channels,
}

/// Returns the routes of channels, for [`service_with`](super::service_with).
pub fn channels(state: HttpState, channels: Channels) -> Router {
    Router::new()
        .route("/v1/channels", get(list))
        .route("/v1/channels/test", post(test))
        .with_state(OfChannels { state, channels })
}

async fn list(State(of): State<OfChannels>, caller: Caller, query: Query) -> Result<Json<Value>, Problem> {
    query.finish()?;
    caller.check_manager()?;
    Ok(Json(json!({ "channels": of.channels.list().await? })))
}

/// A message to oneself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    channel: String,
    account: Option<String>,
}

/// Sends a message to the identities of the caller on a channel. Returns the deliveries, which say what became of them.
async fn test(
    State(of): State<OfChannels>,
    caller: Caller,
    Body(Wanted { channel, account }): Body<Wanted>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    caller.check_manager()?;
    let Some(account) = of.channels.account(&channel, account.as_deref()) else {
        let text = format!(
            "there is no such account of `{}`, or several and none was named; GET /v1/channels lists them",
            channel.escape_debug()
        );
        return Err(Problem::new(StatusCode::NOT_FOUND, text));
    };
    let identities = of.state.store().identities(Some(caller.name().to_owned())).await?;
    let deliveries: Vec<NewDelivery> = identities
        .into_iter()
        .filter(|identity| identity.channel == channel)
        .map(|identity| {
            let conversation = Conversation::direct(identity.sender).to_string();
            let target = Target::new(&*channel, &*account.id, conversation);
            NewDelivery::new(target, json!({ "text": "This is a test of the gateway: the channel works." }))
        })
        .collect();
    if deliveries.is_empty() {
        let text = format!(
            "you have no identity on `{}`: write to the account, and approve yourself with the code that you get",
            channel.escape_debug()
        );
        return Err(Problem::new(StatusCode::CONFLICT, text));
    }
    let prepared = of.state.store().prepare_test(deliveries).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "deliveries": prepared }))))
}
