//! Starting a server that is a command.

use crate::settings::{McpCommand, McpSandbox};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader, DuplexStream};
use tokio_util::sync::CancellationToken;
use toolkit::{config::Secret, text::escape_line};
use toolkit_sandbox::{Command, Input, Job, Mode, Output, Sandbox, Stdin};

/// The variables that a server gets from this process; all others are the configuration's to give.
const INHERITED: [&str; 22] = [
    "COLORTERM",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NO_PROXY",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];
/// The variable that counts servers which start each other.
const DEPTH: &str = "MCP_TOOLKIT_DEPTH";
/// Maximum number of servers that started each other.
const DEEPEST: u32 = 4;
/// Time between the request to a server to exit and the end of its process.
const GRACE: Duration = Duration::from_secs(2);
/// Capacity of the pipe to a server, in bytes.
const PIPE: usize = 64 << 10;
/// Maximum length in bytes of a line of standard error.
const LONGEST_LINE: u64 = 4 << 10;
/// Number of the last lines of standard error that are reported if a server does not start.
const LAST_LINES: usize = 5;

/// A server that was started.
pub(super) struct Started {
    pub(super) reads: tokio::net::unix::pipe::Receiver,
    pub(super) writes: DuplexStream,
    pub(super) job: Arc<Job>,
    pub(super) said: LastWords,
}

/// Maximum number of characters of a line that are kept.
const MAX_OF_LINE: usize = 1_000;
/// Time to wait for the last lines of a server that did not connect.
const LAST_BREATH: Duration = Duration::from_millis(250);
/// Minimum length in bytes of a value that is redacted in a server's output: a shorter one may be any word.
const SHORTEST_SECRET: usize = 6;

/// The last lines of a server's standard error, unescaped.
#[derive(Debug, Clone, Default)]
pub(super) struct LastWords {
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Cancelled when no further lines will come.
    ended: CancellationToken,
}

impl LastWords {
    fn add(&self, line: String) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// Waits briefly for the last lines of a server that is about to exit.
    pub(super) async fn settle(&self) {
        let _ = tokio::time::timeout(LAST_BREATH, self.ended.cancelled()).await;
    }

    /// Returns the last lines of standard error as the end of a sentence; an empty text if there are none.
    pub(super) fn tell(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            return String::new();
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        format!("; the last that it wrote to its standard error: {}", lines.join(" | "))
    }
}

/// Starts a server, which ends with this process in every case.
pub(super) async fn start(server: &str, command: &McpCommand, workspace: &Path) -> Result<Started, String> {
    let directory = directory(command.cwd.as_deref(), workspace);
    if !directory.is_dir() {
        let text = format!("its directory {} does not exist; correct `cwd`", directory.display());
        return Err(text);
    }
    let mut run = Command::new(&command.command)
        .args(&command.args)
        .envs(environment(&command.env))
        .current_dir(&directory)
        .stdin(Stdin::Pipe)
        .output(Output::Pipes)
        .grace(GRACE);
    if let Some(sandbox) = sandbox(command.sandbox, command.network, workspace) {
        run = run.sandbox(sandbox);
    }
    let depth = depth()?;
    run = run.env(DEPTH, (depth + 1).to_string());
    let job = run
        .spawn()
        .await
        .map_err(|error| format!("its command `{}` cannot be started: {error}", command.command))?;
    let (Some(input), Some(reads)) = (job.stdin(), job.take_stdout()) else {
        return Err("its standard streams are unavailable".to_owned());
    };
    let said = LastWords::default();
    if let Some(errors) = job.take_stderr() {
        let secrets = command.env.values().filter(|value| value.expose().len() >= SHORTEST_SECRET);
        let secrets = secrets.cloned().collect();
        tokio::spawn(listen(server.to_owned(), errors, said.clone(), secrets));
    }
    let (writes, pumped) = tokio::io::duplex(PIPE);
    tokio::spawn(pump(pumped, input));
    Ok(Started { reads, writes, job: Arc::new(job), said })
}

/// Returns the number of servers above this process that were each started by another. An error beyond the maximum stops a
/// server that starts itself.
fn depth() -> Result<u32, String> {
    let depth = std::env::var(DEPTH).ok().and_then(|depth| depth.parse().ok()).unwrap_or(0);
    if depth < DEEPEST {
        return Ok(depth);
    }
    Err(format!("{depth} servers have started each other in a chain; one of them starts itself"))
}

pub(super) fn directory(cwd: Option<&str>, workspace: &Path) -> PathBuf {
    match cwd {
        None => workspace.to_owned(),
        Some(cwd) => workspace.join(cwd),
    }
}

fn environment(own: &BTreeMap<String, Secret>) -> BTreeMap<String, std::ffi::OsString> {
    let inherited = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        let is_inherited =
            name.starts_with("LC_") || INHERITED.iter().any(|known| name.eq_ignore_ascii_case(known));
        is_inherited.then_some((name, value))
    });
    let own = own.iter().map(|(name, value)| (name.clone(), value.expose().into()));
    inherited.chain(own).collect()
}

