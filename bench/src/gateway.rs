//! Measures a gateway: its start, its memory, and its work under a load.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::statistics::percentile;
use crate::{Result, command, machine, results};

/// The names of the series.
const NEW: &str = "start, new data directory, ms";
const START: &str = "start, ms";
const IDLE: &str = "idle, MB";
const SESSIONS: &str = "with sessions, MB";
const ACCEPTED: &str = "accepted after, ms";
const ASKED: &str = "model asked after, ms";
const DRAINED: &str = "all answered after the last message, s";
const LOADED: &str = "under load, MB";
const PROCESSOR: &str = "processor, s";

/// The aims: the start in milliseconds, the memory idle and with sessions in megabytes.
const AIMS: [(&str, &str, f64); 3] = [
    ("healthy, of a data directory that is there, within 100 ms (median)", START, 100.0),
    ("idle under 40 MB", IDLE, 40.0),
    ("1,000 sessions under 150 MB", SESSIONS, 150.0),
];

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    starts: usize,
    sessions: usize,
    /// Messages in a second.
    rate: usize,
    /// How long the load lasts.
    seconds: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { starts: 20, sessions: 1_000, rate: 50, seconds: 300 }
    }
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
            match &*argument {
                "--starts" => options.starts = crate::at_least_one(&value()?)?,
                "--sessions" => options.sessions = crate::at_least_one(&value()?)?,
                "--rate" => options.rate = crate::at_least_one(&value()?)?,
                "--seconds" => options.seconds = crate::at_least_one(&value()?)?,
                other => return Err(format!("`bench gateway` has no option `{other}`").into()),
            }
        }
        Ok(options)
    }
}

/// Measures, prints the report and writes it down.
///
/// # Errors
///
/// When a program does not build, or the gateway does not answer as it should.
pub(crate) fn run(options: &Options) -> Result<()> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let repository = bench.parent().ok_or("the repository")?;
    eprintln!("building the command and the program that drives it");
    command::cargo(bench, &["build", "--release", "--package", "gateway", "--target-dir", "target"])?;
    let command = ["build", "--release", "--package", "toolkit-cli", "--target-dir", "target"];
    command::cargo(repository, &command)?;
    let Options { starts, sessions, rate, seconds } = options;
    eprintln!("measuring");
    let mut program = Command::new(bench.join("target/release/gateway"));
    program.arg(repository.join("target/release/toolkit"));
    program.args([starts, sessions, rate, seconds].map(usize::to_string)).stderr(Stdio::inherit());
    let output = command::run(&mut program)?;
    let raw = bench.join("target/gateway.tsv");
    std::fs::write(&raw, &output.stdout)?;
    let report = report(options, &machine::describe()?, &output.stdout)?;
    println!("{report}");
    let is_whole = *options == Options::default();
    let path = bench.join(if is_whole { "RESULTS.md" } else { "target/RESULTS.md" });
    results::replace_section(&path, "gateway", &report)?;
    eprintln!("written to {}, and every figure to {}", path.display(), raw.display());
    Ok(())
}

/// The figures of a series of the program's output, in ascending order.
fn series(output: &str, name: &str) -> Result<Vec<f64>> {
    let line = output.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
    let line = line.ok_or_else(|| format!("the series `{name}` is missing"))?;
    let mut figures: Vec<f64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
    figures.sort_by(f64::total_cmp);
    Ok(figures)
}

fn report(options: &Options, machine: &str, output: &str) -> Result<String> {
    let Options { sessions, rate, seconds, starts } = options;
    let mut report = format!(
        "## Gateway\n\n{machine}\n\nThe command as it is built for a release, with a scripted model that answers at once, in a process with the clients; \
         {starts} starts, {sessions} sessions with a message each, then {rate} messages a second for {seconds} s to 100 sessions. Times of messages begin \
         when they were to be sent. Memory is what is resident.\n\n| | p50 | p90 | p99 | most |\n|---|--:|--:|--:|--:|\n"
    );
    for name in [NEW, START, ACCEPTED, ASKED] {
        let figures = series(output, name)?;
        let [p50, p90, p99, most] = [50, 90, 99, 100].map(|percent| percentile(&figures, percent));
        writeln!(report, "| {name} | {p50:.1} | {p90:.1} | {p99:.1} | {most:.1} |")?;
    }
    report.push_str("\n| | |\n|---|--:|\n");
    for name in [IDLE, SESSIONS, LOADED, DRAINED, PROCESSOR] {
        writeln!(report, "| {name} | {:.1} |", percentile(&series(output, name)?, 50))?;
    }
    report.push_str("\n### Aims\n\n| aim | measured | |\n|---|--:|---|\n");
    for (aim, name, limit) in AIMS {
        let measured = percentile(&series(output, name)?, 50);
        let is_met = if measured <= limit { "met" } else { "**missed**" };
        writeln!(report, "| {aim} | {measured:.1} | {is_met} |")?;
    }
    let asked = series(output, ASKED)?.len();
    let sent = rate * seconds;
    let is_met = if asked == sent { "met" } else { "**missed**" };
    writeln!(
        report,
        "| {rate} messages a second for {seconds} s, all answered | {asked} of {sent} | {is_met} |"
    )?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aims_are_met_or_missed() {
        let output = "start, new data directory, ms\t90\nstart, ms\t99 101 99\nidle, MB\t41\nwith sessions, MB\t100\naccepted after, ms\t1 2 3\n\
                      model asked after, ms\t4 5 6\nall answered after the last message, s\t0.1\nunder load, MB\t80\nprocessor, s\t3\n";
        let options = Options { rate: 1, seconds: 3, ..Options::default() };
        let report = report(&options, "a machine", output).unwrap();
        for row in [
            "within 100 ms (median) | 99.0 | met",
            "under 40 MB | 41.0 | **missed**",
            "| 3 of 3 | met |",
            "| accepted after, ms | 2.0 |",
        ] {
            assert!(report.contains(row), "{row}: {report}");
        }
    }
}
