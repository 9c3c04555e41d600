use super::*;

#[tokio::test]
async fn a_token_is_shown_once_and_counts_until_it_expires_or_is_revoked() {
    let gateway = Gateway::start().await;
    let wanted = json!({ "name": "phone", "person": "ada", "role": "approver", "expiresInSeconds": 60 });
    let (status, made) = gateway.call("POST", "/v1/tokens", &gateway.owner, Some(wanted.clone())).await;
    assert_eq!((status, &made["person"], &made["role"]), (201, &json!("ada"), &json!("approver")));
    assert_eq!(made["expiresAt"], START.after(Duration::from_mins(1)).0);
    let phone = made["token"].as_str().unwrap().to_owned();
    let laptop = gateway.token(json!({ "name": "laptop", "person": "ada" })).await;
    assert_eq!(gateway.call("POST", "/v1/tokens", &gateway.owner, Some(wanted)).await.0, 409);

    let listed = gateway.get("/v1/tokens", &gateway.owner).await;
    let names: Vec<_> = listed["tokens"].as_array().unwrap().iter().map(|token| &token["name"]).collect();
    assert_eq!(names, ["laptop", "owner", "phone"]);
    let text = listed.to_string();
    assert!(!text.contains(&phone) && !text.contains("digest"), "{text}");

    let me = gateway.get("/v1/status", &phone).await["person"].clone();
    assert_eq!(me, json!({ "name": "ada", "role": "approver", "agent": "main" }));
    gateway.clock.set(START.after(Duration::from_mins(1)));
    assert_eq!(gateway.call("GET", "/v1/status", &phone, None).await.0, 401);
    assert_eq!(gateway.call("GET", "/v1/status", &laptop, None).await.0, 200);

    let revoke = async |name: &str| {
        gateway.call("DELETE", &format!("/v1/tokens/{name}"), &gateway.owner, None).await.0
    };
    assert_eq!([revoke("laptop").await, revoke("laptop").await, revoke("owner").await], [204, 404, 409]);
    assert_eq!(gateway.call("GET", "/v1/status", &laptop, None).await.0, 401);
    // The owner's token is made again if its file was deleted.
    std::fs::remove_file(gateway.state.people().owner_token_file()).unwrap();
    let before = gateway.owner.clone();
    let gateway = gateway.restart().await;
    assert_eq!(gateway.call("GET", "/v1/status", &before, None).await.0, 401);
    assert_eq!(gateway.call("GET", "/v1/status", &gateway.owner, None).await.0, 200);
}

