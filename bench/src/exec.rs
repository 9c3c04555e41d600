//! Measures running commands, compared with running them directly, and judging them. The crate in `exec/` measures; this module
//! builds and runs it, and reports.

mod report;

use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::series::{self, Series};
use crate::{Result, command, machine, results};

const GROUPS: &[&str] = &["starts", "output", "verdicts", "memory"];

/// How large hosts are whose starts are measured, in MB.
const HOSTS: [usize; 2] = [10, 1000];

/// How often each contender starts in a round.
const STARTS: usize = 40;

/// The tables whose commands are judged.
const TABLES: [&str; 2] = ["everyday.txt", "session.txt"];

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    /// Repetitions of each measurement.
    rounds: usize,
    /// Groups, or none for all.
    only: Vec<String>,
    /// How much output is written, in MB.
    megabytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { rounds: 15, only: Vec::new(), megabytes: 1000 }
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
                "--megabytes" => options.megabytes = crate::at_least_one(&value()?)?,
                other => return Err(format!("`bench exec` has no option `{other}`").into()),
            }
        }
        match options.only.iter().find(|name| !GROUPS.contains(&name.as_str())) {
            Some(other) => Err(format!("`bench exec` has no group `{other}`").into()),
            None => Ok(options),
        }
    }

    fn wants(&self, group: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == group)
    }

    /// How much output is looked at for memory, in bytes: least first.
    fn streams(&self) -> [u64; 3] {
        let megabytes = self.megabytes as u64;
        [megabytes * 100_000, megabytes * 1_000_000, megabytes * 10_000_000]
    }
}

/// Measures, prints the report and writes it down.
///
/// # Errors
///
/// When the measuring program does not build, or a command fails that it runs.
pub(crate) fn run(options: &Options) -> Result<()> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    eprintln!("building the program that measures");
    command::cargo(bench, &["build", "--release", "--package", "exec", "--target-dir", "target"])?;
    let program = bench.join("target/release/exec");
    let directory = bench.join("target/exec");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    fs::create_dir_all(&directory)?;
    let mut measured = Vec::new();
    if options.wants("starts") {
        eprintln!("measuring: starts");
        starts(&program, &directory, options, &mut measured)?;
    }
    if options.wants("output") {
        eprintln!("measuring: output");
        let rounds = options.rounds.div_ceil(2).to_string();
        let bytes = (options.megabytes * 1_000_000).to_string();
        measured.extend(lines(Command::new(&program).args(["output", &rounds, &bytes]).arg(&directory))?);
    }
    if options.wants("verdicts") {
        eprintln!("measuring: verdicts");
        let tables = bench.parent().ok_or("the repository")?.join("shell-verdict/tests/table");
        let mut command = Command::new(&program);
        command.args(["verdicts", &options.rounds.to_string()]).arg(&directory);
        measured.extend(lines(command.args(TABLES.map(|table| tables.join(table))))?);
    }
    if options.wants("memory") {
        for what in ["job", "tool"] {
            for bytes in options.streams() {
                eprintln!("measuring: memory, {what}, {bytes} bytes");
                let mut command = Command::new(&program);
                command.args(["memory", what, &bytes.to_string()]).arg(&directory);
                measured.extend(lines(&mut command)?);
            }
        }
    }
    fs::remove_dir_all(&directory)?;
    let report = report::write(options, &machine::describe()?, &measured);
    println!("{report}");
    let raw = bench.join("target/exec.tsv");
    fs::write(&raw, report::raw(&measured))?;
    let path = results_file(bench, options);
    results::replace_section(&path, "exec", &report)?;
    eprintln!("written to {}; every figure is in {}", path.display(), raw.display());
    Ok(())
}

/// Returns the output of a run of the program.
fn lines(command: &mut Command) -> Result<Vec<Series>> {
    command::run(command)?.stdout.lines().map(Series::parse).collect()
}

/// A run of less than everything must not pass for the result.
fn results_file(bench: &Path, options: &Options) -> PathBuf {
    let folder = if *options == Options::default() { bench.to_owned() } else { bench.join("target") };
    folder.join("RESULTS.md")
}

/// Hosts of each size live at once, and measure by turns.
fn starts(program: &Path, directory: &Path, options: &Options, all: &mut Vec<Series>) -> Result<()> {
    let host = |megabytes: &usize| {
        let directory = directory.join(format!("host-{megabytes}"));
        fs::create_dir_all(&directory)?;
        Host::start(program, *megabytes, &directory)
    };
    let mut hosts: Vec<Host> = HOSTS.iter().map(host).collect::<Result<_>>()?;
    for round in 0..options.rounds {
        for turn in 0..hosts.len() {
            let at = (round + turn) % hosts.len();
            for one in hosts[at].round()? {
                series::append(all, one);
            }
        }
    }
    hosts.into_iter().try_for_each(Host::end)
}

/// A process that measures starts when it is asked to.
struct Host {
    process: Child,
    asks: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Host {
    fn start(program: &Path, megabytes: usize, directory: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["starts", &megabytes.to_string()]).arg(directory);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let asks = process.stdin.take().ok_or("a host without an input")?;
        let answers = BufReader::new(process.stdout.take().ok_or("a host without an output")?).lines();
        Ok(Self { process, asks, answers })
    }

    fn round(&mut self) -> Result<Vec<Series>> {
        writeln!(self.asks, "{STARTS}")?;
        let mut measured = Vec::new();
        for line in &mut self.answers {
            let line = line?;
            if line == "." {
                return Ok(measured);
            }
            measured.push(Series::parse(&line)?);
        }
        Err(format!("a host ended: {}", self.process.wait()?).into())
    }

    fn end(self) -> Result<()> {
        let Self { mut process, asks, .. } = self;
        drop(asks);
        let status = process.wait()?;
        if status.success() { Ok(()) } else { Err(format!("a host failed: {status}").into()) }
    }
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
        let only = vec!["starts".to_owned(), "memory".to_owned()];
        let options = parse("--rounds 2 --only starts,memory --megabytes 10").unwrap();
        assert_eq!(options, Options { rounds: 2, only, megabytes: 10 });
        assert_eq!(options.streams(), [1_000_000, 10_000_000, 100_000_000]);
    }

    #[test]
    fn wrong_options_are_refused() {
        for line in ["--rounds", "--rounds 0", "--megabytes 0", "--only speed", "--fast"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn only_a_full_run_writes_the_results() {
        let bench = Path::new("bench");
        assert_eq!(results_file(bench, &Options::default()), Path::new("bench/RESULTS.md"));
        let partial = parse("--megabytes 10").unwrap();
        assert_eq!(results_file(bench, &partial), Path::new("bench/target/RESULTS.md"));
    }
}
