//! A layer that knows the tokens of clients.

use crate::body::AnswerBody;
use crate::connection::Connection;
use crate::layer::{Answering, Inner, answered, layer};
use crate::principal::Principal;
use crate::problem::Problem;
use crate::revoked::Watched;
use crate::shared_token::SharedToken;
use crate::tokens::{ClientTokens, Known};
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderValue, Request, StatusCode};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Lets requests through that have a token, `Authorization: Bearer …`.
///
/// Clients may share the token given to [`new`](Self::new), so their requests have no [`Principal`]. A request with one of the
/// [tokens of clients](Self::clients) has the token's principal, and a [`Revocation`](crate::Revocation): when the token is removed from the
/// file, its connections end within about a second, and what waits for the revocation ends. A layer made by
/// [`of_clients`](Self::of_clients) knows no shared token, so that each request that it lets through has a principal.
#[derive(Clone)]
pub struct Bearer<S> {
    inner: S,
    /// The digest of the shared token, if there is one that counts always.
    token: Option<[u8; 32]>,
    /// The shared token of a file, if there is one.
    file: Option<Arc<Watched>>,
    clients: Option<Arc<Watched>>,
}

/// The sender of a request, by its token.
enum Sender {
    /// A sender with the shared token.
    Shared,
    /// A sender with the shared token of a file.
    OfFile(Known),
    Client(Known),
}

impl<S> Bearer<S> {
    /// Lets requests with `token` through to `inner`.
    pub fn new(inner: S, token: &str) -> Self {
        Self { inner, token: Some(Sha256::digest(token).into()), file: None, clients: None }
    }

    /// Lets requests with the tokens of clients through to `inner`, and no others: no token is shared.
    pub fn of_clients(inner: S, tokens: ClientTokens) -> Self {
        Self { inner, token: None, file: None, clients: Some(Watched::new(tokens)) }
    }

    /// Lets requests with the token in a file through to `inner`: with the text that the file holds at the time of the request, without white
    /// space around it, of at least 16 bytes. Once the file is removed or holds another token, requests are refused, and connections that
    /// used the earlier one end within about a second. Requests with it have a [`Revocation`](crate::Revocation) and no principal.
    pub fn of_file(inner: S, path: impl Into<PathBuf>) -> Self {
        let file = Watched::shared(SharedToken::new(path.into()));
        Self { inner, token: None, file: Some(file), clients: None }
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
        if Some(digest) == self.token {
            return Some(Sender::Shared);
        }
        if let Some(known) = self.file.as_ref().and_then(|file| file.find(token)) {
            return Some(Sender::OfFile(known));
        }
        Some(Sender::Client(self.clients.as_ref()?.find(token)?))
    }

    fn answer<B, A: AnswerBody>(&mut self, mut request: Request<B>) -> Answering<A>
    where
        S: Inner<B, A>,
    {
        let Some(sender) = self.sender(&request) else {
            let text = "this needs the header `Authorization: Bearer` with a token of this server";
            let problem = Problem::new(StatusCode::UNAUTHORIZED, text);
            let refused = problem.with_header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answered(refused.into_response());
        };
        if let (Sender::OfFile(known), Some(file)) = (&sender, &self.file) {
            let revocation = file.revocation(known);
            let extensions = request.extensions_mut();
            if let Some(connection) = extensions.get::<Connection>() {
                connection.ends_with(&revocation);
            }
            extensions.insert(revocation);
        }
        if let (Sender::Client(known), Some(clients)) = (sender, &self.clients) {
            let revocation = clients.revocation(&known);
            let extensions = request.extensions_mut();
            if let Some(connection) = extensions.get::<Connection>() {
                connection.ends_with(&revocation);
            }
            extensions.insert(Principal(format!("client {}", known.principal)));
            extensions.insert(revocation);
        }
        Box::pin(self.inner.call(request))
    }
}

impl<S> fmt::Debug for Bearer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bearer").finish_non_exhaustive()
    }
}

layer!(Bearer);
