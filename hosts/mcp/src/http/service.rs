//! The service: limits around rmcp's.

use super::ending::{Ended, Ending};
use super::recorded::Recorded;
use super::sessions::{InProgress, InUse, ProtocolSessions, note_made, place, sender};
use super::stored_answers::Place as EventPlace;
use crate::server::faults::{self, INITIALIZE, invalid, is_list};
use crate::server::no_message;
use crate::server::{NoPlace, Owned, Place, Sender, ServerOptions, Stateless, ToolServer};
use bytes::{Buf, Bytes};
use http::{HeaderName, Method, Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use rmcp::ServerHandler;
use rmcp::model::{ProtocolVersion, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;
use toolkit::memory::{self, OutOfMemory, ReservedMemory};
use toolkit::{Caller, CancellationToken, Toolkit};
use toolkit_serve::{BodyLimits, Connection, Cors, Principal, Problem, whole};
use tower_service::Service;

/// Maximum length in bytes of a request whose parameters are checked before a handler gets it.
const MAX_CHECKED: usize = 64 << 10;

/// Time limit for the end of an idle session that makes room for another one.
const FREED_WITHIN: Duration = Duration::from_secs(5);

/// Limits of an HTTP service, and the hosts and origins that it answers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Information that the server sends about itself, and its other limits.
    pub server: ServerOptions,
    /// Hosts, `name` or `name:port`, that requests may be addressed to; those of this machine by default. This prevents DNS rebinding: a
    /// page whose name resolves to this machine could send requests otherwise.
    pub allowed_hosts: Vec<String>,
    /// Origins, `https://name:port`, of pages that may send requests; those of this machine by default.
    pub allowed_origins: Vec<String>,
    /// Maximum number of bytes of a request; 4 MiB by default.
    pub max_body: usize,
    /// Time limit for a request to arrive; 30 seconds by default.
    pub body_within: Duration,
    /// Maximum number of concurrent sessions and requests; 1,000 by default. Each session ends with its client, or after the time `idle`
    /// without a request. Beyond the maximum, the session that was idle for the longest time ends first, unless it has background jobs that
    /// would end with it.
    pub most_sessions: usize,
    /// Maximum number of concurrent sessions and requests of one principal; 200 by default. Beyond it, its own session that was idle for the
    /// longest time ends first.
    pub most_sessions_of_principal: usize,
    /// Time for which a session is kept without a request, and a principal's background jobs without a request and a session; half an hour
    /// by default. A call that runs and a stream that is open count as a request. After it, requests of the session are answered with 404.
    pub idle: Duration,
    /// Ends the service: calls that run are cancelled, each request gets its result or an error, and sessions and streams end.
    pub shutdown: CancellationToken,
    /// Time for the calls that are cancelled at shutdown to answer; 3 seconds by default. The listener has to wait longer.
    pub end_within: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        let local = ["localhost", "127.0.0.1", "[::1]"];
        Self {
            server: ServerOptions::default(),
            allowed_hosts: vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()],
            allowed_origins: local
                .iter()
                .flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")])
                .collect(),
            max_body: 4 << 20,
            body_within: Duration::from_secs(30),
            most_sessions: 1_000,
            most_sessions_of_principal: 200,
            idle: Duration::from_mins(30),
            shutdown: CancellationToken::new(),
            end_within: Duration::from_secs(3),
        }
    }
}

impl HttpOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets requests be for these hosts too.
    #[must_use]
    pub fn allow_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed_hosts.extend(hosts.into_iter().map(Into::into));
        self
    }

    /// Lets pages of these origins send requests too.
    #[must_use]
    pub fn allow_origins(mut self, origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed_origins.extend(origins.into_iter().map(Into::into));
        self
    }
}

