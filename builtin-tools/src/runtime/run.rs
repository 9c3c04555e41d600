//! Runs a call of `exec`: verdict, approval, execution, and result.

use super::attributes;
use super::containing::{Containing, More, containing};
use super::grounds::{self, Places};
use super::job::{Running, Start, Why, sweep_all};
use super::jobs::{Jobs, Place};
use super::judged::{Command, Judged, Outcome};
use super::prepare::{Beside, prepare};
use super::question::{Around, question};
use super::stream::{Stream, TICK};
use super::tmp::{self, Tmp};
use super::told::{self, WaysOut};
use crate::config::{ExecAsk, ExecSandbox, ExecSettings};
use shell_verdict::Shell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, sleep_until, timeout};
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, files::Workspace, output::KeptOutput};
use toolkit_sandbox::{Drained, Limits, Output, Process, Size, Stdin};

/// Time to wait for pending output after a command's own process has ended.
const DRAIN: Duration = Duration::from_millis(250);
/// Time to wait after that for the other processes to end.
const LEFTOVERS: Duration = Duration::from_millis(30);
/// Time within which a failure of a background command is returned at once.
const AT_ONCE: Duration = Duration::from_millis(100);
/// Maximum number of verdicts on one command, which is judged again if files have changed during the permission prompt.
const MAX_JUDGEMENTS: usize = 3;
/// Size of the terminal of a command with a terminal.
const TERMINAL: Size = Size { rows: 40, columns: 120 };

/// The arguments of a call.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) command: &'a str,
    pub(super) claim: Option<&'a str>,
    pub(super) workdir: Option<&'a Path>,
    pub(super) env: &'a BTreeMap<String, String>,
    pub(super) timeout: Option<Duration>,
    pub(super) background: bool,
    pub(super) yields_after: Option<Duration>,
    pub(super) on_terminal: bool,
    pub(super) input: Input<'a>,
    pub(super) more: Option<More>,
}

/// Standard input of the command.
#[derive(Debug)]
pub(super) struct Input<'a> {
    pub(super) text: Option<&'a str>,
    pub(super) stays_open: bool,
}

/// Runs it.
pub(super) async fn run(ctx: &ToolContext, call: Call<'_>) -> Result<ToolOutput, ToolError> {
    let settings: Arc<ExecSettings> = Arc::new(ctx.config()?);
    if call.more == Some(More::Everything) && settings.sandbox == ExecSandbox::Required {
        return Err(ToolError::denied(
            "no command runs without a sandbox here: `tools.exec.sandbox` is `required`; leave `escalate` out",
        ));
    }
    if call.background && ctx.is_for_one_call() {
        return Err(ToolError::unavailable(
            "no command can stay in the background here: this program ends with the call, and its commands with it; \
             leave `run_in_background` out, and give a `timeout` if it needs long",
        ));
    }
    let timeout = timeout_of(&settings, call.timeout, call.background)?;
    let files = ctx.workspace();
    let jobs = ctx.session_state::<Jobs>();
    let tmp = ctx.session_state::<Tmp>();
    let (command, beside) =
        prepare(ctx, &settings, call.command, call.workdir, call.on_terminal, call.env, Some(&tmp)).await?;
    let command = Arc::new(command);
    let (judged, containing) = allowed(ctx, &files, &settings, &command, &beside, &call, &tmp).await?;
    // Reserved before the start: of many concurrent calls, none starts without room for its job.
    let mut place = if call.background { Some(jobs.reserve(settings.max_background)?) } else { None };
    if containing.sandbox.is_none() || containing.reads {
        sweep_all().await;
    }
    let limits = super::limits::of(&settings);
    let running = start(ctx, &command, &judged, containing, &call, timeout, limits, &jobs).await?;
    let guard = EndOnDrop(Arc::clone(&running));
    feed(&running, &call.input);
    let outcome = follow(ctx, &settings, &jobs, &running, &call, &mut place).await;
    drop(guard);
    outcome
}

/// Returns the time limit; `None` for as long as the session. No caller waits for a command that starts in the background.
fn timeout_of(
    settings: &ExecSettings,
    wanted: Option<Duration>,
    is_background: bool,
) -> Result<Option<Duration>, ToolError> {
    let most = Duration::from_secs(settings.max_timeout_sec);
    match wanted {
        None if is_background => Ok(None),
        None => Ok(Some(Duration::from_secs(settings.timeout_sec).min(most))),
        Some(wanted) if wanted <= most => Ok(Some(wanted)),
        Some(_) => Err(ToolError::new(
            ToolErrorKind::InvalidArguments,
            format!(
                "`timeout` is more than {} ms, the most that is allowed here; give less, or for a command that runs until it is \
                 stopped leave `timeout` out and set `run_in_background`",
                most.as_millis()
            ),
        )),
    }
}

