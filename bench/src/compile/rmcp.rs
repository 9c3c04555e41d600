//! rmcp: methods of a server with a serde struct each, called as a client does, over a stream of JSON lines.

use super::contender::{Contender, repeat, with_last};

pub(super) struct Rmcp;

impl Contender for Rmcp {
    fn name(&self) -> &'static str {
        "rmcp"
    }

    fn dependencies(&self) -> &'static str {
        r#"rmcp = { version = "=3.9.0", default-features = false, features = ["macros", "server"] }
serde = { version = "1", features = ["derive"] }
serde_json = "1"
tokio = { version = "1", features = ["io-util", "macros", "rt"] }
"#
    }

    fn source(&self, tools: usize) -> String {
        [
            HEAD,
            &repeat(PARAMETERS, tools),
            "\n#[tool_router(server_handler)]\nimpl Server {",
            &repeat(TOOL, tools),
            "}\n",
            &with_last(MAIN, tools),
        ]
        .concat()
    }
}

const HEAD: &str = r#"use rmcp::handler::server::wrapper::Parameters;
use rmcp::schemars::{self, JsonSchema};
use rmcp::{ServiceExt, tool, tool_router};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

struct Server;

fn once() -> u32 {
    1
}
"#;

const PARAMETERS: &str = r#"
#[derive(Deserialize, JsonSchema)]
struct ToolNUMBER {
    /// Whom to greet.
    name: String,
    /// How many times.
    #[serde(default = "once")]
    count: u32,
    /// If true, shouts.
    loud: Option<bool>,
}
"#;

const TOOL: &str = r#"
    /// Greets number NUMBER.
    #[tool]
    async fn tool_NUMBER(&self, Parameters(ToolNUMBER { name, count, loud }): Parameters<ToolNUMBER>) -> String {
        format!("{name} {count} {loud:?} NUMBER")
    }
"#;

const MAIN: &str = r#"
async fn request(stream: &mut BufReader<DuplexStream>, method: &str, params: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    stream.write_all(format!("{message}\n").as_bytes()).await.expect("request");
    let mut line = String::new();
    stream.read_line(&mut line).await.expect("response");
    serde_json::from_str::<Value>(&line).expect("JSON")["result"].take()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (server, client) = tokio::io::duplex(1 << 20);
    tokio::spawn(async { Server.serve(server).await.expect("server").waiting().await });
    let mut client = BufReader::new(client);
    let hello = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "bench", "version": "0" },
    });
    request(&mut client, "initialize", hello).await;
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    client.write_all(format!("{initialized}\n").as_bytes()).await.expect("notification");

    let list = request(&mut client, "tools/list", json!({})).await;
    println!("{}", list["tools"].as_array().expect("tools").len());
    for call in [
        json!({ "name": "tool_0", "arguments": { "name": "Ada" } }),
        json!({ "name": "tool_LAST", "arguments": { "name": "Ada", "count": 3, "loud": true } }),
    ] {
        let result = request(&mut client, "tools/call", call).await;
        println!("{}", result["content"][0]["text"].as_str().expect("text"));
    }
}
"#;
