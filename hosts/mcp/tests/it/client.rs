//! A toolkit whose tools are those of servers: real ones in other processes, and ones that do not keep to the protocol.

#![cfg(all(feature = "client", target_os = "linux"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod approvals;
mod calls;
mod changes;
mod features;
mod forgotten;
mod hostile;
mod limits;
#[cfg(all(feature = "http", feature = "oauth"))]
mod oauth;
mod sampling;
mod scripted;
mod session;
mod sse;
mod starts;
mod tolerant;
mod unreadable;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toolkit::{Builder, Caller, Tool, ToolCall, ToolResult, Toolbox, Toolkit, approval::ScriptedApprover};
use toolkit_mcp::{ClientOptions, McpServerSettings, McpServers, ServerState};

/// The servers of the examples.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().join("examples").join(name)
}

fn served() -> PathBuf {
    example("served")
}

fn command(program: impl AsRef<Path>, args: &[&str]) -> Value {
    json!({"command": program.as_ref(), "args": args})
}

/// A server that a line of shell is.
fn shell(line: &str) -> Value {
    command("/bin/sh", &["-c", line])
}

/// A toolkit with servers, in a directory of its own.
struct Host {
    toolkit: Toolkit,
    servers: McpServers,
    directory: tempfile::TempDir,
}

impl Host {
    fn new(servers: Value) -> Self {
        Self::with(servers, |options| options, Builder::without_asking_first)
    }

    fn with(
        servers: Value,
        options: impl FnOnce(ClientOptions) -> ClientOptions,
        builder: impl FnOnce(Builder) -> Builder,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let workspace = directory.path().join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        let servers: BTreeMap<String, McpServerSettings> = serde_json::from_value(servers).unwrap();
        let own =
            ClientOptions::new().workspace(&workspace).data_dir(&data).start_within(Duration::from_secs(20));
        let servers = McpServers::new(&servers, options(own));
        let toolkit = Toolkit::empty().data_dir(data).default_workspace(workspace);
        // Builds of others run beside these tests.
        let toolkit = toolkit.prepare_timeout(Duration::from_secs(20)).tool_source(servers.clone());
        Self { toolkit: builder(toolkit).build().unwrap(), servers, directory }
    }

    async fn toolbox(&self) -> Toolbox {
        self.toolkit.toolbox(&Caller::new().with_session("s")).await
    }

    async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        self.toolbox().await.call(ToolCall::new("1", name, arguments)).await
    }

    fn state(&self, name: &str) -> ServerState {
        self.servers.status().into_iter().find(|status| status.name == name).unwrap().state
    }

    /// All that was noticed of the servers.
    fn noticed(&self) -> String {
        let status = self.servers.status();
        let noticed = status.iter().flat_map(|status| &status.diagnostics);
        noticed.map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    /// Waits until something holds, for a while.
    async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        for _ in 0..400 {
            if holds(self) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{what}: {:?}", self.servers.status());
    }
}

fn names(toolbox: &Toolbox) -> Vec<&str> {
    toolbox.tools().map(Tool::name).collect()
}

fn asking(answers: impl IntoIterator<Item = toolkit::approval::Answer>) -> impl FnOnce(Builder) -> Builder {
    let approver = ScriptedApprover::new(answers);
    move |builder| builder.approver(approver)
}
