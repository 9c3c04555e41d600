//! Principals: the sessions, jobs and approvals that each can see, answer, cancel and end.

use super::TOKEN;
use super::clients::{House, accept, call, text};
use http::StatusCode;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;
use toolkit::events::Event;

fn ping() -> Value {
    json!({"jsonrpc": "2.0", "id": 90, "method": "ping"})
}

fn cancel(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

#[tokio::test]
async fn a_session_is_used_by_its_principal_alone_whatever_the_message() {
    let house = House::new(None).await;
    let (ada, phone) = (house.tokens.add("ada").unwrap(), house.tokens.add_for("phone", "ada").unwrap());
    let eve = house.tokens.add("eve").unwrap();
    // The clients with the shared token are one principal: what protects a session among them is its id.
    for (owner, other, may) in [
        (&*ada, &*eve, false),
        (&*ada, TOKEN, false),
        (TOKEN, &*ada, false),
        (&*ada, &*phone, true),
        (TOKEN, TOKEN, true),
    ] {
        let case = format!("{owner} {other}");
        let (mut client, stranger) = (house.begin(owner, true).await, house.modern(other).await);
        let session = client.session.clone().unwrap();
        let started = house.gate.started.load(Ordering::SeqCst);
        let mut holding = client.again().await;
        let mut held = holding.start("POST", Some(&session), &[], Some(call(7, "hold"))).await;
        held.until("id: 0/").await;
        house.gate.reaches(|gate| &gate.started, started + 1).await;
        let stream = held.until("/").await.lines().find_map(|line| line.strip_prefix("id: 0/")).unwrap();
        let last = [("last-event-id", &*format!("0/{stream}"))];
        let expected = |granted: u16| if may { granted } else { 404 };
        let attempt = async |method: &str, headers: &[(&str, &str)], message: Option<Value>| {
            stranger.again().await.start(method, Some(&session), headers, message).await.status.as_u16()
        };
        // A request, a list of everything that the session has, and its log level.
        assert_eq!(attempt("POST", &[], Some(ping())).await, expected(200), "{case}");
        // A stream, and one that is resumed.
        if !may {
            for headers in [&[][..], &last] {
                assert_eq!(attempt("GET", headers, None).await, 404, "{case}");
            }
            assert_eq!(attempt("DELETE", &[], None).await, 404, "{case}");
        }
        // A notification that cancels a call.
        assert_eq!(attempt("POST", &[], Some(cancel(7))).await, expected(202), "{case}");
        let cancelled = house.gate.cancelled.load(Ordering::SeqCst);
        if may {
            house.gate.reaches(|gate| &gate.cancelled, cancelled.max(1)).await;
        } else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            house.gate.open.add_permits(1);
            assert_eq!(text(&held.whole().await.message()), "held", "{case}");
        }
        // An answer to a question.
        let mut asking = client.again().await;
        let mut asked = asking.start("POST", Some(&session), &[], Some(call(8, "deploy"))).await;
        let question = asked.message_with("elicitation/create").await;
        assert_eq!(attempt("POST", &[], Some(accept(&question["id"]))).await, expected(202), "{case}");
        if !may {
            let no = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}});
            assert_eq!(client.post(no).await.status, StatusCode::ACCEPTED);
        }
        let done = asked.whole().await.message();
        assert_eq!(text(&done) == "deployed", may, "{case}: {done}");
        // The end of the session.
        if may {
            assert_eq!(attempt("DELETE", &[], None).await, 204, "{case}");
        }
        assert_eq!(client.post(ping()).await.status.is_success(), !may, "{case}");
    }
}

