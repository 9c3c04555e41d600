//! The HTTP client that sends requests, and signs in if a request lacks authentication.

use super::authority::{Authority, MAX_IN_VAIN, Token};
use super::challenge::Challenge;
use crate::client::post::Http;
use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use sse_stream::Sse;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

type Failure = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Maximum number of times that one request is sent while concurrent requests sign in.
const MAX_TRIES: u32 = 16;

/// Sends requests with the stored token.
#[derive(Clone, Debug)]
pub(in crate::client) struct SignedIn {
    http: Http,
    authority: Arc<Authority>,
    /// Cancelled when no caller waits for the answers any more.
    ended: CancellationToken,
}

impl SignedIn {
    pub(in crate::client) fn new(http: Http, authority: Arc<Authority>, ended: CancellationToken) -> Self {
        Self { http, authority, ended }
    }

    /// Sends a request, and sends it again after each sign-in that changed the token; until no caller waits for it.
    async fn send<T, F>(&self, request: impl Fn(Option<String>) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        tokio::select! {
            sent = self.sent(request) => sent,
            () = self.ended.cancelled() => Err(Failure::TransportChannelClosed),
        }
    }

    async fn sent<T, F>(&self, request: impl Fn(Option<String>) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let mut signed_in = 0;
        for _ in 0..MAX_TRIES {
            let round = self.authority.round();
            let mut seen = None;
            let error = match self.once(&request, &mut seen).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let Some(challenge) = Challenge::of(&error) else { return Err(error) };
            if !self.authority.may_sign_in() {
                return Err(error);
            }
            if signed_in == MAX_IN_VAIN {
                break;
            }
            // Other requests may wait for the sign-in, so that it goes on if this one is cancelled.
            let (authority, ended) = (Arc::clone(&self.authority), self.ended.clone());
            let signing_in = tokio::spawn(async move {
                tokio::select! {
                    signed_in = authority.signed_in(&challenge, seen.as_deref(), round) => signed_in,
                    () = ended.cancelled() => Err("the connection ended".to_owned()),
                }
            });
            let failed = |why| Failure::Auth(AuthError::AuthorizationFailed(why));
            signed_in += u32::from(signing_in.await?.map_err(failed)?);
        }
        Err(Failure::Auth(self.authority.in_vain().await))
    }

    /// Sends a request with the stored token, and, if that is refused, with its successor. `seen` is set to the stored token.
    async fn once<T, F>(
        &self,
        request: &impl Fn(Option<String>) -> F,
        seen: &mut Option<String>,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let Token { usable: token, kept } = self.authority.token(None).await?;
        *seen = kept;
        match request(token.clone()).await {
            Err(StreamableHttpError::AuthRequired(challenge)) if token.is_some() => {
                let Token { usable: successor, kept } = self.authority.token(token).await?;
                *seen = kept;
                if successor.is_none() {
                    return Err(StreamableHttpError::AuthRequired(challenge));
                }
                request(successor).await
            }
            answer => answer,
        }
    }
}

impl StreamableHttpClient for SignedIn {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, token, headers, limits).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        max_sse_event_size: usize,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let mut limits = StreamableHttpResponseLimits::default();
        limits.max_sse_event_size = max_sse_event_size;
        self.post_message_with_response_limits(uri, message, session, token, headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.send(|token| {
            let (uri, message, session) = (Arc::clone(&uri), message.clone(), session.clone());
            self.http.post_message_with_response_limits(uri, message, session, token, headers.clone(), limits)
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        // Ending a session neither signs in nor waits for a new token.
        let token = self.authority.kept().await;
        self.http.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failure> {
        let most = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, most).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: Headers,
        max_sse_event_size: usize,
    ) -> Result<Events, Failure> {
        self.send(|token| {
            let (uri, session, last_event) = (Arc::clone(&uri), session.clone(), last_event.clone());
            self.http.get_stream_with_max_sse_event_size(
                uri,
                session,
                last_event,
                token,
                headers.clone(),
                max_sse_event_size,
            )
        })
        .await
    }
}
