//! The client, the same for all: how many calls a second come back right.

use crate::Result;
use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::{Peer, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt as _};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// How many sessions memory is looked at with.
const SESSIONS: usize = 1_000;

/// A measurement.
pub(crate) struct Work {
    tool: &'static str,
    arguments: &'static str,
    /// A part of the right answer.
    answer: &'static str,
    /// How many calls are under way at once.
    many: usize,
    /// True if concurrent calls over HTTP come from one client each.
    has_many_clients: bool,
    /// The names of the series: one call at once and many, over stdio and HTTP.
    series: [&'static str; 4],
}

/// A small tool with two arguments, from one client and from many.
pub(crate) const GREET: Work = Work {
    tool: "greet",
    arguments: r#"{"name": "Ada", "count": 3}"#,
    answer: "hello Ada 3",
    many: 64,
    has_many_clients: true,
    series: ["stdio, 1 call at once", "stdio, 64 calls at once", "HTTP, 1 client", "HTTP, 64 clients"],
};

/// Reading a file of 20 lines, by one client.
pub(crate) const READ: Work = Work {
    tool: "read",
    arguments: r#"{"file_path": "notes.txt"}"#,
    answer: "    20→line 20 of the file",
    many: 16,
    has_many_clients: false,
    series: [
        "read, stdio, 1 call at once",
        "read, stdio, 16 calls at once",
        "read, HTTP, 1 call at once",
        "read, HTTP, 16 calls at once",
    ],
};

struct Contender {
    name: String,
    words: Vec<String>,
    /// Where it runs, with the file that is read, and with the data directory of the command.
    directory: PathBuf,
}

impl Contender {
    fn command(&self, transport: &str) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).current_dir(&self.directory).kill_on_drop(true);
        command.env("TOOLKIT_CONFIG_DIR", self.directory.join("user"));
        command.env("TOOLKIT_DATA_DIR", self.directory.join("data"));
        match (self.is_command(), transport) {
            (true, "http") => command.args(["--http", "127.0.0.1:0"]),
            (true, _) => &mut command,
            (false, _) => command.arg(transport),
        };
        command
    }

    /// Returns true if it is the command of this repository.
    fn is_command(&self) -> bool {
        self.words.ends_with(&["mcp".to_owned(), "serve".to_owned()])
    }

    /// Returns the token that HTTP clients send.
    fn token(&self) -> Option<String> {
        let token = std::fs::read_to_string(self.directory.join("data/mcp-token")).ok()?;
        self.is_command().then(|| token.trim().to_owned())
    }
}

