//! Measures the file tools, compared with the same work in pairs: whole runs of the command with other programs, and calls with
//! the plain work in one process.

mod read;
mod search;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::statistics::median;
use crate::{Result, command, machine, results};

/// Two programs that do the same work.
struct Case {
    /// The work of the pair.
    name: String,
    ours: Command,
    peer: Command,
    /// At most how many times the peer's time ours should take, if that was said.
    aim: Option<f64>,
}

/// A part of the benchmark.
struct Group {
    name: &'static str,
    /// Given the command, and a directory for what is made.
    cases: fn(toolkit: &Path, directory: &Path) -> Result<Vec<Case>>,
}

const GROUPS: &[Group] =
    &[Group { name: "search", cases: search::cases }, Group { name: "read", cases: read::cases }];

/// The group of what is called in one process.
const CALLS: &str = "calls";

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    /// How often each pair is run.
    rounds: usize,
    /// Groups, or none for all.
    only: Vec<String>,
    /// True if the system's caches are emptied before each run, which only root may do.
    cold: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { rounds: 15, only: Vec::new(), cold: false }
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
                "--cold" => options.cold = true,
                other => return Err(format!("`bench files` has no option `{other}`").into()),
            }
        }
        let known = |name: &String| name == CALLS || GROUPS.iter().any(|group| group.name == name);
        match options.only.iter().find(|name| !known(name)) {
            Some(other) => Err(format!("`bench files` has no group `{other}`").into()),
            None => Ok(options),
        }
    }
}

/// The times of a pair in each round, in seconds.
struct Measured {
    name: String,
    ours: Vec<f64>,
    peer: Vec<f64>,
    aim: Option<f64>,
}

impl Measured {
    /// Parses the line that the program of the calls printed for a pair.
    fn parse(line: &str) -> Result<Self> {
        let list = |text: &str| text.split(' ').map(str::parse).collect::<Result<Vec<f64>, _>>();
        let [name, aim, ours, peer] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(format!("`{line}` is no pair").into());
        };
        let aim = if aim == "-" { None } else { Some(aim.parse()?) };
        Ok(Self { name: name.to_owned(), ours: list(ours)?, peer: list(peer)?, aim })
    }
}

/// Measures, prints the report and writes it down.
///
/// # Errors
///
/// When the command does not build, a program fails, or what is to be searched is not there.
pub(crate) fn run(options: &Options) -> Result<()> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    eprintln!("building the command");
    let root = bench.parent().ok_or("the repository")?;
    let target = bench.join("target");
    let target_dir = target.to_string_lossy();
    command::cargo(root, &["build", "--release", "--package", "toolkit-cli", "--target-dir", &target_dir])?;
    let toolkit = target.join("release/toolkit");
    let directory = target.join("files");
    std::fs::create_dir_all(&directory)?;
    let is_wanted = |group: &str| options.only.is_empty() || options.only.iter().any(|name| name == group);
    let mut measured = Vec::new();
    for group in GROUPS.iter().filter(|group| is_wanted(group.name)) {
        for mut case in (group.cases)(&toolkit, &directory)? {
            eprintln!("measuring: {}", case.name);
            measured.push(measure(&mut case, options)?);
        }
    }
    let mut calls = Vec::new();
    if is_wanted(CALLS) {
        eprintln!("building and measuring the calls");
        command::cargo(bench, &["build", "--release", "--package", "files", "--target-dir", "target"])?;
        let mut program = Command::new(target.join("release/files"));
        let output = command::run(program.arg(options.rounds.to_string()).arg(&directory))?;
        calls = output.stdout.lines().map(Measured::parse).collect::<Result<_>>()?;
    }
    std::fs::remove_dir_all(&directory)?;
    let report = report(options, &machine::describe()?, &measured, &calls);
    println!("{report}");
    let path = results_file(bench, options);
    // Figures with empty caches have a section of their own.
    let section = if options.cold { "files, cold" } else { "files" };
    results::replace_section(&path, section, &report)?;
    eprintln!("written to {}", path.display());
    Ok(())
}

