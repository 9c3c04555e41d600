//! The arguments of `message`, and which of them go together.

use toolkit::prelude::*;

use super::{quoted, wrong};

/// The action.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum MessageAction {
    /// Sends `message`, or the files of `media` and `buffer`, or both.
    Send,
    /// Replaces the text of the message `messageId`, which this account sent, by `message`.
    Edit,
    /// Deletes the message `messageId`, which this account sent.
    Delete,
    /// Puts `emoji` on the message `messageId`.
    React,
    /// Sends a poll: `pollQuestion` with `pollOption`.
    Poll,
}

impl MessageAction {
    pub(super) const ALL: [Self; 5] = [Self::Send, Self::Edit, Self::Delete, Self::React, Self::Poll];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::React => "react",
            Self::Poll => "poll",
        }
    }
}

/// The arguments.
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct MessageArguments {
    /// The action.
    #[arg(default = MessageAction::Send)]
    pub action: MessageAction,
    /// The channel. Default: the only one, or that of `target`.
    #[arg(length(1..=64), example = "telegram")]
    pub channel: Option<String>,
    /// The conversation, by its id. Default: this conversation.
    #[arg(alias = "to", length(1..=256))]
    pub target: Option<String>,
    /// The account of the channel. Default: the one that knows the target.
    #[arg(length(1..=128))]
    pub account_id: Option<String>,
    /// The text of `send` and `edit`. A long one is sent in several parts.
    #[arg(length(1..=65_536))]
    pub message: Option<String>,
    /// Files for `send`: paths in the workspace, or of kept outputs.
    #[arg(length(1..=10))]
    pub media: Option<Vec<PathBuf>>,
    /// One more file for `send`: its content as Base64, at most 1 MiB, alone or as a `data:` URL.
    #[arg(length(1..=1_400_000))]
    pub buffer: Option<String>,
    /// The name of the file in `buffer`.
    #[arg(length(1..=200), example = "report.pdf")]
    pub filename: Option<String>,
    /// The caption of the first file.
    #[arg(length(1..=4_096))]
    pub caption: Option<String>,
    /// The id of a message of that conversation, to which `send` and `poll` reply.
    #[arg(pattern = "^[!-~]{1,256}$")]
    pub reply_to: Option<String>,
    /// True sends without a sound.
    #[arg(default = false)]
    pub silent: bool,
    /// True shows the parts that would be sent, and the problems. Nothing is sent.
    #[arg(default = false)]
    pub dry_run: bool,
    /// The id of a message, for `edit`, `delete` and `react`.
    #[arg(pattern = "^[!-~]{1,256}$")]
    pub message_id: Option<String>,
    /// The emoji of `react`; an empty text takes it back.
    #[arg(length(..=32))]
    pub emoji: Option<String>,
    /// The text above the choices of a `poll`.
    #[arg(length(1..=300))]
    pub poll_question: Option<String>,
    /// The answers that people choose from, for `poll`.
    #[arg(length(2..=20))]
    pub poll_option: Option<Vec<String>>,
    /// True lets people choose several options.
    pub poll_multi: Option<bool>,
}

impl MessageArguments {
    /// True if a file is to be sent.
    pub(super) fn has_media(&self) -> bool {
        self.media.is_some() || self.buffer.is_some()
    }
}

/// Checks that the fields belong to the action, and that those which it needs are given.
pub(super) fn check(arguments: &MessageArguments) -> Result<(), ToolError> {
    use MessageAction::{Delete, Edit, Poll, React, Send};
    let action = arguments.action;
    let of_actions: [(&str, bool, &[MessageAction]); 12] = [
        ("message", arguments.message.is_some(), &[Send, Edit]),
        ("media", arguments.media.is_some(), &[Send]),
        ("buffer", arguments.buffer.is_some(), &[Send]),
        ("filename", arguments.filename.is_some(), &[Send]),
        ("caption", arguments.caption.is_some(), &[Send]),
        ("replyTo", arguments.reply_to.is_some(), &[Send, Poll]),
        ("silent", arguments.silent, &[Send, Poll]),
        ("messageId", arguments.message_id.is_some(), &[Edit, Delete, React]),
        ("emoji", arguments.emoji.is_some(), &[React]),
        ("pollQuestion", arguments.poll_question.is_some(), &[Poll]),
        ("pollOption", arguments.poll_option.is_some(), &[Poll]),
        ("pollMulti", arguments.poll_multi.is_some(), &[Poll]),
    ];
    let others: Vec<&str> = of_actions
        .iter()
        .filter(|(_, is_given, actions)| *is_given && !actions.contains(&action))
        .map(|(name, ..)| *name)
        .collect();
    if !others.is_empty() {
        let action = action.name();
        return Err(wrong(format!("{} is not for the action `{action}`: leave it out", quoted(&others))));
    }
    let needed: &[&str] = match action {
        Send => &[],
        Edit => &["messageId", "message"],
        Delete => &["messageId"],
        React => &["messageId", "emoji"],
        Poll => &["pollQuestion", "pollOption"],
    };
    let is_missing = |name: &&&str| of_actions.iter().any(|(other, is_given, _)| other == *name && !is_given);
    let missing: Vec<&str> = needed.iter().filter(is_missing).copied().collect();
    if !missing.is_empty() {
        let action = action.name();
        return Err(wrong(format!("{} is missing: the action `{action}` needs it", quoted(&missing))));
    }
    if action == Send && arguments.message.is_none() && !arguments.has_media() {
        return Err(wrong("there is nothing to send: give `message`, `media` or `buffer`"));
    }
    if arguments.filename.is_some() && arguments.buffer.is_none() {
        return Err(wrong(
            "`filename` is given without `buffer`: files of `media` have their names; leave it out",
        ));
    }
    if arguments.caption.is_some() && !arguments.has_media() {
        return Err(wrong("`caption` is given without a file: give the text as `message`"));
    }
    Ok(())
}

/// Checks that the texts say something.
pub(super) fn check_texts(arguments: &MessageArguments) -> Result<(), ToolError> {
    let texts = [
        ("message", &arguments.message),
        ("caption", &arguments.caption),
        ("pollQuestion", &arguments.poll_question),
    ];
    for (name, text) in texts {
        if text.as_deref().is_some_and(is_blank) {
            return Err(wrong(format!("`{name}` is blank: give a text")));
        }
    }
    let options = arguments.poll_option.as_deref().unwrap_or_default();
    if let Some(place) = options.iter().position(|option| is_blank(option)) {
        return Err(wrong(format!("`pollOption[{place}]` is blank: give a text")));
    }
    let twice = options.iter().enumerate().find(|(place, option)| options[..*place].contains(option));
    if let Some((place, _)) = twice {
        return Err(wrong(format!("`pollOption[{place}]` is there twice: give each option once")));
    }
    if arguments.emoji.as_deref().is_some_and(|emoji| emoji.chars().any(char::is_control)) {
        return Err(wrong("`emoji` has a control character: give one emoji"));
    }
    Ok(())
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|character| character.is_whitespace() || character.is_control())
}
