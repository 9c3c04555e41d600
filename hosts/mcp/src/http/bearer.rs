//! A layer that knows the tokens of clients.

use super::layer::{Answering, Inner, answered};
use super::revoked::Watched;
use super::service::refusal;
use super::tokens::{ClientTokens, Known};
use crate::server::Principal;
use data_encoding::BASE64URL_NOPAD;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderValue, Request, StatusCode};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use std::{fmt, io};

/// Lets requests through that have a token, `Authorization: Bearer …`.
///
/// Clients may share the token given to [`new`](Self::new), so their requests have no [`Principal`]: each session of the protocol, or each
/// [`Connection`](crate::Connection), has separate background jobs and approvals, which end with it. A request with one of the
/// [tokens of clients](Self::clients) has the token's principal, and a [`Revocation`](crate::Revocation): when the token is removed from the
/// file, its connections and sessions end within about a second, and with the last token of the principal its jobs and approvals.
#[derive(Clone)]
pub struct Bearer<S> {
    pub(super) inner: S,
    token: [u8; 32],
    clients: Option<Arc<Watched>>,
}

/// The sender of a request, by its token.
enum Sender {
    /// A sender with the shared token.
    Shared,
    Client(Known),
}

impl<S> Bearer<S> {
    /// Lets requests with `token` through to `inner`.
    pub fn new(inner: S, token: &str) -> Self {
        Self { inner, token: Sha256::digest(token).into(), clients: None }
    }

    /// Lets requests with these tokens through too.
    #[must_use]
    pub fn clients(self, tokens: ClientTokens) -> Self {
        Self { clients: Some(Watched::new(tokens)), ..self }
    }

    /// Returns the sender of a request, or `None` without a known token. Digests are compared, so that the time it takes discloses nothing
    /// about the token.
    fn sender<B>(&self, request: &Request<B>) -> Option<Sender> {
        let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok())?;
        let (scheme, token) = given.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let token = token.trim();
        let digest: [u8; 32] = Sha256::digest(token).into();
        if digest == self.token {
            return Some(Sender::Shared);
        }
        Some(Sender::Client(self.clients.as_ref()?.tokens.find(token)?))
    }

    pub(super) fn answer<B>(&mut self, mut request: Request<B>) -> Answering
    where
        S: Inner<B>,
    {
        let Some(sender) = self.sender(&request) else {
            let mut refused = refusal(
                StatusCode::UNAUTHORIZED,
                "this needs the header `Authorization: Bearer` with the token of the server".to_owned(),
            );
            refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answered(refused);
        };
        if let (Sender::Client(known), Some(clients)) = (sender, &self.clients) {
            let revocation = clients.revocation(&known);
            let extensions = request.extensions_mut();
            extensions.insert(Principal(format!("client {}", known.principal)));
            extensions.insert(revocation);
        }
        Box::pin(self.inner.call(request))
    }
}

/// A new token, of 256 random bits.
///
/// # Errors
///
/// When the system has no randomness.
pub fn new_token() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(BASE64URL_NOPAD.encode(&bytes))
}

impl<S> fmt::Debug for Bearer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bearer").finish_non_exhaustive()
    }
}
