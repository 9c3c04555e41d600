//! Speech by an endpoint: `POST /audio/speech`.

use super::super::endpoint::{Answer, Body, Endpoint, Failure};
use super::super::meter::Expected;
use super::wav::Wav;
use super::{MAX_AUDIO_BYTES, Speech, SpeechFormat, encode, join, sentences, tell};
use serde_json::json;
use std::time::Duration;
use toolkit::output::Retry;
use toolkit::prelude::*;

/// Maximum number of characters that an endpoint takes at once.
const PIECE_CHARS: usize = 4_000;
/// The model where none is configured.
const MODEL: &str = "gpt-4o-mini-tts";
/// The voice where none is named.
const VOICE: &str = "alloy";
/// The longest wait that an endpoint may ask for between two pieces of a text.
const MAX_WAIT: Duration = Duration::from_mins(1);
/// How often a piece is waited for.
const MAX_WAITS: u32 = 3;

/// Returns the failure of a piece after others were spoken: no other endpoint is asked, and nobody is invited to send them again.
fn after_charge(error: ToolError, spoken: usize, pieces: usize) -> Failure {
    let message = format!(
        "{}\n{spoken} of {pieces} pieces of the text had been spoken and may have been charged; their audio is not kept",
        error.message()
    );
    Failure { error: error.with_message(message).with_retry(Retry::Never), was_refused: false }
}

/// Returns true if a text is short enough for one request.
pub(super) fn is_one_request(text: &str) -> bool {
    sentences::pieces(text, PIECE_CHARS).len() <= 1
}

/// Requests the speech of a text, piece by piece. Several pieces are joined as WAV, and the whole is encoded in the format; where no
/// program does that, pieces of MP3 are put one behind the other, which players take as one.
pub(super) async fn speak(
    ctx: &ToolContext,
    endpoint: &Endpoint,
    text: &str,
    voice: Option<&str>,
    format: SpeechFormat,
) -> Result<Speech, Failure> {
    let pieces = sentences::pieces(text, PIECE_CHARS);
    let asked = match pieces.len() {
        0 | 1 => format,
        _ if encode::can(format) => SpeechFormat::Wav,
        _ if format == SpeechFormat::Mp3 => SpeechFormat::Mp3,
        _ => {
            let error = encode::check(format).err();
            let error = error.unwrap_or_else(|| ToolError::failed("the format cannot be joined"));
            let message =
                format!("the text is too long for one request. To join its pieces, {}", error.message());
            return Err(Failure { error: error.with_message(message), was_refused: false });
        }
    };
    let (mut whole, mut bytes) = (None, Vec::new());
    for (at, piece) in pieces.iter().enumerate() {
        ctx.check_cancelled().map_err(|error| Failure { error, was_refused: false })?;
        tell(ctx, at, pieces.len());
        let body = json!({
            "model": endpoint.model(MODEL),
            "input": piece,
            "voice": voice.unwrap_or(VOICE),
            "response_format": asked.name(),
        });
        let mut waits = 0;
        let answer = loop {
            let expected = Expected::characters(piece);
            let body = Body::Json(body.clone());
            let sent = endpoint.post(ctx, "audio/speech", body, expected, MAX_AUDIO_BYTES).await;
            let failure = match sent {
                Ok(answer) => break answer,
                Err(failure) if at == 0 => return Err(failure),
                Err(failure) => failure,
            };
            // Other pieces were charged: this one alone, which was refused and not charged, is sent again when the endpoint says so.
            match failure.error.retry() {
                Retry::After(wait) if failure.was_refused && wait <= MAX_WAIT && waits < MAX_WAITS => {
                    waits += 1;
                    tokio::time::sleep(wait).await;
                }
                _ => return Err(after_charge(failure.error, at, pieces.len())),
            }
        };
        check(endpoint, &answer, asked)?;
        if asked == SpeechFormat::Wav {
            let wav = Wav::read(&answer.body).map_err(|why| endpoint.unusable(why))?;
            join(&mut whole, wav).map_err(|why| endpoint.unusable(&why))?;
        } else {
            bytes.extend_from_slice(&answer.body);
            if bytes.len() > MAX_AUDIO_BYTES {
                return Err(endpoint.unusable("the audio is too large"));
            }
        }
    }
    let seconds = whole.as_ref().map(Wav::seconds);
    let data = match &whole {
        Some(wav) => {
            encode::encoded(wav, format).await.map_err(|error| Failure { error, was_refused: false })?
        }
        None => bytes,
    };
    Ok(Speech {
        format,
        data,
        seconds,
        provider: endpoint.name.clone(),
        pieces: pieces.len(),
        notes: Vec::new(),
    })
}

/// Refuses an answer that is not audio, such as an error with the status of success.
fn check(endpoint: &Endpoint, answer: &Answer, format: SpeechFormat) -> Result<(), Failure> {
    let is_text = answer.media_type.starts_with("text/") || answer.media_type == "application/json";
    let begins = |magic: &[u8]| answer.body.starts_with(magic);
    let is_audio = match format {
        SpeechFormat::Wav => begins(b"RIFF"),
        SpeechFormat::Opus => begins(b"OggS"),
        SpeechFormat::Mp3 => {
            begins(b"ID3")
                || matches!(answer.body.first_chunk(), Some([0xff, second]) if second & 0xe0 == 0xe0)
        }
    };
    if is_audio && !is_text {
        Ok(())
    } else {
        Err(endpoint.unusable(&format!("it is not {} audio", format.name())))
    }
}
