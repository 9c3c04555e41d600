use super::*;

fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(body.to_owned().into()).unwrap()
}

/// Sends a request, and returns the status and the detail of the problem.
async fn refused(gateway: &Gateway, request: Request<Full<Bytes>>) -> (u16, String) {
    let answer = gateway.send(request).await;
    let status = answer.status().as_u16();
    let problem: Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!(answer.headers()["content-type"], "application/problem+json", "{problem}");
    assert_eq!(answer.headers()["cache-control"], "no-store");
    assert_eq!(problem["status"], status);
    (status, problem["detail"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn every_bad_request_is_answered_with_what_is_wrong() {
    let gateway = Gateway::start().await;
    let message = gateway.message("main", &gateway.owner, "plain a").await;
    gateway.outcome("main", &gateway.owner, message).await;
    let token = format!("Bearer {}", gateway.owner);
    let token = token.as_str();
    let messages = "/v1/sessions/main/messages";
    let long = "x".repeat(2 << 20);
    let huge = "x".repeat(5 << 20);
    let text = |text: &str| json!({ "text": text }).to_string();
    for (method, path, kind, body, status, detail) in [
        ("GET", "/page", "", String::new(), 404, "nothing at this path"),
        ("GET", "/v1/session", "", String::new(), 404, "nothing at this path"),
        ("DELETE", "/v1/sessions", "", String::new(), 405, "does not take this method"),
        ("PUT", messages, "json", text("a"), 405, "does not take this method"),
        ("POST", messages, "text/plain", text("a"), 415, "application/json"),
        ("POST", messages, "", text("a"), 415, "application/json"),
        ("POST", messages, "json", "{".to_owned(), 400, "JSON"),
        ("POST", messages, "json", "{}".to_owned(), 422, "missing field `text`"),
        ("POST", messages, "json", json!({ "text": 1 }).to_string(), 422, "invalid type"),
        (
            "POST",
            messages,
            "json",
            json!({ "text": "a", "person": "b" }).to_string(),
            422,
            "unknown field `person`",
        ),
        ("POST", messages, "json", text(" \n"), 422, "is empty"),
        ("POST", messages, "json", json!({ "text": "a", "id": "" }).to_string(), 422, "1 to 128 bytes"),
        (
            "POST",
            messages,
            "json",
            json!({ "text": "a", "id": "a\n" }).to_string(),
            422,
            "control characters",
        ),
        ("POST", messages, "json", text(&long), 422, "the limit is"),
        ("POST", messages, "json", text(&huge), 413, "4194304 bytes at most"),
        ("POST", "/v1/sessions/agent:none:main/messages", "json", text("a"), 404, "no agent `none`"),
        ("POST", "/v1/sessions/agent:main:sub:x/messages", "json", text("a"), 404, "no session"),
        ("GET", "/v1/sessions/nonsense", "", String::new(), 400, "is no key of a session"),
        ("GET", "/v1/sessions/agent:main:a:b:c:d", "", String::new(), 400, "no kind of peer"),
        ("GET", "/v1/sessions/%ff", "", String::new(), 400, "UTF-8"),
        ("GET", "/v1/sessions/telegram:user:7", "", String::new(), 404, "no session `telegram:user:7`"),
        ("GET", "/v1/sessions/main/inbox/x", "", String::new(), 400, "`x`"),
        ("GET", "/v1/sessions/main/inbox/999", "", String::new(), 404, "no message 999"),
        ("GET", "/v1/sessions/main/inbox/1?waitSeconds=61", "", String::new(), 400, "from 0 to 60"),
        ("GET", "/v1/sessions?limit=0", "", String::new(), 400, "from 1 to 500"),
        ("GET", "/v1/sessions?limit=1&limit=2", "", String::new(), 400, "given twice"),
        ("GET", "/v1/sessions?kind=other", "", String::new(), 400, "unknown variant `other`"),
        ("GET", "/v1/sessions?status=busy", "", String::new(), 400, "unknown variant `busy`"),
        ("GET", "/v1/sessions?cursor=abc", "", String::new(), 400, "`nextCursor`"),
        ("GET", "/v1/sessions?person=ada", "", String::new(), 400, "no parameter `person`"),
        ("GET", "/v1/status?x=1", "", String::new(), 400, "this path takes none"),
        ("GET", "/v1/sessions/main/messages?before=-1", "", String::new(), 400, "a number"),
        ("GET", "/v1/outbox?state=gone", "", String::new(), 400, "unknown variant `gone`"),
        ("GET", "/v1/events?session=agent:main:sub:x", "", String::new(), 404, "no session"),
        ("GET", "/v1/events?after=x", "", String::new(), 400, "a number"),
        (
            "PATCH",
            "/v1/sessions/main",
            "json",
            json!({ "label": "" }).to_string(),
            422,
            "1 to 100 characters",
        ),
        (
            "PATCH",
            "/v1/sessions/main",
            "json",
            json!({ "lable": "a" }).to_string(),
            422,
            "unknown field `lable`",
        ),
        ("PATCH", "/v1/sessions/agent:main:sub:x", "json", "{}".to_owned(), 404, "no session"),
        ("POST", "/v1/sessions/agent:main:sub:x/cancel", "", String::new(), 404, "no session"),
    ] {
        let kind = if kind == "json" { "application/json" } else { kind };
        let mut headers = vec![("authorization", token)];
        if !kind.is_empty() {
            headers.push(("content-type", kind));
        }
        let (found, told) = refused(&gateway, request(method, path, &headers, &body)).await;
        assert_eq!(found, status, "{method} {path}: {told}");
        assert!(told.contains(detail), "{method} {path}: {told}");
    }
    let headers = [("authorization", token), ("last-event-id", "x")];
    let (status, told) = refused(&gateway, request("GET", "/v1/events", &headers, "")).await;
    assert_eq!(status, 400, "{told}");
}

#[tokio::test]
async fn a_person_begins_so_many_sessions_and_the_owner_any_number() {
    let gateway = Gateway::start().await.serve_more(Router::new()).await;
    let ada = gateway.person("ada").await;
    let send = async |person: &str, token: &str, thread: u32| {
        let path = format!("/v1/sessions/agent:main:local:console:direct:{person}:{thread}/messages");
        gateway.call("POST", &path, token, Some(json!({ "text": "plain a" }))).await
    };
    for thread in [1, 2, 1] {
        assert_eq!(send("ada", &ada, thread).await.0, 202);
    }
    let (status, problem) = send("ada", &ada, 3).await;
    assert_eq!((status, &problem["limit"]), (429, &json!(2)), "{problem}");
    for thread in 1..=3 {
        assert_eq!(send("owner", &gateway.owner, thread).await.0, 202);
    }
}

#[tokio::test]
async fn only_the_header_with_a_token_opens_anything() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.as_str();
    let bearer = format!("Bearer {owner}");
    let (basic, cookie) = (format!("Basic {owner}"), format!("token={owner}; Authorization=Bearer {owner}"));
    let in_query = format!("/v1/status?token={owner}&access_token={owner}");
    for (path, headers) in [
        ("/v1/status", vec![]),
        ("/v1/status", vec![("cookie", cookie.as_str())]),
        (in_query.as_str(), vec![]),
        ("/v1/status", vec![("authorization", basic.as_str())]),
        ("/v1/status", vec![("authorization", owner)]),
        ("/v1/status", vec![("authorization", "Bearer ")]),
        ("/v1/status", vec![("authorization", bearer.as_str()), ("authorization", bearer.as_str())]),
        ("/v1/events", vec![("cookie", cookie.as_str())]),
        ("/v1/tokens", vec![("cookie", cookie.as_str())]),
        ("/not/there", vec![]),
        ("/healthz/x", vec![]),
    ] {
        let (status, told) = refused(&gateway, request("GET", path, &headers, "")).await;
        assert_eq!(status, 401, "{path} {headers:?}: {told}");
        assert!(!told.contains(owner));
    }
    let answer = gateway.send(request("GET", "/healthz", &[], "")).await;
    assert_eq!((answer.status().as_u16(), &answer.body()[..]), (200, &br#"{"status":"ok"}"#[..]));
    gateway.state.set_about(|about| about.problems.push("the channel `x` is not reached".to_owned()));
    let answer = gateway.send(request("GET", "/healthz", &[], "")).await;
    assert_eq!(&answer.body()[..], br#"{"status":"degraded"}"#);
    let ada = gateway.person("ada").await;
    assert_eq!(gateway.get("/v1/status", owner).await["problems"], json!(["the channel `x` is not reached"]));
    assert_eq!(gateway.get("/v1/status", &ada).await["problems"], Value::Null);
}

#[tokio::test]
async fn a_request_for_another_host_or_from_another_page_is_refused() {
    let gateway = Gateway::start().await;
    let token = format!("Bearer {}", gateway.owner);
    for (path, header, value, status) in [
        ("/v1/status", "host", "evil.test", 421),
        ("/healthz", "host", "evil.test", 421),
        ("/v1/status", "origin", "http://evil.test", 403),
        ("/v1/events", "origin", "null", 403),
        ("/v1/status", "sec-fetch-site", "cross-site", 403),
    ] {
        let headers = [("authorization", token.as_str()), (header, value)];
        let (found, told) = refused(&gateway, request("GET", path, &headers, "")).await;
        assert_eq!(found, status, "{path} {header}: {told}");
    }
    let headers = [("authorization", token.as_str()), ("origin", "http://localhost:5173")];
    assert_eq!(gateway.send(request("GET", "/v1/status", &headers, "")).await.status().as_u16(), 200);
}

/// Paths of a whole gateway, which `tool_routes` has.
const WHOLE: [&str; 10] = [
    "tools",
    "results",
    "keyed-calls",
    "openapi.json",
    "uploads",
    "calls",
    "metrics",
    "mcp",
    "channels",
    "configuration",
];

#[tokio::test]
async fn every_documented_path_is_served() {
    let gateway = Gateway::start().await;
    let stop = CancellationToken::new();
    let operation = toolkit_gateway::http::operation(gateway.state.clone(), stop.clone());
    let store = gateway.state.store().clone();
    let nodes = toolkit_gateway::Nodes::open(store, gateway.directory.path()).await.unwrap();
    let gateway = gateway.serve_more(operation.merge(toolkit_gateway::http::nodes(nodes))).await;
    let id = gateway.message("main", &gateway.owner, "plain a").await;
    gateway.outcome("main", &gateway.owner, id).await;
    let token = format!("Bearer {}", gateway.owner);
    let documented = include_str!("../../../../../docs/gateway-http.md").lines().filter_map(|line| {
        let (method, path) = line.strip_prefix("| `")?.split_once('`')?.0.split_once(' ')?;
        let first = path.trim_start_matches("/v1").split('/').nth(1).unwrap_or_default();
        (!WHOLE.contains(&first)).then_some(())?;
        Some((
            method,
            path.replace("{key}", "main")
                .replace("nodes/{id}", "nodes/nobody")
                .replace("{id}", "1")
                .replace("{name}", "nobody")
                .replace("{code}", "nobody")
                .replace("{job}", "nobody"),
        ))
    });
    let mut count = 0;
    for (method, path) in documented {
        count += 1;
        let answer = gateway.open(request(method, &path, &[("authorization", &token)], "")).await;
        let status = answer.status().as_u16();
        // Without a body, or about somebody who is not there.
        let expected: u16 = match (method, path.rsplit('/').next().unwrap_or_default()) {
            (_, "block" | "unblock" | "run" | "runs") | ("GET" | "DELETE", "nobody") => 404,
            (_, "stop") => 202,
            (_, "console") => 201,
            // It has arrived.
            (_, "resend") => 409,
            ("POST" | "PATCH", last) if last != "cancel" => 415,
            _ => 200,
        };
        assert_eq!(status, expected, "{method} {path}");
        if expected == 404 {
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            assert!(std::str::from_utf8(&body).unwrap().contains("`nobody`"), "{body:?}");
        }
    }
    assert!(stop.is_cancelled());
    assert!(count >= 34, "{count}");
}
