//! Measures a call over HTTP, as `/v1/tools/…`, MCP and over the WebSocket of a client, compared with other servers. The crate in `http/` serves and
//! drives; this module builds and runs it, and reports.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::series::{Series, find};
use crate::statistics::percentile;
use crate::{Result, command, machine, results};

const V1: &str = "`/v1`";
const MCP: &str = "`/mcp`";
const RMCP: &str = "rmcp by hand";
const FASTMCP: &str = "FastMCP";
const GATEWAY_V1: &str = "gateway, `/v1`, tool over `/ws`";
const GATEWAY_MCP: &str = "gateway, `/mcp`, tool over `/ws`";
const CONTENDERS: [&str; 6] = [V1, MCP, RMCP, FASTMCP, GATEWAY_V1, GATEWAY_MCP];
const AT_ONCE: [&str; 2] = ["1 at once", "16 at once"];

const SOCKETS: &str = "gateway";
const ANSWERED: &str = "sockets, answered after, ms";
const FAILURES: &str = "sockets, failures";
/// The series of the clients that have one figure.
const SINGLE: [&str; 6] = [
    "memory before, MB",
    "memory, MB",
    "memory after calls, MB",
    "all connected after, s",
    "processor without work, % of one",
    "processor with calls, % of one",
];

/// The aims: at least as many calls a second as another contender.
const AIMS: [(&str, &str); 2] = [(MCP, RMCP), (V1, MCP)];

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    /// Repetitions of each measurement.
    rounds: usize,
    /// How long each lasts, in tenths of a second.
    tenths: usize,
    /// How long the calls of the clients' tools last.
    seconds: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { rounds: 7, tenths: 10, seconds: 60 }
    }
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
            match &*argument {
                "--rounds" => options.rounds = crate::at_least_one(&value()?)?,
                "--tenths" => options.tenths = crate::at_least_one(&value()?)?,
                "--seconds" => options.seconds = crate::at_least_one(&value()?)?,
                other => return Err(format!("`bench http` has no option `{other}`").into()),
            }
        }
        Ok(options)
    }
}

/// Measures, prints the report and writes it down.
///
/// # Errors
///
/// When a program does not build, or a server does not answer as it should.
pub(crate) fn run(options: &Options) -> Result<()> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let repository = bench.parent().ok_or("the repository")?;
    eprintln!("building the programs that serve and drive, and the command");
    for package in ["http-calls", "mcp"] {
        command::cargo(bench, &["build", "--release", "--package", package, "--target-dir", "target"])?;
    }
    command::cargo(
        repository,
        &["build", "--release", "--package", "toolkit-cli", "--target-dir", "target"],
    )?;
    let program = bench.join("target/release/http-calls").display().to_string();
    let toolkit = repository.join("target/release/toolkit").display().to_string();
    let contender = |name: &str| match name {
        V1 => format!("{name}=v1={program} serve v1"),
        MCP => format!("{name}=mcp={program} serve mcp"),
        RMCP => format!("{name}=mcp={} serve rmcp http", bench.join("target/release/mcp").display()),
        FASTMCP => {
            let python = repository.join("target/tools/python/bin/python");
            let server = bench.join("mcp/peers/fastmcp_server.py");
            format!("{name}=mcp={} {} http", python.display(), server.display())
        }
        GATEWAY_V1 => format!("{name}=gateway-v1={toolkit}"),
        _ => format!("{name}=gateway-mcp={toolkit}"),
    };
    let seconds = seconds(options.tenths)?;
    eprintln!("measuring calls");
    let mut calls = Command::new(&program);
    calls.args(["calls", &options.rounds.to_string(), &seconds.to_string()]);
    calls.args(CONTENDERS.map(contender));
    let mut output = command::run(calls.stderr(Stdio::inherit()))?.stdout;
    eprintln!("measuring many clients");
    let mut sockets = Command::new(&program);
    sockets.args(["sockets", &toolkit, &options.seconds.to_string()]);
    output.push_str(&command::run(sockets.stderr(Stdio::inherit()))?.stdout);
    let raw = bench.join("target/http.tsv");
    std::fs::write(&raw, &output)?;
    let measured: Vec<Series> = output.lines().map(Series::parse).collect::<Result<_>>()?;
    let report = report(options, &machine::describe()?, &measured)?;
    println!("{report}");
    let is_whole = *options == Options::default();
    let path = bench.join(if is_whole { "RESULTS.md" } else { "target/RESULTS.md" });
    results::replace_section(&path, "http", &report)?;
    eprintln!("written to {}, and every figure to {}", path.display(), raw.display());
    Ok(())
}

