//! Receives for one account, for ever.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolkit_channel::{Account, Batch, Identity, ReceiveError};

use super::health::Health;
use super::{AtWork, arriving, now, source};
use crate::store::{Store, StoreError};

/// The first and the longest pause after a failure.
const BACK_OFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(2));
/// The pause after a store that failed.
const RETRY: Duration = Duration::from_secs(1);
/// The longest wait that a platform may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// Receives until it is stopped. A platform that does not answer is asked again for ever.
pub(super) async fn receive_all(
    store: Store,
    account: Account,
    health: Health,
    at_work: AtWork,
    stopping: CancellationToken,
) {
    let named = format!("{}:{}", account.channel, account.id);
    let mut identity = None;
    while !stopping.is_cancelled() {
        let received = tokio::select! {
            received = once(&store, &account, &health, &mut identity) => received,
            () = stopping.cancelled() => return,
        };
        let pause = match received {
            Ok((identity, batch)) => {
                if health.good(now(&store)) {
                    tracing::info!(account = named, "the platform answers");
                }
                // Not ended halfway: what was begun is stored.
                match arriving::store_all(&store, (&account, &identity), &at_work, batch).await {
                    Ok(()) => continue,
                    Err(error) => {
                        tracing::error!(%error, account = named, "what was received cannot be stored; it is received again");
                        RETRY
                    }
                }
            }
            Err(Failure::Platform(error)) => {
                let failures = health.bad(now(&store), &error.reason);
                tracing::warn!(%error, account = named, failures, "the platform does not answer as it should; it is asked again");
                error.retry_after.map_or_else(|| back_off(failures), |wait| wait.min(MAX_RETRY_AFTER))
            }
            Err(Failure::Store(error)) => {
                tracing::error!(%error, account = named, "the store cannot be read; it is tried again");
                RETRY
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stopping.cancelled() => return,
        }
    }
}

enum Failure {
    Platform(ReceiveError),
    Store(StoreError),
}

/// Receives once, and returns with it who the account is.
async fn once(
    store: &Store,
    account: &Account,
    health: &Health,
    known: &mut Option<Identity>,
) -> Result<(Identity, Batch), Failure> {
    let identity = match known {
        Some(identity) => identity.clone(),
        None => {
            let identity = account.account.identify().await.map_err(Failure::Platform)?;
            health.identified(identity.clone());
            known.insert(identity).clone()
        }
    };
    let offset = store.offset(source(account, &identity)).await.map_err(Failure::Store)?;
    let batch = account.account.receive(offset.as_deref()).await.map_err(Failure::Platform)?;
    Ok((identity, batch))
}

/// Returns the pause after so many failures in a row.
fn back_off(failures: u32) -> Duration {
    let (first, longest) = BACK_OFF;
    first.saturating_mul(1 << failures.saturating_sub(1).min(20)).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_doubles_up_to_the_longest() {
        let pauses = [1, 2, 3, 7, 8, u32::MAX].map(|failures| back_off(failures).as_secs());
        assert_eq!(pauses, [1, 2, 4, 64, 120, 120]);
    }
}
