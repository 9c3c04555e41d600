//! Messages that are sent, changed and deleted.

use super::{Place, outgoing, text};
use serde_json::json;
use toolkit_channel::{Action, Button, Conversation, Receipt, SendError};
use toolkit_loopback::bot_api::Chat;

fn markup(plain: &str, html: &str) -> Action {
    Action::Text { plain: plain.to_owned(), markup: Some(html.to_owned()), buttons: Vec::new() }
}

fn button(text: &str, data: &str) -> Button {
    Button { text: text.to_owned(), data: data.to_owned() }
}

fn is_refused<R>(result: Result<R, SendError>, expected: &str) -> bool {
    matches!(result, Err(SendError::Refused { reason }) if reason.contains(expected))
}

#[tokio::test]
async fn a_text_is_sent_with_markup_reply_and_buttons() {
    let place = Place::new().await;
    let question = place.telegram.say(&place.ada, &place.direct, "Well?");
    let buttons = vec![vec![button("Yes", "y"), button("No", "n")], vec![button("Later", "l")]];
    let action = Action::Text {
        plain: "Now & here".to_owned(),
        markup: Some("<b>Now</b> &amp; here".to_owned()),
        buttons,
    };
    let mut answer = outgoing(&place.direct, action);
    answer.reply_to = Some(question.to_string());
    answer.silent = true;
    let receipt = place.channel.send(&answer).await.unwrap();
    let sent = place.telegram.sent().remove(0);
    assert_eq!(receipt, Receipt { message_id: Some(sent.message_id.to_string()) });
    assert_eq!(sent.text, "Now & here");
    assert_eq!(sent.entities, [json!({ "type": "bold", "offset": 0, "length": 3 })]);
    assert_eq!((sent.reply_to, sent.is_silent, sent.has_markup), (Some(question), true, true));
    let pair = |text: &str, data: &str| (text.to_owned(), data.to_owned());
    assert_eq!(sent.buttons, [vec![pair("Yes", "y"), pair("No", "n")], vec![pair("Later", "l")]]);
    assert_eq!(sent.fields["link_preview_options"], json!({ "is_disabled": true }));

    // A message that is gone is no reason not to answer.
    answer.reply_to = Some("900".to_owned());
    place.channel.send(&answer).await.unwrap();
    place.send(text("plain <b>& text")).await.unwrap();
    let sent = place.telegram.sent();
    assert_eq!((sent[1].reply_to, sent[2].text.as_str()), (None, "plain <b>& text"));
    assert_eq!(sent[2].fields.keys().collect::<Vec<_>>(), ["chat_id", "text", "link_preview_options"]);
    place.assert_no_violations();
}

#[tokio::test]
async fn refused_markup_is_told_apart() {
    let place = Place::new().await;
    let refused = place.send(markup("a", "<b>a")).await;
    assert!(
        matches!(&refused, Err(SendError::Markup { reason }) if reason.contains("can't parse entities")),
        "{refused:?}"
    );
    assert_eq!(place.telegram.take_violations().len(), 1);
    let sent = place.send(text("a")).await.unwrap().message_id.unwrap();
    let edit = Action::Edit { message_id: sent, plain: "b".to_owned(), markup: Some("<b>b</i>".to_owned()) };
    assert!(matches!(place.send(edit).await, Err(SendError::Markup { .. })));
    assert_eq!(place.telegram.sent().len(), 1);
}

#[tokio::test]
async fn the_limits_are_those_of_the_platform() {
    let place = Place::new().await;
    let limits = place.channel.limits();
    // An emoji has two units.
    let half = "😀".repeat(limits.text / 2);
    place.send(text(&half)).await.unwrap();
    place.send(markup(&half, &format!("<i>{half}</i>"))).await.unwrap();
    place.assert_no_violations();
    assert!(is_refused(place.send(text(&format!("{half}a"))).await, "too long"));
    assert!(is_refused(place.send(text(" \n ")).await, "text is empty"));

    let poll = |options: usize| Action::Poll {
        question: "Which?".to_owned(),
        options: (0..options).map(|number| number.to_string()).collect(),
        multiple: true,
    };
    place.send(poll(limits.poll_options)).await.unwrap();
    assert!(is_refused(place.send(poll(limits.poll_options + 1)).await, "options"));
    let with_button = |data: &str| Action::Text {
        plain: "a".to_owned(),
        markup: None,
        buttons: vec![vec![button("b", data)]],
    };
    place.send(with_button(&"ä".repeat(limits.button_data / 2))).await.unwrap();
    assert!(is_refused(place.send(with_button(&"d".repeat(limits.button_data + 1))).await, "callback_data"));
    assert_eq!(place.telegram.take_violations().len(), 4);
    let sent = place.telegram.sent();
    let poll = &sent[2];
    assert_eq!((poll.text.as_str(), poll.options.len()), ("Which?", 12));
    assert_eq!(poll.fields["allows_multiple_answers"], true);
}

