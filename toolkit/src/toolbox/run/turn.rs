//! Turn-taking: the pass through the session's gate, and the place among the calls of the tool.

use super::Running;
use crate::gate::{Gate, Pass, Passage};
use crate::live::{Duty, Given, Live};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A place that is held by a thread, and that its runner can give away while the function waits.
pub(super) type Lent = Arc<Mutex<Option<OwnedSemaphorePermit>>>;

/// A future that waits for a turn.
pub(super) type Entering<'a> = Pin<Box<dyn Future<Output = Entry<'a>> + Send + 'a>>;

/// The resources for running.
#[derive(Default)]
pub(super) struct Entry<'a> {
    pass: Option<Pass<'a>>,
    place: Option<OwnedSemaphorePermit>,
}

impl<'a> Running<'a> {
    /// Acquires the wanted pass and place, always in this order: a call with a place already has its pass, so that no
    /// two calls wait for each other.
    pub(super) fn acquire(&mut self, wanted: Given, task: &mut Context<'_>) -> Poll<()> {
        if self.waits.as_ref().is_none_or(|waits| waits.entering.is_none()) {
            let (gate, limit) = self.take_what_is_free(wanted);
            if gate.is_none() && limit.is_none() {
                return Poll::Ready(());
            }
            let waits = self.waits.get_or_insert_default();
            waits.wanted = wanted;
            waits.entering = Some(Box::pin(wait_for(gate, limit)));
        }
        let waits = self.waits.get_or_insert_default();
        let Some(entering) = &mut waits.entering else { return Poll::Ready(()) };
        let Poll::Ready(Entry { pass, place }) = entering.as_mut().poll(task) else { return Poll::Pending };
        waits.entering = None;
        self.pass = pass.or(self.pass.take());
        self.place = place.or(self.place.take());
        Poll::Ready(())
    }

    /// Takes the resources that are free; returns those that have to be awaited.
    fn take_what_is_free(&mut self, wanted: Given) -> (Option<(&'a Gate, Passage)>, Option<Arc<Semaphore>>) {
        let mut gate = if wanted.pass { self.gate() } else { None };
        if let Some((free, passage)) = &gate
            && let Some(pass) = free.try_pass(*passage)
        {
            self.pass = Some(pass);
            gate = None;
        }
        let mut limit = if wanted.place { self.tool.limit().map(Arc::clone) } else { None };
        if let (None, Some(free)) = (&gate, &limit)
            && let Ok(place) = Arc::clone(free).try_acquire_owned()
        {
            self.place = Some(place);
            limit = None;
        }
        (gate, limit)
    }

    /// Returns the gate that the call goes through, and the kind of passage.
    fn gate(&self) -> Option<(&'a Gate, Passage)> {
        let context = self.context;
        let is_reading = self.tool.annotations().read_only_hint;
        let passage = if is_reading { Passage::Together } else { Passage::Alone };
        match context.above() {
            // All calls made by a read-only tool are read-only.
            Some(_) if self.start.within_read_only => None,
            Some(above) => Some((above.live.children(), passage)),
            None if is_reading && self.start.reads_beside_changes => None,
            None => Some((&self.scope.session.gate, passage)),
        }
    }

    /// Gives away resources that the function does not need while it waits.
    pub(super) fn give(&mut self, live: &Live) {
        let gives = live.take_wanted(self.has());
        if gives.pass {
            self.pass = None;
        }
        if gives.place {
            self.place = None;
            self.lend(None);
        }
    }

    /// Gets back resources that were given away, as far as the duty requires now.
    pub(super) fn restore(&mut self, live: &Arc<Live>, duty: Duty, task: &mut Context<'_>) -> Poll<()> {
        loop {
            let missing = if duty == Duty::None { Given::default() } else { live.missing(task) };
            if let Some(waits) = &mut self.waits
                && waits.entering.is_some()
                && waits.wanted != missing
            {
                // A queued request could receive a resource that is not wanted any more, and block others that want it.
                waits.entering = None;
                self.is_back(live);
                continue;
            }
            if missing == Given::default() {
                return Poll::Ready(());
            }
            if self.acquire(missing, task).is_pending() {
                return Poll::Pending;
            }
            self.is_back(live);
        }
    }

    fn is_back(&mut self, live: &Live) {
        if self.lent.is_some()
            && let Some(place) = self.place.take()
        {
            self.lend(Some(place));
        }
        live.restored(self.has());
    }

    fn has(&self) -> Given {
        let is_lent = || self.lent.as_ref().is_some_and(|lent| locked(lent).is_some());
        Given { pass: self.pass.is_some(), place: self.place.is_some() || is_lent() }
    }

    /// Sets the place that the function's thread holds from now on.
    fn lend(&self, place: Option<OwnedSemaphorePermit>) {
        if let Some(lent) = &self.lent {
            let before = std::mem::replace(&mut *locked(lent), place);
            drop(before);
        }
    }
}

pub(super) fn locked(lent: &Lent) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
    lent.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn wait_for(gate: Option<(&Gate, Passage)>, limit: Option<Arc<Semaphore>>) -> Entry<'_> {
    let mut entry = Entry::default();
    if let Some((gate, passage)) = gate {
        entry.pass = Some(gate.pass(passage).await);
    }
    if let Some(limit) = limit {
        // The semaphore is never closed.
        entry.place = limit.acquire_owned().await.ok();
    }
    entry
}