fn sandbox(mode: McpSandbox, network: bool, workspace: &Path) -> Option<Sandbox> {
    let mode = match mode {
        McpSandbox::Off => return None,
        McpSandbox::WorkspaceWrite => Mode::WorkspaceWrite,
        _ => Mode::ReadOnly,
    };
    // If the requested sandbox is unavailable, the server does not start without it.
    Some(Sandbox::new(mode, workspace).with_network(network).required(true))
}

/// Forwards input to a server until either side closes.
async fn pump(mut from: DuplexStream, to: Input) {
    let mut buffer = vec![0; PIPE];
    while let Ok(length) = from.read(&mut buffer).await
        && length > 0
        && to.write(&buffer[..length]).await.is_ok()
    {}
    let _ = to.close().await;
}

/// Logs the lines that a server writes to its standard error, until it closes it.
async fn listen(server: String, errors: impl AsyncRead + Unpin, said: LastWords, secrets: Vec<Secret>) {
    let _ended = said.ended.clone().drop_guard();
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut errors).take(LONGEST_LINE).read_until(b'\n', &mut line).await;
        if !matches!(read, Ok(length) if length > 0) {
            return;
        }
        let mut text = String::from_utf8_lossy(&line).into_owned();
        // Models read it where a call fails.
        for secret in &secrets {
            text = text.replace(secret.expose(), "[redacted]");
        }
        let text = text.trim_end();
        if !text.is_empty() {
            tracing::info!(server, "{}", escape_line(text));
            said.add(text.chars().take(MAX_OF_LINE).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_gets_what_it_needs_and_what_it_is_given() {
        let own = BTreeMap::from([("MY_TOKEN".to_owned(), Secret::new("t"))]);
        let environment = environment(&own);
        assert_eq!(environment["MY_TOKEN"], "t");
        assert!(environment.contains_key("PATH"));
        // Cargo has set this one for the test.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        assert!(!environment.contains_key("CARGO_MANIFEST_DIR"));
    }

    #[test]
    fn a_directory_is_the_workspace_or_in_it_or_elsewhere() {
        let workspace = Path::new("/w");
        for (cwd, expected) in [(None, "/w"), (Some("a"), "/w/a"), (Some("/b"), "/b")] {
            assert_eq!(directory(cwd, workspace), Path::new(expected));
        }
    }

    #[tokio::test]
    async fn of_many_words_the_last_are_kept() {
        let said = LastWords::default();
        assert_eq!(said.tell(), "");
        let mut text = "x".repeat(20_000).into_bytes();
        text.extend(b"\n\n\x1b[1mlast\xff\n");
        listen("s".to_owned(), &text[..], said.clone(), Vec::new()).await;
        let told = said.tell();
        assert!(told.ends_with("| \u{1b}[1mlast\u{fffd}"), "{told}");
        assert_eq!(told.matches(" | ").count(), LAST_LINES - 1);
    }
}
