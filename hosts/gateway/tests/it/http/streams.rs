use super::*;

fn ids(events: &[Event]) -> Vec<i64> {
    events.iter().filter_map(|event| event.id).collect()
}

#[tokio::test]
async fn a_stream_is_resumed_over_a_restart_without_loss_or_repetition() {
    let mut gateway = Gateway::start().await;
    let mut stream = gateway.events("?after=0", &gateway.owner.clone(), None).await;
    let mut seen = Vec::new();
    for round in 0..3 {
        let owner = gateway.owner.clone();
        let id = gateway.message("main", &owner, &format!("plain {round}")).await;
        seen.extend(stream.until("run.ended").await);
        // Not read before the restart.
        gateway.outcome("main", &owner, id).await;
        let id = gateway.message("main", &owner, &format!("plain unread {round}")).await;
        gateway.outcome("main", &owner, id).await;
        gateway = gateway.restart().await;
        while let Some(event) = stream.next().await {
            seen.push(event);
        }
        let last = stream.last_id.clone();
        stream = gateway.events("", &gateway.owner, Some(&last)).await;
    }
    gateway.message("main", &gateway.owner, "plain last").await;
    seen.extend(stream.until("run.ended").await);
    while seen.iter().filter(|event| event.kind == "run.ended").count() < 7 {
        seen.extend(stream.until("run.ended").await);
    }
    let stored =
        gateway.sessions.store().events(0, toolkit_gateway::EventFilter::default(), 1_000).await.unwrap();
    assert_eq!(ids(&seen), stored.iter().map(|event| event.seq).collect::<Vec<_>>());
    assert!(seen.iter().all(|event| event.id == event.data["seq"].as_i64()), "{seen:?}");
}

#[tokio::test]
async fn an_answer_is_seen_as_it_is_written() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.as_str();
    // Opened before the session has begun.
    let mut stream = gateway.events("?session=main", owner, None).await;
    gateway.message("main", owner, "hold a").await;
    in_time(gateway.ledger.held.cancelled()).await;
    // One that comes in the middle of a run sees what came before.
    let mut late = gateway.events("?session=main", owner, None).await;
    let live_of = |event: &Event| event.data["event"]["event"]["type"].as_str().map(str::to_owned);
    for stream in [&mut stream, &mut late] {
        let mut kinds = Vec::new();
        while kinds.last().is_none_or(|kind| kind != "step") {
            let event = stream.next().await.unwrap();
            assert_eq!(event.id.is_none(), event.kind == "live", "{event:?}");
            kinds.extend(live_of(&event));
        }
        assert!(kinds.contains(&"started".to_owned()), "{kinds:?}");
    }
    gateway.ledger.released.cancel();
    for stream in [&mut stream, &mut late] {
        let mut text = String::new();
        loop {
            let event = stream.next().await.unwrap();
            if live_of(&event).as_deref() == Some("text") {
                text.push_str(event.data["event"]["event"]["text"].as_str().unwrap());
            }
            if event.data["event"]["type"] == "run_ended" {
                break;
            }
        }
        assert_eq!(text, "answer to hold a");
    }
    // The run is over: who comes now reads it in the messages.
    let mut after = gateway.events("?session=main", owner, None).await;
    let id = gateway.message("main", owner, "plain b").await;
    gateway.outcome("main", owner, id).await;
    let mut texts = Vec::new();
    loop {
        let event = after.next().await.unwrap();
        if live_of(&event).as_deref() == Some("text") {
            texts.push(event.data["event"]["event"]["text"].clone());
        }
        if event.data["event"]["type"] == "run_ended" {
            break;
        }
    }
    assert_eq!(texts, ["answer to plain b"]);
    // Without a session there are none.
    let mut all = gateway.events("?after=0", owner, None).await;
    assert!(all.until("run.ended").await.iter().all(|event| event.id.is_some()));
}

#[tokio::test]
async fn a_stream_of_a_session_has_its_events_alone() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.as_str();
    let other = "agent:main:local:console:direct:owner:2";
    for session in ["main", other] {
        let id = gateway.message(session, owner, "plain a").await;
        gateway.outcome(session, owner, id).await;
    }
    let mut stream = gateway.events(&format!("?session={other}&after=0"), owner, None).await;
    let events = stream.until("run.ended").await;
    let stored: Vec<_> = events.iter().filter(|event| event.id.is_some()).collect();
    assert!(stored.iter().all(|event| event.data["session"] == other), "{stored:?}");
    let kinds: Vec<_> = stored.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!((kinds[0], kinds[1], kinds[2]), ("session.begun", "message.accepted", "run.begun"));
}

