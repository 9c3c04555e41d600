//! Blocking code, run from an async tool.

use serde_json::json;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use toolkit::prelude::*;
use toolkit::{CancellationToken, ToolErrorKind, tool_ref};

struct Telling(Sender<&'static str>);

/// Works until it is told to stop, or ends in the way that is asked for.
#[tool(read_only)]
async fn work(ctx: &ToolContext, told: State<Telling>, how: String) -> Result<String, ToolError> {
    let told = told.0.0.clone();
    ctx.blocking(move |cancel| match &*how {
        "fails" => Err(ToolError::not_found("nothing")),
        "panics" => panic!("oh"),
        "waits" => {
            told.send("began").map_err(|_| ToolError::failed("nobody is there"))?;
            let begun = Instant::now();
            while !cancel.is_cancelled() {
                if begun.elapsed() > Duration::from_secs(30) {
                    return Err(ToolError::failed("nobody stopped it"));
                }
                std::thread::yield_now();
            }
            told.send("stopped").map_err(|_| ToolError::failed("nobody is there"))?;
            Err(ToolError::failed("stopped"))
        }
        _ => Ok("done".to_owned()),
    })
    .await
}

#[tokio::test]
async fn what_it_comes_to_is_the_tools() {
    let (sender, _receiver) = channel();
    let toolkit = Toolkit::empty().tool(tool_ref!(work)).service(Telling(sender)).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    for (how, expected) in [
        ("ends", Ok("done".to_owned())),
        ("fails", Err(ToolErrorKind::NotFound)),
        ("panics", Err(ToolErrorKind::Panicked)),
    ] {
        let result = toolbox.call(ToolCall::new("1", "work", json!({ "how": how }))).await;
        assert_eq!(result.outcome.map(|output| output.to_text()).map_err(|error| error.kind()), expected);
    }
}

#[tokio::test]
async fn it_is_told_when_nobody_waits_any_more() {
    for drops in [false, true] {
        let (sender, receiver) = channel();
        let toolkit = Toolkit::empty().tool(tool_ref!(work)).service(Telling(sender)).build().unwrap();
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        let token = CancellationToken::new();
        let cancel = token.clone();
        let call = tokio::spawn(async move {
            toolbox.call_with(ToolCall::new("1", "work", json!({ "how": "waits" })), cancel).await
        });
        let receiver = tokio::task::spawn_blocking(move || {
            assert_eq!(receiver.recv_timeout(Duration::from_secs(30)), Ok("began"));
            receiver
        });
        let receiver = receiver.await.unwrap();
        if drops {
            call.abort();
        } else {
            token.cancel();
            let outcome = call.await.unwrap().outcome;
            assert_eq!(outcome.unwrap_err().kind(), ToolErrorKind::Aborted);
        }
        let stopped = tokio::task::spawn_blocking(move || receiver.recv_timeout(Duration::from_secs(30)));
        assert_eq!(stopped.await.unwrap(), Ok("stopped"));
    }
}
