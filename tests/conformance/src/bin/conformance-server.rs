//! Serves the fixture on loopback and prints its address: `conformance-server [ADDRESS]`.

#![expect(clippy::print_stdout, reason = "who starts it reads the address")]

use std::error::Error;
use tokio::net::TcpListener;
use toolkit::{Caller, CancellationToken};
use toolkit_conformance::{Fixture, toolkit};
use toolkit_mcp::{HttpOptions, HttpService, at_path, serve_http};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let service = HttpService::with_handler(toolkit()?, Caller::new(), HttpOptions::new(), Fixture);
    serve_http(listener, at_path("/mcp", service), CancellationToken::new()).await?;
    Ok(())
}
