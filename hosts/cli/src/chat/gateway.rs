//! `chat --gateway`: a conversation with an agent of the gateway, which goes on whether anybody watches or not.

use super::complete::Words;
use super::input::{Entry, Input};
use super::typed::Typed;
use crate::agent::Show;
use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::gateway::{failed, reach_running};
use crate::signals::Interrupts;
use crate::subcommand::{RunAtOnce, Start};
use serde_json::{Value, json};
use std::time::Duration;
use toolkit::CancellationToken;
use toolkit::text::escape_line;
use toolkit_agent::{Observed, ObservedEvent};
use toolkit_gateway::client::{ClientError, EventStream, GatewayClient, ServerEvent, path_part};

/// The time before a stream that ended is opened again.
const AGAIN: Duration = Duration::from_secs(1);
/// How often that is tried.
const MAX_TRIES: u32 = 30;
/// The file of lines that were typed, in the data directory.
const HISTORY: &str = "chat_history";

/// The commands, and what they do.
const COMMANDS: [(&str, &str); 5] = [
    ("/help", "lists the commands"),
    ("/approve", "allows what a question asks for: /approve CODE"),
    ("/deny", "denies what a question asks for: /deny CODE [REASON]"),
    ("/stop", "cancels the answer under way"),
    ("/exit", "ends the chat, as Ctrl-D does; the session goes on"),
];

/// A chat with the gateway.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GatewayChatRequest;

/// The person's own session.
const OWN: &str = "main";

impl RunAtOnce for GatewayChatRequest {
    fn run(&self, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let reached = reach_running(&start)?;
        // Without `--session`, the caller has the session of the workspace.
        let given = start.caller.session_id.clone().filter(|id| !id.starts_with("workspace "));
        let session = given.unwrap_or_else(|| OWN.to_owned());
        let interrupts = Interrupts::start()?;
        let history = start.load.data_dir_path().map(|data_dir| data_dir.join(HISTORY));
        let words = Words {
            commands: COMMANDS.map(|(name, _)| name.to_owned()).to_vec(),
            models: Vec::new(),
            tools: Vec::new(),
            workspace: start.caller.workspace_dir().to_owned(),
        };
        let mut input = Input::new(start.format, console, words, history)?;
        let mut chat = Chat {
            client: reached.client.clone(),
            session: session.clone(),
            format: start.format,
            after: None,
            last_failed: false,
        };
        if input.is_terminal() {
            console.note(&format!("Session `{}`. /help lists the commands.", escape_line(&session)));
        }
        let exit = reached.runtime.block_on(chat.run(&mut input, &interrupts, console));
        exit.map(|exit| exit.unwrap_or(if chat.last_failed { Exit::Failed } else { Exit::Success }))
    }
}

struct Chat {
    client: GatewayClient,
    session: String,
    format: Format,
    /// The number of the last event that was seen.
    after: Option<i64>,
    last_failed: bool,
}

/// The outcome of a message.
struct Ended {
    state: String,
    text: String,
}

impl Chat {
    async fn run(
        &mut self,
        input: &mut Input,
        interrupts: &Interrupts,
        console: &mut Console<'_>,
    ) -> Result<Option<Exit>, Stop> {
        let mut was_interrupted = false;
        loop {
            let entry = tokio::select! {
                entry = input.next() => entry?,
                () = interrupts.ended() => Entry::Signalled,
            };
            let line = match entry {
                Entry::End => return Ok(None),
                Entry::Interrupted if was_interrupted => return Ok(Some(Exit::Cancelled)),
                Entry::Interrupted => {
                    was_interrupted = true;
                    console.note("Ctrl-C again ends the chat.");
                    continue;
                }
                Entry::Signalled => return Ok(Some(interrupts.terminated().unwrap_or(Exit::Terminated))),
                Entry::Woken => continue,
                Entry::Text(line) => line,
            };
            was_interrupted = false;
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            if let Some(command) = line.strip_prefix('/') {
                if self.command(command, console).await? {
                    return Ok(None);
                }
                continue;
            }
            let ended = self.say(line, input.is_terminal(), interrupts, console).await?;
            if let Some(signal) = interrupts.terminated() {
                return Ok(Some(signal));
            }
            self.last_failed = ended.state == "failed";
        }
    }

    /// Does a command; returns true if the chat ends.
    async fn command(&self, command: &str, console: &mut Console<'_>) -> Result<bool, Stop> {
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let (code, reason) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
        let done = match name {
            "approve" => self.answer(code, json!({ "type": "allow" })).await,
            "deny" if reason.trim().is_empty() => self.answer(code, json!({ "type": "deny" })).await,
            "deny" => self.answer(code, json!({ "type": "deny", "message": reason.trim() })).await,
            "stop" => {
                let path = format!("/v1/sessions/{}/cancel", path_part(&self.session));
                self.client.post(&path, &json!({})).await.map(drop)
            }
            "exit" | "quit" => return Ok(true),
            "help" => {
                for (name, help) in COMMANDS {
                    console.note(&format!("{name:<9} {help}"));
                }
                Ok(())
            }
            name => {
                let name = escape_line(name);
                console.error(&format!("there is no command `/{name}`; /help lists the commands"));
                Ok(())
            }
        };
        if let Err(error) = done {
            console.error(&error.to_string());
        }
        Ok(false)
    }

    async fn answer(&self, code: &str, answer: Value) -> Result<(), ClientError> {
        self.client.post(&format!("/v1/asks/{}", path_part(code)), &answer).await.map(drop)
    }