/// Serves a toolkit to any number of clients over HTTP: a tower service, for any path that you give it. Cheap to clone.
///
/// The service authenticates nobody: put an authenticating layer around it, [`Bearer`](crate::Bearer) or your own, which adds a
/// [`Principal`](crate::Principal) for each client to the request's extensions.
pub struct HttpService<H = ToolServer> {
    inner: StreamableHttpService<H, ProtocolSessions>,
    sessions: Arc<ProtocolSessions>,
    stateless: Arc<Stateless>,
    /// Held while idle sessions end to make room.
    making: Arc<tokio::sync::Mutex<()>>,
    over: Arc<Over>,
    options: Arc<HttpOptions>,
}

/// Time between the end of the streams and that of the sessions of rmcp, with which its streams would end without a word.
const AFTER_STREAMS: Duration = Duration::from_millis(500);

/// The end of the sessions of rmcp some time after the shutdown.
struct Over {
    token: CancellationToken,
    task: OnceLock<Owned>,
}

impl Over {
    fn new(token: CancellationToken) -> Self {
        Self { token, task: OnceLock::new() }
    }

    /// Waits for the end on a task, from the first request on, since a service is made without a runtime.
    fn watch(&self, ending: impl FnOnce() -> Ending) {
        self.task.get_or_init(|| {
            let (ending, token) = (ending(), self.token.clone());
            Owned::new(async move {
                ending.over().await;
                // Streams that end by themselves tell the reason.
                tokio::time::sleep(AFTER_STREAMS).await;
                token.cancel();
            })
        });
    }
}

impl<H> Clone for HttpService<H> {
    fn clone(&self) -> Self {
        let (sessions, stateless) = (Arc::clone(&self.sessions), Arc::clone(&self.stateless));
        let (making, over) = (Arc::clone(&self.making), Arc::clone(&self.over));
        let options = Arc::clone(&self.options);
        Self { inner: self.inner.clone(), sessions, stateless, making, over, options }
    }
}

impl<H> std::fmt::Debug for HttpService<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpService").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The body of an answer, whole or streamed.
pub type HttpBody = BoxBody<Bytes, Infallible>;

impl HttpService {
    /// Serves the tools that `caller` may use. Each session of the protocol is a session of the toolkit. Requests of the protocol without
    /// sessions share a session by their [`Principal`](crate::Principal), else by their [`Connection`](crate::Connection), else not at
    /// all. Sessions without a principal share the read state of files, for [`idle`](HttpOptions::idle): a client that read a file
    /// through a connection that was closed since may write it through the next.
    pub fn new(toolkit: Toolkit, caller: Caller, options: HttpOptions) -> Self {
        Self::with_handler(toolkit, caller, options, |tools| tools)
    }
}

impl<H: ServerHandler> HttpService<H> {
    /// Serves custom handlers, each with the tools of one client, to which it forwards requests about tools; see [`ToolServer`].
    pub fn with_handler(
        toolkit: Toolkit,
        caller: Caller,
        mut options: HttpOptions,
        handler: impl Fn(ToolServer) -> H + Send + Sync + 'static,
    ) -> Self {
        options.server.shutdown = options.shutdown.clone();
        let base = ToolServer::with_options(toolkit, caller, options.server.clone());
        let stateless = Stateless::new(base, options.idle);
        let make = {
            let (stateless, most) = (Arc::clone(&stateless), options.most_sessions);
            let most_of_principal = options.most_sessions_of_principal;
            move || {
                let sender = sender();
                let place = match place() {
                    Some(place) => place,
                    None => stateless
                        .take_place(sender.principal.as_ref(), most, most_of_principal)
                        .map_err(|_| io::Error::other(format!("{most} sessions are open already")))?,
                };
                let server = stateless.server(sender, place);
                note_made(server.session_id());
                Ok(handler(server))
            }
        };
        let sessions = ProtocolSessions::new(options.idle);
        // rmcp ends all streams with its token, answered or not.
        let over = CancellationToken::new();
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(options.allowed_hosts.iter())
            .with_allowed_origins(options.allowed_origins.iter())
            .enforce_origin_validation()
            .with_max_request_body_bytes(options.max_body)
            .with_cancellation_token(over.clone());
        let inner = StreamableHttpService::new(make, Arc::clone(&sessions), config);
        Self {
            inner,
            sessions,
            stateless,
            making: Arc::default(),
            over: Arc::new(Over::new(over)),
            options: Arc::new(options),
        }
    }

