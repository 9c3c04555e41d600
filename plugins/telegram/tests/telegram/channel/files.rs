//! Files that are sent and fetched.

use super::{Place, outgoing};
use bytes::Bytes;
use serde_json::json;
use toolkit_channel::{Action, Media, MediaKind, OutgoingMedia, SendError};
use toolkit_loopback::bot_api::{Fault, File};
use toolkit_loopback::{Answer, Loopback};

fn media(kind: MediaKind, name: &str, media_type: &str, bytes: impl Into<Bytes>) -> OutgoingMedia {
    OutgoingMedia {
        kind,
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        bytes: bytes.into(),
        caption: String::new(),
        caption_markup: None,
    }
}

#[tokio::test]
async fn a_file_is_sent_by_the_method_for_its_kind_and_type() {
    use MediaKind::{Audio, Document, Image, Video, Voice};
    let place = Place::new().await;
    for (kind, media_type, method) in [
        (Image, "image/png", "sendPhoto"),
        (Image, "image/jpeg", "sendPhoto"),
        (Image, "image/svg+xml", "sendDocument"),
        (Image, "image/gif", "sendDocument"),
        (Voice, "audio/ogg", "sendVoice"),
        (Voice, "audio/ogg; codecs=opus", "sendVoice"),
        (Voice, "audio/wav", "sendDocument"),
        (Audio, "audio/mpeg", "sendAudio"),
        (Audio, "audio/flac", "sendDocument"),
        (Video, "video/mp4", "sendVideo"),
        (Video, "video/webm", "sendDocument"),
        (Document, "image/png", "sendDocument"),
        (Document, "no type\r\nx: y", "sendDocument"),
    ] {
        // Bytes that are no text, with something like a boundary in them.
        let bytes = [&b"\r\n--toolkit-\xff\x00--\r\n"[..], media_type.as_bytes()].concat();
        let before = place.telegram.sent().len();
        place.send(Action::Media(media(kind, "a \"file\" ä", media_type, bytes.clone()))).await.unwrap();
        let sent = place.telegram.sent().remove(before);
        let expected = match media_type {
            "no type\r\nx: y" => "application/octet-stream",
            "audio/ogg; codecs=opus" => "audio/ogg; codecs=opus",
            other => other,
        };
        assert_eq!((sent.method.as_str(), sent.text.as_str()), (method, ""), "{media_type}");
        assert_eq!(sent.file, Some(File::new("a %22file%22 ä", expected, bytes)), "{media_type}");
    }
    let found = place.telegram.violations();
    assert!(found.is_empty(), "{found:?}");
}

#[tokio::test]
async fn a_file_has_a_caption_with_markup_and_replies() {
    let place = Place::new().await;
    let question = place.telegram.say(&place.ada, &place.direct, "Show me");
    let mut photo = media(MediaKind::Image, "", "image/png", &b"photo"[..]);
    (photo.caption, photo.caption_markup) =
        ("Here & now".to_owned(), Some("<b>Here</b> &amp; now".to_owned()));
    let mut answer = outgoing(&place.direct, Action::Media(photo.clone()));
    answer.reply_to = Some(question.to_string());
    answer.silent = true;
    place.channel.send(&answer).await.unwrap();
    let sent = place.telegram.sent().remove(0);
    assert_eq!(
        (sent.text.as_str(), sent.entities.len(), sent.reply_to, sent.is_silent),
        ("Here & now", 1, Some(question), true)
    );
    assert_eq!(sent.file.unwrap().name, "file");

    photo.caption_markup = Some("<b>".to_owned());
    assert!(matches!(place.send(Action::Media(photo.clone())).await, Err(SendError::Markup { .. })));
    (photo.caption, photo.caption_markup) = ("ä".repeat(1024), None);
    place.send(Action::Media(photo.clone())).await.unwrap();
    photo.caption.push('a');
    let refused = place.send(Action::Media(photo)).await;
    assert!(
        matches!(&refused, Err(SendError::Refused { reason }) if reason.contains("caption is too long")),
        "{refused:?}"
    );
    assert_eq!(place.telegram.sent().len(), 2);
}

