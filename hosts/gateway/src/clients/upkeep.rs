//! The end of deferred calls whose results do not come.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Clients;
use crate::store::StoreError;

/// The longest time between two looks, since the clock of the machine may be set.
const RECHECK: Duration = Duration::from_mins(1);
/// Time after which a store that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Ends calls whose time is over, and those of clients that do not come back after a restart.
pub(super) async fn end_calls(clients: Clients) {
    let Some(shutdown) = clients.0.at_work.get().map(|at_work| at_work.shutdown.clone()) else { return };
    tokio::join!(left(&clients, &shutdown), late(&clients, &shutdown));
}

/// Ends the calls of clients that an ended process has left, once they had the time to come back.
async fn left(clients: &Clients, shutdown: &CancellationToken) {
    let within = clients.limits().resume_within;
    tokio::select! {
        () = tokio::time::sleep(within) => {}
        () = shutdown.cancelled() => return,
    }
    while let Err(error) = end_left(clients).await {
        tracing::error!(%error, "calls of clients that are gone cannot be ended; the store is tried again");
        tokio::select! {
            () = tokio::time::sleep(RETRY) => {}
            () = shutdown.cancelled() => return,
        }
    }
}

async fn end_left(clients: &Clients) -> Result<(), StoreError> {
    let within = clients.limits().resume_within;
    for call in clients.0.store.client_calls(None).await? {
        if !clients.is_linked(&call.client) {
            let why = format!("the gateway began anew, and the client did not come back within {within:?}");
            let ended = clients.0.store.end_calls_of_client(call.client, why).await?;
            clients.hand_in(ended).await;
        }
    }
    Ok(())
}

/// Ends calls whose time is over.
async fn late(clients: &Clients, shutdown: &CancellationToken) {
    loop {
        let wait = match end_late(clients).await {
            Ok(wait) => wait,
            Err(error) => {
                tracing::error!(%error, "calls whose time is over cannot be ended; the store is tried again");
                RETRY
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = clients.0.deferred.notified() => {}
            () = shutdown.cancelled() => return,
        }
    }
}

async fn end_late(clients: &Clients) -> Result<Duration, StoreError> {
    let store = &clients.0.store;
    if let Some(next) = store.next_client_expiry().await? {
        let now = store.clock().now();
        if next > now {
            return Ok(next.since(now).min(RECHECK));
        }
        let ended = store.expire_client_calls().await?;
        clients.hand_in(ended).await;
        return Ok(Duration::ZERO);
    }
    Ok(RECHECK)
}
