//! Calls of a server's tools.

use crate::client::{Host, asking, command, names, served};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolkit::{
    CallOptions, CancellationToken, Content, ToolCall, ToolErrorKind,
    approval::{Answer, ScriptedApprover},
    events::{Event, LogLevel},
};
use toolkit_mcp::ServerState;

#[tokio::test]
async fn tools_of_a_server_are_tools_here() {
    let host = Host::new(json!({"served": command(served(), &[])}));
    assert_eq!(host.state("served"), ServerState::Idle);
    let toolbox = host.toolbox().await;
    assert_eq!(
        names(&toolbox),
        [
            "resource_list",
            "resource_read",
            "served__count",
            "served__die",
            "served__echo",
            "served__fail",
            "served__greet",
            "served__grow",
            "served__hold",
            "served__note",
            "served__picture",
            "served__place",
            "served__sum",
        ]
    );
    let ServerState::Ready { tools: 11, about } = host.state("served") else { panic!("{}", host.noticed()) };
    assert!(about.starts_with("toolkit ") && about.contains("protocol 2026-07-28"), "{about}");
    let tool = toolbox.tool("served__sum").unwrap();
    assert_eq!(tool.description(), "Adds numbers.");
    assert_eq!(tool.source().to_string(), "the MCP server `served`");
    assert!(tool.annotations().read_only_hint && tool.output_schema().is_some());

    assert_eq!(host.call("served__echo", json!({"message": "héllo\n"})).await.text(), "héllo\n");
    let sum = host.call("served__sum", json!({"numbers": [1, 2, 3]})).await;
    assert_eq!(sum.output().unwrap().details, Some(json!({"total": 6})));
    let picture = host.call("served__picture", json!({})).await;
    assert_eq!(picture.output().unwrap().content[1], Content::image(*b"\x89PNG\r\n\x1a\n", "image/png"));
    // Its own schema is what arguments are checked by, here.
    let wrong = host.call("served__sum", json!({"numbers": ["one"]})).await;
    assert_eq!(wrong.error().unwrap().kind(), ToolErrorKind::InvalidArguments);
    assert!(wrong.text().contains("/numbers/0"), "{}", wrong.text());
    let failed = host.call("served__fail", json!({})).await;
    assert_eq!(failed.text(), "it cannot be done on a Sunday");
    assert_eq!(failed.error().unwrap().kind(), ToolErrorKind::Failed);
    assert_eq!(host.noticed(), "");
    host.servers.stop().await;
    assert_eq!(host.state("served"), ServerState::Stopped);
    let stopped = host.call("served__echo", json!({"message": ""})).await;
    assert!(stopped.text().contains("it was stopped"), "{}", stopped.text());
}

#[tokio::test]
async fn a_command_gets_its_directory_and_only_what_is_its() {
    let mut settings = command(served(), &[]);
    settings["env"] = json!({"ITS_TOKEN": "t"});
    let host = Host::new(json!({"served": settings}));
    let said = host.call("served__place", json!({})).await;
    let text = said.text();
    let (directory, variables) = text.split_once('\n').unwrap();
    assert!(directory.ends_with("/workspace"), "{directory}");
    let variables: Vec<&str> = variables.split(' ').collect();
    assert!(variables.contains(&"ITS_TOKEN") && variables.contains(&"PATH"), "{variables:?}");
    assert!(!variables.iter().any(|name| name.starts_with("CARGO")), "{variables:?}");
}

#[tokio::test]
async fn what_it_says_of_itself_loosens_nothing() {
    let approver = Arc::new(ScriptedApprover::new([Answer::deny(), Answer::allow()]));
    let host = Host::with(
        json!({"served": command(served(), &[])}),
        |options| options,
        |builder| builder.approver(Arc::clone(&approver)),
    );
    // It says that it only reads.
    let denied = host.call("served__echo", json!({"message": "a"})).await;
    assert_eq!(denied.error().unwrap().kind(), ToolErrorKind::Denied);
    assert_eq!(host.call("served__echo", json!({"message": "a"})).await.text(), "a");
    assert_eq!(approver.asked().len(), 2);
}

