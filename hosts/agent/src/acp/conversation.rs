//! One session of an editor: its agent, its mode, and the prompt that is under way.

use super::content::chunk;
use super::permission::Editor;
use super::replay::replay;
use super::rpc::Fault;
use super::updates::Updates;
use super::{AcpAgent, AcpEnding, AcpSetup, Client, Link, SharedLink};
use crate::agent::{Agent, AgentBuilder, Inner};
use crate::prompt::FinalAnswer;
use crate::request::DelegationRequest;
use crate::result::{StopReason, ToolAgentResult};
use crate::session::{RunOptions, Session};
use crate::transcript::{TranscriptError, Transcripts};
use serde_json::{Value, json};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use toolkit::CancellationToken;

/// How calls are approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The person is asked.
    Ask,
    /// Only tools that read are there.
    Read,
    /// Questions to a person are answered with yes, because the configuration says so.
    Auto,
}

impl Mode {
    const ALL: [Self; 3] = [Self::Ask, Self::Read, Self::Auto];

    fn id(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Read => "read-only",
            Self::Auto => "auto",
        }
    }

    fn to_json(self) -> Value {
        let (name, description) = match self {
            Self::Ask => ("Ask", "Asks for approval as configured"),
            Self::Read => ("Read only", "Allows read-only tools only"),
            Self::Auto => ("Auto", "Approves without asking, as `toolAgent.autoConfirmDangerous` allows"),
        };
        json!({"id": self.id(), "name": name, "description": description})
    }
}

/// A session that is open.
pub(super) struct Conversation {
    link: SharedLink,
    /// The agent in its first mode.
    agent: Agent,
    session: tokio::sync::Mutex<Session>,
    mode: Mutex<Mode>,
    /// The token of the prompt that is under way.
    running: Mutex<Option<(Value, CancellationToken)>>,
    ending: Mutex<Option<Ending>>,
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
#[derive(Debug, Clone, Copy)]
pub(super) enum Start<'a> {
    New,
    /// From a transcript, whose messages are shown again.
    Load(&'a str),
    Resume(&'a str),
}

impl Conversation {
    pub(super) fn open(
        setup: &AcpSetup,
        agent: AgentBuilder,
        client: &Client,
        transcripts: &Transcripts,
        start: Start<'_>,
    ) -> Result<Self, Fault> {
        let link = Arc::new(Link {
            client: client.clone(),
            session: Arc::clone(&setup.unsaved.session),
            updates: Mutex::new(Updates::new(setup.workspace.clone())),
        });
        let agent = agent
            .transcripts(transcripts.clone())
            .approver(Editor::new(Arc::clone(&link)))
            .final_answer(FinalAnswer::Text)
            .build();
        let session = match start {
            Start::New => agent.session(&DelegationRequest::default()),
            Start::Load(id) | Start::Resume(id) => agent.resume(id),
        };
        let session = session.map_err(|error| fault(&error))?;
        // It is set here alone.
        let _ = link.session.set(session.id().to_owned());
        if let Start::Load(id) = start {
            let records = transcripts.load(id).map_err(|error| fault(&error))?.records;
            for update in replay(&records, &agent.0) {
                link.update(&update);
            }
        }
        let mode = if agent.0.auto_confirm { Mode::Auto } else { Mode::Ask };
        Ok(Self {
            link,
            agent,
            session: tokio::sync::Mutex::new(session),
            mode: Mutex::new(mode),
            running: Mutex::default(),
            ending: Mutex::default(),
        })
    }

    pub(super) fn set_ending(&self, ending: Ending) {
        *self.ending.lock().unwrap_or_else(PoisonError::into_inner) = Some(ending);
    }

    /// Cancels what runs, and ends the session.
    pub(super) async fn end(&self) {
        self.cancel(None);
        let ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ending) = ending {
            ending.run().await;
        }
    }

    pub(super) fn id(&self) -> &str {
        self.link.session.get().map_or("", String::as_str)
    }

    /// The modes, and the present one.
    pub(super) fn modes(&self) -> Value {
        let modes: Vec<Value> = self.offered().map(Mode::to_json).collect();
        json!({"currentModeId": self.mode().id(), "availableModes": modes})
    }

    fn offered(&self) -> impl Iterator<Item = Mode> {
        let may_confirm = self.agent.0.auto_confirm;
        Mode::ALL.into_iter().filter(move |mode| *mode != Mode::Auto || may_confirm)
    }

    fn mode(&self) -> Mode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the mode, from the next prompt on.
    pub(super) fn set_mode(&self, id: &str) -> Result<(), Fault> {
        let Some(mode) = self.offered().find(|mode| mode.id() == id) else {
            let offered: Vec<_> = self.offered().map(|mode| format!("`{}`", mode.id())).collect();
            let offered = offered.join(", ");
            return Err(Fault::params(format!("there is no such mode; there are {offered}")));
        };
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
        self.link.update(&json!({"sessionUpdate": "current_mode_update", "currentModeId": mode.id()}));
        Ok(())
    }

    /// Takes up a prompt, unless another one is under way.
    pub(super) fn begin(&self, request: &Value) -> Result<CancellationToken, Fault> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_some() {
            return Err(Fault::new(
                Fault::REQUEST,
                "a prompt is under way in this session; wait for its end, or cancel it with `session/cancel`",
            ));
        }
        let token = CancellationToken::new();
        *running = Some((request.clone(), token.clone()));
        Ok(token)
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Cancels the prompt that is under way, or only the one of this request.
    pub(super) fn cancel(&self, request: Option<&Value>) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((id, token)) = &*running
            && request.is_none_or(|request| request == id)
        {
            token.cancel();
        }
    }

