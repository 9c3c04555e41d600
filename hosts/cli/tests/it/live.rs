//! Messages of a call while it runs, on a terminal.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::fixture;

use fixture::terminal::Terminal;
use fixture::{command, finish, program};
use std::fs;
use std::path::Path;
use std::process::Command;

const PROMPT: &str = "said to the model: ";

fn running(line: &str, directory: &Path) -> Terminal {
    Terminal::running(line, |mut command: Command| {
        command.current_dir(directory).env("NO_COLOR", "1");
        command
            .env("TOOLKIT_DATA_DIR", directory.join("data"))
            .env("TOOLKIT_CONFIG_DIR", directory.join("user"));
        command
    })
}

fn seen_of(line: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    running(line, directory.path()).end().0.replace("\r\n", "\n")
}

#[test]
fn progress_and_parts_appear_on_a_terminal_and_nothing_twice() {
    let program = program();
    let work = format!("'{}' call work", program.display());
    assert_eq!(seen_of(&work), "1 of 2: half \\u{1b}[2Jdone\none\ntwo\nthree\n");
    // The output that goes elsewhere is whole.
    let piped = seen_of(&format!("{work} > out; echo ---; cat out"));
    assert_eq!(piped, "1 of 2: half \\u{1b}[2Jdone\none\ntwo\n---\none\ntwo\nthree\n");
    let json = seen_of(&format!("'{}' -o json call work", program.display()));
    assert!(json.starts_with('{') && !json.contains("1 of 2"), "{json}");
    let no_terminal = finish(&mut command(["call", "work"]));
    assert_eq!((no_terminal.err.as_str(), no_terminal.out.as_str()), ("", "one\ntwo\nthree\n"));
    assert_eq!(seen_of(&format!("{work} 2> err > out; wc -c < err; cat out")).trim(), "0\none\ntwo\nthree");
}

#[test]
fn nothing_is_written_into_a_question() {
    let directory = tempfile::tempdir().unwrap();
    let line = format!("'{}' call work --ask", program().display());
    let terminal = running(&line, directory.path()).until(PROMPT).type_in("y\n");
    let (seen, code) = terminal.end();
    let seen = seen.replace("\r\n", "\n");
    let (before, after) = seen.split_once(PROMPT).unwrap();
    assert_eq!(code, Some(0));
    assert!(before.contains("Permission needed: work") && !before.contains("while asked"), "{seen}");
    // From the question on, nothing came in between.
    let question = before.split_once("Permission needed").unwrap().1;
    assert!(!question.contains("one\n"), "{seen}");
    let answered = after.split_once('\n').unwrap();
    assert_eq!(answered.0.trim(), "y", "{seen}");
    assert!(answered.1.ends_with("while asked\ntwo\none\ntwo\nthree\n"), "{seen}");
}

#[cfg(all(feature = "runtime", target_os = "linux"))]
#[test]
fn the_output_of_a_command_comes_while_it_runs() {
    let directory = tempfile::tempdir().unwrap();
    let work = directory.path().join("work");
    fs::create_dir(&work).unwrap();
    let command = "touch begun; echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 3";
    let line = format!("'{}' call exec --command '{command}'", env!("CARGO_BIN_EXE_toolkit"));
    let terminal = Terminal::running(&line, |mut command: Command| {
        command.current_dir(&work).env("NO_COLOR", "1");
        command.env("TOOLKIT_DATA_DIR", directory.path().join("data"));
        command.env("TOOLKIT_CONFIG_DIR", directory.path().join("user"));
        command
    });
    let terminal = terminal.until(PROMPT).type_in("y\n").until("\none\r\n");
    fs::write(work.join("go"), "").unwrap();
    let (seen, code) = terminal.end();
    let seen = seen.replace("\r\n", "\n");
    let after = seen.split_once(PROMPT).unwrap().1;
    assert_eq!(code, Some(1), "{seen}");
    assert_eq!(after.matches("one\n").count(), 1, "{seen}");
    assert!(after.contains("one\ntwo\nerror: [exit code 3, after "), "{seen}");
}
