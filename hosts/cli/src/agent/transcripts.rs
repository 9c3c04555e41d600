//! The transcripts that a command line names.

use crate::console::Console;
use crate::exit::Stop;
use std::path::Path;
use toolkit::{Caller, text::escape_line};
use toolkit_agent::{DamagedTranscript, TranscriptError, Transcripts};
use toolkit_host::transcripts_of;

/// The word for the latest transcript of the workspace.
pub(crate) const LATEST: &str = "latest";

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

/// Says that a transcript is damaged, and where its conversation goes on.
pub(crate) fn note_damage(damage: Option<&DamagedTranscript>, console: &mut Console<'_>) {
    if let Some(damage) = damage {
        console.error(&escape_line(&damage.to_string()));
    }
}

pub(crate) fn transcripts(data_dir: Option<&Path>) -> Result<Transcripts, Stop> {
    let data_dir = data_dir.ok_or_else(|| {
        Stop::failed("there is no directory for transcripts: set `TOOLKIT_DATA_DIR`".to_owned())
    })?;
    Ok(transcripts_of(data_dir))
}

#[expect(clippy::needless_pass_by_value, reason = "the form of `map_err`")]
pub(crate) fn stop(error: TranscriptError) -> Stop {
    Stop::failed(error.to_string())
}
