//! Media types, and the pictures and sounds that each provider accepts.

/// Returns a media type in normal form: in lower case, without parameters, and by its official name.
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

/// Returns true if OpenAI accepts a picture, by its guide "Images and vision": no animated GIF.
pub(super) fn openai_takes(data: &[u8], kind: &str) -> bool {
    match kind {
        "image/png" | "image/jpeg" | "image/webp" => true,
        "image/gif" => !is_animated(data),
        _ => false,
    }
}

/// Returns true if Anthropic accepts a picture, by "Vision" in its documentation.
pub(super) fn anthropic_takes(kind: &str) -> bool {
    matches!(kind, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// Returns true if Gemini accepts a file, by "Image understanding" and "Audio understanding" in its
/// documentation, and that of Vertex AI.
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

/// Returns true if a GIF has more than one picture.
fn is_animated(gif: &[u8]) -> bool {
    pictures(gif, 2).is_some_and(|count| count > 1)
}

/// Returns the number of pictures in a GIF, counted up to `most`; `None` if the data is no GIF.
fn pictures(gif: &[u8], most: usize) -> Option<usize> {
    const HEADER: usize = 13;
    if !gif.starts_with(b"GIF8") {
        return None;
    }
    let mut at = HEADER + colours(*gif.get(10)?);
    let mut count = 0;
    while count < most {
        match gif.get(at) {
            // An extension: its label, then blocks.
            Some(0x21) => at = after_blocks(gif, at + 2),
            // A picture: its position and size, its colour table, the code size, then blocks.
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

/// Returns the number of bytes of a colour table, by the flags before it.
fn colours(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// Returns the place after a sequence of blocks, each of which starts with its length; the last has length
/// 0.
fn after_blocks(gif: &[u8], mut at: usize) -> usize {
    while let Some(length) = gif.get(at).copied().filter(|length| *length > 0) {
        at += 1 + usize::from(length);
    }
    at + 1
}
