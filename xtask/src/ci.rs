//! `cargo xtask ci`: everything that must hold before a change lands.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::tally::Tally;
use crate::test::Selection;
use crate::workspace::{self, Result, Workspace};
use crate::{docs, held, provision, test, tidy, timing, tree};

/// Runs every step, even if one before it fails; an error if any failed.
///
/// The checks run beside the tests as a process of their own, with a target directory of their own and a low priority. Checks share no
/// compiled crate with tests except procedural macros, and tests leave the processors idle where they wait. With the lowest priority
/// most checks would come after the tests, when they alone do not use two processors: a compiler's analysis is one thread.
pub(crate) fn run(workspace: &Workspace) -> Result {
    let mut report = Report::default();
    let mut tally = Tally::default();
    let checks = start_checks(workspace);
    report.step("readme", || first_command(workspace));
    report.step("test", || test::run(workspace, &Selection::default(), &mut tally));
    report.step("long", || test::short_of_long(workspace, &mut tally));
    report.step("checks", || end_checks(workspace, checks?));
    // Last, so that the number of tests closes the output.
    println!("\n{}{}\ntests: {tally}", report.table(), timing::slowest());
    report.verdict()
}

/// `cargo xtask checks`: all of CI that runs no test and not the command.
pub(crate) fn checks(workspace: &Workspace) -> Result {
    let mut report = Report::default();
    report.step("format", || {
        workspace::in_each(|which| workspace.run(&[&["cargo", "fmt", "--all", "--check"], which].concat()))
    });
    report.step("tidy", || tidy::run(workspace));
    report.step("clippy", || clippy(workspace));
    report.step("docs", || docs::run(workspace));
    report.step("features", || features(workspace));
    report.step("deny", || deny(workspace));
    println!("\n{}", report.table());
    report.verdict()
}

/// The directory of the checks' build products, output and sources, relative to the repository's root.
const CHECKS: &str = "target/checks";

fn start_checks(workspace: &Workspace) -> Result<Child> {
    let directory = workspace.root().join(CHECKS);
    fs::create_dir_all(&directory)?;
    let log = File::create(directory.join("log"))?;
    let program = std::env::current_exe()?;
    // On a machine without `nice` the checks compete with the tests.
    let low: &[&str] =
        if workspace.succeeds(&["nice", "true"]) { &["nice", "-n", "10", "env"] } else { &["env"] };
    let mut command = workspace.command(low);
    command.arg(program).arg("checks").env("CARGO_TARGET_DIR", &directory);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    workspace::announce(&command);
    command.spawn().map_err(|error| workspace::cannot_start(&command, &error).into())
}

/// Waits for the checks and prints their output.
fn end_checks(workspace: &Workspace, mut checks: Child) -> Result {
    let status = checks.wait()?;
    print!("{}", String::from_utf8_lossy(&fs::read(workspace.root().join(CHECKS).join("log"))?));
    if status.success() { Ok(()) } else { Err(format!("`cargo xtask checks`: {status}").into()) }
}

fn clippy(workspace: &Workspace) -> Result {
    workspace::in_each(|which| {
        let lints: &[&str] = &["cargo", "clippy", "--workspace", "--all-targets", "--all-features"];
        workspace.run(&[lints, which, &["--", "-D", "warnings"]].concat())
    })
}

/// Advisories are left out: their database is fetched from outside the package registries.
fn deny(workspace: &Workspace) -> Result {
    provision::ensure(workspace, provision::FOR_DENY)?;
    workspace.run(&["cargo", "deny", "check", "licenses", "bans", "sources"])?;
    // Which versions there are beside each other is up to the frameworks.
    let config = workspace.root().join("deny.toml");
    let mut adapters =
        workspace.command(&["cargo", "deny", "--manifest-path", "adapters/Cargo.toml", "--config"]);
    workspace::run(adapters.arg(config).args(["check", "licenses", "sources"]))
}

/// Packages that are checked with their default features: the one that people install, and one that has no features of `toolkit`. For the
/// other packages, the default features are those that are checked alone.
const BY_DEFAULT: &[&str] = &["toolkit-cli", "lean"];

