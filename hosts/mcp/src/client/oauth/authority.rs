//! Who signs in to one server, for as long as it is known: the token that its requests are sent with, and who gets the next one.

use super::SignIn;
use super::client::Challenge;
use super::store::{Kept, Store};
use crate::client::servers::ClientOptions;
use oauth2::TokenResponse as _;
use rmcp::transport::auth::{AuthError, AuthorizationManager, OAuthClientConfig};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;
use toolkit::{McpOAuth, McpUrl};

/// How often somebody signs in for one request. A server that refuses it still will go on to.
pub(super) const MOST_IN_VAIN: u32 = 3;
/// How long nobody is asked again after signing in came to nothing.
const REST: Duration = Duration::from_mins(5);

/// Who signs in to one server.
pub(in crate::client) struct Authority {
    pub(super) server: Arc<str>,
    pub(super) client_name: String,
    pub(super) url: String,
    pub(super) settings: McpOAuth,
    pub(super) sign_in: Option<Arc<dyn SignIn>>,
    /// What to ask leave for beside what is configured, or what the server wants.
    pub(super) more: Vec<String>,
    pub(super) store: Store,
    /// Who gets the next token, once that was needed.
    renews: Mutex<Option<Renews>>,
    asked: Mutex<Asked>,
    /// How often somebody signed in, or could not.
    rounds: AtomicU32,
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may hold a key.
        f.debug_struct("Authority").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Who gets the next token.
struct Renews {
    /// As whom, and where: that of the tokens which are kept.
    client_id: String,
    token_endpoint: String,
    by: By,
}

enum By {
    Manager(Box<AuthorizationManager>),
    /// Nobody does: another decides now than the one whose tokens are kept.
    Nobody,
    /// Nobody does, and nothing is said of who decides.
    Unsaid,
}

/// What came of asking a person.
#[derive(Default)]
pub(super) struct Asked {
    /// As whom this program is registered, once it is.
    pub(super) registered: Option<Registered>,
    /// Why it came to nothing the last time.
    failed: Option<(Instant, String)>,
}

impl Asked {
    /// From here on it is a person's time that is taken.
    pub(super) fn begin(&mut self) {
        self.fail("nobody signed in in time".to_owned());
    }

    fn fail(&mut self, why: String) {
        self.failed = Some((Instant::now(), why));
    }
}

/// What a server that decides knows this program as.
pub(super) struct Registered {
    pub(super) issuer: Option<String>,
    pub(super) client: OAuthClientConfig,
}

impl Authority {
    /// For a server at an address.
    pub(in crate::client) fn of(server: &Arc<str>, settings: &McpUrl, options: &ClientOptions) -> Self {
        Self {
            server: Arc::clone(server),
            client_name: options.name.clone(),
            url: settings.url.clone(),
            settings: settings.oauth.clone(),
            sign_in: options.sign_in.clone(),
            more: options.scopes.clone(),
            store: Store::of(options.data_dir.as_deref(), server, &settings.url),
            renews: Mutex::default(),
            asked: Mutex::default(),
            rounds: AtomicU32::new(0),
        }
    }

    /// How often somebody signed in, or could not.
    pub(in crate::client) fn round(&self) -> u32 {
        self.rounds.load(Ordering::Acquire)
    }

    /// Forgets who signed in. Gives back whether somebody had.
    pub(in crate::client) async fn sign_out(&self) -> io::Result<bool> {
        self.asked.lock().await.failed = None;
        self.store.forget().await
    }

    /// The token to send a request with, if there is one; another than the one that was refused. A request that is cancelled
    /// meanwhile does not take it along: what gets the next token is often good once.
    pub(super) async fn token(
        self: &Arc<Self>,
        refused: Option<String>,
    ) -> Result<Option<String>, AuthError> {
        let authority = Arc::clone(self);
        let found = tokio::spawn(async move { authority.current(refused.as_deref()).await }).await;
        found.unwrap_or_else(|error| Err(AuthError::InternalError(error.to_string())))
    }

    /// The token that is kept, as it is.
    pub(super) async fn kept(&self) -> Option<String> {
        self.store.kept().await.ok().flatten()?.token()
    }

