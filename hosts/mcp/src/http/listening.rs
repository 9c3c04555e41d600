//! Accepts and serves connections, up to a maximum number, until shutdown.

use super::service::HttpBody;
use crate::server::Connection;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use toolkit::CancellationToken;
use tower_service::Service;

/// Maximum number of connections at once; further ones wait.
const MAX_CONNECTIONS: usize = 1_024;
/// Time limit for the head of a request.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// Time for pending answers to finish at shutdown.
const END_WITHIN: Duration = Duration::from_secs(5);
/// Delay before the next `accept` if the system has no resources for a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves HTTP/1.1 on `listener` with `service`, up to 1,024 connections at once, until `shutdown` is cancelled; then pending answers
/// have five seconds to finish. A connection also ends when a token that it used is revoked.
///
/// # Errors
///
/// None at present: a failure affects only its connection.
pub async fn serve_http<S>(listener: TcpListener, service: S, shutdown: CancellationToken) -> io::Result<()>
where
    S: Service<Request<Incoming>, Response = Response<HttpBody>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = async {
            let permit = Arc::clone(&room).acquire_owned().await.map_err(io::Error::other)?;
            let (stream, _) = listener.accept().await?;
            Ok::<_, io::Error>((permit, stream))
        };
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = accepted => accepted,
        };
        let (permit, stream) = match accepted {
            Ok(accepted) => accepted,
            // One that was gone already, or too many open files.
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let (service, shutdown) = (OfConnection::new(service.clone()), shutdown.clone());
        let connection = service.connection.clone();
        connections.spawn(async move {
            let serving = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_WITHIN)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
            let mut serving = std::pin::pin!(serving);
            tokio::select! {
                ended = &mut serving => log(ended),
                // The answers to a client whose token was revoked are not waited for.
                () = connection.revoked() => tracing::debug!("a connection ended with its token"),
                () = shutdown.cancelled() => {
                    serving.as_mut().graceful_shutdown();
                    log(serving.await);
                }
            }
            drop(permit);
        });
    }
    let ended = tokio::time::timeout(END_WITHIN, async { while connections.join_next().await.is_some() {} });
    // Connections that are still open end when they are dropped here.
    let _ = ended.await;
    Ok(())
}

/// A service for the requests of one connection: it adds the [`Connection`] to each.
#[derive(Clone)]
struct OfConnection<S> {
    inner: S,
    connection: Connection,
}

impl<S> OfConnection<S> {
    fn new(inner: S) -> Self {
        Self { inner, connection: Connection::new() }
    }
}

impl<S, B> Service<Request<B>> for OfConnection<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(task)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        request.extensions_mut().insert(self.connection.clone());
        self.inner.call(request)
    }
}

fn log(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}
