//! A connection to a server.

use super::bounded::Bounded;
use super::failure;
use super::handler::Handler;
use super::http;
use super::lines::Lines;
use super::server::Server;
use super::spawn::{self, LastWords};
use super::sse::{EventStream, Unopened};
use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, ServerPeerInfo};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, RunningService,
};
use rmcp::transport::IntoTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClient;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolkit::{
    config::{McpCommand, McpServerSettings, McpTransport, McpUrl},
    text::escape_line,
};
use toolkit_sandbox::Job;

/// Time for a server to exit by itself after its input is closed.
const FAREWELL: Duration = Duration::from_millis(500);
/// Time for a server to exit after the termination request that follows.
const GRACE: Duration = Duration::from_secs(2);

/// A connection. Dropped, it ends, and with it a server that is a command.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) about: Arc<About>,
    ended: CancellationToken,
    _closing: DropGuard,
}

impl Connection {
    /// Waits until it has ended.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }
}

/// Information about a connected server.
#[derive(Debug)]
pub(super) struct About {
    info: Option<Arc<ServerPeerInfo>>,
    said: LastWords,
    /// The task that ends the connection.
    finished: Mutex<Option<tokio::task::JoinHandle<()>>>,
}

impl About {
    pub(super) fn last_words(&self) -> String {
        self.said.tell()
    }

    pub(super) fn has_tools(&self) -> bool {
        self.info.as_ref().is_none_or(|info| info.capabilities.tools.is_some())
    }

    pub(super) fn has_resources(&self) -> bool {
        self.info.as_ref().is_some_and(|info| info.capabilities.resources.is_some())
    }

    pub(super) fn has_prompts(&self) -> bool {
        self.info.as_ref().is_some_and(|info| info.capabilities.prompts.is_some())
    }

    /// Returns true if the server announces changes of its lists only to clients that send a subscription request.
    pub(super) fn has_subscriptions(&self) -> bool {
        let has = |info: &Arc<ServerPeerInfo>| {
            let tools = info.capabilities.tools.as_ref();
            !info.protocol_version.has_initialize()
                && tools.is_some_and(|tools| tools.list_changed == Some(true))
        };
        self.info.as_ref().is_some_and(has)
    }

    /// Returns true if the server speaks a version of the protocol that begins with `initialize`.
    fn is_older(&self) -> bool {
        self.info.as_ref().is_none_or(|info| info.protocol_version.has_initialize())
    }

    /// Returns what the server says about the use of its tools.
    pub(super) fn instructions(&self) -> Option<&str> {
        let said = self.info.as_ref()?.instructions.as_deref()?;
        Some(said).filter(|said| !said.trim().is_empty())
    }

    /// Returns the server's name, its version and the version of the protocol.
    pub(super) fn shown(&self) -> String {
        let Some(info) = &self.info else { return "no server information".to_owned() };
        let server = match &info.server_info {
            Some(server) => format!("{} {}", server.name, server.version),
            None => "a server without a name".to_owned(),
        };
        escape_line(&format!("{server}, protocol {}", info.protocol_version)).into_owned()
    }

