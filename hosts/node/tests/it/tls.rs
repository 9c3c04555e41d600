//! Gateways behind a proxy that does TLS.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use toolkit_node::{NodeDirectory, pair};

use crate::gateway::Gateway;

/// Makes an authority, and a certificate of it for `localhost`.
fn certificates(place: &Path) {
    let script = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 2 \
                    -subj /CN=authority; \
                  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out request.pem -subj /CN=localhost; \
                  echo subjectAltName=DNS:localhost > names; \
                  openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out certificate.pem";
    let made = Command::new("sh").args(["-ec", script]).current_dir(place).output().unwrap();
    assert!(made.status.success(), "{made:?}");
}

/// Does TLS in front of a gateway, and returns the port.
async fn proxy(place: &Path, gateway: &Gateway) -> u16 {
    let chain = CertificateDer::pem_file_iter(place.join("certificate.pem")).unwrap();
    let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(place.join("key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(chain, key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let to = gateway.address();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            // A node that does not trust the certificate ends it here.
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut plain = TcpStream::connect(to).await.unwrap();
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut stream, &mut plain).await });
        }
    });
    port
}

#[tokio::test]
#[ignore = "needs openssl: cargo xtask test"]
async fn a_certificate_is_verified_by_the_given_authorities_alone() {
    let place = tempfile::tempdir().unwrap();
    certificates(place.path());
    let mut gateway = Gateway::start().await;
    let port = proxy(place.path(), &gateway).await;
    gateway.server = format!("localhost:{port}");
    let directory = NodeDirectory::open(place.path().join("node")).unwrap();
    let ask = async |ca: Option<PathBuf>| {
        let address = format!("https://localhost:{port}").parse().unwrap();
        pair(&directory, address, "desk".to_owned(), ca).await
    };
    let error = ask(None).await.unwrap_err().to_string();
    assert!(error.contains("cannot reach"), "the system does not know the authority: {error}");
    let key = ask(Some(place.path().join("key.pem"))).await.unwrap_err().to_string();
    assert!(key.contains("no certificate"), "{key}");
    let answering = async {
        let mut socket = gateway.accept().await.0;
        socket.send(&json!({ "type": "pairing", "code": "K7MPX2QD", "expiresSeconds": 3600 })).await;
        socket
    };
    let (paired, _socket) = tokio::join!(ask(Some(place.path().join("ca.pem"))), answering);
    assert!(paired.unwrap().code.is_some());
    assert!(directory.pin().unwrap().ca.is_some());
}
