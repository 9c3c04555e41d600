//! What is said of commands that nobody thought of: each row of the tables, altered at random a few times. That is no word on what would be
//! right; it is there so that nothing changes unnoticed. `RECORD=1` writes the record anew: look at what changed in it.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::common;

use common::altered::{Chance, altered, hash};
use common::rows;
use shell_verdict::{Access, Decision, Programs, Shell, Situation, Verdict, judge};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// How often each row is altered.
const TIMES: usize = 6;

/// Nothing of this machine: no program is installed, and no file is there.
fn judged(command: &str) -> Verdict {
    let env = [("HOME", "/home/u"), ("PATH", "/nonexistent/bin"), ("LANG", "C.UTF-8"), ("x", "v")];
    let env: BTreeMap<String, String> =
        env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let workspace = Path::new("/nonexistent/workspace");
    let decide = |path: &Path, access: Access| match access {
        _ if path.starts_with("/nonexistent/workspace/denied") => Decision::Deny,
        Access::Write => Decision::Ask,
        _ if path.starts_with(workspace) => Decision::Allow,
        _ => Decision::Ask,
    };
    let programs = Programs::of_path("/nonexistent/bin");
    let situation = Situation {
        cwd: workspace,
        workspace,
        env: &env,
        programs: &programs,
        shell: Shell::Bash,
        decide: &decide,
        search: None,
    };
    judge(command, &situation)
}

/// Whether what a pattern stands for may be somewhere on this machine.
fn depends_on_machine(command: &str) -> bool {
    command.contains('/') && command.contains(['*', '?', '['])
}

/// A line for a row: the decisions on it and its altered forms (`+` allows, `?` asks, `-` denies, `.` was left out), and a hash of all that is said.
fn line(command: &str, told: &mut dyn FnMut(&str, &Verdict)) -> String {
    let mut chance = Chance::of(command);
    let mut all = String::new();
    let mut letters = String::new();
    for time in 0..=TIMES {
        let command = if time == 0 { command.to_owned() } else { altered(command, &mut chance) };
        if depends_on_machine(&command) {
            letters.push('.');
            continue;
        }
        let verdict = judged(&command);
        letters.push(match verdict.decision {
            Decision::Allow => '+',
            Decision::Ask => '?',
            Decision::Deny => '-',
        });
        told(&command, &verdict);
        write!(all, "{verdict:?}").unwrap();
    }
    format!("{letters} {:016x} {}", hash(&all), command.replace('\\', "\\\\").replace('\n', "\\n"))
}

#[test]
fn what_is_said_of_altered_commands_stays() {
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded.txt");
    let lines: Vec<String> = rows().iter().map(|row| line(&row.command, &mut |_, _| {})).collect();
    if std::env::var_os("RECORD").is_some() {
        fs::write(&record, lines.join("\n") + "\n").unwrap();
        return;
    }
    let known = fs::read_to_string(&record).unwrap();
    let known: BTreeSet<&str> = known.lines().collect();
    let mut changed = Vec::new();
    for (row, line) in rows().iter().zip(&lines) {
        if !known.contains(line.as_str()) {
            let mut told = format!("{}: {line}", row.place);
            self::line(&row.command, &mut |command, verdict| {
                write!(told, "\n    {} {command:?}", verdict.decision.as_str()).unwrap();
            });
            changed.push(told);
        }
    }
    let some: Vec<&str> = changed.iter().take(20).map(String::as_str).collect();
    assert!(
        changed.is_empty(),
        "of {} rows {} are not as recorded (`RECORD=1` writes them anew; look at each):\n{}",
        lines.len(),
        changed.len(),
        some.join("\n")
    );
    let lines: BTreeSet<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(known.len(), lines.len(), "the record holds rows that are gone: `RECORD=1` writes it anew");
}
