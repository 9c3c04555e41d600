//! The servers of this framework, each in a process of its own. Both print the address that calls are sent to.

use gateway::Result;
use tokio::net::TcpListener;
use toolkit::CancellationToken;
use toolkit::prelude::*;
use toolkit_mcp::{Bearer, HttpOptions, HttpService, cors, serve_http};
use toolkit_web::Tokens;

use crate::tool::{self, TOKEN};

/// Greets somebody.
#[tool(read_only)]
async fn greet(
    /** Whom to greet. */
    name: String,
    /** How many times. */
    count: u32,
) -> String {
    tool::greet(&name, count.into())
}

fn toolkit() -> Result<Toolkit> {
    Ok(Toolkit::builder().build()?)
}

/// Serves the tool at `/v1/tools/greet/call`, in all layers that the small host has.
pub(crate) async fn v1() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/v1/tools/{}/call", listener.local_addr()?, tool::NAME);
    Ok(toolkit_web::serve(toolkit()?, Tokens::shared(TOKEN), listener, CancellationToken::new()).await?)
}

/// Serves the tool at `/mcp`, in the layers that `toolkit mcp serve --http` has.
pub(crate) async fn mcp() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let options = HttpOptions::new();
    let origins = options.allowed_origins.clone();
    let service = Bearer::new(HttpService::new(toolkit()?, Caller::new(), options), TOKEN);
    Ok(serve_http(listener, cors(service, origins), CancellationToken::new()).await?)
}