    fn ending(&self) -> Ending {
        Ending::new(self.options.shutdown.clone(), self.options.end_within)
    }

    /// Takes the place of one more session or request, by the end of an idle session if needed: one of the same principal first. Returns the
    /// reason if there is none.
    async fn place(&self, principal: Option<&Principal>) -> Result<Place, String> {
        let (most, most_of_principal) = (self.options.most_sessions, self.options.most_sessions_of_principal);
        let take = || self.stateless.take_place(principal, most, most_of_principal);
        if let Ok(place) = take() {
            return Ok(place);
        }
        let goes_on = |session: &str| self.stateless.toolkit().has_background_work(session);
        let making = async {
            // One at a time, so that no more sessions end than are needed.
            let _turn = self.making.lock().await;
            loop {
                let freed = self.stateless.freed();
                let full = match take() {
                    Ok(place) => return Ok(place),
                    Err(full) => full,
                };
                let has_ended = principal.is_some() && self.sessions.end_longest_idle(principal, goes_on)
                    || full == NoPlace::OfAll && self.sessions.end_longest_idle(None, goes_on);
                if !has_ended {
                    return Err(match full {
                        NoPlace::OfAll => {
                            format!("{most} sessions are open already, and none of them is idle; try later")
                        }
                        NoPlace::OfPrincipal => format!(
                            "this client has {most_of_principal} sessions and requests already, and none of the sessions is idle; end one, or \
                             try later"
                        ),
                    });
                }
                freed.await;
            }
        };
        let made = tokio::time::timeout(FREED_WITHIN, making).await;
        made.unwrap_or_else(|_| Err(format!("{most} sessions are open already; try later")))
    }

    /// Reserves the memory of the text of a request, before it is read. Without a length, it may have the greatest one.
    fn memory(&self, headers: &http::HeaderMap) -> Result<ReservedMemory, OutOfMemory> {
        let length = text(headers, "content-length").and_then(|length| length.parse().ok());
        let most = self.options.max_body as u64;
        memory::reserve(length.unwrap_or(most).min(most))
    }