    /// The task that ends with the connection.
    pub(super) fn take_finished(&self) -> Option<tokio::task::JoinHandle<()>> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Connects. If the server closes the connection at the first message of the newer protocol, the older one is tried.
pub(super) async fn connect(server: &Arc<Server>) -> Result<Connection, String> {
    if is_event_stream(server) == Some(true) {
        return Box::pin(event_stream(server)).await.map_err(|failure| failure.why);
    }
    let auto = || ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let sign_ins = server.sign_ins();
    let mut first = attempt(server, auto()).await;
    let is_older = match &first {
        Ok(connection) => connection.about.is_older(),
        Err(failure) => failure.is_of_protocol,
    };
    if is_older && server.sign_ins() != sign_ins {
        // A sign-in can take longer than the timeout of the newer protocol, whose answer would then arrive during the older
        // handshake.
        drop(first);
        first = attempt(server, auto()).await;
    }
    let result = match first {
        Err(Failure { is_of_protocol: true, .. }) => attempt(server, ClientLifecycleMode::Initialize).await,
        result => result,
    };
    match result {
        Err(failure) if failure.is_refused && is_event_stream(server).is_none() => {
            let older = Box::pin(event_stream(server)).await;
            // Without a stream, the first error is more informative.
            older.map_err(|older| if older.is_unopened { failure.why } else { older.why })
        }
        result => result.map_err(|failure| failure.why),
    }
}

/// Returns true if the settings require an event stream; `None` if they leave the transport open.
fn is_event_stream(server: &Server) -> Option<bool> {
    match &server.settings {
        McpServerSettings::Url(url) => url.transport.map(|transport| transport == McpTransport::Sse),
        _ => Some(false),
    }
}

#[derive(Default)]
struct Failure {
    why: String,
    /// The other end is reachable, but does not speak the protocol.
    is_of_protocol: bool,
    /// The other end takes no messages at this address.
    is_refused: bool,
    /// The event stream could not be opened.
    is_unopened: bool,
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self { why, ..Self::default() }
    }
}

/// Connects over an event stream, as servers of the version 2024-11-05 do.
async fn event_stream(server: &Arc<Server>) -> Result<Connection, Failure> {
    let McpServerSettings::Url(url) = &server.settings else {
        return Err("it is at no address".to_owned().into());
    };
    let closing = CancellationToken::new();
    let guard = closing.clone().drop_guard();
    #[cfg(feature = "oauth")]
    if let Some(authority) = &server.authority {
        let client = http::signing_in(Arc::clone(authority), closing)?;
        return Box::pin(opened(server, url, client, guard)).await;
    }
    Box::pin(opened(server, url, http::client()?, guard)).await
}

async fn opened<C>(
    server: &Arc<Server>,
    url: &McpUrl,
    client: C,
    guard: DropGuard,
) -> Result<Connection, Failure>
where
    C: StreamableHttpClient<Error = reqwest::Error> + Sync,
{
    let headers = http::headers(url)?;
    let stream = EventStream::open(client, &url.url, headers, url.max_message_bytes).await;
    let stream = stream.map_err(|error| {
        let why = match error {
            Unopened::Refused(error) => match http::refusal(&error, &server.name) {
                Some(challenge) => format!("it {challenge}"),
                None => failure::of_cause(&error),
            },
            Unopened::Other(why) => why,
        };
        let why = format!("{why} ({})", http::shown_address(&url.url));
        Failure { why, is_unopened: true, ..Failure::default() }
    })?;
    let running = serve(server, stream, ClientLifecycleMode::Initialize).await?;
    Ok(kept(running, LastWords::default(), None, guard))
}

async fn attempt(server: &Arc<Server>, mode: ClientLifecycleMode) -> Result<Connection, Failure> {
    // An abandoned attempt closes the connection that it has opened.
    let closing = CancellationToken::new();
    let guard = closing.clone().drop_guard();
    match &server.settings {
        McpServerSettings::Command(command) => {
            check_programs(server, command).await?;
            let started = spawn::start(&server.name, command, &server.options.workspace).await?;
            let said = started.said.clone();
            let lines = Lines::new(started.reads, started.writes, command.max_message_bytes);
            let connected = serve(server, lines, mode).await;
            match connected {
                Ok(running) => Ok(kept(running, said, Some(started.job), guard)),
                Err(failure) => {
                    said.settle().await;
                    Err(Failure { why: format!("{}{}", failure.why, said.tell()), ..failure })
                }
            }
        }
        McpServerSettings::Url(url) => {
            #[cfg(feature = "oauth")]
            if let Some(authority) = &server.authority {
                let transport = http::signed_in(url, Arc::clone(authority), closing)?;
                return Ok(kept(serve(server, transport, mode).await?, LastWords::default(), None, guard));
            }
            let transport = http::transport(url)?;
            Ok(kept(serve(server, transport, mode).await?, LastWords::default(), None, guard))
        }
        McpServerSettings::Unavailable(unavailable) => Err(unavailable.reason.clone().into()),
        _ => Err("it is switched off".to_owned().into()),
    }
}

