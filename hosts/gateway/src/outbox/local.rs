//! The channel of the command line and the console.

use super::channel::{SendChannel, Sending};
use crate::people::{LOCAL_ACCOUNT, LOCAL_CHANNEL};
use crate::store::Delivery;

/// The channel `local`: those who watch a session read its answers in the store, so each has arrived as soon as it is there.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalChannel;

impl SendChannel for LocalChannel {
    fn channel(&self) -> &str {
        LOCAL_CHANNEL
    }

    fn account(&self) -> &str {
        LOCAL_ACCOUNT
    }

    fn has_idempotency_keys(&self) -> bool {
        true
    }

    fn send<'a>(&'a self, _: &'a Delivery) -> Sending<'a> {
        Box::pin(std::future::ready(Ok(None)))
    }
}
