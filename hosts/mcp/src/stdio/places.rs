//! The places of a client's requests: how many of them are handled at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use tokio::sync::Notify;

/// The places of one client.
#[derive(Debug)]
pub(super) struct Places(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    max: usize,
    taken: AtomicUsize,
    /// Notified when a place is free again.
    changed: Arc<Notify>,
}

impl Places {
    pub(super) fn new(max: usize, changed: Arc<Notify>) -> Self {
        Self(Arc::new(Shared { max, taken: AtomicUsize::new(0), changed }))
    }

    /// Returns true if all places are taken.
    pub(super) fn are_taken(&self) -> bool {
        self.taken() >= self.0.max
    }

    pub(super) fn taken(&self) -> usize {
        self.0.taken.load(Ordering::Acquire)
    }

    /// Takes a place for a request, beyond the number of places if all are taken.
    pub(super) fn take(&self) -> Place {
        self.0.taken.fetch_add(1, Ordering::AcqRel);
        Place(Arc::new(Taken(Arc::clone(&self.0))))
    }
}

/// A place that a request holds: until its answer is written, and until the end of its handler, in whose context a copy is. A request
/// that was cancelled has no answer, but its handler may go on.
#[derive(Debug, Clone)]
pub(super) struct Place(Arc<Taken>);

impl Place {
    /// Returns a reference that does not hold the place.
    pub(super) fn former(&self) -> FormerPlace {
        FormerPlace(Arc::downgrade(&self.0))
    }
}

/// The place of a request that was cancelled.
#[derive(Debug)]
pub(super) struct FormerPlace(Weak<Taken>);

impl FormerPlace {
    /// Returns true while the handler of the request holds it.
    pub(super) fn is_taken(&self) -> bool {
        self.0.strong_count() > 0
    }
}

#[derive(Debug)]
struct Taken(Arc<Shared>);

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::AcqRel);
        self.0.changed.notify_one();
    }
}