#[tokio::test]
async fn a_text_is_replaced_and_its_buttons_go() {
    let place = Place::new().await;
    let buttons = vec![vec![button("Yes", "y")]];
    let action = Action::Text { plain: "Shall I?".to_owned(), markup: None, buttons };
    let message_id = place.send(action).await.unwrap().message_id.unwrap();
    let edit = |message_id: &str, plain: &str| Action::Edit {
        message_id: message_id.to_owned(),
        plain: plain.to_owned(),
        markup: Some(format!("<i>{plain}</i>")),
    };
    for _ in 0..2 {
        // The second one changes nothing, which is a success.
        let receipt = place.send(edit(&message_id, "Done")).await.unwrap();
        assert_eq!(receipt.message_id.as_ref(), Some(&message_id));
    }
    let sent = place.telegram.sent().remove(0);
    assert_eq!((sent.text.as_str(), sent.edits, sent.buttons.len()), ("Done", 1, 0));
    assert!(is_refused(place.send(edit("77", "Done")).await, "message to edit not found"));
    let theirs = place.telegram.say(&place.ada, &place.direct, "mine");
    assert!(is_refused(place.send(edit(&theirs.to_string(), "Done")).await, "can't be edited"));
    place.assert_no_violations();
}

#[tokio::test]
async fn a_message_is_deleted_once() {
    let place = Place::new().await;
    let message_id = place.send(text("a")).await.unwrap().message_id.unwrap();
    for _ in 0..2 {
        place.send(Action::Delete { message_id: message_id.clone() }).await.unwrap();
    }
    assert!(place.telegram.sent()[0].is_deleted);
    assert_eq!(place.telegram.calls_of("deleteMessage").len(), 2);
    place.assert_no_violations();
}

#[tokio::test]
async fn a_reaction_is_set_and_taken_back() {
    let place = Place::new().await;
    let id = place.telegram.say(&place.ada, &place.direct, "Hello");
    let react = |id: i64, emoji: &str| Action::React { message_id: id.to_string(), emoji: emoji.to_owned() };
    place.send(react(id, "👍")).await.unwrap();
    assert_eq!(place.telegram.reaction(&place.direct, id).as_deref(), Some("👍"));
    place.send(react(id, "")).await.unwrap();
    assert_eq!(place.telegram.reaction(&place.direct, id), None);
    assert!(is_refused(place.send(react(99, "👍")).await, "message to react not found"));
    place.assert_no_violations();
    assert!(is_refused(place.send(react(id, "🧮")).await, "emoji"));
}

#[tokio::test]
async fn messages_and_reactions_in_a_topic_name_it_where_the_method_knows_it() {
    let place = Place::new().await;
    let chat = Chat::supergroup(-1_001_234, "Family");
    let topic = place.telegram.add_topic(&chat, "Holidays").to_string();
    let send = async |action: Action| {
        let mut outgoing = outgoing(&chat, action);
        outgoing.conversation.thread = Some(topic.clone());
        place.channel.send(&outgoing).await.unwrap().message_id.unwrap()
    };
    let message_id = send(text("a")).await;
    send(Action::Edit { message_id: message_id.clone(), plain: "b".to_owned(), markup: None }).await;
    send(Action::React { message_id: message_id.clone(), emoji: "👍".to_owned() }).await;
    send(Action::Delete { message_id }).await;
    place.assert_no_violations();
}

#[tokio::test]
async fn ids_that_telegram_never_gave_are_refused_without_a_request() {
    let place = Place::new().await;
    let mut wrong = outgoing(&place.direct, text("a"));
    wrong.conversation = Conversation::direct("@ada");
    assert!(is_refused(place.channel.send(&wrong).await, "the id of the chat is not one of Telegram"));
    wrong.conversation = Conversation::direct("5").with_thread("x".to_owned());
    assert!(is_refused(place.channel.send(&wrong).await, "topic"));
    let mut reply = outgoing(&place.direct, text("a"));
    reply.reply_to = Some("5/1".to_owned());
    assert!(is_refused(place.channel.send(&reply).await, "message"));
    assert!(is_refused(place.send(Action::Delete { message_id: "x".to_owned() }).await, "message"));
    place.channel.typing(&wrong.conversation).await;
    assert!(place.telegram.calls().is_empty());
}
