//! An agent: a model, a toolkit, and how they work together.

use crate::context::ContextSettings;
use crate::ledger::{Ledger, SubAgentPlace};
use crate::limits::{Limits, OpenQuestions};
use crate::loop_tools::LoopTools;
use crate::profile::AgentProfile;
use crate::prompt::{FinalAnswer, Prompt, instructions_of};
use crate::settings::ToolAgentSettings;
use crate::transcript::Transcripts;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use toolkit::{Approver, Caller, Tool, ToolCall, ToolError, Toolkit, files::FileChange, views::StepTypes};
use toolkit_models::{IntoModel, Meter, Model, Thinking, ToolOutput};

/// An agent: does tasks with a model and the tools of a toolkit. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
/// use serde_json::json;
/// use toolkit::{ToolCall, Toolkit};
/// use toolkit_agent::{Agent, DelegationRequest, Observer};
/// use toolkit_models::{Answer, Scripted};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
/// let toolkit = Toolkit::empty().build()?;
/// // In place of a real model.
/// let finish = ToolCall::new("1", "finish", json!({ "success": true, "summary": "There was nothing to do." }));
/// let model = Scripted::new([Answer::calls([finish])]);
///
/// let agent = Agent::builder(toolkit, Arc::new(model)).build();
/// let result = agent.run(DelegationRequest::new("Do nothing"), Observer::none()).await;
/// assert!(result.success);
/// assert_eq!(result.summary, "There was nothing to do.");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Agent(pub(crate) Arc<Inner>);

/// A hook for changes of files, as [`AgentBuilder::change_hook`] sets it.
type ChangeHook = dyn Fn(&FileChange<'_>) -> Result<(), ToolError> + Send + Sync;

#[derive(Clone)]
pub(crate) struct Inner {
    pub(crate) toolkit: Toolkit,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) caller: Caller,
    pub(crate) limits: Limits,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) change_hook: Option<Arc<ChangeHook>>,
    pub(crate) auto_confirm: bool,
    pub(crate) transcripts: Option<Transcripts>,
    pub(crate) step_types: StepTypes,
    pub(crate) instructions: Vec<String>,
    /// Reads the user's own instructions.
    pub(crate) of_user: bool,
    /// Goes on with transcripts of other workspaces.
    pub(crate) moves: bool,
    pub(crate) profiles: Arc<BTreeMap<String, AgentProfile>>,
    pub(crate) context: ContextSettings,
    pub(crate) final_answer: FinalAnswer,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) temperature: Option<f32>,
    pub(crate) loop_tools: LoopTools,
    pub(crate) meter: Meter,
    /// The tools that it may use, of those that its caller may; all where `None`.
    pub(crate) within: Option<Arc<BTreeSet<String>>>,
    /// Returns true for the tools that it may use, of those.
    pub(crate) admits: Option<Admits>,
    /// Finds results of calls that were interrupted.
    pub(crate) recovery: Option<Recovery>,
    /// The questions of all agents of one run.
    pub(crate) questions: OpenQuestions,
    /// The run of the agent that delegated.
    pub(crate) parent: Option<ParentRun>,
}

/// Returns true for a tool that an agent may use.
pub(crate) type Admits = Arc<dyn Fn(&Tool) -> bool + Send + Sync>;

/// Finds the result of a call of a turn that had begun when the program ended.
pub(crate) type Recovery = Arc<dyn Fn(&str, &ToolCall) -> Result<Option<ToolOutput>, String> + Send + Sync>;

impl Inner {
    /// Returns the result of a call of a turn that was interrupted, if the host knows it. Blocks.
    pub(crate) fn recovered(&self, turn: &str, call: &ToolCall) -> Result<Option<ToolOutput>, String> {
        self.recovery.as_ref().map_or(Ok(None), |recovery| recovery(turn, call))
    }
}

/// The run of the agent that delegated, as far as its sub-agent refers to it.
#[derive(Clone)]
pub(crate) struct ParentRun {
    pub(crate) transcript: String,
    pub(crate) turn: u32,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) place: Arc<SubAgentPlace>,
}

/// Puts an [`Agent`] together.
#[derive(Clone)]
pub struct AgentBuilder(Inner);

macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $type:ty;)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: $type) -> Self {
            self.0.$field = $field;
            self
        })*
    };
}

impl AgentBuilder {
    setters! {
        /// Sets on whose behalf tools are called: workspace, agent, channel, depth.
        caller: Caller;
        /// Sets the limits of each run.
        limits: Limits;
        /// Allows without a question what a person would be asked to approve. A deny stays a deny, and questions about sensitive or
        /// protected paths go to the approver. Off by default.
        auto_confirm: bool;
        /// Sets which steps the calls are shown as.
        step_types: StepTypes;
        /// Sets how the conversation is kept within the context window.
        context: ContextSettings;
        /// Sets how the final answer is given.
        final_answer: FinalAnswer;
        /// Sets the meter that the requests of this agent and of its sub-agents go through: their accounts are those of the caller and of
        /// the callers above it ([`Scope::of`](toolkit_models::Scope::of)). With the meter of the host, requests of tools to models count
        /// against the limits of the run, too. By default the agent has a meter of its own, without budgets.
        meter: Meter;
    }

