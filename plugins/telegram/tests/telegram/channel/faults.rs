//! Faults of the platform and of the network.

use super::{Place, account, outgoing, text};
use serde_json::json;
use std::time::Duration;
use toolkit_channel::{Action, Media, MediaKind, ReceiveError, SendError};
use toolkit_loopback::bot_api::{Chat, FakeBotApi, Fault};
use toolkit_loopback::{Answer, Loopback, Request};

const TOKEN: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";

fn page(status: u16) -> Answer {
    Answer::bytes(status, "<html>Not now</html>").with_header("content-type", "text/html")
}

#[tokio::test]
async fn a_failed_poll_states_why_and_the_next_one_works() {
    let place = Place::new().await;
    place.channel.identify().await.unwrap();
    place.telegram.say(&place.ada, &place.direct, "Hello");
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    for (fault, expected, wait) in [
        (Fault::Conflict, "another program receives the messages of this bot", None),
        (Fault::TooManyRequests(7), "Telegram asks to wait (Too Many Requests: retry after 7)", seconds(7)),
        (Fault::TooManyRequests(0), "Telegram asks to wait", seconds(1)),
        (Fault::TooManyRequests(u64::MAX), "Telegram asks to wait", seconds(86_400)),
        (Fault::ServerError(500), "Telegram has a fault of its own (Internal Server Error)", None),
        (Fault::ServerError(502), "Telegram has a fault of its own", None),
        (Fault::Answer(page(502)), "HTTP status 502", None),
        (Fault::Answer(page(503).with_header("retry-after", "9")), "after 9 seconds", seconds(9)),
        (Fault::Answer(page(200)), "cannot be read", None),
        (Fault::Answer(Answer::bytes(200, "{\"ok\":true}")), "no result", None),
        (Fault::MalformedJson, "cannot be read", None),
        (Fault::CloseBefore, "the connection to Telegram was lost", None),
        (Fault::CloseAfter, "the connection to Telegram was lost", None),
    ] {
        let shown = format!("{fault:?}");
        place.telegram.inject("getUpdates", 1, fault);
        let error = place.channel.receive(None).await.unwrap_err();
        assert!(error.reason.contains(expected), "{shown}: {error}");
        assert_eq!(error.retry_after, wait, "{shown}");
        assert_eq!(place.events().await.len(), 1, "{shown}");
    }
    place.assert_no_violations();
}

#[tokio::test]
async fn no_network_and_a_token_that_is_unknown_are_told_apart() {
    let nowhere = account("http://127.0.0.1:1", TOKEN, 60);
    for error in [nowhere.receive(None).await.unwrap_err(), nowhere.identify().await.unwrap_err()] {
        assert!(error.reason.starts_with("Telegram cannot be reached ("), "{error}");
        assert_eq!(error.retry_after, None);
    }
    let telegram = FakeBotApi::start().await;
    let other = account(telegram.url(), "1:another", 60);
    let error = other.receive(None).await.unwrap_err();
    assert!(error.reason.contains("set its token in `channels.telegram.telegram`"), "{error}");
}

#[tokio::test]
async fn a_poll_beside_another_one_ends_it_with_a_conflict() {
    let place = Place::new().await;
    place.channel.identify().await.unwrap();
    let second = account(place.telegram.url(), place.telegram.token(), 60);
    second.identify().await.unwrap();
    // A poll that ended before the other one began is followed by a further one.
    let polls = async {
        loop {
            if let Err(error) = place.channel.receive(None).await {
                return error;
            }
        }
    };
    let others = async {
        loop {
            place.telegram.wait_polling().await;
            // It is ended by the next one in turn.
            let _ = second.receive(None).await;
        }
    };
    let error: ReceiveError = tokio::select! {
        error = polls => error,
        () = others => unreachable!("it has no end"),
    };
    assert!(error.reason.contains("terminated by other getUpdates request"), "{error}");
}

#[tokio::test]
async fn a_failed_message_states_if_it_may_have_arrived() {
    let place = Place::new().await;
    let wait = |seconds| (Some(Duration::from_secs(seconds)), "not sent");
    let (unknown, refused) = ((None, "perhaps sent"), (None, "refused"));
    for (fault, (retry_after, expected), arrived) in [
        (Fault::TooManyRequests(3), wait(3), 0),
        (Fault::Answer(page(429).with_header("retry-after", "17")), wait(17), 0),
        (Fault::Answer(page(503).with_header("retry-after", "9")), wait(9), 0),
        (Fault::ServerError(500), unknown, 0),
        (Fault::ServerError(502), unknown, 0),
        (Fault::Answer(page(502)), unknown, 0),
        (Fault::Answer(page(200)), unknown, 0),
        (Fault::Answer(Answer::json(200, &json!({ "ok": true, "result": {} }))), unknown, 0),
        (Fault::CloseBefore, unknown, 0),
        (Fault::CloseAfter, unknown, 1),
        (Fault::MalformedJson, unknown, 1),
        (Fault::Answer(page(403)), refused, 0),
        (Fault::Answer(page(404)), refused, 0),
        (Fault::Answer(Answer::bytes(302, "").with_header("location", "http://127.0.0.1:1/")), refused, 0),
        (Fault::Conflict, refused, 0),
    ] {
        let shown = format!("{fault:?}");
        let before = place.telegram.sent().len();
        place.telegram.inject("sendMessage", 1, fault);
        let error = place.send(text("a")).await.unwrap_err();
        assert!(error.to_string().starts_with(expected), "{shown}: {error}");
        let asked = if let SendError::NotSent { retry_after, .. } = &error { *retry_after } else { None };
        assert_eq!(asked, retry_after, "{shown}");
        assert_eq!(place.telegram.sent().len() - before, arrived, "{shown}");
    }
    let nowhere = account("http://127.0.0.1:1", TOKEN, 60);
    let error = nowhere.send(&outgoing(&place.direct, text("a"))).await.unwrap_err();
    assert!(matches!(error, SendError::NotSent { retry_after: None, .. }), "{error}");
    let unknown_chat = Chat::supergroup(-9, "none");
    let error = place.channel.send(&outgoing(&unknown_chat, text("a"))).await.unwrap_err();
    assert_eq!(error, SendError::refused("Telegram: Bad Request: chat not found"));
    place.telegram.forbid(&place.direct, "Forbidden: bot was blocked by the user");
    let error = place.send(text("a")).await.unwrap_err();
    assert_eq!(error, SendError::refused("Telegram: Forbidden: bot was blocked by the user"));
    place.assert_no_violations();
}

