//! Servers that do not keep to the protocol.

use crate::client::{Host, asking, command, example, names, served, shell};
use serde_json::{Value, json};
use std::time::Duration;
use toolkit::{CallOptions, CancellationToken, ToolCall, ToolErrorKind, approval::Answer};
use toolkit_mcp::ServerState;

fn hostile(how: &str) -> Value {
    command(example("hostile"), &[how])
}

/// The most that this process held, in KiB; it runs one test alone where each has its own.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

fn host(how: &str) -> Host {
    Host::new(json!({"h": hostile(how)}))
}

#[tokio::test]
async fn of_a_list_that_is_partly_broken_the_rest_is_there() {
    let host = host("broken");
    let toolbox = host.toolbox().await;
    let names = names(&toolbox);
    assert_eq!(names[1..], ["h__good", "h__good_one", "h__read", "h__twice"]);
    // Its name has no letter that providers take.
    assert!(names[0].starts_with("h_____"), "{names:?}");
    let noticed = host.noticed();
    for expected in [
        "\"no_schema\" is left out: its `inputSchema` is not an object schema",
        "\"list\" is left out",
        "entry 3 of its tools is left out: it has no name",
        "entry 4 of its tools is left out",
        "\"elsewhere\" is left out",
        "\"circle\" is left out",
        "\"invalid\" is left out",
        "\"task\" is left out: it runs only as a task",
        "\"no object\" is left out",
        "\"twice\" is left out: it lists another of this name",
    ] {
        assert!(noticed.contains(expected), "{expected}: {noticed}");
    }
}

#[tokio::test]
async fn a_tool_that_runs_only_as_a_task_is_left_out_of_a_valid_list() {
    let host = host("tasks");
    let toolbox = host.toolbox().await;
    assert_eq!(names(&toolbox), ["h__also", "h__call"]);
    assert!(host.noticed().contains("\"only\" is left out: it runs only as a task"), "{}", host.noticed());
}

#[tokio::test]
async fn a_call_of_what_is_not_there_says_why() {
    let host = Host::new(json!({
        "h": hostile("broken"), "huge": hostile("huge"), "gone": hostile("no-list"),
        "off": {"command": "x", "enabled": false},
    }));
    let toolbox = host.toolbox().await;
    for (name, expected) in [
        ("h__task", "the MCP server `h` offers it, but it is left out: it runs only as a task"),
        ("h__no_schema", "its `inputSchema` is not an object schema"),
        ("h__circle", "it is left out: "),
        ("huge__huge", "the maximum is 262144"),
        ("h__goood", "the MCP server `h` offers no tool of this name; did you mean `h__good`?"),
        ("gone__x", "the MCP server `gone` cannot be reached: its tools cannot be listed"),
        ("off__x", "the MCP server `off` is switched off in the configuration (`mcp.off.enabled`)"),
    ] {
        let result = toolbox.call(ToolCall::new("1", name, json!({}))).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ToolErrorKind::UnknownTool, "{error}");
        assert!(error.message().contains(expected), "{error}");
        let explanation = toolbox.explain(name).unwrap();
        let why = explanation.absence.unwrap();
        assert!(!explanation.exists && error.message().contains(&why), "{why}: {error}");
    }
    // Of a name that is of no server nothing is known, and the nearest are named.
    let unknown = toolbox.find("h_good").unwrap_err();
    let nearest = "there is no tool `h_good`; did you mean `h__good` or `h__good_one`?";
    assert_eq!(unknown.message(), nearest);
    assert!(toolbox.explain("h_good").is_none());
}

#[tokio::test]
async fn of_too_many_tools_the_first_are_there() {
    let host = host("many");
    assert_eq!(host.toolbox().await.tools().len(), 1_000);
    assert!(host.noticed().contains("more than 1000 tools"), "{}", host.noticed());
}

