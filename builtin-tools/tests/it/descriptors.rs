//! Searches in a process that has no descriptors left.

#![cfg(all(feature = "fs", unix))]

use serde_json::json;
use std::fs::File;
use std::process::Command;
use toolkit::testing::TestToolbox;
use toolkit::{Tool, tool_ref};

/// Says that the process has few descriptors.
const FEW: &str = "TOOLKIT_TEST_FEW_DESCRIPTORS";

#[test]
fn a_search_finds_what_is_there_or_says_that_it_could_not_read() {
    // In a process of its own, since all threads share the descriptors.
    if std::env::var_os(FEW).is_none() {
        let test = "descriptors::a_search_finds_what_is_there_or_says_that_it_could_not_read";
        let status = Command::new("sh")
            .args(["-c", "ulimit -Sn 128; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(FEW, "1")
            .status();
        return assert!(status.unwrap().success());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let with_files = |tool: Tool| {
            TestToolbox::new(tool)
                .file("a/needle.txt", "a needle")
                .file("b.txt", "hay")
                .file("c/d.txt", "hay")
        };
        let grep = with_files(tool_ref!(builtin_tools::fs::grep));
        let glob = with_files(tool_ref!(builtin_tools::fs::glob));
        let (mut found, mut failed) = (0, 0);
        for free in 0..24 {
            for (toolbox, arguments) in [
                (&grep, json!({ "pattern": "needle" })),
                (&grep, json!({ "pattern": "needle", "path": "a/needle.txt" })),
                (&glob, json!({ "pattern": "**/needle*" })),
            ] {
                // All that is opened once and kept is there now.
                toolbox.call(arguments.clone()).await.expect_ok();
                let mut taken: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
                taken.truncate(taken.len().saturating_sub(free));
                let call = toolbox.call(arguments.clone()).await;
                drop(taken);
                let text = call.text();
                if call.result.is_error() {
                    failed += 1;
                } else {
                    found += 1;
                    let is_found = text.contains("needle.txt");
                    assert!(
                        is_found || text.contains("could not be read"),
                        "{free} free, {arguments}: {text}"
                    );
                }
            }
        }
        assert!(found > 0 && failed > 0, "{found} {failed}");
    });
}
