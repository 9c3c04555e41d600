use super::*;
use toolkit_gateway::SessionKey;

#[tokio::test]
async fn nothing_of_one_person_is_shown_to_another() {
    let gateway = Gateway::start().await;
    let (ada, bob) = (gateway.person("ada").await, gateway.person("bob").await);
    let mut of_bob = gateway.events("", &bob, None).await;
    let secret = gateway.message("main", &ada, "plain secret").await;
    gateway.outcome("main", &ada, secret).await;
    let key = "agent:main:person:ada";
    gateway.call("PATCH", &format!("/v1/sessions/{key}"), &ada, Some(json!({ "label": "private" }))).await;
    let below = SessionKey::sub("main", "1").unwrap();
    let parent: SessionKey = key.parse().unwrap();
    gateway.sessions.store().open_session(below.clone(), None, Some(parent)).await.unwrap();

    // A session of another person is refused in the same words as one that is not there.
    for (method, path, body) in [
        ("GET", "", None),
        ("PATCH", "", Some(json!({ "label": "mine" }))),
        ("PATCH", "", Some(json!({ "archived": true }))),
        ("GET", "/messages", None),
        ("POST", "/messages", Some(json!({ "text": "plain x" }))),
        ("POST", "/cancel", None),
        ("GET", "/inbox/1", None),
        ("DELETE", "/inbox/1", None),
    ] {
        for theirs in [key, "agent:main:sub:1", "agent:main:main"] {
            let (status, problem) =
                gateway.call(method, &format!("/v1/sessions/{theirs}{path}"), &bob, body.clone()).await;
            assert_eq!(status, 404, "{method} {theirs}{path}: {problem}");
            let absent = theirs
                .replace(":ada", ":nobody")
                .replace("sub:1", "sub:2")
                .replace("main:main", "main:person:owner");
            let (_, other) =
                gateway.call(method, &format!("/v1/sessions/{absent}{path}"), &bob, body.clone()).await;
            let same = problem.to_string().replace(theirs, &absent);
            assert_eq!(same, other.to_string(), "{method} {path}");
        }
    }
    let (status, _) = gateway.call("GET", &format!("/v1/events?session={key}"), &bob, None).await;
    assert_eq!(status, 404);
    assert_eq!(gateway.get("/v1/sessions", &bob).await["sessions"], json!([]));
    assert_eq!(gateway.get("/v1/sessions?label=private&archived=true", &bob).await["sessions"], json!([]));
    assert_eq!(gateway.get("/v1/outbox", &bob).await["deliveries"], json!([]));
    let status = gateway.get("/v1/status", &bob).await;
    assert_eq!((&status["sessions"], &status["outbox"]["prepared"]), (&json!(0), &json!(0)));

    // The labels of each person are their own.
    let own = gateway.message("main", &bob, "plain own").await;
    gateway.outcome("main", &bob, own).await;
    let (status, problem) =
        gateway.call("PATCH", "/v1/sessions/main", &bob, Some(json!({ "label": "private" }))).await;
    assert_eq!((status, &problem["label"]), (200, &json!("private")));
    assert!(!problem.to_string().contains("ada"), "{problem}");
    let events = of_bob.until("run.ended").await;
    let text = json!(events.iter().map(|event| &event.data).collect::<Vec<_>>()).to_string();
    // Not three letters alone, which the id of a run may have.
    assert!(!text.contains("person:ada") && !text.contains("\"ada\""), "{text}");
    assert!(events.iter().all(|event| event.data["session"] == "agent:main:person:bob"), "{events:?}");
    let outbox = gateway.get("/v1/outbox", &bob).await;
    assert_eq!(outbox["deliveries"].as_array().unwrap().len(), 1);
    assert_eq!(outbox["deliveries"][0]["body"]["text"], "answer to plain own");

    // Their own, and what stands below, is there.
    let sessions = gateway.get("/v1/sessions", &ada).await;
    let keys: Vec<_> =
        sessions["sessions"].as_array().unwrap().iter().map(|session| &session["key"]).collect();
    assert_eq!(keys, [key, below.as_str()]);
    assert_eq!(
        gateway.get("/v1/outbox?state=prepared", &gateway.owner).await["deliveries"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let (page, rest) =
        (gateway.get("/v1/outbox?limit=1", &gateway.owner).await, "/v1/outbox?limit=1&before=");
    assert_eq!(page["hasMore"], true);
    let rest = gateway.get(&format!("{rest}{}", page["deliveries"][0]["id"]), &gateway.owner).await;
    assert_eq!(
        (&rest["deliveries"][0]["body"]["text"], &rest["hasMore"]),
        (&json!("answer to plain secret"), &json!(false))
    );
}

#[tokio::test]
async fn a_person_begins_only_sessions_of_their_own_with_their_agent() {
    let gateway = Gateway::start().await;
    let ada = gateway.person("ada").await;
    let send = async |session: &str, token: &str| {
        let path = format!("/v1/sessions/{session}/messages");
        gateway.call("POST", &path, token, Some(json!({ "text": "plain a" }))).await.0
    };
    for (session, of_ada, of_owner) in [
        ("agent:main:main", 404, 202),
        ("agent:other:main", 404, 202),
        ("agent:main:person:bob", 404, 404),
        ("agent:main:person:ada", 202, 202),
        ("agent:main:local:console:direct:ada:2", 202, 202),
        ("agent:main:local:console:direct:bob", 404, 404),
        ("agent:other:person:ada", 404, 404),
        ("agent:main:cron:job", 404, 404),
    ] {
        assert_eq!(
            (send(session, &ada).await, send(session, &gateway.owner).await),
            (of_ada, of_owner),
            "{session}"
        );
    }
    let agents = async |token: &str| gateway.get("/v1/agents", token).await["agents"].clone();
    assert_eq!(agents(&ada).await, json!([{ "id": "main", "model": "scripted" }]));
    assert_eq!(agents(&gateway.owner).await.as_array().unwrap().len(), 2);
    let status = gateway.get("/v1/status", &ada).await;
    assert_eq!((&status["version"], &status["hasModel"]), (&json!("1.2.3"), &json!(true)));
    // An agent without a model fails clearly.
    let id = gateway.message("agent:other:main", &gateway.owner, "plain a").await;
    let outcome = gateway.outcome("agent:other:main", &gateway.owner, id).await;
    assert_eq!(outcome["state"], "failed");
    assert!(outcome["reason"].as_str().unwrap().contains("no agent `other`"), "{outcome}");
}