#[tokio::test]
async fn a_list_without_an_end_ends() {
    let host = Host::with(
        json!({"h": hostile("endless-pages")}),
        |options| options.most_tools(10_000),
        |builder| builder,
    );
    assert_eq!(host.toolbox().await.tools().len(), 1_000);
    assert!(host.noticed().contains("more than 1000 pages"), "{}", host.noticed());
}

#[tokio::test]
async fn a_huge_definition_hides_no_other() {
    let host = host("huge");
    assert_eq!(names(&host.toolbox().await), ["h__small"]);
    assert!(host.noticed().contains("the maximum is 262144"), "{}", host.noticed());
}

#[tokio::test]
async fn a_huge_list_without_an_end_ends() {
    let host = host("huge-pages");
    host.toolbox().await;
    // A toolbox waits 5 seconds for a server, and an unoptimised build reads these lists in about 4.
    host.until("the list ends", |host| host.noticed().contains("more than 33554432 bytes")).await;
    assert_eq!(names(&host.toolbox().await), ["h__small"]);
    assert!(peak() < 400 << 10, "{} KiB", peak());
}

#[tokio::test]
async fn what_is_no_list_is_told() {
    let host = host("no-list");
    assert!(host.toolbox().await.tools().len() == 0);
    let ServerState::Failed { why } = host.state("h") else { panic!("{:?}", host.state("h")) };
    assert!(why.contains("the answer has no list of tools"), "{why}");
}

#[tokio::test]
async fn what_a_server_says_does_nothing_to_a_terminal() {
    let host = host("rude");
    host.toolbox().await;
    let ServerState::Failed { why } = host.state("h") else { panic!("{:?}", host.state("h")) };
    assert!(why.contains("\\u{1b}[2Jgone") && !why.contains('\u{1b}'), "{why}");
}

#[tokio::test]
async fn answers_for_nobody_are_left() {
    let host = host("wrong-ids");
    for _ in 0..2 {
        assert_eq!(host.call("h__call", json!({})).await.text(), "right");
    }
}

#[tokio::test]
async fn what_is_no_answer_is_told() {
    let wrong = host("wrong-answer").call("h__call", json!({})).await;
    assert!(
        wrong.text().contains("violates the protocol: its answer is not a tool result"),
        "{}",
        wrong.text()
    );
    let refused = host("error").call("h__call", json!({})).await;
    assert_eq!(refused.text(), "the MCP server `h` refused the call: no \\u{1b}[2Jway (code -32602)");
}

#[tokio::test]
async fn structured_content_that_does_not_fit_its_schema_is_an_error() {
    let wrong = host("wrong-structure").call("h__call", json!({})).await;
    assert_eq!(wrong.error().unwrap().kind(), ToolErrorKind::Failed);
    for part in ["does not fit the tool's own output schema", "- /sum: ", "Its text:\nfive"] {
        assert!(wrong.text().contains(part), "{part}: {}", wrong.text());
    }
}

#[tokio::test]
async fn a_large_answer_is_cut_as_any() {
    let host = host("large-answer");
    let large = host.call("h__call", json!({})).await;
    assert!(large.error().is_none(), "{}", large.text());
    assert!(large.text().len() < 100_000, "{}", large.text().len());
}

#[tokio::test]
async fn an_answer_without_an_end_takes_no_memory() {
    let host = Host::new(json!({"h": hostile("endless-answer"), "served": command(served(), &[])}));
    let endless = host.call("h__call", json!({})).await;
    assert_eq!(endless.error().unwrap().kind(), ToolErrorKind::Failed);
    assert!(
        endless.text().contains("has more than 67108864 bytes, the limit for one message"),
        "{}",
        endless.text()
    );
    assert!(peak() < 400 << 10, "{} KiB", peak());
    assert_eq!(host.call("served__echo", json!({"message": "x"})).await.text(), "x");
}

#[tokio::test]
async fn junk_between_is_left() {
    let host = host("junk");
    for _ in 0..2 {
        assert_eq!(host.call("h__call", json!({})).await.text(), "after junk");
    }
}