/// The command. Its features are those of the host, and each compiles most crates anew: a change is checked with none and with the default ones,
/// and `cargo xtask features` checks each.
const COMMAND: &str = "toolkit-cli";

/// Packages whose features are checked beside those of the others: about half of the work.
const BESIDE: &[&str] = &["toolkit-host", "toolkit-mcp"];

/// `cargo xtask features`: checks each feature of the command alone.
pub(crate) fn features_of_command(workspace: &Workspace) -> Result {
    provision::ensure(workspace, provision::FOR_FEATURES)?;
    let checks = workspace.root().join(CHECKS);
    fs::create_dir_all(&checks)?;
    let selection = [EACH_FEATURE, &["--package", COMMAND]].concat();
    let copy = checks.join("sources");
    without_warnings(check_features(workspace, &copy, &checks, &[&selection], &mut std::io::stderr())?)
}

/// Checks each feature of each crate that is published, but [those of the command](COMMAND), alone and without dev-dependencies. Warnings are errors.
///
/// A feature changes the crates that all others are built on, so the compiler mostly has one crate to check, which is one thread. Two
/// halves use two processors, each with build products and sources of its own.
fn features(workspace: &Workspace) -> Result {
    provision::ensure(workspace, provision::FOR_FEATURES)?;
    let checks = workspace.root().join(CHECKS);
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.root().join("target"), PathBuf::from);
    let beside = checks.join("beside");
    if target == checks && !beside.exists() {
        // Both begin with the products of the checks before.
        fs::create_dir_all(&beside)?;
        let products = [checks.join("debug"), beside.join("debug")];
        let mut copy = workspace.command(&["cp", "--archive", "--reflink=auto"]);
        workspace::run(copy.args(products))?;
    }
    let packages = |option: &'static str, names: &[&'static str]| -> Vec<&'static str> {
        names.iter().flat_map(|name| [option, *name]).collect()
    };
    let elsewhere = packages("--exclude", &[BESIDE, &[COMMAND]].concat());
    let alone = [EACH_FEATURE, &["--workspace", "--ignore-private"], &elsewhere].concat();
    let alone_beside = [EACH_FEATURE, &packages("--package", BESIDE)].concat();
    let by_default = packages("--package", BY_DEFAULT);
    let without = ["--no-default-features", "--package", COMMAND];
    let mut output = Vec::new();
    let (here, there) = thread::scope(|scope| {
        let there = scope.spawn(|| {
            let selections = [&alone_beside[..], &by_default, &without];
            let copy = beside.join("sources");
            check_features(workspace, &copy, &beside, &selections, &mut output)
                .map_err(|error| error.to_string())
        });
        let copy = checks.join("sources");
        let here = check_features(workspace, &copy, &target, &[&alone], &mut std::io::stderr());
        (here, there.join().unwrap_or_else(|_| Err("the check of features panicked".to_owned())))
    });
    std::io::stderr().write_all(&output)?;
    without_warnings(here? + there?)
}

fn without_warnings(warnings: usize) -> Result {
    if warnings > 0 {
        return Err(format!("a feature alone compiles with warnings: {warnings} in the output above").into());
    }
    Ok(())
}

/// Arguments of cargo-hack for all features of a package but `default`, each alone.
const EACH_FEATURE: &[&str] = &[
    "--each-feature",
    "--exclude-features",
    "default",
    "--exclude-all-features",
    "--exclude-no-default-features",
];

/// Runs `cargo hack check` for each selection in a copy of the sources; returns the number of warnings.
fn check_features(
    workspace: &Workspace,
    copy: &Path,
    target: &Path,
    selections: &[&[&str]],
    onto: &mut impl Write,
) -> Result<usize> {
    // cargo-hack takes the dev-dependencies out of the manifests while it runs, which no other step may see.
    tree::copy(workspace, copy)?;
    let mut warnings = 0;
    let mut check = |selection: &&[&str]| {
        let mut command: Command =
            workspace.command(&[&["cargo", "hack", "check", "--no-dev-deps"], *selection].concat());
        command.current_dir(copy).env("CARGO_TARGET_DIR", target).stderr(Stdio::piped());
        // `RUSTFLAGS="-D warnings"` would have every dependency checked anew. Cargo repeats the warnings of a crate that it need not check again.
        let watch = |line: &str| warnings += usize::from(is_warning(line));
        test::run_watched(&mut command, |child| child.stderr.take(), &mut *onto, watch)
    };
    let checked = held::add(workspace, copy).and_then(|()| selections.iter().try_for_each(&mut check));
    // Cargo takes products of the copy for products of the repository, and for fresh ones as long as the copy is there.
    fs::remove_dir_all(copy)?;
    checked.map(|()| warnings)
}

