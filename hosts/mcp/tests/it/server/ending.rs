//! The end of the server while calls run.

use super::{GENERATIONS, Person, connect_with, nothing, params, text};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use toolkit::prelude::*;
use toolkit::{events::Progress, tool_ref};
use toolkit_mcp::ServerOptions;

/// Number of calls that run at the end.
const CALLS: u32 = 20;

/// Tells progress when it is dropped.
struct LastWord<'a>(&'a ToolContext);

impl Drop for LastWord<'_> {
    fn drop(&mut self) {
        self.0.progress(Progress::new(1));
    }
}

/// Waits until it is cancelled, and tells progress then.
#[tool(read_only)]
async fn talkative(ctx: &ToolContext, begun: State<Semaphore>) -> String {
    let _last = LastWord(ctx);
    begun.add_permits(1);
    std::future::pending().await
}

#[tokio::test]
async fn calls_that_tell_something_at_shutdown_get_their_results() {
    for version in &GENERATIONS {
        let begun = Arc::new(Semaphore::new(0));
        let toolkit = Toolkit::empty().tool(tool_ref!(talkative)).shared_service(Arc::clone(&begun));
        let options = ServerOptions::new();
        let shutdown = options.shutdown.clone();
        let connected = connect_with(version, Person::default(), toolkit, options).await;
        let mut calls = JoinSet::new();
        for _ in 0..CALLS {
            let client = connected.client.peer().clone();
            calls.spawn(async move { client.call_tool(params("talkative", nothing())).await });
        }
        begun.acquire_many(CALLS).await.unwrap().forget();
        shutdown.cancel();
        for result in calls.join_all().await {
            let result = result.unwrap_or_else(|error| panic!("{version:?}: {error}"));
            assert!(text(&result).contains("cancelled"), "{version:?}: {result:?}");
        }
    }
}