#[tokio::test]
async fn a_picture_that_cannot_be_shown_is_sent_as_a_file() {
    let place = Place::new().await;
    let large = media(MediaKind::Image, "a.png", "image/png", vec![1; (10 << 20) + 1]);
    place.send(Action::Media(large)).await.unwrap();
    let answer =
        json!({ "ok": false, "error_code": 400, "description": "Bad Request: PHOTO_INVALID_DIMENSIONS" });
    place.telegram.inject("sendPhoto", 1, Fault::Answer(Answer::json(400, &answer)));
    place.send(Action::Media(media(MediaKind::Image, "b.png", "image/png", &b"wide"[..]))).await.unwrap();
    let sent = place.telegram.sent();
    assert!(sent.iter().all(|sent| sent.method == "sendDocument"), "{:?}", place.telegram.calls().len());
    assert_eq!(sent[1].file.as_ref().unwrap().bytes, b"wide");
    place.assert_no_violations();
}

#[tokio::test]
async fn a_file_beyond_the_limit_is_refused_without_a_request() {
    let place = Place::new().await;
    let most = usize::try_from(place.channel.limits().media_out).unwrap();
    let refused = place.send(Action::Media(media(MediaKind::Document, "a", "a/b", vec![0; most + 1]))).await;
    assert_eq!(refused, Err(SendError::refused("the file is too large: a bot can send at most 50 MiB")));
    assert!(place.telegram.calls().is_empty());
}

#[tokio::test]
async fn a_file_is_fetched_within_a_limit() {
    let place = Place::new().await;
    let of = |reference: String| Media {
        kind: MediaKind::Document,
        reference,
        name: None,
        media_type: None,
        size: None,
    };
    let file = of(place.telegram.add_file(b"0123456789"));
    assert_eq!(place.channel.fetch(&file, 10).await.unwrap(), "0123456789");
    let error = async |file: &Media, max: u64| place.channel.fetch(file, max).await.unwrap_err();
    let too_long = "the file has more than 9 bytes, which is the limit";
    assert_eq!(error(&file, 9).await.reason, too_long);
    // A server that gives more than it said.
    place.telegram.inject("file", 1, Fault::Answer(Answer::bytes(200, vec![0; 1 << 20])));
    let small = of(place.telegram.add_file(b"0"));
    assert_eq!(error(&small, 9).await.reason, too_long);
    place.telegram.inject("file", 1, Fault::ServerError(502));
    assert_eq!(error(&small, 9).await.reason, "Telegram does not give the file (HTTP status 502)");
    place.telegram.inject("file", 1, Fault::CloseBefore);
    assert!(error(&small, 9).await.reason.starts_with("the file cannot be fetched from Telegram ("));
    place.telegram.inject("getFile", 1, Fault::TooManyRequests(3));
    assert_eq!(error(&small, 9).await.retry_after.unwrap().as_secs(), 3);
    assert!(error(&of("none".to_owned()), 9).await.reason.contains("invalid file_id"));
    let huge = of(place.telegram.add_file(&vec![0; (20 << 20) + 1]));
    assert!(error(&huge, 1 << 30).await.reason.contains("file is too big"));
    assert_eq!(place.channel.fetch(&small, 1).await.unwrap(), "0");
    place.assert_no_violations();
}

#[tokio::test]
async fn a_file_is_fetched_from_the_address_of_the_bot_alone() {
    let place = Place::new().await;
    let elsewhere = Loopback::start(|_| Answer::bytes(200, "stolen")).await;
    let file = Media {
        kind: MediaKind::Document,
        reference: place.telegram.add_file(b"0"),
        name: None,
        media_type: None,
        size: None,
    };
    let redirect = Answer::bytes(302, "").with_header("location", elsewhere.url());
    place.telegram.inject("file", 1, Fault::Answer(redirect));
    let error = place.channel.fetch(&file, 100).await.unwrap_err();
    assert_eq!(error.reason, "Telegram does not give the file (HTTP status 302)");
    for path in ["../../getMe", "/etc/passwd", "documents//x", ".", "", "C:/../x"] {
        let answer = json!({ "ok": true, "result": { "file_id": "1", "file_path": path } });
        place.telegram.inject("getFile", 1, Fault::Answer(Answer::json(200, &answer)));
        let error = place.channel.fetch(&file, 100).await.unwrap_err();
        assert!(error.reason.contains("none of its address"), "{path}: {error}");
    }
    for path in [format!("{}/x", elsewhere.url()), "a?b#c".to_owned(), "%2e%2e/getMe".to_owned()] {
        let answer = json!({ "ok": true, "result": { "file_id": "1", "file_path": path } });
        place.telegram.inject("getFile", 1, Fault::Answer(Answer::json(200, &answer)));
        assert!(place.channel.fetch(&file, 100).await.is_err(), "{path}");
    }
    assert!(elsewhere.requests().is_empty());
    place.assert_no_violations();
}
