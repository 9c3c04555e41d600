//! A store in a directory of its own, with a clock that stands.
#![allow(clippy::unwrap_used)]

use serde_json::json;
use tempfile::TempDir;
use toolkit_gateway::{
    Acceptance, Claimed, Clock, MessageId, Moment, NewMessage, PeerKind, SessionKey, Store, StoreOptions,
    Target,
};

/// The time at which each test begins.
pub(crate) const START: Moment = Moment(1_800_000_000_000);

pub(crate) struct Place {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) directory: TempDir,
    options: StoreOptions,
}

impl Place {
    pub(crate) async fn new() -> Self {
        Self::with(StoreOptions::new()).await
    }

    pub(crate) async fn with(options: StoreOptions) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = Clock::standing(START);
        let options = options.with_clock(clock.clone());
        let store = Store::open(directory.path(), options.clone()).await.unwrap();
        Self { store, clock, directory, options }
    }

    /// Closes the store, and opens it again.
    pub(crate) async fn reopen(self) -> Self {
        self.store.close().await;
        let Self { store, clock, directory, options } = self;
        drop(store);
        let store = Store::open(directory.path(), options.clone()).await.unwrap();
        Self { store, clock, directory, options }
    }

    pub(crate) async fn accept(&self, id: &str, peer: &str) -> MessageId {
        match self.store.accept(message(id, peer)).await.unwrap() {
            Acceptance::Accepted { id } => id,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn claim(&self) -> Claimed {
        self.store.claim(10).await.unwrap().expect("a message waits")
    }
}

pub(crate) fn key(peer: &str) -> SessionKey {
    SessionKey::peer("main", "chat", "one", PeerKind::Direct, peer, None).unwrap()
}

pub(crate) fn target(peer: &str) -> Target {
    Target::new("chat", "one", peer)
}

pub(crate) fn message(id: &str, peer: &str) -> NewMessage {
    NewMessage::new("chat:one", id, key(peer), json!({ "text": id }))
        .with_sender(peer)
        .with_reply_to(target(peer))
}
