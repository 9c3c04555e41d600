//! Reads the files of messages, a few at a time: nobody else waits for a platform that is slow.
//!
//! A message is stored before its files are fetched. It and those after it in its session wait; after a restart they are fetched again.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use toolkit_channel::Account;

use super::AtWork;
use super::media::{Files, FilesOf};
use super::parts_of_text::Parts;
use crate::store::{
    Message, MessageId, Problem, SessionRecord, Store, StoreError, Target, Unread, UnreadMessage,
};

/// The most messages whose files are read at once.
const MAX_AT_ONCE: usize = 16;
/// The most of them that one person has sent.
const MAX_OF_PERSON: usize = 2;
/// The most of them that came by one account, whose platform may be slow.
const MAX_OF_ACCOUNT: usize = 8;
/// The pause after a store that failed.
const RETRY: Duration = Duration::from_secs(1);

/// The parts of the gateway that reading uses.
#[derive(Clone)]
struct Reader {
    store: Store,
    accounts: Vec<Account>,
    at_work: AtWork,
}

/// Reads the files of all messages that wait for it, until it is stopped. What is not read then is read after the next start.
pub(super) async fn read_all(
    store: Store,
    accounts: Vec<Account>,
    at_work: AtWork,
    stopping: CancellationToken,
) {
    let mut events = store.last_event();
    let reader = Reader { store, accounts, at_work };
    let mut tasks = JoinSet::new();
    let mut in_hand: HashMap<Id, Unread> = HashMap::new();
    loop {
        events.mark_unchanged();
        let is_full = in_hand.len() >= MAX_AT_ONCE;
        let found = if is_full { Ok(Vec::new()) } else { reader.store.unread().await };
        if let Err(error) = &found {
            tracing::error!(%error, "the store cannot be read for messages with files; it is tried again");
        }
        let has_failed = found.is_err();
        for unread in found.unwrap_or_default() {
            if has_room(&in_hand, &unread) {
                in_hand.insert(tasks.spawn(read(reader.clone(), unread.id)).id(), unread);
            }
        }
        tokio::select! {
            Some(ended) = tasks.join_next_with_id() => {
                in_hand.remove(&ended.map_or_else(|error| error.id(), |(id, ())| id));
            }
            changed = events.changed(), if !is_full => {
                if changed.is_err() {
                    return;
                }
            }
            () = tokio::time::sleep(RETRY), if has_failed => {}
            () = stopping.cancelled() => return,
        }
    }
}

/// Returns true if one more message may be read now: it is not in hand, and neither its sender nor its account has too many.
fn has_room(in_hand: &HashMap<Id, Unread>, new: &Unread) -> bool {
    let count = |is_same: &dyn Fn(&Unread) -> bool| in_hand.values().filter(|other| is_same(other)).count();
    let account =
        |unread: &Unread| unread.reply_to.as_ref().map(|to| (to.channel.clone(), to.account.clone()));
    let of_new = account(new);
    in_hand.len() < MAX_AT_ONCE
        && count(&|other| other.id == new.id) == 0
        && count(&|other| other.sender == new.sender && other.is_addressed == new.is_addressed)
            < MAX_OF_PERSON
        && count(&|other| account(other) == of_new) < MAX_OF_ACCOUNT
}

/// Reads the files of a message, and lets it begin a run.
async fn read(reader: Reader, id: MessageId) {
    let unread = match reader.store.begin_to_read(id).await {
        Ok(Some(unread)) => unread,
        Ok(None) => return,
        Err(error) => {
            tracing::error!(%error, "a message with files waits until the store works again");
            tokio::time::sleep(RETRY).await;
            return;
        }
    };
    let session = unread.message.session.clone();
    // In a task of its own: whatever happens in it, the message does not wait for ever.
    let reading = AbortOnDropHandle::new(tokio::spawn(reader.clone().whole(unread.clone())));
    let stored = match reading.await {
        Ok(Err(error)) if matches!(error.problem, Problem::Refused(_) | Problem::Damaged(_)) => {
            tracing::error!(%error, "the files of a message are left out");
            reader.without_files(&unread).await
        }
        Ok(stored) => stored,
        // The process ends: they are read after the next start.
        Err(error) if error.is_cancelled() => return,
        Err(error) => {
            tracing::error!(%error, "the files of a message cannot be read");
            reader.without_files(&unread).await
        }
    };
    match stored {
        Ok(()) => reader.at_work.sessions.handed_in_again(&session).await,
        Err(error) => {
            tracing::error!(%error, "a message with files waits until the store works again");
            tokio::time::sleep(RETRY).await;
        }
    }
}

/// Tries a step of the store until it works, or cannot work: nothing is fetched again for a disk that is full.
async fn until_stored<T, F: Future<Output = Result<T, StoreError>>>(
    step: impl Fn() -> F,
) -> Result<T, StoreError> {
    loop {
        match step().await {
            Err(error) if error.problem.is_passing() => {
                tracing::error!(%error, "a message with files waits until the store works again");
                tokio::time::sleep(RETRY).await;
            }
            stored => return stored,
        }
    }
}

impl Reader {
    /// Lets a message go on as it is; one of which it is not known whether it is for the agent is left out.
    async fn without_files(&self, unread: &UnreadMessage) -> Result<(), StoreError> {
        let UnreadMessage { message, parts, is_addressed, .. } = unread;
        if !is_addressed {
            tracing::warn!(session = %message.session, "a voice note in a group cannot be heard: it may have been for the agent");
            return until_stored(|| self.store.leave_out(message.id)).await;
        }
        let mut body = message.body.clone();
        // It does not fit if another version wrote it.
        if let Ok(parts) = serde_json::from_value::<Parts>(parts.clone()) {
            body["text"] = Value::String(parts.text_without_files());
        }
        match until_stored(|| self.store.complete(message.id, body.clone())).await {
            // It would be refused again, and nobody behind it would be heard.
            Err(error) if matches!(error.problem, Problem::Refused(_)) => {
                tracing::error!(%error, "a message is taken back");
                until_stored(|| self.store.cancel_message(message.id)).await.map(drop)
            }
            stored => stored.map(drop),
        }
    }

    async fn whole(self, unread: UnreadMessage) -> Result<(), StoreError> {
        let message = &unread.message;
        let session = self.store.session(message.session.clone()).await?;
        match (serde_json::from_value::<Parts>(unread.parts.clone()), session, &message.reply_to) {
            (Ok(parts), Some(session), Some(target)) if unread.may_be_read => {
                self.add_files(message, &session, target, &parts).await
            }
            _ => self.without_files(&unread).await,
        }
    }

    async fn add_files(
        &self,
        message: &Message,
        session: &SessionRecord,
        target: &Target,
        parts: &Parts,
    ) -> Result<(), StoreError> {
        let account = self
            .accounts
            .iter()
            .find(|account| account.channel == target.channel && account.id == target.account);
        let sender = message.sender.as_deref().unwrap_or_default();
        let of = FilesOf { account, session, target, sender, id: message.id, media: &parts.media };
        let mut files = Files::new(&self.store, &self.at_work, of);
        if let Some(name) = &parts.needs_name
            && !files.speak_of(name).await
        {
            files.forget().await;
            return until_stored(|| self.store.leave_out(message.id)).await;
        }
        let lines = files.lines().await;
        let mut body = message.body.clone();
        body["text"] = Value::String(parts.text(&lines));
        let completed = until_stored(|| self.store.complete(message.id, body.clone())).await;
        if !matches!(completed, Ok(true)) {
            // It was taken back meanwhile, or goes on without them.
            files.forget().await;
        }
        completed.map(drop)
    }
}
