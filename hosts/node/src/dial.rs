//! Connecting to a gateway: a stream, TLS where the address says so, and the socket on it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use url::Host;

use crate::address::Address;

/// Time for the whole connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(20);
/// The most bytes of a message of the gateway.
const MAX_MESSAGE_BYTES: usize = 4 << 20;
/// The most bytes of the file of own authorities.
const MAX_CA_BYTES: u64 = 1 << 20;

/// A stream to a gateway.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A socket to a gateway.
pub(crate) type Socket = WebSocketStream<Box<dyn Stream>>;

/// The reason why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialError {
    /// The gateway cannot be reached.
    #[error("cannot reach {address}: {reason}")]
    Unreachable {
        /// The address.
        address: String,
        /// The reason.
        reason: String,
    },
    /// The file of own authorities cannot be used.
    #[error("cannot use {}, the file of authorities: {reason}", file.display())]
    Authorities {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// Connects to a gateway. `ca` is a file with certificates of authorities, in place of the system's.
pub(crate) async fn dial(address: &Address, ca: Option<&Path>) -> Result<Socket, DialError> {
    let tls = if address.is_encrypted() { Some(connector(ca)?) } else { None };
    let failed = |reason: String| DialError::Unreachable { address: address.to_string(), reason };
    let dialling = Box::pin(over(address, tls));
    let dialled = timeout(CONNECT_WITHIN, dialling).await;
    dialled.unwrap_or_else(|_| Err(format!("no answer within {CONNECT_WITHIN:?}"))).map_err(failed)
}

async fn over(address: &Address, tls: Option<TlsConnector>) -> Result<Socket, String> {
    let port = address.port();
    let connected = match address.host() {
        Host::Domain(name) => TcpStream::connect((&**name, port)).await,
        Host::Ipv4(ip) => TcpStream::connect((*ip, port)).await,
        Host::Ipv6(ip) => TcpStream::connect((*ip, port)).await,
    };
    let stream = connected.map_err(|error| error.to_string())?;
    // A name service could lead `localhost` elsewhere.
    let peer = stream.peer_addr().map_err(|error| error.to_string())?;
    if tls.is_none() && !peer.ip().is_loopback() {
        return Err(format!("{} is another machine, and the connection is not encrypted", peer.ip()));
    }
    let _ = stream.set_nodelay(true);
    let stream: Box<dyn Stream> = match tls {
        None => Box::new(stream),
        Some(tls) => {
            let name = match address.host() {
                Host::Domain(name) => {
                    ServerName::try_from(name.clone()).map_err(|error| error.to_string())?
                }
                Host::Ipv4(ip) => ServerName::from(std::net::IpAddr::from(*ip)),
                Host::Ipv6(ip) => ServerName::from(std::net::IpAddr::from(*ip)),
            };
            Box::new(tls.connect(name, stream).await.map_err(|error| error.to_string())?)
        }
    };
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    let opened = client_async_with_config(address.socket(), stream, Some(config)).await;
    Ok(opened.map_err(|error| error.to_string())?.0)
}

/// Verifies the gateway by the authorities of the system, or by those of a file.
fn connector(ca: Option<&Path>) -> Result<TlsConnector, DialError> {
    let file = || ca.unwrap_or(Path::new("")).to_owned();
    let failed = |reason: String| DialError::Authorities { file: file(), reason };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().map_err(|error| failed(error.to_string()))?;
    let config = match ca {
        None => {
            builder.with_platform_verifier().map_err(|error| failed(error.to_string()))?.with_no_client_auth()
        }
        Some(path) => {
            builder.with_root_certificates(authorities(path).map_err(failed)?).with_no_client_auth()
        }
    };
    Ok(TlsConnector::from(Arc::new(config)))
}

fn authorities(path: &Path) -> Result<RootCertStore, String> {
    let text = |error: io::Error| error.to_string();
    if fs::metadata(path).map_err(text)?.len() > MAX_CA_BYTES {
        return Err(format!("it has more than {MAX_CA_BYTES} bytes"));
    }
    let bytes = fs::read(path).map_err(text)?;
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&bytes) {
        let certificate = certificate.map_err(|error| format!("it is no PEM: {error}"))?;
        store.add(certificate).map_err(|error| error.to_string())?;
    }
    if store.is_empty() {
        return Err("it has no certificate; write certificates of authorities as PEM".to_owned());
    }
    Ok(store)
}
