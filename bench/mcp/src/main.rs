//! `mcp serve ours|rmcp stdio|http` serves one small tool; `mcp drive greet|read ROUNDS SECONDS CONTENDER...` calls it, or the tool `read`, of
//! all contenders by turns, and prints a line a series. A contender is `name=command`, which gets `stdio` or `http` for its last word; over HTTP
//! it prints its address first. The command `… mcp serve` of this repository gets the words that it takes instead.

mod drive;
mod ours;
mod peer;

type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // The servers of other languages have one thread for this work, too.
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build()?;
    match words.as_slice() {
        ["serve", "ours", "stdio"] => runtime.block_on(ours::stdio()),
        ["serve", "ours", "http"] => runtime.block_on(ours::http()),
        ["serve", "rmcp", "stdio"] => runtime.block_on(peer::stdio()),
        ["serve", "rmcp", "http"] => runtime.block_on(peer::http()),
        ["drive", work @ ("greet" | "read"), rounds, seconds, contenders @ ..] => {
            let work = if *work == "read" { &drive::READ } else { &drive::GREET };
            runtime.block_on(drive::run(work, rounds.parse()?, seconds.parse()?, contenders))
        }
        _ => Err(
            "usage: mcp serve ours|rmcp stdio|http, or mcp drive greet|read ROUNDS SECONDS NAME=COMMAND..."
                .into(),
        ),
    }
}
