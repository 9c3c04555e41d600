//! Media types, and which pictures and sounds each provider takes.

/// A media type as providers spell it: in small letters, without parameters, and by its own name.
pub(super) fn media_type(kind: &str) -> String {
    let plain = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match plain.as_str() {
        "image/jpg" | "image/pjpeg" => "image/jpeg".to_owned(),
        "image/x-png" => "image/png".to_owned(),
        "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "audio/wav".to_owned(),
        "audio/mp3" | "audio/x-mp3" => "audio/mpeg".to_owned(),
        "application/x-pdf" => "application/pdf".to_owned(),
        _ => plain,
    }
}

/// OpenAI, by its guide "Images and vision": no GIF that moves.
pub(super) fn openai_takes(data: &[u8], kind: &str) -> bool {
    match kind {
        "image/png" | "image/jpeg" | "image/webp" => true,
        "image/gif" => !is_animated(data),
        _ => false,
    }
}

/// Anthropic, by "Vision" in its documentation.
pub(super) fn anthropic_takes(kind: &str) -> bool {
    matches!(kind, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// Gemini, by "Image understanding" and "Audio understanding" in its documentation, and those of Vertex AI.
pub(super) fn gemini_takes(kind: &str) -> bool {
    matches!(
        kind,
        "image/png"
            | "image/jpeg"
            | "image/webp"
            | "image/heic"
            | "image/heif"
            | "audio/wav"
            | "audio/mpeg"
            | "audio/aiff"
            | "audio/aac"
            | "audio/ogg"
            | "audio/flac"
            | "audio/m4a"
            | "audio/mp4"
            | "audio/opus"
            | "audio/pcm"
            | "audio/webm"
    )
}

/// Whether a GIF has more than one picture.
fn is_animated(gif: &[u8]) -> bool {
    pictures(gif, 2).is_some_and(|count| count > 1)
}

/// How many pictures a GIF has, counted up to `most`; nothing where it is none.
fn pictures(gif: &[u8], most: usize) -> Option<usize> {
    const HEADER: usize = 13;
    if !gif.starts_with(b"GIF8") {
        return None;
    }
    let mut at = HEADER + colours(*gif.get(10)?);
    let mut count = 0;
    while count < most {
        match gif.get(at) {
            // An extension: its label, and blocks.
            Some(0x21) => at = after_blocks(gif, at + 2),
            // A picture: its place and size, its own colours, how small its codes are, and blocks.
            Some(0x2c) => {
                count += 1;
                let flags = gif.get(at + 9).copied().unwrap_or_default();
                at = after_blocks(gif, at + 10 + colours(flags) + 1);
            }
            _ => break,
        }
    }
    Some(count)
}

/// How many bytes a table of colours has, by the flags before it.
fn colours(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// The place after blocks, of which each begins with its length, and the last has none.
fn after_blocks(gif: &[u8], mut at: usize) -> usize {
    while let Some(length) = gif.get(at).copied().filter(|length| *length > 0) {
        at += 1 + usize::from(length);
    }
    at + 1
}
