//! OAuth state of one server for as long as the server is configured: the token that its requests are sent with, and its renewal.

use super::challenge::Challenge;
use super::resource::resource;
use super::store::{Store, StoredToken};
use crate::client::options::ClientOptions;
use crate::client::sign_in::SignIn;
use crate::settings::{McpOAuth, McpUrl};
use oauth2::TokenResponse as _;
use rmcp::transport::auth::{AuthError, AuthorizationManager, OAuthClientConfig};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Maximum number of sign-ins for one request. A server that still refuses the request will not accept another sign-in.
pub(super) const MAX_IN_VAIN: u32 = 3;
/// Time for which a failure to find a way to refresh the token is remembered.
const KNOWN: Duration = Duration::from_mins(1);
/// Minimum remaining lifetime of a token in seconds; otherwise it is refreshed before use.
const NEARLY: u64 = 30;
/// Time after a failed sign-in before the user is asked again.
const REST: Duration = Duration::from_mins(5);

/// Signs in to one server.
pub(in crate::client) struct Authority {
    pub(super) server: Arc<str>,
    pub(super) client_name: String,
    pub(super) url: String,
    pub(super) settings: McpOAuth,
    pub(super) sign_in: Option<Arc<dyn SignIn>>,
    /// Scopes to request in addition to those that are configured or that the server requires.
    pub(super) more: Vec<String>,
    pub(super) store: Store,
    /// The means to refresh the token, once they were needed.
    renews: Mutex<Option<Renews>>,
    asked: Mutex<Asked>,
    /// Stored tokens are ignored: the user wants to sign in again.
    is_anew: AtomicBool,
    /// Number of completed attempts to sign in, successful or not.
    rounds: AtomicU32,
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may contain a key.
        f.debug_struct("Authority").field("server", &self.server).finish_non_exhaustive()
    }
}

/// The means to refresh the token.
struct Renews {
    /// Client ID of the stored tokens; the next two fields are their endpoint and issuer.
    client_id: String,
    token_endpoint: String,
    issuer: Option<String>,
    since: Instant,
    by: By,
}

impl Renews {
    fn is_of(&self, kept: &StoredToken) -> bool {
        self.client_id == kept.credentials.client_id
            && self.token_endpoint == kept.token_endpoint
            && self.issuer == kept.credentials.issuer
            && (matches!(self.by, By::Manager(_)) || self.since.elapsed() < KNOWN)
    }
}

enum By {
    Manager(Box<AuthorizationManager>),
    /// The token cannot be refreshed: the authorization server is another than the one that issued the stored tokens.
    Nobody,
    /// The token cannot be refreshed, and no authorization server is announced.
    Unsaid,
}

/// The token to send a request with.
#[derive(Default)]
pub(super) struct Token {
    /// The token, where one may still be good.
    pub(super) usable: Option<String>,
    /// The stored token, valid or not.
    pub(super) kept: Option<String>,
}

impl Token {
    fn usable(token: String) -> Self {
        Self { usable: Some(token.clone()), kept: Some(token) }
    }
}

/// State of interactive sign-ins.
#[derive(Default)]
pub(super) struct Asked {
    /// The registration of this program, if there is one.
    pub(super) registered: Option<Registered>,
    /// Time and reason of the last failure.
    failed: Option<(Instant, String)>,
}

impl Asked {
    /// Records the start of an interactive sign-in, which counts as failed until it succeeds.
    pub(super) fn begin(&mut self) {
        self.fail("no sign-in in time".to_owned());
    }

    fn fail(&mut self, why: String) {
        self.failed = Some((Instant::now(), why));
    }
}

/// The registration of this program with an authorization server.
pub(super) struct Registered {
    pub(super) issuer: Option<String>,
    pub(super) client: OAuthClientConfig,
}

