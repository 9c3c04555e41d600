//! From the arguments to the message that is sent.

use toolkit::prelude::*;

use super::arguments::{self, MessageAction, MessageArguments};
use super::media::{self, Loaded, Room};
use super::place::{self, Place};
use super::question::question;
use super::service::{
    MessageChannel, MessageContent, MessageMedia, MessagePart, MessageService, OutgoingMessage,
};
use super::wrong;

/// The most parts in which a message leaves.
const MAX_PARTS: usize = 10;

/// A message that is ready to be sent.
#[derive(Debug)]
pub(super) struct Composed<'a> {
    pub(super) place: Place<'a>,
    pub(super) message: OutgoingMessage,
    pub(super) parts: Vec<MessagePart>,
    /// A description of each file.
    files: Vec<String>,
}

impl Composed<'_> {
    pub(super) fn question(&self) -> Ask {
        question(&self.place, &self.message, &self.files, &self.parts)
    }
}

/// Composes a message. The first problem ends a call; a dry run collects all.
pub(super) struct Composing<'a> {
    ctx: &'a ToolContext,
    service: &'a dyn MessageService,
    is_dry: bool,
    problems: Vec<String>,
}

impl<'a> Composing<'a> {
    pub(super) fn new(ctx: &'a ToolContext, service: &'a dyn MessageService, is_dry: bool) -> Self {
        Self { ctx, service, is_dry, problems: Vec::new() }
    }

    pub(super) fn is_dry(&self) -> bool {
        self.is_dry
    }

    pub(super) fn into_problems(self) -> Vec<String> {
        self.problems
    }

    /// Composes the message: `None` for a dry run whose arguments make none.
    ///
    /// # Errors
    ///
    /// The first problem of a call that is no dry run.
    pub(super) async fn compose<'c>(
        &mut self,
        channels: &'c [MessageChannel],
        mut arguments: MessageArguments,
    ) -> Result<Option<Composed<'c>>, ToolError> {
        let are_together = self.noted(arguments::check(&arguments))?.is_some();
        self.noted(arguments::check_texts(&arguments))?;
        let Some(place) = self.noted(place::find(channels, &arguments))? else { return Ok(None) };
        let can = self.noted(place.check(&arguments))?.is_some();
        // Fields that do not go together make no content.
        if !are_together || !can {
            return Ok(None);
        }
        let loaded = self.files(&place, &arguments).await?;
        let files = loaded.iter().map(Loaded::described).collect();
        let media = loaded.into_iter().map(|file| file.media).collect();
        let reply_to = arguments.reply_to.take();
        let silent = arguments.silent;
        let Some(content) = self.noted(content(arguments, media))? else { return Ok(None) };
        let message = OutgoingMessage {
            channel: place.channel.name.clone(),
            account_id: place.account.id.clone(),
            target: place.target.id.clone(),
            content,
            reply_to,
            silent,
        };
        let parts = if is_empty(&message.content) { Vec::new() } else { self.parts(&message).await? };
        Ok(Some(Composed { place, message, parts, files }))
    }

    async fn files(
        &mut self,
        place: &Place<'_>,
        arguments: &MessageArguments,
    ) -> Result<Vec<Loaded>, ToolError> {
        let mut room = Room::new(place.channel.limits.media_bytes);
        let mut loaded = Vec::new();
        for path in arguments.media.iter().flatten() {
            let file = media::file(self.ctx, path, &mut room, self.is_dry).await;
            loaded.extend(self.noted(file)?);
        }
        if let Some(text) = &arguments.buffer {
            let file = media::buffer(text, arguments.filename.as_deref(), &mut room);
            loaded.extend(self.noted(file)?);
        }
        Ok(loaded)
    }

    async fn parts(&mut self, message: &OutgoingMessage) -> Result<Vec<MessagePart>, ToolError> {
        let parts = self.service.parts(self.ctx, message).await;
        let Some(parts) = self.noted(parts)? else { return Ok(Vec::new()) };
        if parts.len() > MAX_PARTS {
            let count = parts.len();
            self.noted(Err::<(), _>(wrong(format!(
                "the message would leave in {count} parts, and {MAX_PARTS} are the most: shorten it, or write it to a file and send that"
            ))))?;
        }
        Ok(parts)
    }

    /// Returns the value. A problem ends a call, and is noted for a dry run.
    fn noted<T>(&mut self, result: Result<T, ToolError>) -> Result<Option<T>, ToolError> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if self.is_dry => {
                self.problems.push(error.message().to_owned());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// True if there is nothing to send, as in a dry run that could read no file.
fn is_empty(content: &MessageContent) -> bool {
    matches!(content, MessageContent::Send { text: None, media, .. } if media.is_empty())
}

/// Returns the content of the action. Its fields were checked to be there.
fn content(arguments: MessageArguments, media: Vec<MessageMedia>) -> Result<MessageContent, ToolError> {
    let missing = |name: &str| wrong(format!("`{name}` is missing"));
    let message_id = || arguments.message_id.clone().ok_or_else(|| missing("messageId"));
    Ok(match arguments.action {
        MessageAction::Send => {
            MessageContent::Send { text: arguments.message, media, caption: arguments.caption }
        }
        MessageAction::Edit => MessageContent::Edit {
            message_id: message_id()?,
            text: arguments.message.ok_or_else(|| missing("message"))?,
        },
        MessageAction::Delete => MessageContent::Delete { message_id: message_id()? },
        MessageAction::React => MessageContent::React {
            message_id: message_id()?,
            emoji: arguments.emoji.ok_or_else(|| missing("emoji"))?,
        },
        MessageAction::Poll => MessageContent::Poll {
            question: arguments.poll_question.ok_or_else(|| missing("pollQuestion"))?,
            options: arguments.poll_option.ok_or_else(|| missing("pollOption"))?,
            multiple: arguments.poll_multi.unwrap_or(false),
        },
    })
}
