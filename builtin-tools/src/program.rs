//! Programs of the system that tools use: found in the `PATH` of this process, and run in a sandbox with pipes.

use std::env;
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, text::escape_line};
use toolkit_sandbox::{Command, Limits, Mode, Output, Sandbox, Stdin};

/// Maximum memory of a program in bytes.
const MAX_MEMORY: u64 = 1 << 30;
/// Maximum number of processes of a program.
const MAX_PROCESSES: u32 = 64;

/// Maximum number of characters of a program's error output.
const MAX_SAID_CHARS: usize = 300;

/// The reason why a program gave no output.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It was not started: there is no sandbox or no supervisor.
    NotStarted(String),
    /// It failed; its error output, on one line.
    Failed(String),
    /// It wrote more than it may.
    TooMuch,
    /// It took longer than it may.
    TimedOut,
}

/// Returns the path of a program in `PATH`.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|path| path.is_absolute() && path.is_file())
}

/// Runs a program on some input and returns its output of at most `most` bytes. It can read files of the system, but not those of
/// the user, and it can write none. Dropping the future ends it.
pub(crate) async fn run(
    program: PathBuf,
    arguments: &[&str],
    input: &[u8],
    most: u64,
    within: Duration,
) -> Result<Vec<u8>, Fault> {
    tokio::time::timeout(within, piped(program, arguments, input, most)).await.unwrap_or(Err(Fault::TimedOut))
}

async fn piped(program: PathBuf, arguments: &[&str], input: &[u8], most: u64) -> Result<Vec<u8>, Fault> {
    let mut sandbox = Sandbox::new(Mode::ReadOnly, "/").required(true);
    if let Some(home) = env::home_dir().filter(|home| home.is_absolute() && !program.starts_with(home)) {
        sandbox = sandbox.with_hidden(home);
    }
    let command = Command::new(program)
        .args(arguments)
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdin::Pipe)
        .output(Output::Pipes)
        .sandbox(sandbox)
        .limits(Limits::new().with_memory(MAX_MEMORY).with_processes(MAX_PROCESSES));
    let job = command.spawn().await.map_err(|error| Fault::NotStarted(error.to_string()))?;
    let (Some(stdin), Some(mut out), Some(mut faults)) = (job.stdin(), job.take_stdout(), job.take_stderr())
    else {
        return Err(Fault::NotStarted("it has no pipes".to_owned()));
    };
    let feed = async {
        // A program that has seen enough closes its input.
        let _ = stdin.write(input).await;
        let _ = stdin.close().await;
        std::future::pending::<()>().await;
    };
    let (mut written, mut said) = (Vec::new(), Vec::new());
    let (mut out, mut faults) = ((&mut out).take(most + 1), (&mut faults).take(4096));
    let read = async {
        let read = out.read_to_end(&mut written).await;
        // A program whose output is not read does not exit.
        if out.limit() > 0 {
            let _ = faults.read_to_end(&mut said).await;
        }
        read
    };
    tokio::select! {
        () = feed => {}
        read = read => { read.map_err(|error| Fault::Failed(error.to_string()))?; }
    }
    if out.limit() == 0 {
        return Err(Fault::TooMuch);
    }
    if job.exited().await.success() {
        return Ok(written);
    }
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let said = if lines.is_empty() { "it did not say why".to_owned() } else { lines.join("; ") };
    Err(Fault::Failed(escape_line(&said).chars().take(MAX_SAID_CHARS).collect()))
}

impl Fault {
    #[cfg_attr(not(feature = "media"), allow(dead_code, reason = "not every feature makes its errors so"))]
    /// The error for a model: `what` is what was to be done, `advice` what else to do.
    pub(crate) fn tool_error(self, what: &str, advice: &str) -> ToolError {
        match self {
            Self::NotStarted(why) => {
                ToolError::unavailable(format!("{what}: its program cannot run in a sandbox: {why}"))
            }
            Self::Failed(said) => ToolError::failed(format!("{what}: {said}; {advice}")),
            Self::TooMuch => {
                ToolError::failed(format!("{what}: the program's output is too large; {advice}"))
            }
            Self::TimedOut => {
                ToolError::new(ToolErrorKind::TimedOut, format!("{what}: it took too long; {advice}"))
            }
        }
    }
}