impl Authority {
    /// Creates the state for a server with a URL.
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
            is_anew: AtomicBool::new(false),
            rounds: AtomicU32::new(0),
        }
    }

    /// Returns the number of completed attempts to sign in, successful or not.
    pub(in crate::client) fn round(&self) -> u32 {
        self.rounds.load(Ordering::Acquire)
    }

    /// Removes the stored tokens. Returns true if there were any.
    pub(in crate::client) async fn sign_out(&self) -> io::Result<bool> {
        *self.asked.lock().await = Asked::default();
        self.store.forget().await
    }

    /// Makes the next request sign in, despite stored tokens. Their origin stays known.
    pub(in crate::client) fn sign_in_again(&self) {
        self.is_anew.store(true, Ordering::Release);
    }

    /// Returns the token to send a request with, if there is one other than the refused token. Cancelling the request does not
    /// cancel this task, since a refresh token is often valid only once.
    pub(super) async fn token(self: &Arc<Self>, refused: Option<String>) -> Result<Token, AuthError> {
        let authority = Arc::clone(self);
        let found = tokio::spawn(async move { authority.current(refused.as_deref()).await }).await;
        found.unwrap_or_else(|error| Err(AuthError::InternalError(error.to_string())))
    }

    /// Returns the stored token, valid or not.
    pub(super) async fn kept(&self) -> Option<String> {
        self.store.kept().await.ok().flatten()?.token()
    }

    async fn current(&self, refused: Option<&str>) -> Result<Token, AuthError> {
        if self.is_anew.load(Ordering::Acquire) {
            return Ok(Token::default());
        }
        let mut renews = self.renews.lock().await;
        let Some(kept) = self.store.kept().await? else { return Ok(Token::default()) };
        let Some(token) = kept.token() else { return Ok(Token::default()) };
        match refused {
            // Another one got it meanwhile.
            Some(refused) if refused != token => return Ok(Token::usable(token)),
            // The authorization server need not be reachable for that.
            None if !kept.is_over(NEARLY) => return Ok(Token::usable(token)),
            _ => {}
        }
        let none = || Ok(Token { usable: None, kept: Some(token.clone()) });
        let by = match &*renews {
            Some(of) if of.is_of(&kept) => of,
            _ => renews.insert(self.renewing(&kept).await?),
        };
        let found = match (&by.by, refused) {
            (By::Manager(manager), None) => manager.get_access_token().await,
            (By::Manager(manager), Some(_)) => {
                manager.refresh_token().await.map(|got| got.access_token().secret().clone())
            }
            (By::Unsaid, None) => Ok(token.clone()),
            (By::Unsaid, Some(_)) | (By::Nobody, _) => return none(),
        };
        match found {
            Ok(token) => Ok(Token::usable(token)),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => none(),
            Err(error) => Err(error),
        }
    }

    /// Finds the means to refresh the stored token: only at the server that issued it.
    async fn renewing(&self, kept: &StoredToken) -> Result<Renews, AuthError> {
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
            tracing::warn!(server = &*self.server, "its authorization server has changed since the sign-in");
            By::Nobody
        } else {
            By::Unsaid
        };
        Ok(Renews {
            client_id: kept.credentials.client_id.clone(),
            token_endpoint: kept.token_endpoint.clone(),
            issuer: kept.credentials.issuer.clone(),
            since: Instant::now(),
            by,
        })
    }

    /// The secret of the program of this name, and of no other.
    fn secret_of(&self, client_id: &str, kept: &StoredToken) -> Option<String> {
        if self.settings.client_id.as_deref() == Some(client_id) {
            return self.settings.client_secret.as_ref().map(|secret| secret.expose().to_owned());
        }
        kept.client_secret.clone()
    }

    /// Returns true if the configuration names no issuer, or this one.
    pub(super) fn is_configured(&self, issuer: Option<&str>) -> bool {
        let plain = |issuer: &str| issuer.trim_end_matches('/').to_owned();
        self.settings.issuer.as_deref().is_none_or(|named| issuer.map(plain) == Some(plain(named)))
    }

    pub(super) async fn manager(&self) -> Result<AuthorizationManager, AuthError> {
        // Tokens are requested for the URL without its query, which may contain a secret.
        let mut manager = AuthorizationManager::new(resource(&self.url)).await?;
        manager.set_credential_store(self.store.clone());
        Ok(manager)
    }

    /// Gets a token to which this refusal does not apply, and returns true if that required a sign-in: of several requests that are
    /// refused at the same time, one signs in. `seen` is the token that was stored at the time.
    pub(super) async fn signed_in(
        &self,
        challenge: &Challenge,
        seen: Option<&str>,
        round: u32,
    ) -> Result<bool, String> {
        let mut asked = self.asked.lock().await;
        let is_anew = self.is_anew.load(Ordering::Acquire);
        // Another one did meanwhile, here or in another process.
        if self.round() != round || !is_anew && self.kept().await.is_some_and(|kept| Some(&*kept) != seen) {
            return Ok(false);
        }
        if let Some((at, why)) = &asked.failed
            && let Some(left) = REST.checked_sub(at.elapsed())
        {
            let left = left.as_secs().max(1);
            return Err(format!("{why} (the next attempt is possible in {left} seconds)"));
        }
        asked.failed = None;
        self.rounds.store(round.wrapping_add(1), Ordering::Release);
        let result = self.authorized(challenge, &mut asked).await;
        match result {
            Ok((client_id, metadata, manager)) => {
                asked.failed = None;
                self.is_anew.store(false, Ordering::Release);
                let (token_endpoint, issuer) = (metadata.token_endpoint, metadata.issuer);
                let by = By::Manager(Box::new(manager));
                let since = Instant::now();
                *self.renews.lock().await = Some(Renews { client_id, token_endpoint, issuer, since, by });
                Ok(true)
            }
            Err(why) => {
                if asked.failed.is_some() {
                    // The authorization server may have forgotten this program.
                    asked.registered = None;
                    asked.fail(why.clone());
                }
                Err(why)
            }
        }
    }

    /// Records and returns the error for a server that refuses a request after several sign-ins.
    pub(super) async fn in_vain(&self) -> AuthError {
        let why = format!("it still refuses requests after {MAX_IN_VAIN} sign-ins");
        self.asked.lock().await.fail(why.clone());
        AuthError::AuthorizationFailed(why)
    }
}
