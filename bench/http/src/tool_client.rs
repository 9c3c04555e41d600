//! A client of a gateway over a WebSocket, which serves one tool and answers its calls at once.

use futures_util::{SinkExt as _, StreamExt as _};
use gateway::Result;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::tool;

/// A client that serves its tool until it is dropped.
pub(crate) struct ToolClient(JoinHandle<()>);

impl Drop for ToolClient {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ToolClient {
    /// Connects to the gateway at `host:port` with the token of a person, and returns once the tool is in the person's own session.
    pub(crate) async fn connect(address: &str, token: &str, name: &str, tool: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (socket, _) = client_async(format!("ws://{address}/ws"), stream).await?;
        let mut link = Link { socket, tool: tool.to_owned(), sent: 0, received: 0 };
        let hello = json!({ "type": "hello", "token": token, "name": name, "sessions": ["main"] });
        link.send(&hello).await?;
        loop {
            let frame = link.next().await?;
            if frame["type"] == "tools" {
                let is_there =
                    frame["tools"].as_array().is_some_and(|tools| tools.iter().any(|one| *one == tool));
                if is_there {
                    break;
                }
                return Err(format!("the gateway does not take the tool `{tool}`: {frame}").into());
            }
            link.take(&frame).await?;
        }
        Ok(Self(tokio::spawn(async move {
            // The gateway goes on without it, and the calls of its tool fail.
            if let Err(error) = link.serve().await {
                eprintln!("a client has ended: {error}");
            }
        })))
    }
}

struct Link {
    socket: WebSocketStream<TcpStream>,
    tool: String,
    /// The number of the last message that was sent.
    sent: u64,
    /// The number of the last message that was received.
    received: u64,
}

impl Link {
    async fn serve(&mut self) -> Result<()> {
        loop {
            let frame = self.next().await?;
            self.take(&frame).await?;
        }
    }

    async fn send(&mut self, frame: &Value) -> Result<()> {
        Ok(self.socket.send(Message::text(frame.to_string())).await?)
    }

    /// Waits for a frame. Pings are answered meanwhile.
    async fn next(&mut self) -> Result<Value> {
        loop {
            match self.socket.next().await.ok_or("the connection ended")?? {
                Message::Text(text) => return Ok(serde_json::from_str(&text)?),
                Message::Close(reason) => {
                    return Err(format!("the gateway closed the connection: {reason:?}").into());
                }
                _ => {}
            }
        }
    }

    /// Answers a frame, if it is a request.
    async fn take(&mut self, frame: &Value) -> Result<()> {
        match frame["type"].as_str() {
            Some("mcp") => {}
            Some("error") => return Err(format!("the gateway refuses a frame: {frame}").into()),
            _ => return Ok(()),
        }
        self.received = frame["n"].as_u64().ok_or("a message has no number")?;
        let request = &frame["message"];
        if request["id"].is_null() || request["method"].is_null() {
            return self.send(&json!({ "type": "ack", "n": self.received })).await;
        }
        let mut message = answer(request, &self.tool);
        message["jsonrpc"] = "2.0".into();
        message["id"] = request["id"].clone();
        self.sent += 1;
        self.send(&json!({ "type": "mcp", "n": self.sent, "ack": self.received, "message": message })).await
    }
}

/// Returns the result, or the error, of a request of the gateway.
fn answer(request: &Value, tool: &str) -> Value {
    let parameters = &request["params"];
    match request["method"].as_str() {
        Some("initialize") => json!({ "result": {
            "protocolVersion": parameters["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "bench", "version": "1" },
        } }),
        Some("tools/list") => json!({ "result": { "tools": [tool::definition(tool)] } }),
        Some("tools/call") => {
            let arguments = &parameters["arguments"];
            match (arguments["name"].as_str(), arguments["count"].as_u64()) {
                (Some(name), Some(count)) => {
                    json!({ "result": { "content": [{ "type": "text", "text": tool::greet(name, count) }] } })
                }
                _ => json!({ "error": { "code": -32602, "message": "the tool needs `name` and `count`" } }),
            }
        }
        Some("ping") => json!({ "result": {} }),
        _ => json!({ "error": { "code": -32601, "message": "no such method" } }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_answered_with_the_result_that_callers_check() {
        let arguments: Value = serde_json::from_str(tool::ARGUMENTS).unwrap_or_default();
        let call =
            json!({ "id": 1, "method": "tools/call", "params": { "name": "a", "arguments": arguments } });
        assert!(tool::is_right(&answer(&call, "a")["result"]));
        let without = json!({ "id": 1, "method": "tools/call", "params": { "name": "a", "arguments": {} } });
        assert!(!tool::is_right(&answer(&without, "a")["result"]));
        assert_eq!(answer(&json!({ "id": 1, "method": "server/discover" }), "a")["error"]["code"], -32601);
        assert_eq!(
            answer(&json!({ "id": 1, "method": "tools/list" }), "a")["result"]["tools"][0]["name"],
            "a"
        );
    }
}
