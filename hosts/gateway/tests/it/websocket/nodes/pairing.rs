//! Pairing, approval and the handshake.

use std::os::unix::fs::PermissionsExt as _;

use futures_util::SinkExt as _;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use toolkit_gateway::ClientLimits;
use toolkit_node::Nonce;
use toolkit_node::handshake::End;
use toolkit_node::seal::Exchange;

use super::super::client::{frame, open, send};
use super::super::{Place, main};
use super::Device;
use crate::agents::in_time;

#[tokio::test]
async fn a_node_is_connected_once_its_code_was_approved() {
    let place = Place::new().await;
    let device = Device::new("kitchen");
    assert_eq!(device.connected(&place).await.err().unwrap().0, 4401, "its key is unknown");
    let code = device.code(&place).await;
    let listed = place.http("GET", "/v1/nodes", &place.owner, None).await.1;
    let waiting = &listed["nodes"][0];
    assert_eq!((&waiting["state"], &waiting["connected"]), (&json!("pending"), &json!(false)), "{listed}");
    assert!(!listed.to_string().contains(&code), "the code is on the node alone");
    assert_eq!(device.connected(&place).await.err().unwrap().0, 4401, "it is not approved yet");

    // As a person types it.
    let typed = format!("{}-{}", code[..4].to_lowercase(), &code[4..]);
    let (status, node) =
        place.http("POST", "/v1/nodes/approve", &place.owner, Some(device.approval(&typed))).await;
    assert_eq!((status, &node["person"], &node["approvedBy"]), (200, &json!("owner"), &json!("owner")));
    let connected = device.connected(&place).await.unwrap();
    assert_eq!(node["id"], connected.id);
    assert_eq!(place.node(&connected.id).await["connected"], true);
    place.event(0, "node.approved").await;

    // The code counts once, and the node does not need another one.
    let again = place.http("POST", "/v1/nodes/approve", &place.owner, Some(device.approval(&code))).await;
    assert_eq!(again.0, 404);
    let mut socket = device.proved(&place, true).await;
    assert_eq!(socket.frame().await.unwrap()["type"], "welcome");
    place.stop().await;
}

#[tokio::test]
async fn a_node_that_asks_again_has_a_new_code_alone() {
    let place = Place::new().await;
    let device = Device::new("kitchen");
    let first = device.code(&place).await;
    let second = device.code(&place).await;
    let approve = async |code: &str| {
        place.http("POST", "/v1/nodes/approve", &place.owner, Some(device.approval(code))).await.0
    };
    assert_eq!((approve(&first).await, approve(&second).await), (404, 200));
    place.stop().await;
}

#[tokio::test]
async fn the_owner_alone_approves_and_wrong_codes_of_a_token_are_limited() {
    let place = Place::new().await;
    let ada = place.ada("phone").await;
    let wanted = json!({ "name": "laptop", "person": "owner" });
    let laptop = place.http("POST", "/v1/tokens", &place.owner, Some(wanted)).await.1;
    let laptop = laptop["token"].as_str().unwrap();
    let device = Device::new("kitchen");
    let code = device.code(&place).await;
    let approve = async |token: &str, code: &str| {
        place.http("POST", "/v1/nodes/approve", token, Some(device.approval(code))).await.0
    };
    let seen = async |token: &str, code: &str| {
        place.http("POST", "/v1/nodes/pending", token, Some(json!({ "code": code }))).await.0
    };
    assert_eq!((approve(&ada, &code).await, seen(&ada, &code).await), (403, 403));
    for _ in 0..5 {
        assert_eq!(approve(&place.owner, "ABCDEFGH").await, 404);
        assert_eq!(seen(&place.owner, "ABCDEFGH").await, 404);
    }
    let refused = (approve(&place.owner, &code).await, seen(&place.owner, &code).await);
    assert_eq!(refused, (429, 429), "after ten wrong codes the right one is not looked at");
    assert_eq!(approve(laptop, &code).await, 200, "another token has a count of its own");
    place.stop().await;
}

