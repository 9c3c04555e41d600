//! Connection to a server of the version 2024-11-05 over HTTP: an event stream delivers its messages, and names the URL for messages to
//! it.

use super::execution;
use super::failure;
use super::lines::Waiting;
use super::unreadable;
use crate::scan::Scan;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpResponseLimits,
};
use sse_stream::Sse;
use std::collections::HashMap;
use std::sync::Arc;
use url::Url;

type Failure = StreamableHttpError<reqwest::Error>;

/// A transport over an event stream.
pub(super) struct EventStream<C> {
    client: C,
    headers: HashMap<HeaderName, HeaderValue>,
    limits: StreamableHttpResponseLimits,
    endpoint: Arc<str>,
    events: BoxStream<'static, Result<Sse, SseError>>,
    waiting: Waiting,
    has_ended: bool,
}

impl<C> EventStream<C>
where
    C: StreamableHttpClient<Error = reqwest::Error>,
{
    /// Opens the event stream, and waits until it has named the address that takes messages.
    ///
    /// # Errors
    ///
    /// Why there is no such stream, or why its address is not used.
    pub(super) async fn open(
        client: C,
        url: &str,
        headers: HashMap<HeaderName, HeaderValue>,
        limit: usize,
    ) -> Result<Self, Unopened> {
        let mut limits = StreamableHttpResponseLimits::default();
        limits.max_sse_event_size = limit;
        limits.max_json_response_size = limit;
        let stream =
            client.get_stream_with_max_sse_event_size(url.into(), None, None, None, headers.clone(), limit);
        let mut events = stream.await.map_err(Unopened::Refused)?;
        let endpoint = loop {
            match events.next().await {
                Some(Ok(event)) if event.event.as_deref() == Some("endpoint") => {
                    break event.data.unwrap_or_default();
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(Unopened::Refused(Failure::Sse(error))),
                None => {
                    return Err(Unopened::Other("its event stream ends without an `endpoint`".to_owned()));
                }
            }
        };
        let endpoint = resolved(url, endpoint.trim()).map_err(Unopened::Other)?;
        let waiting = Waiting::default();
        Ok(Self { client, headers, limits, endpoint: endpoint.into(), events, waiting, has_ended: false })
    }

    /// Reads an event. Returns the message, if there is one.
    fn read(&mut self, event: Result<Sse, SseError>) -> Option<RxJsonRpcMessage<RoleClient>> {
        let data = match event {
            Ok(event) if matches!(event.event.as_deref(), None | Some("" | "message")) => event.data?,
            Ok(_) => return None,
            Err(error) => {
                self.has_ended = true;
                // Of an event that is too long nothing is known.
                let why = failure::unread_event(&error)?;
                let id = self.waiting.answered(&Scan::default(), false)?;
                return Some(unreadable::error(id, &why));
            }
        };
        let text = data.trim();
        if text.is_empty() {
            return None;
        }
        match unreadable::parse(text.as_bytes()) {
            Ok(mut message) => {
                execution::keep(&mut message, text.as_bytes());
                self.waiting.receives(&mut message);
                Some(message)
            }
            Err(why) => {
                let id = self.waiting.answered(&Scan::of(text.as_bytes()), true)?;
                Some(unreadable::error(id, &why))
            }
        }
    }
}

/// The reason for which no event stream could be opened.
pub(super) enum Unopened {
    Refused(Failure),
    Other(String),
}

/// Resolves the URL for messages. It must have the origin of the stream, so that the headers are sent to no other.
fn resolved(url: &str, endpoint: &str) -> Result<String, String> {
    let unusable =
        |why: &str| format!("the address that its event stream names for messages is not used: {why}");
    let base = Url::parse(url).map_err(|_| unusable("the server's own URL is invalid"))?;
    let endpoint = base.join(endpoint).map_err(|_| unusable("it is not a valid URL"))?;
    if endpoint.origin() != base.origin() {
        return Err(unusable(&format!("it is at {}", endpoint.origin().ascii_serialization())));
    }
    Ok(endpoint.into())
}

impl<C> Transport<RoleClient> for EventStream<C>
where
    C: StreamableHttpClient<Error = reqwest::Error> + Sync,
{
    type Error = Failure;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.waiting.sends(&message);
        let (client, endpoint) = (self.client.clone(), Arc::clone(&self.endpoint));
        let (headers, limits) = (self.headers.clone(), self.limits);
        async move {
            match client
                .post_message_with_response_limits(endpoint, message, None, None, headers, limits)
                .await
            {
                // Answers come through the stream, whatever the body contains.
                Ok(_) => Ok(()),
                Err(error) if failure::unread(&error).is_some() => Ok(()),
                Err(error) => Err(error),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        while !self.has_ended {
            let Some(event) = self.events.next().await else { break };
            if let Some(message) = self.read(event) {
                return Some(message);
            }
        }
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.has_ended = true;
        self.events = futures_util::stream::empty().boxed();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_where_the_stream_is() {
        let url = "https://api.example/v1/sse?key=k";
        for (endpoint, expected) in [
            ("/messages/?session_id=1", Ok("https://api.example/messages/?session_id=1")),
            ("messages", Ok("https://api.example/v1/messages")),
            ("https://api.example:443/m", Ok("https://api.example/m")),
            ("https://evil.example/m", Err("it is at https://evil.example")),
            ("//evil.example/m", Err("it is at https://evil.example")),
            ("http://api.example/m", Err("it is at http://api.example")),
            ("https://[", Err("it is not a valid URL")),
        ] {
            match (resolved(url, endpoint), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(why), Err(expected)) => assert!(why.contains(expected), "{why}"),
                (found, _) => panic!("{endpoint}: {found:?}"),
            }
        }
    }
}
