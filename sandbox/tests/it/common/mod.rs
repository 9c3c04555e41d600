//! Helpers of the tests: commands with a file for their output, and the process table.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use toolkit_sandbox::{Command, Exit, Job, Output};

pub const SUPERVISOR: &str = env!("CARGO_BIN_EXE_toolkit-supervisor");

/// The variable that marks every process of a test's job.
const MARK: &str = "TOOLKIT_SANDBOX_TEST";

/// A place for a test, with a marker that its processes carry.
pub struct Place {
    pub directory: TempDir,
    pub marker: String,
}

impl Place {
    pub fn new() -> Self {
        toolkit_sandbox::supervise_with(SUPERVISOR);
        let directory = tempfile::Builder::new().prefix("sandbox-").tempdir().unwrap();
        let marker = format!("{}-{}", std::process::id(), directory.path().file_name().unwrap().display());
        Self { directory, marker }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn output(&self) -> PathBuf {
        self.path().join("output")
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.output()).unwrap()).into_owned()
    }

    /// A program with the marker, a usual `PATH`, and its output in the file.
    pub fn command(&self, program: &str) -> Command {
        let file = File::options().create(true).append(true).open(self.output()).unwrap();
        Command::new(program)
            .env(MARK, &self.marker)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .current_dir(self.path())
            .output(Output::File(file))
    }

    pub fn sh(&self, script: &str) -> Command {
        self.command("bash").args(["-c", script])
    }

    /// The processes that carry the marker: id and command line.
    pub fn processes(&self) -> Vec<(i32, String)> {
        marked(&self.marker)
    }

    /// Fails where processes are left after half a minute.
    pub fn nothing_left(&self) {
        nothing_left(&self.marker);
    }
}

pub fn nothing_left(marker: &str) {
    let begun = Instant::now();
    loop {
        let left = marked(marker);
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "processes are left: {left:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn marked(marker: &str) -> Vec<(i32, String)> {
    let wanted = format!("{MARK}={marker}");
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse() else { continue };
        let Ok(environment) = std::fs::read(entry.path().join("environ")) else { continue };
        if environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes()) {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((pid, String::from_utf8_lossy(&line).replace('\0', " ")));
        }
    }
    found
}

/// Awaits something that must not take longer than this many seconds, and at least a minute: a busy machine is slow.
pub async fn within<T>(seconds: u64, what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(seconds.max(60)), what).await.expect("it took too long")
}

/// Waits for the first line of a job's output.
pub async fn first_line(job: &Job) {
    within(60, async {
        while job.progress().newlines == 0 {
            job.changed(&job.progress()).await;
        }
    })
    .await;
}

/// Runs a command to its end.
pub async fn finish(command: Command) -> (Job, Exit) {
    let job = within(20, command.spawn()).await.unwrap();
    let exit = within(60, job.exited()).await;
    within(10, job.drained(Duration::from_secs(5))).await;
    (job, exit)
}
