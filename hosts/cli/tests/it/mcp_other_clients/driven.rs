//! A client that does what it is told, one action after the other.

use super::person::{Person, client, tools};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A version of the protocol: with sessions, up to 2025-11-25, or without, 2026-07-28.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    Legacy,
    Modern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    TypeScript,
}

/// A client of a library.
pub(super) struct Driven {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    /// The id of its session, if it has one.
    pub(super) session: Option<String>,
}

impl Driven {
    pub(super) fn start(person: &Person, language: Language, era: Era, url: &str, token: &str) -> Self {
        let (program, script) = match language {
            Language::Python => ("python", "driven_client.py"),
            Language::TypeScript => ("node", "driven_client.mjs"),
        };
        let era = match era {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        };
        let mut command = Command::new(tools().join("python/bin").join(program));
        command.arg(client(script)).args([era, url, token]).env("NODE_PATH", tools().join("node_modules"));
        let piped = person.settled(&mut command).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, stdin, lines: BufReader::new(stdout).lines(), session: None }
    }

    /// Waits until the client is connected by the version that it was started for.
    pub(super) fn connected(&mut self, era: Era) {
        let version = match era {
            Era::Legacy => "2025-11-25",
            Era::Modern => "2026-07-28",
        };
        let own = self.done(&json!({"do": "own"}));
        assert_eq!(own["version"], version, "{own}");
        self.session = own["session"].as_str().map(str::to_owned);
    }

    /// Does an action, and returns its outcome, or the error of the library.
    pub(super) fn tried(&mut self, action: &Value) -> Result<Value, String> {
        writeln!(self.stdin, "{action}").unwrap();
        let line = self.lines.next().unwrap_or_else(|| panic!("the client ended at {action}")).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        match said["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(said["ok"].clone()),
        }
    }

    pub(super) fn done(&mut self, action: &Value) -> Value {
        self.tried(action).unwrap_or_else(|error| panic!("{action}: {error}"))
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