    async fn current(&self, refused: Option<&str>) -> Result<Option<String>, AuthError> {
        let mut renews = self.renews.lock().await;
        let Some(kept) = self.store.kept().await? else { return Ok(None) };
        let Some(token) = kept.token() else { return Ok(None) };
        if refused.is_some_and(|refused| refused != token) {
            // Another one got it meanwhile.
            return Ok(Some(token));
        }
        let is_of = |renews: &Renews| {
            renews.client_id == kept.credentials.client_id && renews.token_endpoint == kept.token_endpoint
        };
        let by = match &*renews {
            Some(of) if is_of(of) => of,
            _ => renews.insert(self.renewing(&kept).await?),
        };
        let found = match (&by.by, refused) {
            (By::Manager(manager), None) => manager.get_access_token().await,
            (By::Manager(manager), Some(_)) => {
                manager.refresh_token().await.map(|got| got.access_token().secret().clone())
            }
            (By::Unsaid, None) => Ok(token),
            (By::Unsaid, Some(_)) | (By::Nobody, _) => return Ok(None),
        };
        match found {
            Ok(token) => Ok(Some(token)),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Finds out who gets the successor of what is kept: only the one that it came from.
    async fn renewing(&self, kept: &Kept) -> Result<Renews, AuthError> {
        let mut manager = self.manager().await?;
        let found = manager.resolve_metadata().await?;
        let is_same = found.metadata.token_endpoint == kept.token_endpoint
            && found.metadata.issuer == kept.credentials.issuer
            && self.is_configured(found.metadata.issuer.as_deref());
        let by = if is_same {
            let id = kept.credentials.client_id.clone();
            let mut client = OAuthClientConfig::new(&id, &self.url);
            if let Some(secret) = self.secret_of(&id, kept) {
                client = client.with_client_secret(secret);
            }
            manager.set_metadata(found.metadata);
            manager.configure_client(client)?;
            manager
                .set_credential_store(self.store.bound(&kept.token_endpoint, kept.client_secret.as_deref()));
            By::Manager(Box::new(manager))
        } else if found.source.is_discovered() {
            tracing::warn!(
                server = &*self.server,
                "another decides now who may use it than when somebody signed in"
            );
            By::Nobody
        } else {
            By::Unsaid
        };
        let (client_id, token_endpoint) = (kept.credentials.client_id.clone(), kept.token_endpoint.clone());
        Ok(Renews { client_id, token_endpoint, by })
    }

    /// The secret of the program of this name, and of no other.
    fn secret_of(&self, client_id: &str, kept: &Kept) -> Option<String> {
        if self.settings.client_id.as_deref() == Some(client_id) {
            return self.settings.client_secret.as_ref().map(|secret| secret.expose().to_owned());
        }
        kept.client_secret.clone()
    }

    /// Whether the one who decides is the one that the configuration names, if it names one.
    pub(super) fn is_configured(&self, issuer: Option<&str>) -> bool {
        let plain = |issuer: &str| issuer.trim_end_matches('/').to_owned();
        self.settings.issuer.as_deref().is_none_or(|named| issuer.map(plain) == Some(plain(named)))
    }

    pub(super) async fn manager(&self) -> Result<AuthorizationManager, AuthError> {
        let mut manager = AuthorizationManager::new(self.url.as_str()).await?;
        manager.set_credential_store(self.store.clone());
        Ok(manager)
    }

    /// Gets a token that this refusal does not hold for. Of several requests that are refused at once, one does.
    pub(super) async fn signed_in(&self, challenge: &Challenge, round: u32) -> Result<(), String> {
        let mut asked = self.asked.lock().await;
        if self.round() != round {
            // Another one did meanwhile.
            return Ok(());
        }
        if let Some((at, why)) = &asked.failed
            && let Some(left) = REST.checked_sub(at.elapsed())
        {
            let left = left.as_secs().max(1);
            return Err(format!("{why} (nobody is asked again for {left} seconds)"));
        }
        asked.failed = None;
        self.rounds.store(round.wrapping_add(1), Ordering::Release);
        let result = self.authorized(challenge, &mut asked).await;
        match result {
            Ok((client_id, token_endpoint, manager)) => {
                asked.failed = None;
                let by = By::Manager(Box::new(manager));
                *self.renews.lock().await = Some(Renews { client_id, token_endpoint, by });
                Ok(())
            }
            Err(why) => {
                if asked.failed.is_some() {
                    asked.fail(why.clone());
                }
                Err(why)
            }
        }
    }

    /// It was signed in to, and refuses still.
    pub(super) async fn in_vain(&self) -> AuthError {
        let why = format!("it was signed in to {MOST_IN_VAIN} times, and refuses still");
        let mut asked: MutexGuard<'_, Asked> = self.asked.lock().await;
        asked.fail(why.clone());
        AuthError::AuthorizationFailed(why)
    }
}
