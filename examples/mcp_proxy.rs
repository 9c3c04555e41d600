//! A proxy before a server of the Model Context Protocol: its client gets only what a policy allows, and each call is asked about unless it
//! is of a tool that was named. `mcp-proxy ALLOWED DENIED COMMAND...`, lists with commas between:
//!
//! ```sh
//! mcp-proxy real__echo,real__get_sum 'real__get_env' npx -y @modelcontextprotocol/server-everything
//! ```

use serde_json::{Value, json};
use toolkit::{
    Caller, Toolkit,
    config::{Configuration, LoadOptions},
};
use toolkit_mcp::{ClientOptions, McpServers};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [allowed, denied, command, args @ ..] = words.as_slice() else {
        return Err("usage: mcp-proxy ALLOWED DENIED COMMAND...".into());
    };
    let list = |names: &str| -> Vec<String> { names.split(',').map(str::to_owned).collect() };
    let rules: Vec<Value> = list(allowed).iter().map(|name| json!({"match": name, "do": "allow"})).collect();
    let configuration = Configuration::load(LoadOptions::new().program(json!({
        "tools": {"deny": list(denied)},
        "permission": {"mcp": rules},
        "mcp": {"real": {"command": command, "args": args}},
    })))?;
    let servers = McpServers::of(&configuration, ClientOptions::new());
    let toolkit = Toolkit::empty().configuration(configuration).tool_source(servers.clone()).build()?;
    toolkit_mcp::serve_stdio(toolkit, Caller::new()).await?;
    servers.stop().await;
    Ok(())
}
