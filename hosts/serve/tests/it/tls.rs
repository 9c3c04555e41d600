//! A listener with TLS.

use super::*;
use futures_util::{SinkExt as _, StreamExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use toolkit_serve::Tls;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name)
}

async fn start(options: ServeOptions) -> Server {
    let tls = Tls::from_files(fixture("localhost.pem"), fixture("localhost.key")).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, shutdown) = (listener.local_addr().unwrap(), CancellationToken::new());
    let serving = serve_with(tls.listener(listener), routes(), shutdown.clone(), options);
    Server { address, shutdown, ended: tokio::spawn(serving) }
}

/// Begins TLS with a server, as a client that trusts a certificate and looks for a name.
async fn begin(server: &Server, trusted: &str, name: &'static str) -> io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture(trusted)).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(server.address).await.unwrap();
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(name).unwrap(), stream).await
}

#[tokio::test]
async fn requests_and_sockets_come_over_tls() {
    let server = start(ServeOptions::default()).await;
    let stream = begin(&server, "localhost.pem", "localhost").await.unwrap();
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut client = Client(sender, server.address);
    let (status, answer) = client.send(get_of("/size").method("POST").body(Full::from("123")).unwrap()).await;
    assert_eq!((status.as_u16(), &answer.body()[..]), (200, &b"3"[..]));

    let stream = begin(&server, "localhost.pem", "127.0.0.1").await.unwrap();
    let (mut socket, _) = tokio_tungstenite::client_async("wss://localhost/ws", stream).await.unwrap();
    socket.send("over TLS".into()).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap().into_text().unwrap(), "over TLS");
    server.shutdown.cancel();
    server.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn another_name_another_certificate_and_clear_text_do_not_connect() {
    let server = start(ServeOptions::default()).await;
    for (trusted, name) in [("localhost.pem", "example.org"), ("other.pem", "localhost")] {
        let error = begin(&server, trusted, name).await.unwrap_err();
        assert!(error.to_string().contains("certificate"), "{error}");
    }
    let mut clear = TcpStream::connect(server.address).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut clear, b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    let _ = clear.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    // The rest goes on.
    begin(&server, "localhost.pem", "localhost").await.unwrap();
}

#[tokio::test]
async fn a_handshake_that_does_not_go_on_gives_its_place_back() {
    let mut options = ServeOptions::default();
    options.max_connections = 1;
    options.head_within = Duration::from_millis(50);
    let server = start(options).await;
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    assert_eq!(silent.read(&mut [0; 1]).await.unwrap(), 0, "the server closes it");
    // On a slow machine one handshake may take longer, too.
    while begin(&server, "localhost.pem", "localhost").await.is_err() {}
    // At shutdown it is not waited for.
    let mut options = ServeOptions::default();
    options.head_within = Duration::from_hours(1);
    options.end_within = Duration::from_hours(1);
    let server = start(options).await;
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    // Accepted at the latest when a later one was.
    begin(&server, "localhost.pem", "localhost").await.unwrap();
    server.shutdown.cancel();
    server.ended.await.unwrap().unwrap();
    assert!(matches!(silent.read(&mut [0; 1]).await, Ok(0) | Err(_)));
}
