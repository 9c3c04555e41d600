//! The tools of a person's agent over HTTP and MCP, in a whole gateway.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

use serde_json::{Value, json};
use toolkit::prelude::*;

use crate::agents::in_time;
use crate::websocket::{Place, exchange};

/// Adds two numbers.
#[tool(group = "http_test", read_only)]
async fn http_add(
    /** One. */
    a: i64,
    /** Other. */
    b: i64,
) -> i64 {
    a + b
}

/// Reads what is the owner's.
#[tool(group = "fs", read_only)]
async fn http_of_owner() -> &'static str {
    "the owner's"
}

/// The names of all changes of [`http_change`].
static CHANGED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Changes something.
#[tool(group = "http_test")]
async fn http_change(
    /** What. */
    name: String,
) -> &'static str {
    CHANGED.lock().unwrap().push(name);
    "changed"
}

fn changes(name: &str) -> usize {
    CHANGED.lock().unwrap().iter().filter(|changed| *changed == name).count()
}

impl Place {
    async fn post(&self, path: &str, token: &str, body: Value) -> (u16, Value) {
        self.http("POST", path, token, Some(body)).await
    }

    async fn get(&self, path: &str, token: &str) -> (u16, Value) {
        self.http("GET", path, token, None).await
    }

    /// Makes a token.
    async fn token(&self, wanted: Value) -> String {
        let (status, made) = self.post("/v1/tokens", &self.owner, wanted).await;
        assert_eq!(status, 201, "{made}");
        made["token"].as_str().unwrap().to_owned()
    }

    /// Waits until questions wait, and returns their codes.
    pub(crate) async fn asked(&self, token: &str) -> Vec<String> {
        in_time(async {
            loop {
                let (_, listed) = self.get("/v1/asks", token).await;
                let codes = listed["asks"].as_array().unwrap().iter();
                let codes: Vec<_> = codes.map(|ask| ask["code"].as_str().unwrap().to_owned()).collect();
                if !codes.is_empty() {
                    return codes;
                }
                tokio::task::yield_now().await;
            }
        })
        .await
    }
}

fn names(listed: &Value) -> BTreeSet<String> {
    let tools = listed["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn people_other_than_the_owner_have_no_tools_of_the_owner() {
    let place = Place::new().await;
    let ada = place.ada("phone").await;
    let lesser = place.token(json!({ "name": "lesser", "person": "owner", "role": "user" })).await;
    let all = names(&place.get("/v1/tools", &place.owner).await.1);
    assert!(all.contains("http_add") && all.contains("http_of_owner"), "{all:?}");
    let (status, answer) = place.post("/v1/tools/http_of_owner/call", &place.owner, json!({})).await;
    assert_eq!((status, answer["content"][0]["text"].as_str()), (200, Some("the owner's")), "{answer}");
    for token in [&ada, &lesser] {
        let seen = names(&place.get("/v1/tools", token).await.1);
        assert!(seen.contains("http_add") && !seen.contains("http_of_owner"), "{seen:?}");
        let description = place.get("/v1/openapi.json", token).await.1.to_string();
        assert!(description.contains("/v1/tools/http_add/call") && !description.contains("http_of_owner"));
        for path in ["/v1/tools/http_of_owner/call", "/v1/tools/http_of_owner/validate"] {
            let (status, problem) = place.post(path, token, json!({})).await;
            assert_eq!(status, 404, "{problem}");
        }
        assert_eq!(place.get("/v1/tools/http_of_owner", token).await.0, 404);
        let (status, answer) = place.post("/v1/tools/http_add/call", token, json!({ "a": 1, "b": 2 })).await;
        assert_eq!((status, answer["content"][0]["text"].as_str()), (200, Some("3")), "{answer}");
    }
    place.stop().await;
}

#[tokio::test]
async fn a_question_of_a_call_is_the_gateways_and_is_answered_by_who_may() {
    let place = Place::new().await;
    let ada = place.ada("phone").await;
    for (name, answer, status) in
        [("denied", json!({ "type": "deny" }), 403), ("allowed", json!({ "type": "allow" }), 200)]
    {
        let call = place.post("/v1/tools/http_change/call", &ada, json!({ "name": name }));
        let answering = async {
            let code = place.asked(&place.owner).await.remove(0);
            // She asks, and does not answer.
            let path = format!("/v1/asks/{code}");
            assert_eq!(place.get("/v1/asks", &ada).await.1, json!({ "asks": [] }));
            assert_eq!(place.post(&path, &ada, json!({ "type": "allow" })).await.0, 404);
            assert_eq!(changes(name), 0);
            let (status, outcome) = place.post(&path, &place.owner, answer).await;
            assert_eq!(status, 200, "{outcome}");
        };
        let ((found, result), ()) = in_time(async { tokio::join!(call, answering) }).await;
        assert_eq!(found, status, "{result}");
        assert_eq!(changes(name), usize::from(status == 200));
    }
    place.stop().await;
}

/// Sends a message to `/mcp`, and returns the id of the session and the answer.
async fn mcp(place: &Place, token: &str, session: Option<&str>, message: Value) -> (Option<String>, Value) {
    let body = message.to_string();
    let session = session.map(|session| format!("mcp-session-id: {session}\r\n")).unwrap_or_default();
    let address = place.gateway.address();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{session}connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let (head, body) = exchange(address, &request).await;
    let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).map(str::to_owned);
    let start = body.find("{\"jsonrpc\"").map_or("null", |at| &body[at..]);
    let answer = serde_json::Deserializer::from_str(start).into_iter().next().unwrap().unwrap();
    (id, answer)
}

