//! Files that are sent: read under the rules of `read`, or given as Base64.

use std::io::Read as _;

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER};
use hmac_sha256::Hash;
use toolkit::approval::Access;
use toolkit::files::OpenedPath;
use toolkit::permission::PathDecision;
use toolkit::prelude::*;
use toolkit::text::escape_line;

use super::service::MessageMedia;
use super::wrong;

/// The most bytes of `buffer`.
const MAX_BUFFER_BYTES: usize = 1 << 20;
/// The most bytes of all files of a message, which are in memory until they are stored.
const MAX_TOTAL_BYTES: u64 = 64 << 20;
/// The most characters of a name.
const MAX_NAME_CHARS: usize = 200;
/// The name of a file without one.
const UNNAMED: &str = "file";

/// A file, and the words for it in the question.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) media: MessageMedia,
    /// Its path for texts.
    pub(super) shown: String,
}

impl Loaded {
    /// Describes it in one line, with a digest of its content.
    pub(super) fn described(&self) -> String {
        let MessageMedia { name, media_type, bytes, sha256 } = &self.media;
        let shown = &self.shown;
        let place = if shown == name { String::new() } else { format!(", from {shown}") };
        format!("{name} ({} bytes, {media_type}, SHA-256 {sha256}{place})", bytes.len())
    }
}

/// The room that files of a message have left.
#[derive(Debug)]
pub(super) struct Room {
    /// The most bytes of a file.
    each: u64,
    left: u64,
}

impl Room {
    /// The room on a channel that takes so many bytes of a file.
    pub(super) fn new(each: u64) -> Self {
        Self { each, left: MAX_TOTAL_BYTES }
    }

    fn most(&self) -> u64 {
        self.each.min(self.left)
    }

    fn take(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes as u64);
    }

    /// The error for a file that has more bytes than there is room for.
    fn exceeded(&self, shown: &str) -> ToolError {
        if self.each <= self.left {
            return wrong(format!(
                "{shown} has more than {} bytes, the most of a file on this channel: make it smaller, or send it in another way",
                self.each
            ));
        }
        wrong(format!(
            "the files have more than {MAX_TOTAL_BYTES} bytes together, the most of a message: send {shown} with a message of its own"
        ))
    }
}

/// Reads a file, once it may be read; asks a person if that is needed, but not for a dry run.
pub(super) async fn file(
    ctx: &ToolContext,
    path: &Path,
    room: &mut Room,
    is_dry: bool,
) -> Result<Loaded, ToolError> {
    if is_dry {
        check_unasked(ctx, path).await?;
    }
    let most = room.most();
    let workspace = ctx.workspace();
    let read = workspace.open_with(path, move |opened, token| {
        let OpenedPath::File(file) = opened else {
            return Err(wrong("this is a directory, which cannot be sent: name its files"));
        };
        let (shown, name) = (file.shown().to_owned(), name_of(file.path()));
        let mut bytes = Vec::new();
        file.into_file().take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if token.is_cancelled() {
            return Err(std::io::Error::from(std::io::ErrorKind::Interrupted).into());
        }
        let is_larger = bytes.len() as u64 > most;
        Ok((shown, if is_larger { None } else { Some(media(name, bytes)) }))
    });
    let (shown, media) = read.await.map_err(|error| of_file(path, error))?;
    let media = media.ok_or_else(|| room.exceeded(&shown))?;
    if media.bytes.is_empty() {
        return Err(wrong(format!("{shown} is empty: there is nothing to send")));
    }
    room.take(media.bytes.len());
    Ok(Loaded { media, shown })
}

/// Fails if a person would have to be asked before a file is read.
async fn check_unasked(ctx: &ToolContext, path: &Path) -> Result<(), ToolError> {
    let (workspace, at) = (ctx.workspace(), path.to_owned());
    let decided = ctx.blocking(move |_| workspace.decide(&at, Access::Read)).await?;
    let shown = shown(path);
    match decided.decision {
        PathDecision::Allow => Ok(()),
        PathDecision::Ask { kind, reason, .. } => Err(ToolError::denied(format!(
            "{shown} is read only once a person allows it (permission.{kind}), {reason}: the dry run asks nobody"
        ))),
        PathDecision::Deny { reason, .. } => {
            Err(ToolError::denied(format!("{shown} may not be read: {reason}")))
        }
        other => Err(ToolError::denied(format!("{shown} may not be read: {other:?}"))),
    }
}

/// Names the file in an error that does not name it.
fn of_file(path: &Path, error: ToolError) -> ToolError {
    let shown = shown(path);
    if error.message().contains(&shown) {
        return error;
    }
    ToolError::new(error.kind(), format!("{shown}: {}", error.message()))
}

fn shown(path: &Path) -> String {
    escape_line(&path.to_string_lossy()).into_owned()
}

