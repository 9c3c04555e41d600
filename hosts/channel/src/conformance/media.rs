//! Checks of files.

use std::sync::Arc;

use bytes::Bytes;

use super::bench::{ADA, Bench};
use super::guard::guarded;
use super::report::{Checked, Stop, ensure, equal, shown};
use super::sending::{filled, markup_of};
use crate::event::{EventKind, MediaKind};
use crate::outgoing::{Action, OutgoingMedia};

/// The largest file that a check makes.
const MAX_FILE: u64 = 64 << 20;

/// Bytes that are no text, with something like ends of lines and forms in them.
const BYTES: &[u8] = b"\r\n--boundary--\r\n\x00\xff\xfe{\"a\":1}\r\n\r\n";

fn file(bytes: impl Into<Bytes>, caption: &str) -> Action {
    Action::Media(media(bytes, caption))
}

fn media(bytes: impl Into<Bytes>, caption: &str) -> OutgoingMedia {
    OutgoingMedia {
        kind: MediaKind::Document,
        name: "a \"list\" ä.bin".to_owned(),
        media_type: "application/octet-stream".to_owned(),
        bytes: bytes.into(),
        caption: caption.to_owned(),
        caption_markup: None,
    }
}

/// Stops the check of an ability that the platform does not have, once its action is refused.
async fn require(bench: &mut Bench<'_>) -> Checked<bool> {
    if bench.channel.capabilities().media {
        return Ok(true);
    }
    let outgoing = bench.outgoing(ADA, file(BYTES, ""));
    bench.expect_refused("a file", &outgoing).await?;
    Ok(false)
}

pub(super) async fn sent(bench: &mut Bench<'_>) -> Checked {
    if !require(bench).await? {
        return Ok(());
    }
    let caption = "A file & <its> caption 😀 e\u{301}";
    let many = Bytes::from(zeros(bench.channel.limits().media_out.min(300_000)));
    for (bytes, caption) in [(Bytes::from_static(BYTES), caption), (many, "")] {
        let mut media = media(bytes.clone(), caption);
        media.caption_markup = markup_of(&bench.channel.style(), caption);
        let outgoing = bench.outgoing(ADA, Action::Media(media));
        let sent = bench.deliver_new(&outgoing).await?;
        ensure(sent.file.as_deref() == Some(&bytes[..]), format!("a file of {} bytes", bytes.len()), || {
            format!("{:?} bytes", sent.file.as_ref().map(Vec::len))
        })?;
        equal("the caption", sent.text.as_str(), caption)?;
    }
    Ok(())
}

pub(super) async fn caption(bench: &mut Bench<'_>) -> Checked {
    if !require(bench).await? {
        return Ok(());
    }
    let (max, unit) = (bench.channel.limits().caption, bench.channel.style().unit);
    if u64::try_from(max).unwrap_or(u64::MAX) > MAX_FILE {
        return Err(Stop::LeftOut("the limit of captions is too high to reach".to_owned()));
    }
    for filler in ["x", "😀"] {
        let caption = filled(filler, max, |text| unit.count(text));
        let outgoing = bench.outgoing(ADA, file(BYTES, &caption));
        equal("the caption at the limit", &bench.deliver_new(&outgoing).await?.text, &caption)?;
        let outgoing = bench.outgoing(ADA, file(BYTES, &format!("{caption}x")));
        bench.expect_refused("a caption of one unit more than the limit", &outgoing).await?;
    }
    Ok(())
}

pub(super) async fn limit(bench: &mut Bench<'_>) -> Checked {
    if !require(bench).await? {
        return Ok(());
    }
    let max = bench.channel.limits().media_out;
    if max > bench.double.max_file().min(MAX_FILE) {
        return Err(Stop::LeftOut(format!("the double takes no file of {max} bytes, which is the limit")));
    }
    let outgoing = bench.outgoing(ADA, file(zeros(max), ""));
    let sent = bench.deliver_new(&outgoing).await?;
    equal("the bytes of the file", &sent.file.map(|file| file.len() as u64), &Some(max))
}

pub(super) async fn too_large(bench: &mut Bench<'_>) -> Checked {
    if !require(bench).await? {
        return Ok(());
    }
    let max = bench.channel.limits().media_out;
    if max > MAX_FILE {
        return Err(Stop::LeftOut("the limit of files is too high to reach".to_owned()));
    }
    let outgoing = bench.outgoing(ADA, file(zeros(max + 1), ""));
    bench.expect_refused("a file of one byte more than the limit", &outgoing).await
}

fn zeros(length: u64) -> Vec<u8> {
    vec![0; usize::try_from(length).unwrap_or_default()]
}

pub(super) async fn received(bench: &mut Bench<'_>) -> Checked {
    bench.catch_up().await?;
    bench.double.write_file(ADA, "list.bin", BYTES)?;
    let has_media = |kind: &EventKind| matches!(kind, EventKind::Message(it) if !it.media.is_empty());
    let kinds = bench.read_until("the message with a file", has_media).await?;
    let Some(EventKind::Message(message)) = kinds.into_iter().find(has_media) else {
        return Err(Stop::failed("a message with a file", "none"));
    };
    let media = &message.media[0];
    equal("the number of files", &message.media.len(), &1)?;
    let length = BYTES.len() as u64;
    ensure(media.size.is_none_or(|size| size == length), format!("the size {length}"), || shown(media))?;
    let channel = Arc::clone(&bench.channel);
    for max in [length, length + 1, u64::from(u32::MAX)] {
        let fetched = guarded("fetch", channel.fetch(media, max)).await?;
        equal(&format!("the bytes, of at most {max}"), &fetched.as_deref(), &Ok(BYTES))?;
    }
    for max in [0, length - 1] {
        let fetched = guarded("fetch", channel.fetch(media, max)).await?;
        bench.note(&fetched.as_ref().err());
        ensure(fetched.is_err(), format!("an error of fetch with the limit {max}"), || shown(&fetched))?;
    }
    // The size that the platform says is no limit of what it gives.
    let mut unsized_media = media.clone();
    unsized_media.size = None;
    let fetched = guarded("fetch", channel.fetch(&unsized_media, length - 1)).await?;
    ensure(fetched.is_err(), "an error of fetch without a size that was said", || shown(&fetched))?;
    let mut unknown = media.clone();
    unknown.reference = format!("{}-of-no-file", media.reference);
    let fetched = guarded("fetch", channel.fetch(&unknown, length)).await?;
    bench.note(&fetched);
    ensure(fetched.is_err(), "an error of fetch for a reference of no file", || shown(&fetched))?;
    if let Ok(channel) = bench.double.open_unreachable() {
        let fetched = guarded("fetch", channel.fetch(media, length)).await?;
        bench.note(&fetched);
        ensure(fetched.is_err(), "an error of fetch in an outage", || shown(&fetched))?;
    }
    Ok(())
}