type Figures = BTreeMap<(&'static str, String), Vec<f64>>;
type Client = RunningService<RoleClient, ClientConfig>;

pub(crate) async fn run(work: &Work, rounds: usize, seconds: f64, contenders: &[&str]) -> Result<()> {
    let directory = std::env::temp_dir().join(format!("bench-mcp-drive-{}", std::process::id()));
    for name in ["user", "data"] {
        std::fs::create_dir_all(directory.join(name))?;
    }
    let lines: String = (1..=20).map(|number| format!("line {number} of the file\n")).collect();
    std::fs::write(directory.join("notes.txt"), lines)?;
    let ran = measure(work, rounds, seconds, contenders, &directory).await;
    std::fs::remove_dir_all(&directory)?;
    ran
}

async fn measure(
    work: &Work,
    rounds: usize,
    seconds: f64,
    contenders: &[&str],
    directory: &Path,
) -> Result<()> {
    let contenders: Vec<Contender> = contenders
        .iter()
        .map(|contender| {
            let (name, command) = contender.split_once('=').ok_or("a contender is NAME=COMMAND")?;
            let words = command.split(' ').map(str::to_owned).collect();
            Ok(Contender { name: name.to_owned(), words, directory: directory.to_owned() })
        })
        .collect::<Result<_>>()?;
    let span = Duration::from_secs_f64(seconds);
    let mut figures = Figures::new();
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let contender = &contenders[(round + turn) % contenders.len()];
            let mut add =
                |what, figure| figures.entry((what, contender.name.clone())).or_default().push(figure);
            let begun = Instant::now();
            let client = stdio(contender).await?;
            check(work, client.peer()).await?;
            let [one_stdio, many_stdio, one_http, many_http] = work.series;
            if work.has_many_clients {
                add("first answer over stdio, ms", begun.elapsed().as_secs_f64() * 1000.0);
            }
            add(one_stdio, rate(work, &[client.peer().clone()], span).await?);
            add(many_stdio, rate(work, &vec![client.peer().clone(); work.many], span).await?);
            client.cancel().await?;

            let (server, url) = http(contender).await?;
            let token = contender.token();
            let session = || session(&url, token.as_deref());
            let mut clients = vec![session().await?];
            check(work, clients[0].peer()).await?;
            add(one_http, rate(work, &[clients[0].peer().clone()], span).await?);
            if work.has_many_clients {
                for _ in 1..work.many {
                    clients.push(session().await?);
                }
            }
            let peers: Vec<_> =
                clients.iter().map(|client| client.peer().clone()).cycle().take(work.many).collect();
            add(many_http, rate(work, &peers, span).await?);
            if round == 0 && work.has_many_clients {
                let pid = server.id().ok_or("the server is gone")?;
                let before = resident(pid)?;
                for _ in clients.len()..SESSIONS {
                    clients.push(session().await?);
                }
                add("KiB a session of 1,000", (resident(pid)? - before) / (SESSIONS - work.many) as f64);
            }
            drop(clients);
            drop(server);
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    for ((what, name), figures) in figures {
        let figures: Vec<String> = figures.iter().map(f64::to_string).collect();
        println!("{what}\t{name}\t{}", figures.join("\t"));
    }
    Ok(())
}

fn client() -> ClientConfig {
    let mut client = ClientConfig::default();
    client.protocol_version = ProtocolVersion::V_2025_11_25;
    client
}

async fn stdio(contender: &Contender) -> Result<Client> {
    let (transport, _) =
        TokioChildProcess::builder(contender.command("stdio")).stderr(Stdio::null()).spawn()?;
    Ok(client().serve(transport).await?)
}

async fn http(contender: &Contender) -> Result<(Child, String)> {
    let mut command = contender.command("http");
    if contender.is_command() {
        let mut server = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(server.stderr.take().ok_or("no output")?).lines();
        while let Some(line) = lines.next_line().await? {
            if let Some(url) = line.strip_prefix("serving at ") {
                let url = url.to_owned();
                // The next line says where the token is, once it is there.
                lines.next_line().await?;
                tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                return Ok((server, url));
            }
        }
        return Err("the command does not say where it serves".into());
    }
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let output = server.stdout.take().ok_or("no output")?;
    let url = BufReader::new(output).lines().next_line().await?.ok_or("the server prints no address")?;
    Ok((server, url))
}

async fn session(url: &str, token: Option<&str>) -> Result<Client> {
    // A server in another language takes a moment from its address to its first connection.
    for _ in 0..100 {
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        config.auth_header = token.map(str::to_owned);
        let transport = StreamableHttpClientTransport::from_config(config);
        match client().serve(transport).await {
            Ok(session) => return Ok(session),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
    Err(format!("{url} does not answer").into())
}

fn call(work: &Work) -> Result<CallToolRequestParams> {
    Ok(CallToolRequestParams::new(work.tool).with_arguments(serde_json::from_str(work.arguments)?))
}

/// That the answer is the right one.
async fn check(work: &Work, peer: &Peer<RoleClient>) -> Result<()> {
    let answer = serde_json::to_value(peer.call_tool(call(work)?).await?)?;
    if answer["content"][0]["text"].as_str().is_some_and(|text| text.contains(work.answer)) {
        Ok(())
    } else {
        Err(format!("wrong: {answer}").into())
    }
}

/// Calls a second of all together, each of whom calls again once its answer is there.
async fn rate(work: &Work, peers: &[Peer<RoleClient>], span: Duration) -> Result<f64> {
    let call = call(work)?;
    let begun = Instant::now();
    let each = peers.iter().cloned().map(|peer| {
        let call = call.clone();
        tokio::spawn(async move {
            let mut calls = 0_u32;
            while begun.elapsed() < span {
                let result = peer.call_tool(call.clone()).await?;
                if result.is_error == Some(true) {
                    return Err("a call failed".into());
                }
                calls += 1;
            }
            Ok::<u32, Box<dyn std::error::Error + Send + Sync>>(calls)
        })
    });
    let mut calls = 0;
    for task in each.collect::<Vec<_>>() {
        calls += task.await??;
    }
    Ok(f64::from(calls) / begun.elapsed().as_secs_f64())
}

/// Returns the resident memory of a process, in KiB.
fn resident(pid: u32) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no size")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
