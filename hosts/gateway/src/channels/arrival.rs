//! One event of an account, on its way into the store.

use serde_json::json;
use toolkit_channel::{Account, Conversation, Identity};

use super::AtWork;
use crate::store::{Store, StoreError, Target};

/// An event of an account, with the parts that storing it needs.
pub(super) struct Arrival<'a> {
    pub(super) store: &'a Store,
    pub(super) account: &'a Account,
    pub(super) at_work: &'a AtWork,
    pub(super) source: &'a str,
    /// Who the account is on its platform.
    pub(super) identity: &'a Identity,
    /// How far the platform was read with it.
    pub(super) offset: String,
}

impl Arrival<'_> {
    /// Passes an event over: it is never received again.
    pub(super) async fn skip(&self) -> Result<(), StoreError> {
        self.store.set_offset(self.source.to_owned(), self.offset.clone()).await
    }

    pub(super) async fn moved(&self, from: String, to: String) -> Result<(), StoreError> {
        let first = self.store.first_peer(&self.account.channel, &self.account.id, &from).await?;
        if !(self.at_work.settings)().groups.contains_key(&format!("{}:{first}", self.account.channel)) {
            // Anybody can add an account to groups, and have them move.
            return self.skip().await;
        }
        tracing::info!(source = self.source, "a conversation has another id");
        let (channel, account) = (self.account.channel.clone(), self.account.id.clone());
        self.store
            .move_peer((channel, account), from, to, (self.source.to_owned(), self.offset.clone()))
            .await
    }

    /// Where answers to a conversation go.
    pub(super) fn target(&self, conversation: &Conversation) -> Target {
        Target::new(&self.account.channel, &self.account.id, conversation.to_string())
    }

    /// Answers in the name of the gateway, once for each message, and passes it over.
    pub(super) async fn reply(
        &self,
        external_id: &str,
        conversation: &Conversation,
        text: &str,
    ) -> Result<(), StoreError> {
        let target = self.target(conversation);
        let offset = (self.source.to_owned(), self.offset.clone());
        self.store.reply_to_source(offset, external_id.to_owned(), target, json!({ "text": text })).await?;
        self.at_work.sessions.look_again();
        Ok(())
    }
}