#[tokio::test]
async fn only_the_owner_with_the_role_of_the_owner_manages() {
    let gateway = Gateway::start().await;
    let limited = gateway.token(json!({ "name": "console", "person": "owner", "role": "user" })).await;
    let approver = gateway.token(json!({ "name": "bob", "role": "approver" })).await;
    let user = gateway.person("ada").await;
    for token in [&limited, &approver, &user] {
        for (method, path, body) in [
            ("GET", "/v1/tokens", None),
            ("POST", "/v1/tokens", Some(json!({ "name": "more", "person": "owner", "role": "owner" }))),
            ("DELETE", "/v1/tokens/ada", None),
            ("POST", "/v1/people/ada/block", None),
            ("POST", "/v1/people/ada/unblock", None),
        ] {
            let (status, problem) = gateway.call(method, path, token, body).await;
            assert_eq!(status, 403, "{method} {path}: {problem}");
        }
    }
    let names = async |token: &str| {
        let people = gateway.get("/v1/people", token).await;
        people["people"].as_array().unwrap().iter().map(|person| person["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&gateway.owner).await, ["ada", "bob", "owner"]);
    assert_eq!((names(&user).await, names(&limited).await), (vec![json!("ada")], vec![json!("owner")]));
    // The limited token is the same person, and has no other person's sessions.
    let message = gateway.message("main", &gateway.owner, "plain a").await;
    gateway.outcome("main", &gateway.owner, message).await;
    gateway.message("main", &user, "plain b").await;
    let keys = async |token: &str| {
        let sessions = gateway.get("/v1/sessions", token).await;
        sessions["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|session| session["key"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&limited).await, ["agent:main:main"]);
    assert_eq!(keys(&gateway.owner).await.len(), 2);
}

#[tokio::test]
async fn a_token_that_would_give_more_than_its_person_has_is_refused() {
    let gateway = Gateway::start().await;
    gateway.person("ada").await;
    for (wanted, detail) in [
        (json!({ "name": "x", "person": "ada", "role": "approver" }), "at most that of its person"),
        (json!({ "name": "x", "person": "bob", "role": "owner" }), "`owner` is the owner"),
        (json!({ "name": "a b" }), "1 to 64 letters"),
        (json!({ "name": "x", "agent": "none" }), "no agent `none`"),
        (json!({ "name": "x", "role": "king" }), "unknown variant `king`"),
        (json!({ "name": "x", "expiresAt": START.0 }), "expired already"),
        (json!({ "name": "x", "expiresAt": START.0 + 1, "expiresInSeconds": 1 }), "not both"),
        (json!({ "name": "x", "expires": 1 }), "unknown field `expires`"),
    ] {
        let (status, problem) = gateway.call("POST", "/v1/tokens", &gateway.owner, Some(wanted)).await;
        assert_eq!(status, 422, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{problem}");
    }
}

#[tokio::test]
async fn wrong_tokens_are_limited_and_right_ones_are_not() {
    let gateway = Gateway::start().await;
    for number in 0..61 {
        let (status, problem) = gateway.call("GET", "/v1/status", &format!("wrong {number}"), None).await;
        assert_eq!(status, if number < 60 { 401 } else { 429 }, "{problem}");
    }
    let status = gateway.get("/v1/status", &gateway.owner).await;
    assert_eq!(status["wrongTokens"], 61);
    gateway.clock.set(START.after(Duration::from_mins(1)));
    assert_eq!(gateway.call("GET", "/v1/status", "wrong", None).await.0, 401);
}

#[tokio::test]
async fn a_blocked_person_has_no_work_and_no_access() {
    let gateway = Gateway::start().await;
    let ada = gateway.person("ada").await;
    let running = gateway.message("main", &ada, "hold a").await;
    in_time(gateway.ledger.held.cancelled()).await;
    // It reaches the run, which has not read it yet.
    let steering = gateway.message("main", &ada, "plain more").await;
    let local = "agent:main:local:console:direct:ada:second";
    let other = gateway.message(local, &ada, "hold b").await;
    let (status, blocked) = gateway.call("POST", "/v1/people/ada/block", &gateway.owner, None).await;
    assert_eq!((status, &blocked["blockedAt"]), (200, &json!(START.0)));
    assert_eq!(gateway.call("GET", "/v1/status", &ada, None).await.0, 401);
    let own = "agent:main:person:ada";
    for (session, message) in [(own, running), (own, steering), (local, other)] {
        let outcome = gateway.outcome(session, &gateway.owner, message).await;
        assert_eq!(outcome["state"], "cancelled", "{outcome}");
    }
    // A message that comes meanwhile waits until the person is let in again.
    let later = gateway.message(own, &gateway.owner, "plain later").await;
    let path = format!("/v1/sessions/{own}/inbox/{later}");
    assert_eq!(gateway.get(&path, &gateway.owner).await["state"], "queued");
    assert_eq!(gateway.call("POST", "/v1/people/owner/block", &gateway.owner, None).await.0, 422);
    assert_eq!(gateway.call("POST", "/v1/people/nobody/block", &gateway.owner, None).await.0, 404);
    gateway.call("POST", "/v1/people/ada/unblock", &gateway.owner, None).await;
    assert_eq!(gateway.call("GET", "/v1/status", &ada, None).await.0, 200);
    assert_eq!(gateway.outcome(own, &ada, later).await["state"], "answered");
}

#[tokio::test]
async fn further_routes_have_the_person_of_the_token() {
    use toolkit_gateway::http::Caller;
    use toolkit_serve::axum::routing::get;
    let gateway = Gateway::start().await;
    let ada = gateway.person("ada").await;
    let named = async |caller: Caller| format!("\"{}\"", caller.name());
    let gateway = gateway.serve_more(Router::new().route("/v1/more", get(named))).await;
    assert_eq!(gateway.get("/v1/more", &ada).await, "ada");
    assert_eq!(gateway.call("GET", "/v1/more", "wrong", None).await.0, 401);
    assert_eq!(gateway.call("POST", "/v1/more", &ada, None).await.0, 405);
    assert_eq!(gateway.call("GET", "/v1/none", &ada, None).await.0, 404);
    assert_eq!(gateway.get("/v1/status", &ada).await["person"]["name"], "ada");
}

#[tokio::test]
async fn a_person_has_a_limit_of_requests_with_all_their_tokens() {
    let gateway = Gateway::start().await;
    let (ada, bob) = (gateway.person("ada").await, gateway.person("bob").await);
    let laptop = gateway.token(json!({ "name": "laptop", "person": "ada" })).await;
    let gateway = gateway.serve_more(Router::new()).await;
    let status = async |token: &str| gateway.call("GET", "/v1/status", token, None).await.0;
    for number in 0..MAX_REQUESTS {
        assert_eq!(status(if number % 2 == 0 { &ada } else { &laptop }).await, 200);
    }
    assert_eq!([status(&ada).await, status(&laptop).await, status(&bob).await], [429, 429, 200]);
    gateway.clock.set(START.after(Duration::from_secs(10)));
    assert_eq!(status(&ada).await, 200);
}