#[tokio::test]
async fn questions_without_an_end_end() {
    let answers = (0..100).map(|_| Answer::value(json!({"a": true})));
    let host = Host::with(
        json!({"h": hostile("endless-questions")}),
        |options| options,
        |builder| asking(answers)(builder.without_asking_first()),
    );
    let ended = host.call("h__call", json!({})).await;
    assert!(ended.text().contains("16 times without a result"), "{}", ended.text());
}

#[tokio::test]
async fn many_questions_at_once_are_none() {
    let host = Host::with(
        json!({"h": hostile("many-questions")}),
        |options| options,
        |builder| asking([Answer::value(json!({"a": true}))])(builder.without_asking_first()),
    );
    let ended = host.call("h__call", json!({})).await;
    assert!(
        ended.text().contains("it sent 1000 input requests at once; the maximum is 16"),
        "{}",
        ended.text()
    );
}

#[tokio::test]
async fn whoever_asks_and_does_not_listen_is_not_heard_without_an_end() {
    let mut settings = hostile("pings");
    settings["timeoutMs"] = json!(4_000);
    let host = Host::new(json!({"h": settings, "served": command(served(), &[])}));
    assert_eq!(host.call("served__echo", json!({"message": "x"})).await.text(), "x");
    let before = peak();
    let late = host.call("h__call", json!({})).await;
    assert_eq!(late.error().unwrap().kind(), ToolErrorKind::TimedOut);
    assert!(peak() - before < 64 << 10, "{} KiB after {before}", peak());
    assert_eq!(host.call("served__echo", json!({"message": "x"})).await.text(), "x");
}

#[tokio::test]
async fn what_is_a_secret_of_its_own_is_told_to_nobody() {
    let mut settings = shell("echo \"it does not take $ITS_KEY\" >&2; exit 3");
    settings["env"] = json!({"ITS_KEY": "very-secret-key"});
    let host = Host::new(
        json!({"gone": settings, "far": {"url": "http://127.0.0.1:9/mcp?api_key=very-secret-key"}}),
    );
    host.toolbox().await;
    let is_settled = |host: &Host| {
        ["gone", "far"].iter().all(|name| matches!(host.state(name), ServerState::Failed { .. }))
    };
    host.until("both failed", is_settled).await;
    let told = format!("{:?} {}", host.servers.status(), host.noticed());
    assert!(told.contains("it does not take [redacted]"), "{told}");
    assert!(!told.contains("very-secret"), "{told}");
}

#[tokio::test]
async fn a_silent_call_can_be_cancelled() {
    let host = host("silent");
    let toolbox = host.toolbox().await;
    let cancel = CancellationToken::new();
    let calling = toolbox
        .call_with(ToolCall::new("1", "h__call", json!({})), CallOptions::new().cancel(cancel.clone()));
    let (result, ()) = tokio::join!(calling, async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancel.cancel();
    });
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Aborted);
}

#[tokio::test]
async fn a_flood_hides_no_other_server() {
    let host = Host::with(
        json!({
            "flood": hostile("flood"),
            "zeros": shell("exec cat /dev/zero"),
            "silent": shell("exec sleep 1000"),
            "gone": shell("echo it is broken >&2; exit 3"),
            "nowhere": command("/no/such/program", &[]),
            "served": command(served(), &[]),
        }),
        |options| options.start_within(Duration::from_secs(10)),
        |builder| builder,
    );
    let toolbox = host.toolbox().await;
    assert!(names(&toolbox).contains(&"served__echo"), "{}", host.noticed());
    for (name, expected) in [
        ("flood", "it did not answer within 10s"),
        ("zeros", "it did not answer within 10s"),
        ("silent", "it did not answer within 10s"),
        ("gone", "it ended before it answered; the last that it wrote to its standard error: it is broken"),
        ("nowhere", "its command `/no/such/program` cannot be started"),
    ] {
        let matches =
            |host: &Host| matches!(host.state(name), ServerState::Failed { why } if why.contains(expected));
        host.until(name, matches).await;
    }
}
