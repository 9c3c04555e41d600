//! Runs several calls concurrently.

use super::{CallOptions, Toolbox};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use toolkit_core::call::{ToolCall, ToolResult};

impl Toolbox {
    /// Runs several calls, as a model requests them in one message. The results are in the order of the calls.
    ///
    /// They go through the session's gate in that order too: calls that only read run together, every other call runs
    /// alone. Dropping the future leaves none of them running.
    pub async fn call_all(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        options: impl Into<CallOptions>,
    ) -> Vec<ToolResult> {
        self.run_all(calls.into_iter().collect(), options.into()).await
    }

    /// Behind a pointer, and not `async`: the future is compiled in this crate, and not again in each crate that awaits it.
    fn run_all(&self, calls: Vec<ToolCall>, options: CallOptions) -> BoxFuture<'_, Vec<ToolResult>> {
        Box::pin(self.run_each(calls, options))
    }

    async fn run_each(&self, calls: Vec<ToolCall>, options: CallOptions) -> Vec<ToolResult> {
        let mut results: Vec<Option<ToolResult>> = Vec::new();
        results.resize_with(calls.len(), || None);
        let mut running: FuturesUnordered<_> = calls
            .into_iter()
            .enumerate()
            .map(|(place, call)| {
                let options = options.clone();
                async move { (place, self.run(call, options).await) }
            })
            .collect();
        while let Some((place, result)) = running.next().await {
            results[place] = Some(result);
        }
        // Every future above has ended with its result.
        results.into_iter().flatten().collect()
    }
}
