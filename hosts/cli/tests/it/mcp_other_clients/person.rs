//! A person with a workspace, whose programs are clients of the command.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use toolkit_tests::{repository, run};

pub(super) fn tools() -> PathBuf {
    repository().join("target/tools")
}

pub(super) fn client(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

/// A person with a workspace, and the command.
pub(crate) struct Person {
    directory: TempDir,
    toolkit: PathBuf,
}

impl Person {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["work", "user", "data"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        fs::write(directory.path().join("work/notes.txt"), "one\ntwo\n").unwrap();
        Self { directory, toolkit: env!("CARGO_BIN_EXE_toolkit").into() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(super) fn settled<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .current_dir(self.path("work"))
            .env("WORKSPACE", self.path("work"))
            .env("TOOLKIT_CONFIG_DIR", self.path("user"))
            .env("TOOLKIT_DATA_DIR", self.path("data"))
    }

    /// Makes a token for clients over HTTP.
    pub(super) fn add_token(&self, args: &[&str]) -> String {
        let mut command = Command::new(&self.toolkit);
        command.args(["mcp", "token", "add"]).args(args);
        run(self.settled(&mut command)).success().trim().to_owned()
    }

    /// The server that a client starts.
    pub(super) fn command(&self) -> Vec<String> {
        let paths = ["user", "data", "work"].map(|name| self.path(name).display().to_string());
        let [user, data, work] = paths;
        let settings = [format!("TOOLKIT_CONFIG_DIR={user}"), format!("TOOLKIT_DATA_DIR={data}")];
        let [user, data] = settings;
        let toolkit = self.toolkit.display().to_string();
        ["env", &user, &data, &toolkit, "mcp", "serve", "--workspace", &work].map(str::to_owned).to_vec()
    }

    /// Serves over HTTP: the address and the token.
    pub(super) fn serve(&self) -> (Served, Vec<String>) {
        self.serve_with(&[])
    }

    pub(super) fn serve_with(&self, options: &[&str]) -> (Served, Vec<String>) {
        let mut command = Command::new(&self.toolkit);
        command.args(["mcp", "serve", "--http", "127.0.0.1:0"]).args(options).stderr(Stdio::piped());
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
    pub(super) fn run(&self, program: &Path, args: &[&str], target: &[String]) {
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
pub(super) struct Served(pub(super) Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns true if a `sleep` with this argument runs.
pub(super) fn is_running(mark: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).take(2).eq([&b"sleep"[..], mark.as_bytes()])
    })
}

pub(super) fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1500 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{what} did not happen");
}
