//! Timers, where the runtime has any.

use std::cell::Cell;
use std::pin::Pin;
use tokio::runtime::{Handle, Id};
use tokio::time::{Instant, Sleep, sleep_until};
use toolkit_core::guard::guard;

/// Returns a timer, if there is a runtime with timers.
pub(crate) fn timer(deadline: Instant) -> Option<Pin<Box<Sleep>>> {
    thread_local! {
        static WITHOUT: Cell<Option<Id>> = const { Cell::new(None) };
    }
    let runtime = Handle::try_current().ok()?.id();
    if WITHOUT.get() == Some(runtime) {
        return None;
    }
    // Tokio panics in a runtime without timers, and offers no way to check.
    let timer = guard("a timer", || Box::pin(sleep_until(deadline))).ok();
    if timer.is_none() {
        WITHOUT.set(Some(runtime));
    }
    timer
}
