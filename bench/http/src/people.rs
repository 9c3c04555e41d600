//! A gateway with people who have clients.

use std::path::Path;

use gateway::Result;
use gateway::connection::Connection;
use gateway::process::{self, Gateway};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The address of a model that nobody asks.
const NO_MODEL: &str = "http://127.0.0.1:9/v1";
/// Calls of tools of clients ask by default.
const SETTINGS: &str = "permission: { client: 'allow' },";

/// A gateway in a directory of its own, with people who were let in.
pub(crate) struct PeoplesGateway {
    pub(crate) gateway: Gateway,
    people: usize,
    // Removed after the process has ended.
    _directory: TempDir,
}

impl PeoplesGateway {
    pub(crate) async fn start(toolkit: &Path) -> Result<Self> {
        let directory = process::directory(NO_MODEL, SETTINGS)?;
        let gateway = Gateway::start(toolkit, directory.path()).await?;
        Ok(Self { gateway, people: 0, _directory: directory })
    }

    /// Lets one more person in, and returns their token.
    pub(crate) async fn person(&mut self) -> Result<String> {
        self.people += 1;
        let wanted = json!({ "name": format!("person{}", self.people) }).to_string();
        let mut connection = Connection::open(&self.gateway.address).await?;
        let (status, made) = connection.request("POST", "/v1/tokens", &self.gateway.token, &wanted).await?;
        let text = String::from_utf8_lossy(&made);
        let made: Value = serde_json::from_str(&text).unwrap_or_default();
        let token = made["token"].as_str().map(str::to_owned);
        Ok(token.ok_or_else(|| format!("no token is made: {status} {text}"))?)
    }

    /// Returns the address of the calls of a tool.
    pub(crate) fn call_url(&self, tool: &str) -> String {
        format!("http://{}{}", self.gateway.address, call_path(tool))
    }
}

/// Returns the path of the calls of a tool.
pub(crate) fn call_path(tool: &str) -> String {
    format!("/v1/tools/{tool}/call")
}
