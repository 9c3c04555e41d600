//! What bash makes of the commands that are allowed: it starts no other programs than the verdict lists, with no other words.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod common;

use common::{Fixture, rows};
use shell_verdict::{Decision, Part, Verdict};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that notes how it was called in a file of its own: its name and words, each with a zero after it.
const RECORDER: &str = "#!/bin/sh\nprintf '%s\\0' \"${0##*/}\" \"$@\" > \"$RECORD/$$\"\n";

/// The calls that bash makes for a command, where every program is a recorder.
fn calls(fixture: &Fixture, programs: &Path, record: &Path, command: &str) -> Vec<Vec<String>> {
    fs::create_dir(record).unwrap();
    let mut bash = Command::new("/bin/bash")
        .args(["--noprofile", "--norc", "-c", "--", command])
        .current_dir(&fixture.workspace)
        .env_clear()
        .envs(&fixture.env)
        .env("PATH", programs)
        .env("RECORD", record)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Some go on for ever.
    let until = Instant::now() + Duration::from_secs(2);
    while bash.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            bash.kill().unwrap();
            bash.wait().unwrap();
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
    // What still goes on notes nothing any more. It may just be doing so.
    let _ = fs::remove_dir_all(record);
    calls
}

/// Whether the verdict lists a call.
fn is_listed(verdict: &Verdict, call: &[String]) -> bool {
    verdict.each_part().any(|part| is_of_part(part, call))
}

fn is_of_part(part: &Part, call: &[String]) -> bool {
    let Some(program) = &part.program else { return false };
    if *program != call[0] {
        return false;
    }
    let words = &part.words[1..];
    // What is not known may be any number of words.
    if words.iter().any(Option::is_none) {
        return true;
    }
    let is_same = |(known, seen): (&String, &String)| {
        known == seen || (known.starts_with("/dev/fd/") && seen.starts_with("/dev/fd/"))
    };
    words.len() == call.len() - 1 && words.iter().flatten().zip(&call[1..]).all(is_same)
}

#[test]
fn bash_starts_what_the_verdict_lists() {
    let fixture = Fixture::new();
    let directory = tempfile::tempdir().unwrap();
    let (programs, record) = (directory.path().join("bin"), directory.path().join("record"));
    fs::create_dir(&programs).unwrap();
    let recorder = directory.path().join("recorder");
    fs::write(&recorder, RECORDER).unwrap();
    fs::set_permissions(&recorder, fs::Permissions::from_mode(0o755)).unwrap();
    let allowed: Vec<_> = rows()
        .into_iter()
        .map(|row| (fixture.judge(&row.command), row))
        .filter(|(verdict, _)| verdict.decision == Decision::Allow)
        .collect();
    let mut names: BTreeSet<String> = ["sudo", "rm", "touch", "id", "sh", "curl"].map(str::to_owned).into();
    names.extend(allowed.iter().flat_map(|(verdict, _)| {
        verdict.each_part().filter_map(|part| part.program.clone()).collect::<Vec<_>>()
    }));
    for name in
        names.iter().filter(|name| !name.is_empty() && !name.contains('/') && *name != "." && *name != "..")
    {
        symlink(&recorder, programs.join(name)).unwrap();
    }
    let (mut seen, mut wrong) = (0, Vec::new());
    for (index, (verdict, row)) in allowed.iter().enumerate() {
        // These would start the real programs, and go on by themselves.
        if row.command.contains("while true") || row.command.contains("until false") {
            continue;
        }
        for call in calls(&fixture, &programs, &record.with_extension(index.to_string()), &row.command) {
            seen += 1;
            if !is_listed(verdict, &call) {
                wrong.push(format!("{}: {:?} starts {call:?}", row.place, row.command));
            }
        }
    }
    assert!(seen > 700, "only {seen} calls were seen");
    assert!(wrong.is_empty(), "{} of {seen}\n{}", wrong.len(), wrong.join("\n"));
}
