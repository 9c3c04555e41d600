//! What sends requests, and signs in where one is refused for want of it.

use super::authorize::Authority;
use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::AuthClient;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use sse_stream::Sse;
use std::collections::HashMap;
use std::sync::Arc;

type Failure = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Sends requests with the token that is kept.
#[derive(Clone, Debug)]
pub(in crate::client) struct SignedIn {
    client: AuthClient<reqwest::Client>,
    authority: Arc<Authority>,
}

impl SignedIn {
    pub(in crate::client) fn new(client: AuthClient<reqwest::Client>, authority: Authority) -> Self {
        Self { client, authority: Arc::new(authority) }
    }

    /// Sends a request, and once more for each time that signing in changed something.
    async fn send<T, F>(&self, request: impl Fn(AuthClient<reqwest::Client>) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        loop {
            let round = self.authority.round();
            let error = match request(self.client.clone()).await {
                Err(error) => error,
                Ok(answer) => {
                    self.authority.succeeded();
                    return Ok(answer);
                }
            };
            let Some(challenge) = Challenge::of(&error) else { return Err(error) };
            if !self.authority.may_sign_in() {
                return Err(error);
            }
            // It comes to an end: after few rounds in vain there is no further one.
            self.authority
                .sign_in(&self.client, &challenge, round)
                .await
                .map_err(|why| Failure::Auth(AuthError::AuthorizationFailed(why)))?;
        }
    }
}

/// Why a server refuses a request.
pub(super) struct Challenge {
    pub(super) header: String,
    /// What is lacking, where the token is good and does not suffice.
    pub(super) wants: Option<String>,
    /// Who decides no longer knows this program.
    pub(super) is_forgotten: bool,
}

impl Challenge {
    fn of(error: &Failure) -> Option<Self> {
        match error {
            StreamableHttpError::AuthRequired(error) => {
                Some(Self { header: error.www_authenticate_header.clone(), wants: None, is_forgotten: false })
            }
            StreamableHttpError::InsufficientScope(error) => Some(Self {
                header: error.www_authenticate_header.clone(),
                wants: Some(error.required_scope.clone().unwrap_or_default()),
                is_forgotten: false,
            }),
            // Servers that keep in memory whom they know forget all with each start.
            StreamableHttpError::Auth(AuthError::TokenRefreshFailed(why))
                if why.contains("invalid_client") || why.contains("unauthorized_client") =>
            {
                Some(Self { header: String::new(), wants: None, is_forgotten: true })
            }
            _ => None,
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
        token: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.send(|client| {
            let (uri, message, session) = (Arc::clone(&uri), message.clone(), session.clone());
            let (token, headers) = (token.clone(), headers.clone());
            async move {
                client.post_message_with_response_limits(uri, message, session, token, headers, limits).await
            }
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        // Nobody signs in to say goodbye.
        self.client.delete_session(uri, session, token, headers).await
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
        token: Option<String>,
        headers: Headers,
        max_sse_event_size: usize,
    ) -> Result<Events, Failure> {
        self.send(|client| {
            let (uri, session, last_event) = (Arc::clone(&uri), session.clone(), last_event.clone());
            let (token, headers) = (token.clone(), headers.clone());
            async move {
                client
                    .get_stream_with_max_sse_event_size(
                        uri,
                        session,
                        last_event,
                        token,
                        headers,
                        max_sse_event_size,
                    )
                    .await
            }
        })
        .await
    }
}
