//! `cargo xtask test`: every test of the workspace, after installing what they need.

use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::process::{Command, Stdio};

use crate::provision;
use crate::tally::Tally;
use crate::workspace::{self, Result, Workspace};

/// Runs every test and closes the output with their number.
pub(crate) fn subcommand(workspace: &Workspace) -> Result {
    let mut tally = Tally::default();
    let result = run(workspace, &mut tally);
    println!("\ntests: {tally}");
    result
}

/// Runs every test, ignored ones and those in documentation included, and adds them to the tally.
pub(crate) fn run(workspace: &Workspace, tally: &mut Tally) -> Result {
    provision::ensure(workspace, provision::FOR_TESTS)?;
    let results = [
        workspace::in_each(|which| nextest(workspace, which, tally)),
        workspace::in_each(|which| doc_tests(workspace, which, tally)),
    ];
    let failures: Vec<String> =
        results.into_iter().filter_map(|result| result.err().map(|error| error.to_string())).collect();
    if !failures.is_empty() {
        return Err(failures.join("\n").into());
    }
    if tally.passed == 0 {
        return Err("no test ran".into());
    }
    Ok(())
}

fn nextest(workspace: &Workspace, which: &[&str], tally: &mut Tally) -> Result {
    let run: &[&str] = &["cargo", "nextest", "run", "--workspace", "--all-features"];
    let all: &[&str] = &["--run-ignored", "all", "--no-fail-fast"];
    let mut command = workspace.command(&[run, which, all].concat());
    let terminal = std::io::stderr();
    if terminal.is_terminal() && std::env::var_os("CARGO_TERM_COLOR").is_none() {
        // The runner sees a pipe, and would take the colours away.
        command.env("CARGO_TERM_COLOR", "always");
    }
    command.stderr(Stdio::piped());
    // A failing test's output is printed before the runner's own summary, and may look like one: the last counts.
    let mut summary = Tally::default();
    let result = run_watched(
        &mut command,
        |child| child.stderr.take(),
        terminal,
        |line| {
            summary = Tally::from_nextest(line).unwrap_or(summary);
        },
    );
    *tally += summary;
    result
}

fn doc_tests(workspace: &Workspace, which: &[&str], tally: &mut Tally) -> Result {
    let run: &[&str] = &["cargo", "test", "--doc", "--workspace", "--all-features", "--no-fail-fast"];
    let mut command = workspace.command(&[run, which].concat());
    command.stdout(Stdio::piped());
    run_watched(
        &mut command,
        |child| child.stdout.take(),
        std::io::stdout(),
        |line| {
            *tally += Tally::from_libtest(line).unwrap_or_default();
        },
    )
}

/// Runs a command to its end, passing on one of its streams while showing each line of it to `watch`.
fn run_watched<R: Read>(
    command: &mut Command,
    stream: fn(&mut std::process::Child) -> Option<R>,
    mut onto: impl Write,
    mut watch: impl FnMut(&str),
) -> Result {
    workspace::announce(command);
    let mut child = command.spawn().map_err(|error| workspace::cannot_start(command, &error))?;
    let mut lines = BufReader::new(stream(&mut child).expect("the stream is piped"));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        onto.write_all(&line)?;
        watch(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
    onto.flush()?;
    workspace::expect_success(command, child.wait()?)
}
