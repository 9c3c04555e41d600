//! Texts about a command for the model and the user.

use super::clean::clean;
use super::containing::More;
use super::job::{Ended, ReportedPart, Running, Why, base_facts, duration, facts, how};
use super::judged::Judged;
use crate::config::{ExecAsk, ExecSandbox, ExecSecurity, ExecSettings};
use crate::titles;
use serde_json::{Map, Value, json};
use shell_verdict::Decision;
use std::fmt::Write as _;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind,
    output::{KeptOutput, ShownOutput},
    text::escape_line,
};
use toolkit_sandbox::{Conflict, Limit, Mode, Part, Process, Quarantined, SpawnError};

/// Maximum number of listed processes.
const MAX_NAMED: usize = 10;
/// Number of bytes at the end of an output that are examined.
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

/// Returns the error for a command that a setting denies without a prompt.
pub(super) fn not_run(judged: &Judged, setting: &str) -> ToolError {
    ToolError::denied(format!(
        "the command was not run: {}, and {setting}. Nothing was done; go on without it, and say what was not allowed and why",
        why(judged, Decision::Ask)
    ))
}

/// Returns the error for a command that could not be started, with the remedy: for the model, or in the configuration for
/// the user.
pub(super) fn not_started(error: &SpawnError) -> ToolError {
    let message = match error {
        SpawnError::Contradiction { conflict, why } => {
            let way_out = way_out(*conflict);
            let why = if *conflict == Conflict::RootWritable {
                "the whole file system would be writable in it"
            } else {
                why
            };
            format!("the command was not started, since its sandbox cannot be set up: {why}. {way_out}")
        }
        SpawnError::Sandbox { part, why } => format!(
            "the command was not started: it may run only in a complete sandbox, and its part `{part}` is unavailable: {why}. `toolkit doctor` says \
             what this system lacks. The user can set `tools.exec.sandbox` to \"auto\" if it is \"required\": then \
             commands run in the available parts of a sandbox, and need approval"
        ),
        _ => format!("the command was not started: {error}"),
    };
    match error {
        SpawnError::NotFound { .. }
        | SpawnError::Supervisor { .. }
        | SpawnError::Unsupported
        | SpawnError::Contradiction { .. }
        | SpawnError::Sandbox { .. } => ToolError::unavailable(message),
        _ => ToolError::failed(message),
    }
}

/// Returns the remedy for a conflict between a command and its sandbox.
fn way_out(conflict: Conflict) -> &'static str {
    match conflict {
        Conflict::RootWritable => {
            "The user can take `/` out of `tools.exec.allowedDirectories`, or set `tools.exec.sandboxMode` to \"full\", which \
             blocks the network, and protected and secret paths"
        }
        Conflict::NoWorkspace => "It existed when the session began: restore it, or begin another session",
        Conflict::NoTmp => "Something has removed it; begin another session to get a new one",
        Conflict::InHidden => {
            "Commands read no keys or credentials there. The user can choose another workspace, or take that path out of \
             `tools.exec.allowedDirectories`"
        }
        _ => "The user can take that path out of `tools.exec.allowedDirectories`, or correct it",
    }
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
    reasons.truncate(MAX_NAMED);
    if reasons.is_empty() { "it would need approval".to_owned() } else { reasons.join("; ") }
}

/// A headline.
pub(super) fn title(command: &str) -> String {
    titles::short(command)
}

/// Describes the processes that still run.
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
    let _ = write!(text, ". Manage them with `process` as {}", running.id);
    text
}

/// Describes the processes that still ran, and were stopped since the program ends with the call.
pub(super) fn left_and_stopped(held: &[Process], processes: &[Process], why: &str) -> String {
    let all = if processes.is_empty() { held } else { processes };
    format!("the command itself has ended; its remaining processes were stopped, since {why}: {}", named(all))
}

fn named(processes: &[Process]) -> String {
    let name = |process: &Process| {
        let command: String = process.command.chars().take(80).collect();
        format!("`{}` ({})", escape_line(&command), process.pid)
    };
    let mut named = processes.iter().take(MAX_NAMED).map(name).collect::<Vec<_>>().join(", ");
    if processes.len() > MAX_NAMED {
        let _ = write!(named, " and {} more", processes.len() - MAX_NAMED);
    }
    named
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Describes the end of a command.
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
            "timed out after {}, with all that it started{}; {}. If it needs longer, give a greater `timeout`; for a \
             command that runs until it is stopped, set `run_in_background` and no `timeout`",
            duration(running.timeout.unwrap_or(ended.exit.duration)),
            stopped(&ended.stopped),
            how(&ended.exit)
        ),
        Some(Why::Cancelled) => {
            format!("cancelled after {after}{}; {}", stopped(&ended.stopped), how(&ended.exit))
        }
        Some(Why::Exceeded(limit)) => {
            format!(
                "ended after {after}, with all that it started: {}; {}",
                exceeded(running, limit),
                how(&ended.exit)
            )
        }
        Some(Why::Stopped) => {
            format!("stopped after {after}{}; {}", stopped(&ended.stopped), how(&ended.exit))
        }
    }
}

