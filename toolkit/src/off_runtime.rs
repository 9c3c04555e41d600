//! Blocking work of an async function.

use tokio::runtime::Handle;

/// Runs blocking work on tokio's blocking threads, or on this thread if there is no runtime. Returns `None` if the runtime shuts
/// down.
pub(crate) async fn off_runtime<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    match Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(work).await.ok(),
        Err(_) => Some(work()),
    }
}
