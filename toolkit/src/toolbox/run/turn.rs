//! Whose turn it is: the pass through the session's gate, and the place among the calls of the tool.

use super::Running;
use crate::gate::{Gate, Pass, Passage};
use crate::live::{Duty, Given, Live};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A place that a thread keeps, and that its runner can give away while the function waits.
pub(super) type Lent = Arc<Mutex<Option<OwnedSemaphorePermit>>>;

/// What waiting for a turn brings.
pub(super) type Entering<'a> = Pin<Box<dyn Future<Output = Entry<'a>> + Send + 'a>>;

/// What it takes to run.
#[derive(Default)]
pub(super) struct Entry<'a> {
    pass: Option<Pass<'a>>,
    place: Option<OwnedSemaphorePermit>,
}

impl<'a> Running<'a> {
    /// Gets what is wanted of pass and place, in this order always: whoever has a place has its pass already, so
    /// that no two calls wait for each other.
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

    /// Takes what need not be waited for; what is left has to be.
    fn take_what_is_free(&mut self, wanted: Given) -> (Option<(&'a Gate, Passage)>, Option<Arc<Semaphore>>) {
        let mut gate = if wanted.pass { self.gate() } else { None };
        if let Some((free, passage)) = &gate
            && let Some(pass) = free.try_pass(*passage)
        {
            self.pass = Some(pass);
            gate = None;
        }
        let mut limit = if wanted.place { self.context.tool().limit().map(Arc::clone) } else { None };
        if let (None, Some(free)) = (&gate, &limit)
            && let Ok(place) = Arc::clone(free).try_acquire_owned()
        {
            self.place = Some(place);
            limit = None;
        }
        (gate, limit)
    }

    /// The gate that the call goes through, and how.
    fn gate(&self) -> Option<(&'a Gate, Passage)> {
        let context = self.context;
        let is_reading = context.tool().annotations().read_only_hint;
        let passage = if is_reading { Passage::Together } else { Passage::Alone };
        match context.above() {
            // All that a tool can call which only reads, only reads.
            Some(_) if self.start.within_read_only => None,
            Some(above) => Some((above.live.children(), passage)),
            None => Some((&context.scope().session.gate, passage)),
        }
    }

    /// Gives away what the function does not need while it is away.
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

    /// Gets back what was given away, as far as it is its duty now.
    pub(super) fn restore(&mut self, live: &Live, duty: Duty, task: &mut Context<'_>) -> Poll<()> {
        loop {
            let missing = if duty == Duty::None { Given::default() } else { live.missing() };
            if let Some(waits) = &mut self.waits
                && waits.entering.is_some()
                && waits.wanted != missing
            {
                // Whoever waits in a queue gets what he no longer wants, and keeps it from those who do.
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

    /// What the function's thread keeps from now on.
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
        // Nobody closes it.
        entry.place = limit.acquire_owned().await.ok();
    }
    entry
}
