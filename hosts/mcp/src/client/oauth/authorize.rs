//! From a refusal to a token.

use super::client::Challenge;
use super::{SignIn, Store};
use crate::client::servers::ClientOptions;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata, ClientCredentialsConfig,
    OAuthClientConfig,
};
use rmcp::transport::{AuthClient, auth::CredentialStore as _};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Mutex;
use toolkit::{McpGrant, McpOAuth, McpUrl};

/// How often in a row somebody signs in without a request that is then taken. A server that refuses still will go on to.
const MOST_IN_VAIN: u32 = 3;
/// The most characters of what somebody else says of a failure.
const MOST_OF_REASON: usize = 500;

/// Who signs in to one server, for one connection.
pub(in crate::client) struct Authority {
    server: Arc<str>,
    client_name: String,
    url: String,
    settings: McpOAuth,
    sign_in: Option<Arc<dyn SignIn>>,
    /// What to ask leave for beside what is configured, or what the server wants.
    more: Vec<String>,
    store: Store,
    /// Who signs in now, and as whom this program is registered, once it is.
    registered: Mutex<Option<Registered>>,
    /// How often somebody signed in, or could not.
    rounds: AtomicU32,
    /// How often since the last request that was taken.
    in_vain: AtomicU32,
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority")
            .field("server", &self.server)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// What a server that decides knows this program as.
struct Registered {
    issuer: Option<String>,
    client: OAuthClientConfig,
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
            registered: Mutex::default(),
            rounds: AtomicU32::new(0),
            in_vain: AtomicU32::new(0),
        }
    }

    /// What requests are sent with: the token that is kept, if one is.
    pub(in crate::client) async fn client(
        &self,
        http: reqwest::Client,
    ) -> Result<AuthClient<reqwest::Client>, String> {
        let mut manager = self.manager().await.map_err(|error| told(&error))?;
        if manager.initialize_from_store().await.map_err(|error| told(&error))?
            && let Some(secret) = self.secret()
            && let Ok(Some(kept)) = self.store.load().await
        {
            // The name alone does not get a new token where a secret goes with it.
            let client = OAuthClientConfig::new(kept.client_id, &self.url).with_client_secret(secret);
            manager.configure_client(client).map_err(|error| told(&error))?;
        }
        Ok(AuthClient::new(http, manager))
    }

    async fn manager(&self) -> Result<AuthorizationManager, AuthError> {
        let mut manager = AuthorizationManager::new(self.url.as_str()).await?;
        manager.set_credential_store(self.store.clone());
        Ok(manager)
    }

    fn secret(&self) -> Option<String> {
        let configured = self.settings.client_secret.as_ref().map(|secret| secret.expose().to_owned());
        configured.or_else(|| self.store.client_secret())
    }

    pub(super) fn may_sign_in(&self) -> bool {
        self.sign_in.is_some() || self.settings.grant == McpGrant::ClientCredentials
    }

    pub(super) fn round(&self) -> u32 {
        self.rounds.load(Ordering::Acquire)
    }

    /// A request was taken.
    pub(super) fn succeeded(&self) {
        self.in_vain.store(0, Ordering::Release);
    }

    /// Gets a token that this refusal does not hold for. Of several requests that are refused at once, one does.
    pub(super) async fn sign_in(
        &self,
        client: &AuthClient<reqwest::Client>,
        challenge: &Challenge,
        round: u32,
    ) -> Result<(), String> {
        let mut registered = self.registered.lock().await;
        if self.round() != round {
            // Another one did meanwhile.
            return Ok(());
        }
        if self.in_vain.fetch_add(1, Ordering::AcqRel) >= MOST_IN_VAIN {
            return Err(format!("it was signed in to {MOST_IN_VAIN} times, and refuses still"));
        }
        self.rounds.store(round.wrapping_add(1), Ordering::Release);
        let manager = self.authorized(client, challenge, &mut registered).await?;
        *client.auth_manager.lock().await = manager;
        Ok(())
    }

    async fn authorized(
        &self,
        client: &AuthClient<reqwest::Client>,
        challenge: &Challenge,
        registered: &mut Option<Registered>,
    ) -> Result<AuthorizationManager, String> {
        let told = |error| told(&error);
        let mut manager = self.manager().await.map_err(told)?;
        let header = Some(challenge.header.as_str()).filter(|header| !header.is_empty());
        let found = manager.resolve_metadata_from_challenge(header).await.map_err(told)?;
        if challenge.is_forgotten {
            *registered = None;
        }
        let metadata = found.metadata;
        // What goes there is secret.
        for endpoint in std::iter::once(&metadata.token_endpoint).chain(&metadata.registration_endpoint) {
            openable(endpoint)?;
        }
        manager.set_metadata(metadata.clone());
        let mut scopes = self.settings.scopes.clone();
        if scopes.is_empty() {
            scopes = manager.select_initial_scopes(&[]).await;
        }
        let mut more = self.more.clone();
        if let Some(wants) = &challenge.wants {
            // What there is leave for already stays, also where the server names only what is new.
            more.extend(match self.store.load().await {
                Ok(Some(kept)) => kept.granted_scopes,
                _ => client.auth_manager.lock().await.get_current_scopes().await,
            });
            more.extend(wants.split_whitespace().map(str::to_owned));
        }
        for scope in more {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        match self.settings.grant {
            McpGrant::ClientCredentials => self.as_program(&mut manager, scopes).await?,
            _ => self.as_person(&mut manager, &metadata, &scopes, registered).await?,
        }
        Ok(manager)
    }

    async fn as_program(
        &self,
        manager: &mut AuthorizationManager,
        scopes: Vec<String>,
    ) -> Result<(), String> {
        let (Some(client_id), Some(secret)) = (&self.settings.client_id, &self.settings.client_secret) else {
            return Err(
                "the grant `client_credentials` needs `oauth.clientId` and `oauth.clientSecret`".to_owned()
            );
        };
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: client_id.clone(),
            client_secret: secret.expose().to_owned(),
            scopes,
            resource: Some(self.url.clone()),
        };
        manager.configure_client_credentials(&config).map_err(|error| told(&error))?;
        manager.exchange_client_credentials(&config).await.map_err(|error| told(&error))?;
        Ok(())
    }

    async fn as_person(
        &self,
        manager: &mut AuthorizationManager,
        metadata: &AuthorizationMetadata,
        scopes: &[String],
        registered: &mut Option<Registered>,
    ) -> Result<(), String> {
        let sign_in = self.sign_in.as_deref().ok_or("nobody is here who could sign in")?;
        let told = |error| told(&error);
        let redirect = sign_in.redirect_uri();
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let known = registered.as_ref().filter(|known| known.issuer == metadata.issuer);
        let config = if let Some(id) = &self.settings.client_id {
            let config = OAuthClientConfig::new(id, &redirect);
            match &self.settings.client_secret {
                Some(secret) => config.with_client_secret(secret.expose()),
                None => config,
            }
        } else if let Some(url) = &self.settings.client_metadata_url
            && metadata.additional_fields.get("client_id_metadata_document_supported")
                == Some(&serde_json::Value::Bool(true))
        {
            OAuthClientConfig::new(url, &redirect)
        } else if let Some(known) = known {
            known.client.clone()
        } else {
            manager.register_client(&self.client_name, &redirect, &scopes).await.map_err(told)?
        };
        self.store.set_client_secret(config.client_secret.clone());
        manager.configure_client(config.clone()).map_err(told)?;
        *registered = Some(Registered { issuer: metadata.issuer.clone(), client: config });
        let url = manager.get_authorization_url(&scopes).await.map_err(told)?;
        openable(&url)?;
        let returned = sign_in.sign_in(&self.server, &url).await?;
        let callback = answer(&returned)?;
        manager
            .exchange_code_for_token_with_issuer(
                &callback.code,
                &callback.csrf_token,
                callback.issuer.as_deref(),
            )
            .await
            .map_err(told)?;
        Ok(())
    }
}

