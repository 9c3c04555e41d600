//! One session of an editor: a conversation, and the prompt that is under way.

use super::content::chunk;
use super::permission::Editor;
use super::replay::replay;
use super::rpc::Fault;
use super::unsaved;
use super::updates::Updates;
use super::{AcpAgent, AcpEnding, AcpSetup, Client, Link, SharedLink};
use crate::agent::{Agent, AgentBuilder};
use crate::conversations::{
    Conversation, ConversationOptions, Conversations, Ended, IncomingMessage, Mode, Receipt,
};
use crate::events::AgentEvent;
use crate::prompt::FinalAnswer;
use crate::request::DelegationRequest;
use crate::result::StopReason;
use crate::transcript::{Damage, Record, TranscriptError, Transcripts, new_id};
use serde_json::{Value, json};
use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The id of a mode in the protocol.
fn id_of(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "ask",
        Mode::ReadOnly => "read-only",
        Mode::Auto => "auto",
    }
}

fn to_json(mode: Mode) -> Value {
    let (name, description) = match mode {
        Mode::Ask => ("Ask", "Asks for approval as configured"),
        Mode::ReadOnly => ("Read only", "Allows read-only tools only"),
        Mode::Auto => ("Auto", "Approves without asking, as `toolAgent.autoConfirmDangerous` allows"),
    };
    json!({"id": id_of(mode), "name": name, "description": description})
}

/// A session that is open: a conversation in which the editor waits for the end of each prompt.
pub(super) struct Session {
    /// The id by which the editor knows it: that of its transcript, or of a damaged one of which this is a fork.
    id: String,
    link: SharedLink,
    conversation: Conversation,
    /// The list that it is in.
    conversations: Conversations,
    /// The request of the prompt that is under way, and its message.
    running: Mutex<Option<(Value, String)>>,
    ending: Mutex<Option<Ending>>,
}

/// The longest id of a message that an editor gives.
const MAX_MESSAGE_ID_BYTES: usize = 256;

/// A prompt that was taken.
pub(super) struct Sent {
    /// The id of its message, if the editor gave it.
    message: Option<String>,
    receipt: Receipt,
}

/// The time for the end of a session.
const END: Duration = Duration::from_secs(5);

/// The work that is left for the end of a session.
pub(super) struct Ending {
    at_end: Option<AcpEnding>,
    /// Dropped last.
    until_end: Option<Box<dyn Any + Send>>,
}

impl Ending {
    pub(super) fn of(opened: AcpAgent) -> (AgentBuilder, Self) {
        let AcpAgent { agent, until_end, at_end } = opened;
        (agent, Self { at_end, until_end })
    }

    pub(super) async fn run(self) {
        if let Some(end) = self.at_end
            && tokio::time::timeout(END, end()).await.is_err()
        {
            tracing::warn!(target: "toolkit::agent", "the end of an editor's session took more than {END:?}");
        }
        drop(self.until_end);
    }
}

/// The beginning of a session: new, or from a transcript.
#[derive(Debug, Clone)]
pub(super) enum Start {
    New,
    /// From a transcript, whose messages are shown again.
    Load(String),
    Resume(String),
}

impl Session {
    pub(super) async fn open(
        setup: &AcpSetup,
        agent: AgentBuilder,
        client: &Client,
        transcripts: &Transcripts,
        conversations: &Conversations,
        start: Start,
    ) -> Result<Self, Fault> {
        let link = Arc::new(Link {
            client: client.clone(),
            session: OnceLock::new(),
            updates: Mutex::new(Updates::new(setup.workspace.clone())),
        });
        let agent = agent
            .transcripts(transcripts.clone())
            .approver(Editor::new(Arc::clone(&link)))
            .change_hook(unsaved::guard(Arc::clone(&link)))
            .final_answer(FinalAnswer::Text)
            .build();
        // Files are read on another thread: this one serves the editor.
        let opening = {
            let (agent, transcripts) = (agent.clone(), transcripts.clone());
            move || opened(&agent, &transcripts, start)
        };
        let opened = tokio::task::spawn_blocking(opening).await;
        let opened = opened.map_err(|error| Fault::new(Fault::INTERNAL, error.to_string()))?;
        let Opened { session, id, records } = opened.map_err(|error| fault(&error))?;
        // It is set here alone.
        let _ = link.session.set(id.clone());
        for update in replay(&records, &agent.0) {
            link.update(&update);
        }
        if let Some(damage) = session.damage() {
            tracing::warn!(target: "toolkit::agent", "{damage}");
            link.update(&chunk("agent_message_chunk", &format!("[{damage}.]\n\n")));
        }
        // The editor begins each run: one that a crash interrupted waits for the next prompt.
        let options = ConversationOptions::new().wakes(false).resumes(false);
        let conversation = conversations
            .open(id.clone(), session, options)
            .map_err(|error| Fault::new(Fault::REQUEST, error.to_string()))?;
        conversation.observe_with({
            let link = Arc::clone(&link);
            move |event: AgentEvent| {
                let update = link.updates().event(&event);
                if let Some(update) = update {
                    link.update(&update);
                }
            }
        });
        let conversations = conversations.clone();
        Ok(Self {
            id,
            link,
            conversation,
            conversations,
            running: Mutex::default(),
            ending: Mutex::default(),
        })
    }

    pub(super) fn set_ending(&self, ending: Ending) {
        *self.ending.lock().unwrap_or_else(PoisonError::into_inner) = Some(ending);
    }