/// Returns the verdict once the command may run, and its containment.
async fn allowed(
    ctx: &ToolContext,
    files: &Workspace,
    settings: &Arc<ExecSettings>,
    command: &Arc<Command>,
    beside: &Beside,
    call: &Call<'_>,
    tmp: &Arc<Tmp>,
) -> Result<(Judged, Containing), ToolError> {
    let asks_more = !beside.is_nothing() || call.more.is_some();
    let mut covered: Option<std::collections::BTreeSet<String>> = None;
    let mut places: Option<Places> = None;
    for _ in 0..MAX_JUDGEMENTS {
        let judging = {
            let (ctx, files, settings, command, tmp) =
                (ctx.clone(), files.clone(), Arc::clone(settings), Arc::clone(command), Arc::clone(tmp));
            let (more, directory) = (call.more, beside.directory.clone());
            move |_: &_| {
                let mut judged = command.judge(&ctx, &files, &settings, asks_more, more.is_some());
                judged.paths.extend(directory);
                let containing = containing(&settings, &command, &judged, more, &ctx.own_paths(), Some(&tmp));
                let conditions = grounds::conditions(&command, &judged, &containing);
                let now = Places::of(&command, &judged);
                Ok((judged, containing, conditions, now))
            }
        };
        let (judged, containing, conditions, now) = ctx.blocking(judging).await?;
        // While a person thinks, another directory or script can take the place of the one that was shown.
        if places.as_ref().is_some_and(|places| !places.are_same()) {
            covered = None;
        }
        places = Some(now);
        let mut asks = judged.asks();
        asks.extend(conditions.iter().cloned());
        match judged.outcome(settings, asks_more) {
            Outcome::Runs => return Ok((judged, containing)),
            Outcome::Denied => return Err(told::denied(&judged)),
            _ if covered.as_ref().is_some_and(|covered| asks.is_subset(covered)) => {
                return Ok((judged, containing));
            }
            Outcome::Refused(setting) => return Err(told::not_run(&judged, setting)),
            Outcome::Asked => {}
        }
        let variables = beside
            .variables
            .iter()
            .map(|name| (&**name, call.env.get(name).map_or("", String::as_str)))
            .collect();
        let around = Around {
            variables,
            stdin: call.input.text,
            claim: call.claim,
            sandbox: containing.words.clone(),
            escalation: call.more.map(|more| match more {
                More::Network => "the network".to_owned(),
                More::Everything => "to run without a sandbox".to_owned(),
            }),
            conditions,
            is_always: settings.asked() == ExecAsk::Always,
        };
        ctx.ask_in_person(question(command, &judged, &around)).await?;
        // The prompt may have taken long.
        covered = Some(asks);
    }
    Err(ToolError::failed(
        "the effect of the command changes on every check: something else is changing its files; try again later",
    ))
}

#[expect(clippy::too_many_arguments, reason = "each is another part of what is started")]
async fn start(
    ctx: &ToolContext,
    command: &Command,
    judged: &Judged,
    containing: Containing,
    call: &Call<'_>,
    timeout: Option<Duration>,
    limits: Limits,
    jobs: &Jobs,
) -> Result<Arc<Running>, ToolError> {
    let output = ctx.kept_output().await?;
    let mut variables = command.variables.clone();
    variables.extend(judged.verdict.env.iter().cloned());
    // The verdict knows the files in the index, and their state would look different with attributes.
    let runs_git =
        judged.git_settings().is_some() && judged.verdict.each_part().any(|part| part.shows_history);
    let scratch = (containing.reads || containing.is_unasked && runs_git).then(tmp::scratch).flatten();
    if let Some(scratch) = scratch.as_ref().filter(|_| containing.reads) {
        variables.insert("TMPDIR".to_owned(), scratch.directory().to_string_lossy().into_owned());
    }
    if containing.is_unasked && runs_git {
        let given = scratch
            .as_ref()
            .is_some_and(|scratch| attributes::give(command, judged, scratch.directory(), &mut variables));
        if !given {
            return Err(ToolError::unavailable(format!(
                "no file can be written below {}, which git needs to keep to the rules about paths; free space there",
                std::env::temp_dir().display()
            )));
        }
    }
    let name = if command.kind == Shell::Bash { "bash" } else { "sh" };
    let mut built = toolkit_sandbox::Command::new(&command.shell).arg0(name);
    if command.kind == Shell::Bash {
        built = built.args(["--noprofile", "--norc"]);
    }
    built = built
        .args(["-c", "--", &*judged.text(command)])
        .envs(variables)
        .current_dir(&command.cwd)
        .limits(limits.with_output(output.limit()))
        .output(destination(&output)?);
    if call.on_terminal {
        built = built.terminal(TERMINAL);
    } else if call.input.text.is_some() || call.input.stays_open {
        built = built.stdin(Stdin::Pipe);
    }
    if let Some(sandbox) = containing.sandbox {
        built = built.sandbox(match &scratch {
            Some(scratch) if containing.reads => sandbox.with_tmp(scratch.directory()),
            Some(scratch) => sandbox.with_visible(scratch.directory()),
            None => sandbox,
        });
    }
    let job = built.spawn().await.map_err(|error| told::not_started(&error))?;
    let start = Start {
        id: jobs.next_id(),
        command: command.text.clone(),
        cwd: command.cwd.clone(),
        class: judged.verdict.class.as_str(),
        contained: containing.words,
        masked: containing.masked,
        is_harmless: judged.is_proved,
        leaves_nothing: containing.reads,
        scratch,
        timeout,
        limits: limits.with_output(output.limit()),
        output,
        work: ctx.background_work(),
    };
    Ok(Running::watch(job, start, ctx.teller()))
}

