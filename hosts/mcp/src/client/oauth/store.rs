//! The tokens of a server, where their owner alone can read them.

use async_trait::async_trait;
use data_encoding::HEXLOWER;
use oauth2::TokenResponse as _;
use rmcp::transport::auth::{AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::{Instant, sleep};

/// The directory in that of the toolkit's data.
const DIRECTORY: &str = "mcp-oauth";
/// Maximum number of bytes of a file that is read.
const LARGEST: u64 = 1 << 20;
/// Time limit for another process to refresh the token.
const PATIENCE: Duration = Duration::from_mins(1);
/// Interval between checks whether the other process has finished.
const LOOK: Duration = Duration::from_millis(50);

/// The stored tokens of one server at one address; kept in memory only if there is no data directory.
#[derive(Clone)]
pub(super) struct Store {
    inner: Arc<Inner>,
    /// Token endpoint and client secret that are stored with the tokens.
    with: Arc<With>,
}

/// The token endpoint, and the secret that authenticates this program to it.
#[derive(Default)]
struct With {
    token_endpoint: String,
    client_secret: Option<String>,
}

struct Inner {
    server: Arc<str>,
    url: String,
    file: Option<PathBuf>,
    /// The tokens, if there is no file.
    kept: Mutex<Option<StoredToken>>,
    guard: Arc<tokio::sync::Mutex<()>>,
}

/// A stored token, with the data needed to refresh it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredToken {
    /// The server's name in the configuration.
    server: String,
    /// The address that the token is for, and no other.
    url: String,
    /// Endpoint that issued the tokens, and that refreshes them.
    pub(super) token_endpoint: String,
    /// Client secret of this program's registration, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    pub(super) credentials: StoredCredentials,
}

impl StoredToken {
    /// Returns true if the token expires within this number of seconds, or within half of its lifetime if that is less.
    pub(super) fn is_over(&self, nearly: u64) -> bool {
        let (Some(got), Some(since)) = (&self.credentials.token_response, self.credentials.token_received_at)
        else {
            return false;
        };
        let Some(lasts) = got.expires_in() else { return false };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let left = lasts.as_secs().saturating_sub(now.saturating_sub(since));
        left < nearly.min(lasts.as_secs() / 2).max(1)
    }

    /// Returns the access token.
    pub(super) fn token(&self) -> Option<String> {
        self.credentials.token_response.as_ref().map(|got| got.access_token().secret().clone())
    }
}

impl Store {
    pub(super) fn of(data_dir: Option<&Path>, server: &Arc<str>, url: &str) -> Self {
        let file = data_dir.map(|directory| {
            let mut hash = Sha256::new();
            hash.update(&**server);
            hash.update([0]);
            hash.update(url);
            directory.join(DIRECTORY).join(format!("{}.json", HEXLOWER.encode(&hash.finalize()[..16])))
        });
        let inner = Inner::new(Arc::clone(server), url.to_owned(), file);
        Self { inner: Arc::new(inner), with: Arc::default() }
    }

    /// The same for who gets tokens there, with this secret.
    pub(super) fn bound(&self, token_endpoint: &str, client_secret: Option<&str>) -> Self {
        let with = With {
            token_endpoint: token_endpoint.to_owned(),
            client_secret: client_secret.map(str::to_owned),
        };
        Self { inner: Arc::clone(&self.inner), with: Arc::new(with) }
    }

    /// Returns the stored tokens, which another process may have changed.
    pub(super) async fn kept(&self) -> Result<Option<StoredToken>, AuthError> {
        self.inner.blocking(Inner::read).await
    }

    /// Removes the tokens. Returns true if there were any.
    pub(super) async fn forget(&self) -> io::Result<bool> {
        // A concurrent refresh would write the token again.
        let guard = self.acquire_refresh_guard().await.map_err(io::Error::other)?;
        let inner = Arc::clone(&self.inner);
        let forgotten =
            tokio::task::spawn_blocking(move || inner.remove()).await.map_err(io::Error::other)?;
        drop(guard);
        forgotten
    }
}

