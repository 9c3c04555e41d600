//! The tool with this framework: validated by its schema, through all of the call path.

use crate::Result;
use tokio::net::TcpListener;
use toolkit::CancellationToken;
use toolkit::prelude::*;
use toolkit_mcp::{HttpOptions, HttpService, serve_http, serve_stdio};

/// Greets somebody.
#[tool(read_only)]
async fn greet(
    /** Whom to greet. */
    name: String,
    /** How many times. */
    count: u32,
) -> String {
    format!("hello {name} {count}")
}

fn toolkit() -> Result<Toolkit> {
    Ok(Toolkit::builder().build()?)
}

pub(crate) async fn stdio() -> Result<()> {
    Ok(serve_stdio(toolkit()?, Caller::new()).await?)
}

pub(crate) async fn http() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let mut options = HttpOptions::new();
    options.most_sessions = 10_000;
    let service = HttpService::new(toolkit()?, Caller::new(), options);
    Ok(serve_http(listener, service, CancellationToken::new()).await?)
}
