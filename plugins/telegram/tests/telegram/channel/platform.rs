//! Actions that Telegram alone has, as a gateway hands them over.

use super::{Place, outgoing};
use serde_json::{Value, json};
use toolkit_channel::{Action, Conversation, SendError};
use toolkit_loopback::bot_api::{Chat, Fault};

fn action(name: &str, arguments: Value) -> Action {
    Action::Platform { name: name.to_owned(), arguments }
}

fn poll() -> Value {
    json!({
        "question": "Where?", "options": [{ "text": "Here" }, { "text": "There" }], "type": "regular", "is_anonymous": true,
        "allows_multiple_answers": false, "disable_notification": false,
    })
}

fn with(mut value: Value, name: &str, more: Value) -> Value {
    value[name] = more;
    value
}

#[tokio::test]
async fn a_poll_goes_to_the_topic_and_a_pin_to_its_group() {
    let place = Place::new().await;
    let group = Chat::supergroup(-1_001_234, "Team");
    let topic = place.telegram.add_topic(&group, "Plans");
    let conversation = |action| {
        let mut outgoing = outgoing(&group, action);
        outgoing.conversation =
            Conversation::new(toolkit_channel::ConversationKind::Group, group.id.to_string())
                .with_thread(topic.to_string());
        outgoing
    };
    let quiz = with(with(poll(), "type", json!("quiz")), "correct_option_ids", json!([1]));
    let quiz = with(with(quiz, "explanation", json!("It is there.")), "open_period", json!(600));
    let sent = place.channel.send(&conversation(action("poll", quiz.clone()))).await.unwrap();
    let message = place.telegram.sent().remove(0);
    assert_eq!(sent.message_id, Some(message.message_id.to_string()));
    let expected = with(with(quiz, "chat_id", json!(group.id)), "message_thread_id", json!(topic));
    assert_eq!(Value::from(message.fields), expected);

    let pin = json!({ "message_id": message.message_id, "disable_notification": true });
    let pinned = place.channel.send(&conversation(action("pin", pin.clone()))).await.unwrap();
    assert_eq!(pinned.message_id, Some(message.message_id.to_string()));
    let call = place.telegram.calls_of("pinChatMessage").remove(0);
    assert_eq!(call.fields, with(pin, "chat_id", json!(group.id)), "a pin has no topic");
    place.assert_no_violations();
}

#[tokio::test]
async fn an_action_that_is_unknown_or_has_another_form_is_refused_before_it_is_sent() {
    let place = Place::new().await;
    for (name, arguments) in [
        ("delete_everything", json!({})),
        ("poll", json!({})),
        ("poll", json!(null)),
        ("poll", with(poll(), "chat_id", json!(6))),
        ("poll", with(poll(), "options", json!(["Here"]))),
        ("pin", json!({ "message_id": "7", "disable_notification": true })),
        ("pin", json!({ "message_id": 7, "disable_notification": true, "chat_id": 6 })),
    ] {
        let error = place.send(action(name, arguments.clone())).await.unwrap_err();
        assert!(matches!(error, SendError::Refused { .. }), "{name} {arguments}: {error}");
    }
    assert!(place.telegram.calls().is_empty());
}

#[tokio::test]
async fn a_failed_poll_states_if_it_may_have_arrived() {
    let place = Place::new().await;
    for (fault, expected) in [
        (Fault::TooManyRequests(3), "not sent"),
        (Fault::ServerError(502), "perhaps sent"),
        (Fault::CloseAfter, "perhaps sent"),
    ] {
        let shown = format!("{fault:?}");
        place.telegram.inject("sendPoll", 1, fault);
        let error = place.send(action("poll", poll())).await.unwrap_err();
        assert!(error.to_string().starts_with(expected), "{shown}: {error}");
    }
    place.assert_no_violations();
}
