//! `agent`: a task for a model with the tools of the toolkit.

mod show;
mod transcripts;

use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::text;
use crate::signals::Watch;
use crate::subcommand::{self, Context, Request, Run, RunAtOnce, Start};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::json;
pub(crate) use show::Show;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::Read as _;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use toolkit::{Caller, CancellationToken, approval::TerminalApprover, text::escape_line};
use toolkit_agent::{
    Agent, AgentBuilder, AgentEvent, DelegationRequest, RewindOptions, RunOptions, Session, StopReason,
    ToolAgentResult, Transcripts,
};
#[cfg(feature = "mcp")]
use toolkit_host::McpSelection;
use toolkit_host::{AgentOptions, Host, HostBuilder};
use transcripts::place;
pub(crate) use transcripts::{LATEST, named, note_damage, stop, transcripts};

/// The most bytes of a task from standard input.
const MAX_TASK_BYTES: u64 = 1 << 20;

/// The arguments after `agent`.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentRequest {
    task: Option<String>,
    context: Option<String>,
    expected_outcome: Option<String>,
    profile: Option<String>,
    max_turns: Option<u32>,
    resume: Option<String>,
    fork: Option<String>,
    force: bool,
    action: Action,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Action {
    #[default]
    Run,
    List,
    Messages,
    Rewind,
}

/// The subcommand.
pub(crate) fn command() -> Command {
    let value = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("agent")
        .about("Gives a task to a model, which does it with the tools")
        .long_about(
            "Gives a task to a model, which does it with the tools.\n\nThe model is one of `models` in the configuration: the default, or \
             the one of --model or of the agent of --agent. Each step is shown on standard error, and the model's final answer on \
             standard output; with `-o json`, all events are JSON Lines. Ctrl-C cancels the run and keeps its transcript; a second one \
             ends the program.",
        )
        .arg(
            Arg::new("task")
                .value_name("TASK")
                .required_unless_present_any(["resume", "fork", "list", "messages", "rewind"])
                .help("The task; `-` reads it from standard input"),
        )
        .arg(value("context", "TEXT", "Facts that the model cannot find out"))
        .arg(value("expected-outcome", "TEXT", "The expected result of the task"))
        .arg(value("profile", "PROFILE", "The profile of tools, as --set tools.profile=PROFILE"))
        .arg(
            value("max-turns", "NUMBER", "The maximum number of model answers [default: 100]")
                .value_parser(value_parser!(u32).range(1..)),
        )
        .arg(
            value("resume", "ID", "Continues a transcript [default: the latest one of the workspace]")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value(LATEST)
                .conflicts_with("fork"),
        )
        .arg(value("fork", "ID[@MESSAGE]", "Continues a copy of a transcript, up to a message").require_equals(true))
        .arg(
            Arg::new("list")
                .long("list")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["task", "resume", "fork", "messages"])
                .help("Lists the transcripts, the latest first"),
        )
        .arg(
            value("messages", "ID", "Lists the messages of a transcript with their numbers")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value(LATEST)
                .conflicts_with_all(["task", "resume", "fork"]),
        )
        .arg(
            value("rewind", "ID[@MESSAGE]", "Restores the files that a run changed to their content before a message")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value(LATEST)
                .conflicts_with_all(["task", "resume", "fork", "list", "messages"]),
        )
        .arg(
            Arg::new("force")
                .long("force")
                .action(ArgAction::SetTrue)
                .requires("rewind")
                .help("With --rewind: overwrites files that have changed since the run wrote them"),
        )
}

/// Reads the arguments.
pub(crate) fn request(matches: &mut ArgMatches) -> Request {
    let request = parsed(matches);
    if request.action == Action::Run { subcommand::run(request) } else { subcommand::at_once(request) }
}

fn parsed(matches: &mut ArgMatches) -> AgentRequest {
    let (messages, rewind) = (text(matches, "messages"), text(matches, "rewind"));
    let action = match (matches.get_flag("list"), &messages, &rewind) {
        (true, _, _) => Action::List,
        (_, Some(_), _) => Action::Messages,
        (_, _, Some(_)) => Action::Rewind,
        _ => Action::Run,
    };
    AgentRequest {
        task: text(matches, "task"),
        context: text(matches, "context"),
        expected_outcome: text(matches, "expected-outcome"),
        profile: text(matches, "profile"),
        max_turns: matches.remove_one("max-turns"),
        resume: text(matches, "resume").or(messages).or(rewind),
        fork: text(matches, "fork"),
        force: matches.get_flag("force"),
        action,
    }
}