#[tokio::test]
async fn a_revoked_token_or_a_blocked_person_ends_its_streams() {
    let gateway = Gateway::start().await;
    let (ada, bob) = (gateway.person("ada").await, gateway.person("bob").await);
    let laptop = gateway.token(json!({ "name": "laptop", "person": "ada" })).await;
    let mut of_ada = gateway.events("", &ada, None).await;
    let mut of_laptop = gateway.events("", &laptop, None).await;
    let mut of_bob = gateway.events("?session=main", &bob, None).await;
    gateway.call("DELETE", "/v1/tokens/ada", &gateway.owner, None).await;
    while of_ada.next().await.is_some() {}
    // The other token of the same person goes on.
    let id = gateway.message("main", &laptop, "plain a").await;
    of_laptop.until("run.ended").await;
    assert_eq!(gateway.outcome("main", &laptop, id).await["state"], "answered");
    gateway.call("POST", "/v1/people/ada/block", &gateway.owner, None).await;
    while of_laptop.next().await.is_some() {}
    gateway.message("main", &bob, "plain b").await;
    of_bob.until("run.ended").await;
}

#[tokio::test]
async fn a_stream_ends_when_its_token_has_expired() {
    let gateway = Gateway::start().await;
    let token = gateway.token(json!({ "name": "ada", "expiresInSeconds": 60 })).await;
    let mut stream = gateway.events("", &token, None).await;
    gateway.clock.set(START.after(Duration::from_mins(1)));
    while stream.next().await.is_some() {}
}

#[tokio::test]
async fn a_stream_without_events_of_its_person_goes_on_where_it_looked_last() {
    let gateway = Gateway::start().await;
    let ada = gateway.person("ada").await;
    let mut stream = gateway.events("", &ada, None).await;
    let id = gateway.message("main", &gateway.owner, "plain a").await;
    gateway.outcome("main", &gateway.owner, id).await;
    // Of those that are stored: the news of the last one come a moment after it.
    let store = gateway.sessions.store();
    let events = store.events(0, toolkit_gateway::EventFilter::default(), 1_000).await.unwrap();
    let last = events.last().unwrap().seq.to_string();
    // Comments carry the number, though there was no event for the person.
    in_time(async {
        while stream.last_id != last {
            assert!(stream.pass().await.is_none());
        }
    })
    .await;
    gateway.clock.set(START.after(Duration::from_hours(8 * 24)));
    let id = gateway.message("main", &ada, "plain b").await;
    gateway.outcome("main", &ada, id).await;
    while gateway.sessions.store().clean_up().await.unwrap() > 0 {}
    let mut resumed = gateway.events("", &ada, Some(&last)).await;
    assert_eq!(resumed.next().await.unwrap().kind, "session.begun", "no gap");
}

#[tokio::test]
async fn events_that_were_removed_are_told_as_a_gap() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.as_str();
    let mut stream = gateway.events("?after=0", owner, None).await;
    let first = stream.next().await.unwrap();
    let id = gateway.message("main", owner, "plain a").await;
    gateway.outcome("main", owner, id).await;
    gateway.clock.set(START.after(Duration::from_hours(8 * 24)));
    let id = gateway.message("main", owner, "plain b").await;
    gateway.outcome("main", owner, id).await;
    while gateway.sessions.store().clean_up().await.unwrap() > 0 {}
    let kept = gateway.sessions.store().first_event().await.unwrap().unwrap();
    let mut resumed = gateway.events("", owner, first.id.map(|id| id.to_string()).as_deref()).await;
    let events = resumed.until("run.ended").await;
    assert_eq!(events[0].kind, "gap");
    assert_eq!(events[0].data, json!({ "after": first.id, "until": kept - 1 }));
    assert_eq!((events[0].id, events[1].id), (Some(kept - 1), Some(kept)));
    // Going on after the gap tells none.
    let mut resumed = gateway.events("", owner, Some(&(kept - 1).to_string())).await;
    assert_eq!(resumed.next().await.unwrap().id, Some(kept));
    // A number that was never reached is of another store.
    let mut resumed = gateway.events("", owner, Some("1000000")).await;
    let gap = resumed.next().await.unwrap();
    assert_eq!((gap.kind.as_str(), &gap.data["after"]), ("gap", &json!(1_000_000)));
    let status = gateway.get("/v1/status", owner).await;
    assert!(status["lastCleanUp"]["removed"].as_u64().unwrap() > 0, "{status}");
}

#[tokio::test]
async fn a_stream_that_is_not_read_holds_no_other_up() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.as_str();
    let unread = gateway.events("?session=main&after=0", owner, None).await;
    let mut read = gateway.events("?session=main&after=0", owner, None).await;
    // More than the buffers of a connection take.
    let long = format!("plain {}", "x".repeat(500_000));
    for _ in 0..12 {
        let id = gateway.message("main", owner, &long).await;
        read.until("run.ended").await;
        assert_eq!(gateway.outcome("main", owner, id).await["state"], "answered");
    }
    drop(unread);
}
