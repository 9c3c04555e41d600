//! The page of the console, and what it asks the gateway for.

use toolkit_gateway::{DeliveryState, NewDelivery, Target};

use super::*;

impl Gateway {
    /// Makes a code with a token.
    async fn code(&self, token: &str) -> String {
        let (status, made) = self.call("POST", "/v1/console", token, None).await;
        assert_eq!(status, 201, "{made}");
        assert_eq!(made["path"], format!("/#code={}", made["code"].as_str().unwrap()));
        made["code"].as_str().unwrap().to_owned()
    }

    /// Exchanges a code, as a page does: without a token.
    async fn exchange(&self, code: &str) -> (u16, Value) {
        let request = Request::builder()
            .method("POST")
            .uri("/console/token")
            .header("content-type", "application/json")
            .body(json!({ "code": code }).to_string().into())
            .unwrap();
        let (head, body) = self.send(request).await.into_parts();
        (head.status.as_u16(), serde_json::from_slice(&body).unwrap())
    }

    async fn consoles(&self) -> Vec<Value> {
        let tokens = self.get("/v1/tokens", &self.owner).await["tokens"].as_array().unwrap().clone();
        tokens.into_iter().filter(|token| token["name"].as_str().unwrap().starts_with("console-")).collect()
    }
}

#[tokio::test]
async fn a_code_of_the_owner_opens_the_console_once() {
    let gateway = Gateway::start().await;
    let code = gateway.code(&gateway.owner).await;
    let (status, given) = gateway.exchange(&code).await;
    assert_eq!(status, 200, "{given}");
    let token = given["token"].as_str().unwrap();
    assert_eq!(gateway.get("/v1/status", token).await["person"]["role"], "owner");
    assert_eq!(gateway.exchange(&code).await.0, 403, "a code counts once");
    assert_eq!(gateway.exchange("other").await.0, 403);

    // A lesser token would get one that outlives it.
    let ada = gateway.token(json!({ "name": "ada", "role": "approver" })).await;
    let lesser = gateway.token(json!({ "name": "watch", "person": "owner", "role": "user" })).await;
    for token in [ada, lesser] {
        assert_eq!(gateway.call("POST", "/v1/console", &token, None).await.0, 403);
    }
    // It is in the list, and ends with it.
    let consoles = gateway.consoles().await;
    assert_eq!((consoles.len(), &consoles[0]["person"]), (1, &json!("owner")), "{consoles:?}");
    let path = format!("/v1/tokens/{}", consoles[0]["name"].as_str().unwrap());
    assert_eq!(gateway.call("DELETE", &path, &gateway.owner, None).await.0, 204);
    assert_eq!(gateway.call("GET", "/v1/status", token, None).await.0, 401);
    assert_eq!(gateway.call("POST", "/v1/console", "wrong", None).await.0, 401);
}

#[tokio::test]
async fn the_oldest_console_of_a_person_gives_way() {
    let gateway = Gateway::start().await;
    let mut tokens = Vec::new();
    for number in 0..21 {
        gateway.clock.set(toolkit_gateway::Moment(START.0 + number));
        let (_, given) = gateway.exchange(&gateway.code(&gateway.owner).await).await;
        tokens.push(given["token"].as_str().unwrap().to_owned());
    }
    assert_eq!(gateway.consoles().await.len(), 20);
    assert_eq!(gateway.call("GET", "/v1/status", &tokens[0], None).await.0, 401);
    assert_eq!(gateway.call("GET", "/v1/status", &tokens[1], None).await.0, 200);
}

