//! The same tool with rmcp's own macros, served over the same code for connections.

use crate::Result;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::schemars::{self, JsonSchema};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServiceExt as _, tool, tool_router};
use serde::Deserialize;
use std::sync::Arc;
use tokio::net::TcpListener;
use toolkit::CancellationToken;

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet.
    name: String,
    /// How many times.
    count: u32,
}

struct Server;

#[tool_router(server_handler)]
impl Server {
    /// Greets somebody.
    #[tool]
    async fn greet(&self, Parameters(Greet { name, count }): Parameters<Greet>) -> String {
        format!("hello {name} {count}")
    }
}

pub(crate) async fn stdio() -> Result<()> {
    Server.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}

pub(crate) async fn http() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Server), sessions, StreamableHttpServerConfig::default());
    Ok(toolkit_mcp::serve_http(listener, service, CancellationToken::new()).await?)
}
