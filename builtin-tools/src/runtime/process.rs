//! `process`: looks after the commands that run in the background.

use super::clean::clean;
use super::job::{Ended, Running, Told, Why, base_facts, duration, facts, how};
use super::jobs::Jobs;
use super::judged::KIND;
use super::keys::keys;
use super::run::held;
use super::told;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};
use toolkit::prelude::*;
use toolkit::{AllowScope, Ask, ToolErrorKind, escape_line};

/// How many lines one call returns unless it is told otherwise.
const LINES: u64 = 200;
/// The most bytes of an output that one call returns.
const MOST_BYTES: u64 = 50 * 1024;
/// How long `poll` waits unless it is told otherwise.
const POLL: Duration = Duration::from_secs(10);
/// How long a program is waited for that does not read what is written to it.
const WRITE: Duration = Duration::from_secs(10);
/// How long is waited for an answer to what was written.
const ANSWER: Duration = Duration::from_millis(500);
/// After such a silence nothing more is expected of an answer.
const QUIET: Duration = Duration::from_millis(120);

/// What is done.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessAction {
    /// Lists the commands in the background of this session, and those that ended within half an hour.
    List,
    /// Shows lines of the output of one.
    Output,
    /// Waits for news of one since it was last told of: output, or its end.
    Poll,
    /// Writes `data` to its standard input or terminal.
    Write,
    /// Presses the keys that `data` names, on its terminal: `C-c`, `Up Enter`.
    Keys,
    /// Ends it, with all that it started.
    Stop,
    /// Forgets one that has ended.
    Remove,
}

/// Looks after the commands that `exec` left running in the background.
///
/// # Errors
///
/// When there is no such job, or it cannot be done with it.
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
    /// What to do.
    action: ProcessAction,
    /// The job, as `exec` named it; not for `list`.
    #[arg(alias = "id", example = "job_1")]
    task_id: Option<&str>,
    /// For `write` the text, for `keys` the names of the keys.
    #[arg(length(..=1_048_576))]
    data: Option<&str>,
    /// For `write`: whether nothing more comes after it.
    #[arg(default)]
    eof: bool,
    /// For `output`: the first line to show, from 1. Without it, the last ones.
    #[arg(range(1..))]
    offset: Option<u64>,
    /// For `output`: how many lines to show, at most 2000.
    #[arg(range(1..=2_000))]
    limit: Option<u64>,
    /// For `poll`: how long to wait, in milliseconds, at most 60000.
    #[arg(range(..=60_000))]
    wait_ms: Option<u64>,
) -> Result<ToolOutput, ToolError> {
    let jobs = ctx.session_state::<Jobs>();
    if action == ProcessAction::List {
        return list(&jobs).await;
    }
    let Some(id) = task_id else {
        return Err(wrong(
            "`task_id` is missing: name the job, such as `job_1`; the action `list` tells which there are",
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
                return Err(wrong(
                    "`data` is missing: the text to write; or say `eof` that nothing more comes",
                ));
            }
            write(ctx, &running, data.unwrap_or_default(), eof).await
        }
        ProcessAction::Keys => {
            let bytes = keys(data.unwrap_or_default())?;
            if !running.job.stdin().is_some_and(|input| input.is_terminal()) {
                return Err(wrong(&format!(
                    "{} has no terminal to press keys on; it was started without `pty`",
                    running.id
                )));
            }
            send(&running, &bytes, false).await?;
            poll(ctx, &running, ANSWER, ANSWER).await
        }
        ProcessAction::Stop => stop(ctx, &running).await,
        ProcessAction::Remove => {
            if !running.is_gone() {
                return Err(ToolError::failed(format!("{} still runs; stop it first", running.id)));
            }
            jobs.remove(&running);
            Ok(ToolOutput::text(format!(
                "removed {}; its output stays in {}",
                running.id,
                running.output.path().display()
            ))
            .with_title(format!("Removed {}", running.id)))
        }
    }
}

fn wrong(problem: &str) -> ToolError {
    ToolError::new(ToolErrorKind::InvalidArguments, problem)
}

/// How one is, in words.
async fn state(running: &Running, ended: Option<&Ended>) -> String {
    match ended {
        None => format!("running for {}", duration(running.started.elapsed())),
        Some(ended) if running.is_gone() => {
            format!("{}, after {}", how(&ended.exit), duration(ended.exit.duration))
        }
        Some(ended) => {
            let left = running.job.processes().await.len();
            format!("{}; {left} of the processes that it started still run", how(&ended.exit))
        }
    }
}

