use super::*;
use toolkit_gateway::{NewMessage, PeerKind, SessionKey, Target};

#[tokio::test]
async fn a_message_is_accepted_once_and_its_answer_is_read_by_its_number() {
    let gateway = Gateway::start().await;
    let (path, owner) = ("/v1/sessions/main/messages", gateway.owner.as_str());
    let sent = json!({ "text": "hold a", "id": "c-1" });
    let (status, first) = gateway.call("POST", path, owner, Some(sent.clone())).await;
    assert_eq!(
        (status, &first["session"], &first["repeated"]),
        (202, &json!("agent:main:main"), &json!(false))
    );
    let id = first["id"].as_i64().unwrap();
    in_time(gateway.ledger.held.cancelled()).await;
    assert_eq!(gateway.get(&format!("/v1/sessions/main/inbox/{id}"), owner).await["state"], "running");
    let (status, again) = gateway.call("POST", path, owner, Some(sent.clone())).await;
    assert_eq!((status, again["id"].as_i64(), &again["repeated"]), (202, Some(id), &json!(true)));
    // The same id for something else is a mistake.
    let other = json!({ "text": "something else", "id": "c-1" });
    assert_eq!(gateway.call("POST", path, owner, Some(other)).await.0, 409);
    let elsewhere = "/v1/sessions/agent:main:local:console:direct:owner/messages";
    assert_eq!(gateway.call("POST", elsewhere, owner, Some(sent.clone())).await.0, 409);
    // Another person's is another message.
    let ada = gateway.person("ada").await;
    let (_, of_ada) = gateway.call("POST", path, &ada, Some(json!({ "text": "plain a", "id": "c-1" }))).await;
    assert_eq!(of_ada["session"], "agent:main:person:ada");
    assert_eq!(
        gateway.outcome("main", &ada, of_ada["id"].as_i64().unwrap()).await["text"],
        "answer to plain a"
    );

    gateway.ledger.released.cancel();
    let outcome = gateway.outcome("main", owner, id).await;
    assert_eq!((&outcome["state"], &outcome["text"]), (&json!("answered"), &json!("answer to hold a")));
    assert_eq!(outcome["sender"], "owner");
    assert_eq!(gateway.ledger.lines(), ["hold a"]);
    let (_, later) = gateway.call("POST", path, owner, Some(sent)).await;
    assert_eq!((later["id"].as_i64(), &later["text"]), (Some(id), &json!("answer to hold a")));
    // It is of its session alone.
    let other = format!("/v1/sessions/agent:main:person:ada/inbox/{id}");
    assert_eq!(gateway.call("GET", &other, owner, None).await.0, 404);
}

#[tokio::test]
async fn the_messages_of_a_session_are_read_in_pages_with_or_without_tools() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.as_str();
    let none = json!({ "messages": [], "hasMore": false });
    assert_eq!(gateway.get("/v1/sessions/main/messages", owner).await, none);
    for text in ["a", "plain b"] {
        let id = gateway.message("main", owner, text).await;
        gateway.outcome("main", owner, id).await;
    }
    let read = async |query: &str| {
        let page = gateway.get(&format!("/v1/sessions/main/messages{query}"), owner).await;
        let texts = page["messages"].as_array().unwrap().iter().map(|message| {
            let (kind, text) = (message["kind"].as_str().unwrap(), message["text"].as_str().unwrap());
            let tools =
                message["toolCalls"][0]["name"].as_str().or(message["toolResults"][0]["text"].as_str());
            format!("{kind}: {}", tools.unwrap_or(text))
        });
        (texts.collect::<Vec<_>>(), page["hasMore"].as_bool().unwrap(), page["messages"][0]["id"].clone())
    };
    let all = ["task: a", "answer: answer to a", "task: plain b", "answer: answer to plain b"];
    let (texts, has_more, _) = read("").await;
    assert_eq!((texts, has_more), (all.map(str::to_owned).to_vec(), false));
    let (texts, has_more, first) = read("?limit=1").await;
    assert_eq!((texts, has_more), (vec![all[3].to_owned()], true));
    let (texts, has_more, _) = read(&format!("?limit=3&before={first}")).await;
    assert_eq!((texts, has_more), (all[..3].iter().map(|&text| text.to_owned()).collect(), false));
    let (texts, ..) = read("?includeTools=true&limit=500").await;
    assert_eq!(texts[..4], ["task: a", "answer: effect", "results: did a", "answer: answer to a"]);
    // One that cannot be read is told to the owner with its place, and to others without.
    let ada = gateway.person("ada").await;
    let id = gateway.message("main", &ada, "plain c").await;
    gateway.outcome("main", &ada, id).await;
    std::fs::remove_dir_all(gateway.directory.path().join("transcripts")).unwrap();
    for (token, is_named) in [(owner, true), (ada.as_str(), false)] {
        let (status, problem) = gateway.call("GET", "/v1/sessions/main/messages", token, None).await;
        assert_eq!((status, problem.to_string().contains("transcripts")), (500, is_named), "{problem}");
    }
}