fn results_file(bench: &Path, options: &Options) -> PathBuf {
    let is_whole = options.rounds == Options::default().rounds && (options.only.is_empty() || options.cold);
    if is_whole { bench.join("RESULTS.md") } else { bench.join("target/RESULTS.md") }
}

/// Runs a pair again and again, by turns the one and the other first.
fn measure(case: &mut Case, options: &Options) -> Result<Measured> {
    let (mut ours, mut peer) = (Vec::new(), Vec::new());
    // The first fills the caches.
    time(&mut case.peer, options)?;
    time(&mut case.ours, options)?;
    for round in 0..options.rounds {
        if round % 2 == 0 {
            ours.push(time(&mut case.ours, options)?);
            peer.push(time(&mut case.peer, options)?);
        } else {
            peer.push(time(&mut case.peer, options)?);
            ours.push(time(&mut case.ours, options)?);
        }
    }
    Ok(Measured { name: case.name.clone(), ours, peer, aim: case.aim })
}

/// The seconds that a run takes.
fn time(command: &mut Command, options: &Options) -> Result<f64> {
    if options.cold {
        std::fs::write("/proc/sys/vm/drop_caches", "3")
            .map_err(|error| format!("caches cannot be emptied: {error}"))?;
    }
    let started = Instant::now();
    let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output()?;
    let seconds = started.elapsed().as_secs_f64();
    // 1 is what ripgrep says where it found nothing.
    match output.status.code() {
        Some(0 | 1) if output.stderr.is_empty() => Ok(seconds),
        _ => {
            Err(format!("{command:?}: {}, {}", output.status, String::from_utf8_lossy(&output.stderr)).into())
        }
    }
}

fn report(options: &Options, machine: &str, runs: &[Measured], calls: &[Measured]) -> String {
    let mut text = format!(
        "## Files{}\n\n{machine}\nMilliseconds, the median of {} rounds; × is the median of the rounds' ratios.\n\n",
        if options.cold { ", cold" } else { "" },
        options.rounds
    );
    if !runs.is_empty() {
        let caches = if options.cold { "emptied before each run" } else { "warm" };
        // Writing to a string can't fail.
        let _ = writeln!(
            text,
            "### Whole runs of the command, and of a program that does the same, with caches {caches}\n"
        );
        table(&mut text, "program", runs);
    }
    if !calls.is_empty() {
        text.push_str("### Calls in a process, and the plain work in it\n\n");
        table(&mut text, "plain work", calls);
    }
    text
}

fn table(text: &mut String, peer: &str, measured: &[Measured]) {
    let _ = writeln!(text, "| | toolkit | {peer} | × | aim | |\n|---|--:|--:|--:|--:|---|");
    for Measured { name, ours, peer, aim } in measured {
        let milliseconds = |values: &[f64]| 1_000.0 * median(values.iter().copied());
        let ratio = median(ours.iter().zip(peer).map(|(ours, peer)| ours / peer));
        let (ours, peer) = (milliseconds(ours), milliseconds(peer));
        let (aim, verdict) = match aim {
            None => (String::new(), ""),
            Some(aim) => (format!("{aim:.1}"), if ratio <= *aim { "met" } else { "**missed**" }),
        };
        let _ = writeln!(text, "| {name} | {ours:.1} | {peer:.1} | {ratio:.2} | {aim} | {verdict} |");
    }
    text.push_str("\nRaw, in milliseconds, by round, toolkit's first:\n\n");
    for Measured { name, ours, peer, .. } in measured {
        let list = |values: &[f64]| {
            values.iter().map(|value| format!("{:.1}", 1_000.0 * value)).collect::<Vec<_>>().join(" ")
        };
        let _ = writeln!(text, "* {name}: {} | {}", list(ours), list(peer));
    }
    text.push('\n');
}
