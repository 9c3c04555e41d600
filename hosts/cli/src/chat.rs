//! `chat`: a conversation with a model that has the tools.

mod complete;
#[cfg(feature = "gateway")]
mod gateway;
#[cfg(unix)]
mod idle;
mod input;
mod open;
mod typed;

use crate::agent::{self, LATEST, Show, named, note_damage, stop};
use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::text;
use crate::signals::Interrupts;
use crate::subcommand::{self, Context, Request, Run};
use clap::{Arg, ArgMatches, Command, value_parser};
use complete::Words;
use input::{Entry, Input};
use open::OpenConversation;
use std::collections::VecDeque;
use tokio::runtime::Runtime;
use toolkit::{Caller, Toolbox, approval::TerminalApprover, text::escape_line};
use toolkit_agent::{
    Agent, Conversations, DelegationRequest, FinalAnswer, Session, StopReason, ToolAgentResult, Transcripts,
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
        .args(gateway_arguments())
}

/// The arguments of a chat with the gateway.
#[cfg(feature = "gateway")]
fn gateway_arguments() -> Vec<Arg> {
    vec![
        Arg::new("gateway")
            .long("gateway")
            .action(clap::ArgAction::SetTrue)
            .conflicts_with_all(["max-turns", "profile", "resume"])
            .help("Talks with an agent of the gateway that runs; `--session` names the session by its key, and without it yours is meant. It goes on whether anybody watches or not"),
    ]
}

#[cfg(not(feature = "gateway"))]
fn gateway_arguments() -> Vec<Arg> {
    Vec::new()
}

/// Reads the arguments.
pub(crate) fn request(matches: &mut ArgMatches) -> Request {
    #[cfg(feature = "gateway")]
    if matches.get_flag("gateway") {
        return subcommand::at_once(gateway::GatewayChatRequest);
    }
    subcommand::run(ChatRequest {
        profile: text(matches, "profile"),
        max_turns: matches.remove_one("max-turns"),
        resume: text(matches, "resume"),
    })
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
        conversations: Conversations::new(),
        open: None,
        waiting: VecDeque::new(),
        last_failed: false,
    };
    if let Some(id) = &request.resume {
        let id = named(id, &chat.transcripts, caller)?;
        let session = chat.agent()?.resume_or_fork(&id).map_err(stop)?;
        note_damage(session.damage(), console);
        console.note(&format!("Continuing {}, after {} messages.", session.id(), session.messages().len()));
        chat.open(session)?;
    } else {
        // A missing setting is reported before the first prompt.
        chat.agent()?;
    }
    #[cfg(unix)]
    let _restored = input.is_terminal().then(idle::Restored::at_end);
    let ended = chat.talk(input, console);
    runtime.block_on(chat.conversations.end_all());
    ended
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
    conversations: Conversations,
    open: Option<OpenConversation>,
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
                Entry::Signalled => return Ok(self.interrupts.terminated().unwrap_or(Exit::Terminated)),
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
        if let Some(open) = self.open.as_ref().filter(|_| input.is_terminal()) {
            console.note(&format!("`chat --resume={}` continues this conversation.", open.id()));
        }
        Ok(if self.last_failed { Exit::Failed } else { Exit::Success })
    }

    /// Waits for what the person says, or for the end of a background job.
    fn next(&mut self, input: &mut Input) -> Result<Entry, Stop> {
        let woken = async {
            match &self.open {
                Some(open) => open.woken().await,
                None => std::future::pending().await,
            }
        };
        self.runtime.block_on(async {
            tokio::select! {
                entry = input.next_unless(woken) => entry,
                () = self.interrupts.ended() => Ok(Entry::Signalled),
            }
        })
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
                self.open = None;
                self.runtime.block_on(self.conversations.end_all());
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
                        if let Some(open) = &self.open {
                            open.set_agent(agent);
                        }
                        console.note(&format!("Continuing with {}.", escape_line(name)));
                    }
                    Err(error) => {
                        self.caller.model = before;
                        say(&error, console);
                    }
                }
            }
            ("session", _) => match &self.open {
                Some(open) => match self.transcripts.messages(open.id()) {
                    Ok(messages) => {
                        let (id, files) = (open.id(), open.files());
                        let (messages, changed) = (messages.len(), files.len());
                        console.note(&format!("{id}: {messages} messages, {changed} files changed"));
                        for file in files {
                            console.note(&format!("  {}", escape_line(&file.display().to_string())));
                        }
                    }
                    Err(error) => console.error(&error.to_string()),
                },
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

    /// Makes a conversation of a session.
    fn open(&mut self, session: Session) -> Result<&mut OpenConversation, Stop> {
        let _entered = self.runtime.enter();
        Ok(self.open.insert(OpenConversation::new(&self.conversations, session)?))
    }

    /// Says something to the model, or lets it go on with what waits for it, and shows its answer, and those to what was typed too late for it.
    fn turn(
        &mut self,
        message: Option<&str>,
        is_terminal: bool,
        console: &mut Console<'_>,
    ) -> Result<ToolAgentResult, Stop> {
        if self.open.is_none() {
            let task = message.map(DelegationRequest::new).unwrap_or_default();
            let session = self.agent()?.session(&task).map_err(stop)?;
            self.open(session)?;
        }
        let Some(open) = &mut self.open else {
            return Err(Stop::failed("there is no conversation".to_owned()));
        };
        open.begin(message)?;
        let mut typed = is_terminal.then(Typed::open).flatten();
        loop {
            let mut show = Show::new(self.format, console);
            let run = open.run(&self.interrupts, &mut show, &mut typed, &mut self.waiting, console);
            let result = self.runtime.block_on(run)?;
            if self.format == Format::Text {
                show.answered(&result, console)?;
            }
            if !open.is_busy() || self.interrupts.terminated().is_some() {
                return Ok(result);
            }
        }
    }
}

fn say(stop: &Stop, console: &mut Console<'_>) {
    if let Stop::Error { message, .. } = stop {
        console.error(message);
    }
}
