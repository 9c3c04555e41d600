//! Nodes: their pairing, their connections and their calls, by hand.

mod calls;
mod pairing;

use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use toolkit::{Caller, ToolCall, ToolResult};
use toolkit_gateway::{SessionKey, caller_in};
use toolkit_node::handshake::{End, Handshake};
use toolkit_node::seal::{Exchange, Opener, Sealer};
use toolkit_node::{ExchangeKey, Identity, Nonce, PublicKey};

use super::Place;
use super::client::{Closed, Socket, frame, open, open_with, request, send};
use crate::agents::in_time;

/// The calls so far.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// A device by hand: its key and its name.
struct Device {
    identity: Identity,
    name: &'static str,
}

/// A handshake, up to the proof.
struct Challenged {
    socket: Socket,
    facts: Handshake,
    gateway: PublicKey,
    exchange: Exchange,
}

/// A socket after the proof.
struct Sealed {
    socket: Socket,
    sealer: Sealer,
    opener: Opener,
}

impl Sealed {
    async fn send(&mut self, frame: &Value) {
        let bytes = self.sealer.seal(&frame.to_string()).unwrap();
        in_time(self.socket.send(Message::binary(bytes))).await.unwrap();
    }

    async fn frame(&mut self) -> Result<Value, Closed> {
        loop {
            match in_time(self.socket.next()).await {
                Some(Ok(Message::Binary(bytes))) => {
                    return Ok(serde_json::from_str(&self.opener.open(bytes.into()).unwrap()).unwrap());
                }
                Some(Ok(Message::Close(Some(frame)))) => {
                    return Err((frame.code.into(), frame.reason.to_string()));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                _ => return Err((1006, String::new())),
            }
        }
    }
}

/// A node that is connected.
struct Connected {
    socket: Sealed,
    id: String,
}

impl Device {
    fn new(name: &'static str) -> Self {
        Self { identity: Identity::unstored().unwrap(), name }
    }

    fn hello(&self, server: &str, (nonce, exchange): (Nonce, ExchangeKey), pair: bool) -> Value {
        let key = self.identity.public_key();
        let node = json!({
            "key": key, "nonce": nonce, "exchange": exchange, "server": server, "name": self.name, "platform": "by hand", "pair": pair
        });
        json!({ "type": "hello", "node": node })
    }

    /// Begins a handshake, and checks the signature of the gateway.
    async fn challenged(&self, place: &Place, pair: bool) -> Challenged {
        self.challenged_over(open(place).await, place, pair).await
    }

    async fn challenged_over(&self, mut socket: Socket, place: &Place, pair: bool) -> Challenged {
        let server = place.gateway.address().to_string();
        let nonce = Nonce::random().unwrap();
        let exchange = Exchange::random().unwrap();
        send(&mut socket, &self.hello(&server, (nonce, exchange.public_key()), pair)).await;
        let challenge = frame(&mut socket).await.unwrap();
        assert_eq!(challenge["type"], "challenge");
        let members: Vec<_> = challenge.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["type", "key", "nonce", "exchange", "signature"], "nothing else is told");
        let gateway: PublicKey = serde_json::from_value(challenge["key"].clone()).unwrap();
        let facts = Handshake {
            gateway_nonce: serde_json::from_value(challenge["nonce"].clone()).unwrap(),
            node_nonce: nonce,
            gateway_key: gateway,
            node_key: self.identity.public_key(),
            gateway_exchange: serde_json::from_value(challenge["exchange"].clone()).unwrap(),
            node_exchange: exchange.public_key(),
            server,
        };
        assert!(facts.is_signed(End::Gateway, challenge["signature"].as_str().unwrap()));
        Challenged { socket, facts, gateway, exchange }
    }

    async fn proved(&self, place: &Place, pair: bool) -> Sealed {
        self.proves(self.challenged(place, pair).await).await
    }

    async fn proves(&self, challenged: Challenged) -> Sealed {
        let Challenged { mut socket, facts, exchange, .. } = challenged;
        let signature = facts.sign(End::Node, &self.identity);
        send(&mut socket, &json!({ "type": "proof", "signature": signature })).await;
        let (sealer, opener) = exchange.agree(End::Node, &facts).unwrap();
        Sealed { socket, sealer, opener }
    }

    /// Asks for a code.
    async fn code(&self, place: &Place) -> String {
        let mut socket = self.proved(place, true).await;
        Self::told(&mut socket).await.unwrap()
    }

    /// Asks for a code by a proxy, which says where the request came from.
    async fn code_from(&self, place: &Place, address: &str) -> Result<String, Closed> {
        let mut request = request(place);
        request.headers_mut().insert("x-forwarded-for", address.parse().unwrap());
        let socket = open_with(place, request).await.unwrap();
        let mut socket = self.proves(self.challenged_over(socket, place, true).await).await;
        Self::told(&mut socket).await
    }

