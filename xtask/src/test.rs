//! `cargo xtask test`: runs the tests of the workspace, after installing the programs that they need.

use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::manifest;
use crate::provision;
use crate::tally::{self, Tally};
use crate::timing;
use crate::workspace::{self, Result, Workspace};

/// The tests to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Packages; all if empty.
    packages: Vec<String>,
    /// A part of the names of the tests; `None` for all.
    filter: Option<String>,
}

impl Selection {
    /// Reads `[-p CRATE]… [FILTER]`; a crate is the name of a package, or its folder in `repository`.
    pub(crate) fn parse(repository: &Path, args: &[String]) -> Result<Self> {
        let mut selection = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "-p" | "--package" => {
                    let package = args.next().ok_or_else(|| format!("`{arg}` needs the name of a crate"))?;
                    selection
                        .packages
                        .push(manifest::package_at(repository, package)?.unwrap_or_else(|| package.clone()));
                }
                option if option.starts_with('-') => {
                    return Err(format!("unexpected option `{option}`: usage is {USAGE}").into());
                }
                _ if selection.filter.is_some() => {
                    return Err(format!("unexpected argument `{arg}`: usage is {USAGE}").into());
                }
                filter => selection.filter = Some(filter.to_owned()),
            }
        }
        Ok(selection)
    }

    /// Cargo's arguments for the packages.
    fn packages(&self) -> Vec<&str> {
        if self.packages.is_empty() {
            return vec!["--workspace"];
        }
        self.packages.iter().flat_map(|package| ["-p", package.as_str()]).collect()
    }

    /// Cargo's arguments for each workspace that is concerned.
    fn workspaces(&self) -> &'static [&'static [&'static str]] {
        // A package that is named is one of the main workspace.
        if self.packages.is_empty() { &workspace::WORKSPACES } else { &workspace::WORKSPACES[..1] }
    }
}

pub(crate) const USAGE: &str = "`cargo xtask test [-p CRATE]… [FILTER]`";

/// Apart from running them, so that the duration of each is known.
const BUILD_TESTS: &[&str] = &["cargo", "nextest", "run", "--no-run"];

/// Runs the selected tests and closes the output with their number.
pub(crate) fn subcommand(workspace: &Workspace, args: &[String]) -> Result {
    let selection = Selection::parse(workspace.root(), args)?;
    let mut tally = Tally::default();
    let result = run(workspace, &selection, &mut tally);
    println!("{}\ntests: {tally}", timing::slowest());
    if tally.skipped > 0 {
        println!(
            "Skipped are tests that take minutes, which `cargo xtask long` runs, and those that the filter leaves out."
        );
    }
    result
}

/// Runs the selected tests, including ignored ones and doctests, and adds them to the tally.
pub(crate) fn run(workspace: &Workspace, selection: &Selection, tally: &mut Tally) -> Result {
    provision::ensure(workspace, provision::FOR_BUILDING_TESTS)?;
    // Downloads wait for the network, compiling for the processor.
    let (built, provided) = thread::scope(|scope| {
        let provided = scope
            .spawn(|| provision::ensure(workspace, provision::FOR_TESTS).map_err(|error| error.to_string()));
        let built = selection.workspaces().iter().try_for_each(|which| {
            workspace.run(&[BUILD_TESTS, &selection.packages(), &["--all-features"], which].concat())
        });
        (
            built,
            provided
                .join()
                .unwrap_or_else(|_| Err("the installation of what tests need panicked".to_owned())),
        )
    });
    provided?;
    built?;
    let before = tally.passed;
    let mut failures = Vec::new();
    for which in selection.workspaces() {
        let results = [
            nextest(workspace, selection, which, "default", tally),
            doc_tests(workspace, selection, which, tally),
        ];
        failures.extend(results.into_iter().filter_map(|result| result.err().map(|error| error.to_string())));
    }
    if !failures.is_empty() {
        return Err(failures.join("\n").into());
    }
    if tally.passed == before {
        return Err("no test ran".into());
    }
    Ok(())
}

/// Numbers of cases of property tests for longer runs; campaigns set higher ones. No name begins with `TOOLKIT_`: the command, which some of these tests
/// run, reads such variables as configuration.
const MORE_CASES: &[(&str, &str)] = &[
    ("APPROVAL_CASES", "300"),
    ("CANVAS_CASES", "500"),
    ("COMMAND_ROWS_EVERY", "1"),
    ("MODEL_CONVERSATIONS", "2000"),
    ("PERMISSION_CASES", "10000"),
    ("SHELL_VERDICT_EVERY", "3"),
    ("SCHEMA_CASES", "400"),
];

/// The seed of proptest's cases. A change is judged by cases that do not depend on chance; `PROPTEST_RNG_SEED=N cargo xtask test` tries
/// others, as `cargo test` does.
const SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "20261126");

