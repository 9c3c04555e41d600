//! Questions of calls, answered by the client that made them.

use super::{Server, TOKEN, json_body};
use serde_json::{Value, json};
use toolkit::prelude::*;
use toolkit::{Ask, CancellationToken, events::Event, tool_ref};
use toolkit_serve::axum::Router;
use toolkit_serve::axum::extract::Request;
use toolkit_serve::axum::middleware::map_request;
use toolkit_web::{Access, Asking};

/// Deploys the site.
#[tool(asks)]
async fn deploy(ctx: &ToolContext) -> Result<String, ToolError> {
    ctx.ask(Ask::new("deploy", "Put the site online").with_pattern("site")).await?;
    Ok("deployed".to_owned())
}

async fn server() -> (Server, Toolkit) {
    let toolkit = Toolkit::empty().tool(tool_ref!(deploy)).build().unwrap();
    (Server::with(toolkit.clone(), |options| options.asking(Asking::Served)).await, toolkit)
}

#[tokio::test]
async fn a_question_is_answered_by_the_client_of_its_call() {
    let (server, toolkit) = server().await;
    let mut events = toolkit.events();
    let ada = server.token("ada");
    let mut stream = server.stream("deploy", &json!({})).await;
    let (kind, ask) = stream.next().await.unwrap();
    assert_eq!(kind, "ask");
    let id = ask["id"].as_str().unwrap();
    let listed = server.get("/v1/asks").await.result();
    assert_eq!(listed["asks"], json!([ask]));
    let path = format!("/v1/asks/{id}");
    // Another client does not see it.
    assert_eq!(server.get_of(&ada, "/v1/asks").await.result()["asks"], json!([]));
    assert_eq!(server.post_of(&ada, &path, &json!({ "type": "allow" })).await.status, 404);
    // A value is no answer to it, and it stays.
    assert_eq!(server.post(&path, &json!({ "type": "value", "value": 1 })).await.status, 422);
    assert_eq!(server.post(&path, &json!({ "type": "perhaps" })).await.status, 422);
    let answered = server.post(&path, &json!({ "type": "allow", "scope": "always" })).await.result();
    assert_eq!(answered["outcome"], "answered");
    let rest: Vec<(String, Value)> = stream.rest().await;
    assert_eq!(rest.iter().map(|(kind, _)| kind.as_str()).collect::<Vec<_>>(), ["answered", "result"]);
    assert_eq!(rest[1].1["content"][0]["text"], "deployed");
    // The answer counts for the session at most, and names nobody: the token is shared.
    let (scope, by) = loop {
        if let Event::Answered { scope, answered_by, .. } = events.next().await.unwrap().event {
            break (scope, answered_by);
        }
    };
    assert_eq!((json!(scope), by), (json!("session"), None));
    assert_eq!(server.call("deploy", &json!({})).await.result()["isError"], false);
    let late = server.post(&path, &json!({ "type": "allow" })).await;
    assert_eq!(late.status, 404, "{late:?}");
}

#[tokio::test]
async fn the_principal_of_the_token_is_recorded_and_its_answer_is_no_other_clients() {
    let (server, toolkit) = server().await;
    let mut events = toolkit.events();
    let (ada, bob) = (server.token("ada"), server.token("bob"));
    for token in [&ada, &bob] {
        let request = json_body(server.request_of(token, "POST", "/v1/tools/deploy/call"), &json!({}));
        let mut sender = server.connect().await;
        let answer = tokio::spawn(async move { sender.send_request(request).await.unwrap().status() });
        // Each is asked: an answer for the session of one is none for the other.
        let id = loop {
            if let Event::Asked { ask } = events.next().await.unwrap().event {
                break ask.id().to_owned();
            }
        };
        let body = json!({ "type": "allow", "scope": "always", "answeredBy": "mallory" });
        server.post_of(token, &format!("/v1/asks/{id}"), &body).await.result();
        let by = loop {
            if let Event::Answered { answered_by, .. } = events.next().await.unwrap().event {
                break answered_by;
            }
        };
        assert_eq!(by.as_deref(), Some(if token == &ada { "client ada" } else { "client bob" }));
        assert_eq!(answer.await.unwrap(), 200);
    }
}

#[tokio::test]
async fn without_questions_there_are_none_to_list() {
    let toolkit = Toolkit::empty().tool(tool_ref!(deploy)).build().unwrap();
    let server = Server::start(toolkit).await;
    let refused = server.get_of(TOKEN, "/v1/asks").await;
    assert_eq!(refused.status, 404);
    assert!(refused.detail().contains("started without them"), "{}", refused.detail());
}

#[tokio::test]
async fn clients_in_one_session_do_not_see_the_questions_of_each_other() {
    let (mut server, toolkit) = server().await;
    let mut events = toolkit.events();
    // The token of a request is the name of its client.
    let access = async |mut request: Request| {
        let client = request.headers()["authorization"].to_str().unwrap().to_owned();
        let access = Access::new(client, Caller::new().with_session("one")).asking(Asking::Served);
        request.extensions_mut().insert(access);
        request
    };
    let routes: Router = server.web.tool_routes().merge(server.web.ask_routes()).layer(map_request(access));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    server.address = listener.local_addr().unwrap();
    tokio::spawn(toolkit_serve::serve(listener, routes, CancellationToken::new()));
    let request = json_body(server.request_of("ada", "POST", "/v1/tools/deploy/call"), &json!({}));
    let mut sender = server.connect().await;
    let answer = tokio::spawn(async move { sender.send_request(request).await.unwrap().status() });
    let id = loop {
        if let Event::Asked { ask } = events.next().await.unwrap().event {
            break ask.id().to_owned();
        }
    };
    let path = format!("/v1/asks/{id}");
    assert_eq!(server.get_of("bob", "/v1/asks").await.result()["asks"], json!([]));
    assert_eq!(server.post_of("bob", &path, &json!({ "type": "allow" })).await.status, 404);
    server.post_of("ada", &path, &json!({ "type": "allow" })).await.result();
    assert_eq!(answer.await.unwrap(), 200);
}