#[tokio::test]
async fn the_page_needs_no_token_and_everything_else_does() {
    let gateway = Gateway::start().await;
    let plain = |uri: &str| Request::builder().uri(uri).body(Full::default()).unwrap();
    let page = gateway.send(plain("/")).await;
    assert_eq!(page.status().as_u16(), 200);
    let policy = page.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'self'"), "{policy}");
    let text = std::str::from_utf8(page.body()).unwrap();
    assert!(text.contains("data-host=\"gateway\""), "{text}");
    let script = text.split("src=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(gateway.send(plain(script)).await.status().as_u16(), 200);
    for path in ["/v1/status", "/v1/console", "/consoles", "/index.html"] {
        assert_eq!(gateway.send(plain(path)).await.status().as_u16(), 401, "{path}");
    }
    // A page of another host is not shown, so that none can act for it.
    let mut foreign = plain("/");
    foreign.headers_mut().insert("host", "attacker.example".parse().unwrap());
    assert_eq!(gateway.send(foreign).await.status().as_u16(), 421);
    // Whatever the path, a body is small: nobody knows whose it is.
    for path in ["/console/token", "/", "/console/other"] {
        let large = Request::builder().method("POST").uri(path).header("content-type", "application/json");
        let large = large.body(vec![b' '; 2_000].into()).unwrap();
        assert_eq!(gateway.send(large).await.status().as_u16(), 413, "{path}");
    }
}

#[tokio::test]
async fn a_schedule_is_previewed_and_nothing_is_stored() {
    let gateway = Gateway::start().await;
    let preview = async |fields: Value| {
        gateway.call("POST", "/v1/schedules/preview", &gateway.owner, Some(fields)).await
    };
    let (status, shown) = preview(json!({ "every": "1h" })).await;
    assert_eq!(status, 200, "{shown}");
    let hours: Vec<i64> = (1..=5).map(|hour| START.0 + hour * 3_600_000).collect();
    assert_eq!(shown, json!({ "times": hours }));
    let (_, once) = preview(json!({ "at": START.0 + 1 })).await;
    assert_eq!(once, json!({ "times": [START.0 + 1] }));
    let (_, never) = preview(json!({ "at": START.0 - 1 })).await;
    assert_eq!(never, json!({ "times": [] }));
    let (_, daily) = preview(json!({ "schedule": "0 8 * * *", "timezone": "Europe/Berlin" })).await;
    let times = daily["times"].as_array().unwrap();
    assert_eq!(times.len(), 5);
    assert_eq!(times[1].as_i64().unwrap() - times[0].as_i64().unwrap(), 24 * 3_600_000);
    for (wrong, told) in [
        (json!({}), "missing"),
        (json!({ "schedule": "nonsense" }), "nonsense"),
        (json!({ "every": "1h", "prompt": "x" }), "alone"),
    ] {
        let (status, problem) = preview(wrong).await;
        assert_eq!(status, 422, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(told), "{problem}");
    }
    assert_eq!(gateway.get("/v1/schedules", &gateway.owner).await, json!({ "jobs": [] }));
}

#[tokio::test]
async fn a_delivery_that_is_unknown_is_sent_once_more_by_who_sees_it_alone() {
    let gateway = Gateway::start().await;
    let (ada, bob) = (gateway.person("ada").await, gateway.person("bob").await);
    gateway.outcome("main", &ada, gateway.message("main", &ada, "plain").await).await;
    let store = gateway.sessions.store();
    let session = "agent:main:person:ada".parse().unwrap();
    let delivery = NewDelivery::new(Target::new("chat", "one", "c1"), json!({ "text": "hello" }));
    let prepared = store.prepare_for_call(session, "transcript", "answer", "call", vec![delivery]).await;
    let sent = prepared.unwrap()[0].id;
    let path = format!("/v1/outbox/{sent}/resend");
    // It waits, so it is not sent twice.
    assert_eq!(gateway.call("POST", &path, &ada, None).await.0, 409);
    let taken = store.next_delivery("chat", "one").await.unwrap().unwrap();
    store.unknown(taken.id, "the connection was reset".to_owned()).await.unwrap();

    assert_eq!(gateway.call("POST", &path, &bob, None).await.0, 404);
    assert_eq!(gateway.call("POST", "/v1/outbox/none/resend", &ada, None).await.0, 404);
    let (status, again) = gateway.call("POST", &path, &ada, None).await;
    assert_eq!((status, &again["state"], &again["key"]), (202, &json!("prepared"), &json!(taken.key)));
    assert_eq!(again["reason"], "sent once more, as ada wants");
    assert_eq!(gateway.call("POST", &path, &ada, None).await.0, 409, "one press is one sending");
    let taken = store.next_delivery("chat", "one").await.unwrap().unwrap();
    assert_eq!((taken.id, taken.attempts), (sent, 2));
    store.delivered(sent, None).await.unwrap();
    assert_eq!(store.delivery(sent).await.unwrap().unwrap().state, DeliveryState::Delivered);
    assert_eq!(gateway.call("POST", &path, &ada, None).await.0, 409);
}

#[tokio::test]
async fn events_of_all_sessions_come_with_the_answer_of_one() {
    let gateway = Gateway::start().await;
    let ada = gateway.person("ada").await;
    gateway.outcome("main", &ada, gateway.message("main", &ada, "plain one").await).await;
    let other = "agent%3Amain%3Alocal%3Aconsole%3Adirect%3Aada%3Atwo";
    gateway.outcome(other, &ada, gateway.message(other, &ada, "plain two").await).await;
    let mut events = gateway.events(&format!("?live={other}"), &ada, None).await;
    gateway.outcome("main", &ada, gateway.message("main", &ada, "plain three").await).await;
    gateway.outcome(other, &ada, gateway.message(other, &ada, "plain four").await).await;
    let (mut ended, mut has_live) = (Vec::new(), false);
    while ended.len() < 2 || !has_live {
        let event = events.next().await.unwrap();
        match event.kind.as_str() {
            "run.ended" => ended.push(event.data["session"].as_str().unwrap().to_owned()),
            "live" => has_live = true,
            _ => {}
        }
    }
    assert_eq!(ended, ["agent:main:person:ada", "agent:main:local:console:direct:ada:two"]);
    let bob = gateway.person("bob").await;
    let path = format!("/v1/events?live={other}");
    assert_eq!(gateway.call("GET", &path, &bob, None).await.0, 404);
}