    /// Sets who is asked for approval in the runs of this agent, instead of the toolkit's approver.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.0.approver = Some(Arc::new(approver));
        self
    }

    /// Has a hook see what a file has before a tool changes it in a run of this agent or of its sub-agents, before the hooks of the toolkit: see
    /// [`CallOptions::change_hook`](toolkit::CallOptions::change_hook).
    #[must_use]
    pub fn change_hook(
        mut self,
        hook: impl Fn(&FileChange<'_>) -> Result<(), ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.0.change_hook = Some(Arc::new(hook));
        self
    }

    /// Offers the agent and its sub-agents only the tools for which `admits` returns true, of those that the caller may use; others are unknown
    /// to them. It does not hold for calls that tools make themselves: see [`Inspector`](toolkit::inspection::Inspector).
    #[must_use]
    pub fn tools(mut self, admits: impl Fn(&Tool) -> bool + Send + Sync + 'static) -> Self {
        self.0.admits = Some(Arc::new(admits));
        self
    }

    /// Has a function look for the result of a call that had begun when a crash, or an interruption, ended its run: where it finds none, the model is
    /// told that the call was interrupted. It gets the [turn](toolkit::CallOptions::turn) and the call, and may block: for a host whose tools store
    /// what they do under these names. Where it cannot look, its error says why, and the session is not opened: see
    /// [`TranscriptError::Unrecovered`](crate::TranscriptError::Unrecovered).
    #[must_use]
    pub fn recovery(
        mut self,
        recovery: impl Fn(&str, &ToolCall) -> Result<Option<ToolOutput>, String> + Send + Sync + 'static,
    ) -> Self {
        self.0.recovery = Some(Arc::new(recovery));
        self
    }

    /// Keeps transcripts in a directory, so that runs can be resumed. Without it nothing is kept.
    #[must_use]
    pub fn transcripts(mut self, transcripts: Transcripts) -> Self {
        self.0.transcripts = Some(transcripts);
        self
    }

    /// Adds instructions to the system prompt.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.0.instructions.push(instructions.into());
        self
    }

    /// Leaves the user's own `AGENTS.md` out of the system prompt, as for an agent that other people talk to. That of a trusted workspace stays.
    #[must_use]
    pub fn without_instructions_of_user(mut self) -> Self {
        self.0.of_user = false;
        self
    }

    /// Goes on with transcripts that began in another workspace, as after its directory has moved: relative paths in them mean the present
    /// one. By default that is [an error](crate::TranscriptError::OtherWorkspace).
    #[must_use]
    pub fn in_any_workspace(mut self) -> Self {
        self.0.moves = true;
        self
    }

    /// Adds an agent that tasks can be delegated to.
    #[must_use]
    pub fn profile(mut self, name: impl Into<String>, profile: AgentProfile) -> Self {
        Arc::make_mut(&mut self.0.profiles).insert(name.into(), profile);
        self
    }

    /// Sets how much the model reasons.
    #[must_use]
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.0.thinking = Some(thinking);
        self
    }

    /// Sets the sampling temperature.
    #[must_use]
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.0.temperature = Some(temperature);
        self
    }

    /// Applies `toolAgent` of the configuration: the limits of calls, time, tokens, cost and sub-agents, and whether dangerous commands
    /// are confirmed automatically. `providerId` and `model` are for whoever chooses the model.
    #[must_use]
    pub fn settings(mut self, settings: &ToolAgentSettings) -> Self {
        let Limits { max_turns, max_depth, .. } = self.0.limits;
        self.0.limits = Limits { max_turns, max_depth, ..Limits::from(settings) };
        self.0.auto_confirm = settings.auto_confirm_dangerous;
        self
    }

    /// Makes the agent.
    pub fn build(mut self) -> Agent {
        if self.0.caller.model.is_none() {
            self.0.caller.model = Some(self.0.model.name().to_owned());
        }
        if self.0.auto_confirm {
            // Tools that only a person could approve are there all the same.
            self.0.caller.unattended = None;
        }
        self.0.loop_tools = LoopTools::new(&self.0.profiles);
        Agent(Arc::new(self.0))
    }
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder").field("model", &self.0.model.name()).finish_non_exhaustive()
    }
}

impl Agent {
    /// Starts an agent of a toolkit and a model.
    pub fn builder(toolkit: Toolkit, model: impl IntoModel) -> AgentBuilder {
        AgentBuilder(Inner {
            toolkit,
            model: model.into_model(),
            caller: Caller::new(),
            limits: Limits::default(),
            approver: None,
            change_hook: None,
            auto_confirm: false,
            transcripts: None,
            step_types: StepTypes::new(),
            instructions: Vec::new(),
            of_user: true,
            moves: false,
            profiles: Arc::default(),
            context: ContextSettings::default(),
            final_answer: FinalAnswer::default(),
            thinking: None,
            temperature: None,
            loop_tools: LoopTools::new(&BTreeMap::new()),
            meter: Meter::new(),
            within: None,
            admits: None,
            recovery: None,
            questions: OpenQuestions::new(),
            parent: None,
        })
    }

    /// The directory that paths belong to.
    pub(crate) fn workspace(&self) -> PathBuf {
        let workspace = self.0.toolkit.workspace_of(&self.0.caller);
        std::path::absolute(&workspace).unwrap_or(workspace)
    }

    /// The system prompt.
    pub(crate) fn system(&self) -> String {
        let workspace = self.workspace();
        let mut instructions = instructions_of(&self.0.toolkit.configuration(), &workspace, self.0.of_user);
        instructions.extend(self.0.instructions.iter().cloned());
        let prompt = Prompt {
            workspace: &workspace,
            final_answer: self.0.final_answer,
            instructions: &instructions,
            depth: self.0.caller.depth,
        };
        prompt.text()
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("model", &self.0.model.name()).finish_non_exhaustive()
    }
}
