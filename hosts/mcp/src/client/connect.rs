//! Connecting to a server, over what its settings say.

use super::bounded::Bounded;
use super::connection::Connection;
use super::failure;
use super::handler::Handler;
use super::http;
use super::lines::Lines;
use super::options::ClientOptions;
use super::programs::Trusted;
use super::server::Server;
use super::spawn::{self, LastWords};
use super::sse::{EventStream, Unopened};
use crate::settings::{McpCommand, McpServerSettings, McpTransport, McpUrl};
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::transport::IntoTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClient;
use std::error::Error;
use std::sync::Arc;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolkit::text::escape_line;

/// The other end of the connection to a server of the configuration.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) settings: McpServerSettings,
    /// The programs that the user trusted, for a server that a file of the project names.
    trusted: Option<Trusted>,
    /// Signs in to the server, if it has a URL and its settings provide no authentication.
    #[cfg(feature = "oauth")]
    pub(super) authority: Option<Arc<super::oauth::Authority>>,
}

impl Target {
    pub(super) fn new(
        name: &Arc<str>,
        settings: McpServerSettings,
        trusted: Option<Trusted>,
        options: &ClientOptions,
    ) -> Self {
        #[cfg(not(feature = "oauth"))]
        let _ = (name, options);
        Self {
            #[cfg(feature = "oauth")]
            authority: match &settings {
                McpServerSettings::Url(url) if !http::is_known(url) => {
                    Some(Arc::new(super::oauth::Authority::of(name, url, options)))
                }
                _ => None,
            },
            settings,
            trusted,
        }
    }

    /// Returns the number of completed attempts to sign in, successful or not.
    #[cfg_attr(not(feature = "oauth"), expect(clippy::unused_self, reason = "nothing signs in without it"))]
    fn sign_ins(&self) -> u32 {
        #[cfg(feature = "oauth")]
        if let Some(authority) = &self.authority {
            return authority.round();
        }
        0
    }
}

/// Connects. If the server closes the connection at the first message of the newer protocol, the older one is tried.
pub(super) async fn connect(server: &Arc<Server>, target: &Target) -> Result<Connection, String> {
    if is_event_stream(target) == Some(true) {
        return Box::pin(event_stream(server, target)).await.map_err(|failure| failure.why);
    }
    let sign_ins = target.sign_ins();
    let mut first = attempt(server, target, either()).await;
    let is_older = match &first {
        Ok(connection) => connection.about.is_older(),
        Err(failure) => failure.is_of_protocol,
    };
    if is_older && target.sign_ins() != sign_ins {
        // A sign-in can take longer than the timeout of the newer protocol, whose answer would then arrive during the older
        // handshake.
        drop(first);
        first = attempt(server, target, either()).await;
    }
    let result = match first {
        Err(Failure { is_of_protocol: true, .. }) => {
            attempt(server, target, ClientLifecycleMode::Initialize).await
        }
        result => result,
    };
    match result {
        Err(failure) if failure.is_refused && is_event_stream(target).is_none() => {
            let older = Box::pin(event_stream(server, target)).await;
            // Without a stream, the first error is more informative.
            older.map_err(|older| if older.is_unopened { failure.why } else { older.why })
        }
        result => result.map_err(|failure| failure.why),
    }
}

/// Connects over a transport that somebody else opened.
pub(super) async fn over<T, E, A>(server: &Arc<Server>, transport: T) -> Result<Connection, String>
where
    T: IntoTransport<RoleClient, E, A>,
    E: Error + Send + Sync + 'static,
{
    let guard = CancellationToken::new().drop_guard();
    let running = serve(server, transport, either()).await.map_err(|failure| failure.why)?;
    Ok(Connection::of(running, LastWords::default(), None, guard))
}

/// Returns the mode that tries the newer protocol first.
fn either() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

/// Returns true if the settings require an event stream; `None` if they leave the transport open.
fn is_event_stream(target: &Target) -> Option<bool> {
    match &target.settings {
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
async fn event_stream(server: &Arc<Server>, target: &Target) -> Result<Connection, Failure> {
    let McpServerSettings::Url(url) = &target.settings else {
        return Err("it is at no address".to_owned().into());
    };
    let closing = CancellationToken::new();
    let guard = closing.clone().drop_guard();
    #[cfg(feature = "oauth")]
    if let Some(authority) = &target.authority {
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
    Ok(Connection::of(running, LastWords::default(), None, guard))
}

async fn attempt(
    server: &Arc<Server>,
    target: &Target,
    mode: ClientLifecycleMode,
) -> Result<Connection, Failure> {
    // An abandoned attempt closes the connection that it has opened.
    let closing = CancellationToken::new();
    let guard = closing.clone().drop_guard();
    match &target.settings {
        McpServerSettings::Command(command) => {
            check_programs(server, target, command).await?;
            let started = spawn::start(&server.name, command, &server.options.workspace).await?;
            let said = started.said.clone();
            let lines = Lines::new(started.reads, started.writes, command.max_message_bytes);
            let connected = serve(server, lines, mode).await;
            match connected {
                Ok(running) => Ok(Connection::of(running, said, Some(started.job), guard)),
                Err(failure) => {
                    said.settle().await;
                    Err(Failure { why: format!("{}{}", failure.why, said.tell()), ..failure })
                }
            }
        }
        McpServerSettings::Url(url) => {
            #[cfg(feature = "oauth")]
            if let Some(authority) = &target.authority {
                let transport = http::signed_in(url, Arc::clone(authority), closing)?;
                return Ok(Connection::of(
                    serve(server, transport, mode).await?,
                    LastWords::default(),
                    None,
                    guard,
                ));
            }
            let transport = http::transport(url)?;
            Ok(Connection::of(serve(server, transport, mode).await?, LastWords::default(), None, guard))
        }
        McpServerSettings::Unavailable(unavailable) => Err(unavailable.reason.clone().into()),
        _ => Err("it is switched off".to_owned().into()),
    }
}

/// Fails if the user trusted the server with other programs.
async fn check_programs(server: &Server, target: &Target, command: &McpCommand) -> Result<(), String> {
    let Some(trusted) = target.trusted.clone() else { return Ok(()) };
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
    match &server.address {
        Some(address) => format!("{why} ({})", http::shown_address(address)),
        None => why,
    }
}
