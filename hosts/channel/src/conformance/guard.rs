//! Runs futures of a channel so that none can end or stop the run of the checks.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use super::report::{Checked, Stop};

/// The longest time for something that happens in any case. It is no measurement: a machine may be slow, and a request for events takes a
/// minute.
const MAX_WAIT: Duration = Duration::from_mins(3);

/// Runs a future to its end. A panic of it, and one that has no end, are failures of the check.
pub(super) async fn guarded<F: Future>(operation: &str, future: F) -> Checked<F::Output> {
    let mut future = pin!(future);
    let caught = poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(panic) => Poll::Ready(Err(panic)),
    });
    match tokio::time::timeout(MAX_WAIT, caught).await {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(panic)) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("of another type");
            Err(Stop::failed(format!("{operation} returns"), format!("a panic: {text}")))
        }
        Err(_) => {
            let seconds = MAX_WAIT.as_secs();
            Err(Stop::failed(format!("{operation} returns"), format!("nothing within {seconds} seconds")))
        }
    }
}

/// Polls a future a number of times, and drops it then. Returns its output if it ended before.
pub(super) async fn interrupted<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|context| {
        let polled = future.as_mut().poll(context);
        left = left.saturating_sub(1);
        match polled {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Polls a future until another one is ready, and drops it then. Returns its output if it ended first.
pub(super) async fn until<F: Future>(future: F, other: impl Future<Output = ()>) -> Option<F::Output> {
    let (mut future, mut other) = (pin!(future), pin!(other));
    poll_fn(|context| {
        if other.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        future.as_mut().poll(context).map(Some)
    })
    .await
}
