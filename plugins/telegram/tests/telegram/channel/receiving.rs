//! Updates, and the events of them.

use super::Place;
use serde_json::json;
use toolkit_channel::{Conversation, Event, EventKind, Media, MediaKind, Press, Sender};
use toolkit_loopback::bot_api::{File, User, UserMessage};

#[tokio::test]
async fn a_message_is_given_again_until_a_later_offset_confirms_it() {
    let place = Place::new().await;
    place.telegram.say(&place.ada, &place.direct, "Hello");
    place.telegram.say(&place.ada, &place.direct, "Are you there?");
    let events = place.events().await;
    let [first, second] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((first.offset.as_str(), second.offset.as_str()), ("500002", "500003"));
    let EventKind::Message(message) = &first.kind else { panic!("{first:?}") };
    assert_eq!((message.external_id.as_str(), message.message_id.as_str()), ("5/1", "1"));
    assert_eq!(message.conversation, Conversation::direct("5"));
    assert_eq!(message.sender, Some(Sender { id: "5".to_owned(), name: "Ada".to_owned(), is_bot: false }));
    assert_eq!((message.text.as_str(), message.title.as_ref()), ("Hello", None));
    assert!(message.media.is_empty() && message.place.is_none() && message.reply_to.is_none());
    assert!(!message.is_edited && !message.is_forwarded && !message.mentions_me && !message.replies_to_me);

    assert_eq!(place.events().await, events, "nothing was confirmed");
    let after_first = place.channel.receive(Some(&first.offset)).await.unwrap().events;
    assert_eq!(after_first, std::slice::from_ref(second));
    assert_eq!(place.telegram.pending_updates(), 1);
    assert_eq!(place.channel.receive(Some(&second.offset)).await.unwrap().events, Vec::<Event>::new());
    assert_eq!(place.telegram.pending_updates(), 0);
    place.assert_no_violations();
}

#[tokio::test]
async fn a_poll_that_waits_gets_a_message_that_comes() {
    let place = Place::new().await;
    place.channel.identify().await.unwrap();
    let say = async {
        place.telegram.wait_polling().await;
        place.telegram.say(&place.ada, &place.direct, "Hello");
    };
    // A poll that ended before the message was sent is followed by another one.
    let poll = async {
        loop {
            let events = place.events().await;
            if !events.is_empty() {
                return events;
            }
        }
    };
    let (events, ()) = tokio::join!(poll, say);
    assert_eq!(events.len(), 1);
    assert_eq!(
        place.channel.receive(Some("x")).await.unwrap_err().reason,
        "the offset that was stored for this bot is not a number"
    );
}

#[tokio::test]
async fn more_messages_than_one_answer_has_are_given_in_order() {
    let place = Place::new().await;
    for number in 0..250 {
        place.telegram.say(&place.ada, &place.direct, &number.to_string());
    }
    let (mut texts, mut offset) = (Vec::new(), None::<String>);
    while texts.len() < 250 {
        let batch = place.channel.receive(offset.as_deref()).await.unwrap();
        offset = batch.events.last().map(|event| event.offset.clone());
        assert!(batch.events.len() <= 100);
        texts.extend(batch.events.into_iter().map(|event| match event.kind {
            EventKind::Message(message) => message.text,
            other => panic!("{other:?}"),
        }));
    }
    assert!(texts.iter().enumerate().all(|(number, text)| *text == number.to_string()), "{texts:?}");
    place.assert_no_violations();
}

