//! `transcribe`: the text of speech, by an endpoint: `POST /audio/transcriptions`.

use super::endpoint::{self, Body, Endpoint, Failure, Turns};
use super::form::Form;
use super::meter::Expected;
use crate::config::TranscribeSettings;
use crate::titles;
use serde_json::Value;
use std::io::Read as _;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, files::OpenedPath, output::Detailed};

/// Maximum number of bytes of a file, as OpenAI takes it.
const MAX_FILE_BYTES: u64 = 25 << 20;
/// Maximum number of bytes of an answer.
const MAX_ANSWER_BYTES: usize = 4 << 20;
/// The bytes that a second of speech is taken for: compressed speech of 32 kbit a second.
const BYTES_PER_SECOND: f64 = 4_000.0;
/// The model where none is configured.
const MODEL: &str = "gpt-4o-mini-transcribe";

/// Transcribes an audio file of the workspace: returns the spoken text.
///
/// # Errors
///
/// When no endpoint is configured, the file is not audio, or the endpoint refuses.
#[tool(group = "media", title = "Transcribe speech", open_world, asks, timeout = "15m")]
pub async fn transcribe(
    ctx: &ToolContext,
    /// Path of a WAV, MP3, Ogg, FLAC, MP4 or WebM file of at most 25 MiB.
    #[arg(alias = ["file_path", "path"], length(1..), example = "message.ogg")]
    audio: &Path,
    /// Spoken language, by its ISO 639 code.
    #[arg(pattern = "^[a-z]{2,3}$", example = "de")]
    language: Option<&str>,
    /// Names and words that may occur, so that they are spelled right.
    #[arg(length(1..=2000))]
    prompt: Option<&str>,
) -> Result<Detailed<Transcript>, ToolError> {
    titles::begin(ctx, "Transcribe", &audio.to_string_lossy());
    let settings: TranscribeSettings = ctx.config()?;
    let timeout = Duration::from_secs(settings.timeout_seconds);
    let endpoints: Vec<Endpoint> = settings
        .providers
        .iter()
        .map(|provider| Endpoint::new("tools.transcribe", provider, timeout))
        .collect::<Result<_, _>>()?;
    if endpoints.is_empty() {
        return Err(ToolError::unavailable(
            "no endpoint is configured that transcribes speech: a person has to set `tools.transcribe.providers`, such as \
             [{ apiKey: \"${env:OPENAI_API_KEY}\" }]",
        ));
    }
    let (data, shown) = ctx.workspace().open_with(audio, |opened, _| read(opened)).await?;
    let (extension, media_type) = kind(&data).ok_or_else(|| {
        ToolError::new(
            ToolErrorKind::InvalidArguments,
            format!("{shown} is not a WAV, MP3, Ogg, FLAC, MP4 or WebM file; convert it with another program first"),
        )
    })?;
    let title = format!("Send {shown} ({} bytes) to {}", data.len(), endpoint::names(&endpoints));
    ctx.ask(endpoint::ask("transcribe", title, &endpoints)).await?;
    let said = Said { data: &data, extension, media_type, language, prompt };
    let mut turns = Turns::new(&endpoints);
    let (text, provider) = loop {
        let endpoint = turns.next()?;
        match turns.wait(ctx, said.by(ctx, endpoint)).await {
            Ok(text) => break (text, endpoint.name.clone()),
            Err(failure) => turns.failed(failure)?,
        }
    };
    let output = if text.is_empty() {
        ToolOutput::text(format!("({shown} has no speech)"))
    } else {
        ToolOutput::text(text.clone())
    };
    let output = output.with_title(format!("Transcribed {shown}"));
    Ok(Detailed::new(output, Transcript { text, provider, bytes: data.len() }))
}

/// The structured output of [`transcribe`].
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// The spoken text; empty if the file has no speech.
    pub text: String,
    /// Name of the endpoint.
    pub provider: String,
    /// Size of the audio file in bytes.
    pub bytes: usize,
}

/// Speech to transcribe.
struct Said<'a> {
    data: &'a [u8],
    extension: &'a str,
    media_type: &'a str,
    language: Option<&'a str>,
    prompt: Option<&'a str>,
}

impl Said<'_> {
    /// Returns the estimated duration, for endpoints that do not report it.
    #[expect(clippy::cast_precision_loss, reason = "an estimate need not be exact")]
    fn seconds(&self) -> f64 {
        self.data.len() as f64 / BYTES_PER_SECOND
    }

    /// Returns the text by an endpoint.
    async fn by(&self, ctx: &ToolContext, endpoint: &Endpoint) -> Result<String, Failure> {
        let form = Form::new().map_err(|error| Failure { error, was_refused: false })?;
        let mut form = form.text("model", endpoint.model(MODEL)).text("response_format", "json");
        for (name, value) in [("language", self.language), ("prompt", self.prompt)] {
            if let Some(value) = value {
                form = form.text(name, value);
            }
        }
        let form = form.file("file", &format!("audio.{}", self.extension), self.media_type, self.data);
        let expected = Expected::audio(self.seconds());
        let body = Body::Form(form);
        let answer = endpoint.post(ctx, "audio/transcriptions", body, expected, MAX_ANSWER_BYTES).await?;
        let value: Option<Value> = serde_json::from_slice(&answer.body).ok();
        let text = value.as_ref().and_then(|value| value.get("text")).and_then(Value::as_str);
        let text = text.ok_or_else(|| endpoint.unusable("it is not a transcription"))?;
        Ok(endpoint.said(text.trim()))
    }
}

fn read(opened: OpenedPath) -> Result<(Vec<u8>, String), ToolError> {
    let OpenedPath::File(file) = opened else {
        return Err(ToolError::failed("this is not a file; name an audio file"));
    };
    let shown = file.shown().to_owned();
    let mut data = Vec::new();
    file.into_file().take(MAX_FILE_BYTES + 1).read_to_end(&mut data)?;
    if data.len() as u64 > MAX_FILE_BYTES {
        Err(ToolError::failed(format!("{shown} has more than 25 MiB; cut it into parts first")))
    } else {
        Ok((data, shown))
    }
}

/// The usual ending and the media type of an audio file, by its first bytes.
fn kind(data: &[u8]) -> Option<(&'static str, &'static str)> {
    let at = |place: usize, magic: &[u8]| data.get(place..place + magic.len()) == Some(magic);
    if at(0, b"RIFF") && at(8, b"WAVE") {
        Some(("wav", "audio/wav"))
    } else if at(0, b"OggS") {
        Some(("ogg", "audio/ogg"))
    } else if at(0, b"fLaC") {
        Some(("flac", "audio/flac"))
    } else if at(4, b"ftyp") {
        Some(("mp4", "audio/mp4"))
    } else if at(0, b"\x1a\x45\xdf\xa3") {
        Some(("webm", "audio/webm"))
    } else if at(0, b"ID3") || matches!(data.first_chunk(), Some([0xff, second]) if second & 0xe6 > 0xe0) {
        Some(("mp3", "audio/mpeg"))
    } else {
        None
    }
}