    async fn answer<B>(self, request: Request<B>) -> Response<HttpBody>
    where
        B: Body<Data: Send> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        self.over.watch(|| self.ending());
        let (mut parts, body) = request.into_parts();
        // By which of two would it be decided whether the request is for this host?
        if parts.headers.get_all(http::header::HOST).iter().count() > 1 {
            return refusal(StatusCode::BAD_REQUEST, "a request has one `Host` header");
        }
        let body = if parts.method == Method::POST {
            let no_memory = |full: OutOfMemory| {
                let text = format!("there is not enough memory for the request: {full}");
                let busy = Problem::new(StatusCode::SERVICE_UNAVAILABLE, text);
                busy.retry_after(Duration::from_secs(5)).into_response()
            };
            let of_text = match self.memory(&parts.headers) {
                Ok(memory) => memory,
                Err(full) => {
                    discard(body, self.options.max_body, self.options.body_within).await;
                    return no_memory(full);
                }
            };
            let body =
                match whole(body, BodyLimits::new(self.options.max_body, self.options.body_within)).await {
                    Ok(body) => body,
                    Err(problem) => return problem.into_response(),
                };
            drop(of_text);
            match memory::reserve(no_message::memory_of(&body)) {
                // It is held until the request is handled.
                Ok(memory) => drop(parts.extensions.insert(memory)),
                Err(full) => return no_memory(full),
            }
            body
        } else {
            Bytes::new()
        };
        if let Some(refusal) = refused_params(&parts.headers, &body) {
            return refusal;
        }
        let sender = Sender::named(&parts.extensions);
        let mut place = None;
        if parts.method == Method::POST && !parts.headers.contains_key(SESSION) {
            match self.place(sender.principal.as_ref()).await {
                Ok(taken) => place = Some(taken),
                Err(text) => {
                    let busy = Problem::new(StatusCode::SERVICE_UNAVAILABLE, text);
                    return busy.retry_after(Duration::from_secs(5)).into_response();
                }
            }
        }
        if let (Some(connection), Some(revocation)) =
            (parts.extensions.get::<Connection>(), &sender.revocation)
        {
            connection.ends_with(revocation);
        }
        let in_use = text(&parts.headers, SESSION)
            .and_then(|session| self.sessions.enter(session, sender.principal.as_ref()));
        let id = request_id(&body);
        if let Some(in_use) = &in_use {
            // Both go to the handler with the request, and are dropped with it.
            parts.extensions.insert(in_use.clone());
            if let Some(id) = &id {
                let Some(in_progress) = InProgress::of(in_use.session(), id.clone()) else {
                    return json(&ServerJsonRpcMessage::error(faults::in_use(id), Some(id.clone())));
                };
                parts.extensions.insert(in_progress);
            }
        }
        let (method, is_json) = (parts.method.clone(), is_json(&parts.headers));
        let resumes = text(&parts.headers, "last-event-id").and_then(EventPlace::parse);
        let request = Request::from_parts(parts, Full::new(body.clone()));
        let handled = ProtocolSessions::handle(sender, place, self.inner.handle(request));
        let mut answer = match self.ending().answer(id.clone(), handled).await {
            Ok(answer) => answer,
            Err(interrupted) => return json(&interrupted),
        };
        if is_event_stream(&answer) {
            let earlier = resumes.zip(in_use.as_ref());
            let of_resumed = || earlier.and_then(|(last, in_use)| in_use.session().request_of(last.stream));
            let (ending, request) = (self.ending(), id.clone().or_else(of_resumed));
            answer = answer.map(|body| BodyExt::boxed(Ended::new(body, ending, request, resumes.is_some())));
        }
        // rmcp has the same status for a body of another type and for JSON that is no message.
        if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            answer = no_message(&body);
        }
        if method == Method::DELETE && answer.status() == StatusCode::ACCEPTED {
            // The session has ended, and no response follows: clients understand 202 as "later".
            return if in_use.is_some() { empty(StatusCode::NO_CONTENT) } else { unknown_session() };
        }
        if let Some(in_use) = in_use {
            return of_session(answer, in_use, id, resumes.filter(|_| method == Method::GET)).await;
        }
        answer
    }
}

/// Reads a body and drops it: a client that is still sending would not see the answer.
async fn discard<B: Body>(body: B, max: usize, within: Duration) {
    let mut body = std::pin::pin!(body);
    let mut left = max;
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            let bytes = frame.data_ref().map_or(0, Buf::remaining);
            match left.checked_sub(bytes) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    let _ = tokio::time::timeout(within, reading).await;
}

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// Returns the text of a header.
fn text<'a>(headers: &'a http::HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The answer to a request of a session that does not exist, or belongs to another principal.
fn unknown_session() -> Response<HttpBody> {
    refusal(StatusCode::NOT_FOUND, "this session does not exist; `initialize` begins one")
}

/// Returns the answer to a request of a session, `request` if it has an ID. `resumes` is the last event of a stream that the client has read.
async fn of_session(
    answer: Response<HttpBody>,
    in_use: InUse,
    request: Option<RequestId>,
    resumes: Option<EventPlace>,
) -> Response<HttpBody> {
    // The session ended between the search for it and its use.
    if answer.status() == StatusCode::INTERNAL_SERVER_ERROR {
        return unknown_session();
    }
    if !is_event_stream(&answer) {
        return answer;
    }
    // rmcp forgets an answer as soon as it is written.
    if let Some(last) = resumes
        && let Some(events) = in_use.session().after(last).await
    {
        let events = futures_util::stream::iter(events.into_iter().map(|event| Ok(Frame::data(event))));
        return answer.map(|_| BodyExt::boxed(StreamBody::new(events)));
    }
    answer.map(|body| BodyExt::boxed(Recorded::new(body, in_use, request)))
}

