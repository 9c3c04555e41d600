//! Decisions on everyday commands in a large repository, and on those that look like them and do more.

use crate::commands::house::House;
use builtin_tools::runtime::explain;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use toolkit::prelude::*;

/// So many of the table may ask.
const MAX_ASKED: usize = 5;
/// So many files that are ignored.
const IGNORED: usize = 20_000;

/// Set for the process that judges: no program is installed there, so that the machine decides nothing.
const JUDGES: &str = "EVERYDAY_COMMANDS_ARE_JUDGED";

/// Runs one test of this module once more, without a program in `PATH` and with a home where nothing is. Whether this is that run.
fn is_apart(test: &str) -> bool {
    if std::env::var_os(JUDGES).is_some() {
        return true;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("commands::everyday::{test}"), "--nocapture"])
        .env_clear()
        .envs([
            ("PATH", "/nonexistent/bin"),
            ("HOME", "/nonexistent/home"),
            ("LANG", "C.UTF-8"),
            (JUDGES, "1"),
        ])
        .output()
        .unwrap();
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (shown(&output.stdout), shown(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{error}");
    false
}

fn git(directory: &Path, words: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=u", "-c", "user.email=u@example.org", "-c", "init.defaultBranch=main"])
        .args(["-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false"])
        .args(words)
        .current_dir(directory)
        .env_clear()
        .envs([
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/nonexistent"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn write(directory: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// A repository with two commits, a submodule, a linked worktree, and much that is ignored.
fn repository(house: &House) {
    let root = house.path("repository");
    let origin = house.path("origin");
    write(&origin, &[("lib.rs", "pub fn sub() {}\n")]);
    git(&origin, &["init", "-q"]);
    git(&origin, &["add", "."]);
    git(&origin, &["commit", "-qm", "one"]);
    let crates: Vec<String> = (0..200).map(|number| format!("crates/c{number}/src/lib.rs")).collect();
    write(
        &root,
        &[
            ("README.md", "# A project\n"),
            ("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
            ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"0.1.0\"\n"),
            ("package.json", "{ \"scripts\": { \"test\": \"x\" }, \"dependencies\": {} }\n"),
            ("go.mod", "module example.org/a\n\ngo 1.22\n"),
            ("src/main.rs", "fn main() {}\n"),
            ("src/lib.rs", "//! A library. TODO: write it.\n"),
            ("docs/guide.md", "a guide\n"),
            ("docs/words.txt", "b\na\n"),
            ("docs/two words.md", "two\n"),
            ("web/src/app.ts", "export {}\n"),
            ("scripts/run.sh", "#!/bin/sh\n"),
            (".github/workflows/ci.yml", "on: push\n"),
            (".gitignore", "/target\nnode_modules/\n.env\n/odd\n"),
        ],
    );
    let sources: Vec<(&str, &str)> = crates.iter().map(|name| (name.as_str(), "pub fn f() {}\n")).collect();
    write(&root, &sources);
    git(&root, &["init", "-q"]);
    git(&root, &["submodule", "--quiet", "add", origin.to_str().unwrap(), "vendor/sub"]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "-qm", "one"]);
    write(&root, &[("src/main.rs", "fn main() { println!(); }\n")]);
    git(&root, &["commit", "-qam", "two"]);
    git(&root, &["worktree", "add", "-q", "../worktree", "-b", "feature"]);
    git(&root, &["remote", "add", "origin", "https://example.org/a.git"]);
    // As people and tools configure it.
    for (key, value) in [
        ("gpg.format", "ssh"),
        ("gitflow.branch.develop", "develop"),
        ("gitflow.prefix.feature", "feature/"),
        ("svn-remote.svn.url", "https://example.org/svn"),
        ("merge.ours.driver", "true"),
        ("user.email", "u@example.org"),
    ] {
        git(&root, &["config", key, value]);
    }
    write(
        &root,
        &[
            (".env", "KEY=secret\n"),
            ("src/main.rs", "fn main() { println!(\"changed\"); }\n"),
            ("notes.txt", "not tracked\n"),
            ("odd/a /etc/passwd", "x\n"),
            ("odd/-n", "x\n"),
        ],
    );
    for (name, extension) in [("node_modules", "js"), ("target", "o")] {
        for directory in 0..100 {
            let directory = root.join(name).join(format!("d{directory}"));
            fs::create_dir_all(&directory).unwrap();
            for file in 0..IGNORED / 200 {
                File::create(directory.join(format!("f{file}.{extension}"))).unwrap();
            }
        }
    }
    File::create(root.join("target/d0/build.rs")).unwrap();
    File::create(root.join("node_modules/d0/secret.pem")).unwrap();
}

/// The decision on a command, and its reason.
async fn explained(house: &House, workspace: &str, command: &str) -> (&'static str, String) {
    let caller = Caller::new().with_session(workspace).with_workspace(house.path(workspace));
    let toolbox = house.toolkit.toolbox(&caller).await;
    let ctx = toolbox.context("exec").unwrap();
    let explained = explain(&ctx, command).await.unwrap();
    let mut why = explained.why.clone();
    let mut waiting: Vec<_> = explained.parts.iter().collect();
    while let Some(part) = waiting.pop() {
        why.extend(
            part.reasons.iter().filter(|reason| reason.verdict != "allow").map(|reason| reason.text.clone()),
        );
        why.extend(part.paths.iter().filter_map(|path| path.asked.clone()));
        waiting.extend(&part.parts);
    }
    (explained.verdict, why.join("; "))
}

fn house(config: Value) -> House {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(House::new(config))
}

/// The configuration without a sandbox, in which the verdict alone decides.
fn without_sandbox() -> Value {
    json!({ "tools": { "exec": { "sandbox": "off" } } })
}

#[test]
fn everyday_commands_run_unasked_in_a_large_repository() {
    if !is_apart("everyday_commands_run_unasked_in_a_large_repository") {
        return;
    }
    let house = house(json!({}));
    repository(&house);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let table = include_str!("../../table/everyday.txt");
    let (mut rows, mut asked, mut wrong) = (0, Vec::new(), Vec::new());
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (place, command) = line.split_once(" | ").unwrap();
        let (expected, workspace) =
            place.split_once(' ').map_or(("allow", place), |(_, place)| ("ask", place));
        let workspace = match workspace {
            "directory" => "repository/src",
            "submodule" => "repository/vendor/sub",
            workspace => workspace,
        };
        let (verdict, why) = runtime.block_on(explained(&house, workspace, command));
        rows += 1;
        if verdict != "allow" {
            asked.push(format!("{line}\n    {why}"));
        }
        if verdict != expected {
            wrong.push(format!("{line}\n    {verdict}: {why}"));
        }
    }
    assert!(rows >= 200, "the table has {rows} rows");
    assert!(asked.len() <= MAX_ASKED, "{} of {rows} ask:\n{}", asked.len(), asked.join("\n"));
    assert!(wrong.is_empty(), "{} of {rows} are not as the table says:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_looks_like_an_everyday_command_and_does_more_is_asked_about() {
    if !is_apart("what_looks_like_an_everyday_command_and_does_more_is_asked_about") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let table = include_str!("../../table/lookalikes.txt");
    let rows: Vec<&str> = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    let mut allowed = Vec::new();
    for config in [json!({}), without_sandbox()] {
        let house = house(config);
        repository(&house);
        for command in &rows {
            if runtime.block_on(explained(&house, "repository", command)).0 == "allow" {
                allowed.push(*command);
            }
        }
    }
    assert!(rows.len() >= 60, "the table has {} rows", rows.len());
    assert!(allowed.is_empty(), "{} of {} run unasked:\n{}", allowed.len(), rows.len(), allowed.join("\n"));
}
