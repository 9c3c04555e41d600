//! Servers that start, end and start again.

use crate::client::{Host, command, names, served, shell};
use serde_json::json;
use std::time::{Duration, Instant};
use toolkit::ToolErrorKind;
use toolkit_mcp::ServerState;

#[tokio::test]
async fn older_servers_are_understood() {
    let host = Host::new(json!({"served": command(served(), &["--older"])}));
    assert_eq!(host.call("served__echo", json!({"message": "a"})).await.text(), "a");
    let ServerState::Ready { about, .. } = host.state("served") else { panic!("{}", host.noticed()) };
    assert!(about.contains("protocol 2025-11-25"), "{about}");
}

#[tokio::test]
async fn a_server_that_goes_away_at_the_newer_words_hears_the_older() {
    // It ends at what it does not know.
    let line = format!(
        "read first; case $first in *server/discover*) exit 1;; esac; (printf '%s\\n' \"$first\"; cat) | exec {}",
        served().display()
    );
    let host = Host::new(json!({"served": shell(&line)}));
    assert_eq!(host.call("served__echo", json!({"message": "a"})).await.text(), "a");
}

#[tokio::test]
async fn what_is_killed_in_a_call_says_so_and_the_next_call_works() {
    for args in [&[][..], &["--older"]] {
        let host = Host::new(json!({"served": command(served(), args)}));
        for _ in 0..2 {
            let killed = host.call("served__die", json!({})).await;
            let error = killed.error().unwrap();
            assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{}", killed.text());
            assert!(killed.text().contains("ended during the call"), "{}", killed.text());
            assert_eq!(host.call("served__echo", json!({"message": "a"})).await.text(), "a");
        }
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_had_is_tried_again_by_a_call() {
    let host = Host::new(json!({"served": shell(&format!("test -e ready && exec {}", served().display()))}));
    let ready = host.directory.path().join("workspace/ready");
    std::fs::write(&ready, "").unwrap();
    assert!(names(&host.toolbox().await).contains(&"served__echo"));
    std::fs::remove_file(&ready).unwrap();
    host.call("served__die", json!({})).await;
    let gone = host.call("served__echo", json!({"message": "a"})).await;
    assert_eq!(gone.error().unwrap().kind(), ToolErrorKind::Unavailable);
    assert!(
        gone.text().contains("cannot be reached") && gone.text().contains("Nothing was done"),
        "{}",
        gone.text()
    );
    std::fs::write(&ready, "").unwrap();
    assert_eq!(host.call("served__echo", json!({"message": "a"})).await.text(), "a");
}

#[tokio::test]
async fn slow_servers_come_later() {
    let slow = format!("while ! test -e ready; do sleep 0.05; done; exec {}", served().display());
    let host = Host::with(
        json!({"slow": shell(&slow), "served": command(served(), &[])}),
        |options| options.start_within(Duration::from_mins(1)),
        |builder| builder.prepare_timeout(Duration::from_secs(10)),
    );
    let mut changes = host.toolkit.watch_tools();
    let first = host.toolbox().await;
    assert!(names(&first).contains(&"served__echo") && !names(&first).contains(&"slow__echo"));
    std::fs::write(host.directory.path().join("workspace/ready"), "").unwrap();
    host.until("the slow one comes", |host| matches!(host.state("slow"), ServerState::Ready { .. })).await;
    assert!(changes.changed().await);
    let begun = Instant::now();
    assert!(names(&host.toolbox().await).contains(&"slow__echo"));
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn nothing_of_a_server_is_left_where_it_is_stopped() {
    let line = format!("sleep 1234 & echo $! >child; echo $$ >itself; exec {}", served().display());
    let host = Host::new(json!({"served": shell(&line)}));
    assert!(host.toolbox().await.tools().len() > 0, "{}", host.noticed());
    let directory = host.directory.path().join("workspace");
    let pid = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap().trim().to_owned();
    let is_there = |pid: &str| std::path::Path::new("/proc").join(pid).join("exe").exists();
    let (child, itself) = (pid("child"), pid("itself"));
    assert!(is_there(&itself) && is_there(&child));
    host.servers.stop().await;
    assert!(!is_there(&itself) && !is_there(&child));
}

#[tokio::test]
async fn only_the_server_of_a_tool_is_started() {
    let line = format!("echo >started-$NAME; exec {}", served().display());
    let mut one = shell(&line);
    let mut other = one.clone();
    one["env"] = json!({"NAME": "one"});
    other["env"] = json!({"NAME": "other"});
    let host = Host::new(json!({"one": one, "other": other}));
    let only = host.servers.clone().only_for("one__echo");
    assert_eq!(only.status().len(), 1);
    assert!(host.servers.clone().only_for("read").is_empty());
}
