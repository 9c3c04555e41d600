//! `tts`: text to speech.

mod encode;
mod local;
mod remote;
mod sentences;
mod wav;

use super::endpoint::{self, Endpoint, Turns};
use super::kept;
use crate::config::TtsSettings;
use crate::files::saved;
use crate::titles;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{Content, ToolErrorKind, events::Progress, output::Detailed};
use wav::Wav;

/// Maximum number of characters of a text.
const MAX_CHARS: usize = 100_000;
/// Maximum number of bytes of audio.
const MAX_AUDIO_BYTES: usize = 512 << 20;
/// Maximum number of bytes that are returned as content; more is in the file alone.
const MAX_CONTENT_BYTES: usize = 32 << 20;

/// The format of an audio file.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum SpeechFormat {
    /// Plain samples.
    Wav,
    /// MPEG layer 3.
    Mp3,
    /// Opus in Ogg, as voice messages have it.
    Opus,
}

impl SpeechFormat {
    /// Its name, for endpoints.
    fn name(self) -> &'static str {
        match self {
            Self::Wav => "wav",
            Self::Mp3 => "mp3",
            Self::Opus => "opus",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Wav => "audio/wav",
            Self::Mp3 => "audio/mpeg",
            Self::Opus => "audio/ogg",
        }
    }

    /// The endings of its files, the usual one first.
    fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Wav => &["wav"],
            Self::Mp3 => &["mp3"],
            Self::Opus => &["ogg", "opus", "oga"],
        }
    }

    /// The format of a file by its ending.
    fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        [Self::Wav, Self::Mp3, Self::Opus]
            .into_iter()
            .find(|format| format.extensions().contains(&extension.as_str()))
    }
}

/// Speech, in a format.
struct Speech {
    format: SpeechFormat,
    data: Vec<u8>,
    /// Its length, where it is known.
    seconds: Option<f64>,
    /// `espeak-ng`, or the name of the endpoint.
    provider: String,
    /// Number of pieces in which the text was spoken.
    pieces: usize,
    notes: Vec<String>,
}

/// Converts text to speech and returns the audio. A line `MEDIA:path` names its file for hosts that send files.
///
/// Long texts are split at sentences and joined. Without a configured endpoint, the program espeak-ng speaks on this machine.
///
/// # Errors
///
/// When nothing is there that can speak or write the format, the voice is unknown, or the endpoint refuses.
#[tool(group = "media", title = "Speak a text", destructive, open_world, asks, timeout = "20m")]
pub async fn tts(
    ctx: &ToolContext,
    /// The text to speak.
    #[arg(length(1..=MAX_CHARS), example = "The build is green.")]
    text: &str,
    /// Voice: for espeak-ng such as `en`, `de` or `en-us+f3`, for an endpoint such as `alloy`.
    #[arg(pattern = "^[A-Za-z][A-Za-z0-9_+-]{0,63}$")]
    voice: Option<&str>,
    /// Format of the audio. Default: that of `save_as`, else one that `channel` plays, else wav.
    format: Option<SpeechFormat>,
    /// Channel that the audio is for. Default: that of the conversation.
    #[arg(length(1..=64), example = "telegram")]
    channel: Option<&str>,
    /// File to write, absolute or relative to the workspace. Default: a file outside it that is kept for some days.
    #[arg(alias = "saveAs", length(1..), example = "greeting.wav")]
    save_as: Option<&Path>,
) -> Result<Detailed<SpokenText>, ToolError> {
    titles::begin(ctx, "Speak", text);
    let text = text.trim();
    if text.is_empty() || text.chars().count() > MAX_CHARS {
        let message = format!("`text` is blank, or longer than {MAX_CHARS} characters");
        return Err(ToolError::new(ToolErrorKind::InvalidArguments, message));
    }
    let settings: TtsSettings = ctx.config()?;
    let channel =
        channel.or(ctx.caller().channel.as_deref()).map(|channel| channel.trim().to_ascii_lowercase());
    let named = format.or_else(|| save_as.and_then(SpeechFormat::of));
    let usual = match channel.as_deref() {
        Some("telegram" | "whatsapp" | "signal") => SpeechFormat::Opus,
        _ => SpeechFormat::Wav,
    };
    let voice = voice.or(settings.voice.as_deref());
    let timeout = Duration::from_secs(settings.timeout_seconds);
    let endpoints: Vec<Endpoint> = settings
        .providers
        .iter()
        .map(|provider| Endpoint::new("tools.tts", provider, timeout))
        .collect::<Result<_, _>>()?;
    // A format that the call did not choose can be replaced.
    let is_replaced = named.is_none() && endpoints.is_empty() && !encode::can(usual);
    let wanted = if is_replaced { SpeechFormat::Wav } else { named.unwrap_or(usual) };
    let place = match save_as {
        Some(path) => Some(saved::place(ctx, path, wanted.extensions()).await?),
        None => None,
    };
    if endpoints.is_empty() {
        local::check(wanted)?;
    } else {
        let title = format!("Have {} speak {} characters", endpoint::names(&endpoints), text.chars().count());
        ctx.ask(endpoint::ask("tts", title, &endpoints).with_text("text", text)).await?;
    }
    // Asked before anything is made, or charged.
    let allowed = match place {
        Some(place) => Some(place.allow(&format!("speech as {}", wanted.name())).await?),
        None => None,
    };
    let speech = if endpoints.is_empty() {
        local::speak(ctx, text, voice, wanted).await?
    } else {
        let mut turns = Turns::new(&endpoints);
        loop {
            let spoken = remote::speak(ctx, turns.next()?, text, voice, wanted);
            // The progress of several requests is the number of those that are done.
            let spoken =
                if remote::is_one_request(text) { turns.wait(ctx, spoken).await } else { spoken.await };
            match spoken {
                Ok(speech) => break speech,
                Err(failure) => turns.failed(failure)?,
            }
        }
    };
    let extension = wanted.extensions()[0];
    let (path, shown, mut notes) = match allowed {
        Some(allowed) => {
            // A paid result is kept elsewhere if its file cannot be written.
            match allowed.write(ctx, speech.data.clone()).await {
                Ok(saved) => (saved.path, Some(saved.shown), saved.notes),
                Err(error) => {
                    let kept = kept::keep(ctx, extension, speech.data.clone()).await?;
                    let note = kept.note(&error);
                    (kept.path, None, vec![note])
                }
            }
        }
        None => {
            let kept = kept::keep(ctx, extension, speech.data.clone()).await?;
            (kept.path, None, Vec::new())
        }
    };
    if is_replaced {
        let (wanted, usual, programs) = (wanted.name(), usual.name(), encode::programs(usual));
        let channel = toolkit::text::escape_line(channel.as_deref().unwrap_or("the channel"));
        notes.push(format!(
            "it is {wanted}, since no program is installed that writes {usual}, the format of {channel}'s voice messages; a person can install \
             {programs}"
        ));
    }
    notes.splice(0..0, speech.notes.iter().cloned());
    Ok(output(speech, &path, shown, notes))
}