/// Describes the exceeded limit, and the remedy.
pub(super) fn exceeded(running: &Running, limit: Limit) -> String {
    let limits = running.limits;
    match limit {
        Limit::Output => format!(
            "it wrote more than the {} bytes of output that are kept. The file holds the beginning; let it write less, or to a file of its own. The \
             user can set `tools.outputs.maxBytes`",
            limits.output().unwrap_or_default()
        ),
        Limit::Processes => format!(
            "it had more than {} processes and threads at once. Let it start fewer; the user can set `tools.exec.maxProcesses`",
            limits.processes().unwrap_or_default()
        ),
        _ => format!(
            "it used more than {} MiB of memory. Let it use less; the user can set `tools.exec.maxMemoryMb`",
            limits.memory().unwrap_or_default() >> 20
        ),
    }
}

/// Describes the files that were moved away after a command.
pub(super) fn quarantined(moved: &[Quarantined]) -> Option<String> {
    let (first, more) = moved.split_at(moved.len().min(MAX_NAMED));
    if first.is_empty() {
        return None;
    }
    let mut text = "without approval, the command made files that make other programs run something, that are named like secrets, or that a rule keeps from being edited. They were moved away: "
        .to_owned();
    for (at, moved) in first.iter().enumerate() {
        let from = escape_line(&moved.from.to_string_lossy()).into_owned();
        let _ = write!(text, "{}{from}", if at > 0 { "; " } else { "" });
        let _ = match &moved.to {
            Some(to) => write!(text, " is now {}", to.display()),
            None => write!(text, " could not be moved and is STILL THERE; remove it"),
        };
    }
    if !more.is_empty() {
        let _ = write!(text, "; and {} more, listed in `moved.txt` beside them", more.len());
    }
    text.push_str(". Tell the user what was moved. If it is wanted, the user can move it back, or allow a command that names it");
    Some(text)
}

/// The result of a command that has ended.
pub(super) fn ended(
    running: &Running,
    ended: &Ended,
    output: ShownOutput,
    mut notes: Vec<String>,
    is_left: bool,
) -> Result<ToolOutput, ToolError> {
    running.set_told(ReportedPart {
        bytes: running.job.progress().written,
        ended: true,
        gone: running.is_gone(),
        quarantined: running.job.quarantined().len(),
    });
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
        None | Some(Why::Stopped | Why::Exceeded(_)) => ToolErrorKind::Failed,
        Some(Why::Timeout) => ToolErrorKind::TimedOut,
        Some(Why::Cancelled) => ToolErrorKind::Aborted,
    };
    let error = ToolError::new(kind, text).with_title(title);
    Err(facts.into_iter().fold(error, |error, (key, value)| error.with_metadata(key, value)))
}

/// Adds notes to the output, on separate lines.
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
        if let Some(path) = running.output.path() {
            facts.insert("outputPath".to_owned(), path.to_string_lossy().into_owned().into());
        }
    }
    if let Some(cut) = output.cut {
        facts.insert("truncated".to_owned(), true.into());
        facts.insert("truncation".to_owned(), serde_json::to_value(cut).unwrap_or_default());
    }
    facts.insert("sandbox".to_owned(), sandbox(running));
    text
}

/// Returns the containment that is in effect, or the reason why there is none.
pub(super) fn sandbox(running: &Running) -> Value {
    let containment = running.job.containment();
    let held: Vec<&str> = containment.held.iter().map(|part| part.name()).collect();
    let mut sandbox = json!({ "whole": containment.is_whole(), "holds": held, "words": running.contained });
    if let Some(mode) = containment.mode {
        let mode = match mode {
            Mode::ReadOnly => "read-only",
            Mode::WorkspaceWrite => "workspace-write",
            _ => "full",
        };
        let missing = containment.missing.iter();
        let missing: Vec<Value> =
            missing.map(|(part, why)| json!({ "part": part.name(), "why": why })).collect();
        sandbox["mode"] = mode.into();
        sandbox["network"] = if containment.holds(Part::Network) { "off" } else { "on" }.into();
        sandbox["missing"] = missing.into();
        sandbox["notes"] = containment.notes.clone().into();
    }
    sandbox
}

/// The escalations that a model can request if a sandbox causes a failure.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaysOut {
    network: bool,
    everything: bool,
}

