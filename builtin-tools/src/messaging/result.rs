//! The result of `message`.

use super::service::{MessagePart, MessageState, OutgoingMessage, SentPart};

const UNKNOWN: &str = "nobody knows whether the parts that are `unknown` arrived: do not send them again unless the person says so";
const DEAD: &str = "the parts that are `dead` will not be sent, for the reason that is given";
const PREPARED: &str =
    "the parts that are `prepared` wait, and leave without a further call: do not send them again";

/// The result.
#[toolkit::args]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct MessageResult {
    /// True for a dry run: nothing was sent.
    pub dry_run: Option<bool>,
    /// The channel.
    pub channel: Option<String>,
    /// The account.
    pub account_id: Option<String>,
    /// The conversation.
    pub target: Option<String>,
    /// The parts that are stored, in their order.
    pub sent: Option<Vec<SentPart>>,
    /// For a dry run: the parts that would be sent, in their order.
    pub parts: Option<Vec<MessagePart>>,
    /// For a dry run: the reasons why a call would fail, or would ask first.
    pub problems: Option<Vec<String>>,
    /// Advice for the parts that did not arrive.
    pub advice: Option<String>,
}

impl MessageResult {
    /// The result for parts that are stored: also for a host that finds those of an interrupted call.
    #[must_use]
    pub fn of_sent(channel: &str, account_id: &str, target: &str, sent: Vec<SentPart>) -> Self {
        let advice = [
            (MessageState::Unknown, UNKNOWN),
            (MessageState::Dead, DEAD),
            (MessageState::Prepared, PREPARED),
        ];
        let is_there = |state: MessageState| sent.iter().any(|part| part.state == state);
        let advice: Vec<&str> =
            advice.into_iter().filter(|(state, _)| is_there(*state)).map(|(_, advice)| advice).collect();
        Self {
            channel: Some(channel.to_owned()),
            account_id: Some(account_id.to_owned()),
            target: Some(target.to_owned()),
            advice: (!advice.is_empty()).then(|| advice.join("; ")),
            sent: Some(sent),
            ..Self::default()
        }
    }

    pub(super) fn of_dry_run(
        message: Option<&OutgoingMessage>,
        parts: Vec<MessagePart>,
        problems: Vec<String>,
    ) -> Self {
        Self {
            dry_run: Some(true),
            channel: message.map(|message| message.channel.clone()),
            account_id: message.map(|message| message.account_id.clone()),
            target: message.map(|message| message.target.clone()),
            parts: Some(parts),
            problems: Some(problems),
            ..Self::default()
        }
    }
}
