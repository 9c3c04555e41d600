//! Files that come with messages of people: fetched after the sender is known, into the workspace of the session.

use std::time::Duration;

use toolkit_channel::{ConversationKind, Incoming, Media, MediaKind};

use super::arrival::Arrival;
use crate::SessionKey;
use crate::people::Person;
use crate::store::SessionRecord;
use crate::uploads::{MAX_FILE_BYTES, Uploads};

/// The longest time to fetch a file: what others say waits for it.
const FETCH_WITHIN: Duration = Duration::from_mins(1);
/// The most files of one message.
const MAX_FILES: usize = 10;

/// Fetches the files of a message. Returns a line for the agent about each: where it is, or why it is not there.
pub(super) async fn fetch(
    arrival: &Arrival<'_>,
    incoming: &Incoming,
    person: &Person,
    key: &SessionKey,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, media) in incoming.media.iter().enumerate() {
        if number == MAX_FILES {
            lines.push(format!("[{} more files were not fetched]", incoming.media.len() - MAX_FILES));
            break;
        }
        let kind = kind_name(media.kind);
        lines.push(match one(arrival, incoming, person, key, number, media).await {
            Ok(path) => format!("[{kind}: {path}]"),
            Err(reason) => format!("[{kind} that could not be fetched: {reason}]"),
        });
    }
    lines
}

async fn one(
    arrival: &Arrival<'_>,
    incoming: &Incoming,
    person: &Person,
    key: &SessionKey,
    number: usize,
    media: &Media,
) -> Result<String, String> {
    let channel = &arrival.account.account;
    let max = channel.limits().media_in.min(MAX_FILE_BYTES as u64);
    if media.size.is_some_and(|size| size > max) {
        return Err(format!("it has {} bytes, and the limit is {max}", media.size.unwrap_or_default()));
    }
    let fetched = tokio::time::timeout(FETCH_WITHIN, channel.fetch(media, max)).await;
    let content = fetched.map_err(|_| "it took too long".to_owned())?.map_err(|error| error.reason)?;
    let name = file_name(incoming, number, media);
    let mut session = SessionRecord::unbegun(key.clone(), person.name());
    if incoming.conversation.kind != ConversationKind::Direct {
        // A group has a workspace of its own, as its agent has.
        session.person = None;
    }
    let workspaces = std::sync::Arc::clone(&arrival.at_work.workspaces);
    let saving = tokio::task::spawn_blocking(move || {
        let workspace = workspaces.workspace(&session)?;
        let uploads = Uploads::open(&workspace).map_err(|error| error.to_string())?;
        let (upload, _) = uploads.save(&name, &content).map_err(|error| error.to_string())?;
        Ok::<_, String>(upload.path)
    });
    saving.await.unwrap_or_else(|_| Err("it cannot be saved".to_owned()))
}

fn kind_name(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "picture",
        MediaKind::Voice => "voice note",
        MediaKind::Audio => "sound",
        MediaKind::Video => "film",
        _ => "file",
    }
}

/// A name of the file that says where it comes from; the sender's own name for it is text of anybody.
fn file_name(incoming: &Incoming, number: usize, media: &Media) -> String {
    let own = media.name.as_deref().unwrap_or_default();
    let plain: String = own
        .chars()
        .map(|char| if char.is_alphanumeric() || matches!(char, '.' | '-' | '_') { char } else { '-' })
        .collect();
    let plain = plain.trim_matches(['.', '-']);
    let mut start = plain.len().saturating_sub(60);
    while !plain.is_char_boundary(start) {
        start += 1;
    }
    let plain = plain[start..].trim_start_matches('.');
    let message: String = incoming.message_id.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
    if plain.is_empty() {
        let ending = match media.kind {
            MediaKind::Image => "jpg",
            MediaKind::Voice => "ogg",
            MediaKind::Audio => "mp3",
            MediaKind::Video => "mp4",
            _ => "bin",
        };
        return format!("{message}-{}.{ending}", number + 1);
    }
    format!("{message}-{plain}")
}

#[cfg(test)]
mod tests {
    use toolkit_channel::{Conversation, Sender};

    use super::*;

    #[test]
    fn a_file_has_a_plain_name() {
        let sender = Sender { id: "1".to_owned(), name: "Ada".to_owned(), is_bot: false };
        let incoming = Incoming::text("77", Conversation::direct("1"), sender, "");
        let name = |own: Option<&str>| {
            let media = Media {
                kind: MediaKind::Document,
                reference: "r".to_owned(),
                name: own.map(str::to_owned),
                media_type: None,
                size: None,
            };
            file_name(&incoming, 0, &media)
        };
        assert_eq!(name(None), "77-1.bin");
        assert_eq!(name(Some("report 1.pdf")), "77-report-1.pdf");
        assert_eq!(name(Some("../../etc/passwd")), "77-etc-passwd");
        assert_eq!(name(Some("...")), "77-1.bin");
        assert!(name(Some(&"ä".repeat(300))).len() <= 100);
    }
}
