//! `cargo xtask ci`: everything that must hold before a change lands.

use std::time::{Duration, Instant};

use crate::tally::Tally;
use crate::test::Selection;
use crate::workspace::{self, Result, Workspace};
use crate::{docs, provision, test, tidy, timing};

/// Runs every step, whatever became of those before it; an error if any failed.
pub(crate) fn run(workspace: &Workspace) -> Result {
    let mut report = Report::default();
    let mut tally = Tally::default();
    report.step("format", || {
        workspace::in_each(|which| workspace.run(&[&["cargo", "fmt", "--all", "--check"], which].concat()))
    });
    report.step("clippy", || clippy(workspace));
    report.step("docs", || docs::run(workspace));
    report.step("deny", || deny(workspace));
    report.step("tidy", || tidy::run(workspace));
    report.step("features", || features(workspace));
    report.step("readme", || first_command(workspace));
    // Last, so that what the tests say closes the output.
    report.step("test", || test::run(workspace, &Selection::default(), &mut tally));
    report.step("long", || test::long(workspace, &mut tally));
    println!("\n{}{}\ntests: {tally}", report.table(), timing::slowest());
    report.verdict()
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

/// Checks each feature of each crate that is published, alone and without dev-dependencies.
fn features(workspace: &Workspace) -> Result {
    provision::ensure(workspace, provision::FOR_FEATURES)?;
    let check =
        ["cargo", "hack", "check", "--workspace", "--ignore-private", "--each-feature", "--no-dev-deps"];
    let alone = ["--exclude-all-features", "--exclude-no-default-features"];
    workspace.run(&[&check[..], &alone].concat())
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
    fn all_steps_passed() {
        let mut report = Report::default();
        report.step("only", || Ok(()));
        assert!(report.verdict().is_ok());
    }
}