impl RunAtOnce for AgentRequest {
    fn run(&self, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        run_without_tools(self, start.load.data_dir_path(), &start.caller, start.format, console)
    }
}

impl Run for AgentRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        // The servers are started with the tools of a caller.
        context.toolbox(console);
        run(self, context, console)
    }

    fn prepare(&self, host: HostBuilder) -> HostBuilder {
        prepare(host)
    }

    fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    #[cfg(feature = "mcp")]
    fn servers(&self) -> McpSelection {
        McpSelection::All
    }
}

/// Returns the host as an agent needs it.
pub(crate) fn prepare(host: HostBuilder) -> HostBuilder {
    host.agents(true).history(true).background_tasks(true)
}

/// Returns the agent of a caller whose runs a person watches.
pub(crate) fn builder(host: &Host, caller: &Caller, max_turns: Option<u32>) -> Result<AgentBuilder, Stop> {
    Ok(host.agent(caller, AgentOptions::new().watched().max_turns(max_turns))?)
}

/// Lists transcripts or their messages.
fn run_without_tools(
    request: &AgentRequest,
    data_dir: Option<&Path>,
    caller: &Caller,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let transcripts = transcripts(data_dir)?;
    if request.action == Action::List {
        let list = transcripts.list();
        if format == Format::Json {
            return crate::definitions::print_json(&json!(list), console).map(|()| Exit::Success);
        }
        if list.is_empty() {
            console.note("There is no transcript yet.");
        }
        let (list, of_sub_agents): (Vec<_>, Vec<_>) = list.into_iter().partition(|info| info.depth == 0);
        for info in list {
            let task = info.task.lines().next().unwrap_or_default();
            let turns = info.turns;
            let line = format!("{}  {turns:>4} turns  {}\n", info.id, escape_line(task));
            console.print(&line)?;
        }
        if !of_sub_agents.is_empty() {
            let count = of_sub_agents.len();
            console.note(&format!(
                "{count} transcripts of sub-agents are not listed; `-o json` lists them too."
            ));
        }
        return Ok(Exit::Success);
    }
    let given = request.resume.as_deref().unwrap_or(LATEST);
    if request.action == Action::Rewind {
        let (id, message) = place(given)?;
        let id = named(id, &transcripts, caller)?;
        let options = RewindOptions::new().message(message).force(request.force);
        return rewind(&transcripts, &id, options, format, console);
    }
    let id = named(given, &transcripts, caller)?;
    let messages = transcripts.messages(&id).map_err(stop)?;
    if format == Format::Json {
        return crate::definitions::print_json(&json!(messages), console).map(|()| Exit::Success);
    }
    for message in messages {
        console.print(&show::message(&message))?;
    }
    Ok(Exit::Success)
}

