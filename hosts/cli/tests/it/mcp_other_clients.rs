//! Clients of the Model Context Protocol in other languages, with the tools of the command.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use toolkit_tests::{repository, run};

fn tools() -> PathBuf {
    repository().join("target/tools")
}

fn client(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

/// A person with a workspace, and the command.
struct Person {
    directory: TempDir,
    toolkit: PathBuf,
}

impl Person {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["work", "user", "data"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        fs::write(directory.path().join("work/notes.txt"), "one\ntwo\n").unwrap();
        Self { directory, toolkit: env!("CARGO_BIN_EXE_toolkit").into() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn settled<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .current_dir(self.path("work"))
            .env("WORKSPACE", self.path("work"))
            .env("TOOLKIT_CONFIG_DIR", self.path("user"))
            .env("TOOLKIT_DATA_DIR", self.path("data"))
    }

    /// What a client starts.
    fn command(&self) -> Vec<String> {
        let paths = ["user", "data", "work"].map(|name| self.path(name).display().to_string());
        let [user, data, work] = paths;
        let settings = [format!("TOOLKIT_CONFIG_DIR={user}"), format!("TOOLKIT_DATA_DIR={data}")];
        let [user, data] = settings;
        let toolkit = self.toolkit.display().to_string();
        ["env", &user, &data, &toolkit, "mcp", "serve", "--workspace", &work].map(str::to_owned).to_vec()
    }

    /// Serves over HTTP: the address and the token.
    fn serve(&self) -> (Served, Vec<String>) {
        let mut command = Command::new(&self.toolkit);
        command.args(["mcp", "serve", "--http", "127.0.0.1:0"]).stderr(Stdio::piped());
        let mut child = self.settled(&mut command).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let url = first.strip_prefix("serving at ").unwrap().to_owned();
        // It is said where the token is, once that is there.
        lines.next().unwrap().unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        let token = fs::read_to_string(self.path("data/mcp-token")).unwrap();
        (Served(child), vec![url, token.trim().to_owned()])
    }

    /// Runs a client to its end, and looks whether what it cancelled is gone.
    fn run(&self, program: &Path, args: &[&str], target: &[String]) {
        let mut command = Command::new(program);
        command.args(args).arg(client("calls.json")).args(target);
        command.env("NODE_PATH", tools().join("node_modules"));
        let ran = run(self.settled(&mut command));
        assert!(ran.code == Some(0) && ran.stdout.contains("done"), "{args:?} {target:?}: {ran:#?}");
        let pid = fs::read_to_string(self.path("work/pid")).unwrap();
        let command = fs::read(format!("/proc/{}/cmdline", pid.trim())).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&command).contains("98765"), "{args:?}: it runs still");
        fs::remove_file(self.path("work/pid")).unwrap();
        fs::remove_file(self.path("work/new.txt")).unwrap();
    }
}

/// Ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn python(library: &str) {
    let person = Person::new();
    let script = client("python_client.py").display().to_string();
    let (_served, address) = person.serve();
    for mode in ["legacy", "auto"] {
        for target in [person.command(), address.clone()] {
            person.run(&tools().join("python/bin/python"), &[&script, library, mode], &target);
        }
    }
}

#[test]
#[ignore = "needs the Python client of MCP: cargo xtask test"]
fn the_python_client_calls_every_tool_in_both_generations() {
    python("mcp");
}

#[test]
#[ignore = "needs FastMCP: cargo xtask test"]
fn fastmcp_calls_every_tool_in_both_generations() {
    python("fastmcp");
}

#[test]
#[ignore = "needs the TypeScript client of MCP: cargo xtask test"]
fn the_typescript_client_calls_every_tool() {
    let person = Person::new();
    let script = client("node_client.mjs").display().to_string();
    let (_served, address) = person.serve();
    for target in [person.command(), address] {
        person.run(&tools().join("python/bin/node"), &[&script], &target);
    }
}

#[test]
#[ignore = "needs the MCP Inspector: cargo xtask test"]
fn the_inspector_lists_and_calls() {
    let person = Person::new();
    let (_served, address) = person.serve();
    let inspector =
        tools().join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    for is_http in [false, true] {
        let inspect = |args: &[&str]| {
            let mut command = Command::new(tools().join("python/bin/node"));
            command.arg(&inspector).arg("--cli");
            if is_http {
                command.arg(&address[0]).args(["--transport", "http"]);
                command.args(["--header", &format!("Authorization: Bearer {}", address[1])]);
            } else {
                command.args(person.command());
            }
            run(person.settled(command.args(args))).success()
        };
        let listed = inspect(&["--method", "tools/list"]);
        for name in ["read", "write", "edit", "apply_patch", "glob", "grep", "exec", "process"] {
            assert!(listed.contains(&format!("\"name\": \"{name}\"")), "{name}: {listed}");
        }
        let read =
            inspect(&["--method", "tools/call", "--tool-name", "read", "--tool-arg", "file_path=notes.txt"]);
        assert!(read.contains("two"), "{read}");
    }
}
