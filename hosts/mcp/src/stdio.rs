//! Serving the client that started this process, by its standard streams.

mod in_flight;
mod lines;
mod message;
mod output;
mod places;
mod queue;
mod streams;

use crate::server::faults::{INITIALIZE, invalid};
use crate::server::{ServerOptions, ToolServer};
use in_flight::{InFlight, Limits};
use lines::Lines;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcRequest, ServerJsonRpcMessage};
use rmcp::service::ServerInitializeError;
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt as _};
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use toolkit::{Caller, Toolkit};

/// The reason for which a client cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The standard streams cannot be reserved for the protocol.
    #[error("standard input and output cannot be kept for the protocol: {0}")]
    Streams(#[source] io::Error),
    /// The first message is not a valid beginning of the protocol.
    #[error("the client did not initialize as the protocol requires: {0}")]
    Beginning(#[source] Box<ServerInitializeError>),
    /// The task that serves stopped.
    #[error("serving stopped on an internal error: {0}")]
    Stopped(#[source] tokio::task::JoinError),
    /// The client sent requests, and read no answer for too long.
    #[error("the client read nothing for {} s while its requests waited, so it is not served any more", .0.as_secs_f64())]
    Unread(Duration),
}

/// Serves the tools of `toolkit` to the client at the other end of standard input and output, until it closes them. After the end of
/// standard input, calls that are in progress are finished and answered, unless the client has closed standard output too. Once
/// [`ServerOptions::shutdown`] is cancelled, calls are cancelled, and each request gets its result or an error.
///
/// The calls are made for `caller`; without a session of its own it gets one. Only the protocol reaches standard output,
/// whatever tools print: from here on everything printed in this process goes to standard error, and standard input is empty
/// for all other readers. So this is called once, and first.
///
/// At most [`ServerOptions::max_in_flight`] requests are handled at once. Further ones wait, and once 8192 of them, or 32 MiB, wait, further
/// ones are refused if the client reads its answers; if not, nothing more is read. No request
/// begins while 4 MiB of answers are not read.
///
/// # Errors
///
/// If the first message is not of the protocol, or the client reads nothing for [`ServerOptions::read_within`] while it has as much in
/// progress as it may. A disconnecting client is not an error.
pub async fn serve_stdio(toolkit: Toolkit, caller: Caller) -> Result<(), ServeError> {
    serve_stdio_with(toolkit, caller, ServerOptions::default()).await
}

/// Like [`serve_stdio`], with options.
///
/// # Errors
///
/// As [`serve_stdio`].
pub async fn serve_stdio_with(
    toolkit: Toolkit,
    caller: Caller,
    options: ServerOptions,
) -> Result<(), ServeError> {
    let (input, output, reader) = streams::take().map_err(ServeError::Streams)?;
    serve_over(toolkit, caller, options, (input, output), move || reader.is_gone()).await
}

/// Serves one client as [`serve_stdio_with`] does, over two streams that the host has, with a message on each line. Nothing is done to the standard
/// streams of the process.
///
/// # Errors
///
/// As [`serve_stdio`].
pub async fn serve_lines<R, W>(
    toolkit: Toolkit,
    caller: Caller,
    options: ServerOptions,
    read: R,
    write: W,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    serve_over(toolkit, caller, options, (read, write), || false).await
}

/// Serves one client over two streams. `is_gone` returns true once the client reads no answers any more.
async fn serve_over<R, W>(
    toolkit: Toolkit,
    caller: Caller,
    options: ServerOptions,
    (input, output): (R, W),
    is_gone: impl Fn() -> bool + Send + Sync + 'static,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let limits = Limits { max_in_flight: options.max_in_flight.max(1), read_within: options.read_within };
    // The end of this client ends no other.
    let shutdown = options.shutdown.child_token();
    let server = ToolServer::with_options(toolkit, caller, options);
    let lines = InFlight::new(Lines::new(input, output), limits, is_gone);
    let unread = lines.unread();
    let transport = Opening { transport: lines, begun: false };
    let running = match Box::pin(server.serve_with_ct(transport, shutdown)).await {
        Ok(running) => running,
        // The client closed the connection without a message.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(ServeError::Beginning(Box::new(error))),
    };
    running.waiting().await.map_err(ServeError::Stopped)?;
    if unread.load(Ordering::Acquire) { Err(ServeError::Unread(limits.read_within)) } else { Ok(()) }
}

/// A transport that answers an `initialize` with invalid parameters: rmcp would read it as a request for an unknown method.
struct Opening<T> {
    transport: T,
    /// True after a message other than that, which rmcp answers.
    begun: bool,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Opening<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.transport.receive().await?;
            if self.begun {
                return Some(message);
            }
            let Some(refusal) = refused(&message) else {
                self.begun = true;
                return Some(message);
            };
            self.transport.send(refusal).await.ok()?;
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}

/// Returns the answer to an `initialize` with invalid parameters.
fn refused(message: &ClientJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
    let ClientJsonRpcMessage::Request(JsonRpcRequest {
        id,
        request: ClientRequest::CustomRequest(request),
        ..
    }) = message
    else {
        return None;
    };
    let error = (request.method == INITIALIZE).then(|| invalid(INITIALIZE, request.params.as_ref()))??;
    Some(ServerJsonRpcMessage::error(error, Some(id.clone())))
}