pub(crate) async fn initialized(place: &Place, token: &str) -> String {
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "test", "version": "1" },
    });
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let (session, answer) = mcp(place, token, None, initialize).await;
    assert_eq!(answer["result"]["serverInfo"]["name"], "toolkit-gateway", "{answer}");
    let session = session.unwrap();
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    mcp(place, token, Some(&session), begun).await;
    session
}

#[tokio::test]
async fn mcp_serves_the_tools_of_the_person_of_the_token() {
    let place = Place::new().await;
    let ada = place.ada("phone").await;
    let request = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params });
    let owners = initialized(&place, &place.owner).await;
    let adas = initialized(&place, &ada).await;
    let all = mcp(&place, &place.owner, Some(&owners), request("tools/list", json!({}))).await.1;
    let seen = mcp(&place, &ada, Some(&adas), request("tools/list", json!({}))).await.1;
    let (all, seen) = (names(&all["result"]), names(&seen["result"]));
    assert!(all.contains("http_of_owner") && all.contains("http_add"), "{all:?}");
    assert!(!seen.contains("http_of_owner") && seen.contains("http_add"), "{seen:?}");
    let of_owner = request("tools/call", json!({ "name": "http_of_owner", "arguments": {} }));
    let called = mcp(&place, &place.owner, Some(&owners), of_owner.clone()).await.1;
    assert_eq!(called["result"]["content"][0]["text"], "the owner's", "{called}");
    let refused = mcp(&place, &ada, Some(&adas), of_owner.clone()).await.1.to_string();
    assert!(!refused.contains("the owner's\""), "{refused}");
    // The session of another is not there.
    let other = mcp(&place, &ada, Some(&owners), of_owner).await.1;
    assert_eq!(other["result"], Value::Null, "{other}");
    // A user's own client shows no question of theirs: it is the gateway's.
    let change = request("tools/call", json!({ "name": "http_change", "arguments": { "name": "mcp" } }));
    let call = mcp(&place, &ada, Some(&adas), change);
    let answering = async {
        let code = place.asked(&place.owner).await.remove(0);
        let (status, _) =
            place.post(&format!("/v1/asks/{code}"), &place.owner, json!({ "type": "allow" })).await;
        assert_eq!(status, 200);
    };
    let ((_, answer), ()) = in_time(async { tokio::join!(call, answering) }).await;
    assert_eq!(answer["result"]["content"][0]["text"], "changed", "{answer}");
    assert_eq!(changes("mcp"), 1);
    place.stop().await;
}

