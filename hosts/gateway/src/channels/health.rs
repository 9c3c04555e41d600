//! The health of an account.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use toolkit_channel::{Capabilities, Identity, Limits};

use crate::store::Moment;

/// The health of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChannelHealth {
    /// Who the account is, once the platform has said so.
    pub identity: Option<Identity>,
    /// When the platform answered last.
    pub last_good: Option<Moment>,
    /// Since when it has not.
    pub degraded_since: Option<Moment>,
    /// Why it has not.
    pub reason: Option<String>,
    /// How often it was asked in vain since then.
    pub failures: u32,
}

/// An account, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChannelStatus {
    /// The channel.
    pub channel: String,
    /// The account.
    pub account: String,
    /// Its health.
    #[serde(flatten)]
    pub health: ChannelHealth,
    /// The abilities of the platform.
    pub capabilities: Capabilities,
    /// The limits of the platform.
    pub limits: Limits,
    /// The number of parts that wait to be sent.
    pub waiting: u64,
}

/// The health of an account, as it changes. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Health(Arc<Mutex<ChannelHealth>>);

impl Health {
    /// Nothing is known yet: it counts as degraded until the platform has answered.
    pub(super) fn new(now: Moment) -> Self {
        Self(Arc::new(Mutex::new(ChannelHealth {
            identity: None,
            last_good: None,
            degraded_since: Some(now),
            reason: Some("the platform was not reached yet".to_owned()),
            failures: 0,
        })))
    }

    pub(super) fn get(&self) -> ChannelHealth {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn identified(&self, identity: Identity) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).identity = Some(identity);
    }

    /// Notes that the platform answered. Returns true if it had not before.
    pub(super) fn good(&self, now: Moment) -> bool {
        let mut health = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        health.last_good = Some(now);
        health.reason = None;
        health.failures = 0;
        health.degraded_since.take().is_some()
    }

    /// Notes that the platform did not answer as it should. Returns how often that was so in a row.
    pub(super) fn bad(&self, now: Moment, reason: &str) -> u32 {
        let mut health = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        health.degraded_since.get_or_insert(now);
        health.reason = Some(reason.to_owned());
        health.failures = health.failures.saturating_add(1);
        health.failures
    }
}