#[tokio::test]
async fn media_are_named_with_their_kind_and_size() {
    let place = Place::new().await;
    let (ada, chat) = (&place.ada, &place.direct);
    let deliver = |message: UserMessage| place.telegram.deliver(chat, message);
    deliver(UserMessage::photo(ada, b"a large photo").with_caption("Look"));
    deliver(UserMessage::voice(ada, b"voice"));
    deliver(UserMessage::audio(ada, File::new("song.mp3", "audio/mpeg", "song")));
    deliver(UserMessage::video(ada, File::new("film.mp4", "video/mp4", "film")));
    deliver(UserMessage::document(ada, File::new("list.pdf", "application/pdf", "list")));
    let gif = json!({ "file_id": "g", "mime_type": "video/mp4", "file_name": "a.mp4", "file_size": 9 });
    deliver(UserMessage::document(ada, File::new("a.mp4", "video/mp4", "gif")).with("animation", gif));
    deliver(
        UserMessage::text(ada, "")
            .with("sticker", json!({ "file_id": "s", "emoji": "👍", "is_animated": false })),
    );
    let messages = place.messages().await;
    let media = |kind, reference: &str, name: Option<&str>, media_type: &str, size| {
        let (name, media_type) = (name.map(str::to_owned), Some(media_type.to_owned()));
        Media { kind, reference: reference.to_owned(), name, media_type, size }
    };
    let found: Vec<_> = messages.iter().map(|message| message.media.as_slice()).collect();
    assert_eq!(
        found,
        [
            [media(MediaKind::Image, "file-2", None, "image/jpeg", Some(13))],
            [media(MediaKind::Voice, "file-3", None, "audio/ogg", Some(5))],
            [media(MediaKind::Audio, "file-4", Some("song.mp3"), "audio/mpeg", Some(4))],
            [media(MediaKind::Video, "file-5", Some("film.mp4"), "video/mp4", Some(4))],
            [media(MediaKind::Document, "file-6", Some("list.pdf"), "application/pdf", Some(4))],
            [media(MediaKind::Video, "g", Some("a.mp4"), "video/mp4", Some(9))],
            [media(MediaKind::Image, "s", None, "image/webp", None)],
        ]
    );
    assert_eq!(messages[0].text, "Look");
    for message in &messages[..5] {
        let bytes = place.channel.fetch(&message.media[0], 100).await.unwrap();
        assert_eq!(Some(bytes.len() as u64), message.media[0].size);
    }
    place.assert_no_violations();
}

#[tokio::test]
async fn places_are_given_once() {
    let place = Place::new().await;
    let id = place.telegram.deliver(&place.direct, UserMessage::location(&place.ada, 52.5, 13.25));
    let venue = json!({ "title": "Museum", "address": "Main Street 1", "location": { "latitude": 1.0, "longitude": 2.0 } });
    place.telegram.deliver(&place.direct, UserMessage::location(&place.ada, 1.0, 2.0).with("venue", venue));
    place.telegram.deliver(&place.direct, UserMessage::location(&place.ada, 91.0, 0.0));
    let moved = json!({
        "message_id": id, "date": 1, "edit_date": 2, "chat": { "id": 5, "type": "private" },
        "from": { "id": 5, "is_bot": false, "first_name": "Ada" }, "location": { "latitude": 52.6, "longitude": 13.25 },
    });
    place.telegram.push_update("edited_message", &moved);
    let messages = place.messages().await;
    let [first, second] = messages.as_slice() else { panic!("{messages:?}") };
    let at = first.place.unwrap();
    assert_eq!((at.latitude, at.longitude, first.text.as_str()), (52.5, 13.25, ""));
    assert_eq!(second.text, "Museum\nMain Street 1");
}