#[tokio::test]
async fn sessions_are_listed_by_filters_and_in_pages() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.as_str();
    let local = |name: &str| format!("agent:main:local:console:direct:owner:{name}");
    for (minute, name) in (0..).zip(["1", "2", "3", "4", "5"]) {
        gateway.clock.set(START.after(Duration::from_mins(minute)));
        let id = gateway.message(&local(name), owner, "plain a").await;
        gateway.outcome(&local(name), owner, id).await;
    }
    let keys = |list: &Value| {
        let sessions = list["sessions"].as_array().unwrap().iter();
        sessions
            .map(|session| session["key"].as_str().unwrap().rsplit(':').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let page = gateway.get(&format!("/v1/sessions{query}"), owner).await;
        seen.extend(keys(&page));
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        query = format!("?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, ["5", "4", "3", "2", "1"]);

    let (status, changed) = gateway
        .call("PATCH", &format!("/v1/sessions/{}", local("1")), owner, Some(json!({ "label": "report" })))
        .await;
    assert_eq!((status, &changed["label"]), (200, &json!("report")));
    let archived = json!({ "archived": true });
    gateway.call("PATCH", &format!("/v1/sessions/{}", local("2")), owner, Some(archived)).await;
    gateway.message(&local("3"), owner, "hold b").await;
    in_time(gateway.ledger.held.cancelled()).await;
    for (query, expected) in [
        ("?label=report", vec!["1"]),
        ("?status=archived", vec!["2"]),
        ("?status=active", vec!["3"]),
        ("?status=idle", vec!["5", "4", "1"]),
        ("?status=waiting", vec![]),
        ("?activeMinutes=1", vec!["3", "5", "4"]),
        ("?agent=other", vec![]),
        ("?kind=main,group", vec![]),
        ("?kind=main&kind=direct&archived=true&limit=500", vec!["3", "5", "4", "2", "1"]),
    ] {
        let mut found = keys(&gateway.get(&format!("/v1/sessions{query}"), owner).await);
        let mut expected = expected.clone();
        // Those of the same minute are in the order of their keys.
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{query}");
    }
    let shown = gateway.get(&format!("/v1/sessions/{}", local("3")), owner).await;
    assert_eq!(
        (&shown["status"], &shown["kind"], &shown["agent"]),
        (&json!("active"), &json!("direct"), &json!("main"))
    );
    assert_eq!(shown["run"]["state"], "running");
    gateway.ledger.released.cancel();
}

#[tokio::test]
async fn a_label_that_is_taken_away_is_free_for_another_session() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.as_str();
    let (one, two) = ("agent:main:local:console:direct:owner:1", "agent:main:local:console:direct:owner:2");
    for session in [one, two] {
        gateway.message(session, owner, "plain a").await;
    }
    let label = async |session: &str, label: Value| {
        let path = format!("/v1/sessions/{session}");
        gateway.call("PATCH", &path, owner, Some(json!({ "label": label }))).await
    };
    assert_eq!(label(one, json!("report")).await.0, 200);
    let (status, problem) = label(two, json!("report")).await;
    assert_eq!(status, 409);
    assert!(problem["detail"].as_str().unwrap().contains(one), "{problem}");
    // A change without a label leaves it.
    gateway.call("PATCH", &format!("/v1/sessions/{one}"), owner, Some(json!({ "archived": false }))).await;
    assert_eq!(label(two, json!("report")).await.0, 409);
    assert_eq!(label(one, Value::Null).await.1["label"], Value::Null);
    assert_eq!(label(two, json!("report")).await.1["label"], "report");
}

#[tokio::test]
async fn a_run_is_cancelled_and_a_waiting_message_taken_back() {
    let directory = tempfile::tempdir().unwrap();
    let gateway = Gateway::at(directory, SessionsOptions::new().steer(false)).await;
    let owner = gateway.owner.as_str();
    let running = gateway.message("main", owner, "hold a").await;
    in_time(gateway.ledger.held.cancelled()).await;
    let mut waiting = Vec::new();
    for text in ["b", "c", "d"] {
        waiting.push(gateway.message("main", owner, text).await);
    }
    let body = Some(json!({ "text": "one too many" }));
    let (status, problem) = gateway.call("POST", "/v1/sessions/main/messages", owner, body).await;
    assert_eq!((status, &problem["limit"]), (429, &json!(3)), "{problem}");
    let shown = gateway.get("/v1/sessions/main", owner).await;
    let ids: Vec<_> =
        shown["waiting"].as_array().unwrap().iter().map(|message| message["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, waiting);
    let status = gateway.get("/v1/status", owner).await;
    assert_eq!(
        (&status["queued"], &status["runs"]["running"], &status["sessions"]),
        (&json!(3), &json!(1), &json!(1))
    );
    let path = format!("/v1/sessions/main/inbox/{}", waiting[0]);
    let (_, taken) = gateway.call("DELETE", &path, owner, None).await;
    assert_eq!(taken["state"], "cancelled");
    let (_, cancelled) = gateway.call("POST", "/v1/sessions/main/cancel", owner, None).await;
    assert_eq!(cancelled, json!({ "cancelled": true }));
    assert_eq!(gateway.outcome("main", owner, running).await["state"], "cancelled");
    // The model sees that the first one has no answer.
    assert_eq!(gateway.outcome("main", owner, waiting[1]).await["text"], "answer to hold a and c");
    assert_eq!(gateway.outcome("main", owner, waiting[2]).await["text"], "answer to d");
    let (_, cancelled) = gateway.call("POST", "/v1/sessions/main/cancel", owner, None).await;
    assert_eq!(cancelled, json!({ "cancelled": false }));
}

#[tokio::test]
async fn a_session_is_found_by_its_key_as_a_path_has_it_or_by_the_short_form() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.as_str();
    let key = |account: &str, peer: &str| {
        SessionKey::peer("main", "telegram", account, PeerKind::Direct, peer, None).unwrap()
    };
    for (number, session) in
        [key("a", "7"), key("a", "8"), key("b", "8"), key("a", "x:y/ü%")].into_iter().enumerate()
    {
        let message = NewMessage::new("telegram", number.to_string(), session, json!({ "text": "plain a" }));
        let message = message.with_reply_to(Target::new("telegram", "a", "7"));
        gateway.sessions.send(message).await.unwrap();
    }
    let odd = key("a", "x:y/ü%").to_string();
    assert_eq!(odd, "agent:main:telegram:a:direct:x%3Ay%2F%C3%BC%25");
    let in_path = odd.replace('%', "%25").replace(':', "%3A");
    for (path, found) in [
        ("telegram:user:7", &*key("a", "7").to_string()),
        ("telegram:direct:7", &key("a", "7").to_string()),
        ("telegram%3Auser%3A7", &key("a", "7").to_string()),
        (&in_path, &odd),
        ("agent:main:telegram:a:direct:7", &key("a", "7").to_string()),
    ] {
        assert_eq!(gateway.get(&format!("/v1/sessions/{path}"), owner).await["key"], found, "{path}");
    }
    let (status, problem) = gateway.call("GET", "/v1/sessions/telegram:user:8", owner, None).await;
    assert_eq!(status, 409, "{problem}");
    // To others it is not there, ambiguous or not.
    let ada = gateway.person("ada").await;
    for short in ["telegram:user:7", "telegram:user:8", "telegram:user:9"] {
        assert_eq!(gateway.call("GET", &format!("/v1/sessions/{short}"), &ada, None).await.0, 404);
    }
}
