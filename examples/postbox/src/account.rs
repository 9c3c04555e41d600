//! The account as a channel.

use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;
use toolkit_channel::{
    Action, Batch, Capabilities, Channel, Future, Identity, Limits, Media, Outgoing, Receipt, ReceiveError,
    SendError,
};

use crate::events::{Events, event};
use crate::requests::{Failure, Server};

/// The longest text and caption, in characters.
const MAX_TEXT: usize = 500;
/// The most bytes of a file.
const MAX_FILE: u64 = 1 << 20;

/// An account.
pub(crate) struct Account {
    server: Server,
    wait: Duration,
}

/// The answer to a request that makes something.
#[derive(Deserialize)]
struct Made {
    id: String,
}

/// The account, as the server describes it.
#[derive(Deserialize)]
struct Described {
    id: String,
    name: String,
}

impl Account {
    pub(crate) fn new(server: Server, wait: Duration) -> Self {
        Self { server, wait }
    }

    async fn post(
        &self,
        outgoing: &Outgoing,
        text: &str,
        file: Option<String>,
    ) -> Result<Receipt, SendError> {
        let body = json!({
            "room": outgoing.conversation.peer, "text": text, "file": file, "key": outgoing.key,
        });
        let request = self.server.request(Method::POST, &["messages"], &[]);
        let request = request.header("content-type", "application/json").body(body.to_string());
        let Made { id } = self.server.call(request, Duration::ZERO).await?;
        Ok(Receipt { message_id: Some(id) })
    }

    /// Stores a file at the server. Nobody sees it before a message names it, so it can be stored again after any failure.
    async fn upload(&self, name: &str, bytes: Bytes) -> Result<String, SendError> {
        let request = self.server.request(Method::POST, &["files"], &[("name", name.to_owned())]);
        let made: Result<Made, Failure> = self.server.call(request.body(bytes), Duration::ZERO).await;
        match made.map_err(SendError::from) {
            Ok(Made { id }) => Ok(id),
            Err(SendError::Unknown { reason }) => Err(SendError::not_sent(reason)),
            Err(error) => Err(error),
        }
    }
}

impl Channel for Account {
    fn capabilities(&self) -> Capabilities {
        let mut can = Capabilities::default();
        can.media = true;
        can.idempotency_keys = true;
        can
    }

    fn limits(&self) -> Limits {
        let mut limits = Limits::new(MAX_TEXT, MAX_TEXT);
        limits.media_out = MAX_FILE;
        limits.media_in = MAX_FILE;
        limits
    }

    fn identify(&self) -> Future<'_, Result<Identity, ReceiveError>> {
        Box::pin(async {
            let request = self.server.request(Method::GET, &["me"], &[]);
            let Described { id, name } = self.server.call(request, Duration::ZERO).await?;
            Ok(Identity { id, name })
        })
    }

    fn receive<'a>(&'a self, offset: Option<&'a str>) -> Future<'a, Result<Batch, ReceiveError>> {
        Box::pin(async move {
            let after = offset.unwrap_or("0").to_owned();
            let query = [("after", after), ("wait", self.wait.as_secs().to_string())];
            let request = self.server.request(Method::GET, &["events"], &query);
            let Events { events } = self.server.call(request, self.wait).await?;
            Ok(Batch { events: events.into_iter().map(event).collect() })
        })
    }

    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Future<'a, Result<Receipt, SendError>> {
        Box::pin(async move {
            self.check(outgoing)?;
            match &outgoing.action {
                Action::Text { plain, .. } => self.post(outgoing, plain, None).await,
                Action::Media(media) => {
                    let file = self.upload(&media.name, media.bytes.clone()).await?;
                    self.post(outgoing, &media.caption, Some(file)).await
                }
                _ => Err(SendError::refused("Postbox cannot do this")),
            }
        })
    }

    fn fetch<'a>(&'a self, media: &'a Media, max: u64) -> Future<'a, Result<Bytes, ReceiveError>> {
        Box::pin(async move {
            let lost = |error| {
                let reason = toolkit_http::reason(error);
                ReceiveError::new(format!("the file cannot be fetched from Postbox: {reason}"))
            };
            let request = self.server.request(Method::GET, &["files", &media.reference], &[]);
            let response = request.send().await.map_err(lost)?;
            let status = response.status();
            if !status.is_success() {
                return Err(ReceiveError::new(format!("Postbox does not give the file ({status})")));
            }
            let max = usize::try_from(max).unwrap_or(usize::MAX);
            let bytes = toolkit_http::read(response, max).await.map_err(lost)?;
            let bytes =
                bytes.ok_or_else(|| ReceiveError::new(format!("the file has more than {max} bytes")))?;
            Ok(bytes.into())
        })
    }
}
