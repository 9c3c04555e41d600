//! Runs several pieces of foreign code concurrently, so that none can delay or break the others.

use crate::service::MakingFuture;
use crate::timer::timer;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use toolkit_core::error::{ToolError, ToolErrorKind};
use toolkit_core::guard::guard;

/// A task, with a name for errors.
pub(crate) struct Job<'a, T> {
    name: &'a str,
    future: Option<MakingFuture<'a, T>>,
}

impl<'a, T> Job<'a, T> {
    pub(crate) fn new(name: &'a str, future: impl Future<Output = Result<T, ToolError>> + Send + 'a) -> Self {
        Self { name, future: Some(Box::pin(future)) }
    }
}

impl<T> Future for Job<'_, T> {
    type Output = Result<T, ToolError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { name, future } = &mut *self;
        let Some(running) = future else { return Poll::Pending };
        match guard(name, || running.as_mut().poll(task)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(result)) => Poll::Ready(result),
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    }
}

/// Values that it holds may panic when they are dropped.
impl<T> Drop for Job<'_, T> {
    fn drop(&mut self) {
        let future = self.future.take();
        let _ = guard(self.name, || drop(future));
    }
}

/// Waits for all futures, but no longer than `limit`. A future that panics counts as done.
pub(crate) async fn all_within<'a, F>(futures: impl Iterator<Item = F>, limit: Duration)
where
    F: Future<Output = ()> + Send + 'a,
{
    let job = |future: F| {
        Job::new("source of tools", async {
            future.await;
            Ok(())
        })
    };
    at_once(futures.map(job).collect(), limit).await;
}

/// Returns the results in the order of the jobs. A job that panics, or is not ready after `limit`, is an error; without
/// a runtime with timers there is no limit.
pub(crate) async fn at_once<T>(jobs: Vec<Job<'_, T>>, limit: Duration) -> Vec<Result<T, ToolError>> {
    let mut results: Vec<Option<Result<T, ToolError>>> = Vec::new();
    results.resize_with(jobs.len(), || None);
    let mut running: FuturesUnordered<_> =
        jobs.into_iter().enumerate().map(|(place, job)| async move { (place, job.await) }).collect();
    let deadline = Instant::now().checked_add(limit);
    let mut waits = None;
    poll_fn(|task| {
        while let Poll::Ready(next) = running.poll_next_unpin(task) {
            let Some((place, result)) = next else { return Poll::Ready(()) };
            results[place] = Some(result);
        }
        // Most are ready at once, and need no timer.
        match waits.get_or_insert_with(|| deadline.and_then(timer)) {
            Some(timer) => timer.as_mut().poll(task),
            None => Poll::Pending,
        }
    })
    .await;
    let late = || ToolError::new(ToolErrorKind::TimedOut, format!("it was not ready after {limit:?}"));
    results.into_iter().map(|result| result.unwrap_or_else(|| Err(late()))).collect()
}
