//! Accepts and serves connections, up to a maximum number, until shutdown.

use crate::addresses::Addresses;
use crate::connection::Connection;
use crate::stalled::Stalling;
use crate::upgrades::Upgrades;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
#[cfg(feature = "tls")]
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_service::Service;

/// Delay before the next `accept` if the system has no resources for a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Limits of a listener.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Maximum number of connections at once, upgraded ones included; further ones wait. 1,024 by default.
    pub max_connections: usize,
    /// Maximum number of connections at once from one address, or one network of IPv6 with a prefix of 64 bits; further ones are closed. 256 by
    /// default. Connections from this machine have no such limit, since all of its programs, and a proxy there, share an address.
    pub max_of_address: usize,
    /// Time limit for the head of a request; 10 seconds by default.
    pub head_within: Duration,
    /// Time after which a connection ends whose client reads nothing of what is sent to it; 2 minutes by default. What waits for such a client takes
    /// memory and places that others need.
    pub read_within: Duration,
    /// Time for pending answers and upgraded connections to finish at shutdown; 5 seconds by default.
    pub end_within: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            max_connections: 1_024,
            max_of_address: 256,
            head_within: Duration::from_secs(10),
            read_within: Duration::from_mins(2),
            end_within: Duration::from_secs(5),
        }
    }
}

/// The future of a server: it ends after a shutdown. Its type does not name the listener's, so that a wrong one is a single error.
pub type Serving = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// A listener that a server accepts connections from: tokio's [`TcpListener`], or one with TLS.
// A trait of its own, so that an address is one compile error that says what to write.
#[diagnostic::on_unimplemented(
    message = "a server takes a listener of tokio that is bound to an address",
    label = "not a `tokio::net::TcpListener`",
    note = "of an address: `tokio::net::TcpListener::bind(\"127.0.0.1:8808\").await?`",
    note = "of a listener of the standard library: `listener.set_nonblocking(true)?`, then `tokio::net::TcpListener::from_std(listener)?`"
)]
pub trait AsListener: Send {
    #[doc(hidden)]
    fn into_listener(self) -> Listener;
}