async fn list(jobs: &Jobs) -> Result<ToolOutput, ToolError> {
    let all = jobs.all();
    let mut text = String::new();
    let mut details = Vec::new();
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
        details.push(json!({
            "taskId": running.id,
            "command": running.command,
            "directory": running.cwd,
            "pid": running.job.pid(),
            "running": running.has_ended().is_none(),
            "alive": !running.is_gone(),
            "exitCode": running.has_ended().and_then(|ended| ended.exit.code()),
            "bytes": bytes,
            "outputPath": running.output.path().to_string_lossy(),
        }));
    }
    if all.is_empty() {
        text.push_str("no command runs in the background of this session, and none ended lately");
    }
    let title = format!("{} in the background", all.len());
    Ok(ToolOutput::text(text.trim_end()).with_title(title).with_details(json!({ "tasks": details })))
}

/// What is said beside the output of one.
fn with_facts(running: &Running, output: ToolOutput) -> ToolOutput {
    let facts = match running.has_ended() {
        Some(ended) => facts(running, &ended),
        None => base_facts(running),
    };
    let output = facts.into_iter().fold(output, |output, (key, value)| output.with_metadata(key, value));
    output
        .with_metadata("taskId", &*running.id)
        .with_metadata("outputPath", &*running.output.path().to_string_lossy())
        .with_metadata("running", running.has_ended().is_none())
}

async fn output(
    ctx: &ToolContext,
    running: &Arc<Running>,
    offset: Option<u64>,
    limit: u64,
) -> Result<ToolOutput, ToolError> {
    let progress = running.job.progress();
    let (path, bytes, newlines) = (running.output.path().to_owned(), progress.written, progress.newlines);
    let first = offset.unwrap_or_else(|| newlines.saturating_sub(limit) + 1);
    let page = ctx.blocking(move |cancel| {
        Page::read(&path, bytes, first, limit, &|| cancel.is_cancelled())
            .map_err(|error| ToolError::failed(format!("the output cannot be read: {error}")))
    });
    let page = page.await?;
    let mut text = clean(&page.text);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let ended = running.has_ended();
    let (last, state) = (first + page.lines.saturating_sub(1), state(running, ended.as_ref()).await);
    if page.lines == 0 {
        let _ = write!(text, "[nothing from line {first} on; {newlines} lines so far; {state}]");
    } else {
        let _ = write!(
            text,
            "[lines {first} to {last} of {newlines}{}; {state}]",
            if page.is_cut { ", cut" } else { "" }
        );
    }
    if page.is_cut {
        let _ =
            write!(text, "\n[go on with offset {}, or read {}]", last + 1, running.output.path().display());
    }
    running.set_told(Told { bytes, ended: ended.is_some(), gone: running.is_gone() });
    let output = ToolOutput::text(text).with_title(format!("Output of {}", running.id));
    Ok(with_facts(running, output).with_metadata("truncated", page.is_cut))
}

/// Some lines of a file.
struct Page {
    text: String,
    lines: u64,
    /// Whether more was wanted than one call returns.
    is_cut: bool,
}

impl Page {
    fn read(path: &Path, bytes: u64, first: u64, limit: u64, stops: &dyn Fn() -> bool) -> io::Result<Self> {
        let mut file = BufReader::with_capacity(256 << 10, File::open(path)?.take(bytes));
        let mut line = 1;
        while line < first {
            let buffer = file.fill_buf()?;
            if buffer.is_empty() || stops() {
                return Ok(Self { text: String::new(), lines: 0, is_cut: false });
            }
            let mut used = buffer.len();
            for (at, _) in buffer.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
                line += 1;
                if line == first {
                    used = at + 1;
                    break;
                }
            }
            file.consume(used);
        }
        let mut whole = Vec::new();
        let mut lines = 0;
        let mut is_cut = false;
        while lines < limit {
            let room = MOST_BYTES.saturating_sub(whole.len() as u64);
            if room == 0 {
                is_cut = !file.fill_buf()?.is_empty();
                break;
            }
            if file.by_ref().take(room).read_until(b'\n', &mut whole)? == 0 {
                break;
            }
            lines += 1;
        }
        Ok(Self { text: String::from_utf8_lossy(&whole).into_owned(), lines, is_cut })
    }
}

