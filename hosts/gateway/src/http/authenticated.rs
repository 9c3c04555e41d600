//! A layer that finds the person of a token.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use toolkit_serve::axum::body::Body;
use toolkit_serve::axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, TRANSFER_ENCODING, WWW_AUTHENTICATE};
use toolkit_serve::axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use toolkit_serve::{Connection, Principal, Problem};
use tower_service::Service;

use super::caller::Caller;
use super::client_address::{ClientAddress, client_address};
use super::rate::Rate;
use crate::{Access, People};

/// Paths that need no token.
const OPEN: [&str; 1] = ["/healthz"];
/// A path that a request without the header may have: the socket takes its token in its first frame, since pages cannot send the header.
const OF_SOCKETS: &str = "/ws";

type Answering = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// Lets requests through that have a token, `Authorization: Bearer …`, which counts at that time. A token elsewhere, such as in a cookie or
/// in the query, opens nothing.
///
/// The extensions of the request get the [`Caller`], the `Principal`, which is the same for all tokens of a person, and the `Revocation`, with
/// which its connection ends.
#[derive(Debug, Clone)]
pub struct Authenticated<S> {
    inner: S,
    people: People,
    rate: Arc<Rate>,
    proxies: Arc<[IpAddr]>,
}

impl<S> Authenticated<S> {
    /// Lets requests with tokens of these people through to `inner`.
    pub(super) fn new(inner: S, people: People, rate: Arc<Rate>, proxies: Arc<[IpAddr]>) -> Self {
        Self { inner, people, rate, proxies }
    }
}

impl<S, B> Service<Request<B>> for Authenticated<S>
where
    S: Service<Request<B>, Response = Response<Body>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static,
    B: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answering;

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(task)
    }

    fn call(&mut self, mut request: Request<B>) -> Answering {
        // The service that was polled until it was ready is the one to call.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let (people, rate) = (self.people.clone(), Arc::clone(&self.rate));
        let peer = request.extensions().get::<Connection>().and_then(Connection::peer);
        if let Some(peer) = peer {
            let client = client_address(peer, request.headers(), &self.proxies);
            request.extensions_mut().insert(client);
        }
        Box::pin(async move {
            let path = request.uri().path();
            if OPEN.contains(&path) || (path == OF_SOCKETS && !request.headers().contains_key(AUTHORIZATION))
            {
                // Before it is read: nobody knows whose it is.
                if has_body(request.headers()) {
                    let text = "a request without a token has no body";
                    return Ok(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, text).into_response());
                }
                return inner.call(request).await;
            }
            let token = bearer(request.headers()).map(str::to_owned);
            let client = request.extensions().get::<ClientAddress>().copied();
            let found = find(&people, token, client).await.and_then(|access| {
                rate.note(access.person.name(), people.store().clock().now()).map(|()| access)
            });
            let access = match found {
                Ok(access) => access,
                Err(problem) => return Ok(problem.into_response()),
            };
            let extensions = request.extensions_mut();
            if let Some(connection) = extensions.get::<Connection>() {
                connection.ends_with(&access.revocation);
            }
            extensions.insert(Principal(format!("person {}", access.person.name())));
            extensions.insert(access.revocation.clone());
            extensions.insert(Caller(access));
            inner.call(request).await
        })
    }
}

/// Returns true if a body follows.
fn has_body(headers: &HeaderMap) -> bool {
    headers.contains_key(TRANSFER_ENCODING)
        || headers.get_all(CONTENT_LENGTH).iter().any(|length| length != "0")
}

/// The token of the one header that may have it.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

async fn find(
    people: &People,
    token: Option<String>,
    client: Option<ClientAddress>,
) -> Result<Access, Problem> {
    let Some(token) = token else {
        let text = "this needs the header `Authorization: Bearer` with a token of this gateway";
        return Err(refusal(StatusCode::UNAUTHORIZED, text));
    };
    if let Some(access) = people.authenticate(&token).await? {
        return Ok(access);
    }
    tracing::debug!(client = ?client.map(|client| client.0), "a request had a wrong token");
    Err(match people.note_wrong_token() {
        None => refusal(
            StatusCode::UNAUTHORIZED,
            "this token does not count: it is unknown, revoked or expired, or its person is blocked; ask the owner for a new one",
        ),
        Some(wait) => {
            let text = "too many requests had a wrong token lately; wait, and send a right one";
            refusal(StatusCode::TOO_MANY_REQUESTS, text).retry_after(wait)
        }
    })
}

fn refusal(status: StatusCode, text: &str) -> Problem {
    Problem::new(status, text).with_header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}
