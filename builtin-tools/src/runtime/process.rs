//! `process`: looks after the commands that run in the background.

mod details;
mod news;
mod pages;
mod typing;

use super::clean::clean;
use super::job::{Ended, ReportedPart, Running, Why, base_facts, duration, facts, how};
use super::jobs::Jobs;
use super::told;
use crate::titles;
pub use details::{BackgroundJob, BackgroundJobs, ProcessDetails, StoppedJob};
use news::poll;
use pages::{MAX_BYTES, Page, PageCut, newlines_in};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind,
    output::{Detailed, OutputCount},
    text::escape_line,
};
use typing::{press, write};

/// Default number of lines that one call returns.
const LINES: u64 = 200;
/// Default time that `poll` waits.
const POLL: Duration = Duration::from_secs(10);

/// The action.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessAction {
    /// Lists this session's background commands, including those that ended within half an hour.
    List,
    /// Returns lines of a job's output.
    Output,
    /// Waits for a job's new output or end since the last report.
    Poll,
    /// Writes `data` to the job's standard input or terminal.
    Write,
    /// Presses the keys named in `data` in the job's terminal: `C-c`, `Up Enter`.
    Keys,
    /// Stops a job and all processes it started.
    Stop,
    /// Removes a job that has ended.
    Remove,
}

impl ProcessAction {
    /// Returns the words for a call's action, which precede the name of the job.
    fn words(self) -> &'static str {
        match self {
            Self::List => "List jobs",
            Self::Output => "Output of",
            Self::Poll => "Wait for",
            Self::Write => "Write to",
            Self::Keys => "Press keys in",
            Self::Stop => "Stop",
            Self::Remove => "Remove",
        }
    }
}

/// Manages background commands started by `exec`: list, read output, wait, send input, stop.
///
/// # Errors
///
/// If the job does not exist or does not support the action.
#[tool(
    name = "process",
    group = ["runtime", "coding"],
    title = "Look after commands",
    permission = "exec",
    asks,
    truncate = "off",
    timeout = "120s"
)]
#[expect(clippy::too_many_arguments, reason = "each is an argument of the tool")]
pub async fn process(
    ctx: &ToolContext,
    /// The action.
    action: ProcessAction,
    /// The job's id from `exec`; not for `list`.
    #[arg(alias = "id", example = "job_1")]
    task_id: Option<&str>,
    /// For `write`: the text; for `keys`: key names.
    #[arg(length(..=1_048_576))]
    data: Option<&str>,
    /// For `write`: close standard input afterwards.
    #[arg(default)]
    eof: bool,
    /// For `output`: the first line, from 1. Default: the last lines.
    #[arg(range(1..))]
    offset: Option<u64>,
    /// For `output`: maximum number of lines, up to 2000.
    #[arg(range(1..=2_000))]
    limit: Option<u64>,
    /// For `poll`: maximum wait in milliseconds, up to 60000.
    #[arg(range(..=60_000))]
    wait_ms: Option<u64>,
) -> Result<Detailed<ProcessDetails>, ToolError> {
    titles::begin(ctx, action.words(), task_id.unwrap_or_default());
    let jobs = ctx.session_state::<Jobs>();
    if action == ProcessAction::List {
        return list(&jobs).await;
    }
    let Some(id) = task_id else {
        return Err(wrong(
            "`task_id` is missing: name the job, such as `job_1`; the action `list` shows the jobs",
        ));
    };
    let running = jobs.get(id)?;
    match action {
        ProcessAction::List => unreachable!("done above"),
        ProcessAction::Output => output(ctx, &running, offset, limit.unwrap_or(LINES)).await,
        ProcessAction::Poll => {
            let wait = wait_ms.map_or(POLL, Duration::from_millis).min(Duration::from_mins(1));
            poll(ctx, &running, wait, Duration::ZERO).await
        }
        ProcessAction::Write => {
            if data.is_none() && !eof {
                return Err(wrong("`data` is missing: the text to write; or set `eof` to close the input"));
            }
            write(ctx, &running, data.unwrap_or_default(), eof).await
        }
        ProcessAction::Keys => press(ctx, &running, data.unwrap_or_default()).await,
        ProcessAction::Stop => stop(ctx, &running).await,
        ProcessAction::Remove => {
            if !running.is_gone() {
                return Err(ToolError::failed(format!("{} still runs; stop it first", running.id)));
            }
            jobs.remove(&running);
            let text = match running.output.path() {
                Some(path) => format!("removed {}; its output stays in {}", running.id, path.display()),
                None => format!("removed {}, and its output, which was in memory", running.id),
            };
            Ok(without_details(ToolOutput::text(text).with_title(format!("Removed {}", running.id))))
        }
    }
}

