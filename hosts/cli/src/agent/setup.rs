//! The agent of the configuration, and the transcripts of its conversations.

use crate::exit::Stop;
use std::path::Path;
use toolkit::{Caller, Toolkit, text::escape_line};
use toolkit_agent::{Agent, AgentBuilder, AgentProfile, Limits, TranscriptError, Transcripts};
use toolkit_models::{ModelError, Models};

/// The directory of transcripts in the data directory.
const DIRECTORY: &str = "agents";
/// The word for the latest transcript of the workspace.
pub(crate) const LATEST: &str = "latest";

/// The agent that the configuration describes. The caller sets its approver.
pub(crate) fn builder(
    toolkit: &Toolkit,
    transcripts: &Transcripts,
    mut caller: Caller,
    max_turns: Option<u32>,
) -> Result<AgentBuilder, Stop> {
    let configuration = &toolkit.configuration();
    if let Some(agent) = &caller.agent {
        configuration.check_agent(agent).map_err(Stop::usage)?;
    }
    let models = Models::new(configuration).map_err(no_model)?;
    let settings = configuration.tool_agent();
    let model = match (&caller.model, &caller.agent) {
        (Some(model), _) => models.get(Some(model)),
        (None, Some(agent)) if configuration.agent(agent).model.is_some() => models.for_agent(agent),
        (None, _) => models.get(settings.model.as_deref()),
    };
    let model = model.map_err(no_model)?;
    caller.model = Some(model.name().to_owned());
    // A conversation is a session of its own.
    caller.session_id = None;
    let document = configuration.document();
    let is_named = |key: &str| document.pointer(&format!("/toolAgent/{key}")).is_some();
    let mut builder = Agent::builder(toolkit.clone(), model)
        .caller(caller)
        .settings(&settings)
        .transcripts(transcripts.clone());
    #[cfg(any(feature = "fs", feature = "runtime", feature = "web"))]
    {
        builder = builder.step_types(builtin_tools::step_types());
    }
    let mut limits = Limits::from(&settings);
    // A person watches: unless the configuration says otherwise, the limits are those of turns.
    if !is_named("maxToolCalls") {
        limits.max_tool_calls = None;
    }
    if !is_named("timeoutMs") {
        limits.timeout = None;
    }
    if let Some(turns) = max_turns {
        limits = limits.max_turns(turns);
    }
    builder = builder.limits(limits);
    for id in configuration.agents() {
        let name = configuration.agent(&id).name.unwrap_or_else(|| id.clone());
        let model = models.for_agent(&id).map_err(no_model)?;
        builder = builder.profile(id, AgentProfile::new(name).model(model));
    }
    Ok(builder)
}

/// A transcript and a message in it: `ID@MESSAGE`.
pub(super) fn place(text: &str) -> Result<(&str, Option<u64>), Stop> {
    let Some((id, message)) = text.split_once('@') else { return Ok((text, None)) };
    let number = message.parse().map_err(|_| {
        let message = escape_line(message);
        Stop::usage(format!("`{message}` is not the number of a message; `--messages={id}` lists them"))
    })?;
    Ok((id, Some(number)))
}

/// The id of a transcript: as it is given, or of the latest one.
pub(crate) fn named(id: &str, transcripts: &Transcripts, caller: &Caller) -> Result<String, Stop> {
    if id != LATEST {
        return Ok(id.to_owned());
    }
    let workspace = caller.workspace_dir();
    let latest = transcripts.latest(workspace);
    latest.map(|info| info.id).ok_or_else(|| {
        Stop::failed(format!("there is no transcript of the workspace {} yet", workspace.display()))
    })
}

pub(crate) fn transcripts(data_dir: Option<&Path>) -> Result<Transcripts, Stop> {
    let data_dir = data_dir.ok_or_else(|| {
        Stop::failed("there is no directory for transcripts: set `TOOLKIT_DATA_DIR`".to_owned())
    })?;
    Ok(Transcripts::new(data_dir.join(DIRECTORY)))
}

#[expect(clippy::needless_pass_by_value, reason = "the form of `map_err`")]
pub(crate) fn stop(error: TranscriptError) -> Stop {
    Stop::failed(error.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "the form of `map_err`")]
fn no_model(error: ModelError) -> Stop {
    Stop::cannot_start(error.to_string())
}