/// Whether a person may be sent there: a browser does more with some addresses than to open them.
fn openable(url: &str) -> Result<(), String> {
    let parsed = Url::parse(url).map_err(|_| "an address to sign in at is none".to_owned())?;
    let is_here = matches!(parsed.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    match parsed.scheme() {
        "https" => Ok(()),
        "http" if is_here => Ok(()),
        scheme => Err(format!("an address to sign in at is one of {scheme:?}, and only `https` is used")),
    }
}

/// What came back with the person.
fn answer(returned: &str) -> Result<AuthorizationCallback, String> {
    let url = Url::parse(returned).map_err(|_| "what came back from signing in is no address".to_owned())?;
    let value =
        |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    if let Some(error) = value("error") {
        let why = value("error_description").map(|why| format!(": {why}")).unwrap_or_default();
        return Err(shortened(&format!("signing in was refused ({error}{why})")));
    }
    AuthorizationCallback::from_redirect_url(returned).map_err(|error| told(&error))
}

/// An error in one line, with what lies behind it.
fn told(error: &AuthError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = inner.source();
    }
    shortened(&text)
}

/// Much of it is what a server says.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_OF_REASON) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_are_opened() {
        for (url, is_fine) in [
            ("https://login.example/authorize?x=1", true),
            ("http://127.0.0.1:8080/authorize", true),
            ("http://localhost/authorize", true),
            ("http://[::1]:1/a", true),
            ("http://login.example/authorize", false),
            ("http://localhost.example/authorize", false),
            ("file:///etc/passwd", false),
            ("javascript:alert(1)", false),
            ("nothing", false),
        ] {
            assert_eq!(openable(url).is_ok(), is_fine, "{url}");
        }
    }

    #[test]
    fn a_refusal_is_told_as_one() {
        let refused =
            answer("http://127.0.0.1:1/callback?error=access_denied&error_description=not%20you%0A&state=s");
        let refused = refused.err();
        assert_eq!(refused.as_deref(), Some("signing in was refused (access_denied: not you\n)"));
        let long = format!("http://127.0.0.1:1/callback?error={}", "x".repeat(5_000));
        assert!(answer(&long).is_err_and(|why| why.chars().count() <= MOST_OF_REASON + 1));
        assert!(answer("http://127.0.0.1:1/callback?code=c&state=s").is_ok());
        assert!(answer("http://127.0.0.1:1/callback?code=c").is_err());
    }
}
