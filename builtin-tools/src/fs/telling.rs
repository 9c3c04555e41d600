//! Tests of the progress that tools report, and of how soon they stop after cancellation: measured in units of work, not
//! by the clock.

use super::progress::units;
use super::threads::tests::Forced;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;
use toolkit::testing::{TestCall, TestToolbox};
use toolkit::{
    CallOptions, CancellationToken, ToolErrorKind,
    approval::{Answer, ScriptedApprover},
    events::Progress,
};

fn told(call: &TestCall) -> Vec<String> {
    let told = |progress: &Progress| {
        format!("{} of {:?}: {}", progress.done, progress.total, progress.message.as_deref().unwrap_or(""))
    };
    call.progress().map(told).collect()
}

/// Each tool with a call that takes several units of work.
fn cases() -> Vec<(toolkit::Tool, Value, &'static str)> {
    let patch: String = (0..5).fold("*** Begin Patch\n".to_owned(), |patch, number| {
        patch + &format!("*** Add File: n{number}\n+x\n")
    });
    vec![
        (
            toolkit::tool_ref!(super::grep),
            json!({ "pattern": "line 9", "output_mode": "count", "limit": 1_000 }),
            "files searched",
        ),
        (toolkit::tool_ref!(super::glob), json!({ "pattern": "*", "limit": 1_000 }), "files looked at"),
        (toolkit::tool_ref!(super::read), json!({ "file_path": "long", "offset": 300_000 }), "reading long"),
        (toolkit::tool_ref!(super::apply_patch), json!({ "input": patch + "*** End Patch" }), "n"),
    ]
}

fn toolbox(tool: toolkit::Tool) -> TestToolbox {
    let long: String =
        (0..400_000).fold(String::new(), |text, line| text + "line " + &line.to_string() + "\n");
    let toolbox =
        TestToolbox::new(tool).approve(ScriptedApprover::always(Answer::allow())).file("long", long);
    // More than a few batches of a search.
    (0..600).fold(toolbox, |toolbox, number| toolbox.file(&format!("d{number}/f"), "line 9\n"))
}

#[tokio::test]
async fn what_takes_long_is_told_and_nothing_else() {
    for (tool, arguments, words) in cases() {
        let name = tool.name().to_owned();
        // On a busy machine it may really take long.
        let mut tries = 0;
        let quick = loop {
            let calm = toolbox(tool.clone());
            let watched = units::watch(calm.workspace().path(), Duration::MAX, || {});
            let quick = calm.call(arguments.clone()).await;
            drop(watched);
            tries += 1;
            if told(&quick).is_empty() || tries == 10 {
                break quick;
            }
        };
        quick.expect_ok();
        assert_eq!(told(&quick), [""; 0], "{name}");
        let busy = toolbox(tool);
        let watched = units::watch(busy.workspace().path(), Duration::ZERO, || {});
        let slow = busy.call(arguments).await;
        drop(watched);
        let told = told(&slow);
        assert!(told.len() >= 2, "{name}: {told:?}");
        assert!(told.iter().all(|told| told.contains(words)), "{name}: {told:?}");
        // The files are as old as each happened to be made.
        let sorted = |call: &TestCall| {
            let mut lines: Vec<String> = call.text().lines().map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        assert_eq!(sorted(&slow), sorted(&quick), "{name}");
    }
}

#[tokio::test]
async fn a_patch_tells_each_file() {
    let toolbox = TestToolbox::new(toolkit::tool_ref!(super::apply_patch))
        .build(toolkit::Builder::for_one_call)
        .approve(ScriptedApprover::always(Answer::allow()))
        .file("gone", "x\n")
        .file("old", "x\n");
    let watched = units::watch(toolbox.workspace().path(), Duration::ZERO, || {});
    let patch = "*** Begin Patch\n*** Delete File: gone\n*** Add File: new\n+x\n*** Update File: old\n*** Move to: moved\n\
                 *** End Patch";
    let call = toolbox.call(json!({ "input": patch })).await;
    drop(watched);
    call.expect_ok();
    // Files are removed last.
    assert_eq!(told(&call), ["0 of Some(3.0): new", "1 of Some(3.0): moved", "2 of Some(3.0): gone"]);
}

#[test]
fn once_nobody_waits_work_stops_at_the_next_unit() {
    // With several threads, one reports only its own work, which may be little.
    let _one = Forced::new(1);
    for (tool, arguments, _) in cases() {
        let name = tool.name().to_owned();
        // A patch that has begun to write is completed.
        if name == "apply_patch" {
            continue;
        }
        for at in [1, 2, 3] {
            let token = CancellationToken::new();
            let passed = Arc::new(AtomicUsize::new(0));
            let toolbox = toolbox(tool.clone());
            let watched = units::watch(toolbox.workspace().path(), Duration::ZERO, {
                let (token, passed) = (token.clone(), Arc::clone(&passed));
                move || {
                    if passed.fetch_add(1, Ordering::SeqCst) + 1 == at {
                        token.cancel();
                    }
                }
            });
            let options = CallOptions::new().cancel(token);
            let runtime = Runtime::new().unwrap();
            runtime.block_on(async {
                let call = toolbox.options(options).call(arguments.clone()).await;
                call.expect_error(ToolErrorKind::Aborted);
            });
            // It waits for threads that go on working.
            drop(runtime);
            drop(watched);
            let after = passed.load(Ordering::SeqCst) - at;
            // Work that was handed over may be within a unit.
            assert!(after <= 5, "{name}: {after} units after it was stopped at {at}");
        }
    }
}
