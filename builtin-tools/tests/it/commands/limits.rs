//! Commands that use more than they may.

use crate::commands::house::{House, fact, is_whole};
use serde_json::json;
use std::time::{Duration, Instant};
use toolkit::ToolErrorKind;

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_writes_more_than_is_kept_is_ended_and_the_result_says_so() {
    let house = House::new(json!({ "tools": { "outputs": { "maxBytes": 100_000 } } })).await;
    for command in ["yes", "touch a; yes", "yes & sleep 100"] {
        let result = house.exec(command).await;
        let text = result.text();
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Failed, "{text}");
        assert!(
            text.contains("more than the 100000 bytes") && text.contains("`tools.outputs.maxBytes`"),
            "{command}: {text}"
        );
        assert_eq!(fact(&result, "exceeded"), "output");
        let path = fact(&result, "outputPath");
        assert_eq!(std::fs::metadata(path.as_str().unwrap()).unwrap().len(), 100_000, "{command}");
    }
    let result = house.exec("head -c 100000 /dev/zero | tr '\\0' x").await;
    assert!(!result.is_error(), "{}", result.text());
    // Processes that a command leaves running are ended as well, and reported when the job is asked for.
    let result = house.exec("touch a; (until [ -e go ]; do sleep 0.02; done; yes) & :").await;
    let id = fact(&result, "taskId").as_str().unwrap().to_owned();
    std::fs::write(house.path("go"), "").unwrap();
    let until = Instant::now() + Duration::from_mins(1);
    let mut text = String::new();
    while !text.contains("were stopped") && Instant::now() < until {
        // A job without processes is reported at once, even before its clean-up is over.
        tokio::time::sleep(Duration::from_millis(20)).await;
        text =
            house.call("process", json!({ "action": "poll", "task_id": id, "wait_ms": 1000 })).await.text();
    }
    assert!(text.contains("its remaining processes were stopped: it wrote more than"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_outputs_make_room_for_new_ones() {
    let house =
        House::new(json!({ "tools": { "outputs": { "maxBytes": 1_300_000, "maxTotalBytes": 2_000_000 } } }))
            .await;
    let large = house.exec("head -c 1200000 /dev/zero | tr '\\0' x").await;
    assert_eq!(fact(&large, "exceeded"), json!(null), "{}", large.text());
    let path = fact(&large, "outputPath").as_str().unwrap().to_owned();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(std::time::SystemTime::now() - Duration::from_hours(1)).unwrap();
    // Another host counts anew: the old output goes.
    let again = house.another_host().await;
    let small = again.exec("seq 100000").await;
    assert_eq!(fact(&small, "exceeded"), json!(null), "{}", small.text());
    assert!(!std::path::Path::new(&path).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_size_of_each_file_is_limited_and_the_result_says_so() {
    let house = House::new(json!({ "tools": { "exec": { "maxFileMb": 2 } } })).await;
    for (command, is_told) in [
        ("head -c 2000000 /dev/zero > new", None),
        ("truncate -s 2097153 new", Some("maxFileMb")),
        ("truncate -s 0 new; head -c 3000000 /dev/zero >> new", Some("maxFileMb")),
        ("ulimit -f unlimited; head -c 3000000 /dev/zero > new", Some("cannot modify limit")),
        // Python ignores the signal.
        ("python3 -c 'open(\"new\", \"wb\").write(bytes(3000000))'", Some("File too large")),
        ("head -c 3000000 /dev/zero | wc -c", None),
    ] {
        let result = house.exec(command).await;
        assert_eq!(result.is_error(), is_told.is_some(), "{command}: {}", result.text());
        assert!(is_told.is_none_or(|told| result.text().contains(told)), "{command}: {}", result.text());
        let size = std::fs::metadata(house.path("new")).map_or(0, |metadata| metadata.len());
        assert!(size <= 2 << 20, "{command}: {size}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn shared_memory_of_system_v_is_limited() {
    if !is_whole() {
        return;
    }
    let house = House::new(json!({ "tools": { "exec": { "maxMemoryMb": 64 } } })).await;
    let made = |mebibytes: u32| {
        format!(
            "python3 -c 'import ctypes; print(ctypes.CDLL(None).shmget(0, {mebibytes} << 20, 0o1600) >= 0)'"
        )
    };
    for (mebibytes, expected) in [(8, "True"), (80, "False")] {
        let text = house.exec(&made(mebibytes)).await.text();
        assert!(text.starts_with(expected), "{mebibytes}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_and_memory_are_limited_and_the_result_says_so() {
    let house = House::new(json!({ "tools": { "exec": { "maxProcesses": 32, "maxMemoryMb": 128 } } })).await;
    // Neither ends by itself: on a busy machine it may take long until the supervisor measures.
    let forks =
        "python3 -c 'import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(0.01)'";
    let takes = "python3 -c 'import os, time\nx = []\nfor n in range(300): x.append(bytearray(os.urandom(16)) * 65536)\ntime.sleep(3600)'";
    for (command, limit, says) in [
        (forks, "processes", "more than 32 processes and threads"),
        (takes, "memory", "more than 128 MiB of memory"),
    ] {
        let result = house.exec(command).await;
        assert!(result.is_error() && result.text().contains(says), "{}", result.text());
        assert_eq!(fact(&result, "exceeded"), limit);
        let setting = if limit == "memory" { "maxMemoryMb" } else { "maxProcesses" };
        assert!(result.text().contains(setting), "{}", result.text());
    }
}
