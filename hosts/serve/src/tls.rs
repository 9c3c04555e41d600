//! TLS of a listener, by a certificate and a key in files.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{ServerConfig, version};

use crate::listening::{AsListener, Listener};

/// Time between two looks at the files.
const LOOK: Duration = Duration::from_secs(1);
/// The protocol that is spoken over TLS.
const PROTOCOL: &[u8] = b"http/1.1";

/// The certificate and the key of a server, in two PEM files. Cheap to clone.
///
/// Both are read again when one of them was replaced, as a renewal does; looked at once a second at most, when a client connects. Files that cannot
/// be used then are an entry in the log, and the pair of before still counts.
#[derive(Clone)]
pub struct Tls {
    acceptor: TlsAcceptor,
}

impl Tls {
    /// Reads the chain of certificates, the server's own one first, and its private key (PKCS #8, PKCS #1 or SEC 1).
    ///
    /// # Errors
    ///
    /// A file cannot be read, has no such content, or the key is not that of the certificate. The error names the file.
    pub fn from_files(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> io::Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let files = Files { certificate: certificate.into(), key: key.into() };
        let state = files.state();
        let pair = Arc::new(files.read(&provider)?);
        let current = Mutex::new(Current { pair, state, looked: Instant::now() });
        let pair = FromFiles { files, provider: Arc::clone(&provider), current };
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&version::TLS13, &version::TLS12])
            .map_err(io::Error::other)?;
        let mut config = config.with_no_client_auth().with_cert_resolver(Arc::new(pair));
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    /// Returns a listener whose connections speak TLS, for [`serve`](crate::serve). A handshake that takes longer than
    /// [`head_within`](crate::ServeOptions::head_within) ends its connection.
    pub fn listener(&self, listener: TcpListener) -> TlsListener {
        TlsListener { listener, acceptor: self.acceptor.clone() }
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// A listener whose connections speak TLS; [`Tls::listener`] makes one.
pub struct TlsListener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl fmt::Debug for TlsListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsListener").field("listener", &self.listener).finish_non_exhaustive()
    }
}

#[diagnostic::do_not_recommend]
impl AsListener for TlsListener {
    fn into_listener(self) -> Listener {
        Listener::tls(self.listener, self.acceptor)
    }
}

struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// By which a replaced file is told from the one of before.
type State = [Option<(SystemTime, u64)>; 2];

impl Files {
    fn read(&self, provider: &CryptoProvider) -> io::Result<CertifiedKey> {
        let text = |path: &Path| std::fs::read(path).map_err(|error| of_file(path, error.kind(), &error));
        let (chain, key) = (text(&self.certificate)?, text(&self.key)?);
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&chain)
            .collect::<Result<_, _>>()
            .map_err(|error| of_file(&self.certificate, ErrorKind::InvalidData, &error))?;
        if chain.is_empty() {
            return Err(of_file(&self.certificate, ErrorKind::InvalidData, &"it has no certificate in PEM"));
        }
        // The error of the parser may have a part of the file.
        let key = PrivateKeyDer::from_pem_slice(&key)
            .map_err(|_| of_file(&self.key, ErrorKind::InvalidData, &"it has no private key in PEM"))?;
        let pair = CertifiedKey::from_der(chain, key, provider);
        pair.map_err(|error| {
            of_file(
                &self.key,
                ErrorKind::InvalidData,
                &format!("it does not fit {}: {error}", self.certificate.display()),
            )
        })
    }

    fn state(&self) -> State {
        [&self.certificate, &self.key].map(|path| {
            let file = std::fs::metadata(path).ok()?;
            Some((file.modified().ok()?, file.len()))
        })
    }
}

fn of_file(path: &Path, kind: ErrorKind, why: &dyn fmt::Display) -> io::Error {
    io::Error::new(kind, format!("TLS cannot use {}: {why}", path.display()))
}

struct FromFiles {
    files: Files,
    provider: Arc<CryptoProvider>,
    current: Mutex<Current>,
}

struct Current {
    pair: Arc<CertifiedKey>,
    /// The files from which the pair was read, or which could not be used.
    state: State,
    looked: Instant,
}

impl fmt::Debug for FromFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFiles").finish_non_exhaustive()
    }
}

impl ResolvesServerCert for FromFiles {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.looked.elapsed() >= LOOK {
            current.look(&self.files, &self.provider);
        }
        Some(Arc::clone(&current.pair))
    }
}

impl Current {
    /// Reads the files again if they were replaced.
    fn look(&mut self, files: &Files, provider: &CryptoProvider) {
        self.looked = Instant::now();
        let state = files.state();
        if state == self.state {
            return;
        }
        self.state = state;
        match files.read(provider) {
            Ok(pair) => {
                tracing::info!("the replaced certificate is used");
                self.pair = Arc::new(pair);
            }
            Err(error) => tracing::error!(%error, "a replaced certificate is not used"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name)
    }

    #[test]
    fn files_that_cannot_be_used_are_named() {
        let error = |certificate: PathBuf, key: PathBuf| {
            Tls::from_files(certificate, key).expect_err("refused").to_string()
        };
        let (certificate, key) = (fixture("localhost.pem"), fixture("localhost.key"));
        for (certificate, key, part) in [
            (fixture("none.pem"), key.clone(), "none.pem"),
            (key.clone(), key, "has no certificate in PEM"),
            (certificate.clone(), certificate.clone(), "has no private key in PEM"),
            (certificate, fixture("other.key"), "does not fit"),
        ] {
            let error = error(certificate, key);
            assert!(error.contains(part) && error.starts_with("TLS cannot use "), "{error}");
        }
    }

    #[test]
    fn replaced_files_are_used_and_unusable_ones_are_not() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let files =
            Files { certificate: directory.path().join("a.pem"), key: directory.path().join("a.key") };
        let put = |certificate: &str, key: &str| {
            std::fs::copy(fixture(certificate), &files.certificate).expect("copied");
            std::fs::copy(fixture(key), &files.key).expect("copied");
        };
        put("localhost.pem", "localhost.key");
        let provider = ring::default_provider();
        let pair = Arc::new(files.read(&provider).expect("a pair"));
        let mut current = Current { pair: Arc::clone(&pair), state: files.state(), looked: Instant::now() };
        current.look(&files, &provider);
        assert!(Arc::ptr_eq(&current.pair, &pair), "nothing was replaced");
        std::fs::write(&files.key, "broken").expect("written");
        current.look(&files, &provider);
        assert!(Arc::ptr_eq(&current.pair, &pair), "the one of before counts");
        put("other.pem", "other.key");
        current.look(&files, &provider);
        assert_ne!(current.pair.cert, pair.cert);
    }
}
