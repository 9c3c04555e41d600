//! A connection to a server.

use super::bounded::Bounded;
use super::handler::Handler;
use super::http;
use super::server::Server;
use super::spawn::{self, LastWords};
use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, ServerPeerInfo};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, RunningService,
};
use rmcp::transport::IntoTransport;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolkit::{McpServerSettings, escape_line};
use toolkit_sandbox::Job;

/// How long a server has to end by itself once its input is closed.
const FAREWELL: Duration = Duration::from_millis(500);
/// How long it has after that, once it is asked to.
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

/// What is known of who is at the other end.
#[derive(Debug)]
pub(super) struct About {
    info: Option<Arc<ServerPeerInfo>>,
    said: LastWords,
    /// What sees to its end.
    finished: Mutex<Option<tokio::task::JoinHandle<()>>>,
}

impl About {
    pub(super) fn last_words(&self) -> String {
        self.said.tell()
    }

    pub(super) fn has_tools(&self) -> bool {
        self.info.as_ref().is_none_or(|info| info.capabilities.tools.is_some())
    }

    /// Whether changes of lists are told to whoever asks for them by a request of its own.
    pub(super) fn has_subscriptions(&self) -> bool {
        let has = |info: &Arc<ServerPeerInfo>| {
            let tools = info.capabilities.tools.as_ref();
            !info.protocol_version.has_initialize()
                && tools.is_some_and(|tools| tools.list_changed == Some(true))
        };
        self.info.as_ref().is_some_and(has)
    }

    /// Whether it speaks a version of the protocol that begins with a greeting.
    fn is_older(&self) -> bool {
        self.info.as_ref().is_none_or(|info| info.protocol_version.has_initialize())
    }

    /// What it calls itself, with its version and that of the protocol.
    pub(super) fn shown(&self) -> String {
        let Some(info) = &self.info else { return "says nothing of itself".to_owned() };
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

/// Connects. A server that goes away at the first words of the newer protocol is tried with those of the older.
pub(super) async fn connect(server: &Arc<Server>) -> Result<Connection, String> {
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
        // Signing in can take longer than an answer in the newer protocol is waited for, which then comes in the midst of the older.
        drop(first);
        first = attempt(server, auto()).await;
    }
    match first {
        Err(Failure { is_of_protocol: true, .. }) => {
            attempt(server, ClientLifecycleMode::Initialize).await.map_err(|failure| failure.why)
        }
        result => result.map_err(|failure| failure.why),
    }
}

struct Failure {
    why: String,
    /// The other end is there, and does not understand.
    is_of_protocol: bool,
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self { why, is_of_protocol: false }
    }
}

async fn attempt(server: &Arc<Server>, mode: ClientLifecycleMode) -> Result<Connection, Failure> {
    // An attempt that is given up ends what it has begun.
    let closing = CancellationToken::new();
    let guard = closing.clone().drop_guard();
    match &server.settings {
        McpServerSettings::Command(command) => {
            let started = spawn::start(&server.name, command, &server.options.workspace).await?;
            let said = started.said.clone();
            let connected = serve(server, (started.reads, started.writes), mode).await;
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
    handler.serve_with_lifecycle(transport, mode).await.map_err(|error| Failure {
        is_of_protocol: matches!(
            error,
            ClientInitializeError::ConnectionClosed(_)
                | ClientInitializeError::ExpectedInitResponse(_)
                | ClientInitializeError::ExpectedInitResult(_)
                | ClientInitializeError::ConflictInitResponseId(..)
                | ClientInitializeError::UncorrelatedErrorResponse { .. }
        ),
        why: reason(&server.name, &error),
    })
}

/// What failed, with what lies behind it.
fn reason(server: &str, error: &ClientInitializeError) -> String {
    if let ClientInitializeError::ConnectionClosed(_) = error {
        return "it ended before it answered".to_owned();
    }
    if let ClientInitializeError::TransportError { error, .. } = error
        && let Some(challenge) = http::challenge(error, server)
    {
        return format!("it {challenge}");
    }
    if error.is_authorization_required() {
        return format!("it {}", http::unknown(server));
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        source = inner.source();
    }
    text
}

/// Lets a task of its own see to the end of it, once the guard is gone.
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
