//! Events of one call while it runs: its progress, and its log messages.

use serde_json::json;
use toolkit::prelude::*;
use toolkit::{
    events::{Event, Events, LogLevel, LogMessage, Progress},
    tool_ref,
};

/// Tells something of each kind.
#[tool(read_only)]
async fn tells(ctx: &ToolContext) -> bool {
    ctx.set_title("a title");
    ctx.partial("a part");
    ctx.progress(Progress::new(1).with_message("half"));
    ctx.log(LogMessage::new(LogLevel::Info, "said"));
    ctx.is_watched()
}

fn all(events: &mut Events) -> Vec<(String, &'static str)> {
    let mut all = Vec::new();
    while let Some(event) = events.try_next() {
        let kind = match event.event {
            Event::Started => "started",
            Event::Progress(_) => "progress",
            Event::Metadata { .. } => "metadata",
            Event::Log(_) => "log",
            Event::Partial { .. } => "partial",
            Event::Finished { .. } => "finished",
            other => panic!("{other:?}"),
        };
        all.push((event.call_id, kind));
    }
    all
}

#[tokio::test]
async fn the_notices_of_one_call_are_its_progress_and_its_logs() {
    let toolkit = Toolkit::empty().tool(tool_ref!(tells)).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_session("s")).await;
    let call = async |id: &str| toolbox.call(ToolCall::new(id, "tells", json!({}))).await.text();
    assert_eq!(call("c0").await, "false");
    let mut notices = toolbox.notices("c1");
    // Whoever does more work to tell of it has a reason to.
    assert_eq!(call("c2").await, "true");
    assert_eq!(call("c1").await, "true");
    let expected = [("c1".to_owned(), "progress"), ("c1".to_owned(), "log")];
    assert_eq!(all(&mut notices), expected);
    // Beside a stream of all events, each gets its own.
    let mut events = toolbox.events();
    call("c1").await;
    assert_eq!(all(&mut notices), expected);
    let kinds: Vec<_> = all(&mut events).into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, ["started", "metadata", "partial", "progress", "log", "finished"]);
    drop((notices, events));
    assert_eq!(call("c1").await, "false");
}
