//! The methods of the protocol.

use super::client::{Abilities, Client};
use super::lines::{Line, Lines, READ_WITHIN};
use super::prompt::{Block, task};
use super::rpc::{Fault, Incoming, answer, params, parse};
use super::session::{Ending, Session, Start};
use super::{AcpHost, AcpMcpServer, AcpMcpTransport, AcpSetup};
use crate::conversations::Conversations;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::task::JoinSet;
use toolkit::CancellationToken;

/// The version of the protocol.
const VERSION: u64 = 1;
/// How long runs may take to end, and messages to be written, once the editor has gone.
const FAREWELL: Duration = Duration::from_secs(5);
/// The most sessions of one editor that are open.
const MAX_SESSIONS: usize = 1_000;

/// Serves an editor until it closes its end, or `stop` is cancelled. Runs that are under way then are cancelled, and their transcripts are
/// whole.
///
/// # Errors
///
/// The editor's messages cannot be read; or the editor reads nothing for 10 minutes while 4 MiB wait for it.
pub async fn serve(
    reader: impl AsyncBufRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    host: impl AcpHost,
    stop: CancellationToken,
) -> io::Result<()> {
    let client = Client::default();
    let outbox = client.outbox().clone();
    let last = CancellationToken::new();
    let server = Arc::new(Server {
        client,
        host: Box::new(host),
        sessions: Mutex::default(),
        conversations: Conversations::new(),
    });
    let mut writing = pin!(async {
        let late = async {
            last.cancelled().await;
            tokio::time::sleep(FAREWELL).await;
        };
        tokio::select! {
            () = outbox.write(&mut writer, &last) => {}
            () = late => {}
        }
    });
    let reading = async {
        let outcome = server.read(reader, &stop).await;
        last.cancel();
        outcome
    };
    let (outcome, ()) = tokio::join!(reading, &mut writing);
    outcome
}