/// Removes the tokens of a server of this name, at any URL, even if no configuration contains it any more. Returns true if there were
/// any.
///
/// # Errors
///
/// If the tokens cannot be found or removed.
pub async fn forget_sign_ins(data_dir: &Path, server: &str) -> io::Result<bool> {
    let directory = data_dir.join(DIRECTORY);
    let name: Arc<str> = server.into();
    let listed =
        tokio::task::spawn_blocking(move || fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>());
    let entries = match listed.await.map_err(io::Error::other)? {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut has_found = false;
    for path in entries.iter().map(fs::DirEntry::path) {
        // A file that is readable by others is removed all the same.
        let is_it = path.extension().is_some_and(|extension| extension == "json")
            && fs::read(&path).is_ok_and(|text| {
                serde_json::from_slice::<StoredToken>(&text).is_ok_and(|kept| *kept.server == *name)
            });
        if is_it {
            let inner = Inner::new(Arc::clone(&name), String::new(), Some(path));
            has_found |= Store { inner: Arc::new(inner), with: Arc::default() }.forget().await?;
        }
    }
    Ok(has_found)
}

impl Inner {
    fn new(server: Arc<str>, url: String, file: Option<PathBuf>) -> Self {
        Self { server, url, file, kept: Mutex::default(), guard: Arc::default() }
    }

    fn read(&self) -> io::Result<Option<StoredToken>> {
        let Some(file) = &self.file else { return Ok(self.memory().clone()) };
        let opened = match File::open(file) {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if is_open_to_others(&opened)? {
            return Err(io::Error::other(
                "other users can read the file; run `chmod 600` on it, or remove it and sign in again",
            ));
        }
        let mut text = String::new();
        opened.take(LARGEST).read_to_string(&mut text)?;
        // The message does not contain the content, which is secret.
        let read: StoredToken = serde_json::from_str(&text)
            .map_err(|_| io::Error::other("its content is invalid; remove it and sign in again"))?;
        Ok(Some(read).filter(|read| read.url == self.url))
    }

    /// Writes it whole or not at all. One process at a time does.
    fn write(&self, kept: StoredToken) -> io::Result<()> {
        let Some(file) = &self.file else {
            *self.memory() = Some(kept);
            return Ok(());
        };
        let text = serde_json::to_vec(&kept)?;
        let directory = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory)?;
        let beside = file.with_extension("new");
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

    fn remove(&self) -> io::Result<bool> {
        let Some(file) = &self.file else { return Ok(self.memory().take().is_some()) };
        let mut was_there = false;
        // A process that was killed while writing leaves a file too.
        for path in [file.with_extension("new"), file.clone()] {
            match fs::remove_file(path) {
                Ok(()) => was_there = true,
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(was_there)
    }

    fn memory(&self) -> MutexGuard<'_, Option<StoredToken>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn problem(&self, error: &dyn std::fmt::Display) -> AuthError {
        let place = self.file.as_ref().map(|file| format!(" in {}", file.display())).unwrap_or_default();
        AuthError::CredentialStoreError(format!("the tokens{place} cannot be used: {error}"))
    }

    /// Runs `work` on the thread pool for blocking tasks.
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
        Ok(self.kept().await?.map(|kept| kept.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let with = Arc::clone(&self.with);
        self.inner
            .blocking(move |inner| {
                inner.write(StoredToken {
                    server: inner.server.to_string(),
                    url: inner.url.clone(),
                    token_endpoint: with.token_endpoint.clone(),
                    client_secret: with.client_secret.clone(),
                    credentials,
                })
            })
            .await
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.inner.blocking(|inner| inner.remove().map(|_| ())).await
    }

    /// A token that lets one get the next is often good once: two processes that use it at the same time would lose it.
    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let Some(file) = &self.inner.file else {
            let guard = Arc::clone(&self.inner.guard).lock_owned().await;
            return Ok(Some(CredentialRefreshGuard::new(guard)));
        };
        let path = file.with_extension("lock");
        let lock = self
            .inner
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
                Err(fs::TryLockError::WouldBlock) => {
                    let late = format!("another process has been changing them for {PATIENCE:?}");
                    return Err(self.inner.problem(&late));
                }
                Err(fs::TryLockError::Error(error)) => return Err(self.inner.problem(&error)),
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