    /// Cancels what runs, and ends the session.
    pub(super) async fn end(&self) {
        // The list would hold its agent, and with it the toolkit.
        self.conversations.end(self.id()).await;
        let ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ending) = ending {
            ending.run().await;
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The modes, and the present one.
    pub(super) fn modes(&self) -> Value {
        let modes: Vec<Value> = self.conversation.modes().into_iter().map(to_json).collect();
        json!({"currentModeId": id_of(self.conversation.mode()), "availableModes": modes})
    }

    /// Sets the mode, from the next prompt on.
    pub(super) fn set_mode(&self, id: &str) -> Result<(), Fault> {
        let offered = self.conversation.modes();
        let found = offered.iter().copied().find(|mode| id_of(*mode) == id);
        let Some(mode) = found.filter(|mode| self.conversation.set_mode(*mode)) else {
            let offered: Vec<_> = offered.into_iter().map(|mode| format!("`{}`", id_of(mode))).collect();
            let offered = offered.join(", ");
            return Err(Fault::params(format!("there is no such mode; there are {offered}")));
        };
        self.link.update(&json!({"sessionUpdate": "current_mode_update", "currentModeId": id_of(mode)}));
        Ok(())
    }

    /// Takes up a prompt, unless another one is under way. One that is sent again with the id of its message, as after a crash, is not done twice:
    /// its run goes on, or its answer is known.
    pub(super) fn begin(
        &self,
        request: &Value,
        task: DelegationRequest,
        message: Option<String>,
    ) -> Result<Sent, Fault> {
        if message.as_ref().is_some_and(|id| id.is_empty() || id.len() > MAX_MESSAGE_ID_BYTES) {
            let message = format!("`messageId` is empty or longer than {MAX_MESSAGE_ID_BYTES} bytes");
            return Err(Fault::params(message));
        }
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_some() {
            return Err(Fault::new(
                Fault::REQUEST,
                "a prompt is under way in this session; wait for its end, or cancel it with `session/cancel`",
            ));
        }
        let id = message.clone().unwrap_or_else(new_id);
        let sent = self.conversation.send(IncomingMessage::of(id.clone(), task));
        let receipt = sent.map_err(|error| Fault::new(Fault::REQUEST, error.to_string()))?;
        *running = Some((request.clone(), id));
        Ok(Sent { message, receipt })
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Cancels the prompt that is under way, or only the one of this request.
    pub(super) fn cancel(&self, request: Option<&Value>) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((id, message)) = &*running
            && request.is_none_or(|request| request == id)
        {
            self.conversation.cancel_message(message);
        }
    }

    /// Ends the prompt that is under way as a crash would: sent again, it goes on.
    pub(super) fn interrupt(&self) {
        self.conversation.interrupt();
    }

    /// Waits for the end of a prompt.
    pub(super) async fn prompt(&self, sent: Sent) -> Result<Value, Fault> {
        let Sent { message, receipt } = sent;
        let ended = receipt.clone().ended().await;
        // Before the answer: the next prompt may follow at once.
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let Some(Ended { result, .. }) = ended else {
            if receipt.is_consumed().await {
                if self.conversation.has_ended() {
                    return Err(Fault::new(
                        Fault::INTERNAL,
                        "the prompt was interrupted, since the agent ends; load the session and send the prompt again with its `messageId`, so that it goes on",
                    ));
                }
                return Err(Fault::new(
                    Fault::REQUEST,
                    "an earlier prompt with this `messageId` was taken up, and its end is not known any more; load the session to see what came of it",
                ));
            }
            // It was cancelled before it began.
            return Ok(stopped("cancelled", message));
        };
        let stop_reason = match result.stop_reason {
            StopReason::Answered | StopReason::Finished | StopReason::NoFinalAnswer => "end_turn",
            StopReason::Cancelled => "cancelled",
            StopReason::Refused => "refusal",
            StopReason::MaxTokens | StopReason::MaxCost | StopReason::Budget | StopReason::ContextFull => {
                "max_tokens"
            }
            StopReason::MaxTurns | StopReason::MaxToolCalls | StopReason::Timeout | StopReason::Loop => {
                "max_turn_requests"
            }
            StopReason::ModelError | StopReason::TranscriptError => {
                return Err(Fault::new(Fault::INTERNAL, result.summary.clone()));
            }
        };
        if !matches!(result.stop_reason, StopReason::Answered | StopReason::Cancelled) {
            self.link.update(&chunk("agent_message_chunk", &format!("\n\n[{}]", result.summary)));
        }
        Ok(stopped(stop_reason, message))
    }
}

/// A session of the library that was opened, and the records to show.
struct Opened {
    session: crate::session::Session,
    id: String,
    records: Vec<Record>,
}

/// Opens a session. Blocks.
fn opened(agent: &Agent, transcripts: &Transcripts, start: Start) -> Result<Opened, TranscriptError> {
    let (session, id, is_shown) = match start {
        Start::New => {
            let session = agent.session(&DelegationRequest::default())?;
            let id = session.id().to_owned();
            (session, id, false)
        }
        Start::Load(id) => (agent.resume_or_fork(&id)?, id, true),
        Start::Resume(id) => (agent.resume_or_fork(&id)?, id, false),
    };
    let records =
        if is_shown { transcripts.load_history(session.id(), Damage::Refuse)?.records } else { Vec::new() };
    Ok(Opened { session, id, records })
}

/// The answer to a prompt.
fn stopped(reason: &str, message: Option<String>) -> Value {
    match message {
        Some(message) => json!({"stopReason": reason, "userMessageId": message}),
        None => json!({"stopReason": reason}),
    }
}

fn fault(error: &TranscriptError) -> Fault {
    let code = match error {
        TranscriptError::Unknown { .. } => Fault::NOT_FOUND,
        _ => Fault::INTERNAL,
    };
    Fault::new(code, error.to_string())
}
