//! `http-calls serve v1|mcp` serves one small tool, as `/v1/tools/…` or as an MCP server; both check a token.
//! `http-calls calls ROUNDS SECONDS CONTENDER...` calls the tool of all contenders by turns. A contender is `NAME=WAY=COMMAND`, where `WAY` is `v1` or
//! `mcp` of a server that prints its address first, or `gateway-v1` or `gateway-mcp` of the command `toolkit`, whose tool a client serves over a WebSocket.
//! `http-calls sockets TOOLKIT SECONDS` connects 200 clients to one gateway, and calls their tools for so long. Prints a line a series: what was measured,
//! of which contender, and its figures, with tabs between them.

mod caller;
mod client;
mod contender;
mod people;
mod rate;
mod server;
mod sockets;
mod tool;
mod tool_client;

use std::path::Path;
use std::time::Duration;

use gateway::Result;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // The servers of other languages have one thread for this work, too.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match words.as_slice() {
        ["serve", "v1"] => runtime.block_on(server::v1()),
        ["serve", "mcp"] => runtime.block_on(server::mcp()),
        ["calls", rounds, seconds, contenders @ ..] => {
            let span = Duration::try_from_secs_f64(seconds.parse()?)?;
            runtime.block_on(rate::run(rounds.parse()?, span, contenders))
        }
        ["sockets", toolkit, seconds] => runtime.block_on(sockets::run(Path::new(toolkit), seconds.parse()?)),
        _ => Err("usage: http-calls serve v1|mcp, http-calls calls ROUNDS SECONDS NAME=WAY=COMMAND..., or http-calls sockets TOOLKIT SECONDS"
            .into()),
    }
}

/// Prints a series.
fn print(measurement: &str, contender: &str, figures: impl IntoIterator<Item = f64>) {
    let figures: Vec<String> = figures.into_iter().map(|figure| format!("{figure:.3}")).collect();
    println!("{measurement}\t{contender}\t{}", figures.join("\t"));
}
