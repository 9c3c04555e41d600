//! Requests that are answered, and those that are refused.

use super::{BEARER, MODERN, TOKEN, add_call, initialize, serve, service, stateless, with_token};
use http::{Request, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolkit_mcp::{Bearer, HttpOptions, at_path, cors};

#[tokio::test]
async fn without_the_token_there_is_nothing() {
    let server = with_token(HttpOptions::new()).await;
    for headers in [
        &[][..],
        &[("authorization", "Bearer 0123456789abcdeg")],
        &[("authorization", "Bearer")],
        &[("authorization", "Bearer ")],
        &[("authorization", "Basic 0123456789abcdef")],
        &[("authorization", "0123456789abcdef")],
        &[("x-authorization", "Bearer 0123456789abcdef")],
    ] {
        let refused = server.initialize(headers).await;
        assert_eq!((refused.status, refused.session), (StatusCode::UNAUTHORIZED, None), "{headers:?}");
        assert!(!refused.text.contains(TOKEN));
    }
    assert_eq!(
        server.initialize(&[("authorization", "bearer 0123456789abcdef")]).await.status,
        StatusCode::OK
    );
    for path in ["/", "/mcp/x", "/other"] {
        let elsewhere =
            server.post().uri(format!("http://{}{path}", server.address)).header(BEARER.0, BEARER.1);
        let refused = server.send(elsewhere.body(Full::new(initialize().to_string().into())).unwrap()).await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn pages_of_others_cannot_call() {
    let server = with_token(HttpOptions::new().allow_origins(["https://friend.example:443"])).await;
    for (origin, is_let) in [
        ("http://evil.example", false),
        ("null", false),
        ("http://localhost.evil.example", false),
        ("http://localhost:5173", true),
        ("http://127.0.0.1:80", true),
        ("https://friend.example", true),
        ("http://friend.example", false),
    ] {
        let answered = server.initialize(&[BEARER, ("origin", origin)]).await;
        let expected = if is_let { StatusCode::OK } else { StatusCode::FORBIDDEN };
        assert_eq!(answered.status, expected, "{origin}");
    }
    for (host, is_let) in [("evil.example", false), ("localhost:1", true), ("localhost.evil.example", false)]
    {
        let request = Request::post("/mcp").header("host", host).header(BEARER.0, BEARER.1);
        let request = request
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        let answered = server.send(request.body(Full::new(initialize().to_string().into())).unwrap()).await;
        let expected = if is_let { StatusCode::OK } else { StatusCode::FORBIDDEN };
        assert_eq!(answered.status, expected, "{host}");
    }
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_harms_nobody() {
    let mut options = HttpOptions::new();
    options.max_body = 10_000;
    let server = with_token(options).await;
    let large = format!("\"{}\"", "x".repeat(10_000));
    for (body, status, code, id) in [
        ("", 400, -32700, Value::Null),
        ("{", 400, -32700, Value::Null),
        ("junk", 400, -32700, Value::Null),
        ("[]", 400, -32600, Value::Null),
        ("{\"jsonrpc\": \"2.0\"}", 400, -32600, Value::Null),
        (r#"{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": [1]}"#, 200, -32602, json!(8)),
        (r#"{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": "#, 200, -32700, json!(8)),
    ] {
        let request = server.post().header(BEARER.0, BEARER.1);
        let answered = server.send(request.body(Full::new(body.to_owned().into())).unwrap()).await;
        let message = answered.message();
        assert_eq!(answered.status.as_u16(), status, "{body}: {answered:?}");
        assert_eq!((&message["error"]["code"], &message["id"]), (&json!(code), &id), "{body}: {answered:?}");
    }
    let request = server.post().header(BEARER.0, BEARER.1);
    let answered = server.send(request.body(Full::new(large.into())).unwrap()).await;
    assert_eq!(answered.status, StatusCode::PAYLOAD_TOO_LARGE);
    let request = Request::post(format!("http://{}/mcp", server.address))
        .header("host", server.address.to_string())
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "text/plain")
        .header(BEARER.0, BEARER.1);
    let answered = server.send(request.body(Full::new("{}".into())).unwrap()).await;
    assert_eq!(answered.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(server.initialize(&[BEARER]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_body_that_dawdles_is_given_up() {
    let mut options = HttpOptions::new();
    options.body_within = Duration::from_millis(100);
    let server = with_token(options).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: 100\r\n\r\n{{",
        server.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let read =
        tokio::time::timeout(Duration::from_secs(10), stream.read(&mut answer)).await.unwrap().unwrap();
    let answer = String::from_utf8_lossy(&answer[..read]);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_named() {
    let server = with_token(HttpOptions::new()).await;
    let session = server.initialize(&[BEARER]).await.session.unwrap();
    let of_session = [BEARER, ("mcp-session-id", &*session), ("mcp-protocol-version", "2025-11-25")];
    let legacy =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    for (method, params, code, said) in [
        ("tools/call", json!({"name": 5}), -32602, "/name: invalid type: integer `5`"),
        ("tools/call", json!({"arguments": {}}), -32602, "missing field `name`"),
        ("resources/read", json!({"uri": []}), -32602, "/uri: invalid type: sequence"),
        ("tools/list", json!({"cursor": 5}), -32602, "/cursor: invalid type: integer `5`"),
        ("prompts/list", json!({"cursor": ["a"]}), -32602, "/cursor: invalid type: sequence"),
        ("tools/cal", json!({}), -32601, "there is no method `tools/cal`"),
    ] {
        let refused = server.message(&of_session, legacy(method, params)).await.message();
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(code), &json!(7)), "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(said), "{refused}");
    }
    // Without sessions.
    let mut call = stateless(json!({"name": "add", "arguments": "x"}));
    let headers = [BEARER, MODERN, ("mcp-method", "tools/call"), ("mcp-name", "add")];
    let refused = server.message(&headers, call.clone()).await.message();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("/arguments: invalid type"), "{refused}");
    let mut list = stateless(json!({"cursor": 5}));
    list["method"] = json!("tools/list");
    let refused = server.message(&[BEARER, MODERN, ("mcp-method", "tools/list")], list).await.message();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("/cursor: invalid type"), "{refused}");
    call["method"] = json!("tools/cal");
    let headers = [BEARER, MODERN, ("mcp-method", "tools/cal")];
    let refused = server.message(&headers, call).await;
    assert_eq!(
        (refused.status, &refused.message()["error"]["code"]),
        (StatusCode::NOT_FOUND, &json!(-32601))
    );
    // Requests that begin no session.
    let mut begin = initialize();
    begin["params"]["clientInfo"] = json!("me");
    let refused = server.message(&[BEARER], begin).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{refused:?}");
    let message = refused.message();
    assert_eq!((&message["error"]["code"], &message["id"]), (&json!(-32602), &json!(1)), "{message}");
    assert!(message["error"]["message"].as_str().unwrap().contains("/clientInfo: invalid type"), "{message}");
}

#[tokio::test]
async fn an_unknown_version_is_answered_as_the_protocol_says() {
    let server = with_token(HttpOptions::new()).await;
    // `initialize`: with a version that the server has.
    let mut begin = initialize();
    for (asked, answered) in
        [("1999-01-01", "2025-11-25"), ("2099-01-01", "2025-11-25"), ("2025-06-18", "2025-06-18")]
    {
        begin["params"]["protocolVersion"] = json!(asked);
        let response = server.message(&[BEARER], begin.clone()).await;
        assert_eq!(response.message()["result"]["protocolVersion"], answered, "{response:?}");
    }
    // The header: 400, with a session and without.
    let session = server.initialize(&[BEARER]).await.session.unwrap();
    for version in ["1999-01-01", "2099-01-01", "nonsense"] {
        let header = ("mcp-protocol-version", version);
        let refused = server.message(&[BEARER, ("mcp-session-id", &*session), header], add_call()).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{version}: {refused:?}");
        let refused = server.message(&[BEARER, header], add_call()).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{version}: {refused:?}");
        // In the request itself: 400, naming the versions that the server has.
        let mut call = stateless(json!({"name": "add", "arguments": {"a": 1, "b": 2}}));
        call["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
        let headers = [BEARER, header, ("mcp-method", "tools/call"), ("mcp-name", "add")];
        let refused = server.message(&headers, call).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{version}: {refused:?}");
        let error = refused.message()["error"].clone();
        assert_eq!(error["code"], -32022, "{error}");
        assert!(error["data"]["supported"].as_array().unwrap().contains(&json!("2026-07-28")), "{error}");
    }
    let known = [BEARER, ("mcp-session-id", &*session), ("mcp-protocol-version", "2025-11-25")];
    assert_eq!(server.message(&known, add_call()).await.message()["result"]["content"][0]["text"], "5");
}

#[tokio::test]
async fn a_browser_is_told_which_pages_may_call() {
    let options = HttpOptions::new().allow_origins(["https://app.example"]);
    let (origins, shutdown) = (options.allowed_origins.clone(), options.shutdown.clone());
    let service = cors(Bearer::new(service(options), TOKEN), origins);
    let server = serve(at_path("/mcp", service), shutdown).await;
    let preflight = |origin: &'static str| {
        Request::options(format!("http://{}/mcp", server.address))
            .header("host", server.address.to_string())
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization, mcp-session-id")
            .body(Full::default())
            .unwrap()
    };
    for (origin, is_allowed) in
        [("https://app.example", true), ("http://localhost:5173", true), ("https://evil.example", false)]
    {
        let answered = server.raw(preflight(origin)).await;
        assert_eq!(answered.status() == StatusCode::NO_CONTENT, is_allowed, "{origin}: {answered:?}");
        let shared = answered.headers().get("access-control-allow-origin");
        assert_eq!(shared.is_some_and(|shared| shared == origin), is_allowed, "{origin}: {answered:?}");
        if is_allowed {
            let headers = answered.headers()["access-control-allow-headers"].to_str().unwrap();
            for header in ["authorization", "content-type", "mcp-session-id", "mcp-protocol-version"] {
                assert!(headers.contains(header), "{header}: {headers}");
            }
        }
        let call = server.post().header("origin", origin).header(BEARER.0, BEARER.1);
        let answered = server.raw(call.body(Full::new(initialize().to_string().into())).unwrap()).await;
        assert_eq!(answered.status() == StatusCode::OK, is_allowed, "{origin}: {answered:?}");
        let headers = answered.headers();
        assert_eq!(headers.get("access-control-allow-origin").is_some(), is_allowed, "{origin}");
        if is_allowed {
            let exposed = headers["access-control-expose-headers"].to_str().unwrap();
            assert!(exposed.contains("mcp-session-id"), "{exposed}");
        }
        assert_eq!(headers["vary"], "Origin");
    }
}

#[tokio::test]
async fn a_request_for_two_hosts_is_refused() {
    let server = with_token(HttpOptions::new()).await;
    let own = server.address.to_string();
    for other in ["evil.example", &own] {
        let request = server.post().header("host", other).header(BEARER.0, BEARER.1);
        let answered = server.raw(request.body(Full::new(initialize().to_string().into())).unwrap()).await;
        assert_eq!(answered.status(), StatusCode::BAD_REQUEST, "{other}");
    }
}