    async fn told(socket: &mut Sealed) -> Result<String, Closed> {
        let pairing = socket.frame().await?;
        assert_eq!((&pairing["type"], &pairing["expiresSeconds"]), (&json!("pairing"), &json!(3600)));
        socket.frame().await.unwrap_err();
        Ok(pairing["code"].as_str().unwrap().to_owned())
    }

    /// The request that approves it under a code, as a person sends it who has seen its key.
    fn approval(&self, code: &str) -> Value {
        json!({ "code": code, "fingerprint": self.identity.public_key().fingerprint() })
    }

    /// Pairs, approved by the owner for a person. Returns the id.
    async fn paired(&self, place: &Place, person: &str) -> String {
        let code = self.code(place).await;
        let fingerprint = self.identity.public_key().fingerprint();
        let wanted = json!({ "code": code, "fingerprint": fingerprint, "person": person });
        let (status, node) = place.http("POST", "/v1/nodes/approve", &place.owner, Some(wanted)).await;
        assert_eq!(
            (status, &node["state"], &node["person"]),
            (200, &json!("approved"), &json!(person)),
            "{node}"
        );
        assert_eq!(node["fingerprint"], self.identity.public_key().fingerprint());
        node["id"].as_str().unwrap().to_owned()
    }

    async fn connected(&self, place: &Place) -> Result<Connected, Closed> {
        let mut socket = self.proved(place, false).await;
        let mut welcome = socket.frame().await?;
        if welcome["type"] == "refused" {
            // Told for this node alone, before the close.
            let closed = socket.frame().await.unwrap_err();
            assert_eq!(welcome["isRevoked"] == true, closed.0 == 4403, "{closed:?}");
            return Err(closed);
        }
        assert_eq!(welcome["type"].take(), "welcome");
        Ok(Connected { socket, id: welcome["node"].as_str().unwrap().to_owned() })
    }

    /// Connects, and serves these actions once the gateway knows them.
    async fn serving(&self, place: &Place, actions: &[&str]) -> Connected {
        let mut node = self.connected(place).await.unwrap();
        let tools: Vec<_> = actions.iter().map(|name| super::tool(name)).collect();
        let initialize = node.request("initialize").await;
        let version = initialize["params"]["protocolVersion"].clone();
        let about = json!({ "name": "by hand", "version": "1" });
        let result =
            json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": about });
        node.answer(&initialize, result).await;
        let list = node.request("tools/list").await;
        node.answer(&list, json!({ "tools": tools })).await;
        in_time(async {
            while place.node(&node.id).await["actions"] != json!(actions) {
                tokio::task::yield_now().await;
            }
        })
        .await;
        node
    }
}

impl Connected {
    async fn mcp(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        self.socket.send(&json!({ "type": "mcp", "message": message })).await;
    }

    async fn answer(&mut self, request: &Value, result: Value) {
        self.mcp(json!({ "id": request["id"], "result": result })).await;
    }

    /// Waits for a message of MCP with a method.
    async fn request(&mut self, method: &str) -> Value {
        loop {
            let mut frame = self.socket.frame().await.unwrap();
            let message = frame["message"].take();
            if message["method"] == "server/discover" {
                let error = json!({ "code": -32601, "message": "no such method" });
                self.mcp(json!({ "id": message["id"], "error": error })).await;
            } else if message["method"] == method {
                return message;
            }
        }
    }

    /// Waits for the answer to a request of the node.
    async fn answer_to(&mut self, id: &str) -> Value {
        loop {
            let mut frame = self.socket.frame().await.unwrap();
            if frame["message"]["id"] == id {
                return frame["message"].take();
            }
        }
    }

    /// Waits until the gateway closes the socket.
    async fn closed(mut self) -> Closed {
        loop {
            if let Err(closed) = self.socket.frame().await {
                return closed;
            }
        }
    }
}

impl Place {
    /// A node as the owner sees it.
    async fn node(&self, id: &str) -> Value {
        let (status, listed) = self.http("GET", "/v1/nodes", &self.owner, None).await;
        assert_eq!(status, 200, "{listed}");
        let nodes = listed["nodes"].as_array().unwrap();
        nodes.iter().find(|node| node["id"] == id).cloned().unwrap_or_default()
    }

    /// Calls the tool `nodes` in a session.
    fn nodes(&self, session: &SessionKey, arguments: Value) -> impl Future<Output = ToolResult> + use<> {
        let (toolkit, session) = (self.toolkit(), session.clone());
        async move {
            // As the gateway marks the callers of its agents.
            let is_owner = session == super::main();
            // A conversation of its own: calls that change something come one after the other in one.
            let number = CALLS.fetch_add(1, Ordering::Relaxed);
            let caller = Caller::new()
                .with_session(number.to_string())
                .with_extra("gateway", json!({ "isOwner": is_owner }));
            let toolbox = toolkit.toolbox(&caller_in(caller, &session)).await;
            in_time(toolbox.call(ToolCall::new("1", "nodes", arguments))).await
        }
    }
}
