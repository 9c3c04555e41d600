//! Commands by the command: it is its own supervisor, and a person at the terminal is asked.

#![cfg(all(target_os = "linux", feature = "runtime"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn user(config: &str) -> TempDir {
    let user = tempfile::tempdir().unwrap();
    for directory in ["work", "user", "data"] {
        fs::create_dir(user.path().join(directory)).unwrap();
    }
    fs::write(user.path().join("user/toolkit.json5"), config).unwrap();
    user
}

fn toolkit(user: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolkit"));
    command.args(arguments).current_dir(user.path().join("work")).stdin(Stdio::null());
    command.env("TOOLKIT_CONFIG_DIR", user.path().join("user"));
    command.env("TOOLKIT_DATA_DIR", user.path().join("data"));
    command
}

#[test]
fn what_only_reads_runs_and_the_rest_needs_a_person() {
    let user = user("{}");
    let ran = toolkit(&user, &["call", "exec", "--command", "echo one; pwd"]).output().unwrap();
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(
        ran.status.success() && out.starts_with("one\n") && out.contains("[exit code 0, after"),
        "{ran:?}"
    );
    let failed = toolkit(&user, &["call", "bash", "--command", "echo out; exit 3"]).output().unwrap();
    let told = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(!failed.status.success() && told.contains("out\n") && told.contains("exit code 3"), "{failed:?}");
    let denied = toolkit(&user, &["call", "exec", "--command", "touch made"]).output().unwrap();
    assert_eq!(denied.status.code(), Some(5), "{denied:?}");
    assert!(!user.path().join("work/made").exists());
}

/// The processes that have this in their arguments.
fn alive(marker: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.map(|process| fs::read(process.path().join("cmdline")).unwrap_or_default());
    lines.filter(|line| String::from_utf8_lossy(line).contains(marker)).count()
}

#[test]
fn a_host_that_is_killed_takes_its_commands_along_and_leaves_their_output() {
    let marker = format!("4{:08}", std::process::id());
    // It is allowed by a rule, so that nobody has to be asked.
    let user = user(
        "{ permission: { exec: [{ match: 'env *', do: 'allow' }, { match: 'setsid *', do: 'allow' }] } }",
    );
    let command = format!("echo written; (setsid sleep {marker} &) ; sleep {marker} & sleep {marker}");
    let mut host = toolkit(&user, &["call", "exec", "--command", &command, "--yield-ms", "3000000"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while fs::read_dir(user.path().join("data/tool-output")).map_or(0, Iterator::count) == 0
        || alive(&marker) < 4
    {
        assert!(Instant::now() < until && host.try_wait().unwrap().is_none(), "{} are there", alive(&marker));
        std::thread::sleep(Duration::from_millis(10));
    }
    host.kill().unwrap();
    host.wait().unwrap();
    let killed = Instant::now();
    while alive(&marker) > 0 {
        assert!(killed.elapsed() < Duration::from_secs(1), "{} are left", alive(&marker));
        std::thread::sleep(Duration::from_millis(10));
    }
    let session = fs::read_dir(user.path().join("data/tool-output")).unwrap().next().unwrap().unwrap().path();
    let output = fs::read_dir(session).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read_to_string(output).unwrap(), "written\n");
}
