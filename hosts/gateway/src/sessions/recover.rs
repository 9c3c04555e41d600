//! Runs that the end of a process has interrupted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Inner;
use super::at_work::{self, Failure};
use crate::RunEnd;
use crate::store::{Message, Resumption, RunRecord, StoreError};

/// A run that goes on. Until all have their slots, no other run begins.
pub(super) struct Recovering(Arc<Inner>);

impl Recovering {
    pub(super) fn new(inner: &Arc<Inner>) -> Self {
        count(inner).fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(inner))
    }
}

impl Drop for Recovering {
    fn drop(&mut self) {
        count(&self.0).fetch_sub(1, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }
}

fn count(inner: &Inner) -> &AtomicUsize {
    &inner.recovering
}

/// Goes on with runs in their order, each once it has a slot.
pub(super) async fn go_on(inner: Arc<Inner>, runs: Vec<(RunRecord, Recovering)>) {
    for (record, recovering) in runs {
        let message = loop {
            match next(&inner, &record).await {
                Ok(message) => break message,
                Err(error) => {
                    tracing::error!(%error, run = %record.id, "a run cannot go on; the store is tried again");
                }
            }
            inner.rest().await;
            if inner.stopping.is_cancelled() {
                return;
            }
        };
        drop(recovering);
        match message {
            Some(message) => at_work::begin(&inner, record.id, message),
            None if inner.stopping.is_cancelled() => return,
            None => {}
        }
    }
}

/// Waits for a slot, counts the resumption, and returns the message that began the run; `None` if the run is over, or the gateway stops.
async fn next(inner: &Inner, record: &RunRecord) -> Result<Option<Message>, StoreError> {
    let Some(message) = inner.store.message(record.message).await? else {
        // Messages of runs in flight are kept: somebody has removed it by hand.
        let reason = "the message that began it is not there any more".to_owned();
        inner.store.finish(&record.id, RunEnd::Failed(reason), Vec::new(), Vec::new()).await?;
        return Ok(None);
    };
    loop {
        // Made before the look, so that a slot that is given up after it is not missed.
        let changed = inner.changed.notified();
        if inner.stopping.is_cancelled() {
            return Ok(None);
        }
        if inner.is_cancelled(&record.id) {
            cancelled(inner, record, &message).await?;
            return Ok(None);
        }
        if inner.store.take_slot(&record.id, inner.options.max_runs).await? {
            break;
        }
        changed.await;
    }
    // A stop that comes from here on is planned, and noted before.
    if inner.stopping.is_cancelled() {
        return Ok(None);
    }
    match inner.store.resume(&record.id, inner.options.max_resumptions).await? {
        Resumption::Resumed { .. } => Ok(Some(message)),
        Resumption::Ended => Ok(None),
        Resumption::Cancelled => {
            cancelled(inner, record, &message).await?;
            Ok(None)
        }
        Resumption::TooOften { .. } => {
            too_often(inner, record, &message).await?;
            Ok(None)
        }
    }
}

/// Ends a run that was cancelled. Where its transcript has an end already, that one counts.
async fn cancelled(inner: &Inner, record: &RunRecord, message: &Message) -> Result<(), StoreError> {
    // As such it ends as cancelled where its transcript has no end.
    inner.cancelled().insert(record.id.clone());
    let ended = match at_work::end_in_transcript(inner, &record.id, message).await {
        // The next start ends it.
        Err(Failure::Interrupted) => return Ok(()),
        // Nobody waits for it.
        Err(Failure::Agent(_) | Failure::Told(_) | Failure::Passing(_)) => {
            Ok(at_work::End { result: None, consumed: Vec::new() })
        }
        ended => ended,
    };
    at_work::end(inner, &record.id, message, ended).await?;
    inner.cancelled().remove(&record.id);
    Ok(())
}

/// Ends a run that was interrupted too often, with its answer if it ended just before the process did.
async fn too_often(inner: &Inner, record: &RunRecord, message: &Message) -> Result<(), StoreError> {
    let reason = format!(
        "the gateway ended {} times while it worked on this, and does not try it again; send it again if it is still wanted",
        record.resumptions + 1
    );
    let failed = || Failure::Told(reason);
    let ended = match at_work::end_in_transcript(inner, &record.id, message).await {
        Ok(end) if end.result.is_none() => {
            inner.store.consume(&record.id, end.consumed).await?;
            Err(failed())
        }
        Err(Failure::Agent(_) | Failure::Passing(_)) => Err(failed()),
        // The next start has the answer, if there is one.
        Err(Failure::Interrupted) => return Ok(()),
        ended => ended,
    };
    at_work::end(inner, &record.id, message, ended).await
}
