//! `telegram_send_poll`.

use crate::api::BotApi;
use crate::chat::Chat;
use crate::way::Way;
use serde::{Deserialize, Serialize};
use toolkit::ToolErrorKind;
use toolkit::prelude::*;
use toolkit_channel::ActionState;

/// The name of the action in a gateway.
pub(crate) const ACTION: &str = "poll";

/// The kind of poll.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum PollType {
    /// A vote.
    Regular,
    /// A quiz with right answers.
    Quiz,
}

/// A poll to send.
#[toolkit::args]
struct Poll {
    /// The text that the poll asks.
    #[arg(length(1..=300), example = "Where do we meet?")]
    question: String,
    /// The answer options, each of 1 to 100 characters.
    #[arg(length(1..=12))]
    #[schemars(inner(length(min = 1, max = 100)))]
    options: Vec<String>,
    /// The kind of poll.
    #[arg(default = PollType::Regular, rename = "type")]
    kind: PollType,
    /// For a quiz, required: indices of the right options, from 0.
    #[arg(default, length(..=12))]
    #[schemars(inner(range(max = 11)))]
    correct_option_ids: Vec<u32>,
    /// For a quiz: text shown after a wrong answer; at most 2 line feeds.
    #[arg(length(1..=200))]
    explanation: Option<String>,
    /// Hide who voted for what.
    #[arg(default = true)]
    is_anonymous: bool,
    /// Allow several answers.
    #[arg(default = false)]
    allows_multiple_answers: bool,
    /// Close automatically after this many seconds.
    #[arg(range(5..=2_628_000))]
    open_period: Option<u32>,
    /// Send without a sound.
    #[arg(default = false)]
    disable_notification: bool,
    /// The topic, in a group with topics.
    #[arg(range(1..))]
    message_thread_id: Option<i64>,
    /// The chat, as a number or `@name`. Default: this conversation.
    #[arg(pattern = "^(-?[1-9][0-9]{0,15}|@[A-Za-z][A-Za-z0-9_]{3,31})$", example = "-1001234567890")]
    chat_id: Option<String>,
}

/// The fields of `sendPoll` besides the chat.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PollFields {
    question: String,
    options: Vec<InputPollOption>,
    is_anonymous: bool,
    r#type: PollType,
    allows_multiple_answers: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    correct_option_ids: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    explanation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open_period: Option<u32>,
    disable_notification: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputPollOption {
    text: String,
}

/// The body of `sendPoll`.
#[derive(Serialize)]
struct SendPoll<'a> {
    chat_id: &'a Chat,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_thread_id: Option<i64>,
    #[serde(flatten)]
    fields: PollFields,
}

/// The needed fields of the resulting message.
#[derive(Deserialize)]
struct PollMessage {
    message_id: i64,
    chat: MessageChat,
    poll: Option<MessagePoll>,
}

#[derive(Deserialize)]
struct MessageChat {
    id: i64,
}

#[derive(Deserialize)]
struct MessagePoll {
    id: String,
}

