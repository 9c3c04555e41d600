//! Serving the client that started this process, by its standard streams.

mod lines;
mod message;
mod output;
mod streams;

use crate::server::{ServerOptions, ToolServer};
use lines::Lines;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use std::io;
use toolkit::{Caller, Toolkit};

/// Why a client cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The standard streams cannot be had for the protocol alone.
    #[error("standard input and output cannot be kept for the protocol: {0}")]
    Streams(#[source] io::Error),
    /// What came first is not what a client of the protocol says first.
    #[error("the client did not begin as the protocol says: {0}")]
    Beginning(#[source] Box<ServerInitializeError>),
    /// The task that serves stopped.
    #[error("serving stopped on an internal error: {0}")]
    Stopped(#[source] tokio::task::JoinError),
}

/// Serves the tools of `toolkit` to the client at the other end of standard input and output, until it closes them.
///
/// `caller` is whom the calls are made for; without a session of its own it gets one. Nothing but the protocol reaches standard
/// output, whatever tools print: from here on what is printed in this process goes to standard error, and standard input is
/// empty for all others. So this is called once, and first.
///
/// # Errors
///
/// When what comes first is not the protocol. That the client goes away is none.
pub async fn serve_stdio(toolkit: Toolkit, caller: Caller) -> Result<(), ServeError> {
    serve_stdio_with(toolkit, caller, ServerOptions::default()).await
}

/// As [`serve_stdio`], with options.
///
/// # Errors
///
/// As [`serve_stdio`].
pub async fn serve_stdio_with(
    toolkit: Toolkit,
    caller: Caller,
    options: ServerOptions,
) -> Result<(), ServeError> {
    let server = ToolServer::with_options(toolkit, caller, options);
    let (input, output) = streams::take().map_err(ServeError::Streams)?;
    let running = match server.serve(Lines::new(input, output)).await {
        Ok(running) => running,
        // Nobody said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Beginning(Box::new(error))),
    };
    running.waiting().await.map(|_| ()).map_err(ServeError::Stopped)
}
