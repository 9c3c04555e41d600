//! From WAV to other formats, by programs of the system.

use super::wav::Wav;
use super::{MAX_AUDIO_BYTES, SpeechFormat};
use crate::program;
use std::path::PathBuf;
use std::time::Duration;
use toolkit::prelude::*;

/// Maximum time.
const WITHIN: Duration = Duration::from_mins(5);

/// A program that writes a format, with its arguments: from standard input to standard output.
type Encoder = (&'static str, &'static [&'static str]);

const MP3: &[Encoder] = &[
    (
        "ffmpeg",
        &[
            "-hide_banner",
            "-loglevel",
            "error",
            "-f",
            "wav",
            "-i",
            "pipe:0",
            "-f",
            "mp3",
            "-q:a",
            "4",
            "pipe:1",
        ],
    ),
    ("lame", &["--quiet", "-V", "4", "-", "-"]),
];
const OPUS: &[Encoder] = &[
    ("opusenc", &["--quiet", "--bitrate", "32", "-", "-"]),
    (
        "ffmpeg",
        &[
            "-hide_banner",
            "-loglevel",
            "error",
            "-f",
            "wav",
            "-i",
            "pipe:0",
            "-c:a",
            "libopus",
            "-b:a",
            "32k",
            "-f",
            "ogg",
            "pipe:1",
        ],
    ),
];

fn encoder(format: SpeechFormat) -> Option<(PathBuf, &'static [&'static str])> {
    let encoders = match format {
        SpeechFormat::Wav => return None,
        SpeechFormat::Mp3 => MP3,
        SpeechFormat::Opus => OPUS,
    };
    encoders.iter().find_map(|(name, arguments)| Some((program::find(name)?, *arguments)))
}

/// Returns true if a format can be written here.
pub(super) fn can(format: SpeechFormat) -> bool {
    format == SpeechFormat::Wav || encoder(format).is_some()
}

/// The programs that write a format, of which a person can install one.
pub(super) fn programs(format: SpeechFormat) -> &'static str {
    match format {
        SpeechFormat::Mp3 => "`ffmpeg` or `lame`",
        _ => "`opusenc` (the Debian package opus-tools) or `ffmpeg`",
    }
}

/// Fails where a format cannot be written here, and says what is missing.
pub(super) fn check(format: SpeechFormat) -> Result<(), ToolError> {
    if can(format) {
        return Ok(());
    }
    let packages = programs(format);
    Err(ToolError::unavailable(format!(
        "no program is installed that writes {}: use the format wav, or let a person install {packages}, or name an endpoint in \
         `tools.tts.providers`",
        format.name()
    )))
}

/// The audio in a format.
pub(super) async fn encoded(wav: &Wav, format: SpeechFormat) -> Result<Vec<u8>, ToolError> {
    check(format)?;
    let file = wav.write();
    let Some((program, arguments)) = encoder(format) else { return Ok(file) };
    let run = program::run(program, arguments, &file, MAX_AUDIO_BYTES as u64, WITHIN).await;
    run.map_err(|fault| {
        fault.tool_error(&format!("the audio was not written as {}", format.name()), "use the format wav")
    })
}
