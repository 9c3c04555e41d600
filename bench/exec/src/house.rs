//! A host with the tool `exec`, where everybody is allowed everything; and commands as the benchmarks run them without it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::{self, Runtime};
use toolkit::prelude::*;
use toolkit::{Toolbox, Toolkit, tool_ref, approval::{Answer, CallbackApprover, PendingAsk}, config::{Configuration, LoadOptions}, inspection::LoopGuard};
use toolkit_sandbox::{Command, Job};

use crate::Result;

/// The `PATH` of every command.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

pub(crate) struct House {
    pub(crate) runtime: Runtime,
}

/// The tools of a session, with the toolkit that they belong to.
pub(crate) struct Tools {
    _toolkit: Toolkit,
    toolbox: Toolbox,
    data: PathBuf,
}

impl House {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { runtime: runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()? })
    }

    /// The tool in a session of its own. Everything of it lies in `directory`, which is made; the sandbox is `off` or `required`.
    pub(crate) fn tools(&self, directory: &Path, sandbox: &str) -> Result<Tools> {
        let [work, data, config] = ["work", "data", "toolkit.json5"].map(|name| directory.join(name));
        for path in [&work, &data] {
            fs::create_dir_all(path)?;
        }
        let settings = json!({ "sandbox": sandbox, "timeoutSec": 3600 });
        fs::write(&config, json!({ "tools": { "exec": settings } }).to_string())?;
        let toolkit = Toolkit::empty()
            .tool(tool_ref!(builtin_tools::runtime::exec))
            .configuration(Configuration::load(LoadOptions::new().user_file(config))?)
            .data_dir(&data)
            .approver(CallbackApprover::new(|_: &PendingAsk| Answer::allow()))
            .loop_guard(LoopGuard::off())
            .build()?;
        let caller = Caller::new().with_session("bench").with_workspace(work);
        let toolbox = self.runtime.block_on(toolkit.toolbox(&caller));
        Ok(Tools { _toolkit: toolkit, toolbox, data })
    }

    pub(crate) fn exec(&self, tools: &Tools, command: &str) -> Result<()> {
        let call = ToolCall::new("1", "exec", json!({ "command": command }));
        let result = self.runtime.block_on(tools.toolbox.call(call));
        match &result.outcome {
            Ok(output) if output.metadata.get("exitCode") == Some(&Value::from(0)) => Ok(()),
            _ => Err(format!("`{command}`: {}", result.text()).into()),
        }
    }

    /// Runs it to its end, until all that it wrote is where it belongs.
    pub(crate) fn job(&self, command: Command) -> Result<Job> {
        self.runtime.block_on(async {
            let job = command.spawn().await?;
            let exit = job.exited().await;
            if !exit.success() {
                return Err(format!("a command failed: {exit:?}").into());
            }
            job.drained(Duration::from_secs(10)).await;
            Ok(job)
        })
    }

    /// Waits until nothing of it is left.
    pub(crate) fn gone(&self, job: &Job) {
        self.runtime.block_on(job.gone());
    }
}

impl Tools {
    /// The files that outputs are kept in.
    pub(crate) fn kept(&self) -> Result<Vec<PathBuf>> {
        let (mut found, mut directories) = (Vec::new(), vec![self.data.clone()]);
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory)? {
                let entry = entry?;
                let of = if entry.file_type()?.is_dir() { &mut directories } else { &mut found };
                of.push(entry.path());
            }
        }
        Ok(found)
    }
}

/// A command by its words, with the environment that all get.
pub(crate) fn words(words: &[&str]) -> Command {
    Command::new(words[0]).args(&words[1..]).env("PATH", PATH)
}

/// The same without any of this project.
pub(crate) fn bare(words: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(words[0]);
    command.args(&words[1..]).env_clear().env("PATH", PATH).stdin(Stdio::null());
    command
}
