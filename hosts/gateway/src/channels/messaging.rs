//! The service behind the tool `message`: who may be written to, and the rows of the outbox.

mod acting;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use builtin_tools::messaging::{
    MessageAccount, MessageAnswer, MessageCapabilities, MessageChannel, MessageContent, MessageLimits,
    MessagePart, MessagePartKind, MessageService, MessageState, MessageTarget, OutgoingMessage, SentPart,
};
use serde_json::{Value, json};
use toolkit::{Caller, ToolContext, ToolError, ToolErrorKind};
use toolkit_channel::{Account, Conversation, ConversationKind, MediaKind};

use super::ChannelSettings;
use super::kept_files::keep;
use super::sending::FILES;
use crate::SessionKey;
use crate::outbox::sent_part;
use crate::people::is_owners;
use crate::session_tools::{call_origin, calling, of_store, session_of};
use crate::store::{NewDelivery, SessionRecord, Store, Target};

/// The longest pause between two looks at parts that wait.
const LOOK: Duration = Duration::from_secs(1);

/// The messages that tools send. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ChannelMessages(Arc<Inner>);

struct Inner {
    store: Store,
    accounts: Vec<Account>,
    files: PathBuf,
    settings: OnceLock<Arc<dyn Fn() -> ChannelSettings + Send + Sync>>,
}

/// A conversation that a caller may write to.
struct Reachable {
    account: Account,
    conversation: Conversation,
    name: Option<String>,
    is_own: bool,
}

impl ChannelMessages {
    pub(crate) fn new(store: Store, accounts: Vec<Account>, data_dir: &Path) -> Self {
        let files = data_dir.join(FILES);
        Self(Arc::new(Inner { store, accounts, files, settings: OnceLock::new() }))
    }

    /// Uses the groups of the configuration.
    pub(crate) fn begin(&self, settings: Arc<dyn Fn() -> ChannelSettings + Send + Sync>) {
        let _ = self.0.settings.set(settings);
    }

    /// The conversations that a session may write to: its own one, those of its person, and for the owner those of all people and of the
    /// groups that are configured.
    async fn reachable(&self, session: &SessionRecord) -> Result<Vec<Reachable>, ToolError> {
        let Inner { store, accounts, settings, .. } = &*self.0;
        let own = store.answers_to(session.key.clone()).await.map_err(of_store)?;
        let is_owner = is_owners(session);
        let of_person = match (&session.person, is_owner) {
            (_, true) => store.identities(None).await,
            (Some(person), false) => store.identities(Some(person.clone())).await,
            (None, false) => Ok(Vec::new()),
        };
        let identities = of_person.map_err(of_store)?;
        let blocked = store.people().await.map_err(of_store)?;
        let is_blocked =
            |name: &str| blocked.iter().any(|person| person.name == name && person.blocked_at.is_some());
        let groups = match settings.get() {
            Some(settings) if is_owner => settings().groups.into_keys().collect(),
            _ => Vec::new(),
        };
        let mut reachable: Vec<Reachable> = Vec::new();
        for account in accounts {
            if let Some(own) = &own
                && own.channel == account.channel
                && own.account == account.id
                && let Ok(conversation) = own.conversation.parse()
            {
                reachable.push(Reachable {
                    account: account.clone(),
                    conversation,
                    name: None,
                    is_own: true,
                });
            }
            let direct = identities
                .iter()
                .filter(|identity| identity.channel == account.channel && !is_blocked(&identity.person))
                .map(|identity| (Conversation::direct(&*identity.sender), Some(identity.person.clone())));
            let of_channel = |group: &String| {
                let peer = group.strip_prefix(&account.channel)?.strip_prefix(':')?;
                Some((Conversation::new(ConversationKind::Group, peer), None))
            };
            for (conversation, name) in direct.chain(groups.iter().filter_map(of_channel)) {
                let is_there = |known: &&mut Reachable| {
                    known.account.channel == account.channel
                        && known.account.id == account.id
                        && known.conversation.peer == conversation.peer
                };
                match reachable.iter_mut().find(is_there) {
                    Some(known) => known.name = known.name.take().or(name),
                    None => reachable.push(Reachable {
                        account: account.clone(),
                        conversation,
                        name,
                        is_own: false,
                    }),
                }
            }
        }
        Ok(reachable)
    }