    /// Does a prompt to its end.
    pub(super) async fn prompt(
        &self,
        task: DelegationRequest,
        cancel: CancellationToken,
    ) -> Result<Value, Fault> {
        let result = self.run(task, cancel).await;
        // Before the answer: the next prompt may follow at once.
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let stop_reason = match result.stop_reason {
            StopReason::Answered | StopReason::Finished | StopReason::NoFinalAnswer => "end_turn",
            StopReason::Cancelled => "cancelled",
            StopReason::Refused => "refusal",
            StopReason::MaxTokens | StopReason::MaxCost | StopReason::ContextFull => "max_tokens",
            StopReason::MaxTurns | StopReason::MaxToolCalls | StopReason::Timeout | StopReason::Loop => {
                "max_turn_requests"
            }
            StopReason::ModelError | StopReason::TranscriptError => {
                return Err(Fault::new(Fault::INTERNAL, result.summary));
            }
        };
        if !matches!(result.stop_reason, StopReason::Answered | StopReason::Cancelled) {
            self.link.update(&chunk("agent_message_chunk", &format!("\n\n[{}]", result.summary)));
        }
        Ok(json!({"stopReason": stop_reason}))
    }

    async fn run(&self, task: DelegationRequest, cancel: CancellationToken) -> ToolAgentResult {
        let mut session = self.session.lock().await;
        let agent = tokio::select! {
            biased;
            agent = self.agent_of(self.mode()) => agent,
            () = cancel.cancelled() => self.agent.clone(),
        };
        session.set_agent(agent);
        let link = Arc::clone(&self.link);
        let options = RunOptions::new().cancel(cancel).observer(move |event| {
            let update = link.updates().event(&event);
            if let Some(update) = update {
                link.update(&update);
            }
        });
        session.run(task, options).await
    }

    /// The agent in a mode.
    async fn agent_of(&self, mode: Mode) -> Agent {
        let mut inner = Inner::clone(&self.agent.0);
        inner.auto_confirm = mode == Mode::Auto;
        if mode == Mode::Read {
            let toolbox = inner.toolkit.toolbox(&inner.caller).await;
            let only_reads = |tool: &&toolkit::Tool| {
                // Annotations of a remote tool are not trusted.
                tool.annotations().read_only_hint && !tool.source().is_remote()
            };
            let names = toolbox.tools().filter(only_reads).map(|tool| tool.name().to_owned());
            inner.within = Some(Arc::new(names.collect()));
        }
        Agent(Arc::new(inner))
    }
}

fn fault(error: &TranscriptError) -> Fault {
    let code = match error {
        TranscriptError::Unknown { .. } => Fault::NOT_FOUND,
        _ => Fault::INTERNAL,
    };
    Fault::new(code, error.to_string())
}