/// Returns so many tenths of a second in seconds.
fn seconds(tenths: usize) -> Result<f64> {
    Ok(f64::from(u32::try_from(tenths)?) / 10.0)
}

/// Finds a series that was measured.
fn get<'a>(all: &'a [Series], measurement: &str, contender: &str) -> Result<&'a Series> {
    let found = find(all, measurement, contender).filter(|series| !series.figures.is_empty());
    Ok(found.ok_or_else(|| format!("{measurement}, {contender}: not measured"))?)
}

fn rate(at_once: &str) -> String {
    format!("{at_once}, calls a second")
}

fn report(options: &Options, machine: &str, all: &[Series]) -> Result<String> {
    Ok(format!(
        "## Calls over HTTP\n\n{machine}\n{}{}{}{}",
        calls(options, all)?,
        sockets(options, all)?,
        aims(all)?,
        rounds(all)?
    ))
}

/// Reports calls a second and their times.
fn calls(options: &Options, all: &[Series]) -> Result<String> {
    let seconds = seconds(options.tenths)?;
    let mut text = format!(
        "\n### Calls\n\nCalls of one tool without work, with two arguments, over connections that are kept, by one client for all; the medians of {} rounds of \
         {seconds} s each, all contenders by turns. × is the median of the rounds' ratios of calls a second to rmcp by hand. {V1} is \
         `/v1/tools/…/call` of `toolkit_web::serve`. Both servers of this repository check a token, rmcp and FastMCP check none; a server has one \
         thread. A gateway is `toolkit gateway`, which has several, and serves as many people as there are calls at once; each has a WebSocket client, in the \
         process of the callers, that answers the call of its tool at once.\n\n",
        options.rounds
    );
    text.push_str("| |");
    for at_once in AT_ONCE {
        write!(text, " {at_once}, calls a second | × | p50, ms | p99, ms |")?;
    }
    writeln!(text, "\n|---|{}", "--:|".repeat(4 * AT_ONCE.len()))?;
    for contender in CONTENDERS {
        write!(text, "| {contender} |")?;
        for at_once in AT_ONCE {
            let one = get(all, &rate(at_once), contender)?;
            write!(text, " {:.0} |", one.median())?;
            if contender == RMCP {
                text.push_str(" |");
            } else {
                write!(text, " {:.2} |", one.ratio(get(all, &rate(at_once), RMCP)?))?;
            }
            for percentile in ["p50", "p99"] {
                let times = get(all, &format!("{at_once}, {percentile}, ms"), contender)?;
                write!(text, " {:.2} |", times.median())?;
            }
        }
        text.push('\n');
    }
    Ok(text)
}

/// Reports many clients of one gateway.
fn sockets(options: &Options, all: &[Series]) -> Result<String> {
    let mut text = format!(
        "\n### 200 clients of a gateway\n\nFour people have 50 WebSocket clients each, and each client a tool. Memory is what is resident, five seconds after \
         the start and after the last client came; the processor without work is that of {} s. Then come 50 calls a second, of all tools by turns, for {} s; \
         their times begin when they were to be sent, of which the clock of the sender takes up to 1 ms.\n\n| | |\n|---|--:|\n",
        seconds(options.seconds * 5)?,
        options.seconds
    );
    for name in SINGLE {
        let figure = get(all, &format!("sockets, {name}"), SOCKETS)?.median();
        writeln!(text, "| {name} | {figure:.1} |")?;
    }
    let mut times = get(all, ANSWERED, SOCKETS)?.figures.clone();
    times.sort_by(f64::total_cmp);
    for (name, percent) in [("p50", 50), ("p99", 99), ("most", 100)] {
        writeln!(text, "| calls answered after, ms, {name} | {:.1} |", percentile(&times, percent))?;
    }
    writeln!(text, "| calls that were answered | {} |", times.len())?;
    writeln!(text, "| calls that failed | {:.0} |", get(all, FAILURES, SOCKETS)?.median())?;
    Ok(text)
}