    /// Sends a message, and shows what the agent does until it has answered.
    async fn say(
        &mut self,
        text: &str,
        is_terminal: bool,
        interrupts: &Interrupts,
        console: &mut Console<'_>,
    ) -> Result<Ended, Stop> {
        let messages = format!("/v1/sessions/{}/messages", path_part(&self.session));
        let accepted = self.client.post(&messages, &json!({ "text": text })).await.map_err(failed)?;
        let id = accepted["id"].as_i64().unwrap_or_default();
        // The whole key of the session.
        if let Some(session) = accepted["session"].as_str() {
            session.clone_into(&mut self.session);
        }
        let cancel = CancellationToken::new();
        interrupts.set(Some(cancel.clone()));
        let ended = self.watch(id, is_terminal, &cancel, console).await;
        interrupts.set(None);
        ended
    }

    async fn watch(
        &mut self,
        id: i64,
        is_terminal: bool,
        cancel: &CancellationToken,
        console: &mut Console<'_>,
    ) -> Result<Ended, Stop> {
        let mut show = Show::new(self.format, console);
        let mut typed = is_terminal.then(Typed::open).flatten();
        let mut is_cancelled = false;
        let mut stream = self.open().await?;
        // It may have ended before the stream was open.
        loop {
            if let Some(ended) = self.ended(id).await? {
                self.shown(&ended, &mut show, console)?;
                return Ok(ended);
            }
            // Until the next event of the store about a run.
            loop {
                tokio::select! {
                    event = stream.next() => match event {
                        Ok(Some(event)) => {
                            if self.event(&event, &mut show, console)? {
                                break;
                            }
                        }
                        Ok(None) | Err(ClientError::Unreachable { .. }) => {
                            stream = self.open().await?;
                            break;
                        }
                        Err(error) => return Err(failed(error)),
                    },
                    () = cancel.cancelled(), if !is_cancelled => {
                        is_cancelled = true;
                        let path = format!("/v1/sessions/{}/cancel", path_part(&self.session));
                        if let Err(error) = self.client.post(&path, &json!({})).await {
                            console.error(&error.to_string());
                        }
                    }
                    lines = typed_lines(&mut typed) => for line in lines {
                        self.typed(line.trim(), console).await?;
                    },
                }
            }
        }
    }

    /// A line that is typed while the agent works: a command, or one more message.
    async fn typed(&self, line: &str, console: &mut Console<'_>) -> Result<(), Stop> {
        if line.is_empty() {
            return Ok(());
        }
        if let Some(command) = line.strip_prefix('/') {
            return self.command(command, console).await.map(drop);
        }
        let path = format!("/v1/sessions/{}/messages", path_part(&self.session));
        if let Err(error) = self.client.post(&path, &json!({ "text": line })).await {
            console.error(&error.to_string());
        }
        Ok(())
    }

    /// Opens the stream of events, and tries again while the gateway starts anew.
    async fn open(&self) -> Result<EventStream, Stop> {
        let path = format!("/v1/events?session={}", path_part(&self.session));
        let mut tries = 0;
        loop {
            match self.client.events(&path, self.after).await {
                Err(ClientError::Unreachable { .. }) if tries < MAX_TRIES => {
                    tries += 1;
                    tokio::time::sleep(AGAIN).await;
                }
                opened => return opened.map_err(failed),
            }
        }
    }

    /// Shows an event. Returns true if a run may have ended.
    async fn ended(&self, id: i64) -> Result<Option<Ended>, Stop> {
        let path = format!("/v1/sessions/{}/inbox/{id}", path_part(&self.session));
        let outcome = self.client.get(&path).await.map_err(failed)?;
        let state = outcome["state"].as_str().unwrap_or_default();
        if !matches!(state, "answered" | "failed" | "cancelled") {
            return Ok(None);
        }
        let text = outcome["text"].as_str().or(outcome["reason"].as_str()).unwrap_or_default();
        Ok(Some(Ended { state: state.to_owned(), text: text.to_owned() }))
    }

    fn event(
        &mut self,
        event: &ServerEvent,
        show: &mut Show,
        console: &mut Console<'_>,
    ) -> Result<bool, Stop> {
        self.after = event.id.or(self.after);
        match event.kind.as_str() {
            "live" => {
                // One of a newer gateway may be unknown here.
                if let Ok(Observed { event: ObservedEvent::Run { event, .. }, .. }) =
                    serde_json::from_value(event.data.clone())
                {
                    show.event(&event, console)?;
                }
                Ok(false)
            }
            "ask.asked" => {
                if self.format == Format::Text {
                    let data = &event.data["data"];
                    let code = escape_line(data["code"].as_str().unwrap_or_default()).into_owned();
                    let title = data["title"].as_str().unwrap_or("a question");
                    console.note(&format!("? {code}  {}", escape_line(title)));
                    console.note(&format!("  /approve {code} or /deny {code}, also with `toolkit gateway`"));
                }
                Ok(false)
            }
            "run.ended" | "message.cancelled" => Ok(true),
            _ => Ok(false),
        }
    }

    fn shown(&self, ended: &Ended, show: &mut Show, console: &mut Console<'_>) -> Result<(), Stop> {
        if self.format == Format::Json {
            let line = json!({ "type": "ended", "state": ended.state, "text": ended.text });
            return console.print_json(&format!("{line}\n"));
        }
        match ended.state.as_str() {
            "answered" => show.answer(&ended.text, console),
            "cancelled" => {
                console.note("Cancelled; the session goes on.");
                Ok(())
            }
            _ => {
                console.error(&ended.text);
                Ok(())
            }
        }
    }
}

/// Waits for lines on the terminal; for ever without one.
async fn typed_lines(typed: &mut Option<Typed>) -> Vec<String> {
    match typed {
        Some(typed) => typed.lines().await,
        None => std::future::pending().await,
    }
}