struct Server {
    client: Client,
    host: Box<dyn AcpHost>,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    conversations: Conversations,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialize {
    protocol_version: u64,
    #[serde(default)]
    client_capabilities: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Setup {
    #[serde(default)]
    session_id: Option<String>,
    cwd: PathBuf,
    #[serde(default)]
    mcp_servers: Vec<McpServer>,
}

#[derive(Deserialize)]
struct McpServer {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    name: String,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Vec<Pair>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    headers: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    name: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfSession {
    session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Prompt {
    session_id: String,
    #[serde(rename = "prompt")]
    blocks: Vec<Block>,
    #[serde(default)]
    message_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetMode {
    session_id: String,
    mode_id: String,
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    cwd: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelRequest {
    request_id: Value,
}

impl Server {
    async fn read(
        self: &Arc<Self>,
        reader: impl AsyncBufRead + Unpin,
        stop: &CancellationToken,
    ) -> io::Result<()> {
        let mut lines = Lines::new(reader);
        let mut tasks = JoinSet::new();
        let outbox = self.client.outbox().clone();
        let closed = outbox.closed().clone();
        let outcome = loop {
            let line = tokio::select! {
                biased;
                () = closed.cancelled() => break Ok(()),
                () = stop.cancelled() => break Ok(()),
                () = outbox.unread() => {
                    closed.cancel();
                    let message = format!(
                        "the editor read nothing for {} s while much waited for it, so it is not served any more",
                        READ_WITHIN.as_secs()
                    );
                    break Err(io::Error::new(io::ErrorKind::TimedOut, message));
                }
                Some(_) = tasks.join_next(), if !tasks.is_empty() => continue,
                // An editor that reads no answers sends no further requests.
                line = async {
                    outbox.room().await;
                    lines.next().await
                } => line,
            };
            match line {
                Ok(Line::End) => break Ok(()),
                Ok(Line::TooLong) => {
                    let fault =
                        Fault::new(Fault::REQUEST, "the message is too long: it has more than 64 MiB");
                    self.answer(&Value::Null, &Err(fault));
                }
                Ok(Line::Text(line)) if line.iter().all(u8::is_ascii_whitespace) => {}
                Ok(Line::Text(line)) => self.take(&line, &mut tasks),
                Err(error) => break Err(error),
            }
        };
        // Nobody has cancelled them: a prompt that is sent again goes on.
        for session in self.sessions().values() {
            session.interrupt();
        }
        let ended = async { while tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(FAREWELL, ended).await;
        tasks.shutdown().await;
        let sessions: Vec<_> = self.sessions().drain().map(|(_, session)| session).collect();
        let mut ending: JoinSet<()> =
            sessions.into_iter().map(|session| async move { session.end().await }).collect();
        while ending.join_next().await.is_some() {}
        outcome
    }

    /// Takes a message. What takes long is a task of its own.
    fn take(self: &Arc<Self>, line: &[u8], tasks: &mut JoinSet<()>) {
        match parse(line) {
            Incoming::Invalid { id, fault } => self.answer(&id, &Err(fault)),
            Incoming::Response { id, outcome } => self.client.answered(&id, outcome),
            Incoming::Notification { method, params } => self.notified(&method, params),
            Incoming::Request { id, method, params } => match self.at_once(&id, &method, params) {
                Now::Answered(outcome) => self.answer(&id, &outcome),
                Now::Later(work) => {
                    let server = Arc::clone(self);
                    tasks.spawn(async move {
                        let outcome = work.await;
                        server.answer(&id, &outcome);
                    });
                }
            },
        }
    }

    fn answer(&self, id: &Value, outcome: &Result<Value, Fault>) {
        self.client.outbox().send(answer(id, outcome));
    }

    fn notified(&self, method: &str, given: Value) {
        match method {
            "session/cancel" => {
                if let Ok(OfSession { session_id }) = params(method, given)
                    && let Ok(session) = self.session(&session_id)
                {
                    session.cancel(None);
                }
            }
            "$/cancel_request" => {
                if let Ok(CancelRequest { request_id }) = params(method, given) {
                    for session in self.sessions().values() {
                        session.cancel(Some(&request_id));
                    }
                }
            }
            // An unknown notification is ignored.
            _ => {}
        }
    }

    /// Does what a request asks for, or begins to.
    fn at_once(self: &Arc<Self>, id: &Value, method: &str, given: Value) -> Now {
        match self.begin(id, method, given) {
            Ok(now) => now,
            Err(fault) => Now::Answered(Err(fault)),
        }
    }

    fn begin(self: &Arc<Self>, id: &Value, method: &str, given: Value) -> Result<Now, Fault> {
        let server = Arc::clone(self);
        Ok(match method {
            "initialize" => Now::Answered(Ok(self.initialize(&params(method, given)?))),
            // There is nothing to authenticate for.
            "authenticate" => Now::Answered(Ok(json!({}))),
            "session/new" => {
                let setup: Setup = params(method, given)?;
                Now::Later(Box::pin(async move {
                    let session = server.open(setup, Start::New).await?;
                    Ok(json!({"sessionId": session.id(), "modes": session.modes()}))
                }))
            }
            "session/load" | "session/resume" => {
                let setup: Setup = params(method, given)?;
                let Some(session_id) = setup.session_id.clone() else {
                    return Err(Fault::params("`sessionId` is missing"));
                };
                let is_load = method == "session/load";
                Now::Later(Box::pin(async move {
                    if let Some(open) = server.forget_idle(&session_id)? {
                        open.end().await;
                    }
                    let start = if is_load { Start::Load(session_id) } else { Start::Resume(session_id) };
                    let session = server.open(setup, start).await?;
                    Ok(json!({"modes": session.modes()}))
                }))
            }
            "session/prompt" => {
                let Prompt { session_id, blocks, message_id } = params(method, given)?;
                let session = self.session(&session_id)?;
                let task = task(blocks)?;
                let sent = session.begin(id, task, message_id)?;
                Now::Later(Box::pin(async move { session.prompt(sent).await }))
            }
            "session/set_mode" => {
                let SetMode { session_id, mode_id } = params(method, given)?;
                self.session(&session_id)?.set_mode(&mode_id)?;
                Now::Answered(Ok(json!({})))
            }
            "session/list" => {
                let List { cwd } = params(method, given)?;
                Now::Later(Box::pin(async move { server.list(cwd).await }))
            }
            "session/close" => {
                let OfSession { session_id } = params(method, given)?;
                let session = self.session(&session_id)?;
                session.cancel(None);
                self.sessions().remove(&session_id);
                Now::Later(Box::pin(async move {
                    session.end().await;
                    Ok(json!({}))
                }))
            }
            _ => {
                let shown = toolkit::text::escape_line(method);
                return Err(Fault::new(Fault::METHOD, format!("there is no method `{shown}`")));
            }
        })
    }

    fn initialize(&self, given: &Initialize) -> Value {
        self.client.set_abilities(Abilities::of(&given.client_capabilities));
        let (name, version) = self.host.program();
        json!({
            // A later version is answered with the latest one that is spoken here.
            "protocolVersion": given.protocol_version.clamp(VERSION, VERSION),
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": {"image": true, "audio": true, "embeddedContext": true},
                "mcpCapabilities": {"http": true, "sse": true},
                "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
            },
            "agentInfo": {"name": name, "title": name, "version": version},
            "authMethods": [],
        })
    }

    async fn open(&self, given: Setup, start: Start) -> Result<Arc<Session>, Fault> {
        if !given.cwd.is_absolute() || !given.cwd.is_dir() {
            let cwd = toolkit::text::escape_line(&given.cwd.display().to_string()).into_owned();
            return Err(Fault::params(format!("`cwd` is not a directory: {cwd}; give an absolute path")));
        }
        if self.sessions().len() >= MAX_SESSIONS {
            let message = format!("{MAX_SESSIONS} sessions are open; close some with `session/close`");
            return Err(Fault::new(Fault::INTERNAL, message));
        }
        let servers = given.mcp_servers.into_iter().map(mcp_server).collect::<Result<_, _>>()?;
        let setup = AcpSetup { workspace: given.cwd, mcp_servers: servers };
        let opened = self.host.open(setup.clone()).await;
        let opened = opened.map_err(|message| Fault::new(Fault::INTERNAL, message))?;
        let (agent, ending) = Ending::of(opened);
        let conversation = match Session::open(
            &setup,
            agent,
            &self.client,
            self.host.transcripts(),
            &self.conversations,
            start,
        )
        .await
        {
            Ok(conversation) => Arc::new(conversation),
            Err(fault) => {
                ending.run().await;
                return Err(fault);
            }
        };
        conversation.set_ending(ending);
        self.sessions().insert(conversation.id().to_owned(), Arc::clone(&conversation));
        Ok(conversation)
    }

    /// Takes out a session that is open already, so that it can be opened again.
    fn forget_idle(&self, id: &str) -> Result<Option<Arc<Session>>, Fault> {
        let mut sessions = self.sessions();
        if sessions.get(id).is_some_and(|session| session.is_running()) {
            return Err(Fault::new(Fault::REQUEST, "a prompt is under way in this session; cancel it first"));
        }
        Ok(sessions.remove(id))
    }

    async fn list(self: Arc<Self>, cwd: Option<PathBuf>) -> Result<Value, Fault> {
        let transcripts = self.host.transcripts().clone();
        let list = tokio::task::spawn_blocking(move || transcripts.list()).await;
        let list = list.map_err(|error| Fault::new(Fault::INTERNAL, error.to_string()))?;
        let sessions = list.into_iter().filter(|info| info.depth == 0 && info.turns > 0);
        let sessions = sessions.filter_map(|info| {
            let workspace = info.workspace?;
            if cwd.as_ref().is_some_and(|cwd| *cwd != workspace) {
                return None;
            }
            let title: String = info.task.lines().next().unwrap_or_default().chars().take(100).collect();
            let session = json!({"sessionId": info.id, "cwd": workspace, "title": title, "updatedAt": iso(info.changed)});
            Some(session)
        });
        Ok(json!({"sessions": sessions.collect::<Vec<Value>>()}))
    }

    fn session(&self, id: &str) -> Result<Arc<Session>, Fault> {
        self.sessions().get(id).cloned().ok_or_else(|| {
            let id = toolkit::text::escape_line(id);
            Fault::new(
                Fault::NOT_FOUND,
                format!("there is no open session `{id}`; begin one with `session/new`, or open it with `session/load`"),
            )
        })
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer to a request, or the work that gives it.
enum Now {
    Answered(Result<Value, Fault>),
    Later(std::pin::Pin<Box<dyn Future<Output = Result<Value, Fault>> + Send>>),
}

fn mcp_server(server: McpServer) -> Result<AcpMcpServer, Fault> {
    let McpServer { kind, name, command, args, env, url, headers } = server;
    let pairs = |pairs: Vec<Pair>| pairs.into_iter().map(|pair| (pair.name, pair.value)).collect();
    let transport = match (kind.as_deref(), command, url) {
        (Some("http"), _, Some(url)) => AcpMcpTransport::Http { url, headers: pairs(headers) },
        (Some("sse"), _, Some(url)) => AcpMcpTransport::Sse { url, headers: pairs(headers) },
        (None | Some("stdio"), Some(command), _) => AcpMcpTransport::Stdio { command, args, env: pairs(env) },
        _ => {
            let name = toolkit::text::escape_line(&name);
            return Err(Fault::params(format!(
                "the MCP server `{name}` has no supported transport; give it a `command`, or the type `http` or `sse` and a `url`"
            )));
        }
    };
    Ok(AcpMcpServer { name, transport })
}

/// A time in milliseconds since 1970, as ISO 8601 has it.
fn iso(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March, in eras of 400 years.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        for (milliseconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399_999, "2000-02-28T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_735_689_599_000, "2024-12-31T23:59:59Z"),
            (4_102_444_800_000, "2100-01-01T00:00:00Z"),
        ] {
            assert_eq!(iso(milliseconds), expected);
        }
    }
}