#[tokio::test]
async fn an_approval_counts_for_the_key_that_was_shown_alone() {
    let place = Place::new().await;
    let (device, other) = (Device::new("kitchen"), Device::new("kitchen"));
    let code = device.code(&place).await;
    let wanted = json!({ "code": code });
    let (status, seen) = place.http("POST", "/v1/nodes/pending", &place.owner, Some(wanted.clone())).await;
    assert_eq!(
        (status, &seen["node"]["state"], &seen["node"]["name"]),
        (200, &json!("pending"), &json!("kitchen"))
    );
    assert_eq!(seen["node"]["fingerprint"], device.identity.public_key().fingerprint());
    let gateway = device.challenged(&place, false).await.gateway;
    assert_eq!(seen["gateway"]["fingerprint"], gateway.fingerprint());

    let approve = async |wanted| place.http("POST", "/v1/nodes/approve", &place.owner, Some(wanted)).await;
    assert_eq!(approve(wanted).await.0, 422, "the fingerprint is missing");
    let (status, problem) = approve(other.approval(&code)).await;
    let shown = device.identity.public_key().fingerprint();
    assert!(status == 409 && problem.to_string().contains(&shown), "{problem}");
    assert_eq!(device.connected(&place).await.err().unwrap().0, 4401, "it is not approved");
    assert_eq!(approve(device.approval(&code)).await.0, 200);
    place.stop().await;
}

#[tokio::test]
async fn at_most_sixteen_nodes_wait_for_approval_and_four_of_one_network() {
    let place = Place::new().await;
    let asks = async |address: &str| Device::new("many").code_from(&place, address).await;
    for network in 0..4 {
        // Of IPv6, the first 64 bits are one network.
        for host in 0..4 {
            asks(&format!("2001:db8:0:{network}::{host}")).await.unwrap();
        }
        let closed = asks(&format!("2001:db8:0:{network}::ffff")).await.unwrap_err();
        assert_eq!(closed.0, 4429, "{closed:?}");
    }
    assert_eq!(asks("198.51.100.1").await.unwrap_err().0, 4429, "sixteen wait");
    place.stop().await;
}

#[tokio::test]
async fn a_proof_counts_for_its_connection_and_server_alone() {
    let place = Place::new().await;
    let device = Device::new("kitchen");
    device.paired(&place, "owner").await;

    // The proof of one connection, sent over another one.
    let first = device.challenged(&place, false).await;
    let signature = first.facts.sign(End::Node, &device.identity);
    let mut second = device.challenged(&place, false).await;
    assert_ne!(first.facts.gateway_nonce, second.facts.gateway_nonce);
    send(&mut second.socket, &json!({ "type": "proof", "signature": signature })).await;
    assert_eq!(frame(&mut second.socket).await.unwrap_err().0, 4401);

    // A proof that was used once does not count again over its own connection's hello either.
    let mut used = device.challenged(&place, false).await;
    let signature = used.facts.sign(End::Node, &device.identity);
    send(&mut used.socket, &json!({ "type": "proof", "signature": signature })).await;
    let mut socket = open(&place).await;
    let keys = (used.facts.node_nonce, used.facts.node_exchange);
    send(&mut socket, &device.hello(&used.facts.server, keys, false)).await;
    frame(&mut socket).await.unwrap();
    send(&mut socket, &json!({ "type": "proof", "signature": signature })).await;
    assert_eq!(frame(&mut socket).await.unwrap_err().0, 4401);

    // The node says that it connected to another server.
    let mut socket = open(&place).await;
    let keys = (Nonce::random().unwrap(), Exchange::random().unwrap().public_key());
    send(&mut socket, &device.hello("evil.example", keys, false)).await;
    let (code, reason) = frame(&mut socket).await.unwrap_err();
    assert_eq!((code, reason.contains("server")), (4400, true), "{reason}");

    // The node signed another server, or for another gateway.
    for is_server in [true, false] {
        let mut challenged = device.challenged(&place, false).await;
        let mut facts = challenged.facts.clone();
        if is_server {
            facts.server = "evil.example".to_owned();
        } else {
            facts.gateway_key = Device::new("evil").identity.public_key();
        }
        let signature = facts.sign(End::Node, &device.identity);
        send(&mut challenged.socket, &json!({ "type": "proof", "signature": signature })).await;
        assert_eq!(frame(&mut challenged.socket).await.unwrap_err().0, 4401);
    }
    place.stop().await;
}

