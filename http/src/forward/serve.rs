//! Connections of clients, and what becomes of each request.

use super::answer::{self, Answer};
use super::{Explain, ForwardLimits, Refusal};
use crate::client::authority;
use crate::limits::MAX_HEADERS;
use crate::{ConnectError, Guard, Refused, Target};
use http::header::{CONNECTION, HOST, HeaderName, PROXY_AUTHORIZATION, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{client, server};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// The pause after a failed `accept`: the process may have too many files open.
const PAUSE: Duration = Duration::from_millis(50);

/// The state that all connections share.
pub(super) struct Shared {
    pub(super) guard: Guard,
    pub(super) limits: ForwardLimits,
    pub(super) authorization: String,
    pub(super) refusals: Arc<Mutex<VecDeque<Refusal>>>,
    pub(super) explain: Box<Explain>,
}

/// Tunnels of one connection: at most one, once the connection speaks no HTTP any more.
type Tunnels = Arc<Mutex<JoinSet<()>>>;

/// Accepts connections until it is dropped.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(shared.limits.connections));
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let _place = place;
            serve(stream, shared).await;
        });
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let tunnels = Tunnels::default();
    let mut builder = server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(shared.limits.request_head)
        .max_headers(MAX_HEADERS)
        .max_header_size(shared.limits.header_bytes)
        .max_buf_size(shared.limits.header_bytes.max(8 << 10));
    let service = {
        let tunnels = Arc::clone(&tunnels);
        service_fn(move |request| {
            let (shared, tunnels) = (Arc::clone(&shared), Arc::clone(&tunnels));
            async move { Ok::<_, Infallible>(respond(request, &shared, &tunnels).await) }
        })
    };
    let _ = builder.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
    let mut tunnels = std::mem::take(&mut *tunnels.lock().unwrap_or_else(PoisonError::into_inner));
    while tunnels.join_next().await.is_some() {}
}

async fn respond(request: Request<Incoming>, shared: &Shared, tunnels: &Tunnels) -> Response<Answer> {
    let given = request.headers().get(PROXY_AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    if !is_same(given, shared.authorization.as_bytes()) {
        return answer::unknown_client();
    }
    if request.method() == Method::CONNECT {
        return tunnel(request, shared, tunnels).await;
    }
    match request.uri().scheme_str() {
        Some("http") => forward(request, shared).await,
        Some(_) => {
            answer::text(StatusCode::BAD_REQUEST, "this proxy takes http URLs, and CONNECT for all else")
        }
        None => answer::text(StatusCode::BAD_REQUEST, "this is a proxy: request whole URLs"),
    }
}

/// Compares in a time that does not depend on where the texts differ.
fn is_same(given: &[u8], expected: &[u8]) -> bool {
    given.len() == expected.len()
        && given.iter().zip(expected).fold(0, |differing, (one, other)| differing | (one ^ other)) == 0
}

async fn tunnel(request: Request<Incoming>, shared: &Shared, tunnels: &Tunnels) -> Response<Answer> {
    let named = request.uri().authority().map(ToString::to_string).unwrap_or_default();
    let checked = match request.uri().port() {
        Some(_) => shared.guard.check_authority(&named),
        None => Err(Refused::Invalid("it is not a host with a port")),
    };
    let connected = match checked {
        Ok(target) => shared.guard.connect(&target).await,
        Err(refused) => Err(refused.into()),
    };
    let mut server = match connected {
        Ok(server) => server,
        Err(error) => return shared.refuse(named, &error),
    };
    let work = async move {
        if let Ok(client) = hyper::upgrade::on(request).await {
            let _ = tokio::io::copy_bidirectional(&mut TokioIo::new(client), &mut server).await;
        }
    };
    tunnels.lock().unwrap_or_else(PoisonError::into_inner).spawn(work);
    answer::empty(StatusCode::OK)
}

async fn forward(mut request: Request<Incoming>, shared: &Shared) -> Response<Answer> {
    let url = request.uri().to_string();
    let connected = match shared.guard.check_url(&url) {
        Ok(target) => shared.guard.connect(&target).await.map(|stream| (target, stream)),
        Err(refused) => Err(refused.into()),
    };
    let (target, stream) = match connected {
        Ok(connected) => connected,
        Err(error) => return shared.refuse(shown(&url), &error),
    };
    if let Err(error) = prepare(&mut request, &target) {
        return answer::text(StatusCode::BAD_REQUEST, error);
    }
    let failed = |reason: &str| {
        let host = target.host().clone();
        shared.refuse(shown(&url), &ConnectError::Failed { host, reason: reason.to_owned() })
    };
    let connecting = client::conn::http1::Builder::new()
        .max_headers(MAX_HEADERS)
        .max_header_size(shared.limits.header_bytes)
        .handshake(TokioIo::new(stream));
    let Ok((mut sender, connection)) = connecting.await else { return failed("the connection was lost") };
    let mut task = JoinSet::new();
    task.spawn(async move {
        let _ = connection.await;
    });
    match timeout(shared.limits.first_byte, sender.send_request(request)).await {
        Ok(Ok(response)) => {
            let (mut parts, body) = response.into_parts();
            remove_hop_by_hop(&mut parts.headers);
            parts.version = Version::HTTP_11;
            Response::from_parts(parts, Answer::Server { body, _connection: task })
        }
        Ok(Err(_)) => failed("the server's answer cannot be read"),
        Err(_) => failed("the server did not answer in time"),
    }
}

/// The URL without its query, which may hold what a page does not want repeated.
fn shown(url: &str) -> String {
    url.split('?').next().unwrap_or_default().to_owned()
}

/// Makes a request to the proxy one to the server.
fn prepare(request: &mut Request<Incoming>, target: &Target) -> Result<(), &'static str> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let uri = path.parse::<Uri>().map_err(|_| "the path cannot be read")?;
    let host = HeaderValue::from_str(&authority(target)).map_err(|_| "the host cannot be read")?;
    *request.uri_mut() = uri;
    *request.version_mut() = Version::HTTP_11;
    let headers = request.headers_mut();
    remove_hop_by_hop(headers);
    headers.insert(HOST, host);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    Ok(())
}

/// Removes what concerns one connection alone (RFC 9110, section 7.6.1). The body is framed anew.
fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let own = [
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
    ];
    for name in own {
        headers.remove(name);
    }
    for name in [TRANSFER_ENCODING, UPGRADE].into_iter().chain(named) {
        headers.remove(name);
    }
}

impl Shared {
    /// The answer to a request that is not forwarded. It is noted.
    fn refuse(&self, target: String, error: &ConnectError) -> Response<Answer> {
        let reason = format!("{error}{}", (self.explain)(error));
        let status = match error {
            ConnectError::Refused(Refused::Invalid(_)) => StatusCode::BAD_REQUEST,
            ConnectError::Refused(_) => StatusCode::FORBIDDEN,
            ConnectError::TimedOut { .. } => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::BAD_GATEWAY,
        };
        let by_rule = matches!(error, ConnectError::Refused(_));
        self.note(Refusal { target, reason: reason.clone(), by_rule });
        answer::text(status, reason)
    }
}
