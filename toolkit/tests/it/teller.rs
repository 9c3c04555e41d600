//! Events about work that a call has left running, long after the call.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::sync::{Arc, Mutex};
use toolkit::prelude::*;
use toolkit::{
    events::{Event, EventSender},
    text::Redactor,
    tool_ref,
};

#[derive(Debug, Default)]
struct Left {
    tellers: Mutex<Vec<EventSender>>,
}

/// Leaves something running.
#[tool(read_only)]
async fn leaves(ctx: &ToolContext, left: State<Left>) -> &'static str {
    left.tellers.lock().unwrap().push(ctx.teller());
    "left"
}

const SECRET: &str = "correct horse battery";

#[tokio::test]
async fn what_is_over_is_told_to_those_who_watch_and_keeps_nothing_alive() {
    let left = Arc::new(Left::default());
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(leaves))
        .shared_service(Arc::clone(&left))
        .redactor(Redactor::new().value(SECRET))
        .build()
        .unwrap();
    let caller = |session: &str| Caller::new().with_session(session).with_agent("kid");
    let toolbox = toolkit.toolbox(&caller("s")).await;
    let mut others = toolkit.toolbox(&caller("other")).await.events();
    let result = toolbox.call(ToolCall::new("c1", "leaves", json!({}))).await;
    assert_eq!(result.text(), "left");
    let (mut all, mut ours) = (toolkit.events(), toolbox.events());
    // The session goes, and what the call has left stays until it is over.
    drop(toolbox);
    assert!(toolkit.end_session("s"));
    let teller = left.tellers.lock().unwrap().pop().unwrap();
    let facts = json!({ "exitCode": 0, "said": SECRET });
    teller.ended("job_1", format!("job_1: {SECRET}"), facts.as_object().unwrap().clone());
    for events in [&mut all, &mut ours] {
        let told = events.try_next().unwrap();
        let who = (&*told.call_id, &*told.tool, told.session_id.as_deref(), told.agent.as_deref());
        assert_eq!(who, ("c1", "leaves", Some("s"), Some("kid")));
        let Event::Ended { task_id, title, metadata } = &told.event else { panic!("{told:?}") };
        assert_eq!((task_id.as_str(), &metadata["exitCode"]), ("job_1", &json!(0)));
        assert!(
            title.starts_with("job_1: ") && !format!("{title} {metadata:?}").contains(SECRET),
            "{told:?}"
        );
        assert!(events.try_next().is_none());
    }
    assert!(others.try_next().is_none());
    // Nobody is told any more, and nobody minds.
    drop(toolkit);
    teller.ended("job_2", "job_2", serde_json::Map::new());
    assert!(ours.try_next().is_none());
}
