//! Measures a tool call. The crate in `dispatch/` measures; this module builds and runs it, and reports.

mod report;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::series::{self, Series};
use crate::{Result, command, machine, results};

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    /// Repetitions of each measurement.
    rounds: usize,
    /// Names of contenders, or none for all and for what is measured of toolkit alone.
    only: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { rounds: 15, only: Vec::new() }
    }
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
            match &*argument {
                "--rounds" => options.rounds = crate::at_least_one(&value()?)?,
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                other => return Err(format!("`bench dispatch` has no option `{other}`").into()),
            }
        }
        Ok(options)
    }
}

/// Measures, prints the report and writes it down.
///
/// # Errors
///
/// When the measuring programs don't build, a contender's tool returns other than all the others do, or a
/// contender is named that doesn't exist.
pub(crate) fn run(options: &Options) -> Result<()> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    eprintln!("building the contenders");
    command::cargo(bench, &["build", "--release", "--package", "dispatch", "--target-dir", "target"])?;
    let programs = bench.join("target/release");
    let program = |name: &str, arguments: &[String]| -> Result<Vec<Series>> {
        let output = command::run(Command::new(programs.join(name)).args(arguments))?;
        output.stdout.lines().map(Series::parse).collect()
    };

    eprintln!("measuring");
    let mut measured = program("dispatch", &[&[options.rounds.to_string()], &*options.only].concat())?;
    if options.only.is_empty() {
        measured.extend(program("allocations", &[])?);
        for _ in 0..options.rounds {
            for one in program("linked", &[])? {
                series::append(&mut measured, one);
            }
        }
    }

    let report = report::write(options, &machine::describe()?, &measured, &versions(bench)?);
    println!("{report}");
    let path = results_file(bench, options);
    results::replace_section(&path, "dispatch", &report)?;
    eprintln!("written to {}", path.display());
    Ok(())
}

/// Name and version of each crate that the contenders' crate names.
fn versions(bench: &Path) -> Result<Vec<String>> {
    const TREE: &[&str] =
        &["tree", "--package", "dispatch", "-e", "normal", "--depth", "1", "--prefix", "none"];
    let tree = command::cargo(bench, TREE)?.stdout;
    let words = tree.lines().skip(1).map(|line| line.split(' '));
    Ok(words
        .filter_map(|mut words| Some(format!("{} {}", words.next()?, words.next()?.trim_start_matches('v'))))
        .collect())
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
        let only = vec!["toolkit".to_owned(), "rmcp".to_owned()];
        assert_eq!(parse("--rounds 2 --only toolkit,rmcp").unwrap(), Options { rounds: 2, only });
    }

    #[test]
    fn wrong_options_are_refused() {
        for line in ["--rounds", "--rounds 0", "--fast"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn only_a_full_run_writes_the_results() {
        let bench = Path::new("bench");
        assert_eq!(results_file(bench, &Options::default()), Path::new("bench/RESULTS.md"));
        let partial = parse("--only toolkit").unwrap();
        assert_eq!(results_file(bench, &partial), Path::new("bench/target/RESULTS.md"));
    }
}
