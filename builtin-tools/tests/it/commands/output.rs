//! The output of a command as a model gets it.

use crate::commands::house::{House, fact};
use serde_json::json;
use std::fs;
use toolkit::ToolErrorKind;

#[tokio::test(flavor = "multi_thread")]
async fn the_output_and_how_it_ended() {
    let house = House::new(json!({})).await;
    for (command, output, end, is_error) in [
        ("cat a.txt", "one\ntwo\n", "exit code 0", false),
        ("true", "(no output)\n", "exit code 0", false),
        ("cat nothing.txt", "cat: nothing.txt: No such file or directory\n", "exit code 1", true),
        ("echo out; echo err >&2; exit 3", "out\nerr\n", "exit code 3", true),
        ("kill -9 $$", "(no output)\n", "ended by SIGKILL (9)", true),
        ("printf 'no feed'", "no feed\n", "exit code 0", false),
        ("printf '\\033[31mred\\033[0m 1%%\\r2%%\\n'", "2%d 1%\n", "exit code 0", false),
        ("printf 'a\\377b\\n'", "a\u{fffd}b\n", "exit code 0", false),
        ("-x", "bash: -x: command not found\n", "exit code 127", true),
        ("+x", "bash: +x: command not found\n", "exit code 127", true),
    ] {
        let result = house.exec(command).await;
        let text = result.text();
        let told = format!("{output}[{end}, after ");
        assert!(text.replace("bash: line 1: ", "bash: ").starts_with(&told), "{command}: {text}");
        assert_eq!(result.is_error(), is_error, "{command}");
        if is_error {
            assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Failed);
        }
        let code = end.strip_prefix("exit code ").map(|code| code.parse::<i32>().unwrap());
        assert_eq!(fact(&result, "exitCode"), json!(code), "{command}");
        assert_eq!(fact(&result, "guarantee"), "supervised");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_shown_as_it_is_stays_in_the_file() {
    let house = House::new(json!({})).await;
    let result = house.exec("seq 1 100000").await;
    let text = result.text();
    assert!(text.starts_with("1\n2\n"), "{text}");
    assert!(text.contains("left out …]"), "{text}");
    assert!(text.contains("\n99999\n100000\n[Output cut. It has 100000 lines, 588895 bytes."), "{text}");
    assert!(text.trim_end().ends_with("s]"), "{text}");
    let path = fact(&result, "outputPath");
    let whole = fs::read_to_string(path.as_str().unwrap()).unwrap();
    assert_eq!((whole.lines().count(), whole.len()), (100_000, 588_895));
    assert_eq!(fact(&result, "truncated"), json!(true));
    let result = house.exec("printf 'a\\377\\033[0m\\n'").await;
    let path = fact(&result, "outputPath");
    assert_eq!(fs::read(path.as_str().unwrap()).unwrap(), b"a\xff\x1b[0m\n");
    assert_eq!(fact(&house.exec("echo plain").await, "outputPath"), json!(null));
    // A failure with a long output is told whole, too, and cut once.
    let result = house.exec("seq 1 100000; exit 4").await;
    let text = result.text();
    assert!(
        result.is_error() && text.contains("[exit code 4, after") && text.matches("Output cut").count() == 1,
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_does_not_depend_on_storage() {
    let house = House::new(json!({})).await;
    house.block_outputs();
    let result = house.exec("echo 2; df / | wc -l").await;
    assert!(result.text().starts_with("2\n2\n[exit code 0"), "{}", result.text());
    assert_eq!(fact(&result, "outputPath"), json!(null));
    // Of a long one the beginning is there, and the reason why the rest is not.
    let result = house.exec("seq 1 100000").await;
    let text = result.text();
    assert!(text.starts_with("1\n2\n") && text.contains("is not a directory"), "{text}");
    assert!(text.contains("; what came after them (326751 bytes) is lost"), "{text}");
    assert_eq!(fact(&result, "outputPath"), json!(null));

    let waits = "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two";
    let job = house.call("exec", json!({ "command": waits, "run_in_background": true })).await;
    assert!(job.text().contains("in the background as job_"), "{}", job.text());
    let id = fact(&job, "taskId");
    fs::write(house.path("go"), "").unwrap();
    let ended = loop {
        let news = house.call("process", json!({ "action": "poll", "task_id": id })).await;
        if news.text().contains("exit code 0") {
            break house.call("process", json!({ "action": "output", "task_id": id })).await;
        }
    };
    assert!(ended.text().starts_with("one\ntwo\n[lines 1 to 2 of 2"), "{}", ended.text());
    let listed = house.call("process", json!({ "action": "list" })).await;
    assert!(listed.text().contains("exit code 0"), "{}", listed.text());
    // A long one in the background says what is lost, and shows the end of what is there.
    let job =
        house.call("exec", json!({ "command": "seq 1 100000; sleep 60", "run_in_background": true })).await;
    let long = fact(&job, "taskId");
    let page = loop {
        let page = house.call("process", json!({ "action": "output", "task_id": long, "limit": 2 })).await;
        if page.text().contains("326751 bytes of it are lost") {
            break page;
        }
    };
    assert!(page.text().starts_with("45541\n4554\n[lines 45541 to 45542 of 45542"), "{}", page.text());
    house.call("process", json!({ "action": "stop", "task_id": long })).await;
    let removed = house.call("process", json!({ "action": "remove", "task_id": id })).await;
    assert!(removed.text().contains("was in memory"), "{}", removed.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn where_and_with_what_it_runs() {
    let house = House::new(json!({ "tools": { "exec": { "pathPrepend": ["/opt/own/bin"] } } })).await;
    fs::create_dir(house.path("sub")).unwrap();
    let result = house.call("exec", json!({ "command": "pwd", "workdir": "sub" })).await;
    assert!(result.text().starts_with(&format!("{}\n", house.path("sub").display())), "{}", result.text());
    let result = house.exec("env").await;
    let text = result.text();
    assert!(text.contains("TERM=dumb\n") && text.contains("PATH=/opt/own/bin:"), "{text}");
    assert!(!text.contains("CARGO_MANIFEST_DIR") && !text.contains("LD_LIBRARY_PATH"), "{text}");
    for (arguments, expected) in [
        (json!({ "command": "echo $CI", "env": { "CI": "yes" } }), "yes\n["),
        (json!({ "command": "cat" }), "(no output)\n[exit code 0"),
        (json!({ "command": "echo a\r\ncat <<END | wc -c\r\nb\r\nEND\r\n" }), "a\n2\n[exit code 0"),
        (json!({ "command": "cat", "stdin": "given\n" }), "given\n[exit code 0"),
        (json!({ "command": "wc -c", "stdin": "" }), "0\n["),
        (json!({ "command": "test -t 0 && test -t 1 && echo $TERM", "pty": true }), "xterm-256color\n["),
        (json!({ "command": "shopt -q login_shell || echo $0 $-" }), "bash hBc\n["),
    ] {
        let result = house.call("exec", arguments.clone()).await;
        assert!(result.text().starts_with(expected), "{arguments}: {}", result.text());
    }
    let refused = house.call("exec", json!({ "command": "true", "env": { "LD_PRELOAD": "/x.so" } })).await;
    assert_eq!(refused.error().unwrap().kind(), ToolErrorKind::Denied);
    let refused = house.call("exec", json!({ "command": "true", "workdir": "a.txt" })).await;
    assert_eq!(refused.error().unwrap().kind(), ToolErrorKind::InvalidArguments);
    let refused = house.call("exec", json!({ "command": "true", "timeout": 3_600_001 })).await;
    assert_eq!(refused.error().unwrap().kind(), ToolErrorKind::InvalidArguments);
}
