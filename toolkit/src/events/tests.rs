//! Tests of events as JSON.

use super::*;
use serde_json::json;
use std::time::SystemTime;
use toolkit_core::ask::{Ask, Elicitation, Origin, Put, Question};
use toolkit_core::content::Resource;
use toolkit_core::error::{Retry, ToolError, ToolErrorKind};
use toolkit_core::output::ToolOutput;

fn map(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("{value}") };
    map
}

/// A question that was asked now, at a time with nanoseconds.
fn pending(question: Question) -> PendingAsk {
    let origin =
        Origin::new("c", "t").with_session("s").with_agent("a").with_message("m").with_workspace("/w");
    let put = Put::remembered(origin, question, Some("note".to_owned()))
        .with_session_lifetime(Some(Duration::from_secs(9)));
    PendingAsk::new("ask_1".to_owned(), (SystemTime::now(), SystemTime::now()), put)
        .with_problem("no".to_owned())
}

fn finished(outcome: Result<ToolOutput, ToolError>) -> Event {
    let result = Arc::new(ToolResult::new("c", "t", outcome));
    Event::Finished { result, duration: Duration::new(5, 123_456_789) }
}

fn contents() -> Vec<Content> {
    let mime_type = || "image/png".to_owned();
    vec![
        Content::text("t"),
        Content::Image { data: toolkit_core::content::Bytes(vec![0, 255]), mime_type: mime_type() },
        Content::Audio { data: toolkit_core::content::Bytes(vec![1]), mime_type: mime_type() },
        Content::ResourceLink {
            uri: "u".into(),
            name: "n".into(),
            description: Some("d".into()),
            mime_type: None,
        },
        Content::Resource { resource: Resource::text("u", "text").with_mime_type("text/plain") },
        Content::Resource { resource: Resource::blob("u", [3, 4]) },
    ]
}

/// Events of each variant, with all fields and with as few as possible.
fn events() -> Vec<Event> {
    let ask = Ask::new("edit", "t").with_pattern("src/*").with_text("text", "x").with_hint("h");
    let elicitation =
        Elicitation::new("q", json!({ "type": "object", "properties": { "a": { "type": "string" } } }));
    let output = ToolOutput::json(json!({ "a": [1, 2.5, u64::MAX, i64::MIN, null] })).unwrap();
    let output = output.with_title("t").with_metadata("m", 1).with_file_modified("/a").with_attachment("/b");
    let mut failed = vec![finished(Err(ToolError::denied("no")))];
    failed.push(finished(Err(ToolError::new(ToolErrorKind::TimedOut, "slow")
        .with_retry(Retry::After(Duration::from_millis(1500)))
        .with_title("t")
        .with_metadata("k", json!({ "a": 1 })))));
    let answers = [
        Answer::allow(),
        Answer::allow_for_session(),
        Answer::allow_always(),
        Answer::deny(),
        Answer::deny_saying("why"),
        Answer::denied_by(DeniedBy::NobodyThere, "x"),
        Answer::denied_by(DeniedBy::TimeOut, "x"),
        Answer::denied_by(DeniedBy::Limit, "x"),
        Answer::denied_by(DeniedBy::Fault, "x"),
        Answer::value(json!({ "a": 1 })),
        Answer::Declined,
        Answer::Cancelled,
    ];
    let answered = answers.into_iter().flat_map(|answer| {
        [Reply::new(answer.clone()), Reply::new(answer).by("ada")]
            .map(|reply| Event::answered("ask_1", &reply))
    });
    let allowed = [
        AllowedBy::Rule { rule: "permission.edit".to_owned() },
        AllowedBy::Session,
        AllowedBy::Approval { ids: vec!["1".to_owned(), "2".to_owned()] },
        AllowedBy::Answer { answered_by: None },
        AllowedBy::Answer { answered_by: Some("ada".to_owned()) },
    ];
    let allowed = allowed.map(|by| Event::Allowed { kind: "edit".to_owned(), title: "t".to_owned(), by });
    let levels = [LogLevel::Debug, LogLevel::Info, LogLevel::Notice, LogLevel::Warning, LogLevel::Error];
    let levels = levels.into_iter().chain([LogLevel::Critical, LogLevel::Alert, LogLevel::Emergency]);
    let mut events = vec![
        Event::Started,
        Event::Progress(Progress::new(0.1)),
        Event::Progress(Progress::new(u64::MAX).with_total(3).with_message("m")),
        Event::Metadata { title: None, metadata: Map::new() },
        Event::Metadata {
            title: Some("t".to_owned()),
            metadata: map(json!({ "event": "started", "n": -1 })),
        },
        Event::Log(LogMessage::new(LogLevel::Info, json!([1, { "event": "x" }])).with_logger("l")),
        Event::Asked { ask: pending(Question::Approve(ask)) },
        Event::Asked { ask: pending(Question::Elicit(elicitation.unwrap())) },
        Event::Found { tools: vec!["a".to_owned()] },
        finished(Ok(ToolOutput::default())),
        finished(Ok(output)),
        Event::Ended { task_id: "1".to_owned(), title: "t".to_owned(), metadata: map(json!({ "code": 0 })) },
        Event::Interrupted,
    ];
    events.extend(levels.map(|level| Event::Log(LogMessage::new(level, "text"))));
    events.extend(contents().into_iter().map(|content| Event::Partial { content }));
    events.extend(failed);
    events.extend(answered);
    events.extend(allowed);
    events
}

/// The number of the variant: a new one does not compile before it has a number here, and then fails until it is among [`events`].
fn variant(event: &Event) -> usize {
    match event {
        Event::Started => 0,
        Event::Progress(_) => 1,
        Event::Metadata { .. } => 2,
        Event::Log(_) => 3,
        Event::Partial { .. } => 4,
        Event::Allowed { .. } => 5,
        Event::Asked { .. } => 6,
        Event::Answered { .. } => 7,
        Event::Found { .. } => 8,
        Event::Finished { .. } => 9,
        Event::Ended { .. } => 10,
        Event::Interrupted => 11,
    }
}

#[test]
fn every_event_is_read_from_json_as_it_was_written() {
    let mut seen = std::collections::BTreeSet::new();
    for event in events() {
        seen.insert(variant(&event));
        for name in [None, Some("x".to_owned())] {
            let event = CallEvent {
                seq: u64::MAX,
                at: 1_700_000_000_123,
                call_id: "c".to_owned(),
                tool: "t".to_owned(),
                session_id: name.clone(),
                agent: name.clone(),
                message_id: name,
                event: event.clone(),
            };
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<CallEvent>(&text).unwrap(), event, "{text}");
            let value = serde_json::to_value(&event).unwrap();
            assert_eq!(serde_json::from_value::<CallEvent>(value).unwrap(), event, "{text}");
        }
    }
    assert_eq!(seen, (0..12).collect());
}

#[test]
fn progress_without_a_number_in_json_is_read() {
    for done in [f64::NAN, f64::INFINITY] {
        let text = serde_json::to_string(&Event::Progress(Progress::new(done))).unwrap();
        let Event::Progress(read) = serde_json::from_str(&text).unwrap() else { panic!("{text}") };
        assert!(read.done.is_nan(), "{text}");
    }
}
