use super::*;
use futures_util::{SinkExt as _, StreamExt as _};
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};
use toolkit_serve::{Bearer, ClientTokens};

/// No test waits so long for something that happens.
const LONG: Duration = Duration::from_mins(1);

async fn socket(server: &Server, token: &str) -> Result<WebSocketStream<TcpStream>, Error> {
    let mut request = format!("ws://{}/ws", server.address).into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request.headers_mut().insert("sec-websocket-protocol", "other, echo".parse().unwrap());
    let stream = TcpStream::connect(server.address).await.unwrap();
    let (socket, answer) = client_async(request, stream).await?;
    assert_eq!(answer.headers()["sec-websocket-protocol"], "echo");
    Ok(socket)
}

async fn echoes(socket: &mut WebSocketStream<TcpStream>, text: &str) -> bool {
    socket.send(text.into()).await.is_ok()
        && matches!(timeout(LONG, socket.next()).await.unwrap(), Some(Ok(Message::Text(found))) if found == text)
}

#[tokio::test]
async fn messages_are_echoed_behind_the_layers() {
    let server = Server::start(Bearer::new(routes(), TOKEN), ServeOptions::default()).await;
    let mut one = socket(&server, TOKEN).await.unwrap();
    let mut two = socket(&server, TOKEN).await.unwrap();
    for text in ["", "hello", "grüße", &"x".repeat(1_000)] {
        assert!(echoes(&mut one, text).await && echoes(&mut two, text).await, "{text}");
    }
    // A message that is too long ends its own socket alone.
    assert!(!echoes(&mut one, &"x".repeat(1_001)).await);
    assert!(echoes(&mut two, "still").await);
    let refused = socket(&server, "wrong").await;
    assert!(matches!(refused, Err(Error::Http(answer)) if answer.status() == 401));
}

#[tokio::test]
async fn a_request_that_is_no_handshake_is_told_what_is_missing() {
    let server = Server::start(routes(), ServeOptions::default()).await;
    let upgrade = || get_of("/ws").header("connection", "keep-alive, Upgrade").header("upgrade", "WebSocket");
    let key = "AAAAAAAAAAAAAAAAAAAAAA==";
    for (request, status, detail) in [
        (get_of("/ws"), 400, "Upgrade: websocket"),
        (upgrade().header("sec-websocket-key", key), 426, "version 13"),
        (upgrade().header("sec-websocket-key", key).header("sec-websocket-version", "8"), 426, "version 13"),
        (upgrade().header("sec-websocket-version", "13"), 400, "Sec-WebSocket-Key"),
        (
            upgrade().header("sec-websocket-version", "13").header("sec-websocket-key", "AA=="),
            400,
            "16 bytes",
        ),
    ] {
        let (found, answer) = server.send(request.body(empty()).unwrap()).await;
        assert_eq!((found.as_u16(), answer.status()), (status, found));
        assert!(problem(&answer)["detail"].as_str().unwrap().contains(detail), "{answer:?}");
        assert_eq!(answer.headers().contains_key("sec-websocket-version"), status == 426);
    }
}

#[tokio::test]
async fn a_socket_ends_with_its_token_and_no_other_does() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = || ClientTokens::at(directory.path().join("clients.json"));
    let (ada, bob) = (tokens().add("ada").unwrap(), tokens().add("bob").unwrap());
    let server = Server::start(Bearer::new(routes(), TOKEN).clients(tokens()), ServeOptions::default()).await;
    let (mut of_ada, mut of_bob) =
        (socket(&server, &ada).await.unwrap(), socket(&server, &bob).await.unwrap());
    assert!(tokens().remove("ada").unwrap());
    let ended = timeout(LONG, of_ada.next()).await.unwrap();
    assert!(!matches!(ended, Some(Ok(_))), "{ended:?}");
    assert!(echoes(&mut of_bob, "still").await);
}

#[tokio::test]
async fn at_shutdown_a_socket_says_goodbye_and_one_that_stays_is_ended() {
    let server = Server::start(routes(), ServeOptions::default()).await;
    let mut open = socket(&server, TOKEN).await.unwrap();
    assert!(echoes(&mut open, "a").await);
    server.shutdown.cancel();
    assert_eq!(timeout(LONG, open.next()).await.unwrap().unwrap().unwrap(), Message::text("bye"));
    timeout(LONG, server.ended).await.unwrap().unwrap().unwrap();

    let stays = Router::new().route("/ws", get(|request: Request<Body>| async move { stay(request) }));
    let mut options = ServeOptions::default();
    options.end_within = Duration::from_millis(50);
    let server = Server::start(stays, options).await;
    let request = format!("ws://{}/ws", server.address);
    let stream = TcpStream::connect(server.address).await.unwrap();
    let _open = client_async(request, stream).await.unwrap();
    server.shutdown.cancel();
    timeout(LONG, server.ended).await.unwrap().unwrap().unwrap();
}

fn stay(request: Request<Body>) -> Result<Response<Body>, Problem> {
    websocket::accept(request, WebSocketOptions::default(), async |_socket, _| std::future::pending().await)
}

#[tokio::test]
async fn a_socket_counts_as_a_connection_until_it_ends() {
    let mut options = ServeOptions::default();
    options.max_connections = 1;
    let server = Server::start(routes(), options).await;
    let mut open = socket(&server, TOKEN).await.unwrap();
    assert!(echoes(&mut open, "a").await);
    // Another connection waits, and is served once the socket has ended.
    let mut waiting = Box::pin(socket(&server, TOKEN));
    let early = timeout(Duration::from_millis(300), &mut waiting).await;
    assert!(early.is_err(), "there is one place");
    open.close(None).await.unwrap();
    while let Some(Ok(_)) = open.next().await {}
    assert!(echoes(&mut timeout(LONG, waiting).await.unwrap().unwrap(), "b").await);
}