#[tokio::test]
async fn progress_and_logs_come_through() {
    let host = Host::new(json!({"served": command(served(), &[])}));
    let toolbox = host.toolbox().await;
    let mut events = toolbox.events();
    let call = ToolCall::new("7", "served__count", json!({"to": 3, "pause": 5}));
    assert_eq!(toolbox.call(call).await.text(), "counted to 3");
    let mut told = Vec::new();
    while let Some(event) = events.try_next() {
        assert_eq!(event.call_id, "7");
        match event.event {
            Event::Progress(progress) => {
                told.push(format!("{}/{:?} {}", progress.done, progress.total, progress.message.unwrap()));
            }
            Event::Log(message) => assert_eq!(message.level, LogLevel::Notice),
            _ => {}
        }
    }
    assert!(told.contains(&"3/Some(3.0) number 3".to_owned()), "{told:?}");
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once_and_the_next_works() {
    let host = Host::new(json!({"served": command(served(), &[])}));
    let toolbox = host.toolbox().await;
    let cancel = CancellationToken::new();
    let call = ToolCall::new("1", "served__count", json!({"to": 1, "pause": 600_000}));
    let begun = Instant::now();
    let calling = toolbox.call_with(call, CallOptions::new().cancel(cancel.clone()));
    let (result, ()) = tokio::join!(calling, async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel();
    });
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Aborted);
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(host.call("served__echo", json!({"message": "b"})).await.text(), "b");
}

#[tokio::test]
async fn a_call_has_as_long_as_is_configured() {
    let mut settings = command(served(), &[]);
    settings["timeoutMs"] = json!(3_000);
    let host = Host::new(json!({"served": settings}));
    let late = host.call("served__count", json!({"to": 1, "pause": 600_000})).await;
    assert_eq!(late.error().unwrap().kind(), ToolErrorKind::TimedOut);
    assert_eq!(host.call("served__echo", json!({"message": "b"})).await.text(), "b");
}

#[tokio::test]
async fn what_a_server_asks_a_person_is_asked() {
    let answers = [
        Answer::value(json!({"name": "Ada", "age": 36})),
        Answer::Declined,
        Answer::value(json!({"name": 1})),
    ];
    let host = Host::with(
        json!({"served": command(served(), &[])}),
        |options| options,
        |builder| asking(answers)(builder.without_asking_first()),
    );
    assert_eq!(host.call("served__greet", json!({})).await.text(), "hello Ada, Some(36)");
    assert_eq!(host.call("served__greet", json!({})).await.text(), "hello nobody");
    // An answer that does not fit its form never gets there.
    let wrong = host.call("served__greet", json!({})).await;
    assert!(wrong.error().is_some(), "{}", wrong.text());
}

#[tokio::test]
async fn a_question_shows_whose_words_it_is() {
    let approver = Arc::new(ScriptedApprover::new([Answer::Declined]));
    let host = Host::with(
        json!({"served": command(served(), &[])}),
        |options| options,
        |builder| builder.without_asking_first().approver(Arc::clone(&approver)),
    );
    host.call("served__greet", json!({})).await;
    let asked = approver.asked();
    let text = asked[0].to_text();
    assert!(text.contains("The MCP server `served` asks: ") && text.contains("Who are you?"), "{text}");
}

#[tokio::test]
async fn a_server_over_standard_streams_answers_a_read_during_a_call_that_changes_something() {
    let host = Host::new(json!({"served": command(served(), &[])}));
    let session = async |id: &str| host.toolkit.toolbox(&toolkit::Caller::new().with_session(id)).await;
    // Here the calls of a session wait for each other. For the server, all are calls of one session.
    let (one, other, reader) = (session("one").await, session("other").await, session("reader").await);
    let file = |name: &str| host.directory.path().join(name);
    let hold = |name: &str| ToolCall::new(name, "served__hold", json!({"file": file(name)}));
    let reads = async {
        host.until("the first change begins", |_| file("one").exists()).await;
        for number in 0..2 {
            let read = reader.call(ToolCall::new(
                format!("read {number}"),
                "served__echo",
                json!({"message": "read"}),
            ));
            let read = tokio::time::timeout(Duration::from_secs(20), read).await;
            assert_eq!(read.expect("a read waits for a change").text(), "read");
            assert!(!file("other").exists(), "two changes at once");
        }
        std::fs::remove_file(file("one")).unwrap();
        host.until("the second change begins", |_| file("other").exists()).await;
        std::fs::remove_file(file("other")).unwrap();
    };
    let second = async {
        host.until("the first change begins", |_| file("one").exists()).await;
        other.call(hold("other")).await
    };
    let (first, later, ()) = tokio::join!(one.call(hold("one")), second, reads);
    assert_eq!((first.text().as_str(), later.text().as_str()), ("held", "held"));
}
