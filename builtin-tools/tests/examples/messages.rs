//! A host with one channel, whose tool is there and sends nothing.

use builtin_tools::messaging::{
    MessageAccount, MessageAnswer, MessageChannel, MessagePart, MessagePartKind, MessageService,
    MessageTarget, OutgoingMessage, SentPart,
};
use std::time::Duration;
use toolkit::Caller;
use toolkit::prelude::*;

pub(crate) struct NoMessages;

fn none<'a, T>() -> MessageAnswer<'a, T> {
    Box::pin(async { Err(ToolError::unavailable("nothing is sent")) })
}

impl MessageService for NoMessages {
    fn channels<'a>(&'a self, _: &'a Caller) -> MessageAnswer<'a, Vec<MessageChannel>> {
        let target = |id: &str| MessageTarget { id: id.to_owned(), ..MessageTarget::default() };
        let targets = ["ada", "team", "everybody"].map(target).to_vec();
        let accounts = vec![MessageAccount { id: "main".to_owned(), targets }];
        let channel = MessageChannel { name: "telegram".to_owned(), accounts, ..MessageChannel::default() };
        Box::pin(async { Ok(vec![channel]) })
    }

    fn parts<'a>(
        &'a self,
        _: &'a ToolContext,
        _: &'a OutgoingMessage,
    ) -> MessageAnswer<'a, Vec<MessagePart>> {
        let part = MessagePart { kind: MessagePartKind::Text, text: None, file: None };
        Box::pin(async { Ok(vec![part]) })
    }

    fn send<'a>(&'a self, _: &'a ToolContext, _: OutgoingMessage) -> MessageAnswer<'a, Vec<SentPart>> {
        none()
    }

    fn outcome<'a>(
        &'a self,
        _: &'a ToolContext,
        _: &'a [String],
        _: Duration,
    ) -> MessageAnswer<'a, Vec<SentPart>> {
        none()
    }
}