fn aims(all: &[Series]) -> Result<String> {
    let mut text = "\n### Aims\n\n| aim | measured | |\n|---|--:|---|\n".to_owned();
    for (contender, other) in AIMS {
        for at_once in AT_ONCE {
            let ratio = get(all, &rate(at_once), contender)?.ratio(get(all, &rate(at_once), other)?);
            let verdict = if ratio >= 1.0 { "met" } else { "**missed**" };
            writeln!(text, "| {at_once}: {contender} at least 1.0 of {other} | {ratio:.2} × | {verdict} |")?;
        }
    }
    Ok(text)
}

/// Reports how far rounds differ.
fn rounds(all: &[Series]) -> Result<String> {
    let mut text = "\n### Rounds\n\nThe least and the greatest of each.\n\n| |".to_owned();
    for at_once in AT_ONCE {
        write!(text, " {at_once}, calls a second | p99, ms |")?;
    }
    writeln!(text, "\n|---|{}", "--:|".repeat(2 * AT_ONCE.len()))?;
    for contender in CONTENDERS {
        write!(text, "| {contender} |")?;
        for at_once in AT_ONCE {
            let (least, greatest) = get(all, &rate(at_once), contender)?.spread();
            write!(text, " {least:.0} – {greatest:.0} |")?;
            let (least, greatest) = get(all, &format!("{at_once}, p99, ms"), contender)?.spread();
            write!(text, " {least:.2} – {greatest:.2} |")?;
        }
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn options(words: &[&str]) -> Result<Options> {
        Options::parse(words.iter().map(|word| (*word).to_owned()))
    }

    /// The lines of a run, in which each contender has these rates in two rounds.
    fn measured(rates: [[f64; 2]; 6]) -> Vec<Series> {
        let mut lines = Vec::new();
        for (contender, [one, other]) in CONTENDERS.into_iter().zip(rates) {
            for at_once in AT_ONCE {
                lines.push(format!("{at_once}, calls a second\t{contender}\t{one}\t{other}"));
                lines.push(format!("{at_once}, p50, ms\t{contender}\t0.5\t0.7"));
                lines.push(format!("{at_once}, p99, ms\t{contender}\t1\t2"));
            }
        }
        lines.extend(SINGLE.map(|name| format!("sockets, {name}\tgateway\t30.5")));
        lines.push("sockets, answered after, ms\tgateway\t3\t1\t2".to_owned());
        lines.push("sockets, failures\tgateway\t1".to_owned());
        lines.iter().map(|line| Series::parse(line).unwrap()).collect()
    }

    #[test]
    fn options_are_read_and_unknown_ones_refused() {
        let all = options(&["--rounds", "3", "--tenths", "5", "--seconds", "10"]).unwrap();
        assert_eq!(all, Options { rounds: 3, tenths: 5, seconds: 10 });
        assert_eq!(options(&[]).unwrap(), Options::default());
        for words in [&["--rounds"][..], &["--seconds", "0"], &["--only", "x"]] {
            assert!(options(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn the_report_has_rates_times_and_whether_aims_are_met() {
        let rates = [[900.0, 880.0], [1000.0, 1000.0], [1000.0, 800.0], [100.0; 2], [500.0; 2], [400.0; 2]];
        let report = report(&Options::default(), "a machine", &measured(rates)).unwrap();
        for row in [
            "| `/mcp` | 1000 | 1.12 | 0.60 | 1.50 | 1000 | 1.12 | 0.60 | 1.50 |",
            "| rmcp by hand | 900 | | 0.60 | 1.50 | 900 | | 0.60 | 1.50 |",
            "| 1 at once: `/mcp` at least 1.0 of rmcp by hand | 1.12 × | met |",
            "| 16 at once: `/v1` at least 1.0 of `/mcp` | 0.89 × | **missed** |",
            "| memory, MB | 30.5 |",
            "| calls answered after, ms, p50 | 2.0 |",
            "| calls answered after, ms, most | 3.0 |",
            "| calls that were answered | 3 |",
            "| calls that failed | 1 |",
            "that of 30 s. Then come 50 calls a second, of all tools by turns, for 60 s;",
            "| rmcp by hand | 800 – 1000 | 1.00 – 2.00 |",
        ] {
            assert!(report.contains(row), "{row}: {report}");
        }
    }

    #[test]
    fn a_series_that_is_missing_is_an_error() {
        let mut all = measured([[1.0; 2]; 6]);
        all.retain(|series| series.measurement != FAILURES);
        let error = report(&Options::default(), "a machine", &all).unwrap_err().to_string();
        assert_eq!(error, "sockets, failures, gateway: not measured");
    }
}
