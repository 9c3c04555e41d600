//! A gateway that speaks TLS.
#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use toolkit::config::LoadOptions;
use toolkit_gateway::{Gateway, GatewayError, GatewayOptions};
use toolkit_host::Host;

use crate::agents::in_time;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../serve/tests/tls").join(name)
}

async fn start(directory: &Path, settings: &[String]) -> Result<Gateway, GatewayError> {
    let mut load = LoadOptions::new().data_dir(directory);
    for setting in settings {
        load = load.set(setting);
    }
    // Tools of other tests need what is not here.
    let host = |load| Host::builder(load).with_toolkit(toolkit::Builder::leave_out_incomplete);
    Gateway::start(load, host, GatewayOptions::new()).await
}

fn tls(certificate: &Path, key: &Path) -> String {
    format!("gateway.tls={{ certificate: '{}', key: '{}' }}", certificate.display(), key.display())
}

/// Asks for the health over TLS: there is no model.
async fn health(address: SocketAddr) -> String {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture("localhost.pem")).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    answer
}

#[tokio::test]
async fn others_reach_it_over_tls_and_programs_of_this_machine_without() {
    let directory = tempfile::tempdir().unwrap();
    let settings =
        ["gateway.address='0.0.0.0:0'".to_owned(), tls(&fixture("localhost.pem"), &fixture("localhost.key"))];
    let gateway = start(directory.path(), &settings).await.unwrap();
    assert_ne!(gateway.address().port(), gateway.local_address().port());
    assert!(gateway.local_address().ip().is_loopback());
    let outside = SocketAddr::from(([127, 0, 0, 1], gateway.address().port()));
    let answer = in_time(health(outside)).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("\"status\":\"degraded\"}"), "{answer}");
    let plain = async |address: SocketAddr| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            .await
            .unwrap();
        let mut answer = Vec::new();
        let _ = in_time(stream.read_to_end(&mut answer)).await;
        String::from_utf8_lossy(&answer).into_owned()
    };
    assert!(!plain(outside).await.starts_with("HTTP"));
    assert!(plain(gateway.local_address()).await.starts_with("HTTP/1.1 200"));
    let noted = std::fs::read_to_string(directory.path().join("gateway.address")).unwrap();
    assert_eq!(noted, gateway.local_address().to_string(), "commands of this machine find it");
    in_time(gateway.stop(Duration::ZERO)).await.unwrap();
}

#[tokio::test]
async fn an_address_that_others_reach_needs_tls_or_a_proxy() {
    let (certificate, key) = (fixture("localhost.pem"), fixture("localhost.key"));
    let open = "gateway.address='0.0.0.0:0'".to_owned();
    for (settings, part) in [
        (vec![open.clone()], "gateway.behindProxy"),
        (vec![open.clone(), tls(&certificate, &fixture("other.key"))], "does not fit"),
        (vec![open.clone(), tls(&fixture("none.pem"), &key)], "none.pem"),
        (vec![open, tls(Path::new("here.pem"), &key)], "no absolute path"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let error = start(directory.path(), &settings).await.map(drop).unwrap_err();
        assert!(error.is_of_configuration() && error.to_string().contains(part), "{error}");
        // The directory is free for another try.
        let right = ["gateway.address='127.0.0.1:0'".to_owned()];
        let gateway = start(directory.path(), &right).await.unwrap();
        in_time(gateway.stop(Duration::ZERO)).await.unwrap();
    }
}
