//! TLS of a listener, by a certificate and a key in files.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{ServerConfig, version};
use tokio_rustls::server::TlsStream;

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
    pair: Arc<FromFiles>,
}

impl Tls {
    /// Reads the chain of certificates, the server's own one first, and its private key (PKCS #8, PKCS #1 or SEC 1). Blocks.
    ///
    /// # Errors
    ///
    /// A file cannot be read, has no such content, or the key is not that of the certificate. The error names the file.
    pub fn from_files(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> io::Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let files = Files { certificate: certificate.into(), key: key.into() };
        let state = files.state();
        let pair = Arc::new(files.read(&provider)?);
        let pair = Arc::new(FromFiles {
            files,
            provider: Arc::clone(&provider),
            current: Mutex::new(pair),
            looked: Mutex::new(Looked { state, at: Some(Instant::now()) }),
            is_looking: AtomicBool::new(false),
        });
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&version::TLS13, &version::TLS12])
            .map_err(io::Error::other)?;
        let mut config = config.with_no_client_auth().with_cert_resolver(Arc::<FromFiles>::clone(&pair));
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), pair })
    }

    /// Returns a listener whose connections speak TLS, for [`serve`](crate::serve). A handshake that takes longer than
    /// [`head_within`](crate::ServeOptions::head_within) ends its connection.
    pub fn listener(&self, listener: TcpListener) -> TlsListener {
        TlsListener { listener, tls: self.clone() }
    }

    /// Begins TLS with a client, by the files as they are now.
    async fn accept(self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.pair.look().await;
        self.acceptor.accept(stream).await
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
    tls: Tls,
}

impl fmt::Debug for TlsListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsListener").field("listener", &self.listener).finish_non_exhaustive()
    }
}

#[diagnostic::do_not_recommend]
impl AsListener for TlsListener {
    fn into_listener(self) -> Listener {
        let tls = self.tls;
        Listener::tls(self.listener, Arc::new(move |stream| Box::pin(tls.clone().accept(stream))))
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
    /// The pair that counts. Nothing is read while it is locked.
    current: Mutex<Arc<CertifiedKey>>,
    looked: Mutex<Looked>,
    /// True while a thread reads the files.
    is_looking: AtomicBool,
}

/// The last look at the files.
struct Looked {
    /// The files from which the pair was read, or which could not be used.
    state: State,
    at: Option<Instant>,
}

impl fmt::Debug for FromFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFiles").finish_non_exhaustive()
    }
}

impl ResolvesServerCert for FromFiles {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.pair())
    }
}

impl FromFiles {
    fn pair(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the files again if they were replaced, on a thread that may block. Others do not wait for that: the pair of before counts for them.
    async fn look(self: &Arc<Self>) {
        if !self.is_due() || self.is_looking.swap(true, Ordering::AcqRel) {
            return;
        }
        let pair = Arc::clone(self);
        // It goes on if the client has gone.
        let looking = tokio::task::spawn_blocking(move || {
            let _looking = Looking(&pair.is_looking);
            pair.read_again();
        });
        let _ = looking.await;
    }

    fn is_due(&self) -> bool {
        let looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        looked.at.is_none_or(|at| at.elapsed() >= LOOK)
    }

    fn read_again(&self) {
        let state = self.files.state();
        {
            let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
            looked.at = Some(Instant::now());
            if state == looked.state {
                return;
            }
            looked.state = state;
        }
        match self.files.read(&self.provider) {
            Ok(pair) => {
                tracing::info!("the replaced certificate is used");
                *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(pair);
            }
            Err(error) => tracing::error!(%error, "a replaced certificate is not used"),
        }
    }
}

/// Ends a look, also if it panics.
struct Looking<'a>(&'a AtomicBool);

impl Drop for Looking<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
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

    /// A pair in a directory, which is looked at each time.
    fn of_directory(directory: &Path) -> Arc<FromFiles> {
        let files = Files { certificate: directory.join("a.pem"), key: directory.join("a.key") };
        put(&files, "localhost");
        let provider = Arc::new(ring::default_provider());
        let pair = Arc::new(files.read(&provider).expect("a pair"));
        let looked = Looked { state: files.state(), at: None };
        Arc::new(FromFiles {
            files,
            provider,
            current: Mutex::new(pair),
            looked: Mutex::new(looked),
            is_looking: AtomicBool::new(false),
        })
    }

    fn put(files: &Files, name: &str) {
        std::fs::copy(fixture(&format!("{name}.pem")), &files.certificate).expect("copied");
        std::fs::copy(fixture(&format!("{name}.key")), &files.key).expect("copied");
    }

    #[test]
    fn replaced_files_are_used_and_unusable_ones_are_not() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let files = of_directory(directory.path());
        let before = files.pair();
        files.read_again();
        assert!(Arc::ptr_eq(&files.pair(), &before), "nothing was replaced");
        std::fs::write(&files.files.key, "broken").expect("written");
        files.read_again();
        assert!(Arc::ptr_eq(&files.pair(), &before), "the one of before counts");
        put(&files.files, "other");
        files.read_again();
        assert_ne!(files.pair().cert, before.cert);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn files_that_are_slow_to_read_hold_no_thread_of_the_runtime_and_no_other_client() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let files = of_directory(directory.path());
        let before = files.pair();
        let key = files.files.key.clone();
        std::fs::remove_file(&key).expect("removed");
        // Whoever reads it waits until somebody writes.
        let made = std::process::Command::new("mkfifo").arg(&key).status().expect("made");
        assert!(made.success());
        let writing = async {
            // One look is under way: this one ends at once.
            files.look().await;
            assert!(Arc::ptr_eq(&files.pair(), &before));
            tokio::task::spawn_blocking(move || std::fs::write(key, "broken")).await
        };
        let ((), written) = tokio::join!(files.look(), writing);
        written.expect("ended").expect("written");
        assert!(Arc::ptr_eq(&files.pair(), &before));
    }
}
