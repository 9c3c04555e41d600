//! Servers of the Model Context Protocol in Python, through the command: their tools, resources and prompts, over each transport.

#![cfg(all(target_os = "linux", feature = "mcp"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use toolkit_tests::{repository, run};

/// A server at an address, which ends with the test.
struct Served(Child, u16);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn python() -> PathBuf {
    repository().join("target/tools/python/bin/python")
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/python_server.py")
}

fn serve(library: &str, transport: &str) -> Served {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new(python());
    command.arg(script()).args([library, transport, &port.to_string()]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let served = Served(child, port);
    for _ in 0..600 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return served;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{library} does not serve over {transport}");
}

fn configured(settings: &Value) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for name in ["work", "user", "data"] {
        fs::create_dir(directory.path().join(name)).unwrap();
    }
    let file = json!({"mcp": {"py": settings}, "permission": {"mcp": "allow"}});
    fs::write(directory.path().join("user/toolkit.json5"), file.to_string()).unwrap();
    directory
}

fn toolkit(directory: &TempDir, args: &[&str]) -> String {
    let path = |name: &str| directory.path().join(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolkit"));
    command.args(args).current_dir(path("work")).stdin(Stdio::null());
    command.env("TOOLKIT_CONFIG_DIR", path("user")).env("TOOLKIT_DATA_DIR", path("data"));
    run(&mut command).success()
}

fn is_understood(settings: &Value) {
    let directory = configured(settings);
    let tested = toolkit(&directory, &["mcp", "test"]);
    assert!(
        tested.contains("py: 1 tools (") && tested.contains("prompt py__review: Reviews code."),
        "{tested}"
    );
    for (args, expected) in [
        (&["py__add", "--a", "2", "--b", "3"][..], "5"),
        (&["resource_list", "--server", "py"], "test://users/{name}"),
        (&["resource_read", "--server", "py", "--uri", "test://greeting"], "hello from Python"),
        (&["resource_read", "--server", "py", "--uri", "test://users/ada"], "user ada"),
    ] {
        let mut words = vec!["call"];
        // Options of the command stand before the tool's name.
        words.extend(args);
        let said = toolkit(&directory, &words);
        assert!(said.contains(expected), "{settings} {args:?}: {said}");
    }
    // No model reads such data: it is saved.
    let read = ["call", "-o", "json", "resource_read", "--server", "py", "--uri", "test://data"];
    let said: Value = serde_json::from_str(&toolkit(&directory, &read)).unwrap();
    let path = said["metadata"]["leftOut"][0]["kept"]["path"].as_str().unwrap_or_else(|| panic!("{said}"));
    assert_eq!(fs::read(path).unwrap(), [1, 2, 3], "{said}");
}

fn library(library: &str) {
    is_understood(&json!({"command": python(), "args": [script(), library, "stdio"]}));
    let served = serve(library, "streamable-http");
    is_understood(&json!({"url": format!("http://127.0.0.1:{}/mcp", served.1)}));
    let served = serve(library, "sse");
    for settings in [json!({}), json!({"type": "sse"})] {
        let mut settings = settings;
        settings["url"] = format!("http://127.0.0.1:{}/sse", served.1).into();
        is_understood(&settings);
    }
}

#[test]
#[ignore = "needs the Python server of MCP: cargo xtask test"]
fn servers_of_the_python_library_are_understood_over_each_transport() {
    library("mcp");
}

#[test]
#[ignore = "needs FastMCP: cargo xtask test"]
fn servers_of_fastmcp_are_understood_over_each_transport() {
    library("fastmcp");
}
