//! Where a host lives: a home, a configuration, data and a workspace of its own.

use super::process::{self, Held};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new(configuration: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["work", "user", "data", "home"] {
            fs::create_dir(directory.path().join(name)).expect("a directory");
        }
        let place = Self(directory);
        fs::write(place.work().join("notes.txt"), "one\ntwo\n").expect("a file");
        place.configure(configuration);
        place
    }

    /// Replaces the configuration as editors do: as a whole.
    pub(crate) fn configure(&self, configuration: &str) {
        let new = self.0.path().join("user/new");
        fs::write(&new, configuration).expect("a file");
        fs::rename(new, self.0.path().join("user/toolkit.json5")).expect("a file");
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolkit"));
        command.args(args);
        self.prepare(command)
    }

    /// The command as the last words of another one, which sets something up before.
    pub(crate) fn command_by(&self, first: &[&str], args: &[&str]) -> Command {
        let mut command = Command::new(first[0]);
        command.args(&first[1..]).arg(env!("CARGO_BIN_EXE_toolkit")).args(args);
        self.prepare(command)
    }

    fn prepare(&self, mut command: Command) -> Command {
        command.current_dir(self.work()).env("HOME", self.0.path().join("home")).env("DATA", self.data());
        command.env("TOOLKIT_CONFIG_DIR", self.0.path().join("user")).env("TOOLKIT_DATA_DIR", self.data());
        command
    }
}

/// A running host, which ends with its test.
pub(crate) struct Host {
    pub(crate) child: Child,
    said: Arc<Mutex<String>>,
}

impl Host {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the command starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let said = Arc::new(Mutex::new(String::new()));
        let keeps = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                writeln!(keeps.lock().expect("no panic"), "{line}").expect("text");
            }
        });
        Self { child, said }
    }

    /// Everything on standard error so far.
    pub(crate) fn said(&self) -> String {
        self.said.lock().expect("no panic").clone()
    }

    /// Waits until standard error holds this text, and returns all of it.
    #[track_caller]
    pub(crate) fn says(&mut self, text: &str) -> String {
        self.becomes(text, |host| Some(host.said()).filter(|said| said.contains(text)))
    }

    /// Waits until there is something to return.
    #[track_caller]
    pub(crate) fn becomes<T>(&mut self, what: &str, found: impl Fn(&Self) -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            if let Some(found) = found(self) {
                return found;
            }
            let ended = self.child.try_wait().expect("a child");
            let is_late = began.elapsed() > super::PATIENCE;
            assert!(ended.is_none() && !is_late, "{what}: ended: {ended:?}, said: {}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().expect("`kill` starts");
        assert!(sent.success());
    }

    /// The exit status, once it has ended by itself.
    #[track_caller]
    pub(crate) fn end(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            assert!(began.elapsed() < super::PATIENCE, "it does not end: {}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The number of its commands that still run.
    pub(crate) fn commands(&self) -> usize {
        process::commands(self.child.id()).len()
    }

    /// Its resources once it has nothing to do: processes that were told to end need a moment.
    pub(crate) fn held(&self, place: &Place) -> Held {
        let began = Instant::now();
        while self.commands() > 0 && began.elapsed() < super::PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
        }
        Held::of(self.child.id(), &place.data())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
