//! HTTP over one connection that is kept, the same for all contenders.

use std::time::Duration;

use bytes::Bytes;
use gateway::Result;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// Attempts to connect: a server in another language takes a moment from its address to its first connection.
const MAX_ATTEMPTS: usize = 200;
/// Time between two of them.
const PAUSE: Duration = Duration::from_millis(50);
/// Time for a whole answer: a stream that a server does not end is an error.
const MAX_WAIT: Duration = Duration::from_mins(1);

pub(crate) struct Client {
    sender: SendRequest<Full<Bytes>>,
    address: String,
    authorization: String,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The header `Mcp-Session-Id`.
    pub(crate) session: Option<String>,
    pub(crate) is_events: bool,
    pub(crate) body: Bytes,
}

impl Client {
    /// Opens a connection to an address, `host:port`.
    pub(crate) async fn open(address: &str, token: &str) -> Result<Self> {
        let mut attempts = 1;
        let stream = loop {
            match TcpStream::connect(address).await {
                Ok(stream) => break stream,
                Err(error) if attempts == MAX_ATTEMPTS => return Err(format!("{address}: {error}").into()),
                Err(_) => {
                    attempts += 1;
                    tokio::time::sleep(PAUSE).await;
                }
            }
        };
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, address: address.to_owned(), authorization: format!("Bearer {token}") })
    }

    /// Returns true if the server has closed the connection.
    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Sends JSON, and reads the answer to its end.
    pub(crate) async fn post(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Result<Answer> {
        let mut request = Request::post(path)
            .header(HOST, &self.address)
            .header(AUTHORIZATION, &self.authorization)
            .header(CONTENT_TYPE, "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into())?;
        let exchange = async {
            self.sender.ready().await?;
            let (head, body) = self.sender.send_request(request).await?.into_parts();
            Ok::<_, hyper::Error>((head, body.collect().await?.to_bytes()))
        };
        let answered = tokio::time::timeout(MAX_WAIT, exchange).await;
        let (head, body) = answered.map_err(|_| format!("{path}: no whole answer within {MAX_WAIT:?}"))??;
        let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        let session = header("mcp-session-id").map(str::to_owned);
        let is_events = header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        Ok(Answer { status: head.status.as_u16(), session, is_events, body })
    }
}

impl Answer {
    /// Returns the JSON of the body.
    pub(crate) fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body).map_err(|error| self.wrong(&error.to_string()))
    }

    /// Returns the response of MCP to a request: the whole body, or the data of an event of it.
    pub(crate) fn response(&self, id: u64) -> Result<Value> {
        let has_id = |message: &Value| message["id"] == id;
        let found = if self.is_events {
            let lines = self.body.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
            // An event without data comes first from some servers.
            let mut messages = lines.filter_map(|data| serde_json::from_slice(data).ok());
            messages.find(has_id)
        } else {
            Some(self.json()?).filter(has_id)
        };
        found.ok_or_else(|| self.wrong("it has no response to the request"))
    }

    /// Returns the error of an answer that is not as it should be.
    pub(crate) fn wrong(&self, reason: &str) -> Box<dyn std::error::Error + Send + Sync> {
        format!("{reason}: {} {}", self.status, String::from_utf8_lossy(&self.body)).into()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn answer(is_events: bool, body: &'static str) -> Answer {
        Answer { status: 200, session: None, is_events, body: Bytes::from_static(body.as_bytes()) }
    }

    #[test]
    fn a_response_is_read_from_json_and_from_events() {
        let json = answer(false, r#"{"jsonrpc":"2.0","id":4,"result":{"a":1}}"#);
        let events = answer(
            true,
            "data: \r\nid: 0\r\nretry: 3000\r\n\r\nevent: message\r\ndata: {\"method\":\"notifications/message\"}\r\n\r\n\
             data:{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"a\":1}}\r\n\r\n",
        );
        for answer in [json, events] {
            assert_eq!(answer.response(4).unwrap()["result"]["a"], 1);
            let error = answer.response(5).unwrap_err().to_string();
            assert!(error.contains("no response to the request: 200"), "{error}");
        }
    }
}