/// Returns true for the first line of a compiler warning. Cargo's count of the warnings of a crate begins the same way, and cargo-hack's
/// own remarks are about manifests.
fn is_warning(line: &str) -> bool {
    let line = crate::tally::without_colors(line);
    line.starts_with("warning: ") && !line.contains(" generated ") && !line.contains("cargo-hack")
}

/// The README's first command, word for word.
fn first_command(workspace: &Workspace) -> Result {
    let readme = std::fs::read_to_string(workspace.root().join("README.md"))?;
    let block = readme.split_once("```sh\n").and_then(|(_, rest)| rest.split_once("\n```"));
    let (command, _) = block.ok_or("README.md has no block of shell commands")?;
    workspace.run(&["sh", "-c", command])
}

#[derive(Default)]
struct Report {
    steps: Vec<Step>,
}

struct Step {
    name: &'static str,
    result: Result,
    elapsed: Duration,
}

impl Report {
    fn step(&mut self, name: &'static str, run: impl FnOnce() -> Result) {
        println!("\n==> {name}");
        let start = Instant::now();
        let step = Step { name, result: run(), elapsed: start.elapsed() };
        if let Err(error) = &step.result {
            eprintln!("error: {error}");
        }
        println!("<== {name}: {} after {:.1} s", step.outcome(), step.elapsed.as_secs_f64());
        self.steps.push(step);
    }

    fn table(&self) -> String {
        let head = format!("{:<8} {:<6} {:>8}\n", "step", "result", "seconds");
        let rows = self.steps.iter().map(|step| {
            format!("{:<8} {:<6} {:>8.1}\n", step.name, step.outcome(), step.elapsed.as_secs_f64())
        });
        std::iter::once(head).chain(rows).collect()
    }

    fn verdict(&self) -> Result {
        let failed: Vec<&str> =
            self.steps.iter().filter(|step| step.result.is_err()).map(|step| step.name).collect();
        if failed.is_empty() { Ok(()) } else { Err(format!("failed steps: {}", failed.join(", ")).into()) }
    }
}

impl Step {
    fn outcome(&self) -> &'static str {
        if self.result.is_ok() { "pass" } else { "FAIL" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_neither_stops_the_rest_nor_is_forgotten() {
        let mut report = Report::default();
        report.step("first", || Err("broken".into()));
        report.step("second", || Ok(()));
        let table = report.table();
        let rows: Vec<Vec<&str>> =
            table.lines().map(|line| line.split_whitespace().take(2).collect()).collect();
        assert_eq!(rows, [["step", "result"], ["first", "FAIL"], ["second", "pass"]]);
        assert_eq!(report.verdict().unwrap_err().to_string(), "failed steps: first");
    }

    #[test]
    fn warnings_of_the_compiler_are_told_from_other_lines() {
        for (line, expected) in [
            ("warning: unused variable: `models`", true),
            ("\u{1b}[1m\u{1b}[33mwarning\u{1b}[0m\u{1b}[1m: unused import\u{1b}[0m", true),
            ("warning: `toolkit-cli` (lib) generated 1 warning", false),
            ("    Checking toolkit-cli v0.1.0", false),
            ("  |     ^^^ help: a warning: follows", false),
        ] {
            assert_eq!(is_warning(line), expected, "{line}");
        }
    }

    #[test]
    fn all_steps_passed() {
        let mut report = Report::default();
        report.step("only", || Ok(()));
        assert!(report.verdict().is_ok());
    }
}