/// Where the command's output goes: into the file of the session, and its beginning into memory, so that a short output needs no disk.
fn destination(output: &KeptOutput) -> Result<Output, ToolError> {
    match (output.appending(), output.beginning()) {
        (file, Some(beginning)) => Ok(Output::Kept { file: file.ok(), beginning }),
        (Ok(file), None) => Ok(Output::File(file)),
        (Err(error), None) => Err(ToolError::unavailable(format!("the output cannot be stored: {error}"))),
    }
}

/// Writes the standard input, which may take time.
fn feed(running: &Arc<Running>, input: &Input<'_>) {
    let Some(sink) = running.job.stdin() else { return };
    let (text, stays_open) = (input.text.unwrap_or_default().as_bytes().to_vec(), input.stays_open);
    if text.is_empty() && stays_open {
        return;
    }
    let running = Arc::downgrade(running);
    tokio::spawn(async move {
        // An error is ignored: the command may not read its input.
        let written = sink.write(&text).await;
        if written.is_ok() && !stays_open {
            let _ = sink.close().await;
        }
        drop(running);
    });
}

/// Ends the command when the call is dropped.
struct EndOnDrop(Arc<Running>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        if !self.0.is_background() && self.0.has_ended().is_none() {
            self.0.end(Why::Cancelled);
        }
    }
}

/// Waits for the command's end, or until it goes to the background.
async fn follow(
    ctx: &ToolContext,
    settings: &ExecSettings,
    jobs: &Arc<Jobs>,
    running: &Arc<Running>,
    call: &Call<'_>,
    place: &mut Option<Place>,
) -> Result<ToolOutput, ToolError> {
    let yields_after = if ctx.is_for_one_call() {
        None
    } else if call.background {
        Some(AT_ONCE)
    } else {
        call.yields_after.or(settings.background_ms.map(Duration::from_millis))
    };
    let mut yields_at = yields_after.map(|after| running.started + after);
    let mut stream = Stream::new(running);
    let ended = loop {
        tokio::select! {
            biased;
            ended = running.ended() => break ended,
            () = ctx.cancellation_token().cancelled() => {
                running.end(Why::Cancelled);
                break running.ended().await;
            }
            () = sleep_until(yields_at.unwrap_or(running.started)), if yields_at.is_some() => {
                // Without room it stays in the foreground.
                match jobs.take_up(running, settings.max_background, place) {
                    Ok(()) => return told::in_background(ctx, running).await,
                    Err(_) => yields_at = None,
                }
            }
            () = sleep(TICK) => stream.tell(ctx, running).await,
        }
    };
    let held = held(running).await;
    stream.finish(ctx, running).await;
    let processes = leftovers(running).await;
    let output = running.show(ctx).await?;
    let mut notes = Vec::new();
    let mut is_left = false;
    let why_stopped = match (ctx.is_for_one_call(), running.leaves_nothing) {
        (true, _) => Some("this program ends with the call"),
        (_, true) => Some(
            "a command that runs without approval because it only reads leaves none; run it with `run_in_background`",
        ),
        _ => None,
    };
    if let Some(why) = why_stopped.filter(|_| !held.is_empty() || !processes.is_empty()) {
        running.stop().await;
        notes.push(told::left_and_stopped(&held, &processes, why));
    } else if !held.is_empty() || !processes.is_empty() {
        match jobs.take_up(running, settings.max_background, place) {
            Ok(()) => {
                is_left = true;
                notes.push(told::left(running, &held, &processes));
            }
            Err(_) => {
                running.stop().await;
                notes.push(
                    "its remaining processes were stopped: there are too many background jobs".to_owned(),
                );
            }
        }
    }
    notes.extend(told::quarantined(&running.job.quarantined()));
    notes.extend(told::explained(running, &ended, &output, WaysOut::of(settings, call.more)).await);
    told::ended(running, &ended, output, notes, is_left)
}

/// Returns the processes that hold the output shortly after the command's own process has ended.
pub(super) async fn held(running: &Running) -> Vec<Process> {
    if running.job.progress().closed {
        return Vec::new();
    }
    match running.job.drained(DRAIN).await {
        Drained::Held(processes) => processes,
        _ => Vec::new(),
    }
}

/// Returns the remaining processes, including those that hold no output.
async fn leftovers(running: &Running) -> Vec<Process> {
    if running.is_gone() || timeout(LEFTOVERS, running.job.gone()).await.is_ok() {
        return Vec::new();
    }
    running.job.processes().await
}