fn wrong(problem: &str) -> ToolError {
    ToolError::new(ToolErrorKind::InvalidArguments, problem)
}

/// Describes the state of a job, and the output that is lost.
async fn state(running: &Running, ended: Option<&Ended>) -> String {
    let mut state = state_of_processes(running, ended).await;
    let OutputCount { lost, error, .. } = running.count();
    if lost > 0 {
        let why = error.unwrap_or_default();
        let _ = write!(state, "; the output went on, and {lost} bytes of it are lost: {why}");
    }
    state
}

async fn state_of_processes(running: &Running, ended: Option<&Ended>) -> String {
    match ended {
        None => format!("running for {}", duration(running.started.elapsed())),
        Some(ended) if running.is_gone() => {
            let exceeded = running.job.progress().exceeded.filter(|_| ended.why.is_none());
            let exceeded = exceeded.map_or_else(String::new, |limit| {
                format!("; its remaining processes were stopped: {}", told::exceeded(running, limit))
            });
            format!("{}, after {}{exceeded}", how(&ended.exit), duration(ended.exit.duration))
        }
        Some(ended) => {
            let left = running.job.processes().await.len();
            format!("{}; {left} of the processes that it started still run", how(&ended.exit))
        }
    }
}

async fn list(jobs: &Jobs) -> Result<Detailed<ProcessDetails>, ToolError> {
    let all = jobs.all();
    let mut text = String::new();
    let mut tasks = Vec::new();
    for running in &all {
        let ended = running.has_ended();
        let state = state(running, ended.as_ref()).await;
        let bytes = running.job.progress().bytes;
        let _ = writeln!(
            text,
            "{}: {} ({state}, {bytes} bytes of output)",
            running.id,
            told::title(&running.command)
        );
        tasks.push(BackgroundJob {
            task_id: running.id.clone(),
            command: running.command.clone(),
            directory: running.cwd.to_string_lossy().into_owned(),
            pid: running.job.pid(),
            running: running.has_ended().is_none(),
            alive: !running.is_gone(),
            exit_code: running.has_ended().and_then(|ended| ended.exit.code()),
            bytes,
            output_path: running.output.path().map(|path| path.to_string_lossy().into_owned()),
        });
    }
    if all.is_empty() {
        text.push_str("no command runs in the background of this session, and none ended lately");
    }
    let title = format!("{} in the background", all.len());
    let output = ToolOutput::text(text.trim_end()).with_title(title);
    Ok(Detailed::new(output, ProcessDetails::List(BackgroundJobs { tasks })))
}

/// Returns the output of an action that has no details.
fn without_details(output: ToolOutput) -> Detailed<ProcessDetails> {
    Detailed { output, details: None }
}

/// Adds the metadata of a job to its output.
fn with_facts(running: &Running, output: ToolOutput) -> ToolOutput {
    let facts = match running.has_ended() {
        Some(ended) => facts(running, &ended),
        None => base_facts(running),
    };
    let output = facts.into_iter().fold(output, |output, (key, value)| output.with_metadata(key, value));
    let output = match running.output.path() {
        Some(path) => output.with_metadata("outputPath", &*path.to_string_lossy()),
        None => output,
    };
    output.with_metadata("taskId", &*running.id).with_metadata("running", running.has_ended().is_none())
}

