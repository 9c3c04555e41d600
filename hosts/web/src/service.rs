//! The small host: a listener, tokens, and the tools.

use crate::access::Access;
use crate::calls::KEY;
use crate::options::WebOptions;
use crate::routes::with_fallbacks;
use crate::web::Web;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;
use toolkit::{CancellationToken, Toolkit};
use toolkit_serve::axum::Router;
use toolkit_serve::axum::body::Body;
use toolkit_serve::axum::extract::{Request, State};
use toolkit_serve::axum::http::header::ALLOW;
use toolkit_serve::axum::middleware::map_request_with_state;
use toolkit_serve::{
    Addressed, AsListener, Bearer, BodyLimits, Bounded, ClientTokens, Cors, Listener, Principal, Revocation,
};

/// The client of all requests with the shared token.
const SHARED: &str = "shared";
/// Time for the body of a request to arrive.
const BODY_WITHIN: Duration = Duration::from_secs(30);
/// Requests of one client, or of one connection with the shared token, that are without an answer at once.
const MAX_REQUESTS: usize = 128;

/// The whole service, for `toolkit_serve::serve`.
pub type Service = Addressed<Cors<Bearer<Bounded<Router>>>>;

/// The tokens that a small host knows.
///
/// All requests with the shared token are one client: they share a session, keyed calls, stored files and questions. Each principal of
/// [client tokens](Self::clients) is a client of its own.
#[derive(Debug)]
pub struct Tokens {
    shared: Option<SharedToken>,
    clients: Option<ClientTokens>,
}

enum SharedToken {
    Text(String),
    File(PathBuf),
}

impl std::fmt::Debug for SharedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(_) => f.write_str("a token"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

impl Tokens {
    /// One token that clients share.
    pub fn shared(token: impl Into<String>) -> Self {
        Self { shared: Some(SharedToken::Text(token.into())), clients: None }
    }

    /// The token that clients share, in a file; see [`Bearer::of_file`].
    pub fn of_file(path: impl Into<PathBuf>) -> Self {
        Self { shared: Some(SharedToken::File(path.into())), clients: None }
    }

    /// Tokens of single clients, and no shared one.
    pub fn of_clients(clients: ClientTokens) -> Self {
        Self { shared: None, clients: Some(clients) }
    }

    /// Adds tokens of single clients.
    #[must_use]
    pub fn clients(self, clients: ClientTokens) -> Self {
        Self { clients: Some(clients), ..self }
    }

    fn bearer<S>(self, inner: S) -> Bearer<S> {
        let bearer = match self.shared {
            Some(SharedToken::Text(token)) => Bearer::new(inner, &token),
            Some(SharedToken::File(path)) => Bearer::of_file(inner, path),
            // An empty path holds no token.
            None => Bearer::of_file(inner, PathBuf::new()),
        };
        match self.clients {
            Some(clients) => bearer.clients(clients),
            None => bearer,
        }
    }
}

/// The reason why a service cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The listener is reached from other machines, and nothing encrypts.
    #[error(
        "{address} is reached from other machines, and this server does not encrypt: listen on 127.0.0.1, or state that a proxy does TLS (`WebOptions::behind_proxy`)"
    )]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// The listener failed.
    #[error("serving ended: {0}")]
    Io(#[from] io::Error),
}

/// The future of a server: it ends after a shutdown. Its type does not name the listener's, so that a wrong one is a single error.
pub type Serving = Pin<Box<dyn Future<Output = Result<(), ServeError>> + Send>>;

/// Serves the tools of a toolkit until `shutdown` is cancelled, with the default options.
///
/// # Errors
///
/// As [`Web::serve`].
pub fn serve(
    toolkit: Toolkit,
    tokens: Tokens,
    listener: impl AsListener,
    shutdown: CancellationToken,
) -> Serving {
    Web::new(toolkit, WebOptions::new().shutdown(shutdown)).serve(tokens, listener)
}

impl Web {
    /// Returns the whole service of the small host, with all routes. It answers for this machine and for the hosts and origins of the options.
    pub fn service(&self, tokens: Tokens) -> Service {
        self.service_within(tokens, |inner| inner)
    }

    /// Returns the whole service with another one around what needs a token. Hosts and origins are checked before it.
    fn service_within<S>(
        &self,
        tokens: Tokens,
        around: impl FnOnce(Bearer<Bounded<Router>>) -> S,
    ) -> Addressed<Cors<S>> {
        let options = self.options();
        let router = self.tool_routes().merge(self.about_routes()).merge(self.ask_routes());
        let router = with_fallbacks(router).layer(map_request_with_state(self.clone(), with_access));
        let bounded =
            Bounded::new(router).body(BodyLimits::new(options.max_body, BODY_WITHIN)).requests(MAX_REQUESTS);
        let local = ["localhost", "127.0.0.1", "[::1]"];
        let origins = local.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
        let cors = Cors::new(around(tokens.bearer(bounded)), origins.chain(options.origins.iter().cloned()));
        let cors = cors.request_headers(&[KEY]).answer_headers(&[ALLOW]);
        Addressed::local(cors).hosts(&options.hosts).origins(&options.origins)
    }

    /// Serves until the shutdown of the options; then calls that run are cancelled, and pending answers have five seconds.
    ///
    /// # Errors
    ///
    /// [`ServeError::Open`] if the listener is reached from other machines, without TLS of its own or of a proxy.
    pub fn serve(&self, tokens: Tokens, listener: impl AsListener) -> Serving {
        let (web, listener) = (self.clone(), listener.into_listener());
        Box::pin(async move {
            let (listener, shutdown) = web.checked(listener)?;
            Ok(toolkit_serve::serve(listener, web.service(tokens), shutdown).await?)
        })
    }

    /// Serves with routes around those that need a token.
    pub(crate) fn serve_within(
        &self,
        tokens: Tokens,
        listener: impl AsListener,
        around: impl FnOnce(Bearer<Bounded<Router>>) -> Router + Send + 'static,
    ) -> Serving {
        let (web, listener) = (self.clone(), listener.into_listener());
        Box::pin(async move {
            let (listener, shutdown) = web.checked(listener)?;
            Ok(toolkit_serve::serve(listener, web.service_within(tokens, around), shutdown).await?)
        })
    }

    fn checked(&self, listener: Listener) -> Result<(Listener, CancellationToken), ServeError> {
        let address = listener.local_addr()?;
        let is_safe = address.ip().is_loopback() || listener.encrypts() || self.options().is_behind_proxy;
        if !is_safe {
            return Err(ServeError::Open { address });
        }
        Ok((listener, self.options().shutdown.clone()))
    }
}

/// Adds the access of the client to a request.
async fn with_access(State(web): State<Web>, mut request: Request<Body>) -> Request<Body> {
    let options = web.options();
    let extensions = request.extensions_mut();
    let (principal, revocation) = (extensions.get::<Principal>(), extensions.get::<Revocation>().cloned());
    let client = principal.map_or_else(|| SHARED.to_owned(), |Principal(name)| name.clone());
    let mut access = Access::new(client, options.caller.clone())
        .asking(options.asking)
        .as_owner(options.is_owner)
        .revoked_with(revocation);
    if let Some(Principal(name)) = principal {
        access = access.answered_by(name);
    }
    extensions.insert(access);
    request
}
