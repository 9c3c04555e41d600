//! Speech by `espeak-ng`, on this machine.

use super::wav::Wav;
use super::{MAX_AUDIO_BYTES, Speech, SpeechFormat, encode, join, sentences, tell};
use crate::program::{self, Fault};
use std::path::PathBuf;
use std::time::Duration;
use toolkit::ToolErrorKind;
use toolkit::prelude::*;

/// Maximum number of characters of a piece. Between two pieces, a call reports progress and can be cancelled.
const PIECE_CHARS: usize = 4_000;
/// Maximum time for a piece.
const WITHIN: Duration = Duration::from_mins(1);
/// The voice where none is named.
const VOICE: &str = "en";

fn program() -> Result<PathBuf, ToolError> {
    program::find("espeak-ng").ok_or_else(|| {
        ToolError::unavailable(
            "no speech program is installed: a person has to install `espeak-ng` (the Debian package of this name), \
             or name an endpoint in `tools.tts.providers`",
        )
    })
}

/// Returns a text that is spoken as it is written: espeak-ng would speak the names of some control characters, stop at the first NUL, and
/// read what follows `[[` as phonemes.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '[' && plain.ends_with('[') {
            plain.push(' ');
        }
        plain.push(if c.is_control() && c != '\n' && c != '\t' { ' ' } else { c });
    }
    plain
}

/// Fails early where the text could not be spoken in a format.
pub(super) fn check(format: SpeechFormat) -> Result<(), ToolError> {
    program()?;
    encode::check(format)
}

/// Speaks a text, piece by piece.
pub(super) async fn speak(
    ctx: &ToolContext,
    text: &str,
    voice: Option<&str>,
    format: SpeechFormat,
) -> Result<Speech, ToolError> {
    let (program, voice) = (program()?, voice.unwrap_or(VOICE));
    let text = plain(text);
    let pieces = sentences::pieces(&text, PIECE_CHARS);
    let mut whole = None;
    for (at, piece) in pieces.iter().enumerate() {
        ctx.check_cancelled()?;
        tell(ctx, at, pieces.len());
        let arguments = ["-b", "1", "-v", voice, "--stdin", "--stdout"];
        let run = program::run(program.clone(), &arguments, piece.as_bytes(), MAX_AUDIO_BYTES as u64, WITHIN);
        let audio = run.await.map_err(|fault| failed(fault, voice))?;
        let audio = Wav::read(&audio).map_err(|why| {
            ToolError::failed(format!("espeak-ng gave no audio: {why}; try another voice, or another text"))
        })?;
        join(&mut whole, audio)
            .map_err(|why| ToolError::failed(format!("the text cannot be spoken: {why}")))?;
    }
    let wav = whole.ok_or_else(|| ToolError::failed("the text has nothing that could be spoken"))?;
    let seconds = wav.seconds();
    let data = encode::encoded(&wav, format).await?;
    let count = pieces.len();
    let provider = "espeak-ng".to_owned();
    Ok(Speech { format, data, seconds: Some(seconds), provider, pieces: count, notes: Vec::new() })
}

fn failed(fault: Fault, voice: &str) -> ToolError {
    match fault {
        Fault::Failed(said) if said.contains("voice does not exist") => ToolError::new(
            ToolErrorKind::InvalidArguments,
            format!(
                "espeak-ng has no voice `{voice}`; name a language such as `en`, `de` or `fr`, as `espeak-ng --voices` lists them"
            ),
        ),
        fault => fault.tool_error("espeak-ng did not speak the text", "try another voice, or a shorter text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_read_as_phonemes() {
        for (text, expected) in [
            ("if [[ -f a ]] then [b]", "if [ [ -f a ]] then [b]"),
            ("[[[x", "[ [ [x"),
            ("a\u{0}b\n\tc\u{7}", "a b\n\tc "),
        ] {
            assert_eq!(plain(text), expected);
            assert!(!plain(text).contains("[["));
        }
    }
}
