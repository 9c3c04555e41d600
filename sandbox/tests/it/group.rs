//! Jobs of a host that does not call `init`. This file starts no supervisor.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common;
use crate::jobs::{ECHO, echoed, talking};

use std::fs::File;
use std::time::Duration;

use common::{nothing_left, within};
use toolkit_sandbox::{Command, Drained, End, Feature, Guarantee, Mode, Output, Sandbox, SpawnError, Stdin};

fn command(directory: &std::path::Path, script: &str) -> Command {
    let file = File::options().create(true).append(true).open(directory.join("output")).unwrap();
    Command::new("bash")
        .args(["-c", script])
        .env("PATH", "/usr/bin:/bin")
        .env("TOOLKIT_SANDBOX_TEST", directory)
        .current_dir(directory)
        .output(Output::File(file))
}

#[tokio::test]
async fn a_command_is_run_and_ended_with_the_weaker_guarantee() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let job = command(path, "cat; echo err >&2; exit 3").stdin(Stdin::Pipe).spawn().await.unwrap();
    assert_eq!(job.guarantee(), Guarantee::ProcessGroup);
    let input = job.stdin().unwrap();
    within(5, input.write(b"in\n")).await.unwrap();
    within(5, input.close()).await.unwrap();
    assert_eq!(within(5, job.exited()).await.end, End::Code(3));
    assert_eq!(within(5, job.drained(Duration::from_secs(5))).await, Drained::Closed);
    within(5, job.gone()).await;
    assert_eq!(std::fs::read_to_string(path.join("output")).unwrap(), "in\nerr\n");
    assert_eq!((job.progress().bytes, job.progress().newlines), (7, 2));

    let script = "sleep 1000 & (setsid sleep 1001; true) & trap '' TERM; sleep 1002; sleep 1003";
    let job = command(path, script).spawn().await.unwrap();
    within(5, async {
        while job.processes().await.len() < 5 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    let Drained::Held(holders) = within(5, job.drained(Duration::from_millis(20))).await else {
        panic!("it is held")
    };
    assert!(holders.len() >= 4, "{holders:?}");
    let stopped = within(10, job.stop(Duration::from_millis(200))).await;
    assert!(stopped.killed >= 1 && stopped.left.is_empty(), "{stopped:?}");
    within(5, job.gone()).await;
    nothing_left(path.to_str().unwrap());

    let job = command(path, "sleep 1000 & wait").spawn().await.unwrap();
    drop(job);
    nothing_left(path.to_str().unwrap());
}

#[tokio::test]
async fn a_sandbox_is_missing_whole_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    let sandbox = || Sandbox::new(Mode::WorkspaceWrite, directory.path());
    let error =
        command(directory.path(), "true").sandbox(sandbox().required(true)).spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::Sandbox { .. }), "{error}");
    assert!(error.to_string().contains("does not call `toolkit_sandbox::init`"), "{error}");
    let job = command(directory.path(), "true").sandbox(sandbox()).spawn().await.unwrap();
    assert!(job.containment().held.is_empty() && !job.containment().is_whole());
    assert!(!toolkit_sandbox::probe().has(Feature::Supervisor));
    assert!(command(directory.path(), "true").current_dir("/none").spawn().await.is_err());
    let error = Command::new("no-such-program").env("PATH", "/bin").spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error}");
}

/// The descriptors above 5 that this process got from its own parent, and that a command gets from it where no supervisor closes them.
fn inherited() -> Vec<String> {
    let is_inherited = |number: &String| {
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        flags.is_some_and(|flags| u32::from_str_radix(flags.trim(), 8).unwrap() & 0o2_000_000 == 0)
    };
    let open = std::fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap().file_name());
    open.filter_map(|name| name.into_string().ok())
        .filter(|number| number.parse::<u32>().unwrap() > 5 && is_inherited(number))
        .collect()
}

#[tokio::test]
async fn descriptors_are_passed_on_without_a_supervisor_too() {
    let directory = tempfile::tempdir().unwrap();
    let (with, to_command, from_command) = talking(command(directory.path(), ECHO));
    let job = with.spawn().await.unwrap();
    let text = tokio::task::spawn_blocking(move || echoed(to_command, from_command)).await.unwrap();
    let (said, numbers) = text.split_once('\n').unwrap();
    let others = inherited();
    let numbers: Vec<&str> =
        numbers.split_whitespace().filter(|number| !others.iter().any(|other| other == number)).collect();
    assert_eq!((said, numbers), ("hello", vec!["0", "1", "2", "3", "4", "5"]));
    assert_eq!(within(5, job.exited()).await.end, End::Code(0));
    let (with, ..) = talking(Command::new("/no/such/program"));
    let error = with.spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error}");
}
