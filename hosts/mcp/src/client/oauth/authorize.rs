//! The OAuth authorization flow, from a refused request to a token.

use super::authority::{Asked, Authority, Registered};
use super::challenge::Challenge;
use super::resource::resource;
use crate::client::failure;
use crate::settings::McpGrant;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata,
    AuthorizationMetadataResolution, ClientCredentialsConfig, CredentialStore as _, OAuthClientConfig,
};
use std::time::Duration;
use tokio::time::timeout;
use toolkit::text::escape_line;

/// Time limit for the user to sign in.
const PATIENCE: Duration = Duration::from_mins(10);
/// Maximum number of characters of a server's error description.
const MAX_OF_REASON: usize = 500;

impl Authority {
    pub(super) fn may_sign_in(&self) -> bool {
        self.sign_in.is_some() || self.settings.grant == McpGrant::ClientCredentials
    }

    /// Discovers the authorization server, and gets a token there, with the data needed to refresh it.
    pub(super) async fn authorized(
        &self,
        challenge: &Challenge,
        asked: &mut Asked,
    ) -> Result<(String, AuthorizationMetadata, AuthorizationManager), String> {
        let told = |error| told(&error);
        let mut manager = self.manager().await.map_err(told)?;
        let header = Some(challenge.header.as_str()).filter(|header| !header.is_empty());
        let found = manager.resolve_metadata_from_challenge(header).await.map_err(told)?;
        let kept = self.store.kept().await.map_err(told)?;
        self.trusted(&found, kept.as_ref().map(|kept| kept.token_endpoint.as_str()))?;
        same(&found.metadata).await?;
        if challenge.is_forgotten {
            asked.registered = None;
        }
        let metadata = found.metadata;
        manager.set_metadata(metadata.clone());
        let mut scopes = self.settings.scopes.clone();
        if scopes.is_empty() {
            scopes = manager.select_initial_scopes(&[]).await;
        }
        let mut more = self.more.clone();
        if let Some(wants) = &challenge.wants {
            // Scopes that were granted before are requested again, even if the server names only the new ones.
            let granted = kept.map(|kept| kept.credentials.granted_scopes).unwrap_or_default();
            let mut wanted = wants.split_whitespace().peekable();
            if wanted.peek().is_some() && wanted.all(|wanted| granted.iter().any(|scope| scope == wanted)) {
                return Err(shortened(&format!("it requires scopes that it already granted: {wants}")));
            }
            more.extend(granted);
            more.extend(wants.split_whitespace().map(str::to_owned));
        }
        for scope in more {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        let client_id = match self.settings.grant {
            McpGrant::ClientCredentials => self.as_program(&mut manager, &metadata, scopes).await?,
            _ => self.as_person(&mut manager, &metadata, &scopes, asked).await?,
        };
        Ok((client_id, metadata, manager))
    }

    /// Checks that secrets may be sent to the endpoints. `before` is the token endpoint that issued the stored tokens.
    fn trusted(&self, found: &AuthorizationMetadataResolution, before: Option<&str>) -> Result<(), String> {
        let metadata = &found.metadata;
        for endpoint in std::iter::once(&metadata.token_endpoint).chain(&metadata.registration_endpoint) {
            openable(endpoint)?;
        }
        if !self.is_configured(metadata.issuer.as_deref()) {
            let named = self.settings.issuer.as_deref().unwrap_or_default();
            return Err(match &metadata.issuer {
                Some(issuer) => shortened(&format!(
                    "`oauth.issuer` is {named:?}, but the server names the issuer {issuer:?}"
                )),
                None => format!("`oauth.issuer` is {named:?}, but the server names no issuer"),
            });
        }
        if self.settings.client_secret.is_none() || self.settings.issuer.is_some() {
            return Ok(());
        }
        let now = &metadata.token_endpoint;
        match before {
            Some(before) if before != now => Err(shortened(&format!(
                "its token endpoint is now {now:?}, and was {before:?}, so `oauth.clientSecret` is not sent there; if that is \
                 right, name the authorization server in `oauth.issuer`, or remove the old tokens with `toolkit mcp logout {}`",
                escape_line(&self.server)
            ))),
            None if !found.source.is_discovered() => Err(
                "the server does not name its authorization server, so `oauth.clientSecret` is not sent; name it in `oauth.issuer`"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }

    async fn as_program(
        &self,
        manager: &mut AuthorizationManager,
        metadata: &AuthorizationMetadata,
        scopes: Vec<String>,
    ) -> Result<String, String> {
        let (Some(client_id), Some(secret)) = (&self.settings.client_id, &self.settings.client_secret) else {
            return Err(
                "the grant `client_credentials` needs `oauth.clientId` and `oauth.clientSecret`".to_owned()
            );
        };
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: client_id.clone(),
            client_secret: secret.expose().to_owned(),
            scopes,
            resource: Some(resource(&self.url)),
        };
        let told = |error| told(&error);
        manager.configure_client_credentials(&config).map_err(told)?;
        manager.set_credential_store(self.store.bound(&metadata.token_endpoint, None));
        let _guard = self.store.acquire_refresh_guard().await.map_err(told)?;
        manager.exchange_client_credentials(&config).await.map_err(told)?;
        Ok(client_id.clone())
    }

    async fn as_person(
        &self,
        manager: &mut AuthorizationManager,
        metadata: &AuthorizationMetadata,
        scopes: &[String],
        asked: &mut Asked,
    ) -> Result<String, String> {
        let sign_in = self.sign_in.as_deref().ok_or("no person is available to sign in")?;
        let told = |error| told(&error);
        let redirect = sign_in.redirect_uri();
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let known = asked.registered.as_ref().filter(|known| known.issuer == metadata.issuer);
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
        let client_id = config.client_id.clone();
        // A configured secret is not stored a second time.
        let secret = config.client_secret.as_deref().filter(|_| self.settings.client_id.is_none());
        manager.set_credential_store(self.store.bound(&metadata.token_endpoint, secret));
        manager.configure_client(config.clone()).map_err(told)?;
        asked.registered = Some(Registered { issuer: metadata.issuer.clone(), client: config });
        let url = manager.get_authorization_url(&scopes).await.map_err(told)?;
        openable(&url)?;
        asked.begin();
        let returned = timeout(PATIENCE, sign_in.sign_in(&self.server, &url))
            .await
            .map_err(|_| format!("no sign-in within {} minutes", PATIENCE.as_secs() / 60))??;
        let callback = answer(&returned)?;
        // A concurrent refresh of the old token would overwrite this one.
        let _guard = self.store.acquire_refresh_guard().await.map_err(told)?;
        manager
            .exchange_code_for_token_with_issuer(
                &callback.code,
                &callback.csrf_token,
                callback.issuer.as_deref(),
            )
            .await
            .map_err(told)?;
        Ok(client_id)
    }
}

/// Checks that the authorization server publishes, at its own address, the endpoints that the MCP server named: the MCP server may have
/// named metadata of its own that claims the issuer of another.
async fn same(metadata: &AuthorizationMetadata) -> Result<(), String> {
    // Without an issuer, the server itself is the authorization server.
    let Some(issuer) = &metadata.issuer else { return Ok(()) };
    openable(issuer)?;
    let manager = AuthorizationManager::new(issuer.as_str()).await.map_err(|error| told(&error))?;
    let own = manager.resolve_metadata().await.map_err(|error| told(&error))?.metadata;
    if own.token_endpoint == metadata.token_endpoint
        && own.authorization_endpoint == metadata.authorization_endpoint
        && own.registration_endpoint == metadata.registration_endpoint
    {
        return Ok(());
    }
    Err(shortened(&format!("the issuer {issuer:?} names other sign-in endpoints than the server does")))
}

/// Checks that a URL may be opened in a browser, since browsers do more with some schemes than to open a page.
fn openable(url: &str) -> Result<(), String> {
    let parsed = Url::parse(url).map_err(|_| "a sign-in URL is invalid".to_owned())?;
    let is_here = matches!(parsed.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    match parsed.scheme() {
        "https" => Ok(()),
        "http" if is_here => Ok(()),
        scheme => Err(format!("a sign-in URL has the scheme {scheme:?}; only `https` is allowed")),
    }
}

/// Parses the URL that the browser was redirected to.
fn answer(returned: &str) -> Result<AuthorizationCallback, String> {
    let url = Url::parse(returned).map_err(|_| "the sign-in returned an invalid URL".to_owned())?;
    let value =
        |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    if let Some(error) = value("error") {
        let why = value("error_description").map(|why| format!(": {why}")).unwrap_or_default();
        return Err(shortened(&format!("the sign-in was refused ({error}{why})")));
    }
    AuthorizationCallback::from_redirect_url(returned).map_err(|error| told(&error))
}

/// Formats an error on one line, with its cause.
fn told(error: &AuthError) -> String {
    let text = match (error, std::error::Error::source(error)) {
        (AuthError::HttpError(error), _) => failure::of_cause(error),
        (_, Some(source)) => {
            let (text, cause) = (error.to_string(), failure::of_cause(source));
            if text.contains(&cause) { text } else { format!("{text}: {cause}") }
        }
        (_, None) => error.to_string(),
    };
    shortened(&text)
}

/// Truncates a message, much of which comes from the server.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_OF_REASON) {
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
        assert_eq!(refused.as_deref(), Some("the sign-in was refused (access_denied: not you\n)"));
        let long = format!("http://127.0.0.1:1/callback?error={}", "x".repeat(5_000));
        assert!(answer(&long).is_err_and(|why| why.chars().count() <= MAX_OF_REASON + 1));
        assert!(answer("http://127.0.0.1:1/callback?code=c&state=s").is_ok());
        assert!(answer("http://127.0.0.1:1/callback?code=c").is_err());
    }
}
