//! What the model and the person are told of a command.

use super::clean::clean;
use super::job::{Ended, Running, Told, Why, base_facts, duration, facts, how};
use super::judged::Judged;
use serde_json::{Map, Value, json};
use shell_verdict::Decision;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{ShownOutput, ToolErrorKind, escape_line};
use toolkit_sandbox::{Part, Process};

/// How many processes are named.
const MOST_NAMED: usize = 10;
/// How many characters of a command a title has.
const TITLE: usize = 100;
/// How much of the end of an output is looked at for its last line, in bytes.
const LAST: u64 = 4096;
/// How much of the end of an output is looked at for what a sandbox did, in bytes.
const TAIL: usize = 4096;

/// A command that never runs.
pub(super) fn denied(judged: &Judged) -> ToolError {
    let why = match &judged.denied_by {
        Some(rule) => format!("it is denied by the rule {rule}"),
        None => why(judged, Decision::Deny),
    };
    ToolError::denied(format!(
        "the command was not run: {why}. Do not try it in another way; go on without it, and say what was not allowed and why"
    ))
}

/// A command that nobody may be asked about.
pub(super) fn not_run(judged: &Judged, setting: &str) -> ToolError {
    ToolError::denied(format!(
        "the command was not run: {}, and {setting}. Nothing was done; go on without it, and say what was not allowed and why",
        why(judged, Decision::Ask)
    ))
}

/// The parts that are decided so, and why.
fn why(judged: &Judged, decision: Decision) -> String {
    let mut reasons = Vec::new();
    for part in judged.verdict.each_part() {
        for reason in part.reasons.iter().filter(|reason| reason.decision == decision) {
            reasons.push(format!("`{}`: {}", escape_line(&part.text), escape_line(&reason.text)));
        }
    }
    let whole = judged.verdict.reasons.iter().filter(|reason| reason.decision == decision);
    reasons.extend(whole.map(|reason| escape_line(&reason.text).into_owned()));
    for path in &judged.paths {
        if reasons.is_empty() && decision == Decision::Ask {
            reasons.push(format!("{} {}", path.path.display(), path.reason));
        }
    }
    reasons.dedup();
    reasons.truncate(MOST_NAMED);
    if reasons.is_empty() { "it would have to be asked about".to_owned() } else { reasons.join("; ") }
}

/// A headline.
pub(super) fn title(command: &str) -> String {
    let line = command.trim().lines().next().unwrap_or_default();
    let mut title: String = line.chars().take(TITLE).collect();
    if title.len() < command.trim().len() {
        title.push('…');
    }
    escape_line(&title).into_owned()
}

/// What lives on.
pub(super) fn left(running: &Running, held: &[Process], processes: &[Process]) -> String {
    let all = if processes.is_empty() { held } else { processes };
    let mut text = format!(
        "the command itself has ended, but {} it started still run{}",
        counted(all.len(), "process", "processes"),
        if all.len() == 1 { "s" } else { "" }
    );
    let _ = write!(text, ": {}", named(all));
    if !held.is_empty() && held.len() < all.len() {
        let _ = write!(text, "; the output is held open by {}", named(held));
    } else if !held.is_empty() {
        text.push_str(", and may write more");
    }
    let _ = write!(text, ". See after them with `process` as {}", running.id);
    text
}

