//! The order of calls: each begins after those that its client sent before it.
//!
//! Requests are handled by tasks of their own, of which any may be the first to run, and some of which read the configuration anew before
//! they call.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The calls of one client, in the order in which it sent them.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    shared: Arc<Shared>,
    last: u64,
}

#[derive(Debug, Default)]
struct Shared {
    passed: Mutex<Passed>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Passed {
    /// All calls up to this one have begun, or never will.
    until: u64,
    /// Calls that passed before one that was sent earlier.
    beyond: BTreeSet<u64>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Passed> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self, number: u64) {
        let mut passed = self.lock();
        if number <= passed.until || !passed.beyond.insert(number) {
            return;
        }
        let mut next = passed.until + 1;
        while passed.beyond.remove(&next) {
            passed.until = next;
            next += 1;
        }
        drop(passed);
        self.changed.notify_waiters();
    }
}

impl Turns {
    /// The turn of the next call.
    pub(crate) fn next(&mut self) -> Turn {
        self.last += 1;
        Turn(Arc::new(Taken { number: self.last, shared: Arc::clone(&self.shared) }))
    }
}

/// The turn of a call, which passes to the next once the call has begun, or with the last copy of this.
#[derive(Debug, Clone)]
pub(crate) struct Turn(Arc<Taken>);

#[derive(Debug)]
struct Taken {
    number: u64,
    shared: Arc<Shared>,
}

impl Turn {
    /// Waits until all calls that were sent before have begun.
    pub(crate) async fn comes(&self) {
        let Taken { number, shared } = &*self.0;
        loop {
            let mut changed = pin!(shared.changed.notified());
            changed.as_mut().enable();
            if shared.lock().until + 1 >= *number {
                return;
            }
            changed.await;
        }
    }

    /// Lets the next call begin.
    pub(crate) fn pass(&self) {
        self.0.shared.pass(self.0.number);
    }

    /// Runs a call. The next one may begin once this one has its place in the order of the session: when it has been polled.
    pub(crate) async fn begin<F: Future>(turn: Option<Self>, call: F) -> F::Output {
        let mut call = pin!(call);
        let mut turn = turn;
        poll_fn(|task| {
            let polled = call.as_mut().poll(task);
            if let Some(turn) = turn.take() {
                turn.pass();
            }
            polled
        })
        .await
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.shared.pass(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    fn poll<F: Future>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
        future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn each_begins_after_those_before_it() {
        let mut turns = Turns::default();
        let (first, second, third) = (turns.next(), turns.next(), turns.next());
        let (mut second_comes, mut third_comes) = (Box::pin(second.comes()), Box::pin(third.comes()));
        assert!(poll(&mut second_comes).is_pending() && poll(&mut third_comes).is_pending());
        assert!(poll(&mut Box::pin(first.comes())).is_ready());
        // A call that lasts holds nobody up once it has begun.
        let mut lasting = Box::pin(Turn::begin(Some(first.clone()), pending::<()>()));
        assert!(poll(&mut second_comes).is_pending());
        assert!(poll(&mut lasting).is_pending());
        assert!(poll(&mut second_comes).is_ready() && poll(&mut third_comes).is_pending());
        assert_eq!(poll(&mut Box::pin(Turn::begin(Some(second.clone()), ready(2)))), Poll::Ready(2));
        assert!(poll(&mut third_comes).is_ready());
    }

    #[test]
    fn one_that_never_begins_lets_no_other_overtake_those_before_it() {
        let mut turns = Turns::default();
        let (first, second, third) = (turns.next(), turns.next(), turns.next());
        drop(second);
        let mut comes = Box::pin(third.comes());
        assert!(poll(&mut comes).is_pending());
        drop(first);
        assert!(poll(&mut comes).is_ready());
    }
}
