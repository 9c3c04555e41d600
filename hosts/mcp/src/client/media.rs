//! Formats of pictures, sounds and documents, by their bytes: the media type that a server states may be wrong, and providers of models refuse
//! the whole request then.

use toolkit::{
    Content, ToolContext, ToolOutput,
    output::{Bytes, Resource, ResourceBody},
};

/// Number of bytes at the beginning of a PDF file in which its signature may stand.
const PDF_WITHIN: usize = 1_024;

/// Sets the media type of each picture by its bytes, and leaves out what is not of the kind that the server states.
pub(super) async fn check(context: &ToolContext, mut output: ToolOutput) -> ToolOutput {
    output.content.iter_mut().for_each(correct);
    let why = "their bytes are not of the type that the server states";
    context.leave_out_media(&mut output, why, is_of_its_kind).await;
    context.leave_out_media(&mut output, "a model reads no data of their type", is_readable).await;
    output
}

/// Returns true unless a block is a document of a type that no model is sent, such as an archive.
fn is_readable(block: &Content) -> bool {
    let Content::Resource { resource: Resource { mime_type, body: ResourceBody::Blob(_), .. } } = block
    else {
        return true;
    };
    let kind = mime_type.as_deref().unwrap_or_default().trim().to_ascii_lowercase();
    ["image/", "audio/", "text/", "application/pdf"].iter().any(|readable| kind.starts_with(readable))
}

/// Replaces the stated type of a picture by the type of its bytes.
fn correct(block: &mut Content) {
    let (data, kind) = match block {
        Content::Image { data: Bytes(data), mime_type } => (data, mime_type),
        Content::Resource {
            resource: Resource { mime_type: Some(kind), body: ResourceBody::Blob(Bytes(data)), .. },
        } if is_picture(kind) => (data, kind),
        _ => return,
    };
    if let Some(found) = picture(data) {
        found.clone_into(kind);
    }
}

fn is_of_its_kind(block: &Content) -> bool {
    let stated = match block {
        Content::Image { mime_type, .. } | Content::Audio { mime_type, .. } => mime_type.as_str(),
        Content::Resource { resource } => resource.mime_type.as_deref().unwrap_or_default(),
        _ => return true,
    };
    let stated = stated.trim().to_ascii_lowercase();
    let data = block.as_bytes().unwrap_or_default();
    let is_image = matches!(block, Content::Image { .. }) || is_picture(&stated);
    // It is text, and no provider is sent it.
    if stated.starts_with("image/svg") {
        return std::str::from_utf8(data).is_ok_and(|text| text.contains("<svg"));
    }
    if is_image {
        return picture(data).is_some();
    }
    if stated.starts_with("application/pdf") {
        return memchr::memmem::find(&data[..data.len().min(PDF_WITHIN)], b"%PDF-").is_some();
    }
    let is_known_sound = ["wav", "x-wav", "wave", "mpeg", "mp3", "ogg", "flac", "aac", "aiff", "mp4", "m4a"];
    match stated.strip_prefix("audio/").and_then(|kind| kind.split(';').next()) {
        Some(kind) if is_known_sound.contains(&kind.trim()) => is_sound(data),
        _ => true,
    }
}

fn is_picture(kind: &str) -> bool {
    kind.trim().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("image/"))
}

/// Returns the media type of a picture in a format that is common.
fn picture(data: &[u8]) -> Option<&'static str> {
    let brand = data.get(4..12).filter(|_| data.len() > 12);
    Some(match data {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => "image/bmp",
        [b'I', b'I', 0x2a, 0, ..] | [b'M', b'M', 0, 0x2a, ..] => "image/tiff",
        [0, 0, 1, 0, _, 0, ..] => "image/x-icon",
        _ => match brand? {
            b"ftypavif" | b"ftypavis" => "image/avif",
            b"ftypheic" | b"ftypheix" | b"ftyphevc" => "image/heic",
            b"ftypmif1" | b"ftypmsf1" => "image/heif",
            _ => return None,
        },
    })
}

/// Returns true if data begins as a sound in a format that is common.
fn is_sound(data: &[u8]) -> bool {
    matches!(
        data,
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..]
            | [b'I', b'D', b'3', ..]
            | [0xff, 0xe0..=0xff, ..]
            | [b'O', b'g', b'g', b'S', ..]
            | [b'f', b'L', b'a', b'C', ..]
            | [b'F', b'O', b'R', b'M', _, _, _, _, b'A', b'I', b'F', b'F' | b'C', ..]
            | [_, _, _, _, b'f', b't', b'y', b'p', ..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_data_is_told_by_its_bytes() {
        let png = b"\x89PNG\r\n\x1a\n...".as_slice();
        let wav = b"RIFF\x01\x02\x03\x04WAVEfmt ".as_slice();
        let pdf = |kind: &str, data: &[u8]| Content::Resource {
            resource: Resource::blob("x:1", data).with_mime_type(kind),
        };
        for (block, is_kept) in [
            (Content::image(png, "image/png"), true),
            (Content::image(png, "text/html"), true),
            (Content::image(*b"<html>", "image/png"), false),
            (Content::image([], "image/png"), false),
            (Content::image(*b"<svg/>", "image/svg+xml"), true),
            (Content::image(*b"<html>", "image/svg+xml"), false),
            (Content::image(*b"....ftypavif....", "image/avif"), true),
            (Content::audio(wav, "audio/wav"), true),
            (Content::audio(*b"sound", "Audio/WAV; rate=1"), false),
            (Content::audio(*b"sound", "audio/pcm"), true),
            (pdf("application/pdf", b"\n%PDF-1.7"), true),
            (pdf("application/pdf", b"PDF"), false),
            (pdf("Image/PNG", b"PNG"), false),
            (pdf("application/zip", b"?"), true),
            (Content::text("x"), true),
        ] {
            assert_eq!(is_of_its_kind(&block), is_kept, "{block:?}");
        }
        for (kind, expected) in [
            (Some("application/zip"), false),
            (None, false),
            (Some("Application/PDF; version=2"), true),
            (Some("image/png"), true),
            (Some("text/plain; charset=utf-16"), true),
        ] {
            let mut resource = Resource::blob("x:1", b"data");
            resource.mime_type = kind.map(str::to_owned);
            assert_eq!(is_readable(&Content::Resource { resource }), expected, "{kind:?}");
        }
        assert!(is_readable(&Content::text("x")));
        let mut wrong = Content::image(*b"GIF89a", "image/png");
        correct(&mut wrong);
        assert_eq!(wrong, Content::image(*b"GIF89a", "image/gif"));
    }
}
