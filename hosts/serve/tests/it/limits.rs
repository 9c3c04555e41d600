use super::*;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use toolkit_serve::{AnswerBody, Bearer, BodyLimits, Bounded, ClientTokens};

fn with_token(request: http::request::Builder, token: &str) -> http::request::Builder {
    request.header("authorization", format!("Bearer {token}"))
}

#[tokio::test]
async fn a_body_is_read_up_to_its_limit_of_size_and_time() {
    let limits = BodyLimits::new(10, Duration::from_mins(1));
    let server = Server::start(Bounded::new(routes()).body(limits), ServeOptions::default()).await;
    let post = |body: &'static str| get_of("/size").method("POST").body(Full::from(body)).unwrap();
    assert_eq!(server.send(post("0123456789")).await.1.body(), "10");
    let (status, answer) = server.send(post("0123456789a")).await;
    assert_eq!(status, 413);
    assert!(problem(&answer)["detail"].as_str().unwrap().contains("10 bytes"));
    // Another limit at one path, for few at once.
    let bounded = Bounded::new(routes()).body(BodyLimits::new(1, Duration::from_mins(1)));
    let server = Server::start(bounded.larger_body("/size", limits, 1, 1), ServeOptions::default()).await;
    assert_eq!(server.send(post("0123456789")).await.1.body(), "10");
    assert_eq!(server.send(post("0123456789a")).await.0, 413);
    let mut waits = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /size HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n";
    tokio::io::AsyncWriteExt::write_all(&mut waits, head.as_bytes()).await.unwrap();
    // The server asks for the body once the place is taken.
    let mut asked = [0; 21];
    tokio::io::AsyncReadExt::read_exact(&mut waits, &mut asked).await.unwrap();
    assert!(asked.starts_with(b"HTTP/1.1 100"), "{asked:?}");
    let (status, answer) = server.send(post("1")).await;
    assert_eq!(status, 503);
    assert!(problem(&answer)["detail"].as_str().unwrap().contains("large requests"));
    drop(waits);
    // A body of which the end does not come.
    let limits = BodyLimits::new(10, Duration::from_millis(50));
    let server = Server::start(Bounded::new(routes()).body(limits), ServeOptions::default()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /size HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\n12";
    tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    tokio::io::AsyncReadExt::read_exact(&mut stream, &mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
}

#[tokio::test]
async fn open_streams_are_counted_for_each_principal_and_for_all() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = ClientTokens::at(directory.path().join("clients.json"));
    let [ada, phone, bob] = [("ada", "ada"), ("phone", "ada"), ("bob", "bob")]
        .map(|(name, of)| tokens.add_for(name, of).unwrap());
    let service = Bearer::new(Bounded::new(routes()).streams(3, 2), TOKEN).clients(tokens);
    let server = Server::start(service, ServeOptions::default()).await;
    let events = |token: &str| {
        with_token(get_of("/events"), token).header("accept", "text/event-stream").body(empty()).unwrap()
    };
    let (mut one, mut two, mut three, mut four) =
        (server.connect().await, server.connect().await, server.connect().await, server.connect().await);
    let first = one.open(events(&ada)).await;
    let _second = two.open(events(&phone)).await;
    assert_eq!(first.status(), 200);
    let (status, answer) = three.send(events(&ada)).await;
    assert_eq!(status, 429);
    assert_eq!(answer.headers()["retry-after"], "5");
    assert!(problem(&answer)["detail"].as_str().unwrap().contains("2 streams of this client"));
    let _third = three.open(events(&bob)).await;
    assert_eq!(four.send(events(&bob)).await.0, 503);
    // A request that could have been answered by a stream, and was not, gives its place back.
    drop((first, one));
    for _ in 0..10 {
        let plain =
            with_token(get_of("/size"), &bob).method("POST").header("accept", "text/event-stream, */*");
        let mut status = StatusCode::SERVICE_UNAVAILABLE;
        while status == StatusCode::SERVICE_UNAVAILABLE {
            // The server notices a moment later that a client is gone.
            status = server.send(plain_of(&plain)).await.0;
        }
        assert_eq!(status, 200);
    }
}

#[tokio::test]
async fn requests_without_an_answer_are_counted_for_each_principal() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = ClientTokens::at(directory.path().join("clients.json"));
    let [ada, phone, bob] = [("ada", "ada"), ("phone", "ada"), ("bob", "bob")]
        .map(|(name, of)| tokens.add_for(name, of).unwrap());
    let service = Bearer::new(Bounded::new(routes()).requests(1), TOKEN).clients(tokens);
    let server = Server::start(service, ServeOptions::default()).await;
    let post = |token: &str| {
        with_token(get_of("/size").method("POST"), token).body(Full::from(&b"four"[..])).unwrap()
    };
    // A request whose body is waited for.
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "POST /size HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ada}\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n"
    );
    tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.unwrap();
    let mut answer = [0; 25];
    tokio::io::AsyncReadExt::read_exact(&mut stream, &mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
    let (status, refusal) = server.send(post(&phone)).await;
    assert_eq!(status, 429);
    assert!(problem(&refusal)["detail"].as_str().unwrap().contains("1 requests of this client"));
    assert_eq!(server.send(post(&bob)).await.0, 200);
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"xy").await.unwrap();
    let mut answer = [0; 12];
    tokio::io::AsyncReadExt::read_exact(&mut stream, &mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    assert_eq!(server.send(post(&phone)).await.0, 200);
}

#[tokio::test]
async fn a_connection_whose_client_reads_nothing_ends() {
    struct Gone(Arc<Notify>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let gone = Arc::new(Notify::new());
    let told = Arc::clone(&gone);
    let large = move || {
        let body = Body::from_stream(futures_util::stream::repeat_with(|| {
            Ok::<_, Infallible>(Bytes::from(vec![7; 64 << 10]))
        }));
        std::future::ready(Response::new(body.holding(Gone(Arc::clone(&told)))))
    };
    let mut options = ServeOptions::default();
    options.read_within = Duration::from_millis(50);
    let server = Server::start(Router::new().route("/large", get(large)), options).await;
    let mut client = server.connect().await;
    let answer = client.open(get_of("/large").body(empty()).unwrap()).await;
    assert_eq!(answer.status(), 200);
    gone.notified().await;
}

fn plain_of(builder: &http::request::Builder) -> Request<Full<Bytes>> {
    let mut request = Request::builder().uri("/size").method("POST").body(empty()).unwrap();
    *request.headers_mut() = builder.headers_ref().unwrap().clone();
    request
}
