//! Where a message goes: the channel, the account and the conversation, of those that the caller may use.

use toolkit::prelude::*;

use super::arguments::{MessageAction, MessageArguments};
use super::service::{MessageAccount, MessageChannel, MessageTarget};
use super::{quoted, wrong};
use crate::titles;

/// The most names that an error lists.
const MAX_NAMED: usize = 20;

/// A conversation of an account.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) channel: &'a MessageChannel,
    pub(super) account: &'a MessageAccount,
    pub(super) target: &'a MessageTarget,
}

impl Place<'_> {
    /// Returns the pattern by which rules name it.
    pub(super) fn pattern(&self) -> String {
        format!("{}:{}", self.channel.name, self.target.id)
    }

    /// Checks that its channel can do what the arguments need.
    pub(super) fn check(&self, arguments: &MessageArguments) -> Result<(), ToolError> {
        let (name, can) = (&self.channel.name, self.channel.can);
        if !can_do(self.channel, arguments.action) {
            let action = arguments.action.name();
            let actions: Vec<&str> = actions(self.channel).map(MessageAction::name).collect();
            return Err(wrong(format!(
                "the channel `{name}` cannot `{action}`; its actions are {}",
                quoted(&actions)
            )));
        }
        let wanted = [
            (arguments.has_media() && !can.media, "files: give `message` alone"),
            (arguments.reply_to.is_some() && !can.reply, "replies: leave `replyTo` out"),
            (arguments.silent && !can.silent, "messages without a sound: leave `silent` out"),
        ];
        if let Some((_, advice)) = wanted.into_iter().find(|(is_missing, _)| *is_missing) {
            return Err(wrong(format!("the channel `{name}` has no {advice}")));
        }
        let most = self.channel.limits.poll_options;
        match &arguments.poll_option {
            Some(options) if options.len() > most => Err(wrong(format!(
                "`pollOption` has {} options, and a poll of the channel `{name}` has at most {most}: give fewer",
                options.len()
            ))),
            _ => Ok(()),
        }
    }
}

/// The actions of a channel.
pub(super) fn actions(channel: &MessageChannel) -> impl Iterator<Item = MessageAction> {
    MessageAction::ALL.into_iter().filter(|action| can_do(channel, *action))
}

fn can_do(channel: &MessageChannel, action: MessageAction) -> bool {
    let can = channel.can;
    match action {
        MessageAction::Send => true,
        MessageAction::Edit => can.edit,
        MessageAction::Delete => can.delete,
        MessageAction::React => can.react,
        MessageAction::Poll => can.poll,
    }
}

/// Returns all places.
pub(super) fn all(channels: &[MessageChannel]) -> impl Iterator<Item = Place<'_>> {
    channels.iter().flat_map(|channel| {
        channel.accounts.iter().flat_map(move |account| {
            account.targets.iter().map(move |target| Place { channel, account, target })
        })
    })
}

/// Finds the place that the arguments name: of those that they leave open, the caller's own conversation, or else the only one.
pub(super) fn find<'a>(
    channels: &'a [MessageChannel],
    arguments: &MessageArguments,
) -> Result<Place<'a>, ToolError> {
    let mut places: Vec<Place<'a>> = all(channels).collect();
    if places.is_empty() {
        return Err(ToolError::unavailable("there is no channel that this session may use"));
    }
    if let Some(channel) = &arguments.channel {
        let names = names(places.iter().map(|place| &*place.channel.name));
        narrow(&mut places, |place| place.channel.name == *channel)
            .ok_or_else(|| unknown("channel", "channels", channel, "", &names))?;
    }
    if let Some(account) = &arguments.account_id {
        let names = names(places.iter().map(|place| &*place.account.id));
        let of =
            arguments.channel.as_ref().map(|name| format!(" of the channel `{name}`")).unwrap_or_default();
        narrow(&mut places, |place| place.account.id == *account)
            .ok_or_else(|| unknown("account", "accounts", account, &of, &names))?;
    }
    if let Some(target) = &arguments.target {
        let names = names(places.iter().map(|place| &*place.target.id));
        narrow(&mut places, |place| place.target.id == *target).ok_or_else(|| {
            let of = " that this session may write to there";
            unknown("target", "targets", target, of, &names)
        })?;
    }
    if let Some(own) = places.iter().find(|place| place.target.is_own) {
        return Ok(*own);
    }
    if arguments.target.is_none() {
        return Err(wrong(format!(
            "`target` is missing, and this session is in no conversation there: name one of {}",
            names(places.iter().map(|place| &*place.target.id))
        )));
    }
    match &places[..] {
        [only] => Ok(*only),
        several => Err(several_places(several)),
    }
}

/// Keeps the places for which `is_it` returns true; `None` if there are none.
fn narrow<'a>(places: &mut Vec<Place<'a>>, is_it: impl Fn(&Place<'a>) -> bool) -> Option<()> {
    places.retain(is_it);
    (!places.is_empty()).then_some(())
}

/// The error for a target that several accounts know.
fn several_places(places: &[Place<'_>]) -> ToolError {
    let first = &places[0].channel.name;
    let is_one_channel = places.iter().all(|place| place.channel.name == *first);
    if is_one_channel {
        let accounts = names(places.iter().map(|place| &*place.account.id));
        return wrong(format!("several accounts know this target: give `accountId`, one of {accounts}"));
    }
    let channels = names(places.iter().map(|place| &*place.channel.name));
    wrong(format!("several channels know this target: give `channel`, one of {channels}"))
}

fn unknown(kind: &str, kinds: &str, given: &str, of: &str, names: &str) -> ToolError {
    wrong(format!("there is no {kind} `{}`{of}; the {kinds} are {names}", titles::short(given)))
}

/// Lists names, each once.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut listed: Vec<&str> = Vec::new();
    for name in names {
        if !listed.contains(&name) {
            listed.push(name);
        }
    }
    let more = listed.len().saturating_sub(MAX_NAMED);
    listed.truncate(MAX_NAMED);
    let list = quoted(&listed);
    if more == 0 { list } else { format!("{list} and {more} more") }
}