fn named(processes: &[Process]) -> String {
    let name = |process: &Process| {
        let command: String = process.command.chars().take(80).collect();
        format!("`{}` ({})", escape_line(&command), process.pid)
    };
    let mut named = processes.iter().take(MOST_NAMED).map(name).collect::<Vec<_>>().join(", ");
    if processes.len() > MOST_NAMED {
        let _ = write!(named, " and {} more", processes.len() - MOST_NAMED);
    }
    named
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// How it ended, in words.
pub(super) fn end(running: &Running, ended: &Ended) -> String {
    let after = duration(ended.exit.duration);
    let stopped = |stopped: &Option<toolkit_sandbox::Stopped>| {
        let Some(stopped) = stopped else { return String::new() };
        let mut text = format!(
            ": {} asked to end (TERM), {} killed",
            counted(stopped.terminated as usize, "process was", "processes were"),
            stopped.killed
        );
        if !stopped.left.is_empty() {
            let _ = write!(text, "; even KILL does not end {}", named(&stopped.left));
        }
        text
    };
    match ended.why {
        None => format!("{}, after {after}", how(&ended.exit)),
        Some(Why::Timeout) => format!(
            "timed out after {}, with all that it started{}; {}. If it needs longer, give a greater `timeout` or run it in the \
             background",
            duration(running.timeout),
            stopped(&ended.stopped),
            how(&ended.exit)
        ),
        Some(Why::Cancelled) => {
            format!("cancelled after {after}{}; {}", stopped(&ended.stopped), how(&ended.exit))
        }
        Some(Why::Stopped) => {
            format!("stopped after {after}{}; {}", stopped(&ended.stopped), how(&ended.exit))
        }
    }
}

/// The result of a command that has ended.
pub(super) fn ended(
    running: &Running,
    ended: &Ended,
    output: ShownOutput,
    mut notes: Vec<String>,
    is_left: bool,
) -> Result<ToolOutput, ToolError> {
    running.set_told(Told { bytes: running.job.progress().written, ended: true, gone: running.is_gone() });
    let tail = output.text.get(output.text.ceil_char_boundary(output.text.len().saturating_sub(TAIL))..);
    notes.extend(running.job.containment().explain(tail.unwrap_or_default(), &ended.exit));
    notes.insert(0, end(running, ended));
    let mut facts = facts(running, ended);
    if is_left {
        facts.insert("taskId".to_owned(), running.id.clone().into());
    }
    let text = with_notes(running, output, &notes, is_left, &mut facts);
    let title = title(&running.command);
    let kind = match ended.why {
        None if ended.exit.success() => {
            let output = ToolOutput::text(text).with_title(title);
            return Ok(facts
                .into_iter()
                .fold(output, |output, (key, value)| output.with_metadata(key, value)));
        }
        None | Some(Why::Stopped) => ToolErrorKind::Failed,
        Some(Why::Timeout) => ToolErrorKind::TimedOut,
        Some(Why::Cancelled) => ToolErrorKind::Aborted,
    };
    let error = ToolError::new(kind, text).with_title(title);
    Err(facts.into_iter().fold(error, |error, (key, value)| error.with_metadata(key, value)))
}

/// The output with what is said of it, in lines of its own.
fn with_notes(
    running: &Running,
    output: ShownOutput,
    notes: &[String],
    is_told: bool,
    facts: &mut Map<String, Value>,
) -> String {
    let mut text = output.text;
    if text.is_empty() {
        text.push_str("(no output)");
    }
    for note in notes {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let _ = write!(text, "[{note}]");
    }
    if output.differs || is_told {
        running.output.keep();
        facts.insert("outputPath".to_owned(), running.output.path().to_string_lossy().into_owned().into());
    }
    if let Some(cut) = output.cut {
        facts.insert("truncated".to_owned(), true.into());
        facts.insert("truncation".to_owned(), serde_json::to_value(cut).unwrap_or_default());
    }
    facts.insert("sandbox".to_owned(), sandbox(running));
    text
}

/// What really keeps it within its sandbox.
pub(super) fn sandbox(running: &Running) -> Value {
    let containment = running.job.containment();
    let parts = [
        Part::Files,
        Part::Protected,
        Part::Hidden,
        Part::PrivateTmp,
        Part::Network,
        Part::Processes,
        Part::SystemCalls,
    ];
    let held: Vec<&str> = parts.into_iter().filter(|part| containment.holds(*part)).map(Part::name).collect();
    json!({ "whole": containment.is_whole(), "holds": held })
}

/// The result of a command that goes on.
pub(super) async fn in_background(
    ctx: &ToolContext,
    running: &Arc<Running>,
) -> Result<ToolOutput, ToolError> {
    let bytes = running.job.progress().written;
    let output = running.show(ctx).await?;
    running.set_told(Told { bytes, ended: false, gone: false });
    let mut facts = base_facts(running);
    facts.insert("taskId".to_owned(), running.id.clone().into());
    facts.insert("timedOut".to_owned(), false.into());
    let note = format!(
        "still running after {}, now in the background as {}. It is ended after {} in all. See after it with `process`: output, \
         poll, stop",
        duration(running.started.elapsed()),
        running.id,
        duration(running.timeout)
    );
    let text = with_notes(running, output, &[note], true, &mut facts);
    let result = ToolOutput::text(text).with_title(title(&running.command));
    Ok(facts.into_iter().fold(result, |output, (key, value)| output.with_metadata(key, value)))
}

/// The last line of a file that is written, as a terminal would show it. Blocks.
pub(super) fn last_line(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST)))?;
    let mut end = Vec::new();
    file.take(LAST).read_to_end(&mut end)?;
    let text = clean(&String::from_utf8_lossy(&end));
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Ok(escape_line(last).into_owned())
}