#[diagnostic::do_not_recommend]
impl AsListener for TcpListener {
    fn into_listener(self) -> Listener {
        Listener {
            tcp: self,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

/// Begins TLS with a client.
#[cfg(feature = "tls")]
pub(crate) type BeginTls = Arc<dyn Fn(TcpStream) -> Beginning + Send + Sync>;
/// The future of a [`BeginTls`].
#[cfg(feature = "tls")]
pub(crate) type Beginning =
    Pin<Box<dyn Future<Output = io::Result<tokio_rustls::server::TlsStream<TcpStream>>> + Send>>;

/// A listener, with TLS or without.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "it is of this crate alone")]
pub struct Listener {
    tcp: TcpListener,
    #[cfg(feature = "tls")]
    tls: Option<BeginTls>,
}

#[diagnostic::do_not_recommend]
impl AsListener for Listener {
    fn into_listener(self) -> Listener {
        self
    }
}

impl Listener {
    /// Returns the address that it is bound to.
    ///
    /// # Errors
    ///
    /// That of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// Returns true if its connections are encrypted.
    pub fn encrypts(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        false
    }

    #[cfg(feature = "tls")]
    pub(crate) fn tls(tcp: TcpListener, tls: BeginTls) -> Self {
        Self { tcp, tls: Some(tls) }
    }
}

/// Serves HTTP/1.1 on `listener` with `service`, up to 1,024 connections at once, until `shutdown` is cancelled; then pending answers
/// have five seconds to finish. A connection also ends when a token that it used is revoked.
///
/// The extensions of each request have its [`Connection`]. A service may upgrade a connection.
///
/// # Errors
///
/// None at present: a failure affects only its connection.
pub fn serve<S, A>(listener: impl AsListener, service: S, shutdown: CancellationToken) -> Serving
where
    S: Service<Request<Incoming>, Response = Response<A>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    A: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    serve_with(listener, service, shutdown, ServeOptions::default())
}

/// Serves as [`serve`] does, with other limits.
///
/// # Errors
///
/// None at present: a failure affects only its connection.
pub fn serve_with<S, A>(
    listener: impl AsListener,
    service: S,
    shutdown: CancellationToken,
    options: ServeOptions,
) -> Serving
where
    S: Service<Request<Incoming>, Response = Response<A>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    A: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    Box::pin(accept(listener.into_listener(), service, shutdown, options))
}

async fn accept<S, A>(
    listener: Listener,
    service: S,
    shutdown: CancellationToken,
    options: ServeOptions,
) -> io::Result<()>
where
    S: Service<Request<Incoming>, Response = Response<A>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    A: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(options.max_connections.min(Semaphore::MAX_PERMITS)));
    let addresses = Addresses::new(options.max_of_address);
    let mut connections = JoinSet::new();
    let tasks = TaskTracker::new();
    // Cancelled when this function ends, also if its future is dropped.
    let stopped = CancellationToken::new();
    let _stops = stopped.clone().drop_guard();
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = async {
            let place = Arc::clone(&room).acquire_owned().await.map_err(io::Error::other)?;
            let (stream, peer) = listener.tcp.accept().await?;
            Ok::<_, io::Error>((place, stream, peer))
        };
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = accepted => accepted,
        };
        let (place, stream, peer) = match accepted {
            Ok(accepted) => accepted,
            // One that was gone already, or too many open files.
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Some(of_address) = addresses.enter(peer.ip()) else {
            tracing::debug!(%peer, "a connection was closed: its address has as many as it may");
            continue;
        };
        let _ = stream.set_nodelay(true);
        let upgrades = Upgrades::new(shutdown.clone(), stopped.clone(), tasks.clone(), (place, of_address));
        let connection = Connection::accepted(upgrades.clone(), peer);
        let service = OfConnection { inner: service.clone(), connection: connection.clone() };
        let shutdown = shutdown.clone();
        #[cfg(feature = "tls")]
        let tls = listener.tls.clone();
        connections.spawn(async move {
            let one = One { service, connection, shutdown: shutdown.clone(), options };
            #[cfg(feature = "tls")]
            match tls {
                None => one.serve(stream).await,
                Some(tls) => {
                    let begun = handshake(&tls, stream, options.head_within);
                    let begun = tokio::select! {
                        begun = begun => begun,
                        () = shutdown.cancelled() => None,
                    };
                    if let Some(stream) = begun {
                        one.serve(stream).await;
                    }
                }
            }
            #[cfg(not(feature = "tls"))]
            one.serve(stream).await;
            upgrades.release();
        });
    }
    tasks.close();
    let ended = async {
        while connections.join_next().await.is_some() {}
        tasks.wait().await;
    };
    // Connections that are still open end when they are dropped here.
    let _ = tokio::time::timeout(options.end_within, ended).await;
    Ok(())
}

/// One connection.
struct One<S> {
    service: OfConnection<S>,
    connection: Connection,
    shutdown: CancellationToken,
    options: ServeOptions,
}

impl<S, A> One<S>
where
    S: Service<Request<Incoming>, Response = Response<A>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    A: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    /// Serves it until it ends.
    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let stream = Stalling::new(stream, self.options.read_within);
        let serving = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.options.head_within)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(self.service))
            .with_upgrades();
        let mut serving = std::pin::pin!(serving);
        tokio::select! {
            ended = &mut serving => log(ended),
            // The answers to a client whose token was revoked are not waited for.
            () = self.connection.revoked() => tracing::debug!("a connection ended with its token"),
            () = self.shutdown.cancelled() => {
                serving.as_mut().graceful_shutdown();
                log(serving.await);
            }
        }
    }
}

/// Begins TLS; `None` if that failed, or took too long.
#[cfg(feature = "tls")]
async fn handshake(
    tls: &BeginTls,
    stream: TcpStream,
    within: Duration,
) -> Option<tokio_rustls::server::TlsStream<TcpStream>> {
    match tokio::time::timeout(within, tls(stream)).await {
        Ok(Ok(stream)) => return Some(stream),
        Ok(Err(error)) => tracing::debug!(%error, "a connection did not begin TLS"),
        Err(_) => tracing::debug!("a connection did not begin TLS in time"),
    }
    None
}

/// A service for the requests of one connection: it adds the [`Connection`] to each.
#[derive(Clone)]
struct OfConnection<S> {
    inner: S,
    connection: Connection,
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
