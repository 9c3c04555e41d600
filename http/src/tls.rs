//! TLS, with the certificates that the system trusts.

use crate::{FetchError, Target};
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use std::sync::{Arc, OnceLock};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The configuration of the process: reading the system's certificates takes a while.
fn shared() -> Result<Arc<rustls::ClientConfig>, String> {
    static SHARED: OnceLock<Result<Arc<rustls::ClientConfig>, String>> = OnceLock::new();
    let make = || {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(BuilderVerifierExt::with_platform_verifier)
            .map_err(|error| error.to_string())?
            .with_no_client_auth();
        Ok(Arc::new(config))
    };
    SHARED.get_or_init(make).clone()
}

/// Makes a connection secure. The certificate must be of the host that the URL names.
pub(crate) async fn secure(
    own: Option<&Arc<rustls::ClientConfig>>,
    target: &Target,
    stream: TcpStream,
) -> Result<TlsStream<TcpStream>, FetchError> {
    let failed = |reason: String| FetchError::Tls { host: target.host().clone(), reason };
    let config = own.cloned().map_or_else(shared, Ok).map_err(failed)?;
    let host = target.url().host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_owned();
    let name = ServerName::try_from(host).map_err(|error| failed(error.to_string()))?;
    TlsConnector::from(config).connect(name, stream).await.map_err(|error| failed(error.to_string()))
}
