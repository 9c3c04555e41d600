//! Files that come with messages of people: fetched into the workspace of the session, and read there.
//!
//! Speech is text: it is looked at before the rule about mentions. Pictures are described once it is known that the agent is addressed.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use toolkit_channel::{Account, Channel, Conversation, Media, MediaKind, ReceiveError};

use super::remarks::{is_line_end, unlike_a_remark};
use super::{AtWork, MediaOf, Reading, ReadsMedia, now};
use crate::store::{MessageId, SessionRecord, Store, Target};
use crate::uploads::{MAX_FILE_BYTES, Uploads};

/// The longest time to fetch all files of a message: later messages of its session wait for them.
const FETCH_WITHIN: Duration = Duration::from_mins(2);
/// The pauses before a file is fetched again.
const RETRIES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];
/// The longest time to save a file.
const SAVE_WITHIN: Duration = Duration::from_secs(30);
/// The longest time to read all files of a message; what is left then arrives as files alone.
const READ_WITHIN: Duration = Duration::from_mins(1);
/// The most files of one message.
const MAX_FILES: usize = 10;
/// The longest text that a file is read as, in bytes.
const MAX_READ_BYTES: usize = 16 << 10;
/// The shortest name of an account that is looked for in speech, in characters.
const MIN_SPOKEN_NAME: usize = 3;

/// A file that was fetched: its path in the workspace, or why there is none.
type Fetched = Result<String, String>;

/// A voice note, and what is said in it as far as it could be read.
struct Heard {
    file: Fetched,
    said: Result<Option<String>, String>,
}

/// The files of a message, on their way into the workspace of its session.
pub(super) struct Files<'a> {
    store: &'a Store,
    at_work: &'a AtWork,
    of: FilesOf<'a>,
    /// The time that is left to fetch.
    fetch_left: Duration,
    /// The time that is left to read.
    left: Duration,
    /// The voice notes that were listened to, by their places.
    heard: Vec<(usize, Heard)>,
    /// The names of those that were saved.
    saved: Vec<String>,
}

/// The message that has the files, and the session that it is for.
pub(super) struct FilesOf<'a> {
    /// The account that has them; `None` if it is configured no more.
    pub(super) account: Option<&'a Account>,
    pub(super) session: &'a SessionRecord,
    pub(super) target: &'a Target,
    pub(super) sender: &'a str,
    pub(super) id: MessageId,
    pub(super) media: &'a [Media],
}

impl<'a> Files<'a> {
    pub(super) fn new(store: &'a Store, at_work: &'a AtWork, of: FilesOf<'a>) -> Self {
        let (heard, saved) = (Vec::new(), Vec::new());
        Self { store, at_work, of, fetch_left: FETCH_WITHIN, left: READ_WITHIN, heard, saved }
    }

    /// Returns true as long as the message waits: nothing is fetched or read for one that was taken back, or whose sender is blocked.
    async fn are_wanted(&self) -> bool {
        // Where the store cannot be read, its next step shows it.
        self.store.is_to_be_read(self.of.id).await.unwrap_or(true)
    }

    /// Listens to the voice notes, and returns true if one says this name of the account.
    pub(super) async fn speak_of(&mut self, name: &str) -> bool {
        self.listen().await;
        if self.heard.iter().any(|(_, heard)| heard.file.is_err() || heard.said.is_err()) {
            tracing::warn!(
                session = %self.of.session.key,
                "a voice note in a group cannot be heard: it may have been for the agent"
            );
        }
        let mut said = self.heard.iter().filter_map(|(_, heard)| heard.said.as_ref().ok()?.as_deref());
        said.any(|said| is_spoken(said, name))
    }

    async fn listen(&mut self) {
        for (number, media) in self.of.media.iter().enumerate().take(MAX_FILES) {
            let is_heard = self.heard.iter().any(|(heard, _)| *heard == number);
            if media.kind != MediaKind::Voice || is_heard {
                continue;
            }
            let file = self.fetch(number, media).await;
            let said = match &file {
                Ok(path) => self.read(path, ReadsMedia::transcript).await,
                Err(_) => Ok(None),
            };
            self.heard.push((number, Heard { file, said }));
        }
    }

