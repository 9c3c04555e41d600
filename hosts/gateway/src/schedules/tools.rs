//! Jobs that call a tool without a model.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::fail_points;
use crate::store::{ClaimedFire, FireEnd, Job, ReserveOutcome, Store};

/// Time after which a store that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Why the call of a tool failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolJobError(pub String);

/// Calls the tools of jobs.
pub trait ToolJobs: Send + Sync + 'static {
    /// Calls the tool of a job with the rights of the job's person, and returns its result as text. Cancelled when the time-out of the job
    /// has passed, or the gateway stops: then the future is dropped.
    ///
    /// # Errors
    ///
    /// There is no such tool, it is denied, or it failed.
    fn call(
        &self,
        job: &Job,
        cancelled: CancellationToken,
    ) -> impl Future<Output = Result<String, ToolJobError>> + Send;
}

/// Does a fire of a tool, and stores its end. Where the store fails, it is tried again until it works or the gateway stops.
pub(super) async fn run(
    store: Store,
    tools: Arc<impl ToolJobs>,
    claimed: ClaimedFire,
    interrupting: CancellationToken,
) {
    let end = match begin(&store, &claimed, &interrupting).await {
        None => call(tools, &claimed, &interrupting).await,
        Some(end) => end,
    };
    fail_points::pass("after_tool_job");
    while let Err(error) = store.end_fire(&claimed.fire.id, end.clone()).await {
        tracing::error!(%error, job = %claimed.job.id, "the end of a fire cannot be stored; the store is tried again");
        tokio::select! {
            () = tokio::time::sleep(RETRY) => {}
            // It is shown as interrupted after the next start.
            () = interrupting.cancelled() => return,
        }
    }
}

/// Counts the run against the budgets. Returns the end of the fire if it does not begin.
async fn begin(store: &Store, claimed: &ClaimedFire, interrupting: &CancellationToken) -> Option<FireEnd> {
    let (session, job) = (&claimed.job.session, &claimed.job.id);
    loop {
        match store.count_tool_run(session.clone(), job.as_str()).await {
            Ok(ReserveOutcome::Reserved) => return None,
            Ok(ReserveOutcome::Refused(exceeded)) => {
                return Some(FireEnd::Refused(format!("the tool was not called: {exceeded}")));
            }
            Err(error) => {
                tracing::error!(%error, %job, "the run of a job cannot be counted; the store is tried again");
                tokio::select! {
                    () = tokio::time::sleep(RETRY) => {}
                    () = interrupting.cancelled() => return Some(FireEnd::Interrupted),
                }
            }
        }
    }
}

async fn call(tools: Arc<impl ToolJobs>, claimed: &ClaimedFire, interrupting: &CancellationToken) -> FireEnd {
    let cancelled = interrupting.child_token();
    let _cancel_at_end = cancelled.clone().drop_guard();
    let (job, token) = (claimed.job.clone(), cancelled.clone());
    fail_points::pass("before_tool_job");
    // A task of its own: a call that panics fails alone.
    let calling = AbortOnDropHandle::new(tokio::spawn(async move { tools.call(&job, token).await }));
    let timeout = async {
        match claimed.job.timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        ended = calling => match ended {
            Ok(Ok(result)) => FireEnd::Done(Some(result)),
            // It may have noticed the stop before this did.
            Ok(Err(_)) if interrupting.is_cancelled() => FireEnd::Interrupted,
            Ok(Err(ToolJobError(reason))) => FireEnd::Failed(reason),
            Err(_) => FireEnd::Failed("the tool panicked".to_owned()),
        },
        () = timeout => FireEnd::Late("it took longer than the time-out of its job".to_owned()),
        () = interrupting.cancelled() => FireEnd::Interrupted,
    }
}
