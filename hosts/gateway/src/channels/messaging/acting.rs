//! Actions of the tools of platforms' crates: the conversations are those of the tool `message`, and each action is a row of the outbox.

use std::time::Duration;

use serde_json::json;
use toolkit::{ToolContext, ToolError, ToolErrorKind};
use toolkit_channel::{
    ActionOutcome, Future, PlatformAction, PlatformConversation, PlatformService, WantedConversation,
};

use super::{ChannelMessages, Reachable};
use crate::fail_points;
use crate::outbox::{outcome, sent_part};
use crate::session_tools::{call_origin, calling, of_store};
use crate::store::{NewDelivery, SessionRecord, Target};

/// The longest time that a call waits until its action was carried out.
const MAX_WAIT: Duration = Duration::from_secs(15);
/// The most conversations that an error lists.
const MAX_LISTED: usize = 20;

impl ChannelMessages {
    /// Returns the conversations of a channel that a session may write to.
    async fn of_channel(&self, session: &SessionRecord, channel: &str) -> Result<Vec<Reachable>, ToolError> {
        let mut reachable = self.reachable(session).await?;
        reachable.retain(|reachable| reachable.account.channel == channel);
        Ok(reachable)
    }
}

impl PlatformService for ChannelMessages {
    fn find<'a>(
        &'a self,
        ctx: &'a ToolContext,
        wanted: &'a WantedConversation,
    ) -> Future<'a, Result<PlatformConversation, ToolError>> {
        Box::pin(async move {
            let session = calling(&self.0.store, ctx).await?;
            let reachable = self.of_channel(&session, &wanted.channel).await?;
            found(reachable, wanted)
        })
    }

    fn act<'a>(
        &'a self,
        ctx: &'a ToolContext,
        conversation: &'a PlatformConversation,
        action: PlatformAction,
    ) -> Future<'a, Result<ActionOutcome, ToolError>> {
        Box::pin(async move {
            let session = calling(&self.0.store, ctx).await?;
            let PlatformConversation { channel, account, conversation, .. } = conversation;
            let is_it = |reachable: &Reachable| {
                reachable.account.id == *account && reachable.conversation == *conversation
            };
            if !self.of_channel(&session, channel).await?.iter().any(is_it) {
                return Err(wrong("this conversation cannot be written to any more".to_owned()));
            }
            let target = Target::new(channel, account, conversation.to_string());
            let origin = call_origin(&self.0.store, ctx, &session, &(&target, &action)).await?;
            let PlatformAction { name, arguments } = action;
            let body = json!({ "action": "platform", "name": name, "arguments": arguments });
            let delivery = NewDelivery::new(target, body);
            let stored = self.0.store.prepare_message(session.key.clone(), origin, vec![delivery]).await;
            let stored = stored.map_err(of_store)?;
            fail_points::pass("after_prepare_action");
            let ids: Vec<String> = stored.iter().map(|delivery| delivery.id.to_string()).collect();
            // The row is stored all the same: an error would have the model act again.
            let (parts, unread) = match self.settled(&session.key, &ids, MAX_WAIT).await {
                Ok(parts) => (parts, None),
                Err(error) => (
                    stored.into_iter().map(sent_part).collect(),
                    Some(format!("the outcome could not be read: {}", error.message())),
                ),
            };
            let part = parts.into_iter().next();
            let part =
                part.ok_or_else(|| ToolError::failed("the action could not be found in the outbox"))?;
            Ok(outcome(part, unread))
        })
    }
}

/// Returns the conversation that a call means: of those of several accounts, that of the account by which the caller is written to.
fn found(reachable: Vec<Reachable>, wanted: &WantedConversation) -> Result<PlatformConversation, ToolError> {
    let WantedConversation { channel, peer, thread } = wanted;
    let own = reachable.iter().find(|reachable| reachable.is_own).map(|own| own.account.id.clone());
    let peers: Vec<String> = reachable.iter().map(|reachable| reachable.conversation.peer.clone()).collect();
    let mut places: Vec<Reachable> = match peer {
        Some(peer) => {
            reachable.into_iter().filter(|reachable| reachable.conversation.peer == *peer).collect()
        }
        None => reachable.into_iter().filter(|reachable| reachable.is_own).collect(),
    };
    if let Some(own) = own
        && places.iter().any(|place| place.account.id == own)
    {
        places.retain(|place| place.account.id == own);
    }
    let place = match (places.pop(), peer) {
        (Some(place), _) if places.is_empty() => place,
        (Some(_), _) => {
            return Err(wrong(format!("several accounts of `{channel}` know this conversation")));
        }
        (None, Some(peer)) => {
            return Err(wrong(format!(
                "this session may not write to `{}` on `{channel}`; {}",
                peer.escape_debug(),
                listed(peers)
            )));
        }
        (None, None) => {
            return Err(wrong(format!(
                "this session is in no conversation of `{channel}`; {}",
                listed(peers)
            )));
        }
    };
    if let Some(thread) = thread
        && place.conversation.thread.as_ref() != Some(thread)
    {
        return Err(wrong(format!(
            "this session may not write to the thread `{}` of `{}` on `{channel}`: leave the thread out",
            thread.escape_debug(),
            place.conversation.peer
        )));
    }
    let Reachable { account, conversation, is_own, .. } = place;
    Ok(PlatformConversation { channel: account.channel, account: account.id, conversation, is_own })
}

/// The part of an error that lists the conversations of a session.
fn listed(mut peers: Vec<String>) -> String {
    peers.sort();
    peers.dedup();
    if peers.is_empty() {
        return "there is none that it may write to".to_owned();
    }
    let more = peers.len().saturating_sub(MAX_LISTED);
    peers.truncate(MAX_LISTED);
    let names = peers.iter().map(|peer| format!("`{peer}`")).collect::<Vec<_>>().join(", ");
    if more == 0 {
        format!("it may write to {names}")
    } else {
        format!("it may write to {names} and {more} more")
    }
}

fn wrong(message: String) -> ToolError {
    ToolError::new(ToolErrorKind::InvalidArguments, message)
}