/// Fails if the user trusted the server with other programs.
async fn check_programs(server: &Server, command: &McpCommand) -> Result<(), String> {
    let Some(trusted) = server.trusted.clone() else { return Ok(()) };
    let (command, workspace) = (command.clone(), server.options.workspace.clone());
    let checked = tokio::task::spawn_blocking(move || trusted.check(&command, &workspace)).await;
    checked.unwrap_or_else(|error| Err(format!("its programs cannot be checked: {error}")))
}

async fn serve<T, E, A>(
    server: &Arc<Server>,
    transport: T,
    mode: ClientLifecycleMode,
) -> Result<RunningService<RoleClient, Handler>, Failure>
where
    T: IntoTransport<RoleClient, E, A>,
    E: Error + Send + Sync + 'static,
{
    let handler = Handler(Arc::clone(server));
    let transport = Bounded::new(transport.into_transport());
    let running = handler.serve_with_lifecycle(transport, mode).await.map_err(|error| Failure {
        is_refused: failure::is_refused(&error),
        is_unopened: false,
        is_of_protocol: matches!(
            error,
            ClientInitializeError::ConnectionClosed(_)
                | ClientInitializeError::ExpectedInitResponse(_)
                | ClientInitializeError::ExpectedInitResult(_)
                | ClientInitializeError::ConflictInitResponseId(..)
                | ClientInitializeError::UncorrelatedErrorResponse { .. }
        ),
        why: reason(server, &error),
    })?;
    match running.peer().peer_info().and_then(|info| unknown(&info.protocol_version)) {
        None => Ok(running),
        Some(why) => Err(why.into()),
    }
}

/// Returns the reason for which a version of the protocol cannot be used, if the version does not exist.
fn unknown(version: &ProtocolVersion) -> Option<String> {
    let is_known = ProtocolVersion::KNOWN_VERSIONS.contains(version);
    let shown = escape_line(version.as_str());
    (!is_known).then(|| format!("it answers with the protocol version {shown:?}, which does not exist"))
}

/// Returns the reason for the failure.
fn reason(server: &Server, error: &ClientInitializeError) -> String {
    if let ClientInitializeError::TransportError { error, .. } = error
        && let Some(challenge) = http::challenge(error, &server.name)
    {
        return format!("it {challenge}");
    }
    if error.is_authorization_required() {
        return format!("it {}", http::unknown(&server.name));
    }
    let why = failure::of_beginning(error);
    match &server.settings {
        McpServerSettings::Url(url) => format!("{why} ({})", http::shown_address(&url.url)),
        _ => why,
    }
}

/// Spawns a task that ends the connection once the guard is dropped.
fn kept(
    running: RunningService<RoleClient, Handler>,
    said: LastWords,
    job: Option<Arc<Job>>,
    guard: DropGuard,
) -> Connection {
    let peer = running.peer().clone();
    let ended = CancellationToken::new();
    let closing = guard.disarm();
    let guard = closing.clone().drop_guard();
    let task = {
        let ended = ended.clone();
        let token = running.cancellation_token();
        tokio::spawn(async move {
            let mut waiting = std::pin::pin!(running.waiting());
            tokio::select! {
                _ = &mut waiting => {}
                () = closing.cancelled() => {
                    token.cancel();
                    let _ = tokio::time::timeout(FAREWELL, &mut waiting).await;
                }
            }
            ended.cancel();
            if let Some(job) = job
                && tokio::time::timeout(FAREWELL, job.gone()).await.is_err()
            {
                job.stop(GRACE).await;
            }
        })
    };
    let about = About { info: peer.peer_info(), said, finished: Mutex::new(Some(task)) };
    Connection { peer, about: Arc::new(about), ended, _closing: guard }
}
