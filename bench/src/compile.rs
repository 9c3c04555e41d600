//! Measures the compile time of tools. A crate of many tools is generated for each contender; its dependencies are built
//! first, then the crate alone is measured. A crate with one tool is built from nothing.

mod contender;
mod generated;
mod handwritten;
mod llm_tool;
mod ours;
mod report;
mod rig;
mod rmcp;
mod tools_rs;

use std::path::{Path, PathBuf};

use crate::command::Cost;
use crate::{Result, machine, results};
use contender::{Contender, expected_output};
use generated::{Generated, Mode};

const CONTENDERS: [&dyn Contender; 6] =
    [&ours::Ours, &handwritten::HandWritten, &tools_rs::ToolsRs, &rmcp::Rmcp, &llm_tool::LlmTool, &rig::Rig];

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    /// Tools in the generated crate.
    tools: usize,
    /// Repetitions of each measurement.
    rounds: usize,
    /// Names of contenders, or none for all.
    only: Vec<String>,
    skip_cold: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { tools: 200, rounds: 3, only: Vec::new(), skip_cold: false }
    }
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
            match &*argument {
                "--tools" => options.tools = crate::at_least_one(&value()?)?,
                "--rounds" => options.rounds = crate::at_least_one(&value()?)?,
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                "--skip-cold" => options.skip_cold = true,
                other => return Err(format!("`bench compile` has no option `{other}`").into()),
            }
        }
        let known: Vec<_> = CONTENDERS.iter().map(|contender| contender.name()).collect();
        if let Some(unknown) = options.only.iter().find(|name| !known.contains(&&***name)) {
            return Err(format!("no contender is called `{unknown}`; there are {}", known.join(", ")).into());
        }
        Ok(options)
    }

    fn contenders(&self) -> impl Iterator<Item = &'static dyn Contender> {
        CONTENDERS
            .into_iter()
            .filter(|contender| self.only.is_empty() || self.only.iter().any(|name| name == contender.name()))
    }
}

/// Everything measured of one contender.
struct Measured {
    name: &'static str,
    /// The crates that its crate names, with their versions.
    direct_dependencies: Vec<String>,
    /// `cargo check` of the crate alone, one a round.
    check: Vec<Cost>,
    /// `cargo build --release` of the crate alone, one a round.
    release: Vec<Cost>,
    /// The same with one tool only: what of it isn't the tools'.
    release_one: Vec<Cost>,
    /// Size of the release binary in bytes, as cargo left it and without symbols.
    binary: u64,
    stripped: u64,
    /// Crates that the one-tool crate depends on, directly or not.
    crates: usize,
    /// Debug build of the one-tool crate and of all it depends on, one a round; empty if it was left out.
    cold: Vec<Cost>,
}

/// Measures, prints the report and writes it down.
///
/// # Errors
///
/// When a generated crate doesn't build or prints other than all the others do.
pub(crate) fn run(options: &Options) -> Result<()> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut measured = Vec::new();
    let mut generated = Vec::new();
    for contender in options.contenders() {
        eprintln!("{}: building the dependencies", contender.name());
        let many = Generated::write(bench, "compile", contender, &contender.source(options.tools))?;
        many.cargo(Mode::Check)?;
        many.cargo(Mode::Release)?;
        many.must_print(Mode::Release, &expected_output(options.tools))?;
        let one = Generated::write(bench, "cold", contender, &contender.one_tool_source())?;
        measured.push(Measured {
            name: contender.name(),
            direct_dependencies: one.direct_dependencies()?,
            check: Vec::new(),
            release: Vec::new(),
            release_one: Vec::new(),
            binary: many.binary_size()?,
            stripped: many.stripped_size()?,
            crates: one.crates()?,
            cold: Vec::new(),
        });
        generated.push((many, one));
    }
    // Rounds, and not one contender after the other: what else the machine does then meets all alike.
    for round in 1..=options.rounds {
        for ((measured, contender), (many, one)) in
            measured.iter_mut().zip(options.contenders()).zip(&generated)
        {
            eprintln!("round {round} of {}: {}", options.rounds, measured.name);
            let source = contender.source(options.tools);
            measured.release_one.push(many.cargo_crate_alone(&contender.one_tool_source(), Mode::Release)?);
            measured.release.push(many.cargo_crate_alone(&source, Mode::Release)?);
            measured.check.push(many.cargo_crate_alone(&source, Mode::Check)?);
            if !options.skip_cold {
                one.clean()?;
                measured.cold.push(one.cargo(Mode::Debug)?.cost);
                one.must_print(Mode::Debug, &expected_output(1))?;
            }
        }
    }

    let report = report::write(options, &machine::describe()?, &measured);
    println!("{report}");
    let path = results_file(bench, options);
    results::replace_section(&path, "compile", &report)?;
    eprintln!("written to {}", path.display());
    Ok(())
}

/// A run of less than everything must not pass for the result.
fn results_file(bench: &Path, options: &Options) -> PathBuf {
    let folder = if *options == Options::default() { bench.to_owned() } else { bench.join("target") };
    folder.join("RESULTS.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read() {
        assert_eq!(parse("").unwrap(), Options::default());
        let options = parse("--tools 10 --rounds 1 --only rig,ours --skip-cold").unwrap();
        let only = vec!["rig".to_owned(), "ours".to_owned()];
        assert_eq!(options, Options { tools: 10, rounds: 1, only, skip_cold: true });
        let names: Vec<_> = options.contenders().map(Contender::name).collect();
        assert_eq!(names, ["ours", "rig"]);
    }

    #[test]
    fn wrong_options_are_refused() {
        for line in ["--tools", "--tools 0", "--rounds x", "--only nobody", "--fast"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn only_a_full_run_writes_the_results() {
        let bench = Path::new("bench");
        assert_eq!(results_file(bench, &Options::default()), Path::new("bench/RESULTS.md"));
        let partial = parse("--skip-cold").unwrap();
        assert_eq!(results_file(bench, &partial), Path::new("bench/target/RESULTS.md"));
    }
}