fn is_event_stream(answer: &Response<HttpBody>) -> bool {
    text(answer.headers(), "content-type")
        .is_some_and(|content_type| content_type.starts_with("text/event-stream"))
}

/// Returns true if the body of a request is JSON by its headers.
fn is_json(headers: &http::HeaderMap) -> bool {
    let content_type = headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| value.starts_with("application/json"))
}

/// Returns the answer to a body that is no message: the error of its request, or a bad request if none can be told from it.
fn no_message(body: &[u8]) -> Response<HttpBody> {
    let message = no_message::response(body);
    let has_request = matches!(&message, ServerJsonRpcMessage::Error(error) if error.id.is_some());
    let mut response = json(&message);
    if !has_request {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    response
}

/// An answer with a message of the protocol.
fn json(message: &ServerJsonRpcMessage) -> Response<HttpBody> {
    let text = serde_json::to_vec(message).expect("a message is JSON");
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed());
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}

/// An answer without a body.
pub(super) fn empty(status: StatusCode) -> Response<HttpBody> {
    let mut response = Response::new(Full::new(Bytes::new()).boxed());
    *response.status_mut() = status;
    response
}

/// Returns the ID of the request in a body; `None` if it is another message.
fn request_id(body: &[u8]) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Message {
        id: RequestId,
        #[serde(rename = "method")]
        _method: serde::de::IgnoredAny,
    }
    serde_json::from_slice(body).ok().map(|message: Message| message.id)
}

/// Returns true if the version of the protocol, by a request's headers, has sessions.
fn has_sessions(headers: &http::HeaderMap) -> bool {
    let version = text(headers, "mcp-protocol-version");
    version.is_none_or(|version| version < ProtocolVersion::V_2026_07_28.as_str())
}

/// Returns the answer to a request with invalid parameters that no handler gets: an `initialize`, which starts no session, and a list,
/// whose parameters rmcp leaves out. A protocol version without sessions has no `initialize`, which rmcp answers.
fn refused_params(headers: &http::HeaderMap, body: &[u8]) -> Option<Response<HttpBody>> {
    #[derive(Deserialize)]
    struct Message {
        id: RequestId,
        method: String,
        #[serde(default)]
        params: Option<serde_json::Value>,
    }
    let has = |word: &str| memchr::memmem::find(body, word.as_bytes()).is_some();
    // Few bodies are such a request, and none that is long: the others are not parsed twice.
    let is_short = body.len() <= MAX_CHECKED;
    if !is_short || !(has("\"initialize\"") || has("\"cursor\"") && has("/list\"")) {
        return None;
    }
    let message: Message = serde_json::from_slice(body).ok()?;
    let is_initialize = message.method == INITIALIZE && has_sessions(headers);
    if !is_initialize && !is_list(&message.method) {
        return None;
    }
    let error = invalid(&message.method, message.params.as_ref())?;
    let mut response = json(&ServerJsonRpcMessage::error(error, Some(message.id)));
    if is_initialize {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    Some(response)
}

fn refusal(status: StatusCode, text: impl Into<String>) -> Response<HttpBody> {
    Problem::new(status, text).into_response()
}

/// Lets pages of some origins call a service, with the headers of the protocol; see [`Cors`].
pub fn cors<S>(inner: S, origins: impl IntoIterator<Item = impl AsRef<str>>) -> Cors<S> {
    let name = HeaderName::from_static;
    let (session, version) = (name(SESSION), name("mcp-protocol-version"));
    Cors::new(inner, origins)
        .request_headers(&[session.clone(), version.clone(), name("mcp-method"), name("mcp-name")])
        .answer_headers(&[session, version])
}

impl<B, H> Service<Request<B>> for HttpService<H>
where
    H: ServerHandler,
    B: Body<Data: Send> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<HttpBody>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _task: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.answer(request).await) })
    }
}
