//! Benchmarks of `toolkit`, side by side with its peers. One module a benchmark; each prints what it measured
//! and replaces its own section of `RESULTS.md`.

mod agent;
mod command;
mod compile;
mod dispatch;
mod exec;
mod extract;
mod files;
mod gateway;
mod http;
mod machine;
mod mcp;
mod results;
mod search;
mod series;
mod statistics;

use std::process::ExitCode;

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

const USAGE: &str = "\
usage: bench <benchmark> [options]

benchmarks:
  agent      what the agent loop costs, beside bare requests and rig's agent
               --rounds N     repetitions, of which the median counts (101)
  compile    what a crate of tools costs to compile, and how large its binary is
               --tools N      tools in the generated crate (200)
               --rounds N     repetitions, of which the median counts (3)
               --only A,B     only these contenders
               --skip-cold    leave out the cold build of a crate with one tool
  dispatch   what a call of a tool takes and allocates, and what 1,000 tools and long outputs cost
               --rounds N     repetitions, of which the median counts (15)
               --only A,B     only the calls of these contenders
  exec       what running commands costs, beside doing it by hand, and what judging them costs
               --rounds N     repetitions, of which the median counts (15); half as many of the large outputs
               --only A,B     only these groups: starts, output, verdicts, memory
               --megabytes N  of an output (1000); memory is looked at with a tenth and with ten times of it, too
  extract    how much of the main content of pages is extracted, beside Python libraries
               --debug        build without optimisation
  files      what the file tools cost, beside programs that do the same work
               --rounds N     repetitions, of which the median counts (15)
               --only A,B     only these groups: search, read, calls
               --cold         empty the caches of the system before each run, as root
  gateway    what a gateway takes to start, to wait and to work
               --starts N     repetitions of the start, of which the median counts (20)
               --sessions N   sessions whose memory is looked at (1000)
               --rate N       messages a second (50)
               --seconds N    how long they come (300)
  http       what a call over HTTP, MCP and a WebSocket costs, beside other servers
               --rounds N     repetitions, of which the median counts (7)
               --tenths N     how long each measurement lasts, in tenths of a second (10)
               --seconds N    how long the tools of 200 clients of a gateway are called (60)
  mcp        what a call over MCP costs, beside other servers
               --rounds N     repetitions, of which the median counts (7)
               --tenths N     how long each measurement lasts, in tenths of a second (10)
  search     what finding tools costs, and how often the right one is found
               --rounds N     repetitions (7)
  agent      what a turn of the agent costs, beside bare requests and another agent
               --rounds N     repetitions, of which the median counts (101)

A run with other than the default options writes target/RESULTS.md and leaves RESULTS.md alone.";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let outcome = match arguments.next().as_deref() {
        Some("agent") => agent::Options::parse(arguments).and_then(|options| agent::run(&options)),
        Some("compile") => compile::Options::parse(arguments).and_then(|options| compile::run(&options)),
        Some("dispatch") => dispatch::Options::parse(arguments).and_then(|options| dispatch::run(&options)),
        Some("exec") => exec::Options::parse(arguments).and_then(|options| exec::run(&options)),
        Some("extract") => extract::Options::parse(arguments).and_then(|options| extract::run(&options)),
        Some("files") => files::Options::parse(arguments).and_then(|options| files::run(&options)),
        Some("gateway") => gateway::Options::parse(arguments).and_then(|options| gateway::run(&options)),
        Some("http") => http::Options::parse(arguments).and_then(|options| http::run(&options)),
        Some("mcp") => mcp::Options::parse(arguments).and_then(|options| mcp::run(&options)),
        Some("search") => search::Options::parse(arguments).and_then(|options| search::run(&options)),
        Some("--help" | "-h") => {
            println!("{USAGE}");
            Ok(())
        }
        Some(other) => Err(format!("no benchmark is called `{other}`\n\n{USAGE}").into()),
        None => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn at_least_one(text: &str) -> Result<usize> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("`{text}` is not a number from 1 up").into()),
    }
}