/// The poll that was sent.
#[toolkit::args]
#[derive(Default)]
struct SentPoll {
    /// The message's id, for pinning it.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<i64>,
    /// The chat.
    chat_id: i64,
    /// The poll.
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_id: Option<String>,
    /// In a gateway: the row of the outbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    outbox_id: Option<String>,
    /// In a gateway: the state of this row.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<ActionState>,
    /// In a gateway: the reason and what to do, unless the poll was delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// Sends a poll or a quiz to a Telegram chat. Returns the message's id.
#[tool(group = "telegram", title = "Send a poll", permission = "message", always_asks, open_world)]
async fn telegram_send_poll(
    ctx: &ToolContext,
    bot: State<BotApi>,
    #[args] poll: Poll,
) -> Result<Json<SentPoll>, ToolError> {
    check(&poll)?;
    let way = Way::of(ctx, poll.chat_id.as_deref(), poll.message_thread_id).await?;
    if let Way::Bot(_) = &way {
        bot.check()?;
    }
    let what = if poll.kind == PollType::Quiz { "Send a quiz to" } else { "Send a poll to" };
    let ask = way.ask(ctx, what).with_text("question", &poll.question);
    ctx.ask(ask.with_text("options", poll.options.join("\n"))).await?;
    let message_thread_id = poll.message_thread_id;
    let fields = fields(poll);
    match way {
        Way::Host(hosted) => {
            let outcome = hosted.act(ctx, ACTION, &fields).await?;
            let is_sent = outcome.state == ActionState::Delivered;
            ctx.set_title(format!(
                "{} a poll to {}",
                if is_sent { "Sent" } else { "Asked to send" },
                hosted.peer()
            ));
            Ok(Json(SentPoll {
                message_id: outcome.message_id.as_ref().and_then(|id| id.parse().ok()),
                chat_id: hosted.peer().parse().unwrap_or_default(),
                advice: (!is_sent).then(|| outcome.explained()),
                outbox_id: Some(outcome.id),
                state: Some(outcome.state),
                ..SentPoll::default()
            }))
        }
        Way::Bot(chat) => {
            let body = SendPoll { chat_id: &chat, message_thread_id, fields };
            let message: PollMessage = bot.call("sendPoll", &body).await?;
            ctx.set_title(format!("Sent a poll to {chat}"));
            Ok(Json(SentPoll {
                message_id: Some(message.message_id),
                chat_id: message.chat.id,
                poll_id: message.poll.map(|poll| poll.id),
                ..SentPoll::default()
            }))
        }
    }
}

fn fields(poll: Poll) -> PollFields {
    PollFields {
        question: poll.question,
        options: poll.options.into_iter().map(|text| InputPollOption { text }).collect(),
        is_anonymous: poll.is_anonymous,
        r#type: poll.kind,
        allows_multiple_answers: poll.allows_multiple_answers,
        correct_option_ids: poll.correct_option_ids,
        explanation: poll.explanation,
        open_period: poll.open_period,
        disable_notification: poll.disable_notification,
    }
}

/// Checks the platform's requirements that the schema does not express.
fn check(poll: &Poll) -> Result<(), ToolError> {
    let invalid = |message: String| Err(ToolError::new(ToolErrorKind::InvalidArguments, message));
    if poll.question.trim().is_empty() {
        return invalid("`question` is blank".to_owned());
    }
    if let Some(place) = poll.options.iter().position(|option| option.trim().is_empty()) {
        return invalid(format!("`options[{place}]` is blank"));
    }
    if poll.kind == PollType::Regular {
        if !poll.correct_option_ids.is_empty() {
            return invalid(
                "`correct_option_ids` is for a quiz: give `type` \"quiz\", or leave it out".to_owned(),
            );
        }
        if poll.explanation.is_some() {
            return invalid("`explanation` is for a quiz: give `type` \"quiz\", or leave it out".to_owned());
        }
        return Ok(());
    }
    let ids = &poll.correct_option_ids;
    if ids.is_empty() {
        return invalid(
            "a quiz needs `correct_option_ids`: the places of the right answers, counted from 0".to_owned(),
        );
    }
    if !ids.is_sorted_by(|one, next| one < next) {
        return invalid("`correct_option_ids` must go up, each place once".to_owned());
    }
    if let Some(id) = ids.iter().find(|id| **id as usize >= poll.options.len()) {
        let last = poll.options.len() - 1;
        return invalid(format!("`correct_option_ids` names the option {id}, and the last one is {last}"));
    }
    if ids.len() > 1 && !poll.allows_multiple_answers {
        return invalid(
            "a quiz with several right answers needs `allows_multiple_answers`: otherwise nobody could give them".to_owned(),
        );
    }
    if poll.explanation.as_ref().is_some_and(|text| text.matches('\n').count() > 2) {
        return invalid("`explanation` has more than 2 line feeds".to_owned());
    }
    Ok(())
}