/// `cargo xtask long`: runs the tests that take minutes, and properties with more cases.
pub(crate) fn long(workspace: &Workspace) -> Result {
    provision::ensure(workspace, provision::FOR_BUILDING_TESTS)?;
    provision::ensure(workspace, provision::FOR_TESTS)?;
    let mut tally = Tally::default();
    let result = nextest(workspace, &Selection::default(), &[], "long", &mut tally);
    println!("{}\ntests: {tally}", timing::slowest());
    result
}

/// Runs those of the long tests that a change must pass before it lands.
pub(crate) fn short_of_long(workspace: &Workspace, tally: &mut Tally) -> Result {
    let mut of_long = Tally::default();
    let result = nextest(workspace, &Selection::default(), &[], "short", &mut of_long);
    // The others were run before.
    of_long.skipped = 0;
    *tally += of_long;
    tally.skipped = tally.skipped.saturating_sub(of_long.passed + of_long.failed);
    result
}

fn nextest(
    workspace: &Workspace,
    selection: &Selection,
    which: &[&str],
    profile: &str,
    tally: &mut Tally,
) -> Result {
    let packages = selection.packages();
    let of = [&packages[..], &["--all-features"], which].concat();
    let all = ["--run-ignored", "all", "--no-fail-fast", "--no-tests", "pass", "--profile", profile];
    let filter: Vec<&str> = selection.filter.as_deref().into_iter().collect();
    let mut command = workspace.command(&[&["cargo", "nextest", "run"][..], &of, &all, &filter].concat());
    if profile == "default" {
        command.arg("--test-threads").arg(threads().to_string());
    }
    if std::env::var_os(SEED.0).is_none() {
        command.env(SEED.0, SEED.1);
    }
    if profile == "long" {
        command.envs(MORE_CASES.iter().copied());
    }
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
            timing::record_test(&tally::without_colors(line));
        },
    );
    *tally += summary;
    result
}

/// The number of tests that run at once: more than there are processors, since many wait for a browser, a server or a clock.
fn threads() -> usize {
    2 * thread::available_parallelism().map_or(1, NonZero::get)
}

fn doc_tests(workspace: &Workspace, selection: &Selection, which: &[&str], tally: &mut Tally) -> Result {
    if !selection.packages.is_empty() && !selection.packages.iter().any(|name| has_library(workspace, name)) {
        // Cargo takes that for a mistake.
        return Ok(());
    }
    let packages = selection.packages();
    let run: &[&str] = &["cargo", "test", "--doc", "--all-features", "--no-fail-fast"];
    let mut command = workspace.command(&[run, &packages[..], which].concat());
    if let Some(filter) = &selection.filter {
        command.args(["--", filter]);
    }
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

/// Returns true if the package has a library, which documentation tests are about.
fn has_library(workspace: &Workspace, package: &str) -> bool {
    let output = workspace.command(&["cargo", "pkgid", "-p", package]).output();
    let id = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let folder = id.strip_prefix("path+file://").and_then(|rest| rest.split(['#', '?']).next());
    folder.is_some_and(|folder| Path::new(folder).join("src/lib.rs").exists())
}

/// Runs a command to its end, passing on one of its streams while showing each line of it to `watch`.
pub(crate) fn run_watched<R: Read>(
    command: &mut Command,
    stream: fn(&mut std::process::Child) -> Option<R>,
    mut onto: impl Write,
    mut watch: impl FnMut(&str),
) -> Result {
    workspace::announce(command);
    timing::record(workspace::command_line(command), || {
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Selection> {
        let repository = Workspace::locate()?.root().to_owned();
        Selection::parse(&repository, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn numbers_of_cases_are_no_configuration_of_the_command() {
        assert!(MORE_CASES.iter().all(|(name, _)| !name.starts_with("TOOLKIT_")));
    }

    #[test]
    fn packages_and_a_filter_are_read() {
        let all = parse(&[]).unwrap();
        assert_eq!(
            (all.packages(), all.workspaces().len()),
            (vec!["--workspace"], workspace::WORKSPACES.len())
        );
        let some = parse(&["-p", "hosts/cli", "--package", "xtask", "names"]).unwrap();
        assert_eq!(some.packages(), ["-p", "toolkit-cli", "-p", "xtask"]);
        assert_eq!((some.filter.as_deref(), some.workspaces().len()), (Some("names"), 1));
    }

    /// The packages of these folders have other names, because the registry's are taken.
    #[test]
    fn crates_are_found_by_their_folders() {
        let some = parse(&["-p", "toolkit", "-p", "builtin-tools"]).unwrap();
        assert_eq!(some.packages(), ["-p", "agent-toolkit", "-p", "toolkit-builtin-tools"]);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for words in [&["-p"][..], &["--quick"], &["a", "b"]] {
            parse(words).unwrap_err();
        }
    }
}