#[tokio::test]
async fn jobs_and_approvals_belong_to_a_principal_or_else_to_a_session() {
    let house = House::new(None).await;
    let (ada, phone) = (house.tokens.add("ada").unwrap(), house.tokens.add_for("phone", "ada").unwrap());
    let eve = house.tokens.add("eve").unwrap();
    for eras in [(true, true), (false, false), (true, false), (false, true)] {
        for (one, other, are_shared) in [
            (&*ada, &*ada, true),
            (&*ada, &*phone, true),
            (&*ada, &*eve, false),
            (&*ada, TOKEN, false),
            (TOKEN, TOKEN, false),
        ] {
            let case = format!("{one} {other} {eras:?}");
            let mut first = if eras.0 { house.begin(one, true).await } else { house.modern(one).await };
            let mut second = if eras.1 { house.begin(other, false).await } else { house.modern(other).await };
            let (mine, theirs) = (first.job().await, second.job().await);
            assert_eq!(mine == theirs, are_shared, "{case}");
            assert_eq!(first.job().await, mine, "{case}");
            first.approve().await;
            let done = second.call("deploy").await;
            let is_allowed = done["result"]["content"][0]["text"] == "deployed";
            assert_eq!(is_allowed, are_shared, "{case}: {done}");
            if done["result"]["requestState"].is_string() {
                // A call that waits for an answer keeps its session.
                second.come_back(&done, "decline").await;
            }
            // The end of a session is not the end of another one's jobs.
            if let Some(session) = second.session.clone() {
                let end = second.send("DELETE", Some(&session), &[], None).await;
                assert_eq!(end.status, StatusCode::NO_CONTENT);
            } else {
                second.connection.abort();
                drop(second);
            }
            let is_own = other == TOKEN;
            if is_own {
                house.ended.has(&theirs).await;
            }
            assert!(!house.ended.contains(&mine), "{case}");
            assert_eq!(first.job().await, mine, "{case}");
        }
    }
}

#[tokio::test]
async fn an_answer_names_the_principal_of_the_token_whatever_the_client_says() {
    let house = House::new(None).await;
    let (ada, phone) = (house.tokens.add("ada").unwrap(), house.tokens.add_for("phone", "bob").unwrap());
    for (token, is_session, name) in [
        (&*ada, true, Some("client ada")),
        (&*phone, false, Some("client bob")),
        (TOKEN, true, None),
        (TOKEN, false, None),
    ] {
        let mut client = if is_session { house.begin(token, true).await } else { house.modern(token).await };
        let mut events = house.toolkit.events();
        client.approve().await;
        let answered = std::iter::from_fn(|| events.try_next()).filter_map(|event| match event.event {
            Event::Answered { answered_by, .. } => Some(answered_by),
            _ => None,
        });
        assert_eq!(answered.collect::<Vec<_>>(), [name.map(str::to_owned)], "{name:?} {is_session}");
    }
}

#[tokio::test]
async fn a_session_without_a_token_of_its_own_names_its_end() {
    let house = House::new(None).await;
    let ada = house.tokens.add("ada").unwrap();
    for (token, expected) in [(TOKEN, "the connection of this client ends"), (&*ada, "nothing in particular")]
    {
        let told = text(&house.modern(token).await.call("session_end").await);
        assert!(told.starts_with(expected), "{told}");
    }
}

#[tokio::test]
async fn a_revoked_token_ends_its_sessions_and_the_last_one_the_jobs() {
    let house = House::new(None).await;
    let (ada, phone) = (house.tokens.add("ada").unwrap(), house.tokens.add_for("phone", "ada").unwrap());
    let eve = house.tokens.add("eve").unwrap();
    let mut session = house.begin(&ada, false).await;
    let job = session.job().await;
    let (mut modern, mut other) = (house.modern(&ada).await, house.modern(&phone).await);
    let mut stranger = house.modern(&eve).await;
    let of_eve = stranger.job().await;
    assert_eq!((modern.job().await, other.job().await), (job.clone(), job.clone()));
    let id = session.session.clone().unwrap();
    let mut listening = session.again().await;
    let mut stream = listening.start("GET", Some(&id), &[], None).await;
    assert_eq!(stream.status, StatusCode::OK);
    let asked = other.call("deploy").await;
    assert!(asked["result"]["requestState"].is_string(), "{asked}");

    assert!(house.tokens.remove("ada").unwrap());
    assert!(stream.ends_within(Duration::from_secs(30)).await);
    for connection in [&mut session.connection, &mut modern.connection, &mut listening.connection] {
        let ended = tokio::time::timeout(Duration::from_secs(30), connection).await;
        assert!(ended.is_ok(), "the connection goes on");
    }
    // The session is gone also for the principal, whose jobs go on with its other token.
    assert_eq!(other.send("POST", Some(&id), &[], Some(ping())).await.status, StatusCode::NOT_FOUND);
    assert_eq!(other.job().await, job);

    assert!(house.tokens.remove("phone").unwrap());
    house.ended.has(&job).await;
    // Whoever gets the name later gets nothing of it.
    let again = house.tokens.add("ada").unwrap();
    let mut client = house.modern(&again).await;
    let back = client.come_back(&asked, "accept").await;
    assert!(back["error"]["message"].as_str().unwrap().contains("no call waits"), "{back}");
    assert_ne!(client.job().await, job);
    assert_eq!(stranger.job().await, of_eve);
    assert!(!house.ended.contains(&of_eve));
}