/// The structured output of [`tts`].
#[toolkit::args]
#[derive(Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SpokenText {
    /// The path of the file, relative to the workspace if the file is in it.
    pub path: String,
    /// The format of the file.
    pub format: SpeechFormat,
    /// The media type of the file.
    pub mime_type: String,
    /// Length of the audio in seconds; null if it is unknown.
    pub duration_seconds: Option<f64>,
    /// Size of the file in bytes.
    pub bytes: usize,
    /// Number of pieces in which the text was spoken.
    pub pieces: usize,
    /// `espeak-ng`, or the name of the endpoint.
    pub provider: String,
}

fn output(
    speech: Speech,
    path: &Path,
    shown: Option<String>,
    mut notes: Vec<String>,
) -> Detailed<SpokenText> {
    let Speech { format, data, seconds, provider, pieces, .. } = speech;
    let length = seconds.map(|seconds| format!("{seconds:.1} seconds, ")).unwrap_or_default();
    let mut text = format!("spoke the text by {provider}: {length}{} bytes, {}", data.len(), format.name());
    if let Some(shown) = &shown {
        text = format!("{text}, saved as {shown}");
    }
    let is_returned = data.len() <= MAX_CONTENT_BYTES;
    if !is_returned {
        notes.push("the audio is too large to be returned here; it is in the file".to_owned());
    }
    for note in &notes {
        text = format!("{text}\n({note})");
    }
    text = format!("{text}\nMEDIA:{}", toolkit::text::escape_line(&path.to_string_lossy()));
    let is_saved = shown.is_some();
    let details = SpokenText {
        path: shown.unwrap_or_else(|| path.to_string_lossy().into_owned()),
        format,
        mime_type: format.media_type().to_owned(),
        duration_seconds: seconds,
        bytes: data.len(),
        pieces,
        provider,
    };
    let title =
        seconds.map_or_else(|| "Spoke the text".to_owned(), |seconds| format!("Spoke for {seconds:.0} s"));
    let output = ToolOutput::text(text).with_title(title).with_attachment(path);
    let output = if is_saved { output.with_file_modified(path) } else { output };
    let output =
        if is_returned { output.with_content(Content::audio(data, format.media_type())) } else { output };
    Detailed::new(output, details)
}

/// Adds the audio of a piece to that of those before it.
fn join(whole: &mut Option<Wav>, piece: Wav) -> Result<(), String> {
    let length = whole.as_ref().map_or(0, |whole| whole.data.len()).saturating_add(piece.data.len());
    if length > MAX_AUDIO_BYTES {
        return Err(format!("it is longer than {MAX_AUDIO_BYTES} bytes; speak a part of the text"));
    }
    match whole {
        Some(whole) => whole.join(&piece).map_err(str::to_owned),
        None => {
            *whole = Some(piece);
            Ok(())
        }
    }
}

/// Reports the number of finished pieces.
fn tell(ctx: &ToolContext, done: usize, total: usize) {
    if total > 1 && ctx.is_watched() {
        #[expect(clippy::cast_precision_loss, reason = "a text has few pieces")]
        let progress = Progress::new(done as f64).with_total(total as f64);
        ctx.progress(progress.with_message("speaking"));
    }
}
