//! A command ends in time, with a true account, and leaves nothing that nobody knows of.

use crate::commands::house::{House, alive, fact};
use serde_json::json;
use std::time::{Duration, Instant};
use toolkit::prelude::*;
use toolkit::{CallOptions, CancellationToken, ToolErrorKind};

/// Waits until nothing has the marker.
async fn nothing_is_left(marker: &str) {
    let until = Instant::now() + Duration::from_mins(1);
    while !alive(marker).is_empty() {
        assert!(Instant::now() < until, "{:?}", alive(marker));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hang_cases_return_in_time_and_end_with_the_session() {
    // The command, what is told, and whether something lives on.
    for (number, (command, told, lives_on)) in [
        // A command that runs on its verdict alone leaves nothing behind.
        ("sleep 300 & echo now", "now\n[exit code 0", false),
        ("touch made; (sleep 300; echo late) & echo now", "now\n[exit code 0", true),
        ("touch made; sleep 300 & echo now", "now\n[exit code 0", true),
        ("touch made; sleep 300 >/dev/null 2>&1 & echo now", "now\n[exit code 0", true),
        ("touch made; (setsid sh -c '(sleep 300 &)' &) ; echo now", "now\n[exit code 0", true),
        (
            "touch made; setsid nohup sleep 300 >/dev/null 2>&1 < /dev/null & disown; echo now",
            "now\n[exit code 0",
            true,
        ),
        ("cat; echo read", "read\n[exit code 0", false),
        ("read line; echo \"got:$line\"", "got:\n[exit code 0", false),
        ("yes | head -2", "y\ny\n[exit code 0", false),
    ]
    .into_iter()
    .enumerate()
    {
        let house = House::new(json!({})).await;
        let marker = format!("hang-{number}-{}", std::process::id());
        let began = Instant::now();
        let arguments = json!({ "command": command, "env": { "MARKER": marker } });
        let result = house.call("exec", arguments).await;
        let text = result.text();
        assert!(began.elapsed() < Duration::from_mins(1), "{command}: {:?}", began.elapsed());
        assert!(text.starts_with(told), "{command}: {text}");
        assert_eq!(text.contains("still run"), lives_on, "{command}: {text}");
        let list = house.call("process", json!({ "action": "list" })).await.text();
        if lives_on {
            let id = fact(&result, "taskId");
            assert!(
                list.contains(id.as_str().unwrap()) && text.contains("sleep 300"),
                "{command}: {list} {text}"
            );
            assert!(!alive(&marker).is_empty(), "{command}");
        } else {
            assert!(list.starts_with("no command"), "{list}");
        }
        assert!(house.toolkit.end_session("s"));
        drop(house);
        nothing_is_left(&marker).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_takes_too_long_is_ended_with_all_that_it_started() {
    let house = House::new(json!({})).await;
    for (number, (command, killed)) in [
        ("echo began; sleep 300", false),
        ("echo began; (setsid sh -c 'sleep 300 & sleep 301' &); sleep 302", false),
        ("trap '' TERM; echo began; while :; do sleep 1; done", true),
        ("echo began; kill -STOP $$; echo never", false),
        ("echo began; yes > /dev/null", false),
    ]
    .into_iter()
    .enumerate()
    {
        let marker = format!("late-{number}-{}", std::process::id());
        let began = Instant::now();
        let arguments = json!({ "command": command, "timeout": 1500, "env": { "MARKER": marker } });
        let result = house.call("exec", arguments).await;
        let text = result.text();
        assert!(began.elapsed() < Duration::from_mins(1), "{command}: {:?}", began.elapsed());
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::TimedOut, "{command}: {text}");
        assert!(text.starts_with("began\n[timed out after 1.5 s"), "{command}: {text}");
        assert_eq!(text.contains("SIGKILL"), killed, "{command}: {text}");
        assert_eq!(fact(&result, "timedOut"), json!(true));
        assert_eq!(alive(&marker), Vec::<String>::new(), "{command}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cancels_a_call_ends_its_command() {
    let house = House::new(json!({})).await;
    let marker = format!("cancel-{}", std::process::id());
    let cancel = CancellationToken::new();
    let arguments = json!({ "command": "sh -c 'sleep 300 & sleep 301'", "env": { "MARKER": marker } });
    let call = house
        .toolbox
        .call_with(ToolCall::new("1", "exec", arguments), CallOptions::new().cancel(cancel.clone()));
    let cancelling = async {
        while alive(&marker).len() < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(call, cancelling);
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Aborted, "{}", result.text());
    nothing_is_left(&marker).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_ends_with_its_call_leaves_nothing_and_says_so() {
    let house = House::for_one_call(json!({ "tools": { "exec": { "backgroundMs": 10 } } })).await;
    let refused = house.call("exec", json!({ "command": "sleep 1", "run_in_background": true })).await;
    assert_eq!(refused.error().unwrap().kind(), ToolErrorKind::Unavailable, "{}", refused.text());
    let stays = house.call("exec", json!({ "command": "sleep 0.2; echo done", "yield_ms": 20 })).await;
    assert!(stays.text().starts_with("done\n[exit code 0"), "{}", stays.text());
    let marker = format!("one-call-{}", std::process::id());
    let arguments = json!({ "command": "sleep 300 & echo hi", "env": { "MARKER": marker } });
    let result = house.call("exec", arguments).await;
    let text = result.text();
    assert!(
        text.contains("processes were stopped") && text.contains("sleep 300") && !text.contains("job_"),
        "{text}"
    );
    assert_eq!(alive(&marker), Vec::<String>::new());
    assert_eq!(fact(&result, "taskId"), json!(null));
}
