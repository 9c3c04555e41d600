//! Sends the parts of the outbox through an account.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use toolkit_channel as channel;
use toolkit_channel::{Account, Action, Button, Channel, Conversation, MediaKind, Outgoing, OutgoingMedia};

use crate::outbox::{SendChannel, SendError, Sending};
use crate::store::Delivery;

/// The directory of the files that wait to be sent, in the data directory.
pub(super) const FILES: &str = "outbox";

/// The half of an account that sends.
pub(crate) struct AccountSender {
    channel: String,
    id: String,
    account: Arc<dyn Channel>,
    /// Where the files are that wait to be sent.
    files: PathBuf,
}

/// The body of a part, as the outbox keeps it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Body {
    action: Option<String>,
    plain: Option<String>,
    text: Option<String>,
    markup: Option<String>,
    buttons: Vec<Vec<Button>>,
    reply_to: Option<String>,
    silent: bool,
    message_id: Option<String>,
    emoji: Option<String>,
    question: Option<String>,
    options: Vec<String>,
    multiple: bool,
    name: Option<String>,
    arguments: Value,
    file: Option<StoredFile>,
}

/// A file that waits to be sent.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredFile {
    /// Its name among the files that wait.
    stored: String,
    kind: MediaKind,
    name: String,
    media_type: String,
}

impl AccountSender {
    /// The half of an account that sends, whose files wait in a directory of the data directory.
    pub(crate) fn new(account: &Account, data_dir: &Path) -> Self {
        let Account { channel, id, account } = account.clone();
        Self { channel, id, account, files: data_dir.join(FILES) }
    }
}

impl SendChannel for AccountSender {
    fn channel(&self) -> &str {
        &self.channel
    }

    fn account(&self) -> &str {
        &self.id
    }

    fn has_idempotency_keys(&self) -> bool {
        self.account.capabilities().idempotency_keys
    }

    fn send<'a>(&'a self, delivery: &'a Delivery) -> Sending<'a> {
        Box::pin(async move {
            let mut outgoing = self.outgoing(delivery).await?;
            // Once with another id of the conversation, and once without markup.
            for _ in 0..2 {
                match self.account.send(&outgoing).await {
                    Ok(receipt) => return Ok(receipt.message_id),
                    Err(channel::SendError::Moved { to }) => outgoing.conversation.peer = to,
                    Err(channel::SendError::Markup { reason }) => {
                        tracing::warn!(
                            reason,
                            delivery = delivery.id,
                            "the platform refuses the markup; the plain text is sent"
                        );
                        if !without_markup(&mut outgoing) {
                            return Err(SendError::refused(reason));
                        }
                    }
                    Err(error) => return Err(of_channel(error)),
                }
            }
            self.account.send(&outgoing).await.map(|receipt| receipt.message_id).map_err(of_channel)
        })
    }
}

impl AccountSender {
    async fn outgoing(&self, delivery: &Delivery) -> Result<Outgoing, SendError> {
        let conversation: Conversation = delivery
            .target
            .conversation
            .parse()
            .map_err(|error: channel::ConversationError| SendError::refused(error.to_string()))?;
        let body: Body = serde_json::from_value(delivery.body.clone())
            .map_err(|error| SendError::refused(format!("it has an unknown form: {error}")))?;
        let reply_to = body.reply_to.clone();
        let silent = body.silent;
        let action = self.action(body).await?;
        Ok(Outgoing { conversation, key: delivery.key.clone(), action, reply_to, silent })
    }

    async fn action(&self, body: Body) -> Result<Action, SendError> {
        let missing = |name: &str| SendError::refused(format!("it has no `{name}`"));
        let plain = body.plain.or(body.text);
        Ok(match body.action.as_deref().unwrap_or("send") {
            "send" => match body.file {
                Some(file) => Action::Media(self.media(file, plain.unwrap_or_default(), body.markup).await?),
                None => Action::Text {
                    plain: plain.ok_or_else(|| missing("text"))?,
                    markup: body.markup,
                    buttons: body.buttons,
                },
            },
            "edit" => Action::Edit {
                message_id: body.message_id.ok_or_else(|| missing("messageId"))?,
                plain: plain.ok_or_else(|| missing("text"))?,
                markup: body.markup,
            },
            "delete" => Action::Delete { message_id: body.message_id.ok_or_else(|| missing("messageId"))? },
            "react" => Action::React {
                message_id: body.message_id.ok_or_else(|| missing("messageId"))?,
                emoji: body.emoji.unwrap_or_default(),
            },
            "poll" => Action::Poll {
                question: body.question.ok_or_else(|| missing("question"))?,
                options: body.options,
                multiple: body.multiple,
            },
            "platform" => Action::Platform {
                name: body.name.ok_or_else(|| missing("name"))?,
                arguments: body.arguments,
            },
            other => {
                return Err(SendError::refused(format!(
                    "it has the unknown action `{}`",
                    other.escape_debug()
                )));
            }
        })
    }

    async fn media(
        &self,
        file: StoredFile,
        caption: String,
        caption_markup: Option<String>,
    ) -> Result<OutgoingMedia, SendError> {
        let StoredFile { stored, kind, name, media_type } = file;
        let is_name = stored.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if stored.is_empty() || !is_name {
            return Err(SendError::refused("the name of the file that waits is wrong"));
        }
        let path = self.files.join(&stored);
        let bytes = tokio::fs::read(&path).await.map_err(|error| {
            let reason = format!("the file that waits cannot be read: {error}");
            if error.kind() == std::io::ErrorKind::NotFound {
                SendError::refused(reason)
            } else {
                SendError::not_sent(reason)
            }
        })?;
        Ok(OutgoingMedia { kind, name, media_type, bytes: Bytes::from(bytes), caption, caption_markup })
    }
}

/// Takes the markup away. Returns false if there is none.
fn without_markup(outgoing: &mut Outgoing) -> bool {
    let markup = match &mut outgoing.action {
        Action::Text { markup, .. } | Action::Edit { markup, .. } => markup,
        Action::Media(media) => &mut media.caption_markup,
        _ => return false,
    };
    markup.take().is_some()
}

fn of_channel(error: channel::SendError) -> SendError {
    match error {
        channel::SendError::NotSent { reason, retry_after } => SendError::NotSent { reason, retry_after },
        channel::SendError::Unknown { reason } => SendError::Unknown { reason },
        channel::SendError::Refused { reason } | channel::SendError::Markup { reason } => {
            SendError::Refused { reason }
        }
        error => SendError::refused(error.to_string()),
    }
}
