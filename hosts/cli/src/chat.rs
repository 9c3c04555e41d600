//! `chat`: a conversation with a model that has the tools.

mod complete;
#[cfg(unix)]
mod idle;
mod input;
mod typed;

use crate::agent::{self, LATEST, Show, named, stop};
use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::text;
use crate::signals::Interrupts;
use crate::subcommand::{Context, Run};
use clap::{Arg, ArgMatches, Command, value_parser};
use complete::Words;
use input::{Entry, Input};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use tokio::runtime::Runtime;
use toolkit::{Caller, CancellationToken, Toolbox, approval::TerminalApprover, text::escape_line};
use toolkit_agent::{
    Agent, AgentEvent, DelegationRequest, FinalAnswer, RunOptions, Session, StopReason, ToolAgentResult,
    Transcripts,
};
#[cfg(feature = "mcp")]
use toolkit_host::McpSelection;
use toolkit_host::{Host, HostBuilder};
use typed::Typed;

/// The file of lines that were typed, in the data directory.
const HISTORY: &str = "chat_history";

/// The commands, and what they do.
const COMMANDS: [(&str, &str); 6] = [
    ("/help", "lists the commands and keys"),
    ("/new", "begins a new conversation"),
    ("/model", "shows the model, or switches to another one: /model NAME"),
    ("/tools", "lists the tools"),
    ("/session", "shows the conversation's id, turns and changed files"),
    ("/exit", "ends the chat, as Ctrl-D does"),
];

/// The arguments after `chat`.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChatRequest {
    profile: Option<String>,
    max_turns: Option<u32>,
    resume: Option<String>,
}

/// The subcommand.
pub(crate) fn command() -> Command {
    Command::new("chat")
        .about("Talks with a model that has the tools")
        .long_about(
            "Talks with a model that has the tools.\n\nWithout a terminal, each line of standard input is a message. A line typed while the \
             model works reaches it at its next turn. Ctrl-C cancels the answer and keeps the conversation; a second one ends the chat. \
             A line that ends with `\\` continues on the next line. `/help` lists the commands.",
        )
        .arg(
            Arg::new("profile")
                .long("profile")
                .value_name("PROFILE")
                .help("The profile of tools, as --set tools.profile=PROFILE"),
        )
        .arg(
            Arg::new("max-turns")
                .long("max-turns")
                .value_name("NUMBER")
                .value_parser(value_parser!(u32).range(1..))
                .help("The maximum number of model answers to one message [default: 100]"),
        )
        .arg(
            Arg::new("resume")
                .long("resume")
                .value_name("ID")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value(LATEST)
                .help("Continues a transcript [default: the latest one of the workspace]"),
        )
}

/// Reads the arguments.
pub(crate) fn request(matches: &mut ArgMatches) -> ChatRequest {
    ChatRequest {
        profile: text(matches, "profile"),
        max_turns: matches.remove_one("max-turns"),
        resume: text(matches, "resume"),
    }
}

impl Run for ChatRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        run(self, context, context.toolbox(console), console)
    }

    fn prepare(&self, host: HostBuilder) -> HostBuilder {
        agent::prepare(host)
    }

    fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    #[cfg(feature = "mcp")]
    fn servers(&self) -> McpSelection {
        McpSelection::All
    }
}

