//! Measures a call over MCP, compared with other servers. The crate in `mcp/` serves and drives; this module builds and
//! runs it, and reports.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::series::{Series, find};
use crate::statistics::median;
use crate::{Result, command, machine, results};

const OURS: &str = "ours";
const RMCP: &str = "rmcp by hand";
const FASTMCP: &str = "FastMCP";
const SDK: &str = "TypeScript SDK";
const CONTENDERS: [&str; 4] = [OURS, RMCP, FASTMCP, SDK];
const RATES: [&str; 4] =
    ["stdio, 1 call at once", "stdio, 64 calls at once", "HTTP, 1 client", "HTTP, 64 clients"];

/// The command of this repository, which reads files beside the servers of other languages.
const COMMAND: &str = "toolkit mcp serve";
const READERS: [&str; 3] = [COMMAND, SDK, FASTMCP];
const READS: [&str; 4] = [
    "read, stdio, 1 call at once",
    "read, stdio, 16 calls at once",
    "read, HTTP, 1 call at once",
    "read, HTTP, 16 calls at once",
];
/// How many times the rate of the others the command reads at.
const READ_AIM: f64 = 1.2;

/// How often the command is started.
const STARTS: usize = 15;

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    /// Repetitions of each measurement.
    rounds: usize,
    /// How long each lasts, in tenths of a second.
    tenths: usize,
    /// Only files are read.
    reads_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { rounds: 7, tenths: 10, reads_only: false }
    }
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
            match &*argument {
                "--rounds" => options.rounds = crate::at_least_one(&value()?)?,
                "--reads" => options.reads_only = true,
                "--tenths" => options.tenths = crate::at_least_one(&value()?)?,
                other => return Err(format!("`bench mcp` has no option `{other}`").into()),
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
    command::cargo(bench, &["build", "--release", "--package", "mcp", "--target-dir", "target"])?;
    command::cargo(
        repository,
        &["build", "--release", "--package", "toolkit-cli", "--target-dir", "target"],
    )?;
    let program = bench.join("target/release/mcp").display().to_string();
    let tools = repository.join("target/tools");
    let python = tools.join("python/bin/python");
    // The one that is on the path starts this one, and would be measured instead.
    let mut node = Command::new(tools.join("python/bin/node"));
    let node = command::run(node.args(["-p", "process.execPath"]))?.stdout.trim().to_owned();
    let peers = bench.join("mcp/peers");
    let toolkit = repository.join("target/release/toolkit");
    let command = |name: &str| match name {
        OURS => format!("{program} serve ours"),
        RMCP => format!("{program} serve rmcp"),
        COMMAND => format!("{} mcp serve", toolkit.display()),
        FASTMCP => format!("{} {}", python.display(), peers.join("fastmcp_server.py").display()),
        _ => format!(
            "{node} {} {}",
            peers.join("sdk_server.mjs").display(),
            tools.join("node_modules").display()
        ),
    };
    let seconds = options.tenths as f64 / 10.0;
    let drive = |work: &str, contenders: &[&str]| -> Result<Vec<Series>> {
        let mut drive = Command::new(&program);
        drive.args(["drive", work, &options.rounds.to_string(), &seconds.to_string()]);
        drive.args(contenders.iter().map(|name| format!("{name}={}", command(name))));
        command::run(drive.stderr(Stdio::inherit()))?.stdout.lines().map(Series::parse).collect()
    };
    let mut measured = drive("read", &READERS)?;
    if options.reads_only {
        println!("{}{}", machine::describe()?, reads(options, &measured)?);
        return Ok(());
    }
    measured.extend(drive("greet", &CONTENDERS)?);
    measured.push(starts(&toolkit)?);
    let report = report(options, &machine::describe()?, &measured)?;
    println!("{report}");
    let raw = bench.join("target/mcp.tsv");
    let line = |one: &Series| {
        let figures: Vec<_> = one.figures.iter().map(f64::to_string).collect();
        format!("{}\t{}\t{}\n", one.measurement, one.contender, figures.join("\t"))
    };
    fs::write(&raw, measured.iter().map(line).collect::<String>())?;
    let folder = if *options == Options::default() { bench.to_owned() } else { bench.join("target") };
    results::replace_section(&folder.join("RESULTS.md"), "mcp", &report)?;
    eprintln!("every figure is in {}", raw.display());
    Ok(())
}

