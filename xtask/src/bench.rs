//! `cargo xtask bench`: runs the benchmarks in `bench/`, a separate workspace with its own lock file.

use crate::provision;
use crate::suggest;
use crate::workspace::{Result, Workspace};

struct Bench {
    name: &'static str,
    summary: &'static str,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "agent",
        summary: "what a turn of the agent costs, beside bare requests and another agent",
    },
    Bench { name: "compile", summary: "what a tool costs to compile, beside other libraries" },
    Bench { name: "dispatch", summary: "what a call of a tool costs, beside other libraries" },
    Bench { name: "exec", summary: "what running commands costs, beside doing it by hand" },
    Bench {
        name: "extract",
        summary: "how much of the main content of pages is extracted, beside Python libraries",
    },
    Bench { name: "gateway", summary: "what a gateway takes to start, to wait and to work" },
    Bench { name: "http", summary: "what a call over HTTP, MCP and a WebSocket costs, beside other servers" },
    Bench { name: "mcp", summary: "what a call over MCP costs, beside other servers" },
    Bench { name: "search", summary: "what finding tools costs, and how often the right one is found" },
    Bench { name: "files", summary: "what the file tools cost, beside programs that do the same work" },
];

/// Runs the named benchmark; the arguments after the name are the benchmark's own.
pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result {
    let Some(name) = args.first().filter(|name| !crate::is_help(name)) else {
        print!("{}", listing());
        return Ok(());
    };
    if !BENCHES.iter().any(|bench| bench.name == name) {
        let names = BENCHES.iter().map(|bench| bench.name);
        return Err(format!("{}\n\n{}", suggest::unknown("benchmark", name, names), listing()).into());
    }
    provision::ensure(workspace, provision::FOR_BENCHES)?;
    let mut words = vec!["cargo", "run", "--release", "--manifest-path", "bench/Cargo.toml", "--"];
    words.extend(args.iter().map(String::as_str));
    workspace.run(&words)
}

fn listing() -> String {
    let benches = BENCHES.iter().map(|Bench { name, summary }| format!("  {name:<20} {summary}\n"));
    std::iter::once("Benchmarks:\n".to_owned()).chain(benches).collect()
}
