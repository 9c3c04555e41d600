//! The tool as one caller sees it: the channels, accounts and conversations that it may use, and the actions that these can do.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use toolkit::prelude::*;
use toolkit::{Caller, Preparation};

use super::NO_SERVICE;
use super::arguments::MessageAction;
use super::place::{self, Place};
use super::service::{MessageCapabilities, MessageChannel, MessageService};
use crate::titles;

/// The most conversations of which the schema names each id. With more, a call checks its target.
const MAX_ENUMERATED: usize = 100;
/// The most conversations that the description lists.
const MAX_DESCRIBED: usize = 30;

/// Hides the tool where there is nobody to write to, and restricts it to what the caller may use.
pub(super) async fn provided(caller: &Caller, tool: &mut Preparation) -> Result<(), ToolError> {
    let Some(service) = tool.service::<dyn MessageService>() else {
        tool.hide(NO_SERVICE);
        return Ok(());
    };
    let channels = service.channels(caller).await?;
    let places: Vec<Place<'_>> = place::all(&channels).collect();
    if places.is_empty() {
        tool.hide("there is no channel that this session may use");
        return Ok(());
    }
    let names = |of: for<'p> fn(&'p Place<'p>) -> &'p str| -> BTreeSet<String> {
        places.iter().map(|place| of(place).to_owned()).collect()
    };
    tool.allow_only("channel", names(|place| &place.channel.name))?;
    tool.allow_only("accountId", names(|place| &place.account.id))?;
    let targets = names(|place| &place.target.id);
    if targets.len() <= MAX_ENUMERATED {
        tool.allow_only("target", targets)?;
    }
    let used = || channels.iter().filter(|channel| is_used(channel));
    let actions: BTreeSet<&str> = used().flat_map(place::actions).map(MessageAction::name).collect();
    let possible = MessageAction::ALL.into_iter().map(MessageAction::name);
    tool.allow_only("action", possible.filter(|name| actions.contains(name)))?;
    for parameter in impossible(&used().map(|channel| channel.can).collect::<Vec<_>>()) {
        tool.remove(parameter)?;
    }
    tool.describe(format!("{}\n\n{}", tool.description(), described(&places)));
    Ok(())
}

/// True if the channel has a conversation.
fn is_used(channel: &MessageChannel) -> bool {
    channel.accounts.iter().any(|account| !account.targets.is_empty())
}

/// The parameters that none of the channels can use.
fn impossible(all: &[MessageCapabilities]) -> Vec<&'static str> {
    let can = |what: fn(&MessageCapabilities) -> bool| all.iter().any(what);
    let parameters: [(bool, &[&str]); 6] = [
        (can(|can| can.media), &["media", "buffer", "filename", "caption"]),
        (can(|can| can.reply), &["replyTo"]),
        (can(|can| can.silent), &["silent"]),
        (can(|can| can.edit || can.delete || can.react), &["messageId"]),
        (can(|can| can.react), &["emoji"]),
        (can(|can| can.poll), &["pollQuestion", "pollOption", "pollMulti"]),
    ];
    parameters.iter().filter(|(is_possible, _)| !is_possible).flat_map(|(_, names)| *names).copied().collect()
}

/// Lists the conversations.
fn described(places: &[Place<'_>]) -> String {
    let mut text = "Targets:".to_owned();
    for place in places.iter().take(MAX_DESCRIBED) {
        let Place { channel, account, target } = place;
        let _ = write!(text, "\n- {} of {}", titles::short(&target.id), titles::short(&channel.name));
        if channel.accounts.len() > 1 {
            let _ = write!(text, ", account {}", titles::short(&account.id));
        }
        if let Some(name) = &target.name {
            let _ = write!(text, ": {}", titles::short(name));
        }
        if target.is_own {
            text.push_str(" (this conversation)");
        }
    }
    if let Some(more) = places.len().checked_sub(MAX_DESCRIBED).filter(|more| *more > 0) {
        let _ = write!(text, "\n- and {more} more");
    }
    text
}
