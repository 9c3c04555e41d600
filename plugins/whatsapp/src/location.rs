//! `whatsapp_send_location`.

use crate::graph::{CloudApi, Content, SentMessageId};
use crate::recipient::Recipient;
use serde_json::{Map, Value};
use toolkit::prelude::*;

/// A location to send.
#[toolkit::args]
struct Place {
    /// The latitude in degrees, north positive.
    #[arg(range(-90.0..=90.0), example = 37.4421)]
    latitude: f64,
    /// The longitude in degrees, east positive.
    #[arg(range(-180.0..=180.0), example = -122.1615)]
    longitude: f64,
    /// The place's name.
    #[arg(length(1..=1_000), example = "Philz Coffee")]
    name: Option<String>,
    /// The address: street, town, country.
    #[arg(length(1..=1_000), example = "101 Forest Ave, Palo Alto, CA 94301")]
    address: Option<String>,
    /// The id of the message to reply to: `wamid.…`.
    #[arg(length(1..=256))]
    reply_to: Option<String>,
    /// The recipient's phone number with country code. Default: this conversation.
    #[arg(pattern = "^\\+?[1-9][0-9]{6,14}$", example = "+16505551234")]
    to: Option<String>,
}

/// Sends a location, shown on a map, to a WhatsApp conversation. Returns the message's id.
#[tool(group = "whatsapp", title = "Send a place", permission = "message", always_asks, open_world)]
async fn whatsapp_send_location(
    ctx: &ToolContext,
    api: State<CloudApi>,
    #[args] place: Place,
) -> Result<Json<SentMessageId>, ToolError> {
    let to = Recipient::of(ctx, place.to.as_deref())?;
    // Documented as texts; written so that no digit is lost.
    let mut location = Map::new();
    location.insert("latitude".to_owned(), place.latitude.to_string().into());
    location.insert("longitude".to_owned(), place.longitude.to_string().into());
    for (key, value) in [("name", &place.name), ("address", &place.address)] {
        if let Some(value) = value {
            location.insert(key.to_owned(), value.as_str().into());
        }
    }
    let mut ask = to.ask(ctx, "Send a place to");
    for (key, value) in &location {
        ask = ask.with_text(key, value.as_str().unwrap_or_default());
    }
    ctx.ask(ask).await?;
    let sent = api.send(&to, place.reply_to.as_deref(), Content::Location(&Value::Object(location))).await?;
    ctx.set_title(format!("Sent a place to {to}"));
    Ok(Json(sent))
}
