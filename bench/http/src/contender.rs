//! The contenders: their names, and how they are started.

use std::path::PathBuf;
use std::process::Stdio;

use gateway::Result;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::caller::{Caller, Protocol};
use crate::people::PeoplesGateway;
use crate::tool::{NAME, TOKEN};
use crate::tool_client::ToolClient;

/// Calls of one caller at most in a measurement of a gateway, where a person has 10,000 requests within ten seconds.
const MAX_CALLS_OF_PERSON: usize = 9_000;

#[derive(Debug, PartialEq)]
pub(crate) struct Contender {
    pub(crate) name: String,
    protocol: Protocol,
    server: Server,
}

#[derive(Debug, PartialEq)]
enum Server {
    /// A command that prints its address first.
    Command(Vec<String>),
    /// A gateway of this command.
    Gateway(PathBuf),
}

impl Contender {
    /// Reads `NAME=WAY=COMMAND`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.splitn(3, '=').collect();
        let [name, way, command] = parts[..] else {
            return Err(format!("`{text}` is no contender: NAME=WAY=COMMAND").into());
        };
        let words = || Server::Command(command.split(' ').map(str::to_owned).collect());
        let (protocol, server) = match way {
            "v1" => (Protocol::V1, words()),
            "mcp" => (Protocol::Mcp, words()),
            "gateway-v1" => (Protocol::V1, Server::Gateway(command.into())),
            "gateway-mcp" => (Protocol::Mcp, Server::Gateway(command.into())),
            _ => return Err(format!("`{way}` is none of v1, mcp, gateway-v1 and gateway-mcp").into()),
        };
        Ok(Self { name: name.to_owned(), protocol, server })
    }

    /// Returns the most calls of one caller in a measurement.
    pub(crate) fn max_calls(&self) -> usize {
        match self.server {
            Server::Command(_) => usize::MAX,
            Server::Gateway(_) => MAX_CALLS_OF_PERSON,
        }
    }

    /// Starts the server.
    pub(crate) async fn start(&self) -> Result<Running> {
        let started = match &self.server {
            Server::Command(words) => {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]).kill_on_drop(true).stdin(Stdio::null());
                let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
                let mut output = BufReader::new(process.stdout.take().ok_or("no output")?).lines();
                let url = output.next_line().await?;
                let url = url.ok_or_else(|| format!("{}: the server prints no address", self.name))?;
                // Later output is read, so that the server never waits for that.
                tokio::spawn(async move { while let Ok(Some(_)) = output.next_line().await {} });
                Started::Command { _process: process, url }
            }
            Server::Gateway(toolkit) => Started::Gateway {
                clients: Vec::new(),
                gateway: Box::new(PeoplesGateway::start(toolkit).await?),
            },
        };
        Ok(Running { protocol: self.protocol, started })
    }
}

/// A server that runs until it is dropped.
pub(crate) struct Running {
    protocol: Protocol,
    started: Started,
}

enum Started {
    Command { _process: Child, url: String },
    Gateway { clients: Vec<ToolClient>, gateway: Box<PeoplesGateway> },
}

impl Running {
    /// Connects callers. Each one of a gateway is a person of their own, with a client that serves the tool: one session calls such tools one after
    /// the other, and the requests of a person are limited.
    pub(crate) async fn callers(&mut self, count: usize) -> Result<Vec<Caller>> {
        let mut callers = Vec::new();
        for _ in 0..count {
            let caller = match &mut self.started {
                Started::Command { url, .. } => Caller::connect(self.protocol, url, TOKEN).await?,
                Started::Gateway { clients, gateway } => {
                    let token = gateway.person().await?;
                    let address = &gateway.gateway.address;
                    clients.push(ToolClient::connect(address, &token, "bench", NAME).await?);
                    let url = match self.protocol {
                        Protocol::V1 => gateway.call_url(NAME),
                        Protocol::Mcp => format!("http://{address}/mcp"),
                    };
                    Caller::connect(self.protocol, &url, &token).await?
                }
            };
            callers.push(caller);
        }
        Ok(callers)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_contender_has_a_name_a_way_and_a_command() {
        let ours = Contender::parse("ours=mcp=program serve --a=b").unwrap();
        assert_eq!(
            (ours.name.as_str(), ours.protocol, ours.max_calls()),
            ("ours", Protocol::Mcp, usize::MAX)
        );
        assert_eq!(ours.server, Server::Command(["program", "serve", "--a=b"].map(str::to_owned).into()));
        let gateway = Contender::parse("a gateway=gateway-v1=/a b/toolkit").unwrap();
        assert_eq!(gateway.server, Server::Gateway("/a b/toolkit".into()));
        assert_eq!((gateway.protocol, gateway.max_calls()), (Protocol::V1, MAX_CALLS_OF_PERSON));
        for text in ["ours", "ours=mcp", "ours=v2=program"] {
            assert!(Contender::parse(text).is_err(), "{text}");
        }
    }
}
