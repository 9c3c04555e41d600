//! Serving the client that started this process, by its standard streams.

use crate::server::faults::{INITIALIZE, invalid_initialize};
use crate::server::{ServerOptions, ToolServer};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcRequest, ServerJsonRpcMessage};
use rmcp::service::ServerInitializeError;
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServiceExt as _};
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
    let transport = Opening { transport: AsyncRwTransport::new_server(input, output), begun: false };
    let running = match server.serve(transport).await {
        Ok(running) => running,
        // Nobody said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Beginning(Box::new(error))),
    };
    running.waiting().await.map(|_| ()).map_err(ServeError::Stopped)
}

/// A transport that answers an `initialize` whose parameters cannot be read: rmcp would take it for a request of an unknown method.
struct Opening<T> {
    transport: T,
    /// Something else came, which rmcp answers.
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

/// The answer to an `initialize` whose parameters cannot be read.
fn refused(message: &ClientJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
    let ClientJsonRpcMessage::Request(JsonRpcRequest {
        id,
        request: ClientRequest::CustomRequest(request),
        ..
    }) = message
    else {
        return None;
    };
    let error = (request.method == INITIALIZE).then(|| invalid_initialize(request.params.as_ref()))??;
    Some(ServerJsonRpcMessage::error(error, Some(id.clone())))
}

#[cfg(unix)]
mod streams {
    use rustix::fs::{Mode, OFlags, open};
    use rustix::stdio::{dup2_stdin, dup2_stdout};
    use std::fs::File;
    use std::io;
    use std::os::fd::AsFd as _;

    /// Standard input and output, which are empty and standard error for everybody else from now on.
    pub(super) fn take() -> io::Result<(tokio::fs::File, tokio::fs::File)> {
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        let nothing = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        dup2_stdin(&nothing)?;
        dup2_stdout(io::stderr())?;
        Ok((tokio::fs::File::from_std(File::from(input)), tokio::fs::File::from_std(File::from(output))))
    }
}

#[cfg(not(unix))]
mod streams {
    use std::io;

    /// Standard input and output, which tools must not write to here.
    pub(super) fn take() -> io::Result<(tokio::io::Stdin, tokio::io::Stdout)> {
        Ok((tokio::io::stdin(), tokio::io::stdout()))
    }
}