#[tokio::test]
async fn a_frame_that_is_not_sealed_by_the_node_in_order_closes_the_connection() {
    let place = Place::new().await;
    let device = Device::new("kitchen");
    device.paired(&place, "owner").await;
    // The handshake is passed on whole; all that follows comes from somebody between.
    for kind in ["text", "sealed by another key", "one is left out"] {
        let mut sealed = device.proved(&place, false).await;
        assert_eq!(sealed.frame().await.unwrap()["type"], "welcome");
        let frame =
            json!({ "type": "mcp", "message": { "jsonrpc": "2.0", "id": 1, "result": {} } }).to_string();
        match kind {
            "text" => in_time(sealed.socket.send(Message::text(frame))).await.unwrap(),
            "sealed by another key" => {
                in_time(sealed.socket.send(Message::binary(vec![7; frame.len()]))).await.unwrap();
            }
            _ => {
                let _ = sealed.sealer.seal(&frame).unwrap();
                let bytes = sealed.sealer.seal(&frame).unwrap();
                in_time(sealed.socket.send(Message::binary(bytes))).await.unwrap();
            }
        }
        let closed = loop {
            if let Err(closed) = sealed.frame().await {
                break closed;
            }
        };
        assert_eq!(closed.0, 4400, "{kind}: {closed:?}");
    }
    place.stop().await;
}

#[tokio::test]
async fn a_node_sends_nothing_but_its_proof_before_it_is_known() {
    let place = Place::new().await;
    let device = Device::new("kitchen");
    device.paired(&place, "owner").await;
    let mut challenged = device.challenged(&place, false).await;
    send(&mut challenged.socket, &json!({ "type": "mcp", "message": {} })).await;
    assert_eq!(frame(&mut challenged.socket).await.unwrap_err().0, 4400);
    let mut socket = open(&place).await;
    send(&mut socket, &json!({ "type": "hello", "node": { "key": "12" } })).await;
    assert_eq!(frame(&mut socket).await.unwrap_err().0, 4400);
    place.stop().await;
}

#[tokio::test]
async fn a_node_and_the_key_of_the_gateway_outlive_a_restart() {
    let place = Place::new().await;
    let (device, revoked) = (Device::new("kitchen"), Device::new("lost"));
    let id = device.paired(&place, "owner").await;
    let lost = revoked.paired(&place, "owner").await;
    let key = device.challenged(&place, false).await.gateway;
    assert_eq!(place.http("DELETE", &format!("/v1/nodes/{lost}"), &place.owner, None).await.0, 204);

    let place = place.restart(ClientLimits::default()).await;
    assert_eq!(device.challenged(&place, false).await.gateway, key);
    assert_eq!(device.connected(&place).await.unwrap().id, id);
    assert_eq!(revoked.connected(&place).await.err().unwrap().0, 4403);
    // It may ask anew, and is another node then.
    let anew = revoked.paired(&place, "owner").await;
    assert_ne!(anew, lost);
    let file = place.directory.path().join(toolkit_gateway::GATEWAY_KEY_FILE);
    assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(place.nodes(&main(), json!({ "action": "list" })).await.text().contains("No node is connected"));
    place.stop().await;
}
