//! A layer that knows one token.

use super::service::{HttpBody, refusal};
use crate::server::Principal;
use data_encoding::BASE64URL_NOPAD;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderValue, Request, Response, StatusCode};
use sha2::{Digest as _, Sha256};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{fmt, io};
use tower_service::Service;

/// Lets requests through that have a token, `Authorization: Bearer …`, as the principal who has it.
#[derive(Clone)]
pub struct Bearer<S> {
    inner: S,
    token: [u8; 32],
}

impl<S> Bearer<S> {
    /// Lets requests with `token` through to `inner`.
    pub fn new(inner: S, token: &str) -> Self {
        Self { inner, token: Sha256::digest(token).into() }
    }

    /// Of digests, so that how long it takes says nothing of the token.
    fn knows<B>(&self, request: &Request<B>) -> bool {
        let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.split_once(' '));
        given.is_some_and(|(scheme, token)| {
            let digest: [u8; 32] = Sha256::digest(token.trim()).into();
            scheme.eq_ignore_ascii_case("bearer") && digest == self.token
        })
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

impl<S, B> Service<Request<B>> for Bearer<S>
where
    S: Service<Request<B>, Response = Response<HttpBody>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(task)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        if !self.knows(&request) {
            let mut refused = refusal(
                StatusCode::UNAUTHORIZED,
                "this needs the header `Authorization: Bearer` with the token of the server".to_owned(),
            );
            refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return Box::pin(std::future::ready(Ok(refused)));
        }
        request.extensions_mut().insert(Principal("bearer".to_owned()));
        Box::pin(self.inner.call(request))
    }
}
