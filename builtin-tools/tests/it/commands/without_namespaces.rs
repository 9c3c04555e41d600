//! The containment of a command where the system has no namespaces, but Landlock.

use crate::commands::house::{House, fact};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Says that the test runs where there are none.
const AGAIN: &str = "TOOLKIT_COMMANDS_TEST_WITHOUT_NAMESPACES";

/// Not a test of its own: what the next one runs there.
#[tokio::test(flavor = "multi_thread")]
async fn where_there_are_none() {
    if std::env::var_os(AGAIN).is_none() {
        return;
    }
    let house = House::new(json!({})).await;
    let result = house.exec("python3 -c 'import tempfile; print(tempfile.mkstemp()[1])'").await;
    let holds = fact(&result, "sandbox")["holds"].clone();
    assert_eq!(holds, json!(["files", "network", "local sockets", "system calls"]), "{}", result.text());
    let made = PathBuf::from(result.text().lines().next().unwrap());
    let own = made.parent().unwrap().to_owned();
    assert!(made.exists() && own != std::env::temp_dir(), "{}", result.text());
    // One finds what another left there, also by its name, and beside what a person allowed in the one of all.
    let beside = format!("/tmp/beside-{}", std::process::id());
    for (command, says) in [
        ("touch inside; echo one > \"$TMPDIR/left\"; cat \"$TMPDIR/left\"".to_owned(), "one\n["),
        (
            "python3 -c 'import os; print(open(os.environ[\"TMPDIR\"] + \"/left\").read())'".to_owned(),
            "one\n",
        ),
        (
            format!("echo two > {beside}; mktemp > /dev/null && cat {beside} $TMPDIR/left; rm {beside}"),
            "two\none\n[",
        ),
        ("cat $TMPDIR/left".to_owned(), "one\n["),
    ] {
        let result = house.exec(&command).await;
        assert!(result.text().starts_with(says), "{command}: {}", result.text());
    }
    let result = house.exec("python3 -c 'open(\"/tmp/unasked\", \"w\")'").await;
    let note = format!("and in its TMPDIR, `{}`", own.display());
    assert!(result.is_error() && result.text().contains(&note), "{}", result.text());
    assert!(!Path::new("/tmp/unasked").exists());
    assert!(house.toolkit.end_session("s"));
    drop(house);
    assert!(!own.exists(), "{} is left", own.display());
}

#[test]
fn a_command_has_a_directory_for_temporary_files_all_the_same() {
    let output = Command::new("unshare")
        .args(["-Ur", "sh", "-c", "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "commands::without_namespaces::where_there_are_none", "--nocapture"])
        .env(AGAIN, "1")
        .output()
        .expect("this test needs unshare");
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{error}");
}
