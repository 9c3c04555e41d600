//! Clients with tokens of their own share nothing, and each has the tools that it may use.

use super::{Server, names};
use http_body_util::Full;
use serde_json::json;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use toolkit::prelude::*;
use toolkit::{CancellationToken, Content, Tool, ToolOutput, tool_ref};
use toolkit_serve::axum::Router;
use toolkit_serve::axum::extract::Request as AxumRequest;
use toolkit_serve::axum::middleware::map_request;
use toolkit_web::{Access, ServeError, Tokens, Web, WebOptions};

/// Names the session.
#[tool(read_only)]
async fn session(ctx: &ToolContext) -> String {
    ctx.session_id().unwrap_or_default().to_owned()
}

/// Makes a picture.
#[tool(read_only)]
async fn picture() -> ToolOutput {
    let mut output = ToolOutput::default();
    output.content.push(Content::image(*b"picture", "image/png"));
    output
}

/// Calls a tool.
#[tool(read_only)]
async fn relay(
    ctx: &ToolContext,
    /** Its name. */
    name: String,
) -> Result<String, ToolError> {
    Ok(ctx.call(name, json!({})).await?.to_text())
}

fn toolkit() -> Toolkit {
    Toolkit::empty().tools([tool_ref!(session), tool_ref!(picture), tool_ref!(relay)]).build().unwrap()
}

