//! Commands that run on their verdict alone answer as they do without a sandbox.

use crate::commands::house::{House, fact};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use toolkit::Toolbox;
use toolkit::prelude::*;

/// The commands that the tables of verdicts allow.
fn allowed() -> BTreeSet<String> {
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shell-verdict/tests/table");
    let mut commands = BTreeSet::new();
    for table in fs::read_dir(tables).unwrap() {
        let text = fs::read_to_string(table.unwrap().path()).unwrap();
        let rows =
            text.lines().filter(|line| line.starts_with("allow ")).filter_map(|line| line.split_once(" | "));
        commands.extend(rows.map(|(_, command)| {
            command.replace("\\\\", "\u{0}").replace("\\n", "\n").replace("\\t", "\t").replace('\u{0}', "\\")
        }));
    }
    commands
}

/// Fills a workspace with the files that the tables name, in a repository.
fn fill(house: &House) {
    for (name, text) in [
        ("README.md", "# A project\n"),
        ("Cargo.toml", "[package]\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("src/lib.rs", "//! A library.\n"),
        ("src/deep/mod.rs", "\n"),
        ("docs/a.md", "a\n"),
        ("docs/b.md", "b\n"),
        ("data/x.csv", "1,2\n"),
        ("data/y.csv", "3,4\n"),
        ("notes.txt", "notes\n"),
        ("build.sh", "#!/bin/sh\n"),
        ("Makefile", "all:\n"),
        ("package.json", "{}\n"),
        ("dir with space/file one.txt", "one\n"),
        ("secret/.env", "KEY=1\n"),
        ("secret/key.pem", "key\n"),
    ] {
        fs::create_dir_all(house.path(name).parent().unwrap()).unwrap();
        fs::write(house.path(name), text).unwrap();
    }
    std::os::unix::fs::symlink("/etc/passwd", house.path("link")).unwrap();
    let git = "git init -q -b main . && git add README.md src docs notes.txt && \
               git -c user.name=u -c user.email=u@example.org commit -qm one && git tag v1 && echo more >> notes.txt";
    let made = Command::new("sh").args(["-c", git]).current_dir(house.path(".")).status().unwrap();
    assert!(made.success());
}

/// The answer of a command: its output, and what became of it.
fn answer(result: &ToolResult) -> (String, Value) {
    let text = result.text();
    let output = text.lines().filter(|line| !line.starts_with('['));
    (output.collect::<Vec<_>>().join("\n"), fact(result, "exitCode"))
}

/// Numbers and spaces as one sign each, and the lines as a set: the state of a running system differs in these from one moment to the next.
fn settled(text: &str) -> BTreeSet<String> {
    let line = |line: &str| {
        let mut out = String::new();
        for sign in line.chars() {
            let sign = if sign.is_ascii_digit() {
                '0'
            } else if sign.is_whitespace() {
                ' '
            } else {
                sign
            };
            if !(out.ends_with(sign) && (sign == '0' || sign == ' ')) {
                out.push(sign);
            }
        }
        // A duration or a rate, as `dd` shows them, has another form on a machine that is slow just then.
        out.replace("0e-0", "0").replace("0.0", "0").replace(" MB/s", " kB/s").replace(" GB/s", " kB/s")
    };
    text.lines().map(line).collect()
}

/// Returns true for a command whose answer depends on more than the system: a login shell runs the profile of the user, which may do anything.
fn runs_profile(command: &str) -> bool {
    ["bash -l", "sh -l", "--login"].iter().any(|login| command.contains(login))
}

/// Returns the step from one row to the next: each row in the long profile, a sample otherwise.
fn step() -> usize {
    std::env::var("COMMAND_ROWS_EVERY").ok().and_then(|every| every.parse().ok()).unwrap_or(12)
}

mod properties {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_contained_answer_equals_the_uncontained_one() {
        let compared = compare().await;
        assert!(compared * step() > 1_200, "only {compared} were compared");
    }
}

/// Runs a command with time to come to its end on a busy machine.
async fn patient(toolbox: &Toolbox, command: &str) -> ToolResult {
    toolbox.call(ToolCall::new("1", "exec", json!({ "command": command, "timeout": 120_000 }))).await
}

/// Runs the commands with and without their containment. Returns their number.
async fn compare() -> usize {
    let config = |sandbox: &str| {
        let exec = json!({ "sandbox": sandbox, "maxTimeoutSec": 120, "timeoutSec": 2 });
        json!({ "tools": { "exec": exec, "outputs": { "maxBytes": 100_000 } } })
    };
    let house = House::new(config("auto")).await;
    fill(&house);
    let off = House::new(config("off")).await;
    let outside = off.within(house.path(".").to_str().unwrap()).await;
    let (mut compared, mut wrong) = (0, Vec::new());
    for command in allowed().into_iter().filter(|command| !runs_profile(command)).step_by(step()) {
        let inside = house.exec(&command).await;
        if !house.asked().is_empty() {
            continue;
        }
        if fact(&inside, "sandbox")["mode"] != json!("read-only") {
            wrong.push(format!("{command}: it was not contained: {}", fact(&inside, "sandbox")));
            continue;
        }
        compared += 1;
        let mut inside = answer(&inside);
        let mut difference = None;
        // The work of other processes meanwhile, such as commands of other tests, is in one try alone; a difference of the containment is in each.
        for _ in 0..5 {
            let mut before = answer(&outside.exec(&command).await);
            // A command that comes to its end in one of the two is only slow in the other.
            if inside.1.is_null() != before.1.is_null() {
                inside = answer(&patient(&house.toolbox, &command).await);
                before = answer(&patient(&outside.0, &command).await);
            }
            difference = None;
            if inside == before {
                break;
            }
            // Two runs without a sandbox may differ, and a run in one as much.
            let after = answer(&outside.exec(&command).await);
            let differs = settled(&before.0).symmetric_difference(&settled(&after.0)).count();
            let differs_inside = settled(&before.0).symmetric_difference(&settled(&inside.0)).count();
            if inside.1 == before.1 && differs_inside <= differs + settled(&before.0).len() / 4 {
                break;
            }
            difference = Some(format!(
                "{command}\n--- contained {}\n{}\n--- not {}\n{}",
                inside.1, inside.0, before.1, before.0
            ));
            inside = answer(&house.exec(&command).await);
        }
        wrong.extend(difference);
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n\n"));
    compared
}