/// Talks until the input ends, or until it is interrupted twice.
fn run(
    request: &ChatRequest,
    context: &Context<'_>,
    toolbox: &Toolbox,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let &Context { host, runtime, format, .. } = context;
    let caller = host.caller();
    let transcripts = agent::transcripts(host.data_dir())?;
    let interrupts = Interrupts::start()?;
    let models = host.models()?;
    let words = Words {
        commands: COMMANDS.map(|(name, _)| name.to_owned()).to_vec(),
        models: models.names().into_iter().map(ToString::to_string).collect(),
        tools: toolbox.tools().map(|tool| tool.name().to_owned()).collect(),
        workspace: caller.workspace_dir().to_owned(),
    };
    let history = host.data_dir().map(|directory| directory.join(HISTORY));
    let input = Input::new(format, console, words, history)?;
    let mut chat = Chat {
        host,
        toolbox,
        runtime,
        transcripts,
        caller: caller.clone(),
        max_turns: request.max_turns,
        interrupts,
        format,
        session: None,
        waiting: VecDeque::new(),
        last_failed: false,
    };
    if let Some(id) = &request.resume {
        let id = named(id, &chat.transcripts, caller)?;
        let session = chat.agent()?.resume(&id).map_err(stop)?;
        console.note(&format!("Continuing {id}, after {} messages.", session.messages().len()));
        chat.session = Some(session);
    } else {
        // A missing setting is reported before the first prompt.
        chat.agent()?;
    }
    chat.talk(input, console)
}

struct Chat<'a> {
    host: &'a Host,
    toolbox: &'a Toolbox,
    runtime: &'a Runtime,
    transcripts: Transcripts,
    caller: Caller,
    max_turns: Option<u32>,
    interrupts: Interrupts,
    format: Format,
    session: Option<Session>,
    /// Commands that were typed while the model worked.
    waiting: VecDeque<String>,
    last_failed: bool,
}