#[tokio::test]
async fn each_token_has_a_session_keys_and_files_of_its_own() {
    let server = Server::start(toolkit()).await;
    let (ada, bob) = (server.token("ada"), server.token("bob"));
    let session = async |token: &str| {
        let answer = server.post_of(token, "/v1/tools/session/call", &json!({})).await.result();
        answer["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let of_ada = session(&ada).await;
    assert_eq!(of_ada, session(&ada).await);
    assert_ne!(of_ada, session(&bob).await);
    // The same key is one of each.
    let first = server.keyed(&ada, "k", "session", &json!({})).await.result();
    assert_ne!(first, server.keyed(&bob, "k", "session", &json!({})).await.result());
    assert_eq!(first, server.keyed(&ada, "k", "session", &json!({})).await.result());
    // Files are those of one client.
    let kept = server.post_of(&ada, "/v1/tools/picture/call?media=reference", &json!({})).await.result();
    let href = kept["content"][0]["href"].as_str().unwrap();
    assert_eq!(server.get_of(&bob, href).await.status, 404);
    let file = server.get_of(&ada, href).await;
    assert_eq!((file.status, file.text.as_str()), (200, "picture"));
    assert_eq!(file.headers["content-type"], "image/png");
    assert_eq!(file.headers["x-content-type-options"], "nosniff");
}

/// Returns a tool that waits for its end, with the notices that it has begun and that it is gone.
fn waits() -> (Tool, Arc<Notify>, Arc<Notify>) {
    struct Gone(Arc<Notify>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (begun, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (beginning, going) = (Arc::clone(&begun), Arc::clone(&gone));
    let wait = Tool::builder("wait").description("Waits.").read_only().build(move |_, _| {
        let gone = Gone(Arc::clone(&going));
        beginning.notify_one();
        async move {
            std::future::pending::<()>().await;
            drop(gone);
            "never"
        }
    });
    (wait.unwrap(), begun, gone)
}

#[tokio::test]
async fn revoking_a_token_ends_its_calls_also_keyed_ones() {
    let (wait, begun, gone) = waits();
    let server = Server::start(Toolkit::empty().tool(wait).build().unwrap()).await;
    let token = server.token("ada");
    let request = server.request_of(&token, "POST", "/v1/tools/wait/call").header("idempotency-key", "k");
    let (mut sender, request) = (server.connect().await, super::json_body(request, &json!({})));
    let sending = tokio::spawn(async move { sender.send_request(request).await.is_ok() });
    begun.notified().await;
    assert!(server.clients.remove("ada").unwrap());
    gone.notified().await;
    sending.await.unwrap();
    assert_eq!(server.get_of(&token, "/v1/tools").await.status, 401);
}

#[tokio::test]
async fn without_the_file_of_the_shared_token_its_keyed_calls_end() {
    let (wait, begun, gone) = waits();
    let mut server = Server::start(Toolkit::empty().tool(wait).build().unwrap()).await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("token");
    std::fs::write(&file, super::TOKEN).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    server.address = listener.local_addr().unwrap();
    let (web, tokens) = (server.web.clone(), Tokens::of_file(&file));
    let serving = tokio::spawn(async move { web.serve(tokens, listener).await });
    let request = server.request("POST", "/v1/tools/wait/call").header("idempotency-key", "k");
    let (mut sender, request) = (server.connect().await, super::json_body(request, &json!({})));
    let sending = tokio::spawn(async move { sender.send_request(request).await.is_ok() });
    begun.notified().await;
    std::fs::remove_file(&file).unwrap();
    gone.notified().await;
    sending.await.unwrap();
    assert_eq!(server.get("/v1/tools").await.status, 401);
    serving.abort();
}

/// Serves the routes of a host whose clients have an access.
async fn with_access(web: &Web, access: Access) -> (std::net::SocketAddr, CancellationToken) {
    let add = move |mut request: AxumRequest| {
        request.extensions_mut().insert(access.clone());
        std::future::ready(request)
    };
    let router: Router = web.tool_routes().merge(web.about_routes()).layer(map_request(add));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, shutdown) = (listener.local_addr().unwrap(), CancellationToken::new());
    tokio::spawn(toolkit_serve::serve(listener, router, shutdown.clone()));
    (address, shutdown)
}

#[tokio::test]
async fn a_client_that_is_limited_to_some_tools_finds_no_trace_of_others() {
    let mut server = Server::start(toolkit()).await;
    server.call("picture", &json!({})).await.result();
    let access = Access::new("limited", Caller::new()).only(["session", "relay"]);
    let (address, _shutdown) = with_access(&server.web, access).await;
    server.address = address;
    assert_eq!(names(&server.get("/v1/tools").await), ["relay", "session"]);
    assert_eq!(names(&server.get("/v1/tools?q=picture").await), [""; 0]);
    for path in ["/v1/tools/picture/validate", "/v1/tools/picture/call", "/v1/tools/nothing/call"] {
        let refused = server.post(path, &json!({})).await;
        assert_eq!((refused.status, &refused.problem()["kind"]), (404, &json!("unknown_tool")), "{path}");
    }
    assert_eq!(server.get("/v1/tools/picture").await.status, 404);
    let within = server.call("relay", &json!({ "name": "picture" })).await;
    assert_eq!(within.status, 403, "{within:?}");
    server.call("relay", &json!({ "name": "session" })).await.result();
    let description = server.get("/v1/openapi.json").await;
    assert!(description.text.contains("/v1/tools/session/call"));
    assert!(!description.text.contains("picture_") && !description.text.contains("Makes a picture"));
    assert!(!description.text.contains("/v1/tools/picture"));
    let metrics = server.get("/metrics").await.text;
    assert!(metrics.contains("tool=\"session\"") || metrics.contains("tool=\"relay\""), "{metrics}");
    assert!(!metrics.contains("picture"), "{metrics}");
}

/// A tool that is linked, and that no toolkit of these tests has.
#[tool(read_only)]
async fn left_out_of_toolkits() {}

#[tokio::test]
async fn a_client_that_is_limited_by_a_function_finds_no_trace_of_others() {
    let mut server = Server::start(toolkit()).await;
    server.call("picture", &json!({})).await.result();
    server.call("session", &json!({})).await.result();
    let access = Access::new("limited", Caller::new()).only_if(|tool| tool.name() == "session");
    // The owner too, if the host limits them.
    let (address, _shutdown) = with_access(&server.web, access.as_owner(true)).await;
    server.address = address;
    assert_eq!(names(&server.get("/v1/tools").await), ["session"]);
    let unknown = server.get("/v1/tools/nothing").await.detail();
    for name in ["picture", "left_out_of_toolkits"] {
        assert_eq!(server.get(&format!("/v1/tools/{name}")).await.detail(), unknown.replace("nothing", name));
    }
    let metrics = server.get("/metrics").await.text;
    assert!(metrics.contains("tool=\"session\"") && !metrics.contains("picture"), "{metrics}");
}

#[tokio::test]
async fn a_request_without_access_is_refused() {
    let web = Web::new(toolkit(), WebOptions::new());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut server = Server::start(toolkit()).await;
    server.address = listener.local_addr().unwrap();
    tokio::spawn(toolkit_serve::serve(listener, web.tool_routes(), CancellationToken::new()));
    assert_eq!(server.get("/v1/tools").await.status, 401);
}

#[tokio::test]
async fn in_clear_text_only_this_machine_is_served_unless_a_proxy_encrypts() {
    let everywhere = || async { TcpListener::bind("0.0.0.0:0").await.unwrap() };
    let tokens = || Tokens::shared("0123456789abcdef");
    let refused = Web::new(toolkit(), WebOptions::new()).serve(tokens(), everywhere().await).await;
    assert!(matches!(refused, Err(ServeError::Open { .. })), "{refused:?}");
    let shutdown = CancellationToken::new();
    shutdown.cancel();
    let options = WebOptions::new().behind_proxy(true).shutdown(shutdown);
    Web::new(toolkit(), options).serve(tokens(), everywhere().await).await.unwrap();
}

#[tokio::test]
async fn a_client_has_a_number_of_calls_at_once_and_no_share_in_those_of_others() {
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (beginning, going) = (Arc::clone(&begun), Arc::clone(&go));
    let wait = Tool::builder("wait").description("Waits.").read_only().build(move |_, _| {
        let (begun, go) = (Arc::clone(&beginning), Arc::clone(&going));
        async move {
            begun.notify_one();
            go.notified().await;
            "went"
        }
    });
    let toolkit = Toolkit::empty().tool(wait.unwrap()).tool(tool_ref!(session)).build().unwrap();
    let server = Server::with(toolkit, |mut options| {
        options.max_calls = 1;
        options
    })
    .await;
    let (ada, bob) = (server.token("ada"), server.token("bob"));
    let request = super::json_body(server.request_of(&ada, "POST", "/v1/tools/wait/call"), &json!({}));
    let mut sender: hyper::client::conn::http1::SendRequest<Full<bytes::Bytes>> = server.connect().await;
    let first = tokio::spawn(async move { sender.send_request(request).await.unwrap().status() });
    begun.notified().await;
    let second = server.keyed(&ada, "k", "session", &json!({})).await;
    assert_eq!(second.status, 429);
    assert!(second.headers.contains_key("retry-after"));
    server.post_of(&bob, "/v1/tools/session/call", &json!({})).await.result();
    go.notify_one();
    assert_eq!(first.await.unwrap(), 200);
    // The key of the refused call is free.
    server.keyed(&ada, "k", "session", &json!({})).await.result();
}