impl WaysOut {
    /// Returns the escalations that the settings permit, apart from those that this call had requested.
    pub(super) fn of(settings: &ExecSettings, had: Option<More>) -> Self {
        let is_asked = settings.asked() != ExecAsk::Off && settings.security != ExecSecurity::Deny;
        Self {
            network: is_asked && had.is_none(),
            everything: is_asked
                && had != Some(More::Everything)
                && settings.sandbox != ExecSandbox::Required,
        }
    }

    fn words(self, parts: &[Part]) -> &'static str {
        let is_only_network = parts == [Part::Network];
        match (self.network && parts.contains(&Part::Network), self.everything && !is_only_network) {
            (true, true) => {
                "If it needs more, run it again with `escalate: \"network\"`, or for anything else with `escalate: \"no-sandbox\"`, \
                 which needs the person's approval; do not try to get around it"
            }
            (true, false) => {
                "If it needs the network, run it again with `escalate: \"network\"`, which needs the person's approval; do not try to \
                 get around it"
            }
            (false, true) => {
                "If it needs more, run it again with `escalate: \"no-sandbox\"`, which needs the person's approval; do not try to get \
                 around it"
            }
            (false, false) => {
                "Do not try to get around it; go on without, and say what was not possible and why"
            }
        }
    }
}

/// Explains a failure that the sandbox has probably caused, and the remedy.
pub(super) async fn explained(
    running: &Arc<Running>,
    ended: &Ended,
    output: &ShownOutput,
    ways_out: WaysOut,
) -> Option<String> {
    let containment = running.job.containment();
    if containment.mode.is_none() || ended.why.is_some() {
        return None;
    }
    let tail = if output.cut.is_none() {
        let start = output.text.len().saturating_sub(TAIL);
        output.text.get(output.text.ceil_char_boundary(start)..).unwrap_or_default().to_owned()
    } else {
        // A truncation is noted at the end of the text, which does not come from the command.
        let running = Arc::clone(running);
        let read = tokio::task::spawn_blocking(move || tail(&running.output));
        read.await.ok()?.ok()?
    };
    let masked = running.masked.as_ref().filter(|_| !ended.exit.success());
    let masked = masked.and_then(|masked| masked.explain(&running.command, &tail, &running.cwd));
    let explained = containment.explain(&tail, &ended.exit, &[&running.cwd]);
    match (explained, masked) {
        (None, masked) => masked,
        (Some(explained), masked) => {
            let masked = masked.map(|masked| format!("{masked}. ")).unwrap_or_default();
            Some(format!(
                "{masked}{}. {}",
                capital(&explained.to_string(), &masked),
                ways_out.words(&explained.parts)
            ))
        }
    }
}

/// Returns a text that begins with a capital if another sentence is before it.
fn capital(text: &str, before: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if !before.is_empty() => first.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

/// The end of an output, as a terminal would show it. Blocks.
fn tail(output: &KeptOutput) -> io::Result<String> {
    let mut file = output.reader()?;
    let length = file.length()?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL as u64)))?;
    let mut end = Vec::new();
    file.take(TAIL as u64).read_to_end(&mut end)?;
    Ok(clean(&String::from_utf8_lossy(&end)))
}

/// Returns the result of a command that runs on in the background.
pub(super) async fn in_background(
    ctx: &ToolContext,
    running: &Arc<Running>,
) -> Result<ToolOutput, ToolError> {
    let bytes = running.job.progress().written;
    let output = running.show(ctx).await?;
    running.set_told(ReportedPart { bytes, ..ReportedPart::default() });
    let mut facts = base_facts(running);
    facts.insert("taskId".to_owned(), running.id.clone().into());
    facts.insert("timedOut".to_owned(), false.into());
    let until = match running.timeout {
        Some(timeout) => format!("is ended after {} in all", duration(timeout)),
        None => {
            let end = ctx.caller().session_end.as_deref().unwrap_or("the session ends");
            format!("runs until it ends, is stopped, or {end}")
        }
    };
    let note = format!(
        "still running after {}, now in the background as {}. It {until}. Manage it with `process`: output, poll, stop",
        duration(running.started.elapsed()),
        running.id,
    );
    let text = with_notes(running, output, &[note], true, &mut facts);
    let result = ToolOutput::text(text).with_title(title(&running.command));
    Ok(facts.into_iter().fold(result, |output, (key, value)| output.with_metadata(key, value)))
}

/// Says where the whole output is.
pub(super) fn whole_output(running: &Running) -> String {
    match (running.output.path(), running.count().error) {
        (Some(path), None) => format!("all of it is in {}", path.display()),
        (Some(path), Some(error)) => format!("{} has only the beginning of it: {error}", path.display()),
        (None, error) => {
            format!("its beginning is kept in memory alone: {}", error.unwrap_or_default())
        }
    }
}

/// The last line of an output so far, as a terminal would show it. Blocks.
pub(super) fn last_line(output: &KeptOutput) -> io::Result<String> {
    let text = tail(output)?;
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Ok(escape_line(last).into_owned())
}