    /// Returns where a message goes, if the session may write there.
    async fn target(&self, session: &SessionRecord, message: &OutgoingMessage) -> Result<Target, ToolError> {
        let reachable = self.reachable(session).await?;
        let found = reachable.into_iter().find(|reachable| {
            reachable.account.channel == message.channel
                && reachable.account.id == message.account_id
                && reachable.conversation.peer == message.target
        });
        let found = found.ok_or_else(|| {
            ToolError::new(
                ToolErrorKind::InvalidArguments,
                "this conversation cannot be written to any more; look at the description of the tool again",
            )
        })?;
        Ok(Target::new(found.account.channel, found.account.id, found.conversation.to_string()))
    }

    fn bodies(&self, target: &Target, message: &OutgoingMessage) -> Result<Vec<Value>, ToolError> {
        let mut all = Vec::new();
        for mut body in bodies(&message.content) {
            if message.silent {
                body["silent"] = true.into();
            }
            if all.is_empty()
                && let Some(reply_to) = &message.reply_to
            {
                body["replyTo"] = reply_to.as_str().into();
            }
            let is_edit = body["action"] == "edit";
            let has_file = body.get("file").is_some();
            let parts = self.0.store.divided(target, body);
            if parts.len() > 1 && (is_edit || has_file) {
                let what = if is_edit { "text that replaces another" } else { "caption" };
                return Err(ToolError::new(
                    ToolErrorKind::InvalidArguments,
                    format!("the {what} is longer than the platform takes in one message; shorten it"),
                ));
            }
            all.extend(parts);
        }
        Ok(all)
    }

    async fn sent(&self, session: &SessionKey, ids: &[String]) -> Result<Vec<SentPart>, ToolError> {
        let mut parts = Vec::new();
        for id in ids {
            let Ok(number) = id.parse() else { continue };
            let delivery = self.0.store.delivery(number).await.map_err(of_store)?;
            parts.extend(
                delivery.filter(|delivery| delivery.session.as_ref() == Some(session)).map(sent_part),
            );
        }
        Ok(parts)
    }

    /// Waits until no part of a session waits any more, or the time is over, and returns the parts.
    async fn settled(
        &self,
        session: &SessionKey,
        ids: &[String],
        within: Duration,
    ) -> Result<Vec<SentPart>, ToolError> {
        let end = tokio::time::Instant::now() + within;
        let mut changed = self.0.store.last_event();
        loop {
            changed.mark_unchanged();
            let parts = self.sent(session, ids).await?;
            let now = tokio::time::Instant::now();
            if now >= end || parts.iter().all(|part| part.state != MessageState::Prepared) {
                return Ok(parts);
            }
            let _ = tokio::time::timeout(LOOK.min(end - now), changed.changed()).await;
        }
    }
}

impl MessageService for ChannelMessages {
    fn channels<'a>(&'a self, caller: &'a Caller) -> MessageAnswer<'a, Vec<MessageChannel>> {
        Box::pin(async move {
            let outside = || ToolError::unavailable("this call is not made in a session of the gateway");
            let key: SessionKey = session_of(caller).and_then(|key| key.parse().ok()).ok_or_else(outside)?;
            let session = self.0.store.session(key).await.map_err(of_store)?.ok_or_else(outside)?;
            Ok(listed(self.reachable(&session).await?))
        })
    }

    fn parts<'a>(
        &'a self,
        ctx: &'a ToolContext,
        message: &'a OutgoingMessage,
    ) -> MessageAnswer<'a, Vec<MessagePart>> {
        Box::pin(async move {
            let session = calling(&self.0.store, ctx).await?;
            let target = self.target(&session, message).await?;
            Ok(self.bodies(&target, message)?.iter().map(shown).collect())
        })
    }

    fn send<'a>(
        &'a self,
        ctx: &'a ToolContext,
        message: OutgoingMessage,
    ) -> MessageAnswer<'a, Vec<SentPart>> {
        Box::pin(async move {
            let session = calling(&self.0.store, ctx).await?;
            let target = self.target(&session, &message).await?;
            let origin = call_origin(&self.0.store, ctx, &session, &message).await?;
            let bodies = self.bodies(&target, &message)?;
            if let MessageContent::Send { media, .. } = message.content {
                let files = self.0.files.clone();
                let needed = self.0.store.files_that_wait().await.map_err(of_store)?;
                let keeping = tokio::task::spawn_blocking(move || keep(&files, &media, &needed)).await;
                let failed = |reason: String| {
                    ToolError::unavailable(format!("the file cannot be kept until it is sent: {reason}"))
                };
                keeping.map_err(|error| failed(error.to_string()))?.map_err(failed)?;
            }
            let deliveries = bodies.into_iter().map(|body| NewDelivery::new(target.clone(), body)).collect();
            let stored =
                self.0.store.prepare_message(session.key, origin, deliveries).await.map_err(of_store)?;
            Ok(stored.into_iter().map(sent_part).collect())
        })
    }

    fn outcome<'a>(
        &'a self,
        ctx: &'a ToolContext,
        ids: &'a [String],
        within: Duration,
    ) -> MessageAnswer<'a, Vec<SentPart>> {
        Box::pin(async move {
            let session = calling(&self.0.store, ctx).await?.key;
            self.settled(&session, ids, within).await
        })
    }
}

