//! Nodes: their pairing, their connections and their calls, by hand.

mod calls;
mod pairing;

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use toolkit::{Caller, ToolCall, ToolResult};
use toolkit_gateway::{SessionKey, caller_in};
use toolkit_node::handshake::{End, Handshake};
use toolkit_node::{Identity, Nonce, PublicKey};

use super::Place;
use super::client::{Closed, Socket, frame, open, send};
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
}

/// A node that is connected.
struct Connected {
    socket: Socket,
    id: String,
}

impl Device {
    fn new(name: &'static str) -> Self {
        Self { identity: Identity::unstored().unwrap(), name }
    }

    fn hello(&self, server: &str, nonce: Nonce, pair: bool) -> Value {
        let key = self.identity.public_key();
        let node = json!({
            "key": key, "nonce": nonce, "server": server, "name": self.name, "platform": "by hand", "pair": pair
        });
        json!({ "type": "hello", "node": node })
    }

    /// Begins a handshake, and checks the signature of the gateway.
    async fn challenged(&self, place: &Place, pair: bool) -> Challenged {
        let server = place.gateway.address().to_string();
        let mut socket = open(place).await;
        let nonce = Nonce::random().unwrap();
        send(&mut socket, &self.hello(&server, nonce, pair)).await;
        let challenge = frame(&mut socket).await.unwrap();
        assert_eq!(challenge["type"], "challenge");
        let members: Vec<_> = challenge.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["type", "key", "nonce", "signature"], "nothing else is told");
        let gateway: PublicKey = serde_json::from_value(challenge["key"].clone()).unwrap();
        let facts = Handshake {
            gateway_nonce: serde_json::from_value(challenge["nonce"].clone()).unwrap(),
            node_nonce: nonce,
            gateway_key: gateway,
            node_key: self.identity.public_key(),
            server,
        };
        assert!(facts.is_signed(End::Gateway, challenge["signature"].as_str().unwrap()));
        Challenged { socket, facts, gateway }
    }

    async fn proved(&self, place: &Place, pair: bool) -> Challenged {
        let mut challenged = self.challenged(place, pair).await;
        let signature = challenged.facts.sign(End::Node, &self.identity);
        send(&mut challenged.socket, &json!({ "type": "proof", "signature": signature })).await;
        challenged
    }

    /// Asks for a code.
    async fn code(&self, place: &Place) -> String {
        let mut socket = self.proved(place, true).await.socket;
        let pairing = frame(&mut socket).await.unwrap();
        assert_eq!((&pairing["type"], &pairing["expiresSeconds"]), (&json!("pairing"), &json!(3600)));
        frame(&mut socket).await.unwrap_err();
        pairing["code"].as_str().unwrap().to_owned()
    }

    /// Pairs, approved by the owner for a person. Returns the id.
    async fn paired(&self, place: &Place, person: &str) -> String {
        let code = self.code(place).await;
        let wanted = json!({ "code": code, "person": person });
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
        let mut socket = self.proved(place, false).await.socket;
        let welcome = frame(&mut socket).await?;
        assert_eq!(welcome["type"], "welcome");
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
        send(&mut self.socket, &json!({ "type": "mcp", "message": message })).await;
    }

    async fn answer(&mut self, request: &Value, result: Value) {
        self.mcp(json!({ "id": request["id"], "result": result })).await;
    }

    /// Waits for a message of MCP with a method.
    async fn request(&mut self, method: &str) -> Value {
        loop {
            let mut frame = frame(&mut self.socket).await.unwrap();
            let message = frame["message"].take();
            if message["method"] == "server/discover" {
                let error = json!({ "code": -32601, "message": "no such method" });
                self.mcp(json!({ "id": message["id"], "error": error })).await;
            } else if message["method"] == method {
                return message;
            }
        }
    }

    /// Waits until the gateway closes the socket.
    async fn closed(mut self) -> Closed {
        loop {
            if let Err(closed) = frame(&mut self.socket).await {
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
