//! Calls of the tool over one connection, one after the other.

use gateway::Result;
use serde_json::json;

use crate::client::{Answer, Client};
use crate::tool::{ARGUMENTS, NAME, is_right};

/// The version of MCP that is asked for.
const VERSION: &str = "2025-11-25";

/// The protocol of the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// `POST /v1/tools/{name}/call`.
    V1,
    /// MCP over HTTP, with a session.
    Mcp,
}

pub(crate) struct Caller {
    client: Client,
    path: String,
    /// The session, if it is MCP.
    session: Option<Session>,
}

struct Session {
    /// The headers of a request within it. Some servers have no sessions.
    headers: Vec<(&'static str, String)>,
    /// The id of the last request.
    last: u64,
}

impl Caller {
    /// Connects to a server, and begins a session if the protocol has them. `url` is `http://host:port/path`.
    pub(crate) async fn connect(protocol: Protocol, url: &str, token: &str) -> Result<Self> {
        let (address, path) = parts(url)?;
        let mut client = Client::open(address, token).await?;
        let session = match protocol {
            Protocol::V1 => None,
            Protocol::Mcp => Some(begin(&mut client, path).await?),
        };
        Ok(Self { client, path: path.to_owned(), session })
    }

    /// Calls the tool, and checks the answer.
    ///
    /// # Errors
    ///
    /// If the call is refused or fails, or its result is not the right one.
    pub(crate) async fn call(&mut self) -> Result<()> {
        let (answer, result) = match &mut self.session {
            None => {
                let accept = [("accept", "application/json")];
                let answer = self.client.post(&self.path, &accept, ARGUMENTS.to_owned()).await?;
                let result = answer.json()?;
                (answer, result)
            }
            Some(session) => {
                session.last += 1;
                let id = session.last;
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{NAME}","arguments":{ARGUMENTS}}}}}"#
                );
                let answer = post(&mut self.client, &self.path, &session.headers, body).await?;
                let result = answer.response(id)?["result"].take();
                (answer, result)
            }
        };
        if answer.status == 200 && is_right(&result) { Ok(()) } else { Err(answer.wrong("a call failed")) }
    }
}

/// Splits an address into `host:port` and the path.
fn parts(url: &str) -> Result<(&str, &str)> {
    let rest = url.strip_prefix("http://").ok_or_else(|| format!("`{url}` does not begin with http://"))?;
    let at = rest.find('/').ok_or_else(|| format!("`{url}` has no path"))?;
    Ok(rest.split_at(at))
}

async fn post(client: &mut Client, path: &str, headers: &[(&str, String)], body: String) -> Result<Answer> {
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    client.post(path, &headers, body).await
}

/// Begins a session of MCP.
async fn begin(client: &mut Client, path: &str) -> Result<Session> {
    let mut headers = vec![("accept", "application/json, text/event-stream".to_owned())];
    let initialize = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": VERSION, "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } },
    });
    let answer = post(client, path, &headers, initialize.to_string()).await?;
    let response = answer.response(0)?;
    let version = response["result"]["protocolVersion"].as_str();
    let version = version.ok_or_else(|| answer.wrong("no session begins"))?;
    headers.push(("mcp-protocol-version", version.to_owned()));
    headers.extend(answer.session.map(|session| ("mcp-session-id", session)));
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let answer = post(client, path, &headers, initialized.to_string()).await?;
    if answer.status != 202 {
        return Err(answer.wrong("the session does not go on"));
    }
    Ok(Session { headers, last: 0 })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_address_has_a_host_and_a_path() {
        assert_eq!(parts("http://127.0.0.1:80/v1/a").unwrap(), ("127.0.0.1:80", "/v1/a"));
        for url in ["127.0.0.1:80/a", "http://127.0.0.1:80"] {
            assert!(parts(url).is_err(), "{url}");
        }
    }
}
