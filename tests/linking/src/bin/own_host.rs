//! A host without the command, beside an MCP server: calls a tool with an HTTP client of its own.

use toolkit::prelude::*;

toolkit::link!(fetching);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let toolkit = Toolkit::builder().build()?;
    // The server is in the program, although this run does not serve.
    if std::env::args().any(|argument| argument == "--serve") {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        return Ok(runtime.block_on(toolkit_mcp::serve_stdio(toolkit, Caller::new()))?);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let result = runtime.block_on(async {
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        toolbox.call(ToolCall::new("1", "prepare_request", "{}")).await
    });
    let mut out = std::io::stdout();
    Ok(std::io::Write::write_all(&mut out, result.text().as_bytes())?)
}