impl Chat<'_> {
    fn agent(&self) -> Result<Agent, Stop> {
        let builder = agent::builder(self.host, &self.caller, self.max_turns)?;
        Ok(builder.approver(TerminalApprover::new()).final_answer(FinalAnswer::Text).build())
    }

    fn talk(&mut self, mut input: Input, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut was_interrupted = false;
        if input.is_terminal() {
            console.note("Type a message, or /help. Ctrl-D ends the chat.");
        }
        loop {
            let entry = match self.waiting.pop_front() {
                Some(line) => Entry::Text(line),
                None => self.next(&mut input)?,
            };
            let line = match entry {
                Entry::End => break,
                Entry::Interrupted if was_interrupted => return Ok(Exit::Cancelled),
                Entry::Interrupted => {
                    was_interrupted = true;
                    console.note("Ctrl-C again ends the chat.");
                    continue;
                }
                Entry::Woken => None,
                Entry::Text(line) => Some(line),
            };
            was_interrupted = false;
            let line = line.as_deref().map(str::trim);
            if line.is_some_and(str::is_empty) {
                continue;
            }
            if let Some(command) = line.and_then(|line| line.strip_prefix('/'))
                && !command.contains('/')
            {
                if self.command(command, console) {
                    break;
                }
                continue;
            }
            let result = self.turn(line, input.is_terminal(), console)?;
            if let Some(signal) = self.interrupts.terminated() {
                return Ok(signal);
            }
            was_interrupted = result.stop_reason == StopReason::Cancelled;
            self.last_failed = !matches!(result.stop_reason, StopReason::Answered | StopReason::Cancelled);
        }
        if let Some(session) = self.session.take().filter(|_| input.is_terminal()) {
            console.note(&format!("`chat --resume={}` continues this conversation.", session.id()));
        }
        Ok(if self.last_failed { Exit::Failed } else { Exit::Success })
    }

    /// Waits for what the person says, or for the end of a background job.
    fn next(&mut self, input: &mut Input) -> Result<Entry, Stop> {
        let woken = async {
            match &mut self.session {
                Some(session) => session.woken().await,
                None => std::future::pending().await,
            }
        };
        self.runtime.block_on(input.next_unless(woken))
    }

    /// Does a command; returns true if the chat ends.
    fn command(&mut self, command: &str, console: &mut Console<'_>) -> bool {
        let (name, argument) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        match (name, argument.trim()) {
            ("help", _) => {
                for (name, help) in COMMANDS {
                    console.note(&format!("{name:<9} {help}"));
                }
                console.note("Tab completes commands, tools and files. A line that ends with `\\` continues on the next line.");
            }
            ("new", _) => {
                self.session = None;
                console.note("A new conversation begins with your next message.");
            }
            ("tools", _) => {
                let names: Vec<&str> = self.toolbox.tools().map(toolkit::Tool::name).collect();
                console.note(&names.join(" "));
            }
            ("model", "") => {
                let name = self.caller.model.as_deref().unwrap_or("the default of the configuration");
                console.note(&format!("model: {}", escape_line(name)));
            }
            ("model", name) => {
                let before = self.caller.model.replace(name.to_owned());
                match self.agent() {
                    Ok(agent) => {
                        if let Some(session) = &mut self.session {
                            session.set_agent(agent);
                        }
                        console.note(&format!("Continuing with {}.", escape_line(name)));
                    }
                    Err(error) => {
                        self.caller.model = before;
                        say(&error, console);
                    }
                }
            }
            ("session", _) => match &self.session {
                Some(session) => {
                    let files = session.files_modified();
                    console.note(&format!(
                        "{}: {} messages, {} files changed",
                        session.id(),
                        session.messages().len(),
                        files.len()
                    ));
                    for file in files {
                        console.note(&format!("  {}", escape_line(&file.display().to_string())));
                    }
                }
                None => console.note("There is no conversation yet."),
            },
            ("exit" | "quit", _) => return true,
            (name, _) => {
                console.error(&format!(
                    "there is no command `/{}`; /help lists the commands",
                    escape_line(name)
                ));
            }
        }
        false
    }

    /// Says something to the model, or lets it go on with what waits for it, and shows its answer.
    fn turn(
        &mut self,
        message: Option<&str>,
        is_terminal: bool,
        console: &mut Console<'_>,
    ) -> Result<ToolAgentResult, Stop> {
        let task = message.map(DelegationRequest::new);
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.agent()?.session(&task.clone().unwrap_or_default()).map_err(stop)?,
        };
        let cancel = CancellationToken::new();
        self.interrupts.set(Some(cancel.clone()));
        let events = Arc::<Mutex<VecDeque<AgentEvent>>>::default();
        let options = RunOptions::new().cancel(cancel).observer({
            let events = Arc::clone(&events);
            move |event| events.lock().unwrap_or_else(PoisonError::into_inner).push_back(event)
        });
        let mut show = Show::new(self.format, console);
        let steering = session.steering();
        let waiting = &mut self.waiting;
        let mut typed = is_terminal.then(Typed::open).flatten();
        let result = self.runtime.block_on(async {
            let mut run = pin!(async {
                match task {
                    Some(task) => session.run(task, options).await,
                    None => session.go_on(options).await,
                }
            });
            let mut typing = pin!(async {
                loop {
                    match &mut typed {
                        Some(typed) => {
                            for line in typed.lines().await {
                                // A message beyond the limit of those that wait has a turn of its own.
                                if line.starts_with('/') || steering.send(&*line).is_err() {
                                    waiting.push_back(line);
                                }
                            }
                        }
                        None => std::future::pending::<()>().await,
                    }
                }
            });
            poll_fn(|context| {
                // It never ends.
                let _: Poll<()> = typing.as_mut().poll(context);
                let polled = run.as_mut().poll(context);
                // While a question stands on the terminal, nothing is written over it.
                if polled.is_ready() || self.format == Format::Json || !TerminalApprover::is_asking() {
                    let events = std::mem::take(&mut *events.lock().unwrap_or_else(PoisonError::into_inner));
                    for event in events {
                        if let Err(stop) = show.event(&event, console) {
                            return Poll::Ready(Err(stop));
                        }
                    }
                }
                polled.map(Ok)
            })
            .await
        });
        self.interrupts.set(None);
        let result = result?;
        if self.format == Format::Text {
            show.answered(&result, console)?;
        }
        self.session = Some(session);
        Ok(result)
    }
}

fn say(stop: &Stop, console: &mut Console<'_>) {
    if let Stop::Error { message, .. } = stop {
        console.error(message);
    }
}
