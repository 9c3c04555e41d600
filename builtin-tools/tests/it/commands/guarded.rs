//! Nothing that is configured, planted or passed in runs with a command that is allowed because it only reads.

use crate::commands::house::House;
use builtin_tools::runtime::explain;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use toolkit::approval::Answer;

async fn asking(config: Value) -> House {
    House::with(config, |_| Answer::deny_saying("asked")).await
}

/// A file that can be run, and makes the marker.
fn plant(path: &Path, marker: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n: > {}\n", marker.display())).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A repository that runs what makes the marker, as soon as git looks whether files have changed.
fn repository(house: &House, marker: &Path) {
    let monitor = house.path("../monitor");
    plant(&monitor, marker);
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments)
            .current_dir(house.path("."))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", house.path(".."));
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "a.txt"]);
    git(&["config", "core.fsmonitor", monitor.to_str().unwrap()]);
    git(&["status"]);
    assert!(marker.exists(), "git runs what is configured by itself");
    fs::remove_file(marker).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_repository_configures_does_not_run_without_a_question() {
    let house = asking(json!({})).await;
    let marker = house.path("../marker");
    repository(&house, &marker);
    for take in [
        "declare -a GIT_CONFIG_COUNT;",
        "declare -A GIT_CONFIG_COUNT;",
        "declare -ar GIT_CONFIG_KEY_0;",
        "typeset -a GIT_CONFIG_VALUE_0;",
        "command declare -a GIT_CONFIG_COUNT;",
        "builtin typeset -a GIT_CONFIG_COUNT;",
        "f() { declare -ga GIT_CONFIG_COUNT; }; f;",
        "f() { local GIT_CONFIG_COUNT; git status; }; f;",
        "readonly -a GIT_CONFIG_COUNT;",
        "unset GIT_CONFIG_COUNT;",
        "export -n GIT_CONFIG_COUNT;",
        "declare +x GIT_CONFIG_COUNT;",
        "GIT_CONFIG_COUNT=0;",
        "GIT_CONFIG_COUNT=0",
        "GIT_CONFIG_COUNT=();",
        "read GIT_CONFIG_COUNT < a.txt;",
        "printf -v GIT_CONFIG_COUNT 0;",
        "mapfile GIT_CONFIG_COUNT < a.txt;",
        "for GIT_CONFIG_COUNT in 0; do git status; done;",
        ": ${GIT_CONFIG_COUNT:=0};",
        "x=GIT_CONFIG_COUNT; declare -a $x;",
        "declare -n r=GIT_CONFIG_COUNT; r=();",
        "env -u GIT_CONFIG_COUNT",
        "env -i",
        "exec -c",
    ] {
        let command = format!("{take} git status");
        house.exec(&command).await;
        assert!(!marker.exists(), "{command}");
        assert_eq!(house.asked().len(), 1, "{command}");
    }
    for command in ["git status", "cd . && git status", "declare -a x; git status", "timeout 5 git status"] {
        let result = house.exec(command).await;
        assert!(result.error().is_none() && house.asked().is_empty(), "{command}: {result:?}");
        assert!(!marker.exists(), "{command}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn git_gets_its_guards_as_arguments_too() {
    let house = asking(json!({})).await;
    repository(&house, &house.path("../marker"));
    let explained = explain(&house.toolbox.context("exec").unwrap(), "git status; ls").await.unwrap();
    let guarded = explained.guarded.unwrap();
    assert!(guarded.starts_with("git --no-optional-locks") && guarded.ends_with(" status; ls"), "{guarded}");
    // The shell knows the text that it runs.
    let result = house.exec("cat /proc/$$/cmdline; git status").await;
    assert_eq!(house.asked().len(), 1, "it is outside of the workspace: {result:?}");
    let result = house.exec("echo \"$BASH_EXECUTION_STRING\"; git status --short").await;
    let text = result.text();
    assert!(house.asked().is_empty(), "{text}");
    assert!(text.contains("git --no-optional-locks --no-pager -c core.fsmonitor=false"), "{text}");
    assert!(text.contains("A  a.txt"), "{text}");
    // A person is asked about the very text that runs.
    let house = House::new(json!({})).await;
    repository(&house, &house.path("../marker"));
    let result = house.exec("echo \"$BASH_EXECUTION_STRING\"; git status --short; touch x").await;
    assert_eq!(house.asked().len(), 1);
    assert!(!result.text().contains("--no-optional-locks"), "{}", result.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_is_no_number_is_not_evaluated_without_a_question() {
    let house = asking(json!({})).await;
    for name in ["COLUMNS", "LINES"] {
        let marker = house.path(name);
        for command in
            [format!("echo $(({name}))"), format!("[[ {name} -gt 1 ]]"), format!("x=ab; echo ${{x:{name}}}")]
        {
            let env = json!({ name: format!("a[$(: > {})]", marker.display()) });
            house.call("exec", json!({ "command": command, "env": env })).await;
            assert!(!marker.exists(), "{command}");
            assert_eq!(house.asked().len(), 1, "{command}");
            let result = house.call("exec", json!({ "command": command, "env": { name: "80" } })).await;
            assert!(house.asked().is_empty(), "{command}: {result:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_of_another_directory_does_not_run_without_a_question() {
    let house = asking(json!({ "tools": { "exec": { "pathPrepend": [".", "node_modules/.bin"] } } })).await;
    let marker = house.path("../marker");
    plant(&house.path("sub/ls"), &marker);
    plant(&house.path("sub/node_modules/.bin/wc"), &marker);
    for command in [
        "cd sub && ls",
        "cd sub; wc -l",
        "env -C sub ls",
        "(cd sub && ls)",
        "pushd sub && ls",
        "cd sub && echo $(wc -l)",
    ] {
        house.exec(command).await;
        assert!(!marker.exists(), "{command}");
        house.asked();
    }
    // These are of the workspace itself.
    plant(&house.path("ls"), &marker);
    house.exec("ls").await;
    assert_eq!((house.asked().len(), marker.exists()), (1, false));
    house.exec("cat a.txt").await;
    assert!(house.asked().is_empty());
}
