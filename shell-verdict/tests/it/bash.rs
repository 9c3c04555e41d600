//! Bash's reading of the allowed commands: it starts no other programs than the verdict lists, with no other words.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::common;

use common::altered::{Chance, altered};
use common::{Fixture, rows};
use shell_verdict::{Decision, Part, Verdict};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A program that notes how it was called in a file of its own: its name and words, each with a zero after it.
const RECORDER: &str = "#!/bin/sh\nprintf '%s\\0' \"${0##*/}\" \"$@\" > \"${RECORD:?}/$$\"\n";

/// Where every program is a recorder.
struct Recorders {
    directory: TempDir,
    records: Cell<usize>,
}

impl Recorders {
    fn new(names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let recorder = directory.path().join("recorder");
        fs::write(&recorder, RECORDER).unwrap();
        fs::set_permissions(&recorder, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(directory.path().join("bin")).unwrap();
        for name in names {
            let name = name.as_ref();
            if !name.is_empty() && !name.contains('/') && name != "." && name != ".." {
                symlink(&recorder, directory.path().join("bin").join(name)).unwrap();
            }
        }
        Self { directory, records: Cell::new(0) }
    }

    /// The calls that bash makes for a command.
    fn calls(&self, fixture: &Fixture, command: &str) -> Vec<Vec<String>> {
        self.records.set(self.records.get() + 1);
        calls(
            fixture,
            &self.directory.path().join("bin"),
            &self.directory.path().join(self.records.get().to_string()),
            command,
        )
    }
}

fn bash(fixture: &Fixture) -> Command {
    let mut bash = common::limited("/bin/bash");
    bash.args(["--noprofile", "--norc"])
        .current_dir(&fixture.workspace)
        .env_clear()
        .envs(&fixture.env)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    bash
}

fn calls(fixture: &Fixture, programs: &Path, record: &Path, command: &str) -> Vec<Vec<String>> {
    fs::create_dir(record).unwrap();
    let mut bash = bash(fixture)
        .args(["-c", "--", command])
        .env("PATH", programs)
        .env("RECORD", record)
        .process_group(0)
        .spawn()
        .unwrap();
    // Some go on for ever.
    let until = Instant::now() + Duration::from_secs(2);
    while bash.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            common::end_group(&mut bash);
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let calls = fs::read_dir(record).unwrap().map(|entry| {
        let text = fs::read(entry.unwrap().path()).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        text.strip_suffix('\0').unwrap_or_default().split('\0').map(str::to_owned).collect()
    });
    // One that has just begun to note it has noted nothing yet.
    let calls = calls.filter(|call: &Vec<String>| !call[0].is_empty()).collect();
    // A process that still runs records nothing any more. It may just be doing so.
    let _ = fs::remove_dir_all(record);
    calls
}

/// Returns true if the verdict lists a call.
fn is_listed(verdict: &Verdict, call: &[String]) -> bool {
    verdict.each_part().any(|part| is_of_part(part, call))
}

fn is_of_part(part: &Part, call: &[String]) -> bool {
    let Some(program) = &part.program else { return false };
    if *program != call[0] {
        return false;
    }
    let words = &part.words[1..];
    // An unknown text may be any number of words.
    if words.iter().any(Option::is_none) {
        return true;
    }
    let is_same = |(known, seen): (&String, &String)| {
        known == seen || (known.starts_with("/dev/fd/") && seen.starts_with("/dev/fd/"))
    };
    // The matches of a pattern may depend on the locale: each of these words, or none.
    if words.iter().flatten().any(|word| word.contains(['[', '*', '?'])) {
        let mut known = words.iter().flatten();
        return call[1..].iter().all(|seen| known.any(|known| is_same((known, seen))));
    }
    words.len() == call.len() - 1 && words.iter().flatten().zip(&call[1..]).all(is_same)
}

#[test]
fn bash_starts_what_the_verdict_lists() {
    let fixture = Fixture::new();
    let allowed: Vec<_> = rows()
        .into_iter()
        .map(|row| (fixture.judge(&row.command), row))
        .filter(|(verdict, _)| verdict.decision == Decision::Allow)
        .collect();
    let mut names: BTreeSet<String> = ["sudo", "rm", "touch", "id", "sh", "curl"].map(str::to_owned).into();
    names.extend(allowed.iter().flat_map(|(verdict, _)| {
        verdict.each_part().filter_map(|part| part.program.clone()).collect::<Vec<_>>()
    }));
    let recorders = Recorders::new(names);
    let (mut seen, mut wrong) = (0, Vec::new());
    for (verdict, row) in &allowed {
        // These would start the real programs, and go on by themselves.
        if row.command.contains("while true") || row.command.contains("until false") {
            continue;
        }
        for call in recorders.calls(&fixture, &row.command) {
            seen += 1;
            if !is_listed(verdict, &call) {
                wrong.push(format!("{}: {:?} starts {call:?}", row.place, row.command));
            }
        }
    }
    assert!(seen > 700, "only {seen} calls were seen");
    assert!(wrong.is_empty(), "{} of {seen}\n{}", wrong.len(), wrong.join("\n"));
}

/// Words with a meaning to a shell, a command that reads, one that is forbidden, a word and a number.
const PIECES: &[&str] = &[
    "(",
    ")",
    "{ ",
    "; }",
    "{",
    "}",
    " ",
    "\n",
    ";",
    "&",
    "|",
    "<",
    ">",
    "#",
    "=",
    "$",
    "`",
    "\"",
    "'",
    "\\",
    "!",
    "[",
    "]",
    "*",
    "~",
    "-",
    "ls",
    "sudo",
    "a",
    "1",
    "if ",
    "then ",
    "fi",
    "for ",
    "in ",
    "do ",
    "done",
    "case ",
    "esac",
    "function ",
    "time ",
    "coproc ",
    "[[ ",
    " ]]",
    "$(",
    "<(",
    "while ",
    "+=",
    "$((",
    "))",
    "<<",
    "EOF\n",
    "${",
    ",",
    ":",
    "ls;",
    "a=",
];

/// Allowed commands: bash has to accept them, and start the listed programs.
struct Check {
    fixture: Fixture,
    recorders: Recorders,
    tried: u64,
    allowed: u64,
    wrong: Vec<String>,
}

impl Check {
    fn new(names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let recorders = Recorders::new(names);
        Self { fixture: Fixture::new(), recorders, tried: 0, allowed: 0, wrong: Vec::new() }
    }