#[tokio::test]
async fn a_message_without_an_answer_in_time_may_have_arrived() {
    let place = Place::new().await;
    let hasty = account(place.telegram.url(), place.telegram.token(), 5);
    let held = place.telegram.hold("sendMessage");
    let message = outgoing(&place.direct, text("a"));
    let (sent, ()) = tokio::join!(hasty.send(&message), held.reached());
    assert!(
        matches!(&sent, Err(SendError::Unknown { reason }) if reason.contains("within 5 seconds")),
        "{sent:?}"
    );
    assert_eq!(place.telegram.sent().len(), 1);
    held.release();
    place.send(text("b")).await.unwrap();
    place.assert_no_violations();
}

#[tokio::test]
async fn two_messages_at_once_to_a_chat_are_a_violation() {
    let place = Place::new().await;
    let held = place.telegram.hold("sendMessage");
    let (first, second) = (outgoing(&place.direct, text("a")), outgoing(&place.direct, text("b")));
    let later = async {
        held.reached().await;
        place.channel.send(&second).await.unwrap();
        held.release();
    };
    let (sent, ()) = tokio::join!(place.channel.send(&first), later);
    sent.unwrap();
    let violations = place.telegram.take_violations();
    assert!(violations.len() == 1 && violations[0].contains("is not answered yet"), "{violations:?}");
    place.send(text("c")).await.unwrap();
    place.assert_no_violations();
}

#[tokio::test]
async fn a_limit_of_messages_is_one_of_each_chat() {
    let place = Place::new().await;
    let hour = Duration::from_hours(1);
    place.telegram.limit_rate(2, hour);
    let group = Chat::supergroup(-1_001_234, "Family");
    place.telegram.join(&group);
    for _ in 0..2 {
        place.send(text("a")).await.unwrap();
    }
    let error = place.send(text("a")).await.unwrap_err();
    let SendError::NotSent { retry_after: Some(wait), .. } = error else { panic!("{error:?}") };
    assert!(wait <= hour + Duration::from_secs(1));
    place.channel.send(&outgoing(&group, text("a"))).await.unwrap();
    place.telegram.advance(wait);
    place.send(text("a")).await.unwrap();
    place.assert_no_violations();
}

/// A server can repeat the address of a request, which has the token in it.
#[tokio::test]
async fn no_error_has_the_token() {
    let hostile = Loopback::start(|request: &Request| {
        let description = format!("no such thing: {}", request.path);
        Answer::json(400, &json!({ "ok": false, "error_code": 400, "description": description }))
    })
    .await;
    let escapes = Loopback::start(|_| {
        let token = TOKEN.replace('A', "\\u0041");
        Answer::bytes(409, format!(r#"{{"ok":false,"error_code":409,"description":"{token}"}}"#))
    })
    .await;
    let cut = Loopback::start(|_| Answer::Close).await;
    let silent = Loopback::start(|_| Answer::Hang).await;
    let paths = Loopback::start(|request: &Request| {
        let result = json!({ "file_id": "1", "file_path": format!("x{}/../y", request.path) });
        Answer::json(200, &json!({ "ok": true, "result": result }))
    })
    .await;
    let files = Loopback::start(|request: &Request| match request.method.as_str() {
        "POST" => Answer::json(200, &json!({ "ok": true, "result": { "file_id": "1", "file_path": "x" } })),
        _ => Answer::bytes(404, request.path.clone()),
    })
    .await;
    let media =
        Media { kind: MediaKind::Image, reference: "1".to_owned(), name: None, media_type: None, size: None };
    for server in [&hostile, &escapes, &cut, &silent, &paths, &files] {
        let channel = account(server.url(), TOKEN, 1);
        let message = outgoing(&Chat::group(-5, "x"), text("a"));
        let delete = outgoing(&Chat::group(-5, "x"), Action::Delete { message_id: "1".to_owned() });
        let (identified, received, sent, deleted, fetched) = (
            channel.identify().await,
            channel.receive(None).await,
            channel.send(&message).await,
            channel.send(&delete).await,
            channel.fetch(&media, 10).await,
        );
        assert!(fetched.is_err() && sent.is_err());
        let shown = format!("{identified:?} {received:?} {sent:?} {deleted:?} {fetched:?}");
        assert!(!shown.contains("AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"), "{shown}");
    }
    assert!(hostile.requests()[0].path.contains(TOKEN), "it was sent, to where it belongs");
}