/// Does the task.
fn run(request: &AgentRequest, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let &Context { host, runtime, format, .. } = context;
    let caller = host.caller();
    let transcripts = transcripts(host.data_dir())?;
    let task = request.task.as_deref().map(read_task).transpose()?;
    let builder = builder(host, caller, request.max_turns)?;
    let agent = builder.approver(TerminalApprover::new()).build();
    let cancel = CancellationToken::new();
    let watch = Watch::start(cancel.clone())?;
    let task = task.map(|task| {
        let mut delegation = DelegationRequest::new(task);
        delegation.context.clone_from(&request.context);
        delegation.expected_outcome.clone_from(&request.expected_outcome);
        delegation
    });
    let events = Arc::<Mutex<VecDeque<AgentEvent>>>::default();
    let options = RunOptions::new().cancel(cancel).observer({
        let events = Arc::clone(&events);
        move |event| events.lock().unwrap_or_else(PoisonError::into_inner).push_back(event)
    });
    let mut show = Show::new(format, console);
    // It blocks.
    let mut session = open(request, &agent, &transcripts, caller, task.as_ref(), console)?;
    let (result, id) = runtime.block_on(async {
        let id = session.id().to_owned();
        let result = {
            let mut run = pin!(async {
                match task {
                    Some(task) => session.run(task, options).await,
                    None => session.go_on(options).await,
                }
            });
            poll_fn(|context| {
                let polled = run.as_mut().poll(context);
                // While a question stands on the terminal, nothing is written over it.
                if polled.is_ready() || format == Format::Json || !TerminalApprover::is_asking() {
                    let events = std::mem::take(&mut *events.lock().unwrap_or_else(PoisonError::into_inner));
                    for event in events {
                        if let Err(stop) = show.event(&event, console) {
                            return Poll::Ready(Err(stop));
                        }
                    }
                }
                polled.map(Ok)
            })
            .await?
        };
        session.close();
        Ok::<_, Stop>((result, id))
    })?;
    let signal = watch.call_ended();
    if format == Format::Text {
        show.end(&result, &id, console)?;
    }
    Ok(exit(&result, signal))
}

fn exit(result: &ToolAgentResult, signal: Option<Exit>) -> Exit {
    match (result.stop_reason, signal) {
        (StopReason::Cancelled, signal) => signal.unwrap_or(Exit::Cancelled),
        (StopReason::Timeout, _) => Exit::TimedOut,
        _ if result.success => Exit::Success,
        _ => Exit::Failed,
    }
}

/// The conversation: a new one, one that goes on, or a copy.
fn open(
    request: &AgentRequest,
    agent: &Agent,
    transcripts: &Transcripts,
    caller: &Caller,
    task: Option<&DelegationRequest>,
    console: &mut Console<'_>,
) -> Result<Session, Stop> {
    if let Some(fork) = &request.fork {
        let (id, message) = place(fork)?;
        let id = named(id, transcripts, caller)?;
        return agent.fork(&id, message).map_err(stop);
    }
    match &request.resume {
        Some(id) => {
            let session = agent.resume_or_fork(&named(id, transcripts, caller)?).map_err(stop)?;
            note_damage(session.damage(), console);
            Ok(session)
        }
        None => {
            let task = task.cloned().unwrap_or_default();
            agent.session(&task).map_err(stop)
        }
    }
}

/// Puts files back, and says which ones.
fn rewind(
    transcripts: &Transcripts,
    id: &str,
    options: RewindOptions,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let rewound = transcripts.rewind(id, options).map_err(stop)?;
    let is_whole = rewound.failed.is_empty() && rewound.changed_since.is_empty();
    let exit = if is_whole { Exit::Success } else { Exit::Failed };
    if format == Format::Json {
        return crate::definitions::print_json(&json!(rewound), console).map(|()| exit);
    }
    let shown = |path: &Path| escape_line(&path.display().to_string()).into_owned();
    for path in &rewound.restored {
        console.print(&format!("restored {}\n", shown(path)))?;
    }
    for path in &rewound.removed {
        console.print(&format!("removed {}\n", shown(path)))?;
    }
    for path in &rewound.changed_since {
        console.error(&format!(
            "{} was not restored: it has changed since the run wrote it; `--force` overwrites it",
            shown(path)
        ));
    }
    for (path, reason) in &rewound.failed {
        console.error(&format!("{} was not restored: {reason}", shown(path)));
    }
    if rewound.restored.is_empty() && rewound.removed.is_empty() && is_whole {
        console.note("No file had to be restored.");
    }
    for what in &rewound.not_covered {
        console.note(&format!("not covered: what {} changed", escape_line(what)));
    }
    Ok(exit)
}

fn read_task(task: &str) -> Result<String, Stop> {
    if task != "-" {
        if task.trim().is_empty() {
            return Err(Stop::usage(
                "the task is empty; write the task, or `-` to read it from standard input",
            ));
        }
        return Ok(task.to_owned());
    }
    let mut text = String::new();
    std::io::stdin().take(MAX_TASK_BYTES).read_to_string(&mut text)?;
    if text.trim().is_empty() {
        return Err(Stop::usage("the task from standard input is empty"));
    }
    Ok(text)
}
