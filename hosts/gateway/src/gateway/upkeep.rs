//! The work of each hour.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::People;
use crate::store::Store;

/// The time between two clean-ups.
const EVERY: Duration = Duration::from_hours(1);

/// The time between two looks at tokens that may have expired.
const EXPIRY: Duration = Duration::from_secs(15);

/// Ends what was begun with tokens that have expired since. It never ends.
pub(super) async fn end_expired(people: People) {
    let mut looks = interval(EXPIRY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        if let Err(error) = people.end_expired().await {
            tracing::warn!(%error, "it is not known which tokens have expired; it is looked at again");
        }
    }
}

/// Removes rows that are no longer kept, at once and then every hour. It never ends.
pub(super) async fn clean_up(store: Store) {
    let mut hours = interval(EVERY);
    hours.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        hours.tick().await;
        loop {
            match store.clean_up().await {
                Ok(0) => break,
                // Others have their turn between two parts.
                Ok(_) => tokio::task::yield_now().await,
                Err(error) => {
                    tracing::warn!(%error, "old rows cannot be removed; it is tried again in an hour");
                    break;
                }
            }
        }
    }
}
