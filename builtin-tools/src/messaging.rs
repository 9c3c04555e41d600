//! Messages to people through chat channels: `message`, over the service [`MessageService`] of a host that has channels.
//!
//! A call names a channel, an account and a conversation of those that the service lists for its caller, or means the caller's own
//! conversation. The message is composed whole, with the bytes of its files, before a person or a rule allows it; then the service stores
//! its parts, and they leave in order.

mod arguments;
mod compose;
mod media;
mod place;
mod prepare;
mod question;
mod result;
mod service;

pub use arguments::{MessageAction, MessageArguments};
pub use result::MessageResult;
pub use service::{
    MessageAccount, MessageAnswer, MessageCapabilities, MessageChannel, MessageContent, MessageLimits,
    MessageMedia, MessagePart, MessagePartKind, MessageService, MessageState, MessageTarget, OutgoingMessage,
    SentPart,
};

use std::time::Duration;

use toolkit::ToolErrorKind;
use toolkit::prelude::*;

use crate::titles;
use compose::Composing;
use prepare::provided;

const NO_SERVICE: &str = "this host sends no messages; a gateway does";
/// The longest time that a call waits until its parts have left.
const MAX_WAIT: Duration = Duration::from_secs(15);

/// Sends messages, files and polls to people through chat channels, and edits, deletes and marks messages there. To answer in this
/// conversation, answer: your words arrive without this tool.
///
/// Each part has a state: `delivered`; `prepared` (it leaves without a further call); `unknown` (nobody knows if it arrived: do not send it
/// again unless the person says so); `dead` (it will not be sent). The text is sent as it is: no line of it attaches a file.
///
/// # Errors
///
/// If the channel, the account or the target is not one that the caller may use, the channel cannot do the action, a field is missing or does
/// not fit, a file cannot be read, or the action is denied.
#[tool(
    name = "message",
    group = "messaging",
    title = "Send a message",
    permission = "message",
    always_asks,
    open_world,
    prepare = provided
)]
pub async fn message(
    ctx: &ToolContext,
    #[args] arguments: MessageArguments,
) -> Result<Json<MessageResult>, ToolError> {
    let service = ctx.service::<dyn MessageService>().ok_or_else(|| ToolError::unavailable(NO_SERVICE))?;
    titles::begin(ctx, words(&arguments), arguments.target.as_deref().unwrap_or("this conversation"));
    let channels = service.channels(ctx.caller()).await?;
    let mut composing = Composing::new(ctx, &*service, arguments.dry_run);
    let composed = composing.compose(&channels, arguments).await?;
    if composing.is_dry() {
        let problems = composing.into_problems();
        let (message, parts) =
            composed.map_or((None, Vec::new()), |composed| (Some(composed.message), composed.parts));
        return Ok(Json(MessageResult::of_dry_run(message.as_ref(), parts, problems)));
    }
    let composed = composed.ok_or_else(|| ToolError::failed("the message could not be composed"))?;
    ctx.ask(composed.question()).await?;
    let place = composed.place;
    let mut sent = service.send(ctx, composed.message).await?;
    let mut unread = None;
    if sent.iter().any(|part| part.state == MessageState::Prepared) {
        let ids: Vec<String> = sent.iter().map(|part| part.id.clone()).collect();
        match service.outcome(ctx, &ids, MAX_WAIT).await {
            Ok(outcome) => sent = outcome,
            // The parts are stored all the same: an error would have the model send them again.
            Err(error) => unread = Some(format!("the outcome could not be read: {}", error.message())),
        }
    }
    let mut result = MessageResult::of_sent(&place.channel.name, &place.account.id, &place.target.id, sent);
    result.advice = unread.into_iter().chain(result.advice).reduce(|one, next| format!("{one}; {next}"));
    Ok(Json(result))
}

/// The words for a call, which precede the target.
fn words(arguments: &MessageArguments) -> &'static str {
    match arguments.action {
        MessageAction::Send if arguments.dry_run => "Compose a message to",
        MessageAction::Send => "Send a message to",
        MessageAction::Edit => "Edit a message in",
        MessageAction::Delete => "Delete a message in",
        MessageAction::React => "Put an emoji on a message in",
        MessageAction::Poll => "Send a poll to",
    }
}

/// Lists names in code, with commas.
fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{}`", titles::short(name))).collect();
    names.join(", ")
}

fn wrong(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorKind::InvalidArguments, message)
}