/// The bodies of a message, each of which is divided into parts.
fn bodies(content: &MessageContent) -> Vec<Value> {
    match content {
        MessageContent::Send { text, media, caption } => {
            let text = text.as_ref().map(|text| json!({ "text": text }));
            let files = media.iter().enumerate().map(|(place, file)| {
                let mut body = json!({ "file": {
                    "stored": file.sha256, "kind": kind(&file.media_type), "name": file.name, "mediaType": file.media_type,
                } });
                if let (0, Some(caption)) = (place, caption) {
                    body["text"] = caption.as_str().into();
                }
                body
            });
            text.into_iter().chain(files).collect()
        }
        MessageContent::Edit { message_id, text } => {
            vec![json!({ "action": "edit", "messageId": message_id, "text": text })]
        }
        MessageContent::Delete { message_id } => vec![json!({ "action": "delete", "messageId": message_id })],
        MessageContent::React { message_id, emoji } => {
            vec![json!({ "action": "react", "messageId": message_id, "emoji": emoji })]
        }
        MessageContent::Poll { question, options, multiple } => {
            vec![json!({ "action": "poll", "question": question, "options": options, "multiple": multiple })]
        }
    }
}

fn kind(media_type: &str) -> MediaKind {
    match media_type.split('/').next() {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        Some("video") => MediaKind::Video,
        _ => MediaKind::Document,
    }
}

/// A part as a person and the model read it.
fn shown(body: &Value) -> MessagePart {
    let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
    let has_file = body.get("file").is_some();
    let (kind, text) = match body.get("action").and_then(Value::as_str) {
        Some("edit") => (MessagePartKind::Edit, text("plain").or_else(|| text("text"))),
        Some("delete") => (MessagePartKind::Delete, None),
        Some("react") => (MessagePartKind::React, text("emoji")),
        Some("poll") => (MessagePartKind::Poll, text("question")),
        _ if has_file => (MessagePartKind::Media, text("plain").or_else(|| text("text"))),
        _ => (MessagePartKind::Text, text("plain").or_else(|| text("text"))),
    };
    let file = body.pointer("/file/name").and_then(Value::as_str).map(str::to_owned);
    MessagePart { kind, text, file }
}

/// The channels with their accounts and conversations, of the conversations.
fn listed(reachable: Vec<Reachable>) -> Vec<MessageChannel> {
    let mut channels: Vec<MessageChannel> = Vec::new();
    let mut has_own = false;
    for Reachable { account: Account { channel, id, account }, conversation, name, is_own } in reachable {
        let (can, limits) = (account.capabilities(), account.limits());
        let place = channels.iter().position(|known| known.name == channel).unwrap_or_else(|| {
            channels.push(MessageChannel {
                name: channel,
                can: MessageCapabilities {
                    edit: can.edit,
                    delete: can.delete,
                    react: can.react,
                    poll: can.poll,
                    media: can.media,
                    reply: can.reply,
                    silent: can.silent,
                },
                limits: MessageLimits { media_bytes: limits.media_out, poll_options: limits.poll_options },
                accounts: Vec::new(),
            });
            channels.len() - 1
        });
        let accounts = &mut channels[place].accounts;
        let of_account = accounts.iter().position(|known| known.id == id).unwrap_or_else(|| {
            accounts.push(MessageAccount { id, targets: Vec::new() });
            accounts.len() - 1
        });
        let is_own = is_own && !has_own;
        has_own |= is_own;
        accounts[of_account].targets.push(MessageTarget { id: conversation.peer, name, is_own });
    }
    channels
}