/// Waits for news, and tells them.
async fn poll(
    ctx: &ToolContext,
    running: &Arc<Running>,
    wait: Duration,
    settling: Duration,
) -> Result<ToolOutput, ToolError> {
    let told = running.told();
    let has_news = |now: Told| now != told;
    let now = || {
        let ended = running.has_ended().is_some();
        Told { bytes: running.job.progress().written, ended, gone: ended && running.is_gone() }
    };
    let news = async {
        let mut progress = running.job.progress();
        while !has_news(now()) {
            tokio::select! {
                changed = running.job.changed(&progress) => progress = changed,
                _ = running.ended(), if !told.ended => {}
            }
        }
    };
    let waiting = async {
        let _ = timeout(wait, news).await;
        let until = Instant::now() + settling;
        let mut progress = running.job.progress();
        // More may follow right away: an answer comes after the echo of what was typed.
        while running.has_ended().is_none() && Instant::now() < until {
            match timeout(QUIET, running.job.changed(&progress)).await {
                Ok(changed) => progress = changed,
                Err(_) => return,
            }
        }
    };
    tokio::select! {
        () = waiting => {}
        () = ctx.cancellation_token().cancelled() => return Err(ToolError::aborted("the call was cancelled")),
    }
    // What it wrote last may be under way still.
    if running.has_ended().is_some() && !told.ended {
        held(running).await;
    }
    let ended = running.has_ended();
    // What ends after this look is the next news.
    let mut now = Told { ended: ended.is_some(), gone: ended.is_some() && running.is_gone(), ..now() };
    if now.ended && !now.gone {
        // Where no process is left, what is to come is none of the model's.
        now.gone = running.job.processes().await.is_empty();
    }
    let path = running.output.path().to_owned();
    let fresh = ctx.blocking(move |_| {
        since(&path, told.bytes, now.bytes)
            .map_err(|error| ToolError::failed(format!("the output cannot be read: {error}")))
    });
    let (mut text, left_out) = fresh.await?;
    running.set_told(now);
    if left_out > 0 {
        text = format!(
            "[{left_out} bytes left out; all of it is in {}]\n{text}",
            running.output.path().display()
        );
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let news = if has_news(now) { "" } else { "no news; " };
    let state = match &ended {
        Some(ended) if ended.why.is_some() => told::end(running, ended),
        ended => state(running, ended.as_ref()).await,
    };
    let _ = write!(text, "[{news}{state}]");
    let output = ToolOutput::text(text).with_title(format!("News of {}", running.id));
    Ok(with_facts(running, output).with_metadata("truncated", left_out > 0))
}

/// What came between two places, at most the last of it, and how much was left out.
fn since(path: &Path, from: u64, to: u64) -> io::Result<(String, u64)> {
    let start = from.max(to.saturating_sub(MOST_BYTES));
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(to.saturating_sub(start)).read_to_end(&mut bytes)?;
    Ok((clean(&String::from_utf8_lossy(&bytes)), start.saturating_sub(from)))
}

async fn write(
    ctx: &ToolContext,
    running: &Arc<Running>,
    data: &str,
    eof: bool,
) -> Result<ToolOutput, ToolError> {
    if running.job.stdin().is_none() {
        return Err(wrong(&format!(
            "{} reads nothing: it was started without a terminal and without `keep_stdin`",
            running.id
        )));
    }
    // What a shell or an interpreter reads, it runs.
    if !running.is_harmless && !data.is_empty() {
        let title = format!("write to {}, which runs {}", running.id, told::title(&running.command));
        let ask = Ask::new(KIND, title)
            .with_text("text", data)
            .with_command(&*running.command, &running.cwd)
            .with_pattern(format!("write to `{}` as {}", running.command, running.id))
            .raised()
            .at_most(AllowScope::Session);
        ctx.ask_in_person(ask).await?;
    }
    send(running, data.as_bytes(), eof).await?;
    poll(ctx, running, ANSWER, ANSWER).await
}

async fn send(running: &Running, bytes: &[u8], eof: bool) -> Result<(), ToolError> {
    let gone = || {
        ToolError::failed(format!(
            "{} reads no more: {}",
            running.id,
            running.has_ended().map_or_else(|| "its input is closed".to_owned(), |ended| how(&ended.exit))
        ))
    };
    let Some(input) = running.job.stdin() else { return Err(gone()) };
    match timeout(WRITE, input.write(bytes)).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) => return Err(gone()),
        Err(_) => {
            return Err(ToolError::failed(format!(
                "{} does not read what is written to it; a part may have been written",
                running.id
            )));
        }
    }
    if eof { input.close().await.map_err(|_| gone()) } else { Ok(()) }
}

async fn stop(ctx: &ToolContext, running: &Arc<Running>) -> Result<ToolOutput, ToolError> {
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
    running.set_told(Told { bytes: running.job.progress().written, ended: true, gone: running.is_gone() });
    let details =
        json!({ "terminated": stopped.terminated, "killed": stopped.killed, "left": stopped.left.len() });
    let result = ToolOutput::text(text).with_title(format!("Stopped {}", running.id)).with_details(details);
    let result = with_facts(running, result);
    Ok(result.with_metadata("truncated", Value::Bool(output.cut.is_some())))
}
