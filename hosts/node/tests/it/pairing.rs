//! Pairing.

use serde_json::json;
use toolkit_node::{Address, DirectoryError, NodeDirectory, NodeError, Paired, SessionError, pair};

use crate::gateway::Gateway;

fn address(gateway: &Gateway) -> Address {
    gateway.address().to_string().parse().unwrap()
}

#[tokio::test]
async fn a_node_pins_the_key_of_the_gateway_that_gives_it_a_code() {
    let place = tempfile::tempdir().unwrap();
    let directory = NodeDirectory::open(place.path()).unwrap();
    let gateway = Gateway::start().await;
    let answering = async {
        let (mut socket, is_pairing) = gateway.accept().await;
        assert!(is_pairing);
        socket.send(&json!({ "type": "pairing", "code": "K7MPX2QD", "expiresSeconds": 3600 })).await;
        socket
    };
    let pairing = pair(&directory, address(&gateway), "desk".to_owned(), None);
    let (paired, _socket) = tokio::join!(pairing, answering);
    let Paired { code, gateway_fingerprint, .. } = paired.unwrap();
    assert_eq!(code, Some(("K7MPX2QD".to_owned(), 3600)));
    assert_eq!(gateway_fingerprint, gateway.identity.public_key().fingerprint());
    let pin = directory.pin().unwrap();
    assert_eq!((pin.gateway_key, &*pin.name), (gateway.identity.public_key(), "desk"));
}

#[tokio::test]
async fn a_gateway_that_does_not_prove_its_key_is_not_pinned() {
    let place = tempfile::tempdir().unwrap();
    let directory = NodeDirectory::open(place.path()).unwrap();
    let (gateway, other) = (Gateway::start().await, Gateway::start().await);
    let pairing = pair(&directory, address(&gateway), "desk".to_owned(), None);
    let (paired, (mut socket, ..)) = tokio::join!(pairing, gateway.challenge_by(&other.identity));
    assert!(matches!(paired, Err(NodeError::Session(SessionError::NotProved))), "{paired:?}");
    assert_eq!(socket.read().await, None, "it hears nothing more");
    assert!(matches!(directory.pin(), Err(DirectoryError::NotPaired)));
}

#[tokio::test]
async fn a_pairing_with_another_gateway_stays_until_a_person_removes_it() {
    let place = tempfile::tempdir().unwrap();
    let directory = NodeDirectory::open(place.path()).unwrap();
    let (first, second) = (Gateway::start().await, Gateway::start().await);
    let asked = async |gateway: &Gateway| {
        let answering = async {
            let (mut socket, ..) = gateway.accept().await;
            socket.send(&json!({ "type": "pairing", "code": "K7MPX2QD", "expiresSeconds": 3600 })).await;
            socket
        };
        let pairing = pair(&directory, address(gateway), "desk".to_owned(), None);
        tokio::join!(pairing, answering).0
    };
    asked(&first).await.unwrap();
    let pairing = pair(&directory, address(&second), "desk".to_owned(), None);
    let (paired, _socket) = tokio::join!(pairing, second.challenge_by(&second.identity));
    let error = paired.unwrap_err();
    assert!(error.is_final() && error.to_string().contains("gateway.json"), "{error}");
    assert_eq!(directory.pin().unwrap().gateway_key, first.identity.public_key());
    asked(&first).await.unwrap();
    std::fs::remove_file(place.path().join("gateway.json")).unwrap();
    asked(&second).await.unwrap();
    assert_eq!(directory.pin().unwrap().gateway_key, second.identity.public_key());
}

#[tokio::test]
async fn a_name_that_is_none_is_refused_before_a_connection() {
    let place = tempfile::tempdir().unwrap();
    let directory = NodeDirectory::open(place.path()).unwrap();
    let gateway = Gateway::start().await;
    let error = pair(&directory, address(&gateway), "a b".to_owned(), None).await.unwrap_err();
    assert!(error.to_string().contains("letters"), "{error}");
}
