//! Where a host lives: a home, a configuration, data and a workspace of its own.

use super::process::{self, Held};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};
use tempfile::TempDir;

pub(super) struct Place(TempDir);

impl Place {
    pub(super) fn new(configuration: &str) -> Self {
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
    pub(super) fn configure(&self, configuration: &str) {
        let new = self.0.path().join("user/new");
        fs::write(&new, configuration).expect("a file");
        fs::rename(new, self.0.path().join("user/toolkit.json5")).expect("a file");
    }

    pub(super) fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    pub(super) fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolkit"));
        command.args(args).current_dir(self.work()).env("HOME", self.0.path().join("home"));
        command.env("TOOLKIT_CONFIG_DIR", self.0.path().join("user")).env("TOOLKIT_DATA_DIR", self.data());
        command
    }
}

/// A running host, which ends with its test.
pub(super) struct Host {
    pub(super) child: Child,
}

impl Host {
    pub(super) fn start(mut command: Command) -> Self {
        Self { child: command.spawn().expect("the command starts") }
    }

    /// The number of its commands that still run.
    pub(super) fn commands(&self) -> usize {
        process::commands(self.child.id()).len()
    }

    /// What it holds once it has nothing to do: processes that were told to end need a moment.
    pub(super) fn held(&self, place: &Place) -> Held {
        let began = std::time::Instant::now();
        while !process::commands(self.child.id()).is_empty() && began.elapsed() < super::PATIENCE {
            std::thread::sleep(std::time::Duration::from_millis(20));
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