/// Milliseconds from the start of `toolkit mcp serve` to its first answer.
fn starts(toolkit: &Path) -> Result<Series> {
    use std::io::{BufRead as _, BufReader, Write as _};
    const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
    let directory = std::env::temp_dir().join(format!("bench-mcp-{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    let mut figures = Vec::new();
    for _ in 0..STARTS {
        let begun = Instant::now();
        let mut serve = Command::new(toolkit);
        serve.args(["mcp", "serve"]).current_dir(&directory);
        serve.env("TOOLKIT_CONFIG_DIR", &directory).env("TOOLKIT_DATA_DIR", &directory);
        let mut child = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut input = child.stdin.take().ok_or("no input")?;
        writeln!(input, "{HELLO}")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        figures.push(begun.elapsed().as_secs_f64() * 1000.0);
        if !line.contains("serverInfo") {
            return Err(format!("no answer: {line}").into());
        }
        drop(input);
        child.wait()?;
    }
    fs::remove_dir_all(&directory)?;
    Ok(Series {
        measurement: "first answer of the command, ms".to_owned(),
        contender: "toolkit mcp serve".to_owned(),
        figures,
    })
}

/// Reports reading a file over MCP, compared with servers in other languages.
fn reads(options: &Options, all: &[Series]) -> Result<String> {
    let get = |measurement: &str, contender: &str| {
        find(all, measurement, contender).ok_or_else(|| format!("{measurement}, {contender}: not measured"))
    };
    let seconds = options.tenths as f64 / 10.0;
    let mut text = format!(
        "\n### Reading a file\n\nCalls a second of `read` for a file of 20 lines, by one client, the median of {} rounds of {seconds} s each, all \
         contenders by turns. `{COMMAND}` has all builtin tools, decides whether the file may be read, and remembers its version; the others number \
         its lines. × is the median of the rounds' ratios of `{COMMAND}` to the contender.\n\n",
        options.rounds
    );
    writeln!(text, "| | {COMMAND} | {SDK} | × | {FASTMCP} | × | aim | |\n|---|--:|--:|--:|--:|--:|--:|---|")?;
    for read in READS {
        let ours = get(read, COMMAND)?;
        write!(text, "| {} | {:.0} |", read.trim_start_matches("read, "), ours.median())?;
        let mut least = f64::INFINITY;
        for contender in [SDK, FASTMCP] {
            let other = get(read, contender)?;
            let ratio = ours.ratio(other);
            least = least.min(ratio);
            write!(text, " {:.0} | {ratio:.2} |", other.median())?;
        }
        let verdict = if least >= READ_AIM { "met" } else { "**missed**" };
        writeln!(text, " {READ_AIM} | {verdict} |")?;
    }
    Ok(text)
}

fn report(options: &Options, machine: &str, all: &[Series]) -> Result<String> {
    let get = |measurement: &str, contender: &str| {
        find(all, measurement, contender).ok_or_else(|| format!("{measurement}, {contender}: not measured"))
    };
    let mut text = format!("## MCP\n\n{machine}");
    let seconds = options.tenths as f64 / 10.0;
    writeln!(
        text,
        "\n### Calls\n\nCalls a second of one small tool with two arguments, by the same client, the median of {} rounds of {seconds} s each, all \
         contenders by turns; × is the median of the rounds' ratios to rmcp by hand, in which the arguments are a struct of serde and nothing is \
         validated. All servers have one thread.\n",
        options.rounds
    )?;
    // The base has no ratio.
    let mut table =
        format!("| | {OURS} | × | {RMCP} | {FASTMCP} | × | {SDK} | × |\n|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for rate in RATES {
        let base = get(rate, RMCP)?;
        write!(table, "| {rate} |")?;
        for contender in CONTENDERS {
            let one = get(rate, contender)?;
            write!(table, " {:.0} |", one.median())?;
            if contender != RMCP {
                write!(table, " {:.2} |", one.ratio(base))?;
            }
        }
        table.push('\n');
    }
    text.push_str(&table);
    text.push_str(&reads(options, all)?);
    writeln!(
        text,
        "\n### Beginning and memory\n\n| | {} |\n|---|{}",
        CONTENDERS.join(" | "),
        "--:|".repeat(CONTENDERS.len())
    )?;
    for what in ["first answer over stdio, ms", "KiB a session of 1,000"] {
        write!(text, "| {what} |")?;
        for contender in CONTENDERS {
            write!(text, " {:.1} |", get(what, contender)?.median())?;
        }
        text.push('\n');
    }
    let command =
        median(get("first answer of the command, ms", "toolkit mcp serve")?.figures.iter().copied());
    writeln!(
        text,
        "\n`toolkit mcp serve` with all builtin tools, from its start to its first answer: {command:.1} ms."
    )?;
    writeln!(text, "\n### Aims\n\n| aim | measured | |\n|---|---|---|")?;
    for rate in RATES {
        let ratio = get(rate, OURS)?.ratio(get(rate, RMCP)?);
        let verdict = if ratio >= 0.95 { "met" } else { "**missed**" };
        writeln!(text, "| {rate}: at least 0.95 of rmcp by hand | {ratio:.2} × | {verdict} |")?;
    }
    let verdict = if command <= 50.0 { "met" } else { "**missed**" };
    writeln!(text, "| `toolkit mcp serve`: first answer within 50 ms | {command:.1} ms | {verdict} |")?;
    writeln!(
        text,
        "\n### Rounds\n\nThe least and the greatest of each.\n\n| | {} |\n|---|{}",
        CONTENDERS.join(" | "),
        "--:|".repeat(CONTENDERS.len())
    )?;
    for rate in RATES {
        write!(text, "| {rate} |")?;
        for contender in CONTENDERS {
            let (least, greatest) = get(rate, contender)?.spread();
            write!(text, " {least:.0} – {greatest:.0} |")?;
        }
        text.push('\n');
    }
    Ok(text)
}