    fn check(&mut self, text: &str) {
        self.tried += 1;
        let verdict = self.fixture.judge(text);
        if verdict.decision != Decision::Allow {
            return;
        }
        self.allowed += 1;
        if !bash(&self.fixture).args(["-n", "-c", "--", text]).status().unwrap().success() {
            self.wrong.push(format!("{text:?} is allowed, and bash does not take it"));
        }
        for call in self.recorders.calls(&self.fixture, text) {
            if !is_listed(&verdict, &call) {
                self.wrong.push(format!("{text:?} is allowed, and starts {call:?}"));
            }
        }
    }

    fn end(&self, least: u64) {
        assert!(self.allowed >= least, "only {} of {}", self.allowed, self.tried);
        assert!(self.wrong.is_empty(), "{} of {}\n{}", self.wrong.len(), self.allowed, self.wrong.join("\n"));
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |number| number.parse().unwrap())
}

/// All texts of one or two pieces, and some of more, the same each time; all of up to `PIECES` pieces, and `RANDOM` others
/// that begin with `SEED`, where the environment says so:
/// `PIECES=3 RANDOM=1000000 SEED=1 cargo nextest run --release -p shell-verdict -E 'test(short_texts)'`.
#[test]
fn bash_takes_short_texts_that_are_allowed_and_starts_what_the_verdict_lists() {
    let mut check = Check::new(["ls", "sudo", "a", "1", "a1", "1a", "lsa", "EOF"]);
    for length in 1..=number("PIECES", 2) {
        each(length, &mut String::new(), &mut |text| check.check(text));
    }
    let mut chance = Chance::of(&number("SEED", 0).to_string());
    for _ in 0..number("RANDOM", 3000) {
        let count = 3 + chance.below(8);
        let text: String = (0..count).map(|_| PIECES[chance.below(PIECES.len())]).collect();
        check.check(&text);
    }
    check.end(50);
}

/// Each row is altered `ALTERED` times, beginning with `SEED`.
#[test]
fn bash_takes_altered_rows_that_are_allowed_and_starts_what_the_verdict_lists() {
    let rows = rows();
    let fixture = Fixture::shared();
    let names: BTreeSet<String> = rows
        .iter()
        .flat_map(|row| {
            fixture
                .judge(&row.command)
                .each_part()
                .filter_map(|part| part.program.clone())
                .collect::<Vec<_>>()
        })
        .collect();
    let mut check = Check::new(names);
    let mut chance = Chance::of(&format!("rows {}", number("SEED", 0)));
    for row in &rows {
        for _ in 0..number("ALTERED", 1) {
            let text = altered(&row.command, &mut chance);
            // The recorders have a path of their own, and are no others.
            if !["while", "until", "PATH", "/bin"].iter().any(|word| text.contains(word)) {
                check.check(&text);
            }
        }
    }
    check.end(300);
}

fn each(length: u64, text: &mut String, check: &mut dyn FnMut(&str)) {
    if length == 0 {
        return check(text);
    }
    for piece in PIECES {
        let before = text.len();
        text.push_str(piece);
        each(length - 1, text, check);
        text.truncate(before);
    }
}