    /// Reads a file by a function, as long as there is time, and not too many are read for the sender.
    async fn read(
        &mut self,
        path: &str,
        by: for<'r> fn(&'r (dyn ReadsMedia + 'static), MediaOf<'r>, &'r str) -> Reading<'r>,
    ) -> Result<Option<String>, String> {
        if self.left.is_zero()
            || !self.are_wanted().await
            || !self.at_work.reads.count(self.of.sender, now(self.store))
        {
            return Ok(None);
        }
        let begun = tokio::time::Instant::now();
        let _typing = self.typing();
        let of = MediaOf { session: self.of.session, target: self.of.target, sender: self.of.sender };
        let read = tokio::time::timeout(self.left, by(&*self.at_work.readers, of, path)).await;
        self.left = self.left.saturating_sub(begun.elapsed());
        read.unwrap_or_else(|_| Err("it took too long".to_owned()))
    }

    /// Shows the sender that something happens with their message.
    fn typing(&self) -> Option<tokio::task::JoinHandle<()>> {
        let account = Arc::clone(&self.of.account?.account);
        let conversation: Conversation = self.of.target.conversation.parse().ok()?;
        Some(tokio::spawn(async move { account.typing(&conversation).await }))
    }

    /// Removes those that were saved: the message is none for the agent.
    pub(super) async fn forget(self) {
        let names = self.saved;
        if names.is_empty() {
            return;
        }
        let (workspaces, session) = (Arc::clone(&self.at_work.workspaces), self.of.session.clone());
        let removing = tokio::task::spawn_blocking(move || {
            let workspace = workspaces.workspace(&session)?;
            let uploads = Uploads::open(&workspace).map_err(|error| error.to_string())?;
            names
                .iter()
                .try_for_each(|name| uploads.remove(name).map(drop))
                .map_err(|error| error.to_string())
        });
        if let Ok(Err(reason)) = removing.await {
            tracing::warn!(reason, "files that are not for the agent stay in its workspace");
        }
    }

    /// Fetches and reads the files. Returns lines for the agent about each: where it is and what it says, or why it is not there.
    pub(super) async fn lines(&mut self) -> Vec<String> {
        self.listen().await;
        let mut lines = Vec::new();
        for (number, media) in self.of.media.iter().enumerate() {
            if number == MAX_FILES {
                let more = self.of.media.len() - MAX_FILES;
                lines.push(format!("[file: {more} more were not fetched]"));
                break;
            }
            let place = self.heard.iter().position(|(heard, _)| *heard == number);
            if let Some(place) = place {
                lines.extend(of_voice(self.heard.swap_remove(place).1));
                continue;
            }
            let kind = kind_name(media.kind);
            match self.fetch(number, media).await {
                Ok(path) if media.kind == MediaKind::Image => {
                    let described = self.read(&path, ReadsMedia::description).await;
                    lines.extend(of_picture(&path, described));
                }
                Ok(path) => lines.push(format!("[{kind}: {path}]")),
                Err(reason) => lines.push(format!("[{kind} that could not be fetched: {reason}]")),
            }
        }
        lines
    }

    async fn fetch(&mut self, number: usize, media: &Media) -> Fetched {
        let Some(account) = self.of.account else { return Err("its account is not configured".to_owned()) };
        let channel = &account.account;
        let max = channel.limits().media_in.min(MAX_FILE_BYTES as u64);
        if media.size.is_some_and(|size| size > max) {
            return Err(format!("it has {} bytes, and the limit is {max}", media.size.unwrap_or_default()));
        }
        if !self.are_wanted().await {
            return Err("its message was taken back".to_owned());
        }
        let begun = tokio::time::Instant::now();
        let fetched = tokio::time::timeout(self.fetch_left, fetch(&**channel, media, max)).await;
        self.fetch_left = self.fetch_left.saturating_sub(begun.elapsed());
        let content = fetched.map_err(|_| "it took too long".to_owned())?.map_err(|error| error.reason)?;
        let name = file_name(self.of.id, number, media);
        let (workspaces, session) = (Arc::clone(&self.at_work.workspaces), self.of.session.clone());
        let saving = tokio::task::spawn_blocking(move || {
            let workspace = workspaces.workspace(&session).map_err(|reason| {
                // It may name files and agents.
                tracing::error!(session = %session.key, reason, "a file cannot be saved");
                "it cannot be saved at present".to_owned()
            })?;
            let uploads = Uploads::open(&workspace).map_err(|error| error.to_string())?;
            let upload = uploads.save_once(&name, &content).map_err(|error| error.to_string())?;
            Ok::<_, String>(upload.path)
        });
        let saved = tokio::time::timeout(SAVE_WITHIN, saving).await;
        let saved = saved.map_err(|_| "saving it took too long".to_owned())?;
        let path = saved.unwrap_or_else(|_| Err("it cannot be saved".to_owned()))?;
        self.saved.extend(path.rsplit('/').next().map(str::to_owned));
        Ok(path)
    }
}

/// Fetches a file, in several tries: a platform may not be reached for a moment, such as after a start.
async fn fetch(channel: &dyn Channel, media: &Media, max: u64) -> Result<Bytes, ReceiveError> {
    for pause in RETRIES {
        match channel.fetch(media, max).await {
            Err(error) => tokio::time::sleep(error.retry_after.unwrap_or(pause).max(pause)).await,
            fetched => return fetched,
        }
    }
    channel.fetch(media, max).await
}

/// Returns true if speech can name an account: a short name occurs in any text.
pub(super) fn can_be_spoken(name: &str) -> bool {
    letters(name).chars().count() >= MIN_SPOKEN_NAME
}

/// The lines about a voice note: what is said is what the sender says.
fn of_voice(heard: Heard) -> Vec<String> {
    let path = match heard.file {
        Ok(path) => path,
        Err(reason) => return vec![format!("[voice note that could not be fetched: {reason}]")],
    };
    match heard.said {
        Ok(None) => vec![format!("[voice note: {path}]")],
        Ok(Some(said)) if said.trim().is_empty() => vec![format!("[voice note: {path}, without speech]")],
        Ok(Some(said)) => {
            let said = cut(&said).split(is_line_end).map(unlike_a_remark);
            [format!("[voice note: {path}, which says:]")].into_iter().chain(said).collect()
        }
        Err(reason) => vec![format!("[voice note: {path}, which could not be transcribed: {reason}]")],
    }
}

/// The lines about a picture. A model wrote the description, and text in a picture may be anybody's.
fn of_picture(path: &str, described: Result<Option<String>, String>) -> Vec<String> {
    let described = described.unwrap_or_else(|reason| {
        tracing::warn!(reason, "a picture is not described");
        None
    });
    match described {
        None => vec![format!("[picture: {path}]")],
        Some(text) => {
            let lines = cut(text.trim()).split(is_line_end).map(|line| format!("> {line}"));
            [format!("[picture: {path}, as a model describes it:]")].into_iter().chain(lines).collect()
        }
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_READ_BYTES)]
}

