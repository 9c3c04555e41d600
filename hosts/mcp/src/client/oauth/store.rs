//! The tokens of a server, where their owner alone can read them.

use async_trait::async_trait;
use data_encoding::HEXLOWER;
use rmcp::transport::auth::{AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The directory in that of the toolkit's data.
const DIRECTORY: &str = "mcp-oauth";
/// The most bytes of a file that is read.
const LARGEST: u64 = 1 << 20;
/// How long another process that gets a new token is waited for.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often it is looked whether that process is ready.
const LOOK: Duration = Duration::from_millis(50);

/// What is kept of one server at one address; for as long as the process runs where there is no directory for it.
#[derive(Clone)]
pub(in crate::client) struct Store(Arc<Inner>);

struct Inner {
    url: String,
    file: Option<PathBuf>,
    kept: Mutex<Kept>,
}

#[derive(Default, Clone, Serialize, Deserialize)]
struct Kept {
    /// The address that the token is for, and no other.
    url: String,
    /// The secret that goes with the name this program was registered under, where it got one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    #[serde(default)]
    credentials: Option<StoredCredentials>,
}

impl Store {
    pub(in crate::client) fn of(data_dir: Option<&Path>, server: &str, url: &str) -> Self {
        let file = data_dir.map(|directory| {
            let mut hash = Sha256::new();
            hash.update(server);
            hash.update([0]);
            hash.update(url);
            directory.join(DIRECTORY).join(format!("{}.json", HEXLOWER.encode(&hash.finalize()[..16])))
        });
        let kept = Kept { url: url.to_owned(), ..Kept::default() };
        Self(Arc::new(Inner { url: url.to_owned(), file, kept: Mutex::new(kept) }))
    }

    /// The secret that goes with the name this program was registered under.
    pub(super) fn client_secret(&self) -> Option<String> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).client_secret.clone()
    }

    pub(super) fn set_client_secret(&self, secret: Option<String>) {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).client_secret = secret;
    }

    /// Forgets all of it. Gives back whether there was something.
    pub(in crate::client) fn forget(&self) -> io::Result<bool> {
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let was_there = kept.credentials.take().is_some();
        kept.client_secret = None;
        match self.0.file.as_ref().map(fs::remove_file) {
            Some(Ok(())) => Ok(true),
            Some(Err(error)) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(was_there),
        }
    }
}

impl Inner {
    /// What is kept, as another process may have left it.
    fn read(&self) -> io::Result<Option<StoredCredentials>> {
        let Some(file) = &self.file else {
            return Ok(self.kept.lock().unwrap_or_else(PoisonError::into_inner).credentials.clone());
        };
        let opened = match File::open(file) {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if is_open_to_others(&opened)? {
            return Err(io::Error::other(
                "others can read the file; take it away from them with `chmod 600`, or remove it and sign in again",
            ));
        }
        let mut text = String::new();
        opened.take(LARGEST).read_to_string(&mut text)?;
        // What stands in it is not told: it is a secret.
        let read: Kept = serde_json::from_str(&text)
            .map_err(|_| io::Error::other("it does not hold what it should; remove it and sign in again"))?;
        if read.url != self.url {
            return Ok(None);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = read;
        Ok(kept.credentials.clone())
    }

    fn write(&self, credentials: Option<StoredCredentials>) -> io::Result<()> {
        let text = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.credentials = credentials;
            serde_json::to_vec(&*kept)?
        };
        let Some(file) = &self.file else { return Ok(()) };
        let directory = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory)?;
        let beside = file.with_extension(format!("{}.new", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options.open(&beside).and_then(|mut opened| {
            opened.write_all(&text)?;
            opened.sync_all()?;
            fs::rename(&beside, file)
        });
        written.inspect_err(|_| {
            let _ = fs::remove_file(&beside);
        })
    }

    fn problem(&self, error: &dyn std::fmt::Display) -> AuthError {
        let place = self.file.as_ref().map(|file| format!(" in {}", file.display())).unwrap_or_default();
        AuthError::CredentialStoreError(format!("the tokens{place} cannot be used: {error}"))
    }

    /// On the pool for what blocks.
    async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Result<T, AuthError> {
        let inner = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&inner)).await;
        match done {
            Ok(done) => done.map_err(|error| self.problem(&error)),
            Err(error) => Err(self.problem(&error)),
        }
    }
}

#[async_trait]
impl CredentialStore for Store {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        self.0.blocking(Inner::read).await
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.0.blocking(move |inner| inner.write(Some(credentials))).await
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.0.blocking(|inner| inner.write(None)).await
    }

    /// A token that lets one get the next is often good once: two processes that use it at the same time would lose it.
    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let Some(file) = &self.0.file else { return Ok(None) };
        let path = file.with_extension("lock");
        let lock = self
            .0
            .blocking(move |_| {
                if let Some(directory) = path.parent() {
                    fs::create_dir_all(directory)?;
                }
                OpenOptions::new().create(true).truncate(false).write(true).open(path)
            })
            .await?;
        let begun = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Some(CredentialRefreshGuard::new(lock))),
                Err(fs::TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => sleep(LOOK).await,
                Err(error) => return Err(self.0.problem(&error)),
            }
        }
    }
}

#[cfg(unix)]
fn is_open_to_others(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_file: &File) -> io::Result<bool> {
    Ok(false)
}
