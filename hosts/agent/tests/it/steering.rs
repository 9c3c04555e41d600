//! Messages that come while a run goes on, and the end of background jobs.

use crate::common::{agent, assert_requests_whole, builder, call, finish, log, results, scripted};
use serde_json::{Map, json};
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit_agent::{AgentEvent, DelegationRequest, FinalAnswer, Kind, RunOptions};
use toolkit_models::{Answer, Message, Scripted};

#[tokio::test]
async fn a_message_is_delivered_at_the_next_turn_behind_the_results() {
    let log = log();
    let model =
        scripted([Answer::calls(["1", "2"].map(|id| call(id, "look", json!({"text": id})))), finish("done")]);
    let agent = agent(&log, &model);
    let request = DelegationRequest::new("look");
    let mut session = agent.session(&request).unwrap();
    let steering = session.steering();
    let options = RunOptions::new().observer(move |event: AgentEvent| {
        if matches!(event, AgentEvent::Step { .. }) && !steering.is_waiting() {
            steering.send("and hurry").unwrap();
        }
    });
    let result = session.run(request, options).await;
    assert!(result.success);
    let requests = model.requests();
    assert_requests_whole(&requests);
    let last = requests[1].messages.last().unwrap();
    assert_eq!(last, &Message::user("and hurry"));
    assert!(session.messages().iter().any(|message| message.kind == Kind::Addition));
}

#[tokio::test]
async fn a_message_that_comes_with_the_final_answer_goes_before_it() {
    let log = log();
    let model = scripted([finish("first"), finish("second")]);
    let agent = agent(&log, &model);
    let request = DelegationRequest::new("do it");
    let mut session = agent.session(&request).unwrap();
    session.steering().send("before the run").unwrap();
    let steering = session.steering();
    let options = RunOptions::new().observer(move |event: AgentEvent| {
        // The first answer is there, and not yet looked at.
        if let AgentEvent::Usage { usage, .. } = event
            && usage.requests == 1
        {
            steering.send("one more thing").unwrap();
        }
    });
    let result = session.run(request, options).await;
    assert_eq!(result.summary, "second");
    let requests = model.requests();
    assert_eq!(requests[0].messages[1], Message::user("before the run"));
    let results = results(&requests[1].messages);
    assert!(results[0].2 && results[0].1.contains("not finished"), "{results:?}");
    assert_eq!(requests[1].messages.last().unwrap(), &Message::user("one more thing"));
}

#[tokio::test]
async fn an_answer_that_a_message_overtook_is_part_of_the_answer_of_the_run() {
    let model = scripted(["before", "first", "second", "third"].map(Answer::text));
    let agent = builder(&log(), &model).final_answer(FinalAnswer::Text).build();
    let mut session = agent.session(&DelegationRequest::default()).unwrap();
    let earlier = session.run(DelegationRequest::new("good day"), RunOptions::new()).await;
    assert_eq!(earlier.summary, "before");
    let steering = session.steering();
    let options = RunOptions::new().observer(move |event: AgentEvent| {
        // The first answer is there, and not yet looked at.
        if let AgentEvent::Usage { usage, .. } = event
            && usage.requests == 1
        {
            steering.send("one more thing").unwrap();
        }
    });
    let result = session.run(DelegationRequest::new("do it"), options).await;
    assert_eq!(result.summary, "first\n\nsecond");
    // Nothing of it is said again by a run that has no task of its own.
    session.steering().send("and then?").unwrap();
    let next = session.go_on(RunOptions::new()).await;
    assert_eq!(next.summary, "third");
}

#[tokio::test]
async fn a_message_after_a_text_is_an_answer_to_it() {
    let model = scripted([Answer::text("Which file?"), finish("done")]);
    let agent = agent(&log(), &model);
    let request = DelegationRequest::new("do it");
    let mut session = agent.session(&request).unwrap();
    let steering = session.steering();
    let options = RunOptions::new().observer(move |event: AgentEvent| {
        if matches!(event, AgentEvent::Text { .. }) {
            steering.send("a.txt").unwrap();
        }
    });
    assert!(session.run(request, options).await.success);
    let messages = &model.requests()[1].messages;
    assert_eq!(messages[2..], [Message::user("a.txt")]);
}

/// Starts something that ends later.
#[tool(auto_execute)]
async fn start(ctx: &ToolContext, gate: State<tokio::sync::Notify>) -> String {
    let (teller, gate) = (ctx.teller(), Arc::clone(&gate.0));
    tokio::spawn(async move {
        gate.notified().await;
        teller.ended("job-1", "job-1: exit code 0", Map::new());
        gate.notify_one();
    });
    "started job-1".to_owned()
}

#[tokio::test]
async fn the_end_of_a_background_job_wakes_the_agent() {
    let gate = Arc::new(tokio::sync::Notify::new());
    let toolkit =
        Toolkit::empty().tool(toolkit::tool_ref!(start)).shared_service(Arc::clone(&gate)).build().unwrap();
    let model = Arc::new(Scripted::new([
        Answer::calls([call("1", "start", json!({}))]),
        finish("started"),
        finish("the job is over"),
    ]));
    let agent = toolkit_agent::Agent::builder(toolkit, Arc::clone(&model)).build();
    let request = DelegationRequest::new("start it");
    let mut session = agent.session(&request).unwrap();
    assert_eq!(session.run(request, RunOptions::new()).await.summary, "started");
    gate.notify_one();
    session.woken().await;
    assert_eq!(session.go_on(RunOptions::new()).await.summary, "the job is over");
    let Some(Message::User(told)) = model.requests()[2].messages.last().cloned() else { panic!() };
    assert!(told.content[0].as_text().unwrap().contains("job-1: exit code 0"), "{told:?}");
    assert_eq!(session.messages().iter().filter(|message| message.kind == Kind::Note).count(), 1);
}