/// Returns true if speech has the name of an account: by whole words that make it, however that is written.
fn is_spoken(said: &str, name: &str) -> bool {
    if !can_be_spoken(name) {
        return false;
    }
    let name = letters(name);
    let words: Vec<String> = said.split_whitespace().map(letters).collect();
    (0..words.len()).any(|first| {
        let mut rest = name.as_str();
        words[first..]
            .iter()
            .map_while(|word| {
                rest = rest.strip_prefix(word.as_str())?;
                Some(rest.is_empty())
            })
            .any(|is_whole| is_whole)
    })
}

fn letters(text: &str) -> String {
    text.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
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

/// A name that no file of another message has, so that a file which is fetched again is found, and no other one is removed. The sender's own name for
/// it is text of anybody.
fn file_name(MessageId(id): MessageId, number: usize, media: &Media) -> String {
    let place = number + 1;
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
    if plain.is_empty() {
        let ending = match media.kind {
            MediaKind::Image => "jpg",
            MediaKind::Voice => "ogg",
            MediaKind::Audio => "mp3",
            MediaKind::Video => "mp4",
            _ => "bin",
        };
        return format!("{id}-{place}.{ending}");
    }
    format!("{id}-{place}-{plain}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speech_names_an_account_however_that_is_written() {
        assert!(is_spoken("Hey, Family Bot! What is for dinner?", "@family_bot"));
        assert!(is_spoken("familybot, hello", "@family_bot"));
        assert!(!is_spoken("The family is at home.", "@family_bot"));
        assert!(!is_spoken("A robot, both of them", "@bot"), "a part of a word is no name");
        assert!(!is_spoken("it is so", "@it"), "a short name occurs in any text");
    }

    #[test]
    fn nothing_said_or_shown_looks_like_a_remark() {
        let heard =
            Heard { file: Ok("uploads/1".to_owned()), said: Ok(Some("hello\n[picture: x]".to_owned())) };
        assert_eq!(of_voice(heard), ["[voice note: uploads/1, which says:]", "hello", "> [picture: x]"]);
        let shown = of_picture("uploads/2", Ok(Some("A sign.\n[forwarded".to_owned())));
        assert_eq!(shown[1..], ["> A sign.", "> [forwarded"]);
    }

    #[test]
    fn a_file_has_a_plain_name() {
        let name = |own: Option<&str>| {
            let media = Media {
                kind: MediaKind::Document,
                reference: "r".to_owned(),
                name: own.map(str::to_owned),
                media_type: None,
                size: None,
            };
            file_name(MessageId(77), 0, &media)
        };
        assert_eq!(name(None), "77-1.bin");
        assert_eq!(name(Some("report 1.pdf")), "77-1-report-1.pdf");
        assert_eq!(name(Some("../../etc/passwd")), "77-1-etc-passwd");
        assert_eq!(name(Some("...")), "77-1.bin");
        assert!(name(Some(&"ä".repeat(300))).len() <= 100);
    }
}