async fn output(
    ctx: &ToolContext,
    running: &Arc<Running>,
    offset: Option<u64>,
    limit: u64,
) -> Result<Detailed<ProcessDetails>, ToolError> {
    let progress = running.job.progress();
    let (its, bytes, newlines) = (Arc::clone(running), progress.written, running.count().newlines);
    let page = ctx.blocking(move |cancel| {
        let page = its.output.reader().and_then(|output| {
            let newlines = newlines.map_or_else(|| newlines_in(its.output.reader()?, bytes), Ok)?;
            Page::read(output, bytes, newlines, offset, limit, &|| cancel.is_cancelled())
        });
        page.map_err(|error| ToolError::failed(format!("the output cannot be read: {error}")))
    });
    let page = page.await?;
    let mut text = clean(&page.text);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let ended = running.has_ended();
    let Page { first, lines, of, cut, .. } = page;
    let (last, state) = (first.saturating_add(lines).saturating_sub(1), state(running, ended.as_ref()).await);
    let path = running.output.path();
    let whole = path.map_or_else(String::new, |path| format!(", or read {}", path.display()));
    let _ = match cut {
        _ if lines == 0 => write!(text, "[nothing from line {first} on; {of} lines so far; {state}]"),
        PageCut::Nothing => write!(text, "[lines {first} to {last} of {of}; {state}]"),
        PageCut::Lines => write!(
            text,
            "[lines {first} to {last} of {of}, cut; {state}]\n[continue with offset {}{whole}]",
            last + 1
        ),
        PageCut::Line { at } => write!(
            text,
            "[the beginning of line {first} of {of}, which is too long for one call; {state}]\n[it continues at byte {at}{}; the next line has \
             the offset {}]",
            path.map_or_else(String::new, |path| format!(
                " of {}: `tail -c +{at} FILE | head -c {MAX_BYTES}`",
                path.display()
            )),
            last + 1
        ),
    };
    let is_cut = cut != PageCut::Nothing;
    running.set_told(ReportedPart {
        bytes,
        ended: ended.is_some(),
        gone: running.is_gone(),
        ..running.told()
    });
    let output = ToolOutput::text(text).with_title(format!("Output of {}", running.id));
    Ok(without_details(with_facts(running, output).with_metadata("truncated", is_cut)))
}

async fn stop(ctx: &ToolContext, running: &Arc<Running>) -> Result<Detailed<ProcessDetails>, ToolError> {
    if running.is_gone() {
        let ended = running.ended().await;
        return Err(ToolError::failed(format!("{} has ended already: {}", running.id, how(&ended.exit))));
    }
    let processes = running.job.processes().await;
    let names: Vec<String> = processes
        .iter()
        .take(10)
        .map(|process| {
            let command: String = process.command.chars().take(80).collect();
            format!("`{}` ({})", escape_line(&command), process.pid)
        })
        .collect();
    let was_running = running.has_ended().is_none();
    let stopped = if was_running {
        running.end(Why::Stopped);
        running.ended().await.stopped.unwrap_or_default()
    } else {
        running.stop().await
    };
    let output = running.show(ctx).await?;
    let mut text = format!(
        "stopped {}: {} asked to end (TERM), {} killed",
        running.id, stopped.terminated, stopped.killed
    );
    if !names.is_empty() {
        let _ = write!(text, "; it was {}", names.join(", "));
    }
    if !stopped.left.is_empty() {
        let _ = write!(text, "; {} hang in the system, and even KILL does not end them", stopped.left.len());
    }
    if !output.text.is_empty() {
        let _ = write!(text, "\nIts output:\n{}", output.text);
    }
    let moved = running.job.quarantined();
    running.set_told(ReportedPart {
        bytes: running.job.progress().written,
        ended: true,
        gone: running.is_gone(),
        quarantined: moved.len(),
    });
    if let Some(note) = told::quarantined(&moved) {
        let _ = write!(text, "\n[{note}]");
    }
    let result = ToolOutput::text(text).with_title(format!("Stopped {}", running.id));
    let result = with_facts(running, result).with_metadata("truncated", output.cut.is_some());
    let details =
        StoppedJob { terminated: stopped.terminated, killed: stopped.killed, left: stopped.left.len() };
    Ok(Detailed::new(result, ProcessDetails::Stop(details)))
}