#[tokio::test]
async fn each_edit_has_an_id_of_its_own() {
    let place = Place::new().await;
    let id = place.telegram.say(&place.ada, &place.direct, "Helo");
    place.telegram.edit(&place.direct, id, "Hello");
    place.telegram.edit(&place.direct, id, "Hello!");
    let messages = place.messages().await;
    let edited: Vec<_> = messages.iter().map(|message| (message.is_edited, message.text.as_str())).collect();
    assert_eq!(edited, [(false, "Helo"), (true, "Hello"), (true, "Hello!")]);
    assert!(messages.iter().all(|message| message.message_id == "1"));
    let mut ids: Vec<_> = messages.iter().map(|message| message.external_id.clone()).collect();
    let again: Vec<_> = place.messages().await.into_iter().map(|message| message.external_id).collect();
    assert_eq!(ids, again, "they are the same when they are given again");
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[tokio::test]
async fn texts_of_others_than_the_sender_are_marked_as_forwarded() {
    let place = Place::new().await;
    let (ada, bob) = (&place.ada, User::new(6, "Bob"));
    let deliver = |message: UserMessage| place.telegram.deliver(&place.direct, message);
    deliver(UserMessage::text(ada, "mine"));
    deliver(UserMessage::text(ada, "Bob's").forwarded_from(&bob));
    deliver(UserMessage::text(ada, "a bot's").via(&User { is_bot: true, ..User::new(9, "Bot") }));
    deliver(UserMessage::text(ada, "of an old server").with("forward_date", 5.into()));
    deliver(UserMessage::text(ada, "of a channel").with("is_automatic_forward", true.into()));
    let marked: Vec<_> = place.messages().await.iter().map(|message| message.is_forwarded).collect();
    assert_eq!(marked, [false, true, true, true, true]);
    let telegram = User::new(777_000, "Telegram");
    deliver(UserMessage::text(&telegram, "Login code"));
    deliver(UserMessage::text(&User { is_bot: true, ..bob }, "I am a bot"));
    let messages = place.messages().await;
    assert!(messages[5..].iter().all(|message| message.sender.as_ref().unwrap().is_bot));
}

#[tokio::test]
async fn presses_come_with_their_data_and_are_acknowledged() {
    let place = Place::new().await;
    let sent = place.send(super::text("Choose")).await.unwrap().message_id.unwrap();
    let press = place.telegram.press(&place.ada, &place.direct, sent.parse().unwrap(), "any data");
    place.telegram.push_update(
        "callback_query",
        &json!({ "id": "1", "from": { "id": 5 }, "inline_message_id": "1", "data": "x" }),
    );
    let old = json!({ "id": "2", "from": { "id": 5 }, "data": "x", "message": { "chat": { "id": 5, "type": "private" }, "message_id": 3, "date": 0 } });
    place.telegram.push_update("callback_query", &old);
    let events = place.events().await;
    let expected = Press {
        id: press.clone(),
        sender: Sender { id: "5".to_owned(), name: "Ada".to_owned(), is_bot: false },
        conversation: Conversation::direct("5"),
        message_id: sent,
        data: "any data".to_owned(),
    };
    assert_eq!(events[0].kind, EventKind::Press(expected));
    assert_eq!(events[1].kind, EventKind::Other);
    assert!(matches!(&events[2].kind, EventKind::Press(press) if press.message_id == "3"));
    place.channel.acknowledge(&press, &"ä".repeat(300)).await;
    assert_eq!(place.telegram.acknowledgement(&press), Some("ä".repeat(200)));
    // One that is too old is no error: nothing depends on it.
    place.channel.acknowledge(&press, "").await;
    place.assert_no_violations();
}

#[tokio::test]
async fn a_malformed_update_blocks_none_behind_it() {
    let place = Place::new().await;
    place.telegram.push_text(|id| format!(r#"{{"update_id":{id},"message":{{"message_id":"five"}}}}"#));
    place.telegram.push_text(|id| format!(r#"{{"update_id":{id},"message":{{"text":"\ud800","message_id":1,"chat":{{"id":5,"type":"private"}}}}}}"#));
    place.telegram.push_text(|id| {
        format!(r#"{{"update_id":{id},"message":{}1{}}}"#, "[".repeat(5_000), "]".repeat(5_000))
    });
    place.telegram.push_text(|id| {
        format!(r#"{{"update_id":{id},"message":{{"message_id":1e999,"chat":{{"id":5,"type":"private"}}}}}}"#)
    });
    place.telegram.push_text(|id| format!(r#"{{"update_id":{id},"a_kind_of_the_future":{{"id":"1"}}}}"#));
    place.telegram.push_text(|id| format!(r#"{{"update_id":{id},"message":{{"message_id":1,"text":"x","chat":{{"id":5,"type":"of the future"}}}}}}"#));
    place.telegram.push_text(|id| format!(r#"{{"update_id":{id},"message":{{"message_id":1,"chat":{{"id":5,"type":"private"}},"new_chat_title":"x"}}}}"#));
    place.telegram.push_text(|_| r#"{"update_id":"none","message":{}}"#.to_owned());
    place.telegram.push_text(|_| format!(r#"{{"update_id":{}}}"#, i64::MAX));
    place.telegram.push_text(|_| "[]".to_owned());
    place.telegram.say(&place.ada, &place.direct, "Hello");
    let events = place.events().await;
    let (last, before) = events.split_last().unwrap();
    assert_eq!(before.len(), 7);
    assert!(before.iter().all(|event| event.kind == EventKind::Other), "{before:?}");
    assert!(matches!(&last.kind, EventKind::Message(message) if message.text == "Hello"), "{last:?}");
    assert_eq!(place.channel.receive(Some(&last.offset)).await.unwrap().events, Vec::<Event>::new());
    assert_eq!(place.telegram.pending_updates(), 0);

    place.telegram.push_text(|_| "{}".to_owned());
    let error = place.channel.receive(Some(&last.offset)).await.unwrap_err();
    assert_eq!(error.reason, "Telegram sent updates without ids, so that they cannot be confirmed");
}
