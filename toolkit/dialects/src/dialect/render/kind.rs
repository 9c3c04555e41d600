//! Media types.

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
