//! Sends what waits in the outbox of the store: in order for each conversation, each part at most once by the gateway's own doing.
//!
//! ```text
//! store: next_delivery ──► channel: send ──► store: delivered | not_sent | unknown | dead
//! ```

mod channel;
mod local;
mod outcomes;

pub use channel::{SendChannel, SendError, Sending};
pub use local::LocalChannel;
pub(crate) use outcomes::{outcome, sent_part};

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::store::{Delivery, Store, StoreError};

/// Parts of one account that are on their way at once, each of another conversation.
const MAX_AT_ONCE: usize = 16;
/// Time after which a store that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// The first and the longest time after which a part that was not sent is tried again.
const BACK_OFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(5));
/// The longest wait before the store is asked again: its clock may be set meanwhile.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The sending of the parts that wait. Sending ends with [`stop`](Self::stop), or when it is dropped.
pub struct Outbox {
    stopping: CancellationToken,
    accounts: Mutex<Vec<AbortOnDropHandle<()>>>,
}

impl Outbox {
    /// Settles what an ended process has left on its way, and begins to send. Must be called within a tokio runtime, once for a store.
    ///
    /// # Errors
    ///
    /// The store cannot be read or written.
    pub async fn start(store: Store, channels: Vec<Arc<dyn SendChannel>>) -> Result<Self, StoreError> {
        let names =
            channels.iter().map(|channel| (channel.channel().to_owned(), channel.account().to_owned()));
        store.settle_others(names.collect()).await?;
        for channel in &channels {
            store
                .settle_sending(channel.channel(), channel.account(), channel.has_idempotency_keys())
                .await?;
        }
        let stopping = CancellationToken::new();
        let accounts = channels
            .into_iter()
            .map(|channel| {
                AbortOnDropHandle::new(tokio::spawn(send_all(store.clone(), channel, stopping.clone())))
            })
            .collect();
        Ok(Self { stopping, accounts: Mutex::new(accounts) })
    }

    /// Sends nothing more, and waits until what is on its way has arrived, for this time at most. What has not arrived then is settled at the
    /// next start.
    pub async fn stop(&self, within: Duration) {
        self.stopping.cancel();
        let accounts = std::mem::take(&mut *self.accounts.lock().unwrap_or_else(PoisonError::into_inner));
        let _ = tokio::time::timeout(within, async {
            for account in accounts {
                let _ = account.await;
            }
        })
        .await;
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").finish_non_exhaustive()
    }
}

/// Sends for one account, until it is stopped and nothing is on its way.
async fn send_all(store: Store, channel: Arc<dyn SendChannel>, stopping: CancellationToken) {
    let mut events = store.last_event();
    let mut on_their_way = JoinSet::new();
    loop {
        // Before the look, so that what is prepared after it is not missed.
        events.mark_unchanged();
        while on_their_way.len() < MAX_AT_ONCE && !stopping.is_cancelled() {
            match store.next_delivery(channel.channel(), channel.account()).await {
                Ok(Some(delivery)) => {
                    on_their_way.spawn(send(store.clone(), Arc::clone(&channel), delivery));
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::error!(%error, channel = channel.channel(), "nothing can be sent; the store is tried again");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
        let wait = wait(&store, &*channel).await;
        // Looked at once: it may be stopped at any time.
        let is_stopping = stopping.is_cancelled();
        if is_stopping && on_their_way.is_empty() {
            return;
        }
        let is_full = on_their_way.len() >= MAX_AT_ONCE;
        tokio::select! {
            Some(_) = on_their_way.join_next() => {}
            changed = events.changed(), if !is_full && !is_stopping => {
                // The store was closed.
                if changed.is_err() {
                    return;
                }
            }
            () = tokio::time::sleep(wait), if !is_full && !is_stopping => {}
            () = stopping.cancelled(), if !is_stopping => {}
        }
    }
}

/// Returns the time until the next part may be sent.
async fn wait(store: &Store, channel: &dyn SendChannel) -> Duration {
    match store.next_delivery_at(channel.channel(), channel.account()).await {
        Ok(Some(at)) => {
            let left = at.0.saturating_sub(store.clock().now().0).max(0);
            Duration::from_millis(left.unsigned_abs()).min(MAX_WAIT)
        }
        Ok(None) => MAX_WAIT,
        Err(_) => RETRY,
    }
}

/// Sends one part, and stores what became of it. Where the store fails, it is tried again.
async fn send(store: Store, channel: Arc<dyn SendChannel>, delivery: Delivery) {
    let sent = {
        let (channel, delivery) = (Arc::clone(&channel), delivery.clone());
        // Code of a channel that panics must not end the others.
        AbortOnDropHandle::new(tokio::spawn(async move { channel.send(&delivery).await })).await
    };
    let sent = sent.unwrap_or_else(|_| Err(SendError::unknown("the channel failed while it was sent")));
    if let Err(error) = &sent {
        tracing::warn!(%error, delivery = delivery.id, channel = channel.channel(), "a part of an answer did not arrive");
    }
    loop {
        let stored = match &sent {
            Ok(receipt) => store.delivered(delivery.id, receipt.clone()).await,
            Err(SendError::NotSent { reason, retry_after }) => {
                let pause = retry_after.unwrap_or_else(|| back_off(delivery.attempts));
                let at = store.clock().now().after(pause);
                store.not_sent(delivery.id, reason.clone(), at).await
            }
            Err(SendError::Unknown { reason }) if channel.has_idempotency_keys() => {
                let at = store.clock().now().after(back_off(delivery.attempts));
                store.not_sent(delivery.id, reason.clone(), at).await
            }
            Err(SendError::Unknown { reason }) => store.unknown(delivery.id, reason.clone()).await,
            Err(SendError::Refused { reason }) => store.dead(delivery.id, reason.clone()).await,
        };
        match stored {
            Ok(()) => return,
            Err(error) if error.problem.is_passing() => {
                tracing::error!(%error, delivery = delivery.id, "what became of a part cannot be stored; the store is tried again");
                tokio::time::sleep(RETRY).await;
            }
            Err(error) => {
                tracing::error!(%error, delivery = delivery.id, "what became of a part cannot be stored");
                return;
            }
        }
    }
}

/// Returns the time after which a part is tried again.
fn back_off(attempts: u32) -> Duration {
    let (first, longest) = BACK_OFF;
    first.saturating_mul(1 << attempts.saturating_sub(1).min(20)).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_doubles_up_to_the_longest() {
        let pauses = [1, 2, 3, 8, 9, 10, u32::MAX].map(|attempts| back_off(attempts).as_secs());
        assert_eq!(pauses, [1, 2, 4, 128, 256, 300, 300]);
    }
}
