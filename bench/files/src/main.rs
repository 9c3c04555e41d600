//! Measures calls of the file tools, compared with the plain work, in one process. Prints a line a pair: its
//! name, the aim or `-`, what took how many seconds in each round, by tabs.

mod change;
mod open;
mod read;

use std::cell::Cell;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::runtime::{self, Runtime};
use toolkit::prelude::*;
use toolkit::{Toolbox, Toolkit, tool_ref, inspection::LoopGuard, permission::{PermissionSettings, Permissions}};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(rounds), Some(directory)) = (arguments.next(), arguments.next()) else {
        return Err("usage: files ROUNDS DIRECTORY".into());
    };
    let rounds = rounds.parse()?;
    let directory = Path::new(&directory);
    let host = Host::new(directory)?;
    change::measure(&host, rounds)?;
    open::measure(&host, rounds)?;
    read::measure(&host, rounds)
}

/// The tools over one directory, where edits are allowed.
struct Host<'a> {
    directory: &'a Path,
    runtime: Runtime,
    toolkit: Toolkit,
    sessions: Cell<usize>,
}

impl<'a> Host<'a> {
    fn new(directory: &'a Path) -> Result<Self> {
        std::fs::create_dir_all(directory)?;
        let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let mut settings = PermissionSettings::default();
        settings.everybody = serde_json::from_value(json!({ "edit": "allow" }))?;
        let toolkit = Toolkit::empty()
            .tool(tool_ref!(builtin_tools::fs::read))
            .tool(tool_ref!(builtin_tools::fs::edit))
            .tool(tool_ref!(builtin_tools::fs::apply_patch))
            .tool(tool_ref!(open::opens))
            .permissions(Permissions::new([settings]))
            .loop_guard(LoopGuard::off())
            .without_asking_first()
            .build()?;
        Ok(Self { directory, runtime, toolkit, sessions: Cell::new(0) })
    }

    /// The tools of a session that has seen nothing yet.
    fn session(&self) -> Toolbox {
        let number = self.sessions.replace(self.sessions.get() + 1);
        let caller = Caller::new().with_session(format!("{number}")).with_workspace(self.directory);
        self.runtime.block_on(self.toolkit.toolbox(&caller))
    }

    fn call(&self, toolbox: &Toolbox, name: &str, arguments: Value) -> Result<String> {
        let result = self.runtime.block_on(toolbox.call(ToolCall::new("1", name, arguments)));
        if result.outcome.is_ok() { Ok(result.text()) } else { Err(result.text().into()) }
    }
}

/// The times of a pair, by round.
#[derive(Default)]
struct Pair {
    ours: Vec<f64>,
    plain: Vec<f64>,
}

impl Pair {
    /// Takes the time of both, by turns the one and the other first.
    fn round(&mut self, ours: impl FnOnce() -> Result<()>, plain: impl FnOnce() -> Result<()>) -> Result<()> {
        if self.ours.len().is_multiple_of(2) {
            self.ours.push(seconds(ours)?);
            self.plain.push(seconds(plain)?);
        } else {
            self.plain.push(seconds(plain)?);
            self.ours.push(seconds(ours)?);
        }
        Ok(())
    }

    /// `aim`: how many times as long as the plain work it should take at most, if that was said.
    fn print(&self, name: &str, aim: Option<f64>) {
        let list = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
        let aim = aim.map_or_else(|| "-".to_owned(), |aim| aim.to_string());
        println!("{name}\t{aim}\t{}\t{}", list(&self.ours), list(&self.plain));
    }
}

fn seconds(run: impl FnOnce() -> Result<()>) -> Result<f64> {
    let started = Instant::now();
    run()?;
    Ok(started.elapsed().as_secs_f64())
}
