//! Lasting approvals given on the terminal, and how the command shows and revokes them.
#![cfg(unix)]

use crate::fixture;

use fixture::{Run, command, finish, program};
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

struct House {
    base: TempDir,
}

impl House {
    fn new() -> Self {
        let base = tempfile::tempdir().expect("a directory");
        for name in ["one", "two"] {
            fs::create_dir(base.path().join(name)).expect("a workspace");
        }
        Self { base }
    }

    fn data(&self) -> PathBuf {
        self.base.path().join("data")
    }

    /// The command in one of the workspaces, away from any terminal.
    fn run(&self, workspace: &str, args: &[&str]) -> Run {
        let mut command = Command::new("setsid");
        command
            .arg("--wait")
            .arg(program())
            .args(args)
            .current_dir(self.base.path().join(workspace))
            .env("TOOLKIT_DATA_DIR", self.data())
            .stdin(Stdio::null());
        finish(&mut command)
    }

    /// Calls `deploy` with a terminal, on which a person types an answer; what stood there.
    fn deploy(&self, workspace: &str, typed: &str) -> String {
        let call = format!("'{}' call deploy", program().display());
        let mut terminal = Command::new("script")
            .args(["--quiet", "--command", &call, "/dev/null"])
            .current_dir(self.base.path().join(workspace))
            .env("TOOLKIT_DATA_DIR", self.data())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script` of util-linux is needed");
        let mut screen = terminal.stdout.take().expect("a pipe");
        let mut seen = String::new();
        while !seen.contains("said to the model: ") {
            let mut buffer = [0; 1024];
            let count = screen.read(&mut buffer).expect("a screen");
            assert_ne!(count, 0, "nobody was asked: {seen}");
            seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        terminal.stdin.take().expect("a pipe").write_all(typed.as_bytes()).expect("a keyboard");
        screen.read_to_string(&mut seen).expect("a screen");
        terminal.wait().expect("it ends");
        seen
    }
}

#[test]
fn what_was_allowed_is_listed_and_revoked() {
    let house = House::new();
    let run = house.run("one", &["permission", "list"]);
    assert_eq!(run.err, "No approvals are stored.\n");
    assert_eq!(run.ok(), "");
    let denied = house.run("one", &["call", "deploy"]).fails(5);
    assert!(denied.contains("or allow it with the setting `permission.deploy`"), "{denied}");

    let seen = house.deploy("one", "a\n");
    let workspace = house.base.path().join("one").canonicalize().expect("a workspace");
    for part in [
        "  s and a remember: the\\u{9}site\r\n",
        &format!("session workspace {}", workspace.display()),
        "online",
    ] {
        assert!(seen.contains(part), "{part:?} in {seen}");
    }
    // Without a terminal, in this workspace, and from then on.
    assert_eq!(house.run("one", &["call", "deploy"]).ok(), "online\n");
    house.run("two", &["call", "deploy"]).fails(5);
    house.deploy("two", "y\n");
    house.run("two", &["call", "deploy"]).fails(5);
    house.deploy("two", "always\n");

    let list = house.run("two", &["permission", "list"]).ok();
    let lines: Vec<&str> = list.lines().collect();
    let [one, first, two, second] = lines.as_slice() else { panic!("{list}") };
    assert_eq!((*one, one.strip_suffix("one")), (&*workspace.display().to_string(), two.strip_suffix("two")));
    assert!(
        first.ends_with(" UTC  deploy: the\\u{9}site  (by deploy)") && first.starts_with("  "),
        "{first}"
    );
    let json = house.run("one", &["permission", "list", "-o", "json"]).json();
    let id = json[0]["id"].as_str().expect("an id").to_owned();
    assert!(first.contains(&id) && second.contains(json[1]["id"].as_str().expect("an id")), "{list}");
    for (key, expected) in [
        ("kind", json!("deploy")),
        ("pattern", json!("the\tsite")),
        ("tool", json!("deploy")),
        ("source", json!("the plugin `fixture`")),
        ("sandboxed", json!(false)),
        ("workspace", json!(workspace)),
    ] {
        assert_eq!(json[0][key], expected, "{key}");
    }

    let unknown = house.run("one", &["permission", "revoke", "no\u{1b}thing"]).fails(2);
    assert!(unknown.contains("has the id `no\\u{1b}thing`; `permission list` shows all"), "{unknown}");
    let revoked = house.run("two", &["permission", "revoke", &id]).ok();
    assert!(revoked.starts_with("Revoked; it needs approval again:\n") && revoked.contains(&id), "{revoked}");
    house.run("one", &["call", "deploy"]).fails(5);
    assert_eq!(house.run("two", &["call", "deploy"]).ok(), "online\n");

    fs::write(house.data().join("approvals/x.json"), "{").expect("a damaged file");
    let list = house.run("one", &["permission", "list"]);
    assert!(list.err.starts_with("warning: ") && list.err.contains("is not read: it is damaged"), "{list:?}");
    assert_eq!(list.ok().lines().count(), 2);
    let all = house.run("one", &["permission", "revoke", "--all"]).ok();
    assert_eq!(all, "Revoked all approvals (2 files of workspaces and sessions).\n");
    assert_eq!(
        house.run("one", &["permission", "revoke", "--all", "-o", "json"]).json(),
        json!({ "workspaces": 0 })
    );
    assert_eq!(house.run("one", &["permission", "list", "-o", "json"]).json(), json!([]));
    house.run("two", &["call", "deploy"]).fails(5);
}

#[test]
fn what_is_allowed_for_the_session_holds_in_the_next_command_of_it() {
    let house = House::new();
    let call =
        |workspace: &str, more: &[&str]| house.run(workspace, &[&["call"], more, &["deploy"]].concat());
    house.deploy("one", "s\n");
    assert_eq!(call("one", &[]).ok(), "online\n");
    // Another workspace is another session, and so is one of another name.
    call("two", &[]).fails(5);
    call("one", &["--session", "other"]).fails(5);
    call("one", &["--agent", "ada"]).fails(5);
    let workspace = house.base.path().join("one").canonicalize().expect("a workspace");
    let list = house.run("two", &["permission", "list"]).ok();
    let session =
        format!("deploy: the\\u{{9}}site  (by deploy, in session workspace {}, until ", workspace.display());
    assert!(list.contains(&session), "{list}");
    let json = house.run("one", &["permission", "list", "-o", "json"]).json();
    let lasts =
        json[0]["expiresAt"].as_u64().zip(json[0]["approvedAt"].as_u64()).map(|(end, start)| end - start);
    assert_eq!(lasts, Some(8 * 3_600_000));
    let id = json[0]["id"].as_str().expect("an id");
    house.run("two", &["permission", "revoke", id]).ok();
    call("one", &[]).fails(5);
}

#[test]
fn a_wrong_command_line_says_what_is_missing() {
    for (args, part) in [
        (&["permission"][..], "list"),
        (&["permission", "revoke"], "<ID|--all>"),
        (&["permission", "revoke", "x", "--all"], "cannot be used with"),
    ] {
        let error = finish(&mut command(args.iter().map(OsStr::new))).fails(2);
        assert!(error.contains(part), "{args:?}: {error}");
    }
}
