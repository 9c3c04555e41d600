//! Slots of runs that wait for a person or another session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::Inner;
use super::recover::Recovering;
use crate::store::{Problem, StoreError};
use crate::{RunId, SessionKey};

/// Lets runs that wait for an answer give up their slots, until they have it.
#[derive(Clone)]
pub(crate) struct Slots {
    inner: Weak<Inner>,
    /// One for all questions and waits of the sessions: a run has its slot again once none of its own is open, whoever waits.
    waiting: Arc<Mutex<WaitingRuns>>,
}

/// The runs that gave up their slots.
pub(super) type WaitingRuns = BTreeMap<RunId, Waiting>;

/// The questions and waits of a run.
#[derive(Default)]
pub(super) struct Waiting {
    /// The names of the toolkit's sessions whose calls ask.
    of_sessions: BTreeSet<String>,
    digests: BTreeSet<String>,
}

impl Slots {
    pub(super) fn new(inner: &Arc<Inner>) -> Self {
        Self { inner: Arc::downgrade(inner), waiting: Arc::clone(&inner.waiting) }
    }

    /// Gives the slot of the run of a session to others while a question, or a wait for another session, is open.
    pub(crate) async fn give_up(
        &self,
        session: &SessionKey,
        of_session: &str,
        digest: &str,
    ) -> Result<(), StoreError> {
        let Some(inner) = self.inner.upgrade() else { return Ok(()) };
        let Some(run) = inner.store.run_in_flight(session.clone()).await? else { return Ok(()) };
        let before: Vec<RunId> = self.waiting().keys().cloned().collect();
        let in_flight = inner.store.runs_in_flight().await?;
        {
            let mut waiting = self.waiting();
            // Questions of runs that were cancelled may never end.
            waiting.retain(|id, _| !before.contains(id) || in_flight.iter().any(|run| run.id == *id));
            let waits = waiting.entry(run.id.clone()).or_default();
            waits.of_sessions.insert(of_session.to_owned());
            waits.digests.insert(digest.to_owned());
        }
        if !refused_is_fine(inner.store.give_up_slot(&run.id).await)? {
            self.waiting().remove(&run.id);
        }
        inner.changed.notify_waiters();
        Ok(())
    }

    /// Notes that a call of a session has its result: if its run has further questions that wait, it holds no slot for them.
    pub(crate) async fn call_ended(&self, of_session: &str) -> Result<(), StoreError> {
        let run = {
            let waiting = self.waiting();
            let found = waiting.iter().find(|(_, waits)| waits.of_sessions.contains(of_session));
            found.map(|(run, _)| run.clone())
        };
        let (Some(run), Some(inner)) = (run, self.inner.upgrade()) else { return Ok(()) };
        if !refused_is_fine(inner.store.give_up_slot(&run).await)? {
            self.waiting().remove(&run);
        }
        inner.changed.notify_waiters();
        Ok(())
    }

    /// Waits for a slot for the run that asked a question, or waited for a session, once none of its questions and waits is open. Until it has one,
    /// no other run begins. It is carried out also if the future is dropped.
    pub(crate) async fn take_again(&self, digest: &str) -> Result<(), StoreError> {
        let run = {
            let mut waiting = self.waiting();
            let asking = waiting.iter().find(|(_, waits)| waits.digests.contains(digest));
            let Some(run) = asking.map(|(run, _)| run.clone()) else { return Ok(()) };
            let is_last = waiting.get_mut(&run).is_some_and(|waits| {
                waits.digests.remove(digest);
                waits.digests.is_empty()
            });
            if !is_last {
                return Ok(());
            }
            waiting.remove(&run);
            run
        };
        let Some(inner) = self.inner.upgrade() else { return Ok(()) };
        let taking = tokio::spawn(take(inner, run));
        taking.await.unwrap_or(Ok(()))
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<RunId, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a slot for a run.
async fn take(inner: Arc<Inner>, run: RunId) -> Result<(), StoreError> {
    let _first = Recovering::new(&inner);
    loop {
        // Made before the look, so that a slot that is given up after it is not missed.
        let changed = inner.changed.notified();
        if inner.interrupting.is_cancelled() {
            return Ok(());
        }
        match inner.store.take_slot(&run, inner.options.max_runs).await {
            Ok(true) => return Ok(()),
            Ok(false) => changed.await,
            Err(error) if error.problem.is_passing() => {
                tracing::error!(%error, %run, "a run cannot have its slot again; the store is tried again");
                inner.rest().await;
            }
            other => return refused_is_fine(other.map(drop)).map(drop),
        }
    }
}

/// A run that has ended meanwhile needs no slot: returns false then.
fn refused_is_fine(done: Result<(), StoreError>) -> Result<bool, StoreError> {
    match done {
        Ok(()) => Ok(true),
        Err(StoreError { problem: Problem::Refused(_), .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
