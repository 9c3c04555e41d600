//! The agent of the configuration, and the transcripts of its conversations.

use crate::error::HostError;
use crate::models::AgentModels;
use std::path::Path;
use toolkit::{Builder, Caller, Toolkit, config::Configuration};
use toolkit_agent::{Agent, AgentBuilder, AgentProfile, Checkpoints, Limits, ToolAgentSettings, Transcripts};
use toolkit_models::Meter;

/// The directory of transcripts in the data directory.
const DIRECTORY: &str = "agents";

/// Options of an agent besides the configuration: see [`Host::agent`](crate::Host::agent).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentOptions {
    /// Maximum number of model answers of a run; 100 by default.
    pub max_turns: Option<u32>,
    /// True if a person watches the runs: calls and time are then limited only if the configuration limits them.
    pub watched: bool,
    /// True if the agent works in the workspace of the caller, also where the configuration names another for it.
    pub in_workspace_of_caller: bool,
}

impl AgentOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of model answers of a run.
    #[must_use]
    pub fn max_turns(self, max_turns: impl Into<Option<u32>>) -> Self {
        Self { max_turns: max_turns.into(), ..self }
    }

    /// Has the agent work in the workspace of the caller, also where the configuration names another for it.
    #[must_use]
    pub fn in_workspace_of_caller(self) -> Self {
        Self { in_workspace_of_caller: true, ..self }
    }

    /// States that a person watches the runs.
    #[must_use]
    pub fn watched(self) -> Self {
        Self { watched: true, ..self }
    }
}

/// Returns the transcripts in a data directory.
pub fn transcripts_of(data_dir: &Path) -> Transcripts {
    Transcripts::new(data_dir.join(DIRECTORY))
}

/// Returns the toolkit as an agent needs it: it keeps copies of the files that runs change.
pub(crate) fn prepare(toolkit: Builder, transcripts: Option<&Transcripts>) -> Builder {
    let toolkit = toolkit.uses_section(ToolAgentSettings::SECTION);
    match transcripts {
        Some(transcripts) => toolkit.change_hook(Checkpoints::new(transcripts.clone()).hook()),
        None => toolkit,
    }
}

/// Returns the agent that the configuration describes.
pub(crate) fn builder(
    toolkit: &Toolkit,
    transcripts: Option<&Transcripts>,
    meter: &Meter,
    models: &AgentModels,
    mut caller: Caller,
    options: AgentOptions,
) -> Result<AgentBuilder, HostError> {
    let configuration = &toolkit.configuration();
    if let Some(agent) = &caller.agent {
        configuration.check_agent(agent).map_err(HostError::UnknownAgent)?;
    }
    let models = models.of(configuration)?;
    let settings = ToolAgentSettings::of(configuration);
    let model = match (&caller.model, &caller.agent) {
        (Some(model), _) => models.get(Some(model)),
        (None, Some(agent)) if configuration.agent(agent).model.is_some() => models.for_agent(agent),
        (None, _) => models.get(settings.model.as_deref()),
    }?;
    caller.model = Some(model.name().to_owned());
    if let Some(agent) = caller.agent.as_ref().filter(|_| !options.in_workspace_of_caller)
        && let Some(workspace) = configuration.agent(agent).workspace
    {
        if !workspace.is_dir() {
            return Err(HostError::NoWorkspace { agent: agent.clone(), workspace });
        }
        caller = caller.with_workspace(workspace);
    }
    // A conversation is a session of its own.
    caller.session_id = None;
    let mut builder =
        Agent::builder(toolkit.clone(), model).caller(caller).settings(&settings).meter(meter.clone());
    if let Some(transcripts) = transcripts {
        builder = builder.transcripts(transcripts.clone());
    }
    #[cfg(any(feature = "fs", feature = "runtime", feature = "web"))]
    {
        builder = builder.step_types(builtin_tools::step_types());
    }
    builder = builder.limits(limits(configuration, options));
    for id in configuration.agents() {
        let name = configuration.agent(&id).name.unwrap_or_else(|| id.clone());
        let model = models.for_agent(&id)?;
        builder = builder.profile(id, AgentProfile::new(name).model(model));
    }
    Ok(builder)
}

/// Returns the limits of a run.
fn limits(configuration: &Configuration, options: AgentOptions) -> Limits {
    let mut limits = Limits::from(&ToolAgentSettings::of(configuration));
    if options.watched {
        let document = configuration.document();
        let is_named = |key: &str| document.pointer(&format!("/toolAgent/{key}")).is_some();
        if !is_named("maxToolCalls") {
            limits.max_tool_calls = None;
        }
        if !is_named("timeoutMs") {
            limits.timeout = None;
        }
    }
    match options.max_turns {
        Some(turns) => limits.max_turns(turns),
        None => limits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use toolkit::config::LoadOptions;

    /// The limits of calls and of time.
    fn of(set: &[&str], options: AgentOptions) -> (Option<u32>, Option<Duration>) {
        let load = set.iter().fold(LoadOptions::new(), |load, set| load.set(*set));
        let limits = limits(&Configuration::load(load).unwrap(), options);
        (limits.max_tool_calls, limits.timeout)
    }

    #[test]
    fn runs_that_a_person_watches_have_configured_limits_alone() {
        let (calls, timeout) = of(&[], AgentOptions::new());
        assert!(calls.is_some() && timeout.is_some());
        assert_eq!(of(&[], AgentOptions::new().watched()), (None, None));
        let of_calls = of(&["toolAgent.maxToolCalls=3"], AgentOptions::new().watched());
        assert_eq!(of_calls, (Some(3), None));
        let of_time = of(&["toolAgent.timeoutMs=5000"], AgentOptions::new().watched());
        assert_eq!(of_time, (None, Some(Duration::from_secs(5))));
    }
}
