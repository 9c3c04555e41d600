//! HTTP client that limits answers: an answer that cannot be read becomes an error of its request, and the session goes
//! on.

use super::execution;
use super::failure;
use super::forgotten::Refusals;
use super::surrogates;
use super::unreadable;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use http::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage};
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

/// An HTTP client that converts unreadable answers to errors, and refusals of a session to the error that begins a new one.
#[derive(Clone, Debug)]
pub(super) struct Limited<C> {
    client: C,
    refusals: Arc<Refusals>,
}

impl<C> Limited<C> {
    pub(super) fn new(client: C) -> Self {
        Self { client, refusals: Arc::default() }
    }
}

impl<C> StreamableHttpClient for Limited<C>
where
    C: StreamableHttpClient<Error = reqwest::Error> + Sync,
{
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

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let id = waiting(&message);
        let (has_session, begins) = (session.is_some(), is_initialize(&message));
        let answer = self
            .client
            .post_message_with_response_limits(uri, message, session, token, headers, limits)
            .await;
        let answer = if has_session { self.refusals.of_session(answer, id.as_ref()) } else { answer };
        let answer = if begins { self.refusals.of_beginning(answer) } else { answer };
        let Some(id) = id else { return answer };
        match answer {
            Ok(StreamableHttpPostResponse::Sse(events, session)) => {
                Ok(StreamableHttpPostResponse::Sse(readable(events, id), session))
            }
            Ok(StreamableHttpPostResponse::Json(message, session)) => {
                Ok(StreamableHttpPostResponse::Json(answering(message, id), session))
            }
            Err(error) => match failure::unread(&error) {
                Some(why) => Ok(StreamableHttpPostResponse::Json(unreadable::error(id, &why), None)),
                None => Err(error),
            },
            answer => answer,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
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
        self.client.get_stream(uri, session, last_event, token, headers).await
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
        let most = max_sse_event_size;
        self.client.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, most).await
    }
}

/// The request that waits for an answer. One that opens a connection fails with the connection.
fn waiting(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    let ClientJsonRpcMessage::Request(request) = message else { return None };
    let is_first =
        matches!(request.request, ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_));
    (!is_first).then(|| request.id.clone())
}

fn is_initialize(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(request) = message else { return false };
    matches!(request.request, ClientRequest::InitializeRequest(_))
}

/// Returns the answer to a request, if it is the only message.
fn answering(message: ServerJsonRpcMessage, id: RequestId) -> ServerJsonRpcMessage {
    match message {
        // A server that cannot parse the request does not know its id.
        ServerJsonRpcMessage::Error(mut error) if error.id.is_none() => {
            error.id = Some(id);
            ServerJsonRpcMessage::Error(error)
        }
        ServerJsonRpcMessage::Response(response) if response.id.to_string() != id.to_string() => {
            unreadable::error(id, "is one to another request")
        }
        message => message,
    }
}

/// The events of an answer, with an error in the place of each that cannot be read.
fn readable(events: Events, id: RequestId) -> Events {
    let readable = stream::unfold(Some((events, id)), async |state| {
        let (mut events, id) = state?;
        match events.next().await? {
            Ok(mut event) => {
                let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
                if let (true, Some(data)) = (is_message, event.data.as_deref())
                    && !data.trim().is_empty()
                {
                    match unreadable::parse(data.as_bytes()) {
                        Ok(ServerJsonRpcMessage::Error(error)) if error.id.is_none() => {
                            let error = answering(ServerJsonRpcMessage::Error(error), id.clone());
                            event.data = serde_json::to_string(&error).ok();
                        }
                        // rmcp parses it again.
                        Ok(mut message) => {
                            let is_kept = execution::keep(&mut message, data.as_bytes());
                            if is_kept || surrogates::replaced(data.as_bytes()).is_some() {
                                event.data = serde_json::to_string(&message).ok();
                            }
                        }
                        Err(why) => event.data = told(id.clone(), &why),
                    }
                }
                Some((Ok(event), Some((events, id))))
            }
            Err(error) => Some(match failure::unread_event(&error) {
                Some(why) => (Ok(Sse { data: told(id, &why), ..Sse::default() }), None),
                // It may be taken up again.
                None => (Err(error), Some((events, id))),
            }),
        }
    });
    readable.boxed()
}

fn told(id: RequestId, why: &str) -> Option<String> {
    serde_json::to_string(&unreadable::error(id, why)).ok()
}