#[tokio::test]
async fn a_revoked_role_ends_its_calls_though_a_lesser_token_stays() {
    let place = Place::new().await;
    let approver = |name: &str| json!({ "name": name, "person": "bob", "role": "approver" });
    let first = place.token(approver("first")).await;
    let lesser = place.token(json!({ "name": "lesser", "person": "bob", "role": "user" })).await;
    let keyed = async |token: &str| {
        let (address, body) = (place.gateway.address(), r#"{"a":1,"b":2}"#);
        let request = format!(
            "POST /v1/tools/http_add/call HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nidempotency-key: k\r\n\
             content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let (head, body) = exchange(address, &request).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head} {body}");
        serde_json::from_str::<Value>(&body).unwrap()["id"].clone()
    };
    let (of_role, of_lesser) = (keyed(&first).await, keyed(&lesser).await);
    assert_ne!(of_role, of_lesser);
    assert_eq!(place.http("DELETE", "/v1/tokens/first", &place.owner, None).await.0, 204);
    let second = place.token(approver("second")).await;
    // The stored answer of the role is gone, in a moment.
    in_time(async {
        while keyed(&second).await == of_role {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(keyed(&lesser).await, of_lesser);
    place.stop().await;
}

#[tokio::test]
async fn metrics_are_for_the_owner_and_name_nobody() {
    let place = Place::new().await;
    let ada = place.ada("phone").await;
    place.post("/v1/tools/http_add/call", &ada, json!({ "a": 1, "b": 2 })).await;
    place.post("/v1/tools/http_add/call", &ada, json!({ "a": 1, "b": 2 })).await;
    assert_eq!(place.get("/metrics", &ada).await.0, 403);
    let text = in_time(async {
        loop {
            let address = place.gateway.address();
            let request = format!(
                "GET /metrics HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
                place.owner
            );
            let (head, body) = exchange(address, &request).await;
            assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/plain; version=0.0.4"), "{head}");
            // Calls are counted a moment after they end.
            if body.contains("toolkit_calls_total{tool=\"http_add\",outcome=\"ok\"} 2\n") {
                return body;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    for part in [
        "toolkit_call_duration_seconds_count{tool=\"http_add\"} 2\n",
        "toolkit_web_calls_total{tool=\"http_add\",outcome=\"ok\"} 2\n",
        "toolkit_gateway_sessions 2\n",
        "toolkit_gateway_runs{state=\"running\"} 0\n",
        "toolkit_gateway_queued_messages 0\n",
        "toolkit_gateway_deliveries{state=\"",
        "toolkit_gateway_tokens_total 0\n",
        "toolkit_gateway_sockets 0\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("ada") && !text.contains("phone"), "{text}");
    let names: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "each is there once");
    place.stop().await;
}

#[tokio::test]
async fn uploads_are_in_the_workspace_of_the_person() {
    let place = Place::new().await;
    let ada = place.ada("phone").await;
    let address = place.gateway.address();
    let upload = async |token: &str, query: &str, content: &str| {
        let request = format!(
            "POST /v1/uploads?{query} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{content}",
            content.len()
        );
        let (head, body) = exchange(address, &request).await;
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    let (status, made) = upload(&ada, "name=n%C3%B6te.txt", "hers").await;
    assert_eq!((status, made["path"].as_str()), (201, Some("uploads/nöte.txt")), "{made}");
    let (status, made) = upload(&place.owner, "name=a.txt", "the owner's").await;
    assert_eq!((status, made["bytes"].as_u64()), (201, Some(11)), "{made}");
    let workspaces = toolkit_gateway::Gateway::workspaces(place.directory.path());
    let read = |path: &str| std::fs::read_to_string(Path::new(&workspaces).join(path)).unwrap();
    assert_eq!(read("main/uploads/a.txt"), "the owner's");
    assert_eq!(read("main/people/ada/uploads/nöte.txt"), "hers");
    let listed = place.get("/v1/uploads", &ada).await.1;
    assert_eq!(listed["uploads"].as_array().unwrap().len(), 1, "{listed}");
    for (query, status) in [
        ("", 400),
        ("name=", 400),
        ("name=..%2Fx", 400),
        ("name=%2e%2e", 400),
        ("name=x&name=y", 400),
        ("name=x&more=1", 400),
        ("name=x&agent=other", 404),
    ] {
        let (found, problem) = upload(&ada, query, "x").await;
        assert_eq!(found, status, "{query}: {problem}");
    }
    assert_eq!(place.http("DELETE", "/v1/uploads/a.txt", &ada, None).await.0, 404, "it is the owner's");
    assert_eq!(place.http("DELETE", "/v1/uploads/n%C3%B6te.txt", &ada, None).await.0, 204);
    assert_eq!(place.get("/v1/uploads", &ada).await.1, json!({ "uploads": [] }));
    // More than one request may have.
    let request = format!(
        "POST /v1/uploads?name=x HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {ada}\r\nconnection: close\r\n\
         content-length: 33554433\r\n\r\n"
    );
    assert!(exchange(address, &request).await.0.starts_with("HTTP/1.1 413"));
    place.stop().await;
}

#[tokio::test]
async fn every_documented_path_is_described() {
    let place = Place::new().await;
    let description = place.get("/v1/openapi.json", &place.owner).await.1;
    assert_eq!(description["openapi"], "3.1.0");
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gateway-http.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let mut documented = 0;
    for line in guide.lines().filter_map(|line| line.strip_prefix("| `")) {
        let Some((operation, _)) = line.split_once('`') else { continue };
        let Some((method, path)) = operation.split_once(' ') else { continue };
        if !["GET", "POST", "PATCH", "DELETE"].contains(&method) || path == "/mcp" {
            continue;
        }
        let path = path.replace("{job}", "{id}");
        let item = &description["paths"][&path][method.to_lowercase()];
        assert!(item.is_object(), "{operation}");
        documented += 1;
    }
    assert!(documented > 35, "{documented}");
    place.stop().await;
}

#[tokio::test]
async fn the_owner_sees_the_last_calls_of_a_tool_and_the_configuration() {
    let place = Place::new().await;
    let ada = place.token(json!({ "name": "ada" })).await;
    for number in 0..3 {
        let (status, answer) =
            place.post("/v1/tools/http_add/call", &ada, json!({ "a": number, "b": 1 })).await;
        assert_eq!(status, 200, "{answer}");
    }
    assert_eq!(place.get("/v1/tools/http_add", &place.owner).await.1["hasCalls"], true);
    let calls = in_time(async {
        // A history is written beside the calls.
        loop {
            let (status, shown) = place.get("/v1/tools/http_add/calls", &place.owner).await;
            assert_eq!(status, 200, "{shown}");
            let calls = shown["calls"].as_array().unwrap().clone();
            if calls.len() == 3 && calls.iter().all(|call| call["status"] == "ok") {
                break calls;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
    assert_eq!(calls[0]["arguments"], json!({ "a": 2, "b": 1 }), "the newest first");
    assert_eq!(place.get("/v1/tools/http_change/calls", &place.owner).await.1, json!({ "calls": [] }));
    // Calls of others may be theirs alone.
    assert_eq!(place.get("/v1/tools/http_add", &ada).await.1["hasCalls"], Value::Null);
    assert_eq!(place.get("/v1/tools/http_add/calls", &ada).await.0, 404);
    assert_eq!(place.get("/v1/tools/none/calls", &place.owner).await.0, 404);

    assert_eq!(place.get("/v1/configuration", &ada).await.0, 403);
    let (status, shown) = place.get("/v1/configuration", &place.owner).await;
    assert_eq!(status, 200, "{shown}");
    let values = shown["values"].as_array().unwrap();
    let address = values.iter().find(|value| value["pointer"] == "/gateway/address").unwrap();
    assert_eq!((&address["value"], &address["source"]), (&json!("127.0.0.1:0"), &json!("flag")));
    assert!(shown["permissions"][0]["everybody"].to_string().contains("client"), "{shown}");
    assert!(shown["diagnostics"].is_array(), "{shown}");
    // Neither as a value, nor in the text of the option that gave it.
    assert!(shown.to_string().contains("/models/local/model"), "{shown}");
    assert!(!shown.to_string().contains("sk-of-the-test"), "{shown}");
}
