//! Runs that the end of a process has interrupted.

use std::sync::Arc;

use super::{Inner, at_work};
use crate::RunEnd;
use crate::store::{Message, Resumption, RunRecord, StoreError};

/// Goes on with a run, if it has not gone on too often already.
pub(super) async fn go_on(inner: Arc<Inner>, record: RunRecord) {
    let Some(message) = tried(&inner, || resumed(&inner, &record)).await.flatten() else { return };
    let has_slot = tried(&inner, || wait_for_slot(&inner, &record, &message)).await;
    if has_slot == Some(true) {
        at_work::run(inner, record.id, message).await;
    }
}

/// Does something with the store until it works. `None` if the gateway stops before.
async fn tried<T, F: Future<Output = Result<T, StoreError>>>(
    inner: &Inner,
    act: impl Fn() -> F,
) -> Option<T> {
    loop {
        match act().await {
            Ok(value) => return Some(value),
            Err(error) => tracing::error!(%error, "a run cannot go on; the store is tried again"),
        }
        inner.rest().await;
        if inner.interrupting.is_cancelled() {
            return None;
        }
    }
}

/// Counts the resumption, and returns the message that began the run; `None` if the run is over.
async fn resumed(inner: &Inner, record: &RunRecord) -> Result<Option<Message>, StoreError> {
    let Some(message) = inner.store.message(record.message).await? else {
        // Messages of runs in flight are kept: somebody has removed it by hand.
        let reason = "the message that began it is not there any more".to_owned();
        inner.store.finish(&record.id, RunEnd::Failed(reason), Vec::new()).await?;
        return Ok(None);
    };
    match inner.store.resume(&record.id, inner.options.max_resumptions).await? {
        Resumption::Resumed { .. } => return Ok(Some(message)),
        Resumption::Ended => return Ok(None),
        Resumption::TooOften { .. } => {}
    }
    // It may have ended just before the process did.
    if let Some(result) = at_work::end_in_transcript(inner, &record.id, &message).await {
        at_work::finish(inner, &record.id, &message, &result).await?;
    } else {
        let reason = format!(
            "the gateway ended {} times while it worked on this, and does not try it again; send it again if it is still wanted",
            record.resumptions + 1
        );
        at_work::fail(inner, &record.id, &message, &reason).await?;
    }
    inner.changed.notify_waiters();
    Ok(None)
}

/// Waits for a slot. Returns false if the run was cancelled before, or if the gateway stops.
async fn wait_for_slot(inner: &Inner, record: &RunRecord, message: &Message) -> Result<bool, StoreError> {
    loop {
        // Made before the look, so that a slot that is given up after it is not missed.
        let changed = inner.changed.notified();
        if inner.stopping.is_cancelled() {
            return Ok(false);
        }
        // Where its transcript has an end already, that one counts.
        if inner.is_cancelled(&record.id)
            && at_work::end_in_transcript(inner, &record.id, message).await.is_none()
        {
            inner.store.finish(&record.id, RunEnd::Cancelled, Vec::new()).await?;
            inner.cancelled().remove(&record.id);
            inner.changed.notify_waiters();
            return Ok(false);
        }
        if inner.store.take_slot(&record.id, inner.options.max_runs).await? {
            return Ok(true);
        }
        changed.await;
    }
}
