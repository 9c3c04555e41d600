//! The client, the same for all: how many calls a second come back right.

use crate::Result;
use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::{Peer, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// How many clients call at once.
const MANY: usize = 64;
/// How many sessions memory is looked at with.
const SESSIONS: usize = 1_000;

struct Contender {
    name: String,
    words: Vec<String>,
}

impl Contender {
    fn command(&self, transport: &str) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).arg(transport).kill_on_drop(true);
        command
    }
}

type Figures = BTreeMap<(&'static str, String), Vec<f64>>;
type Client = RunningService<RoleClient, ClientConfig>;

pub(crate) async fn run(rounds: usize, seconds: f64, contenders: &[&str]) -> Result<()> {
    let contenders: Vec<Contender> = contenders
        .iter()
        .map(|contender| {
            let (name, command) = contender.split_once('=').ok_or("a contender is NAME=COMMAND")?;
            let words = command.split(' ').map(str::to_owned).collect();
            Ok(Contender { name: name.to_owned(), words })
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
            check(client.peer()).await?;
            add("first answer over stdio, ms", begun.elapsed().as_secs_f64() * 1000.0);
            add("stdio, 1 call at once", rate(&[client.peer().clone()], span).await?);
            add("stdio, 64 calls at once", rate(&vec![client.peer().clone(); MANY], span).await?);
            client.cancel().await?;

            let (server, url) = http(contender).await?;
            let mut clients = vec![session(&url).await?];
            check(clients[0].peer()).await?;
            add("HTTP, 1 client", rate(&[clients[0].peer().clone()], span).await?);
            for _ in 1..MANY {
                clients.push(session(&url).await?);
            }
            let peers: Vec<_> = clients.iter().map(|client| client.peer().clone()).collect();
            add("HTTP, 64 clients", rate(&peers, span).await?);
            if round == 0 {
                let pid = server.id().ok_or("the server is gone")?;
                let before = resident(pid)?;
                for _ in clients.len()..SESSIONS {
                    clients.push(session(&url).await?);
                }
                add("KiB a session of 1,000", (resident(pid)? - before) / (SESSIONS - MANY) as f64);
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
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let output = server.stdout.take().ok_or("no output")?;
    let url = BufReader::new(output).lines().next_line().await?.ok_or("the server prints no address")?;
    Ok((server, url))
}

async fn session(url: &str) -> Result<Client> {
    // A server in another language takes a moment from its address to its first connection.
    for _ in 0..100 {
        let transport = StreamableHttpClientTransport::from_uri(url);
        match client().serve(transport).await {
            Ok(session) => return Ok(session),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
    Err(format!("{url} does not answer").into())
}

fn call() -> CallToolRequestParams {
    let Value::Object(arguments) = json!({"name": "Ada", "count": 3}) else { unreachable!("an object") };
    CallToolRequestParams::new("greet").with_arguments(arguments)
}

/// That the answer is the right one.
async fn check(peer: &Peer<RoleClient>) -> Result<()> {
    let answer = serde_json::to_value(peer.call_tool(call()).await?)?;
    if answer["content"][0]["text"] == "hello Ada 3" {
        Ok(())
    } else {
        Err(format!("wrong: {answer}").into())
    }
}

/// Calls a second of all together, each of whom calls again once its answer is there.
async fn rate(peers: &[Peer<RoleClient>], span: Duration) -> Result<f64> {
    let begun = Instant::now();
    let each = peers.iter().cloned().map(|peer| {
        tokio::spawn(async move {
            let mut calls = 0_u32;
            while begun.elapsed() < span {
                let result = peer.call_tool(call()).await?;
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

/// What a process holds, in KiB.
fn resident(pid: u32) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no size")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