/// Decodes a file that is given as Base64, alone or as a `data:` URL.
pub(super) fn buffer(text: &str, filename: Option<&str>, room: &mut Room) -> Result<Loaded, ToolError> {
    let name = filename.map(check_name).transpose()?;
    let bytes = decoded(text)?;
    if bytes.is_empty() {
        return Err(wrong("`buffer` is empty: there is nothing to send"));
    }
    if bytes.len() > MAX_BUFFER_BYTES {
        return Err(wrong(format!(
            "`buffer` has {} bytes, and it may have at most {MAX_BUFFER_BYTES}: write a file, and give its path as `media`",
            bytes.len()
        )));
    }
    let name = name.unwrap_or_else(|| match infer::get(&bytes) {
        Some(found) => format!("{UNNAMED}.{}", found.extension()),
        None => UNNAMED.to_owned(),
    });
    if bytes.len() as u64 > room.most() {
        return Err(room.exceeded("`buffer`"));
    }
    room.take(bytes.len());
    Ok(Loaded { shown: name.clone(), media: media(name, bytes) })
}

fn decoded(text: &str) -> Result<Vec<u8>, ToolError> {
    let text = text.trim();
    let digits = match text.split_once(',') {
        // The media type that it states is not believed: that of the content counts.
        Some((head, digits)) if starts_with_ignoring_case(head, "data:") => {
            if !head.to_ascii_lowercase().ends_with(";base64") {
                return Err(wrong(
                    "`buffer` is a `data:` URL without Base64: it has to begin as `data:image/png;base64,`",
                ));
            }
            digits
        }
        _ => text,
    };
    let mut digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    while digits.last() == Some(&b'=') {
        digits.pop();
    }
    let is_of_urls = digits.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let encoding = if is_of_urls { BASE64URL_NOPAD } else { BASE64_NOPAD };
    encoding.decode(&digits).map_err(|error| {
        wrong(format!("`buffer` is not Base64: {error}; to send a file, give its path as `media`"))
    })
}

fn starts_with_ignoring_case(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// Checks a name that the model chose.
fn check_name(name: &str) -> Result<String, ToolError> {
    let is_part = |character: char| !character.is_control() && !matches!(character, '/' | '\\');
    let is_name = name.chars().all(is_part) && !name.trim().is_empty() && !matches!(name, "." | "..");
    if !is_name || escape_line(name) != name {
        return Err(wrong(format!(
            "`filename` is {}, which is no name of a file: leave out slashes and control characters",
            escape_line(name)
        )));
    }
    Ok(name.to_owned())
}

/// The name of a file of the workspace, without characters that would not be seen.
fn name_of(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let safe = |character: char| {
        let mut text = [0; 4];
        let text: &str = character.encode_utf8(&mut text);
        if character.is_control() || character == '\\' || escape_line(text) != text { '_' } else { character }
    };
    let name: String = name.chars().take(MAX_NAME_CHARS).map(safe).collect();
    if name.is_empty() { UNNAMED.to_owned() } else { name }
}

fn media(name: String, bytes: Vec<u8>) -> MessageMedia {
    let media_type = match infer::get(&bytes) {
        Some(found) => found.mime_type(),
        None if std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0')) => "text/plain",
        None => "application/octet-stream",
    };
    let sha256 = HEXLOWER.encode(&Hash::hash(&bytes));
    MessageMedia { name, media_type: media_type.to_owned(), bytes, sha256 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_models_write_it() {
        for (text, expected) in [
            ("aGVsbG8=", Some("hello")),
            ("aGVsbG8", Some("hello")),
            (" aGVs\nbG8= ", Some("hello")),
            ("data:text/plain;base64,aGVsbG8=", Some("hello")),
            ("DATA:;BASE64,aGVsbG8=", Some("hello")),
            ("Pz8-", Some("??>")),
            ("Pz8+", Some("??>")),
            ("data:text/plain,hello", None),
            ("aGVsbG8*", None),
            ("MEDIA:/etc/passwd", None),
            ("/etc/passwd", None),
        ] {
            let found = decoded(text).ok();
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{text}");
        }
    }

    #[test]
    fn a_name_is_one_part_of_a_path_that_is_seen_whole() {
        for name in ["../x", "a/b", "a\\b", "..", ".", " ", "a\nb", "a\u{202e}gpj.exe", "\0"] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        for name in ["report.pdf", "Bericht für Ada.pdf", ".env"] {
            assert_eq!(check_name(name).unwrap(), name);
        }
        assert_eq!(name_of(Path::new("/a/b\nc\u{202e}d.txt")), "b_c_d.txt");
        assert_eq!(name_of(Path::new("/a/..")), "file");
        assert_eq!(name_of(Path::new(&"x".repeat(300))).len(), MAX_NAME_CHARS);
    }

    #[test]
    fn the_media_type_is_that_of_the_content() {
        let kind = |bytes: &[u8]| media(String::new(), bytes.to_vec()).media_type;
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n"), "image/png");
        assert_eq!(kind("größe".as_bytes()), "text/plain");
        assert_eq!(kind(b"\xff\xfe\0"), "application/octet-stream");
        let debug = format!("{:?}", media("a".to_owned(), b"hello".to_vec()));
        assert!(
            debug.contains("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
            "{debug}"
        );
        assert!(!debug.contains("104"), "{debug}");
    }

    #[test]
    fn files_share_the_room_of_a_message() {
        let mut room = Room::new(MAX_TOTAL_BYTES);
        assert!(room.exceeded("a").message().contains("of a file on this channel"));
        room.take(1);
        assert_eq!(room.most(), MAX_TOTAL_BYTES - 1);
        assert!(room.exceeded("a").message().contains("together"));
        let mut room = Room::new(4);
        assert!(buffer("aGVsbG8=", None, &mut room).unwrap_err().message().contains("more than 4 bytes"));
    }
}
