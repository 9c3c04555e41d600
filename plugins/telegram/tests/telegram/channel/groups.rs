//! Groups: mentions, replies, topics, and those who write in their name.

use super::{Place, outgoing, text};
use serde_json::{Value, json};
use toolkit_channel::{Conversation, ConversationKind, EventKind, SendError};
use toolkit_loopback::bot_api::{Chat, UserMessage};

fn family() -> Chat {
    Chat::supergroup(-1_001_234, "Family")
}

#[tokio::test]
async fn mentions_of_the_bot_are_seen_in_texts_and_captions() {
    let place = Place::new().await;
    let (ada, chat) = (&place.ada, family());
    let deliver = |message: UserMessage| place.telegram.deliver(&chat, message);
    let linked = |id: i64| json!([{ "type": "text_mention", "offset": 0, "length": 3, "user": { "id": id, "is_bot": true, "first_name": "B" } }]);
    let with_entity = |offset: Value, length: Value| {
        let entities = json!([{ "type": "mention", "offset": offset, "length": length }]);
        UserMessage::text(ada, "😀@toolkit_test_bot").with("entities", entities)
    };
    let cases = [
        (UserMessage::text(ada, "Hello"), false),
        (UserMessage::text(ada, "😀 ä @toolkit_test_bot!"), true),
        (UserMessage::text(ada, "@Toolkit_Test_Bot hi"), true),
        (UserMessage::text(ada, "@toolkit_test_bot2 hi"), false),
        (UserMessage::text(ada, "mail@toolkit_test_bot"), false),
        (UserMessage::text(ada, "/new@toolkit_test_bot"), true),
        (UserMessage::text(ada, "/new@another_bot"), false),
        (UserMessage::text(ada, "/new"), false),
        (UserMessage::photo(ada, b"photo").with_caption("for @toolkit_test_bot"), true),
        (UserMessage::text(ada, "Bot").with("entities", linked(110_201_543)), true),
        (UserMessage::text(ada, "Bot").with("entities", linked(7)), false),
        (with_entity(2.into(), 17.into()), true),
        (with_entity(1.into(), 17.into()), false),
        (with_entity(2.into(), 18.into()), false),
        (with_entity((-2).into(), 17.into()), false),
        (with_entity(i64::MAX.into(), i64::MAX.into()), false),
    ];
    let expected: Vec<bool> = cases.iter().map(|(_, expected)| *expected).collect();
    for (message, _) in cases {
        deliver(message);
    }
    let messages = place.messages().await;
    let found: Vec<bool> = messages.iter().map(|message| message.mentions_me).collect();
    assert_eq!(found, expected);
    let conversation = Conversation::new(ConversationKind::Group, "-1001234");
    assert!(messages.iter().all(|message| message.conversation == conversation));
    assert_eq!(messages[0].title.as_deref(), Some("Family"));
    assert_eq!(messages[0].external_id, "-1001234/1");
}

#[tokio::test]
async fn replies_name_the_message_and_quote_it() {
    let place = Place::new().await;
    let (ada, chat) = (&place.ada, &place.direct);
    let own: i64 = place.send(text("I am a bot")).await.unwrap().message_id.unwrap().parse().unwrap();
    let first = place.telegram.say(ada, chat, "Hello");
    let reply = |id: i64| UserMessage::text(ada, "Yes").replying_to(id);
    place.telegram.deliver(chat, reply(first));
    place.telegram.deliver(chat, reply(own).quoting("a bot"));
    let elsewhere =
        UserMessage::text(ada, "See").with("external_reply", json!({ "origin": {} })).quoting("other");
    place.telegram.deliver(chat, elsewhere);
    let messages = place.messages().await;
    let found: Vec<_> = messages
        .iter()
        .map(|message| (message.reply_to.clone(), message.replies_to_me, message.quote.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            (None, false, None),
            (Some(first.to_string()), false, None),
            (Some(own.to_string()), true, Some("a bot")),
            (None, false, Some("other")),
        ]
    );
}

#[tokio::test]
async fn a_topic_is_a_thread_and_no_reply_to_the_message_that_began_it() {
    let place = Place::new().await;
    let (ada, chat) = (&place.ada, family());
    let topic = place.telegram.add_topic(&chat, "Holidays");
    let first = place.telegram.deliver(&chat, UserMessage::text(ada, "Where?").in_topic(topic));
    place.telegram.deliver(&chat, UserMessage::text(ada, "Here").in_topic(topic).replying_to(first));
    // A reply in a group without topics has a thread as well, which is none.
    place.telegram.deliver(&chat, UserMessage::text(ada, "no topic").with("message_thread_id", 77.into()));
    let events = place.events().await;
    assert_eq!(events[0].kind, EventKind::Other, "the topic was made");
    let messages = place.messages().await;
    let found: Vec<_> = messages
        .iter()
        .map(|message| (message.conversation.thread.clone(), message.reply_to.clone(), message.replies_to_me))
        .collect();
    let thread = Some(topic.to_string());
    assert_eq!(
        found,
        [
            (thread.clone(), None, false),
            (thread.clone(), Some(first.to_string()), false),
            (None, None, false)
        ]
    );

    let mut answer = outgoing(&chat, text("In the topic"));
    answer.conversation = messages[0].conversation.clone();
    place.channel.send(&answer).await.unwrap();
    place.channel.typing(&answer.conversation).await;
    let sent = place.telegram.sent();
    assert_eq!(sent[0].thread, Some(topic));
    let typing = place.telegram.calls_of("sendChatAction").remove(0).fields;
    assert_eq!(typing, json!({ "chat_id": chat.id, "message_thread_id": topic, "action": "typing" }));
    let press = place.telegram.press(ada, &chat, sent[0].message_id, "x");
    let events = place.events().await;
    let EventKind::Press(pressed) = &events.last().unwrap().kind else { panic!("{events:?}") };
    assert_eq!((pressed.id.as_str(), &pressed.conversation), (press.as_str(), &answer.conversation));
    place.assert_no_violations();
}

#[tokio::test]
async fn nobody_is_the_sender_in_the_name_of_a_group_or_channel() {
    let place = Place::new().await;
    place.telegram.deliver(&family(), UserMessage::text(&place.ada, "We").anonymous());
    let news = Chat::channel(-1_005_555, "News");
    let id = place.telegram.deliver(&news, UserMessage::text(&place.ada, "Today"));
    place.telegram.edit(&news, id, "Yesterday");
    let messages = place.messages().await;
    let found: Vec<_> = messages
        .iter()
        .map(|message| (message.conversation.kind, message.sender.clone(), message.is_edited))
        .collect();
    let (group, channel) = (ConversationKind::Group, ConversationKind::Channel);
    assert_eq!(found, [(group, None, false), (channel, None, false), (channel, None, true)]);
}

#[tokio::test]
async fn a_group_that_gets_another_id_is_moved() {
    let place = Place::new().await;
    let chat = Chat::group(-44, "Family");
    place.telegram.say(&place.ada, &chat, "Hello");
    let new = place.telegram.migrate(&chat, -1_009_999);
    let events = place.events().await;
    let moved = EventKind::Moved { from: "-44".to_owned(), to: "-1009999".to_owned() };
    assert_eq!(events[1].kind, moved);
    assert_eq!(events[2].kind, EventKind::Other);
    let refused = place.channel.send(&outgoing(&chat, text("Hello"))).await;
    assert_eq!(refused, Err(SendError::Moved { to: "-1009999".to_owned() }));
    place.channel.send(&outgoing(&new, text("Hello"))).await.unwrap();
    assert_eq!(place.telegram.sent().len(), 1);
    place.assert_no_violations();
}
